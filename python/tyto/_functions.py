"""The penalty by itself: weights, norm, dual norm, prox; and alpha-max."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core, _data, _labels, _solve, _survival
from ._matrix import unpacked


MOST_FEATURES = 2**40


class SortedL1:
    """The sorted L1 norm ``J(b) = sum_i w_i |b|_(i)``, for those who call it often: its weights are looked at once.

    Parameters
    ----------
    weights : array of shape (p,)
        ``w_1 >= ... >= w_p >= 0``.
    """

    def __init__(self, weights: Any):
        self._norm = _core.SortedL1(_solve.vector("weights", weights, "a vector of numbers"))

    @property
    def weights(self) -> np.ndarray:
        return self._norm.weights()

    def __call__(self, v: Any) -> float:
        """J(v)."""
        return self._norm.value(_numbers(v))

    def dual(self, v: Any) -> float:
        """The dual norm, ``max_k (|v|_(1) + ... + |v|_(k)) / (w_1 + ... + w_k)``."""
        return self._norm.dual_norm(_numbers(v))

    def prox(self, v: Any, step: float = 1.0, out: np.ndarray | None = None) -> np.ndarray:
        """``argmin_b 1/2 ||b - v||^2 + step J(b)``: see `prox_sorted_l1`."""
        values = _numbers(v)
        if out is None:
            out = np.empty(len(values))
        elif not (isinstance(out, np.ndarray) and out.dtype == np.float64 and out.ndim == 1 and out.flags.c_contiguous
                  and out.flags.writeable):
            raise TypeError("out: want a contiguous float64 vector that can be written to")
        self._norm.prox(values, _solve.number("step", step, "[0, inf)"), out)
        return out

    def __repr__(self) -> str:
        return f"SortedL1({self.weights!r})"

    def __reduce__(self) -> Any:
        return SortedL1, (self.weights,)


def _numbers(v: Any) -> np.ndarray:
    return _solve.vector("v", v, "a vector of numbers")


def _norm(v: np.ndarray, weights: Any, q: float, slope: float) -> SortedL1:
    if isinstance(weights, str):
        return SortedL1(owl_weights(weights, len(v), q=q, slope=slope))
    if np.isscalar(weights) or (isinstance(weights, np.ndarray) and weights.ndim == 0):
        return SortedL1(np.full(len(v), _solve.number("weights", weights[()] if isinstance(weights, np.ndarray) else weights, "[0, inf)")))
    return SortedL1(weights)


def prox_sorted_l1(v: Any, weights: Any, step: float = 1.0, *, q: float = 0.1, slope: float = 1.0,
                   out: np.ndarray | None = None) -> np.ndarray:
    """The proximal operator of the sorted L1 norm, ``argmin_b 1/2 ||b - v||^2 + step * sum_i w_i |b|_(i)``.

    Exact but for rounding, in expected linear time plus a sort of what does not become 0. Zeros are zeros, and entries of one
    cluster are equal to the last bit.

    Parameters
    ----------
    v : array of shape (p,)
    weights : array of shape (p,), number or str
        ``w_1 >= ... >= w_p >= 0``; a number stands for p equal ones (soft thresholding), a name for those of `owl_weights`.
    step : float, default=1.0
        At least 0.
    q, slope : float
        For the names that depend on them.
    out : ndarray of shape (p,), optional
        Where the answer goes; may be ``v`` itself.

    Examples
    --------
    >>> prox_sorted_l1([5.0, -4.9, 0.5], [2.0, 1.0, 1.0])
    array([ 3.45, -3.45,  0.  ])
    """
    values = _numbers(v)
    return _norm(values, weights, q, slope).prox(values, step, out)


def sorted_l1_norm(v: Any, weights: Any, *, q: float = 0.1, slope: float = 1.0) -> float:
    """``sum_i w_i |v|_(i)``; ``weights`` as for `prox_sorted_l1`."""
    values = _numbers(v)
    return _norm(values, weights, q, slope)(values)


def dual_sorted_l1_norm(v: Any, weights: Any, *, q: float = 0.1, slope: float = 1.0) -> float:
    """``max_k (|v|_(1) + ... + |v|_(k)) / (w_1 + ... + w_k)``; ``weights`` as for `prox_sorted_l1`."""
    values = _numbers(v)
    return _norm(values, weights, q, slope).dual(values)


def owl_weights(name: str, n_features: int, *, q: float = 0.1, slope: float = 1.0, n_samples: int | None = None) -> np.ndarray:
    """The weights of a name: ``"oscar"`` (with ``slope``), ``"lasso"``, ``"linf"``, ``"bh"`` and ``"gaussian"`` (with ``q``; the
    latter needs ``n_samples``), ``"linear"``."""
    p = _solve.whole("n_features", n_features, 1, MOST_FEATURES)
    if name == "gaussian" and n_samples is None:
        raise ValueError("n_samples: want the number of rows for gaussian weights, got None")
    n = p if n_samples is None else _solve.whole("n_samples", n_samples, 1)
    return _core.make_weights(_solve.word("name", name), n, p, _solve.number("q", q, "(0, 1]"), _solve.number("slope", slope, "[0, inf)"))


def alpha_max(X: Any, y: Any = None, *, sample_weight: Any = None, offset: Any = None, loss: str = "gaussian", huber_delta: float = 1.35,
              weights: Any = "oscar", q: float = 0.1, slope: float = 1.0, fit_intercept: bool = True,
              standardize: bool = False, positive: bool = False, unpenalized: Any = None) -> float:
    """The smallest ``alpha`` for which all penalised coefficients of `OWL` are 0, or those of `OWLClassifier` with one of its losses."""
    params = {**locals(), "alpha": 1.0, "relative": True}
    X, y, sample_weight, offset = unpacked(X, y, sample_weight, offset)
    names = _data.names_of(X)
    X, y = _labels.validate_arrays(loss, X, y)
    rows, size = _data.validate_weights(sample_weight, X)
    free = _data.validate_columns(unpenalized, X.shape[1], names)
    words = _solve.regression_options(params, size, rows, free)
    if offset is not None:
        words.offset = _data.validate_offset(offset, X.shape[0])
    if _survival.is_survival(y):
        words.events = _survival.events(y)
    with _data.explained(X):
        return _core.alpha_max(_data.design(X), _survival.numbers(y), words) / size
