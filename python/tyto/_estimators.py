"""OWL and OWLCV: OWL regression with the conventions of scikit-learn."""
from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from typing import Any, Iterator

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import check_cv
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from . import _core, _data, _solve
from ._path import Path, make_path, owl_path


class _Linear(RegressorMixin, BaseEstimator):
    """What OWL and OWLCV share: prediction, and how an answer of the library is kept."""

    coef_: np.ndarray
    intercept_: float

    def predict(self, X: Any) -> np.ndarray:
        """Predicted responses, one for each row of X."""
        check_is_fitted(self)
        X = _data.validate_predict(self, X)
        return np.asarray(safe_sparse_dot(X, self.coef_)) + self.intercept_

    @classmethod
    @cache
    def _names(cls) -> tuple[str, ...]:
        return tuple(cls._get_param_names())

    def _params(self) -> dict[str, Any]:
        """What get_params says, without looking up the names each time."""
        return {name: getattr(self, name) for name in self._names()}

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _words(self, params: dict[str, Any], X: Any, sample_weight: Any) -> tuple[_core.RegressionOptions, float]:
        """What to fit, and the n of the objective."""
        rows, size = _data.validate_weights(sample_weight, X)
        free = _data.validate_columns(params["unpenalized"], X.shape[1], getattr(self, "feature_names_in_", None))
        return _solve.regression_options(params, size, rows, free), size

    def _keep(self, answer: Any, size: float, tolerance: float) -> None:
        self.alpha_ = float(answer["alpha"]) / size
        self.coef_ = _solve.coefficients(answer, self.n_features_in_)
        self.intercept_ = float(answer["intercept"])
        self.clusters_ = _solve.clusters(answer)
        self.relaxation_ = _solve.relaxation(answer, self.n_features_in_)
        self.certificate_ = _solve.certificate(answer, size, tolerance)
        self.dual_gap_ = self.certificate_.gap
        self.screened_ = int(answer["screened"])
        self.n_iter_ = int(answer["epochs"]) + 1
        self.trace_ = _solve.trace(answer, size)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class OWL(_Linear):
    """Linear regression with the ordered weighted L1 penalty (OSCAR, SLOPE, lasso).

    Minimises ``1/(2n) ||y - Xb - c||^2 + alpha * sum_i w_i |b|_(i)``, where ``|b|_(1) >= |b|_(2) >= ...`` are the sorted
    magnitudes and ``w_1 >= w_2 >= ... >= 0``. With ``weights="lasso"`` this is scikit-learn's ``Lasso``.

    Parameters
    ----------
    weights : str or array of shape (n_features,), default="oscar"
        The shape w: ``"oscar"``, ``"lasso"``, ``"linf"``, ``"bh"``, ``"gaussian"``, ``"linear"``, or the numbers themselves,
        which must not increase.
    alpha : float, default=1.0
        The multiplier of the weights, > 0.
    q : float, default=0.1
        The false discovery rate that ``"bh"`` and ``"gaussian"`` aim at.
    slope : float, default=1.0
        Of ``"oscar"``, >= 0: its weights fall from 1 + slope (nearly) to 1.
    sigma : float, "estimate" or None, default=None
        For ``"bh"`` and ``"gaussian"``: the standard deviation of the noise, from which alpha comes. Then ``alpha`` and ``relative``
        play no part, and ``q`` is the false discovery rate that is kept where columns are (nearly) orthogonal.
    gamma : float or None, default=None
        Relaxes the fit, which undoes the shrinkage: 0 is least squares on its clusters, 1 the fit itself, numbers between them a
        mixture. Not with ``positive=True``.
    relative : bool, default=False
        Whether ``alpha`` counts in units of alpha-max, the smallest multiplier whose solution is 0. Then 1 gives the empty model.
    fit_intercept : bool, default=True
        Whether a constant c, which is not penalised, is fitted.
    standardize : bool, default=False
        Whether columns are scaled to standard deviation 1 (over n) before they are penalised. ``coef_`` is on the data's own
        scale in any case. The command line does this by default; here, as in scikit-learn, nothing is scaled unasked.
    ridge : float, default=0.0
        Adds ``ridge/2 ||b||^2`` to the objective (of the standardised coefficients, where ``standardize=True``).
    positive : bool, default=False
        Whether coefficients must be >= 0.
    unpenalized : list of int or str, default=None
        Columns, by number or name, that neither the penalty, the ridge nor ``positive`` concerns, nor standardisation. They are in no
        cluster, and have no weight: given ``weights`` are for the others.
    tol : float, default=1e-6
        The answer's duality gap is at most ``tol`` times the objective.
    max_iter : int, default=100000
        Most epochs.
    max_seconds : float or None, default=None
        Most seconds.
    solver : {"auto", "newton", "apgd", "spgd"}, default="auto"
    screening : {"safe", "seed", "strong", "none"}, default="safe"
        How coefficients are proved zero on the way. Neither choice changes the answer, both change the time.
    warm_start : bool, default=False
        Whether ``fit`` starts from the ``coef_`` of the last one.
    n_jobs : int or None, default=None
        Threads for passes over large data: None is 1, -1 all cores. The answer has the same bits for any number.
    verbose : bool, default=False
        Whether a progress bar is shown (needs tqdm).

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : float
    clusters_ : list of ndarray
        The columns of each cluster, a set of features with one magnitude (of the standardised coefficients, where
        ``standardize=True``); the largest magnitude (of the penalised fit) first.
    dual_gap_ : float
        The objective is at most this far from the optimum. As the certificate, it is about the penalised fit where ``gamma`` is given.
    certificate_ : Certificate
        The proof of that: objective, lower bound, status.
    relaxation_ : Relaxation or None
        Where ``gamma`` is given, the penalised fit and the least squares that ``coef_`` is mixed of.
    sigma_, sigma_status_ : float and str, or None
        Where ``sigma`` is given, the level of the noise, and ``"given"``, or how its estimate ended: ``"converged"``, ``"cycle"``, ``"limit"``,
        ``"too_many_selected"`` or ``"no_noise"``.
    alpha_, alpha_max_ : float
        The multiplier that was used, and the smallest one whose solution is 0.
    screened_ : int
        How many coefficients were proved to be 0 in every solution.
    n_iter_ : int
        How often the gap was computed: the epochs, and once at the start.
    trace_ : dict of ndarray
        ``epoch``, ``seconds``, ``primal``, ``gap`` and ``active`` (columns not yet proved zero), epoch by epoch.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from tyto import OWL
    >>> X = np.array([[1.0, 1.1, 0], [2, 2.1, 1], [3, 2.9, 0], [4, 4.0, 1]])
    >>> model = OWL(weights="oscar", alpha=0.1).fit(X, [2.0, 4, 6, 8])
    >>> [cluster.tolist() for cluster in model.clusters_]
    [[0, 1]]
    """

    def __init__(self, weights: Any = "oscar", alpha: float = 1.0, *, q: float = 0.1, slope: float = 1.0, relative: bool = False,
                 sigma: Any = None, gamma: float | None = None, fit_intercept: bool = True, standardize: bool = False,
                 ridge: float = 0.0, positive: bool = False, unpenalized: Any = None, tol: float = 1e-6, max_iter: int = 100_000,
                 max_seconds: float | None = None, solver: str = "auto", screening: str = "safe", warm_start: bool = False,
                 n_jobs: int | None = None, verbose: bool = False):
        self.weights = weights
        self.alpha = alpha
        self.q = q
        self.slope = slope
        self.relative = relative
        self.sigma = sigma
        self.gamma = gamma
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.ridge = ridge
        self.positive = positive
        self.unpenalized = unpenalized
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.solver = solver
        self.screening = screening
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OWL:
        """Fits the model.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Borrowed where it is a float64 or float32 array in Fortran order, or a CSC matrix; else copied once.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            How often each row counts; only their proportions matter, as for ``Lasso``.

        After an error or Ctrl-C the estimator is as it was before.
        """
        params = self._params()
        with self._all_or_nothing():
            X, y = _data.validate_fit(self, X, y)
            words, size = self._words(params, X, sample_weight)
            if isinstance(self.sigma, str) and self.sigma != "estimate":
                raise _solve.want("sigma", "a number > 0, 'estimate' or None", self.sigma)
            options, wishes = _solve.fit_options(params), _solve.wishes(params)
            with _solve.ProgressBar(self.verbose, "digit", options.tolerance) as bar, _data.explained(X):
                answer = _core.fit(_data.design(X), y, words, options, wishes, self._start(X.shape[1]), bar.callback)
            self._keep(answer, size, options.tolerance)
            self.alpha_max_ = float(answer["alpha_max"]) / size
            self.sigma_, self.sigma_status_ = answer.get("sigma"), answer.get("sigma_status")
        _solve.warn_unless_settled(self.sigma_status_, type(self).__name__)
        _solve.warn_unless_converged(self.certificate_, type(self).__name__)
        return self

    def _start(self, p: int) -> np.ndarray | None:
        last = getattr(self, "coef_", None) if self.warm_start else None
        if last is not None and self.relaxation_ is not None:
            last = self.relaxation_.penalized_coef
        return last if last is not None and len(last) == p else None

    def path(self, X: Any, y: Any, sample_weight: Any = None, **grid: Any) -> Path:
        """The models along a grid of alphas, with this estimator's settings: see `owl_path`, also for ``grid``."""
        params = self._params()
        for name in ("alpha", "relative", "sigma", "warm_start"):
            del params[name]
        return owl_path(X, y, sample_weight=sample_weight, **{**params, **grid})


