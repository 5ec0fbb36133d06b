"""OWL and OWLCV: OWL regression with the conventions of scikit-learn."""
from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from . import _core, _data, _solve, _survival
from ._linear import ChosenAlpha, Linear, OneAlpha
from ._matrix import unpacked
from ._path import Path, owl_path
from ._types import Choice, Loss, Screening, Sigma, Solver, Weights


class _Regressor(RegressorMixin, Linear):
    """A response of numbers."""

    intercept_: float

    def predict(self, X: Any, offset: Any = None) -> np.ndarray:
        """Predicted means, one for each row of X: ``Xb + c + offset``, or its exponential with the loss ``"poisson"``. With ``"cox"`` the
        linear predictor ``Xb + offset``, the logarithm of the relative risk."""
        predictor, loss = self._predictor(X, offset), self._params()["loss"]
        return predictor if loss == _survival.LOSS else _core.means(loss, predictor)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """R2 of the predictions; with the loss ``"cox"`` Harrell's C-index: of the pairs of rows whose order in time is known, the share that is
        predicted in that order."""
        _, y, sample_weight, _ = unpacked(X, y, sample_weight)
        if self._params()["loss"] != _survival.LOSS:
            return super().score(X, y, sample_weight)
        predictor, y = self.predict(X), _survival.encode(y)
        if len(y) != len(predictor):
            raise ValueError(f"y: want {len(predictor)} rows, as in X, got {len(y)}")
        weights = np.ones(len(y)) if sample_weight is None else _data.validate_weights(sample_weight, predictor[:, None])[0]
        return float(_core.concordance(_survival.numbers(y), _survival.events(y), weights, predictor))

    def _validate(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        if _solve.loss_for(False, self._params()["loss"]) == _survival.LOSS:
            return _data.validate_survival(self, X, y)
        return _data.validate_fit(self, X, y)

    def _observed(self, y: np.ndarray) -> np.ndarray:
        return _survival.decode(y) if _survival.is_survival(y) else y

    def _row_weights(self, params: dict[str, Any], X: Any, y: np.ndarray, sample_weight: Any) -> tuple[np.ndarray | None, float]:
        return _data.validate_weights(sample_weight, X)

    def _set_coefficients(self, coef: np.ndarray, intercepts: np.ndarray) -> None:
        self.coef_, self.intercept_ = coef, float(intercepts[0])

    def _with_coefficients(self, coef: np.ndarray, intercepts: np.ndarray) -> OWL:
        model = OWL(loss=self._params()["loss"])
        model.coef_, model.intercept_, model.n_features_in_ = coef, float(intercepts[0]), len(coef)
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = isinstance(self._params()["loss"], str) and self._params()["loss"] == "poisson"
        return tags


class OWL(_Regressor, OneAlpha):
    """Linear regression with the ordered weighted L1 penalty (OSCAR, SLOPE, lasso).

    Minimises ``1/(2n) ||y - Xb - c||^2 + alpha * sum_i w_i |b|_(i)``, where ``|b|_(1) >= |b|_(2) >= ...`` are the sorted
    magnitudes and ``w_1 >= w_2 >= ... >= 0``. With ``weights="lasso"`` this is scikit-learn's ``Lasso``. ``loss`` puts the mean of another loss
    in the place of the squares; for classes see `OWLClassifier`.

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
        mixture. Not with ``positive=True``, nor with another loss than ``"gaussian"``; nor is ``sigma``.
    loss : {"gaussian", "poisson", "huber", "cox"}, default="gaussian"
        What of y - Xb - c is minimised: half the squares; for counts, ``exp(eta) - y eta`` with the linear predictor ``eta = Xb + c``, and
        predictions ``exp(eta)``; for numbers with outliers, squares up to ``huber_delta`` and lines beyond. ``"cox"`` is for times to an event, some of
        them censored: proportional hazards with the partial likelihood of Breslow, and no intercept, whatever ``fit_intercept`` says.
    huber_delta : float, default=1.35
        Of ``"huber"``, > 0: where squares end, in units of y.
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

    def __init__(self, weights: Weights = "oscar", alpha: float = 1.0, *, q: float = 0.1, slope: float = 1.0, relative: bool = False,
                 sigma: Sigma = None, gamma: float | None = None, loss: Loss = "gaussian", huber_delta: float = 1.35,
                 fit_intercept: bool = True, standardize: bool = False, ridge: float = 0.0, positive: bool = False, unpenalized: Any = None, tol: float = 1e-6, max_iter: int = 100_000,
                 max_seconds: float | None = None, solver: Solver = "auto", screening: Screening = "safe", warm_start: bool = False,
                 n_jobs: int | None = None, verbose: bool = False):
        self.weights = weights
        self.alpha = alpha
        self.q = q
        self.slope = slope
        self.relative = relative
        self.sigma = sigma
        self.gamma = gamma
        self.loss = loss
        self.huber_delta = huber_delta
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

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None) -> OWL:
        """Fits the model.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features), or Data
            Borrowed where it is a float64 or float32 array in Fortran order, or a CSC matrix; else copied once. What `tyto.open` made of files
            brings its own y, sample_weight and offset.
        y : array of shape (n_samples,)
            With the loss ``"cox"`` a structured array whose first field says whether there was an event, and whose second is the time.
        sample_weight : array of shape (n_samples,), optional
            How often each row counts; only their proportions matter, as for ``Lasso``.
        offset : array of shape (n_samples,), optional
            Added to the linear predictor of each row: of counts, the logarithm of the exposure. `predict` adds none unless it is given.

        After an error or Ctrl-C the estimator is as it was before.
        """
        sigma = self._params()["sigma"]
        if isinstance(sigma, str) and sigma != "estimate":
            raise _solve.want("sigma", "a number > 0, 'estimate' or None", sigma)
        self._fit(X, y, sample_weight, offset)
        return self

    def _keep_extras(self, answer: Any) -> None:
        self.sigma_, self.sigma_status_ = answer.get("sigma"), answer.get("sigma_status")

    def _warn_of_extras(self) -> None:
        _solve.warn_unless_settled(self.sigma_status_, type(self).__name__)

    def path(self, X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None, **grid: Any) -> Path:
        """The models along a grid of alphas, with this estimator's settings: see `owl_path`, also for ``grid``."""
        params = self._params()
        for name in ("alpha", "relative", "sigma", "warm_start"):
            del params[name]
        return owl_path(X, y, sample_weight=sample_weight, offset=offset, **{**params, **grid})


