"""The duality gap of an answer on the full problem, from the coefficients alone: none of any solver's code or numbers.

    P(b) = 1/2 ||y - Xb||^2 + alpha J(b),  J(b) = sum_i w_i |b|_(i),  r = y - Xb
    theta = s r with the best s such that max_k (|X'theta|_(1) + ...) / (w_1 + ...) <= alpha
    gap = (1 - s)^2 ||r||^2 / 2 + alpha J(b) - s r'Xb        (no difference of large numbers)

A solver that hands out a dual point of its own (celer) is judged by the better of the two, scaled to be feasible here.
Residual, penalty and gap are in extended precision; X'r too where that is affordable. Where it is not, it is in double,
which shifts s, and so the gap, by about 1e-15 of the objective.
"""
import dataclasses

import numpy as np

EXTENDED = np.longdouble
AFFORDABLE = 2e8  # multiplications in extended precision for one answer


@dataclasses.dataclass
class Certificate:
    """One entry a strength."""
    primal: np.ndarray
    dual: np.ndarray
    relative_gap: np.ndarray  # gap / primal


def dual_norm(c, w):
    return np.max(np.cumsum(np.sort(np.abs(c))[::-1]) / np.cumsum(w.astype(c.dtype)))


def alpha_max(x, y, w):
    return float(dual_norm(x.T @ y, w))


def multiply(x, coefs):
    """X times each column of coefs, which are mostly zero."""
    eta = np.zeros((x.shape[0], coefs.shape[1]), dtype=EXTENDED)
    extended = x.shape[0] * np.count_nonzero(coefs) <= AFFORDABLE
    for k in range(coefs.shape[1]):
        support = np.flatnonzero(coefs[:, k])
        if extended:
            eta[:, k] = x[:, support].astype(EXTENDED) @ coefs[support, k].astype(EXTENDED)
        else:
            eta[:, k] = x[:, support] @ coefs[support, k]
    return eta


def correlate(x, r):
    if x.size * r.shape[1] <= AFFORDABLE:
        return x.T.astype(EXTENDED) @ r
    return x.T @ r.astype(np.float64)


def best_dual(v, c, y, w, alpha):
    """The largest D(theta) = theta'y - ||theta||^2 / 2 over feasible multiples theta = s v, and s; c is X'v."""
    norm, vy, vv = dual_norm(c, w), v @ y, v @ v
    if not vv > 0:
        return EXTENDED(0), EXTENDED(0)
    largest = EXTENDED(alpha) / norm if norm > 0 else EXTENDED(np.inf)
    s = np.clip(vy / vv, -largest, largest)
    return s * vy - s * s * vv / 2, s


def certify(x, y, w, alphas, coefs, duals=None):
    """coefs: p x m, one column a strength. duals: n x m, dual points to try beside the residuals, of any scale."""
    if not np.all(np.isfinite(coefs)):
        bad = np.full(len(alphas), np.inf)
        return Certificate(bad, -bad, bad)
    y = y.astype(EXTENDED)
    eta = multiply(x, coefs)
    r = y[:, None] - eta
    c = correlate(x, r)
    others = None if duals is None or not np.all(np.isfinite(duals)) else duals.astype(EXTENDED)
    others_c = None if others is None else correlate(x, others)
    primal, dual, relative = (np.empty(len(alphas), dtype=EXTENDED) for _ in range(3))
    for k, alpha in enumerate(alphas):
        penalty = EXTENDED(alpha) * np.sum(np.sort(np.abs(coefs[:, k]))[::-1].astype(EXTENDED) * w)
        rr, rx = r[:, k] @ r[:, k], r[:, k] @ eta[:, k]
        primal[k] = rr / 2 + penalty
        _, s = best_dual(r[:, k], c[:, k], y, w, alpha)
        gap = (1 - s) ** 2 * rr / 2 + penalty - s * rx
        if others is not None:
            gap = min(gap, primal[k] - best_dual(others[:, k], others_c[:, k], y, w, alpha)[0])
        dual[k] = primal[k] - gap
        relative[k] = gap / primal[k] if primal[k] > 0 else gap
    return Certificate(primal, dual, relative)
