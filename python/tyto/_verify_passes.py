"""The certificate of a model again, from rows that are elsewhere: one pass, in extended precision, with plain NumPy and none of the
library's code. Blocks are centred at their own means and merged (Chan, Golub & LeVeque)."""
from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any, Iterable

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from . import _data, _linear, _solve
from ._functions import owl_weights
from ._passes import Backend, Block
from ._verify import Verification

_AT_ONCE = 4096
_REAL = np.longdouble


@dataclass
class _Sums:
    """Of rows, each counted as often as it weighs; r are residuals, z the unpenalised columns."""
    weight: Any
    mean: Any  # of X
    squares: Any  # of X, about their mean
    zx: Any  # of products, about their means
    xr: Any  # of X about its mean, times r
    r: Any
    rr: Any
    free: list[int]

    def merge(self, other: _Sums) -> _Sums:
        weight = self.weight + other.weight
        if not self.weight or not other.weight:
            return self if self.weight else other
        apart = other.mean - self.mean
        mean = self.mean + apart * (other.weight / weight)
        share = self.weight * other.weight / weight
        free = self.free
        xr = self.xr + other.xr + (self.mean - mean) * self.r + (other.mean - mean) * other.r
        found = _Sums(weight, mean, self.squares + other.squares + share * apart**2,
                      self.zx + other.zx + share * np.outer(apart[free], apart), xr, self.r + other.r, self.rr + other.rr, free)
        return found


@dataclass(frozen=True)
class _SumsFor:
    coef: np.ndarray
    intercept: float
    free: tuple[int, ...]

    def __call__(self, number: int, blocks: Iterable[Block]) -> bytes:
        total = None
        for block in blocks:
            rows = block.X.tocsr() if sparse.issparse(block.X) else np.asarray(block.X)
            y = np.asarray(block.y, dtype=_REAL).reshape(-1)
            weights = np.ones(len(y), dtype=_REAL) if block.weights is None else np.asarray(block.weights, dtype=_REAL).reshape(-1)
            for begin in range(0, len(y), _AT_ONCE):
                part = slice(begin, begin + _AT_ONCE)
                x = rows[part].toarray() if sparse.issparse(rows) else rows[part]
                found = self._of(np.asarray(x, dtype=_REAL), y[part], weights[part])
                total = found if total is None else total.merge(found)
        return pickle.dumps(total)

    def _of(self, x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> _Sums:
        used = np.flatnonzero(self.coef)
        r = y - self.intercept - x[:, used] @ self.coef[used].astype(_REAL)
        weight, free = weights.sum(), list(self.free)
        mean = weights @ x / weight if weight else 0 * x[0]
        x = x - mean
        weighted = x * weights[:, None]
        found = _Sums(weight, mean, (weighted * x).sum(axis=0), x[:, free].T @ weighted, weighted.T @ r, weights @ r, weights @ r**2, free)
        return found


def _merge(a: bytes, b: bytes) -> bytes:
    first, second = pickle.loads(a), pickle.loads(b)
    return b if first is None else a if second is None else pickle.dumps(first.merge(second))


def _dual_norm(v: np.ndarray, weights: np.ndarray, positive: bool) -> Any:
    sizes = np.sort(np.maximum(v, 0) if positive else np.abs(v))[::-1]
    sums = np.cumsum(weights.astype(_REAL))
    return np.max(np.cumsum(sizes) / sums)


def verify(model: Any, backend: Backend) -> Verification:
    if isinstance(model, _linear.Linear) and model._params()["loss"] != "gaussian":
        raise _solve.want("model", "one of squared error, or its rows in memory (tyto.verify)", model._params()["loss"])
    if not isinstance(model, _linear.Linear):
        raise TypeError(f"model: want a fitted OWL or OWLCV, got {model!r}")
    check_is_fitted(model)
    params, p = model._params(), model.n_features_in_
    names = getattr(model, "feature_names_in_", None)
    free = _data.validate_columns(params["unpenalized"], p, names)
    relaxed = model.relaxation_
    coef = np.array(model.coef_ if relaxed is None else relaxed.penalized_coef)
    intercept = float(model.intercept_ if relaxed is None else relaxed.penalized_intercept)
    sums = pickle.loads(backend.total(_SumsFor(coef, intercept, tuple(free)), _merge))
    return _judged(model, params, free, coef, sums)


def _judged(model: Any, params: dict[str, Any], free: list[int], coef: np.ndarray, sums: _Sums) -> Verification:
    """(2.6) of MATH.md, on the scale of the mean over rows."""
    kept = np.setdiff1d(np.arange(len(coef)), free)
    n, centred = sums.weight, bool(params["fit_intercept"])
    squares = sums.squares if centred else sums.squares + n * sums.mean**2
    xr = sums.xr if centred else sums.xr + sums.mean * sums.r
    rr = sums.rr - sums.r**2 / n if centred else sums.rr
    if free:
        zx = sums.zx if centred else sums.zx + n * np.outer(sums.mean[free], sums.mean)
        along = np.linalg.solve(zx[:, free].astype(float), xr[free].astype(float)).astype(_REAL)
        rr = rr - along @ xr[free]
        xr = xr - zx.T @ along
    scale = np.sqrt(squares / n)[kept] if params["standardize"] else np.ones(len(kept), dtype=_REAL)
    scale[scale == 0] = 1
    b, g = coef[kept] * scale, xr[kept] / scale
    q, slope = getattr(model, "q_", params["q"]), getattr(model, "slope_", params["slope"])
    shape = params["weights"]
    shape = owl_weights(shape, len(kept), q=q, slope=slope, n_samples=int(round(float(n)))) if isinstance(shape, str) else np.asarray(shape)
    w = shape.astype(_REAL) * model.alpha_ * n
    ridge = _REAL(params["ridge"]) * n
    g = g - ridge * b
    norm, product = np.sort(np.abs(b))[::-1] @ w, b @ g
    total = rr + ridge * (b @ b)
    bound = _dual_norm(g, w, bool(params["positive"]))
    best = (total + product) / total if total > 0 else _REAL(0)
    best = max(best, 0) if params["positive"] else best
    s = best if bound * abs(best) <= 1 else np.copysign(1 / bound, best)
    gap = (1 - s)**2 * total / 2 + norm - s * product + (sums.rr - rr if centred or free else 0) / 2
    primal = total / 2 + norm + (sums.rr - rr if centred or free else 0) / 2
    return _compared(model.certificate_, float(primal / n), float((primal - gap) / n), float(gap / n))


def _compared(stated: _solve.Certificate, primal: float, dual: float, gap: float) -> Verification:
    rounding = 2 * stated.rounding + 1e-15 * abs(primal)
    reason = ""
    if abs(primal - stated.primal) > 1e-9 * abs(primal) + rounding:
        reason = f"the objective is {primal:.17g}, the model says {stated.primal:.17g}"
    elif gap > max(stated.gap, 0) + rounding:
        reason = f"the gap is {gap:.3g}, the model says {stated.gap:.3g} with rounding {stated.rounding:.3g}"
    elif gap < -rounding:
        reason = f"the gap is {gap:.3g}, which is below 0"
    elif stated.converged and gap > stated.tolerance * primal + rounding:
        reason = f"the gap is {gap:.3g}, which is more than tol allows"
    return Verification(not reason, reason, primal, dual, gap)