class OWLCV(_Regressor, ChosenAlpha):
    """OWL with alpha chosen by cross-validation along a path.

    The path is fitted on all rows, then, along the same grid, on the training rows of every fold.

    Parameters
    ----------
    weights, loss, huber_delta, fit_intercept, standardize, ridge, positive, unpenalized, tol, max_iter, max_seconds, solver, screening
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
    scoring : str or callable, default="auto"
        ``"mse"``, ``"mae"`` or ``"deviance"`` (the mean of twice the loss), the smaller the better; ``"auto"`` is ``"mse"``, or ``"deviance"`` where
        ``loss`` is not ``"gaussian"``; ``"c-index"`` where it is ``"cox"``, the larger the better; ``"r2"``, 1 - mse / (variance of the whole y), the larger the better; or a scorer of scikit-learn by name, ``"neg_mean_absolute_error"``, or a callable ``scoring(model, X, y)``, which gets a fitted `OWL`
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
    scoring_ : str
        The measure; what ``"auto"`` stood for.
    cv_error_, cv_standard_error_ : ndarray of shape (n_alphas,)
        Their mean, weighted by rows, and its standard error.
    best_index_, one_se_index_ : int
        Places in ``path_``.
    chosen_index_ : int
        Which of them the model is.
    folds_ : ndarray of shape (n_samples,)
        The fold that held each row out.
    worst_fold_gap_ : float
        The largest relative gap of any fit on a fold, with its rounding.
    """

    def __init__(self, weights: Weights = "oscar", *, q: Any = 0.1, slope: Any = 1.0, gamma: Any = None, alphas: Any = None,
                 n_alphas: int = 100, eps: float | None = None, cv: Any = None, random_state: Any = 1, scoring: Any = "auto", choose: Choice = "best",
                 loss: Loss = "gaussian", huber_delta: float = 1.35, fit_intercept: bool = True, standardize: bool = False,
                 ridge: float = 0.0, positive: bool = False, unpenalized: Any = None, tol: float = 1e-6, max_iter: int = 100_000, max_seconds: float | None = None,
                 solver: Solver = "auto", screening: Screening = "safe", n_jobs: int | None = None, verbose: bool = False):
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
        self.loss = loss
        self.huber_delta = huber_delta
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

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None) -> OWLCV:
        """Fits the path, cross-validates it and keeps the model chosen. After an error or Ctrl-C the estimator is as it was before."""
        self._fit(X, y, sample_weight, offset)
        return self
