"""A path of models: one for each strength of the penalty."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Sequence

import numpy as np
from scipy import sparse

from . import _core, _data, _solve


@dataclass(frozen=True)
class Path:
    """What `owl_path` found, the strongest penalty first.

    Attributes
    ----------
    alphas : ndarray of shape (n_alphas,)
    coefs_sparse : scipy.sparse.csc_matrix of shape (n_features, n_alphas)
    intercepts : ndarray of shape (n_alphas,)
    certificates : list of Certificate
    clusters : list of list of ndarray
        For each alpha as ``OWL.clusters_``.
    screened, n_iter : ndarray of shape (n_alphas,)
    explained : ndarray of shape (n_alphas,)
        The fraction of the response's variance (of its sum of squares without an intercept).
    alpha_max : float
        The smallest alpha whose solution is 0.
    stopped_by : str
        ``"none"``: all alphas are there; else the rule that ended the path.
    seconds, passes : float
        What it took; ``passes``: how often the data was read, in units of the whole matrix.
    """

    alphas: np.ndarray
    coefs_sparse: Any
    intercepts: np.ndarray
    certificates: list[_solve.Certificate]
    clusters: list[list[np.ndarray]] = field(repr=False)
    screened: np.ndarray
    n_iter: np.ndarray
    explained: np.ndarray
    alpha_max: float
    stopped_by: str
    seconds: float
    passes: float

    def __len__(self) -> int:
        return len(self.alphas)

    @property
    def coefs(self) -> np.ndarray:
        """All coefficients, also the zeros: an array of shape (n_features, n_alphas), made anew by every look."""
        return self.coefs_sparse.toarray()

    @property
    def dual_gaps(self) -> np.ndarray:
        return np.array([c.gap for c in self.certificates])

    @property
    def n_nonzero(self) -> np.ndarray:
        return np.diff(self.coefs_sparse.indptr)

    def predict(self, X: Any) -> np.ndarray:
        """Predictions of shape (n_samples, n_alphas)."""
        X = _data.check_array(X, accept_sparse=["csr", "csc"], dtype=_data.FLOATS)
        if X.shape[1] != self.coefs_sparse.shape[0]:
            raise _solve.want("X", f"{self.coefs_sparse.shape[0]} columns", X.shape[1])
        used = np.unique(self.coefs_sparse.indices)
        product = X[:, used] @ self.coefs_sparse[used].toarray()
        return np.asarray(product) + self.intercepts

    def plot(self, **options: Any) -> Any:
        """See `tyto.plot.path`."""
        from . import plot
        return plot.path(self, **options)


def make_path(answer: Any, p: int, size: float, tolerance: float) -> Path:
    fits = answer["fits"]
    starts = np.concatenate([[0], np.cumsum([len(fit["columns"]) for fit in fits])])
    coefs = sparse.csc_matrix((np.concatenate([fit["values"] for fit in fits]),
                               np.concatenate([fit["columns"] for fit in fits]), starts), shape=(p, len(fits)))
    return Path(
        alphas=np.array([fit["alpha"] for fit in fits]) / size,
        coefs_sparse=coefs,
        intercepts=np.array([fit["intercept"] for fit in fits]),
        certificates=[_solve.certificate(fit, size, tolerance) for fit in fits],
        clusters=[_solve.clusters(fit) for fit in fits],
        screened=np.array([fit["screened"] for fit in fits]),
        n_iter=np.array([fit["epochs"] + 1 for fit in fits]),
        explained=np.array([fit["explained"] for fit in fits]),
        alpha_max=float(answer["alpha_max"]) / size,
        stopped_by=answer["stopped_by"],
        seconds=float(answer["seconds"]),
        passes=float(answer["passes"]))


def owl_path(X: Any, y: Any, *, sample_weight: Any = None, weights: Any = "oscar", q: float = 0.1, alphas: Sequence[float] | None = None,
             n_alphas: int = 100, eps: float | None = None, max_explained: float | None = None,
             min_change: float | None = None, max_nonzeros: int | None = None, max_clusters: int | None = None,
             fit_intercept: bool = True, standardize: bool = False, ridge: float = 0.0, positive: bool = False,
             unpenalized: Any = None, tol: float = 1e-6, max_iter: int = 100_000, max_seconds: float | None = None,
             solver: str = "auto", screening: str = "safe", n_jobs: int | None = None, verbose: bool = False) -> Path:
    """OWL models along a grid of alphas, each found from the one before, each with its certificate.

    Parameters
    ----------
    X, y, sample_weight
        As for ``OWL.fit``.
    alphas : sequence of float, optional
        The grid; it is sorted. Default: ``n_alphas`` from alpha-max down to ``eps`` times that, evenly in their logarithms.
    n_alphas, eps
        As for `OWLCV`.
    max_explained, min_change, max_nonzeros, max_clusters : optional
        End the path after the first model that explains this fraction, adds less than this to what the one before explained,
        or has so many coefficients or clusters.
    weights, q, fit_intercept, standardize, ridge, positive, unpenalized, tol, max_iter, max_seconds, solver, screening, n_jobs, verbose
        As for `OWL`; ``max_seconds`` is for the whole path.
    """
    params, names = {**locals(), "alpha": 1.0, "relative": True}, _data.names_of(X)
    X, y = _data.validate_arrays(X, y)
    rows, size = _data.validate_weights(sample_weight, X)
    words = _solve.regression_options(params, size, rows, _data.validate_columns(unpenalized, X.shape[1], names))
    options, grid = _solve.fit_options(params), _solve.grid_options(params)
    grid.max_explained, grid.min_change = max_explained, min_change
    grid.max_nonzeros, grid.max_clusters = max_nonzeros, max_clusters
    steps = [] if alphas is None else sorted((size * _solve.number("alphas", float(a)) for a in alphas), reverse=True)
    if alphas is not None and not steps:
        raise _solve.want("alphas", "at least one number", alphas)
    with _solve.ProgressBar(verbose, "alpha", options.tolerance) as bar, _data.explained(X):
        answer = _core.fit_path(_data.design(X), y, words, steps, grid, options, bar.callback)
    path = make_path(answer, X.shape[1], size, options.tolerance)
    _solve.warn_unless_all_converged(path.certificates, "owl_path")
    return path
