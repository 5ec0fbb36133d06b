"""What a fold's models are judged by: a measure of the library, or a scorer of scikit-learn."""
from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np
from scipy import sparse
from sklearn.metrics import get_scorer

from . import _solve

# Measured by the library itself, and the sign that users see them with.
_MEASURES = {"mse": ("mse", 1), "mae": ("mae", 1), "r2": ("r2", 1), "neg_mean_squared_error": ("mse", -1), "neg_mean_absolute_error": ("mae", -1)}


@dataclass(frozen=True)
class Scoring:
    """`sign` times what the library minimises (maximises, of r2) is what users see."""

    measure: str
    sign: float
    score: Callable[..., list[float]] | None


def make_scoring(scoring: Any, X: Any, y: np.ndarray, weights: np.ndarray) -> Scoring:
    """``weights``: of the rows; empty where they have none."""
    if isinstance(scoring, str) and scoring in _MEASURES:
        return Scoring(*_MEASURES[scoring], None)
    if isinstance(scoring, str):
        try:
            scorer = get_scorer(scoring)
        except ValueError:
            raise _solve.want("scoring", "'mse', 'mae', 'r2' or a scorer of scikit-learn by name (sklearn.metrics.get_scorer_names())",
                              scoring) from None
    elif callable(scoring):
        scorer = scoring
    else:
        raise TypeError(f"scoring: want a name or a callable, got {scoring!r}")
    return Scoring("mse", -1, _ByScorer(scorer, X, y, weights))


class _ByScorer:
    """Errors of the models of a fold, for the library: the scores with the other sign."""

    def __init__(self, scorer: Any, X: Any, y: np.ndarray, weights: np.ndarray):
        self.scorer, self.X, self.y, self.weights = scorer, X, y, weights
        self.takes_weights = len(weights) > 0 and _takes_weights(scorer)

    def __call__(self, rows: np.ndarray, columns: np.ndarray, values: np.ndarray, starts: np.ndarray, intercepts: np.ndarray) -> list[float]:
        X, y = (self.X.tocsr() if sparse.issparse(self.X) else self.X)[rows], self.y[rows]
        extra = {"sample_weight": self.weights[rows]} if self.takes_weights else {}
        if len(self.weights) and not self.weights[rows].any():
            return [0.0] * len(intercepts)  # they count for nothing
        errors = []
        for begin, end, intercept in zip(starts, starts[1:], intercepts):
            coef = np.zeros(X.shape[1])
            coef[columns[begin:end]] = values[begin:end]
            errors.append(-self._score(_model(coef, intercept), X, y, extra))
        return errors

    def _score(self, model: Any, X: Any, y: np.ndarray, extra: dict[str, Any]) -> float:
        try:
            return _number(self.scorer(model, X, y, **extra))
        except AttributeError as error:  # a scorer of classifiers asks for what no regression has
            raise ValueError(f"scoring: want a scorer of predicted numbers: {error}") from error


def _takes_weights(scorer: Any) -> bool:
    try:
        parameters = inspect.signature(scorer).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters)


def _number(score: Any) -> float:
    try:
        return float(score)
    except (TypeError, ValueError):
        raise TypeError(f"scoring: want a scorer that returns a number, got {score!r}") from None


def _model(coef: np.ndarray, intercept: float) -> Any:
    from ._estimators import OWL
    model = OWL()
    model.coef_, model.intercept_, model.n_features_in_ = coef, float(intercept), len(coef)
    return model
