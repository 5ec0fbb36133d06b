"""OWL and OWLCV: OWL regression with the conventions of scikit-learn."""
from __future__ import annotations

import copy
import inspect
from contextlib import contextmanager
from functools import cache
from typing import Any, Iterator

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from . import _core, _data, _folds, _scoring, _solve
from ._clusters import Cluster, make_cluster
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

    def cluster_table(self, X: Any, sample_weight: Any = None) -> list[Cluster]:
        """The clusters, each with the correlations between its features in X, the data that was fitted: see `Cluster`.

        ``pandas.DataFrame(model.cluster_table(X))`` is a table of them.
        """
        check_is_fitted(self)
        X = _data.validate_predict(self, X)
        weights, _ = _data.validate_weights(sample_weight, X)
        X = X.tocsc() if _data.sparse.issparse(X) else X
        return [make_cluster(columns, self._penalized_scale()[columns], self._feature_names(columns), X, weights)
                for columns in self.clusters_]

    def _penalized_scale(self) -> np.ndarray:
        """The coefficients on the scale on which clusters have one magnitude."""
        return self.coef_ if self.scale_ is None else self.coef_ * self.scale_

    def _feature_names(self, columns: np.ndarray) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{j}" if names is None else str(names[j]) for j in columns]

    def _params(self) -> dict[str, Any]:
        """All settings, also those that the __init__ of a subclass neither takes nor sets."""
        return {name: getattr(self, name, default) for name, default in _defaults(OWL if isinstance(self, OWL) else OWLCV)}

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

    def _keep(self, answer: Any, scale: np.ndarray | None, size: float, tolerance: float) -> None:
        self.alpha_ = float(answer["alpha"]) / size
        self.coef_ = _solve.coefficients(answer, self.n_features_in_)
        self.intercept_ = float(answer["intercept"])
        self.scale_ = scale
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


