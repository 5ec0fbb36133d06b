"""A path of models: one for each strength of the penalty."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Sequence

import numpy as np
from scipy import sparse
from scipy.special import softmax

from . import _core, _data, _labels, _solve, _survival
from ._matrix import Matrix, unpacked
from ._types import AnyLoss, Screening, Solver, Weights


NEAR_SATURATION = 0.8  # degrees of freedom as a share of the rows


@dataclass(frozen=True)
class Path:
    """What `owl_path` found, the strongest penalty first.

    Attributes
    ----------
    alphas : ndarray of shape (n_alphas,)
    coefs_sparse : scipy.sparse.csc_matrix of shape (n_features, n_alphas)
        Of more than two classes (n_classes * n_features, n_alphas), of one class after the other.
    intercepts : ndarray of shape (n_alphas,), or (n_classes, n_alphas)
    certificates : list of Certificate
    clusters : list of list of ndarray
        For each alpha as ``OWL.clusters_``.
    screened, n_iter : ndarray of shape (n_alphas,)
    scale : ndarray of shape (n_features,), or None
        What each column was divided by before it was penalised, where ``standardize=True``: coefficients times it are those that
        clusters are about.
    explained : ndarray of shape (n_alphas,)
        The fraction of the response's variance (of its sum of squares without an intercept); with another loss, of the deviance.
    criteria : dict of ndarray, or None
        ``df`` (degrees of freedom), ``aic``, ``bic`` and ``cp`` of every alpha; ``cp`` is NaN where the level of the noise is not known.
        None where they were not asked for, and in `OWLCV`.
    n_samples : float
        The number of rows that they count: the sum of the sample weights, where there are any.
    gamma : float or None
        How far the fits are relaxed. Coefficients, ``explained`` and ``criteria`` are then those of the relaxed fits,
        certificates and clusters those of the penalised ones.
    alpha_max : float
        The smallest alpha whose solution is 0.
    stopped_by : str
        ``"none"``: all alphas are there; else the rule that ended the path.
    seconds, passes : float
        What it took; ``passes``: how often the data was read, in units of the whole matrix.
    feature_names_in_ : ndarray of shape (n_features,), or None
        The names of the columns, where X has them; for pictures.
    loss : str
        The loss that was fitted.
    """

    alphas: np.ndarray
    coefs_sparse: Any
    intercepts: np.ndarray
    certificates: list[_solve.Certificate]
    clusters: list[list[np.ndarray]] = field(repr=False)
    screened: np.ndarray
    n_iter: np.ndarray
    scale: np.ndarray | None = field(repr=False)
    explained: np.ndarray
    criteria: dict[str, np.ndarray] | None = field(repr=False)
    n_samples: float
    gamma: float | None
    alpha_max: float
    stopped_by: str
    seconds: float
    passes: float
    feature_names_in_: np.ndarray | None = field(default=None, repr=False)
    loss: AnyLoss = "gaussian"

    def __len__(self) -> int:
        return len(self.alphas)

    @property
    def coefs(self) -> np.ndarray:
        """All coefficients, also the zeros: an array of shape (n_features, n_alphas), or (n_classes, n_features, n_alphas) of more than two
        classes, made anew by every look."""
        found = self.coefs_sparse.toarray()
        return found if self.intercepts.ndim == 1 else found.reshape(len(self.intercepts), -1, len(self))

    @property
    def dual_gaps(self) -> np.ndarray:
        return np.array([c.gap for c in self.certificates])

    @property
    def n_nonzero(self) -> np.ndarray:
        return np.diff(self.coefs_sparse.indptr)

    def predict(self, X: Any, offset: Any = None) -> np.ndarray:
        """Predictions of shape (n_samples, n_alphas): means (of ``"cox"`` the linear predictor) as ``OWL.predict`` gives them; of ``"binomial"``
        the probabilities of the second class, of ``"squared-hinge"`` decision values. Of more than two classes the probabilities, of shape
        (n_samples, n_classes, n_alphas)."""
        X, _, _, offset = unpacked(X, offset=offset)
        X = _data.validate_rows(X)
        if self.intercepts.ndim == 2:
            return self._probabilities(X, offset)
        if X.shape[1] != self.coefs_sparse.shape[0]:
            raise _solve.want("X", f"{self.coefs_sparse.shape[0]} columns", X.shape[1])
        used = np.unique(self.coefs_sparse.indices)
        part = X.columns(used) if isinstance(X, Matrix) else X[:, used]
        found = np.asarray(part @ self.coefs_sparse[used].toarray(), dtype=np.float64) + self.intercepts
        if offset is not None:
            found += _data.validate_offset(offset, X.shape[0])[:, None]
        return found if self.loss == _survival.LOSS else _core.means(self.loss, found.ravel()).reshape(found.shape)

    def __repr__(self) -> str:
        most = max((certificate.relative_gap for certificate in self.certificates), default=0.0)
        return (f"Path({len(self)} alphas from {self.alphas[0]:.4g} to {self.alphas[-1]:.4g}, {self.n_nonzero[0]} to {self.n_nonzero[-1]} "
                f"non-zeros, relative gaps up to {max(0.0, most):.2g})")

    def _probabilities(self, X: Any, offset: Any) -> np.ndarray:
        if offset is not None:
            raise _solve.want("offset", "None where there are more than two classes", offset)
        coefs = self.coefs
        if X.shape[1] != coefs.shape[1]:
            raise _solve.want("X", f"{coefs.shape[1]} columns", X.shape[1])
        return softmax(np.stack([_data.product(X, own) for own in coefs], axis=1) + self.intercepts, axis=1)

    def choose(self, criterion: str) -> int:
        """The place of the alpha that ``"aic"``, ``"bic"`` or ``"cp"`` chooses: the least value, and of equals the largest alpha.

        A choice at the end of the path, or of nearly as many degrees of freedom as rows, is a `ChoiceWarning`.
        """
        if self.criteria is None:
            raise ValueError("choose: want a path with criteria: owl_path(..., criteria=True)")
        if criterion == "cp" and np.isnan(self.criteria["cp"]).all():
            wish = "want owl_path(..., sigma=...)" if self.loss == "gaussian" else f"with the loss {self.loss} want 'aic' or 'bic'"
            raise ValueError(f"choose: cp needs the level of the noise, which this path cannot tell: {wish}")
        chosen = _core.choose(self.criteria, _solve.word("choose", criterion), self.n_samples)
        _solve.warn_of_choice("Path.choose", self._doubts(criterion, chosen))
        return chosen

    def _doubts(self, criterion: str, chosen: int) -> list[str]:
        """What speaks against a choice. The limits are those of the command line."""
        features, rows, freedom = self.coefs_sparse.shape[0], self.n_samples, self.criteria["df"][chosen]
        doubts = []
        if 0 < chosen == len(self) - 1:
            if criterion != "cp" and features >= rows:
                doubts.append(f"{criterion} chooses the last alpha, and with {features} features for {rows:g} rows it falls without end "
                              "as alpha does. Take cp with a known sigma, or OWLCV.")
            else:
                doubts.append(f"{criterion} chooses the last alpha: smaller ones may do better.")
        if criterion != "cp" and freedom >= NEAR_SATURATION * rows:
            doubts.append(f"{criterion} chooses {freedom:.4g} degrees of freedom for {rows:g} rows: so near to as many, the model all but "
                          "repeats the data. Take cp with a known sigma, or OWLCV.")
        return doubts

    def plot(self, **options: Any) -> Any:
        """See `tyto.plot.path`."""
        from . import plot
        return plot.path(self, **options)


def make_path(answer: Any, p: int, size: float, tolerance: float, loss: str, names: Any) -> Path:
    fits = answer["fits"]
    relaxed = fits[0].get("relaxation")
    starts = np.concatenate([[0], np.cumsum([len(fit["columns"]) for fit in fits])])
    classes = len(fits[0]["intercepts"])
    coefs = sparse.csc_matrix((np.concatenate([fit["values"] for fit in fits]),
                               np.concatenate([fit["columns"] for fit in fits]), starts), shape=(p * classes, len(fits)))
    coefs.sort_indices()
    intercepts = np.array([fit["intercepts"] for fit in fits]).T
    return Path(
        alphas=np.array([fit["alpha"] for fit in fits]) / size,
        coefs_sparse=coefs,
        intercepts=intercepts if classes > 1 else intercepts[0],
        certificates=[_solve.certificate(fit, size, tolerance) for fit in fits],
        clusters=[_solve.clusters(fit) for fit in fits],
        screened=np.array([fit["screened"] for fit in fits]),
        n_iter=np.array([fit["epochs"] + 1 for fit in fits]),
        scale=answer["scale"],
        explained=np.array([fit["explained"] for fit in fits]),
        criteria=answer.get("criteria"),
        n_samples=size,
        gamma=None if relaxed is None else relaxed["gamma"],
        alpha_max=float(answer["alpha_max"]) / size,
        stopped_by=answer["stopped_by"],
        seconds=float(answer["seconds"]),
        passes=float(answer["passes"]),
        feature_names_in_=None if names is None else np.array(list(map(str, names)), dtype=object),
        loss=loss)


def owl_path(X: Any, y: Any = None, *, sample_weight: Any = None, offset: Any = None, loss: AnyLoss = "gaussian", huber_delta: float = 1.35,
             weights: Weights = "oscar", q: float = 0.1, slope: float = 1.0,
             alphas: Sequence[float] | None = None, n_alphas: int = 100, eps: float | None = None,
             max_explained: float | None = None, min_change: float | None = None, max_nonzeros: int | None = None,
             max_clusters: int | None = None, gamma: float | None = None, sigma: float | None = None, criteria: bool = True,
             fit_intercept: bool = True, standardize: bool = False, ridge: float = 0.0, positive: bool = False,
             unpenalized: Any = None, tol: float = 1e-6, max_iter: int = 100_000, max_seconds: float | None = None,
             solver: Solver = "auto", screening: Screening = "safe", n_jobs: int | None = None, verbose: bool = False) -> Path:
    """OWL models along a grid of alphas, each found from the one before, each with its certificate.

    Parameters
    ----------
    X, y, sample_weight, offset
        As for ``OWL.fit``.
    loss, huber_delta
        As for `OWL`, and the losses of `OWLClassifier`, for which y has two labels, or more with ``"multinomial"``. For ``"binomial"`` y may also be shares from 0 to 1, with
        the numbers that they are shares of as ``sample_weight``.
    alphas : sequence of float, optional
        The grid; it is sorted. Default: ``n_alphas`` from alpha-max down to ``eps`` times that, evenly in their logarithms.
    n_alphas, eps
        As for `OWLCV`.
    max_explained, min_change, max_nonzeros, max_clusters : optional
        End the path after the first model that explains this fraction, adds less than this to what the one before explained,
        or has so many coefficients or clusters. They look at the penalised fits.
    gamma : float or None, default=None
        Relaxes all fits, as for `OWL`.
    sigma : float or None, default=None
        The standard deviation of the noise, for the criterion ``cp``. None: that of the residuals at the smallest alpha, where there
        are more rows than features.
    criteria : bool, default=True
        Whether ``criteria`` are computed. They cost nothing, unless there is a ridge: then about as much as the path.
    weights, q, slope, fit_intercept, standardize, ridge, positive, unpenalized, tol, max_iter, max_seconds, solver, screening, n_jobs, verbose
        As for `OWL`; ``max_seconds`` is for the whole path.
    """
    params = {**locals(), "alpha": 1.0, "relative": True}
    X, y, sample_weight, offset = unpacked(X, y, sample_weight, offset)
    names = _data.names_of(X)
    X, y = _labels.validate_arrays(loss, X, y)
    rows, size = _data.validate_weights(sample_weight, X)
    words = _solve.regression_options(params, size, rows, _data.validate_columns(unpenalized, X.shape[1], names))
    if offset is not None:
        words.offset = _data.validate_offset(offset, X.shape[0])
    if _survival.is_survival(y):
        words.events = _survival.events(y)
    options, grid = _solve.fit_options(params), _solve.grid_options(params, size)
    if isinstance(sigma, str):
        raise _solve.want("sigma", "a number or None", sigma)
    asked = _solve.estimate_options(params)
    asked.criteria = _solve.flag("criteria", criteria)
    with _solve.ProgressBar(verbose, "alpha", options.tolerance) as bar, _data.explained(X):
        answer = _core.fit_path(_data.design(X), _survival.numbers(y), words, grid, options, asked, bar.callback)
    several = len(answer["fits"][0]["intercepts"]) > 1
    path = make_path(answer, X.shape[1], size, options.tolerance, "binomial" if loss == "multinomial" and not several else loss, names)
    _solve.warn_unless_all_converged(path.certificates, "owl_path")
    _solve.warn_if_cut(len(path), answer["wanted"], path.stopped_by, "owl_path")
    return path
