"""Problems and slow, plain definitions to test against."""
import numpy as np


def grouped(n, p, size=3, seed=0, noise=0.1):
    """X with a group of `size` almost equal columns that carry the response: X, y and that group."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    group = np.arange(size)
    X[:, group] = rng.normal(size=(n, 1)) + 0.1 * rng.normal(size=(n, size))
    y = X[:, group].sum(axis=1) + noise * rng.normal(size=n)
    return X, y, group


def norm(v, w):
    return float(np.sort(abs(np.asarray(v)))[::-1] @ np.asarray(w))


def dual_norm(v, w):
    return float((np.cumsum(np.sort(abs(np.asarray(v)))[::-1]) / np.cumsum(w)).max())


def objective(X, y, coef, intercept, penalty):
    """scikit-learn's, with penalty = alpha * w."""
    residual = y - np.asarray(X @ coef).ravel() - intercept
    return residual @ residual / (2 * len(y)) + norm(coef, penalty)