@cache
def _defaults(cls: type) -> tuple[tuple[str, Any], ...]:
    return tuple((name, parameter.default) for name, parameter in inspect.signature(cls).parameters.items())


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
        The shape of ``"bh"`` and ``"gaussian"``; a false discovery rate only where ``sigma`` is given or estimated.
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
        ``standardize=True``); the largest magnitude (of the penalised fit) first. One magnitude does not mean that they are alike:
        ``cluster_table(X)`` has their correlations.
    scale_ : ndarray of shape (n_features,), or None
        What each column was divided by before it was penalised, where ``standardize=True``: its standard deviation, or 1 where it
        is not penalised. Members of a cluster share the magnitude of ``coef_ * scale_``.
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
            if isinstance(params["sigma"], str) and params["sigma"] != "estimate":
                raise _solve.want("sigma", "a number > 0, 'estimate' or None", params["sigma"])
            options, wishes = _solve.fit_options(params), _solve.wishes(params)
            start = self._start(X.shape[1]) if _solve.flag("warm_start", params["warm_start"]) else None
            with _solve.ProgressBar(params["verbose"], "digit", options.tolerance) as bar, _data.explained(X):
                answer = _core.fit(_data.design(X), y, words, options, wishes, start, bar.callback)
            self._keep(answer, answer["scale"], size, options.tolerance)
            self.alpha_max_ = float(answer["alpha_max"]) / size
            self.sigma_, self.sigma_status_ = answer.get("sigma"), answer.get("sigma_status")
        _solve.warn_unless_settled(self.sigma_status_, type(self).__name__)
        _solve.warn_unless_converged(self.certificate_, type(self).__name__)
        return self

    def _start(self, p: int) -> np.ndarray | None:
        last = getattr(self, "coef_", None)
        if last is not None and self.relaxation_ is not None:
            last = self.relaxation_.penalized_coef
        if last is None or np.shape(last) != (p,):
            return None
        return _solve.vector("coef_", last, "a vector of numbers to start from")

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
    alphas : sequence of float or None, default=None
        The grid; it is sorted. None: ``n_alphas`` from alpha-max down to ``eps`` times that, evenly in their logarithms.
    n_alphas : int, default=100
    eps : float or None, default=None
        The last alpha as a fraction of the first; None: 0.01 where there are at least as many features as rows, else 0.0001.
    cv : int, splitter or iterable, default=None
        A number of folds, to which the rows are dealt out at random (None: 10); or a splitter of scikit-learn, or pairs of training
        and held-out rows, which are taken as they are: every row must be held out once, and the training rows be all others.
    random_state : int, RandomState, Generator or None, default=1
        The seed of the folds, where ``cv`` is a number. An int gives the same folds every time: those of ``tyto cv --seed`` on the
        same rows, whose default is 1, too. A generator is drawn from, None from NumPy's global one: other folds in every fit.
    scoring : str or callable, default="mse"
        ``"mse"`` or ``"mae"``, the smaller the better; ``"r2"``, 1 - mse / (variance of the whole y), the larger the better; or a
        scorer of scikit-learn by name, ``"neg_mean_absolute_error"``, or a callable ``scoring(model, X, y)``, which gets a fitted `OWL`
        and the rows held out: the larger the better. It also gets ``sample_weight``, where there are weights and it takes them.
    choose : {"best", "one-se"}, default="best"
        Which model is kept: the alpha with the best score, or the largest alpha whose score is within one standard error of it.
        `with_choice` takes the other one afterwards.
    n_jobs : int or None, default=None
        So many folds at a time.
    verbose : bool, default=False

    Attributes
    ----------
    alpha_, q_, slope_, gamma_ : float
        The choice; ``gamma_`` is None where nothing is relaxed. `coef_` and all that `OWL` has belong to it, and `predict` uses it; it
        is a step of ``path_``, a fit on all rows, so nothing is fitted again.
    path_ : Path
        The models on all rows, at every alpha of the chosen q, slope and gamma.
    cv_errors_ : ndarray of shape (n_alphas, n_folds)
        What ``scoring`` says of the rows held out.
    cv_error_, cv_standard_error_ : ndarray of shape (n_alphas,)
        Their mean, weighted by rows, and its standard error.
    best_index_, one_se_index_ : int
        Places in ``path_``.
    chosen_index_ : int
        Which of them the model is.
    folds_ : ndarray of shape (n_samples,)
        The fold that held each row out.
    worst_fold_gap_ : float
        The largest relative gap of any fit on a fold.
    """

    def __init__(self, weights: Any = "oscar", *, q: Any = 0.1, slope: Any = 1.0, gamma: Any = None, alphas: Any = None,
                 n_alphas: int = 100, eps: float | None = None, cv: Any = None, random_state: Any = 1, scoring: Any = "mse", choose: str = "best",
                 fit_intercept: bool = True, standardize: bool = False, ridge: float = 0.0, positive: bool = False,
                 unpenalized: Any = None, tol: float = 1e-6, max_iter: int = 100_000, max_seconds: float | None = None,
                 solver: str = "auto", screening: str = "safe", n_jobs: int | None = None, verbose: bool = False):
        self.weights = weights
        self.q = q
        self.slope = slope
        self.gamma = gamma
        self.alphas = alphas
        self.n_alphas = n_alphas
        self.eps = eps
        self.cv = cv
        self.random_state = random_state
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
        params = self._params()
        _check_choice(params["choose"])
        with self._all_or_nothing():
            X, y = _data.validate_fit(self, X, y)
            qs, slopes = _solve.one_or_more("q", params["q"], "(0, 1]"), _solve.one_or_more("slope", params["slope"], "[0, inf)")
            words, size = self._words({**params, "q": qs[0], "slope": slopes[0], "alpha": 1.0, "relative": True}, X, sample_weight)
            options = _solve.fit_options(params)
            cv = _core.CvOptions()
            cv.path = _solve.grid_options(params, size)
            cv.q, cv.slope, cv.gamma = qs, slopes, _solve.gammas(params)
            scoring = _scoring.make_scoring(params["scoring"], X, y, words.observation_weights)
            cv.error = scoring.measure
            self.folds_ = _folds.folds(params["cv"], params["random_state"], X, y)
            cv.given = self.folds_.tolist()
            with _solve.ProgressBar(params["verbose"], "fold", options.tolerance) as bar, _data.explained(X):
                answer = _core.cross_validate(_data.design(X), y, words, cv, options, scoring.score, bar.callback)
            if not answer:
                raise _solve.want("max_seconds", "more: not all folds could be fitted", params["max_seconds"])
            self._keep_curve(answer, scoring.sign, size, options.tolerance)
            self._take(params["choose"])
        _solve.warn_unless_all_converged(self.path_.certificates, type(self).__name__)
        if not answer["converged"] and all(c.converged for c in self.path_.certificates):
            _solve.warn_folds(self.worst_fold_gap_, options.tolerance)
        _solve.warn_of_choice(type(self).__name__, self._doubts(params["alphas"] is not None))
        return self

    def with_choice(self, choose: Any) -> OWLCV:
        """A copy with another model: ``"best"``, ``"one-se"`` or a place in ``path_``. Nothing is fitted again."""
        check_is_fitted(self)
        other = copy.copy(self)
        other._take(choose)
        return other

    def _keep_curve(self, answer: Any, sign: float, size: float, tolerance: float) -> None:
        curve = answer["curves"][answer["chosen"]]
        self.path_ = make_path(answer, self.n_features_in_, size, tolerance, getattr(self, "feature_names_in_", None))
        self._fits = answer["fits"]
        self.best_index_, self.one_se_index_ = int(answer["best"]), int(answer["one_se"])
        self.alpha_max_, self.q_, self.slope_ = self.path_.alpha_max, float(curve["q"]), float(curve["slope"])
        self.gamma_ = self.path_.gamma
        self.cv_errors_, self.cv_error_ = sign * curve["errors"], sign * np.array(curve["error"])
        self.cv_standard_error_ = np.array(curve["standard_error"])
        self.worst_fold_gap_ = float(answer["worst_gap"])

    def _take(self, choose: Any) -> None:
        if isinstance(choose, str) or choose is None:
            _check_choice(choose)
            index = self.best_index_ if choose == "best" else self.one_se_index_
        else:
            index = _solve.whole("choose", choose, 0, len(self.path_) - 1)
        self.chosen_index_ = index
        self._keep(self._fits[index], self.path_.scale, self.path_.n_samples, self.path_.certificates[index].tolerance)

    def _doubts(self, grid_given: bool) -> list[str]:
        """What speaks against the choice."""
        if 0 < self.best_index_ == len(self.path_) - 1:
            return ["the best alpha is the last of the grid: smaller ones (eps, or alphas) may do better."]
        if grid_given and self.best_index_ == 0 and len(self.path_) > 1 and self.path_.n_nonzero[0] > 0:
            return ["the best alpha is the first of the grid: larger ones may do better."]
        return []


def _check_choice(choose: Any) -> None:
    if choose not in ("best", "one-se"):
        raise _solve.want("choose", "'best' or 'one-se'", choose)