class OWLCV(_Linear):
    """OWL with alpha chosen by cross-validation along a path.

    The path is fitted on all rows, then, along the same grid, on the training rows of every fold.

    Parameters
    ----------
    weights, fit_intercept, standardize, ridge, positive, unpenalized, tol, max_iter, max_seconds, solver, screening
        As for `OWL`; ``tol`` and ``max_iter`` are for each fit, ``max_seconds`` is for all.
    q : float or list of float, default=0.1
        Of several, for ``"bh"`` and ``"gaussian"``, the best is chosen.
    slope : float or list of float, default=1.0
        The same for ``"oscar"``.
    gamma : float, list of float or None, default=None
        How far to relax, as for `OWL`; of several, the best is chosen together with alpha.
    n_alphas : int, default=100
    eps : float or None, default=None
        The last alpha as a fraction of the first; None: 0.01 where there are at least as many features as rows, else 0.0001.
    cv : int, splitter or iterable, default=None
        As in scikit-learn (None: 5 folds, not shuffled); every row must be held out once.
    scoring : {"mse", "mae", "r2"}, default="mse"
    choose : {"best", "one-se"}, default="best"
        The alpha with the best error, or the largest one whose error is within one standard error of it.
    n_jobs : int or None, default=None
        So many folds at a time.
    verbose : bool, default=False

    Attributes
    ----------
    alpha_, q_, slope_, gamma_ : float
        The choice; ``gamma_`` is None where nothing is relaxed. `coef_` and all that `OWL` has belong to it; it is a step of ``path_``,
        so nothing is fitted again.
    path_ : Path
        The models on all rows, at every alpha of the chosen q, slope and gamma.
    cv_errors_ : ndarray of shape (n_alphas, n_folds)
    cv_error_, cv_standard_error_ : ndarray of shape (n_alphas,)
        Their mean, weighted by rows, and its standard error.
    best_index_, one_se_index_ : int
        Places in ``path_``.
    worst_fold_gap_ : float
        The largest relative gap of any fit on a fold.
    """

    def __init__(self, weights: Any = "oscar", *, q: Any = 0.1, slope: Any = 1.0, gamma: Any = None, n_alphas: int = 100,
                 eps: float | None = None, cv: Any = None, scoring: str = "mse", choose: str = "best",
                 fit_intercept: bool = True, standardize: bool = False, ridge: float = 0.0, positive: bool = False,
                 unpenalized: Any = None, tol: float = 1e-6, max_iter: int = 100_000, max_seconds: float | None = None,
                 solver: str = "auto", screening: str = "safe", n_jobs: int | None = None, verbose: bool = False):
        self.weights = weights
        self.q = q
        self.slope = slope
        self.gamma = gamma
        self.n_alphas = n_alphas
        self.eps = eps
        self.cv = cv
        self.scoring = scoring
        self.choose = choose
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.ridge = ridge
        self.positive = positive
        self.unpenalized = unpenalized
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.solver = solver
        self.screening = screening
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OWLCV:
        """Fits the path, cross-validates it and keeps the model chosen. After an error or Ctrl-C the estimator is as it was before."""
        if self.choose not in ("best", "one-se"):
            raise _solve.want("choose", "'best' or 'one-se'", self.choose)
        if self.scoring not in ("mse", "mae", "r2"):
            raise _solve.want("scoring", "'mse', 'mae' or 'r2'", self.scoring)
        params = self._params()
        with self._all_or_nothing():
            X, y = _data.validate_fit(self, X, y)
            qs, slopes = _solve.one_or_more("q", self.q, "(0, 1]"), _solve.one_or_more("slope", self.slope, "[0, inf)")
            words, size = self._words({**params, "q": qs[0], "slope": slopes[0], "alpha": 1.0, "relative": True}, X, sample_weight)
            options = _solve.fit_options(params)
            cv = _core.CvOptions()
            cv.path, cv.error = _solve.grid_options(params), self.scoring
            cv.qs, cv.slopes, cv.gammas = qs, slopes, _solve.gammas(params)
            cv.given = _folds(self.cv, X, y)
            with _solve.ProgressBar(self.verbose, "fold", options.tolerance) as bar, _data.explained(X):
                answer = _core.cross_validate(_data.design(X), y, words, cv, options, bar.callback)
            if not answer:
                raise _solve.want("max_seconds", "more: not all folds could be fitted", self.max_seconds)
            self._keep_choice(answer, size, options.tolerance)
        _solve.warn_unless_all_converged(self.path_.certificates, type(self).__name__)
        if not answer["converged"] and all(c.converged for c in self.path_.certificates):
            _solve.warn_folds(self.worst_fold_gap_, options.tolerance)
        return self

    def _keep_choice(self, answer: Any, size: float, tolerance: float) -> None:
        curve = answer["curves"][answer["chosen"]]
        self.path_ = make_path(answer, self.n_features_in_, size, tolerance)
        self.best_index_, self.one_se_index_ = int(answer["best"]), int(answer["one_se"])
        chosen = self.best_index_ if self.choose == "best" else self.one_se_index_
        self._keep(answer["fits"][chosen], size, tolerance)
        self.alpha_max_, self.q_, self.slope_ = self.path_.alpha_max, float(curve["q"]), float(curve["slope"])
        self.gamma_ = self.path_.gamma
        self.cv_errors_ = curve["errors"]
        self.cv_error_, self.cv_standard_error_ = np.array(curve["error"]), np.array(curve["standard_error"])
        self.worst_fold_gap_ = float(answer["worst_gap"])


def _folds(cv: Any, X: Any, y: np.ndarray) -> list[int]:
    """The fold of each row."""
    labels = np.full(len(y), -1)
    for fold, (_, held_out) in enumerate(check_cv(cv, y, classifier=False).split(X, y)):
        held_out = np.asarray(held_out)
        if (labels[held_out] >= 0).any():
            labels[:] = -1
            break
        labels[held_out] = fold
    if (labels < 0).any():
        raise ValueError("cv: want splits that hold out every row once, as KFold does; for others use GridSearchCV with OWL")
    return labels.tolist()
