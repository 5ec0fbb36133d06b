"""The duality gap of an answer on the full problem, from its coefficients alone: none of any solver's code or numbers.

    P(b) = sum_i f(y_i, eta_i) + alpha J(b),  eta = c + Xb with the best c, or without,  r = y - mu(eta)
    gap  = sum_i d(q_i, mu_i) + alpha J(b) - s b'X'r,  q = y - s r,  for the best s with J°(s X'r) <= alpha   (MATH.md, section 14)

with f less its smallest value, and d the relative entropy (binomial, multinomial) or mu phi((q - mu) / mu) (poisson).
"""
import functools

import numpy as np
import scipy.optimize
import scipy.special
import scipy.stats


@functools.lru_cache(maxsize=8)
def shape(kind, size):
    if kind == "lasso":
        return np.ones(size)
    i = np.arange(1, size + 1)
    if kind == "oscar":
        return 1 + (size - i) / size
    return scipy.stats.norm.ppf(1 - 0.1 * i / (2 * size))  # bh, q = 0.1


def dual_norm(v, kind):
    v = np.sort(np.abs(v).ravel())[::-1]
    return float(np.max(np.cumsum(v) / np.cumsum(shape(kind, v.size))))


def norm(b, kind):
    return float(np.sort(np.abs(b).ravel())[::-1] @ shape(kind, b.size))


class Rows:
    """Response and mean as distributions over outcomes (of counts: a single column), of `columns` linear predictors."""

    def __init__(self, problem, columns):
        self.poisson = problem.loss == "poisson"
        if self.poisson:
            self.y = problem.y[:, None]
        elif problem.loss == "binomial":
            self.y = np.column_stack([problem.y, 1 - problem.y])
        else:
            self.y = np.eye(problem.classes)[problem.y.astype(int)]
        self.columns = columns
        self.free = columns - 1 if columns == self.y.shape[1] and not self.poisson else columns  # intercepts

    def log_mean(self, eta):
        if self.poisson:
            return eta
        missing = self.y.shape[1] - eta.shape[1]
        eta = np.column_stack([eta, np.zeros((len(eta), missing))])
        return eta - scipy.special.logsumexp(eta, axis=1)[:, None]

    def divergence(self, q, log_mean):
        """Of q from the mean, summed; of the response itself, the loss."""
        sums = scipy.special.xlogy(q, q) - scipy.special.xlogy(q, 1) - q * log_mean
        return float(np.sum(sums - q + np.exp(log_mean)) if self.poisson else np.sum(sums))

    def residual(self, log_mean):
        return self.y - np.exp(log_mean)

    def with_best_intercept(self, eta):
        """Newton's method with halving."""
        k = self.free
        shift = np.zeros(eta.shape[1])
        value = self.divergence(self.y, self.log_mean(eta))
        for _ in range(200):
            log_mean = self.log_mean(eta + shift)
            mean = np.exp(log_mean)
            slope = self.residual(log_mean).sum(axis=0)[:k]
            if np.abs(slope).max() <= 1e-14 * max(1.0, np.abs(self.y).sum()):
                break
            curvature = np.diag(mean.sum(axis=0)) - (0 if self.poisson else mean.T @ mean)
            step = np.zeros_like(shift)
            step[:k] = np.linalg.solve(curvature[:k, :k], slope)
            step *= min(1.0, 3 / np.abs(step).max())
            for _ in range(30):
                other = self.divergence(self.y, self.log_mean(eta + shift + step))
                if other <= value + 1e-14 * abs(value):
                    break
                step /= 2
            shift, value = shift + step, other
        return eta + shift


def relative_gap(problem, kind, intercept, alpha, b):
    """b: features x linear predictors."""
    if not np.all(np.isfinite(b)):
        return np.inf
    rows = Rows(problem, b.shape[1])
    used = np.flatnonzero(np.any(b != 0, axis=1))
    eta = np.asarray(problem.x[:, used] @ b[used]) if used.size else np.zeros((len(problem.y), b.shape[1]))
    if intercept:
        eta = rows.with_best_intercept(eta)
    log_mean = rows.log_mean(eta)
    r = rows.residual(log_mean)
    pull = np.asarray(problem.x.T @ r[:, :b.shape[1]])
    penalty = alpha * norm(b, kind)
    product = float(np.sum(b * pull))
    primal = rows.divergence(rows.y, log_mean) + penalty
    most = min(alpha / max(dual_norm(pull, kind), 1e-300), 2.0)

    def gap(s):
        q = rows.y - s * r
        return rows.divergence(q, log_mean) + penalty - s * product if q.min() >= 0 else np.inf

    best = min(gap(min(1.0, most)), gap(most))
    if most > 1 or product < 0:
        best = min(best, scipy.optimize.minimize_scalar(gap, bounds=(0, most), method="bounded", options={"xatol": 1e-12}).fun)
    return best / primal if np.isfinite(best) else np.inf


def worst_gap(problem, kind, intercept, alphas, betas):
    return max(relative_gap(problem, kind, intercept, alpha, b) for alpha, b in zip(alphas, betas))
