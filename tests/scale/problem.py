"""Rows for the tests on clusters, and what is expected of their answers."""
from __future__ import annotations

import hashlib

import numpy as np
from scipy import sparse

import tyto

TOL = 1e-10


def table(rows: int = 40_000, columns: int = 30, seed: int = 1, far: float = 100.0) -> tuple[np.ndarray, np.ndarray]:
    """Groups of ten correlated columns with means of up to `far` standard deviations."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, columns))
    for j in range(columns):
        if j % 10:
            x[:, j] = 0.8 * x[:, j - j % 10] + 0.6 * x[:, j]
    y = x[:, ::7].sum(axis=1) + rng.standard_normal(rows)
    return x + far * np.linspace(-1, 1, columns), y + far


def bits(path: tyto.Path) -> str:
    """Of all that a path says about its models."""
    found = hashlib.sha256()
    for array in (path.alphas, path.coefs_sparse.data, path.coefs_sparse.indices, path.intercepts,
                  np.array([(c.primal, c.gap, c.rounding) for c in path.certificates])):
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def check_path(path: tyto.Path, x: np.ndarray, y: np.ndarray, **options) -> None:
    """Every strength is certified, from the data, in two passes; and is what the solver in memory finds, which verifies it."""
    assert path.passes == 2
    for c in path.certificates:
        assert c.converged and c.gap + c.rounding <= TOL * c.primal
    memory = tyto.owl_path(x, y, tol=TOL, alphas=path.alphas, **options)
    for k, (ours, theirs) in enumerate(zip(path.certificates, memory.certificates)):
        assert abs(ours.primal - theirs.primal) <= 1e-9 * theirs.primal
        model = tyto.OWL(alpha=path.alphas[k], tol=TOL, **options)
        model._validate(x, y)
        model.alpha_, model.coef_, model.intercept_ = path.alphas[k], path.coefs[:, k], path.intercepts[k]
        model.clusters_, model.relaxation_, model.certificate_ = path.clusters[k], None, ours
        if k % 5 == 0:
            found = tyto.verify(model, x, y)
            assert found, found.reason


def other_table(loss: str, rows: int = 12_000, columns: int = 20, seed: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """For binomial and poisson."""
    x, eta = table(rows, columns, seed, 2.0)
    rng = np.random.default_rng(seed)
    eta = 0.4 * (eta - eta.mean())
    return x, (rng.random(rows) < 1 / (1 + np.exp(-eta))).astype(float) if loss == "binomial" else rng.poisson(np.exp(0.5 * eta)).astype(float)


def sparse_table(rows: int = 20_000, columns: int = 6000, seed: int = 5) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Wide: more columns than those whose products are all kept."""
    rng = np.random.default_rng(seed)
    x = sparse.random(rows, columns, density=0.003, format="csr", random_state=seed, data_rvs=rng.standard_normal)
    return x, np.asarray(20 * x[:, :20].sum(axis=1)).ravel() + rng.standard_normal(rows)


def check_other_path(path: tyto.Path, x: object, y: np.ndarray, tol: float, **options) -> None:
    """As `check_path`, of passes that return gradients; by the objectives of the solver in memory."""
    memory = tyto.owl_path(x, y, tol=tol, alphas=path.alphas, **options)
    for ours, theirs in zip(path.certificates, memory.certificates):
        assert ours.converged and ours.gap + ours.rounding <= tol * ours.primal
        assert abs(ours.primal - theirs.primal) <= 2 * tol * theirs.primal
