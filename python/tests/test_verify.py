"""What `verify` refuses: numbers that are none, and claims that are false."""
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
import tyto
from tyto import OWL


def fitted(n=40, p=20):
    source = np.random.default_rng(3)
    X = source.normal(size=(n, p))
    y = 3 * X[:, 2] + source.normal(size=n)
    return X, y, OWL("bh", alpha=0.1, relative=True).fit(X, y)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("make", [np.asfortranarray, np.float32, scipy.sparse.csc_matrix])
def test_numbers_that_are_not_finite_are_refused(bad, make):
    X, y, model = fitted()
    for columns in ([2], range(1, 20)):  # the one that refutes an empty model, and nearly all
        broken = X.copy()
        broken[5, columns] = bad
        with pytest.raises(ValueError, match=rf"X: column {columns[0]}, row 5: want a finite number, got {bad}"):
            tyto.verify(model, make(broken), y)
    broken = y.copy()
    broken[7] = bad
    with pytest.raises(ValueError, match="y contains|infinity"):
        tyto.verify(model, make(X), broken)
    weights = np.ones(len(y))
    weights[3] = bad
    with pytest.raises(ValueError, match="sample_weight contains"):
        tyto.verify(model, make(X), y, sample_weight=weights)


def test_a_column_of_nan_does_not_hide_what_it_refutes():
    X, y, model = fitted()
    model.coef_ = np.zeros(20)
    model.clusters_ = []
    model.intercept_ = y.mean()
    model.certificate_ = replace(model.certificate_, primal=y.var() / 2, dual=y.var() / 2, gap=0.0)
    assert "gap is larger" in tyto.verify(model, X, y).reason
    X[:, 2] = np.nan
    with pytest.raises(ValueError, match="X: column 2, row 0"):
        tyto.verify(model, X, y)


def test_models_with_numbers_that_are_none_are_refused():
    X, y, model = fitted()
    model.coef_ = model.coef_.copy()
    model.coef_[2] = np.nan
    with pytest.raises(ValueError, match="model: coefficients: expected pairs of a column and a finite number, got null"):
        tyto.verify(model, X, y)
    X, y, model = fitted()
    for field in ("primal", "gap", "rounding"):
        kept = model.certificate_
        model.certificate_ = replace(kept, **{field: np.nan})
        with pytest.raises(ValueError, match=f"model: {field}: expected a finite number, got null"):
            tyto.verify(model, X, y)
        model.certificate_ = kept


def test_rounding_is_part_of_the_claim_and_buys_nothing():
    X, y, model = fitted()
    stated = model.certificate_
    assert 0 < stated.rounding and stated.gap + stated.rounding <= stated.tolerance * stated.primal
    model.certificate_ = replace(stated, rounding=2 * stated.tolerance * stated.primal)
    assert "rounding" in tyto.verify(model, X, y).reason
    model.certificate_ = replace(stated, rounding=1e300, status="stalled")
    assert "rounding" in tyto.verify(model, X, y).reason


def test_squares_that_overflow_fail():
    X, y, model = fitted()
    for found in (tyto.verify(model, X, 1e200 * y), tyto.verify(model, 1e200 * X, y)):
        assert not found and "not a finite number" in found.reason
