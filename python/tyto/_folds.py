"""Which fold holds each row out."""
from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from . import _core, _solve, _survival
from ._matrix import Matrix

FOLDS = 10  # as the command line's


def folds(cv: Any, random_state: Any, X: Any, y: np.ndarray, stratified: bool) -> np.ndarray:
    """The fold of each row. Stratified: y are classes, and each fold has about as many rows of each; so it has events."""
    if _survival.is_survival(y):
        y, stratified = _survival.events(y), True
    if cv is None or (isinstance(cv, numbers.Integral) and not isinstance(cv, bool)):
        count = FOLDS if cv is None else cv
        if not 2 <= count <= len(y):
            raise ValueError(f"cv: want a number from 2 to n_samples={len(y)}, got {count}{' by default' if cv is None else ''}")
        if stratified:
            return np.array(_core.stratified_folds(y, int(count), seed(random_state)))
        return np.array(_core.random_folds(len(y), int(count), seed(random_state)))
    if isinstance(X, Matrix):
        X = np.empty((len(y), 0))  # splitters count its rows
    pairs = np.iterable(cv) and not isinstance(cv, (str, bytes)) and not hasattr(cv, "split")
    return given(cv if pairs else check_cv(cv, y, classifier=stratified).split(X, y), len(y))


def seed(random_state: Any) -> int:
    if random_state is None:
        return int(np.random.randint(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        return _solve.whole("random_state", random_state, 0, 2**64 - 1)
    raise TypeError(f"random_state: want a whole number, a RandomState, a Generator or None, got {random_state!r}")


def given(splits: Any, n: int) -> np.ndarray:
    """Those of pairs of training and held-out rows."""
    labels = np.full(n, -1)
    for fold, pair in enumerate(splits):
        training, held_out = pair_of_rows(pair, n)
        if (labels[held_out] >= 0).any():
            raise ValueError("cv: want splits that hold out every row once, as KFold does; for others use GridSearchCV with OWL")
        labels[held_out] = fold
        others = np.ones(n, dtype=bool)
        others[held_out] = False
        if not np.array_equal(np.flatnonzero(others), training):
            raise ValueError("cv: want training rows that are all rows not held out, as KFold's are; for others use GridSearchCV with OWL")
    if (labels < 0).any():
        raise ValueError("cv: want splits that hold out every row once, as KFold does; for others use GridSearchCV with OWL")
    return labels


def pair_of_rows(pair: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Both as numbers of rows, in order."""
    try:
        training, held_out = (np.arange(n)[np.asarray(part)] for part in pair)
    except (IndexError, TypeError, ValueError):
        raise ValueError(f"cv: want pairs of training and held-out rows, numbers from 0 to {n - 1}") from None
    if training.ndim != 1 or held_out.ndim != 1:
        raise ValueError(f"cv: want pairs of training and held-out rows, numbers from 0 to {n - 1}")
    return np.sort(training), held_out
