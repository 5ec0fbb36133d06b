"""Row weights, a ridge, coefficients of one sign, columns that are left alone."""
import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression
from sklearn.model_selection import KFold

import tyto
from tyto import OWL, OWLCV
from support import grouped, objective


def weighted_problem():
    X, y, _ = grouped(60, 20, noise=1)
    weights = np.random.default_rng(5).integers(0, 4, size=60)
    return X, y + 2, weights


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("name", ["oscar", "lasso", "bh"])
def test_a_weight_is_a_count(name, standardize):
    X, y, weights = weighted_problem()
    options = dict(alpha=0.05, tol=1e-11, standardize=standardize)
    model = OWL(name, **options).fit(X, y, sample_weight=weights)
    again = OWL(name, **options).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(model.coef_, again.coef_, atol=1e-8)
    np.testing.assert_allclose(model.intercept_, again.intercept_, atol=1e-8)
    np.testing.assert_allclose(model.certificate_.primal, again.certificate_.primal, rtol=1e-10)
    half = OWL(name, **options).fit(sparse.csc_matrix(X), y, sample_weight=weights / 2)
    np.testing.assert_allclose(half.coef_, model.coef_, atol=1e-7)
    assert tyto.verify(model, X, y, sample_weight=weights) and not tyto.verify(model, X, y)


def test_weights_as_in_scikit_learn():
    X, y, weights = weighted_problem()
    ours = OWL("lasso", alpha=0.1, tol=1e-11).fit(X, y, sample_weight=weights)
    theirs = Lasso(alpha=0.1, tol=1e-12, max_iter=10**6).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-7)
    np.testing.assert_allclose(tyto.alpha_max(X, y, weights="lasso", sample_weight=weights), ours.alpha_max_)
    path = OWL("lasso", tol=1e-11).path(X, y, sample_weight=weights, alphas=[0.2, 0.1])
    np.testing.assert_allclose(path.coefs[:, 1], theirs.coef_, atol=1e-7)


def test_cross_validation_with_weights():
    X, y, weights = weighted_problem()
    model = OWLCV("bh", tol=1e-10, eps=1e-2, n_alphas=4, cv=KFold(4)).fit(X, y, sample_weight=weights)
    for fold, (training, held_out) in enumerate(KFold(4).split(X)):
        for k, alpha in enumerate(model.path_.alphas):
            one = OWL("bh", alpha=alpha, tol=1e-10).fit(X[training], y[training], sample_weight=weights[training])
            error = np.average((y[held_out] - one.predict(X[held_out])) ** 2, weights=weights[held_out])
            np.testing.assert_allclose(model.cv_errors_[k, fold], error, rtol=1e-4)
    assert tyto.verify(model, X, y, sample_weight=weights)


@pytest.mark.parametrize("weights, message", [
    (np.full(60, -1.0), "sample_weight: want numbers >= 0"), (np.zeros(60), "zero"), (np.ones(5), "sample_weight"),
    (np.full(60, np.nan), "NaN"),
])
def test_bad_weights(weights, message):
    X, y, _ = weighted_problem()
    with pytest.raises(ValueError, match=message):
        OWL().fit(X, y, sample_weight=weights)


def test_ridge_is_the_elastic_net():
    X, y, weights = weighted_problem()
    for positive in (False, True):
        ours = OWL("lasso", alpha=0.1 * 0.7, ridge=0.1 * 0.3, positive=positive, tol=1e-11).fit(X, y, sample_weight=weights)
        theirs = ElasticNet(alpha=0.1, l1_ratio=0.7, positive=positive, tol=1e-12, max_iter=10**6).fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-7)
        assert tyto.verify(ours, X, y, sample_weight=weights)


def test_positive():
    X, y, _ = weighted_problem()
    y = y - 4 * X[:, 10]
    free, positive = (OWL("bh", alpha=0.05, positive=flag, tol=1e-10).fit(X, y) for flag in (False, True))
    assert free.coef_.min() < -1 and positive.coef_.min() >= 0 and positive.coef_.max() > 0
    assert positive.certificate_.primal > free.certificate_.primal and tyto.verify(positive, X, y)
    w = positive.alpha_ * tyto.owl_weights("bh", 20)
    best = objective(X, y, positive.coef_, positive.intercept_, w)
    for j in range(20):  # no step that keeps the signs helps
        for step in (1e-3, -1e-3):
            other = positive.coef_.copy()
            other[j] += step
            assert other[j] < 0 or objective(X, y, other, positive.intercept_, w) >= best * (1 - 1e-9)
    path = tyto.owl_path(X, y, weights="bh", positive=True, n_alphas=10)
    assert path.coefs.min() >= 0


def test_unpenalized():
    pandas = pytest.importorskip("pandas")
    X, y, _ = weighted_problem()
    frame = pandas.DataFrame(X, columns=[f"f{j}" for j in range(20)])
    by_name = OWL("bh", alpha=0.1, unpenalized=["f7", "f3"], tol=1e-10).fit(frame, y)
    by_number = OWL("bh", alpha=0.1, unpenalized=[3, -13], tol=1e-10).fit(X, y)
    np.testing.assert_array_equal(by_name.coef_, by_number.coef_)
    residual = y - by_name.predict(frame)
    assert abs(X[:, [3, 7]].T @ residual).max() < 1e-6 * np.linalg.norm(residual)
    assert not {3, 7} & set(np.concatenate(by_name.clusters_))
    assert tyto.verify(by_name, frame, y)
    empty = OWL("bh", alpha=1.5, relative=True, unpenalized=[3, 7]).fit(X, y)
    np.testing.assert_allclose(empty.coef_[[3, 7]], LinearRegression().fit(X[:, [3, 7]], y).coef_, rtol=1e-8)
    assert np.count_nonzero(empty.coef_) == 2
    path = tyto.owl_path(frame, y, weights="bh", unpenalized=["f3", "f7"], n_alphas=5)
    assert path.n_nonzero[0] == 2
    assert OWLCV("bh", n_alphas=5, unpenalized=["f3"]).fit(frame, y).coef_[3] != 0
    for columns in (["f3", "f3"], ["f3", 3], [3, -17]):
        with pytest.raises(ValueError, match="unpenalized: want each column once, got .* again"):
            OWL(unpenalized=columns).fit(frame, y)
    with pytest.raises(ValueError, match="f3"):  # scikit-learn's message, where it refuses such frames
        OWL(unpenalized=["f3"]).fit(frame.rename(columns={"f4": "f3"}), y)
    with pytest.raises(ValueError, match="unpenalized: want the number of one column, got 'a', which several are named"):
        tyto._data.validate_columns(["a"], 3, ["a", "b", "a"])
    for columns, error in ((["f99"], ValueError), ([20], ValueError), ("f3", TypeError), ([1.5], ValueError)):
        with pytest.raises(error, match="unpenalized"):
            OWL(unpenalized=columns).fit(frame, y)


def test_warm_start_with_all_of_it():
    X, y, weights = weighted_problem()
    model = OWL("oscar", alpha=0.02, warm_start=True, unpenalized=[0], tol=1e-10, standardize=True).fit(X, y, sample_weight=weights)
    want = model.coef_
    np.testing.assert_allclose(model.fit(X, y, sample_weight=weights).coef_, want, atol=1e-6)
    assert model.set_params(positive=True).fit(X, y).coef_[1:].min() >= 0
