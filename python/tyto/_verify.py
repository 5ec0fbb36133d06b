"""The certificate of a model, computed again from the data."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _core, _data, _labels, _linear, _solve, _survival
from ._matrix import unpacked


@dataclass(frozen=True)
class Verification:
    """What `verify` found: the objective and the gap on scikit-learn's scale, and whether the model's claims hold."""

    holds: bool
    reason: str
    primal: float
    dual: float
    gap: float

    def __bool__(self) -> bool:
        return self.holds


def verify(model: Any, X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None) -> Verification:
    """Computes the objective and the duality gap of a fitted estimator of this package again, from its coefficients and the data that it
    was fitted on, with plain loops in extended precision and none of the solver's code or numbers.

    It does not hold where the objective is another one than the model's certificate says, where the gap is larger than it says,
    with the rounding that it says, or below 0. Of a relaxed fit this is about its penalised end; that the relaxed end is least
    squares on its clusters is checked, too. Numbers in X, y, sample_weight, offset or the model that are infinite or NaN raise ValueError.
    """
    if not isinstance(model, _linear.Linear):
        raise TypeError(f"model: want a fitted OWL, OWLCV, OWLClassifier or OWLClassifierCV, got {model!r}")
    check_is_fitted(model)
    X, y, sample_weight, offset = unpacked(X, y, sample_weight, offset)
    X, y = _arrays(model, X, y)
    if X.shape[1] != model.n_features_in_:
        raise _solve.want("X", f"{model.n_features_in_} columns", X.shape[1])
    rows, size = model._row_weights(model._params(), X, y, sample_weight)
    params = {**model._params(), "alpha": model.alpha_, "relative": False}
    params["q"], params["slope"] = getattr(model, "q_", params["q"]), getattr(model, "slope_", params["slope"])
    free = _data.validate_columns(params["unpenalized"], X.shape[1], getattr(model, "feature_names_in_", None))
    words = _solve.regression_options({**params, "loss": model._loss()}, size, rows, free)
    if offset is not None:
        words.offset = _data.validate_offset(offset, X.shape[0])
    if _survival.is_survival(y):
        words.events = _survival.events(y)
    with _data.renamed():
        found = _core.verify(_data.design(X), _survival.numbers(y), words, _claim(model, size))
    scaled = {name: found[name] / size for name in ("primal", "dual", "gap")}
    return Verification(found["holds"], found["reason"], **scaled)


def _arrays(model: Any, X: Any, y: Any) -> tuple[Any, np.ndarray]:
    """X by columns, and y as the library took it."""
    if model._params()["loss"] == _survival.LOSS:
        return _data.validate_survival(None, X, y)
    if not hasattr(model, "classes_"):
        return _data.validate_arrays(X, y)
    X, y = _data.validate_labelled_arrays(X, y)
    return X, _labels.encode_as(model.classes_, y)


def _claim(model: Any, size: float) -> _core.Claim:
    stated = model.certificate_
    claim = _core.Claim()
    claim.alpha, claim.tolerance, claim.status = model.alpha_ * size, stated.tolerance, stated.status
    claim.primal, claim.gap, claim.rounding = stated.primal * size, stated.gap * size, stated.rounding * size
    claim.intercepts = np.ravel(model.intercept_).astype(np.float64).tolist()
    coef, relaxation = np.asarray(model._coefficients(), dtype=np.float64), model.relaxation_
    ends = [] if relaxation is None else [relaxation.penalized_coef, relaxation.relaxed_coef]
    columns = np.flatnonzero(np.any([coef, *ends], axis=0))
    labels = np.full(len(coef), -1)
    for number, members in enumerate(model.clusters_):
        labels[members] = number
    claim.columns, claim.clusters, claim.values = columns, labels[columns], coef[columns]
    if relaxation is not None:
        claim.relaxed = _relaxed(relaxation, columns)
    return claim


def _relaxed(relaxation: _solve.Relaxation, columns: np.ndarray) -> _core.RelaxedCoefficients:
    both = _core.RelaxedCoefficients()
    both.gamma = relaxation.gamma
    both.penalized, both.penalized_intercept = relaxation.penalized_coef[columns].tolist(), relaxation.penalized_intercept
    both.relaxed, both.relaxed_intercept = relaxation.relaxed_coef[columns].tolist(), relaxation.relaxed_intercept
    return both
