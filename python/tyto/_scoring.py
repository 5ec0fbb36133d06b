"""What a fold's models are judged by: a measure of the library, or a scorer of scikit-learn."""
from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.metrics import get_scorer

from . import _solve, _survival
from ._matrix import Matrix

# Measured by the library itself, the names that it has for them, and the sign that users see them with.
_OF_NUMBERS = {"mse": ("mse", 1), "mae": ("mae", 1), "r2": ("r2", 1), "deviance": ("deviance", 1), "auto": ("auto", 1),
               "neg_mean_squared_error": ("mse", -1), "neg_mean_absolute_error": ("mae", -1)}
_OF_TIMES = {name: (name, 1) for name in ("deviance", "c-index", "auto")}
_OF_CLASSES = {name: (name, 1) for name in ("deviance", "misclassification", "brier", "auc")}


@dataclass(frozen=True)
class Scoring:
    """`sign` times what the library minimises (maximises, of r2 and auc) is what users see."""

    measure: str
    sign: float
    score: Callable[..., list[float]] | None = None
    name: str = ""  # of a scorer


def make_scoring(scoring: Any, model: Any, X: Any, y: np.ndarray, words: Any) -> Scoring:
    """``model``: what is fitted, and ``words`` what the library is told of it, X and y how it sees the data."""
    measures = _OF_CLASSES if is_classifier(model) else _OF_TIMES if _survival.is_survival(y) else _OF_NUMBERS
    if isinstance(scoring, str) and scoring in measures:
        return Scoring(*measures[scoring])
    if isinstance(scoring, str):
        try:
            scorer = get_scorer(scoring)
        except ValueError:
            names = ", ".join(repr(name) for name in measures if name != "auto" and "_" not in name)
            raise _solve.want("scoring", f"{names} or a scorer of scikit-learn by name (sklearn.metrics.get_scorer_names())",
                              scoring) from None
    elif callable(scoring):
        scorer = scoring
    else:
        raise TypeError(f"scoring: want a name or a callable, got {scoring!r}")
    if isinstance(X, Matrix):
        raise ValueError(f"scoring: want {_solve.listed(list(measures))} for data of tyto.open, whose rows scorers cannot have")
    if len(words.offset):
        raise ValueError(f"scoring: want {_solve.listed(list(measures))} where there is an offset, which scorers do not know")
    name = scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")
    return Scoring("auto", -1, _ByScorer(scorer, model, X, y, words.observation_weights), name)


class _ByScorer:
    """Errors of the models of a fold, for the library: the scores with the other sign."""

    def __init__(self, scorer: Any, model: Any, X: Any, y: np.ndarray, weights: np.ndarray):
        """``weights``: of the rows; empty where they have none."""
        self.scorer, self.model, self.X, self.y, self.weights = scorer, model, X, model._observed(y), weights
        self.takes_weights = len(weights) > 0 and _takes_weights(scorer)

    def __call__(self, rows: np.ndarray, columns: np.ndarray, values: np.ndarray, starts: np.ndarray, intercepts: np.ndarray) -> list[float]:
        X, y = (self.X.tocsr() if sparse.issparse(self.X) else self.X)[rows], self.y[rows]
        extra = {"sample_weight": self.weights[rows]} if self.takes_weights else {}
        models = len(starts) - 1
        if len(self.weights) and not self.weights[rows].any():
            return [0.0] * models  # they count for nothing
        errors = []
        for begin, end, own in zip(starts, starts[1:], intercepts.reshape(models, -1)):
            coef = np.zeros(X.shape[1] * len(own))
            coef[columns[begin:end]] = values[begin:end]
            errors.append(-self._score(self.model._with_coefficients(coef, own), X, y, extra))
        return errors

    def _score(self, model: Any, X: Any, y: np.ndarray, extra: dict[str, Any]) -> float:
        try:
            return _number(self.scorer(model, X, y, **extra))
        except AttributeError as error:  # asks for what a regression, or a loss without probabilities, does not have
            wish = "classes or decisions" if is_classifier(model) else "predicted numbers"
            raise ValueError(f"scoring: want a scorer of {wish}: {error}") from error


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
