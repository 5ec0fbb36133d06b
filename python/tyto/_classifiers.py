"""OWLClassifier and OWLClassifierCV: two classes, with the conventions of scikit-learn."""
from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from . import _core, _data, _labels, _solve
from ._linear import ChosenAlpha, Linear, OneAlpha
from ._matrix import unpacked
from ._path import Path, owl_path
from ._types import Choice, ClassLoss, Screening, Solver, Weights


_OF_TWO = "squared-hinge"  # the loss that has no probabilities, and is for two classes


def _has_probabilities(estimator: Any) -> bool:
    if estimator._params()["loss"] != _OF_TWO:
        return True
    raise AttributeError(f"probabilities are for loss='binomial'; with {_OF_TWO!r} there is decision_function")


class _Classifier(ClassifierMixin, Linear):
    """A response of classes."""

    classes_: np.ndarray
    intercept_: np.ndarray

    def decision_function(self, X: Any, offset: Any = None) -> np.ndarray:
        """The linear predictor ``Xb + c + offset`` of each row: above 0 for the second class; of ``"binomial"``, the logarithm of its odds.

        Of more than two classes there is one for each, in an array of shape (n_samples, n_classes), and the largest decides."""
        return self._predictor(X, offset)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The accuracy: the share of rows whose class is predicted."""
        _, y, sample_weight, _ = unpacked(X, y, sample_weight)
        return super().score(X, y, sample_weight)

    def predict(self, X: Any, offset: Any = None) -> np.ndarray:
        """The most likely class of each row."""
        predictor = self._predictor(X, offset)
        return self.classes_[predictor.argmax(axis=1) if predictor.ndim == 2 else (predictor > 0).astype(int)]

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any, offset: Any = None) -> np.ndarray:
        """The probabilities of the classes, of shape (n_samples, n_classes), in the order of ``classes_``."""
        predictor = self._predictor(X, offset)
        if predictor.ndim == 2:
            return softmax(predictor, axis=1)
        return np.column_stack([_core.means("binomial", signed) for signed in (-predictor, predictor)])

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any, offset: Any = None) -> np.ndarray:
        """Their logarithms, finite where a probability is too small for a number."""
        predictor = self._predictor(X, offset)
        if predictor.ndim == 2:
            return log_softmax(predictor, axis=1)
        return np.column_stack([-np.logaddexp(0, predictor), -np.logaddexp(0, -predictor)])

    def _predictor(self, X: Any, offset: Any) -> np.ndarray:
        check_is_fitted(self)
        if len(self.coef_) == 1:
            return super()._predictor(X, offset)
        X, _, _, offset = unpacked(X, offset=offset)
        if offset is not None:
            raise _solve.want("offset", "None where there are more than two classes", offset)
        X = _data.validate_predict(self, X)
        return _data.product(X, self.coef_.T) + self.intercept_

    def _validate(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        loss = _solve.loss_for(True, self._params()["loss"])
        X, y = _data.validate_labels(self, X, y)
        self.classes_, codes = _labels.encode(y, most=2 if loss == _OF_TWO else None)
        return X, codes

    def _loss(self) -> str:
        loss = self._params()["loss"]
        return loss if loss == _OF_TWO else "binomial" if len(self.classes_) == 2 else "multinomial"

    def _coefficient_count(self) -> int:
        return self.n_features_in_ * (1 if len(self.classes_) == 2 else len(self.classes_))

    def _observed(self, y: np.ndarray) -> np.ndarray:
        return self.classes_[y.astype(int)]

    def _row_weights(self, params: dict[str, Any], X: Any, y: np.ndarray, sample_weight: Any) -> tuple[np.ndarray | None, float]:
        rows, size = _data.validate_weights(sample_weight, X)
        rows = _labels.class_weights(params["class_weight"], self.classes_, y, rows)
        return rows, size if rows is None else float(rows.sum())

    def _set_coefficients(self, coef: np.ndarray, intercepts: np.ndarray) -> None:
        self.coef_, self.intercept_ = coef.reshape(len(intercepts), -1), intercepts

    def _with_coefficients(self, coef: np.ndarray, intercepts: np.ndarray) -> OWLClassifier:
        model = OWLClassifier(loss=self._params()["loss"])
        model._set_coefficients(coef, intercepts)
        model.classes_, model.n_features_in_ = self.classes_, model.coef_.shape[1]
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._params()["loss"] != _OF_TWO
        return tags


class OWLClassifier(_Classifier, OneAlpha):
    """Logistic regression, for any number of classes, or a linear support vector machine for two, with the ordered weighted L1 penalty.

    Minimises ``1/n sum_i f(y_i, eta_i) + alpha * sum_i w_i |b|_(i)`` with the linear predictor ``eta = Xb + c`` and y = 1 for the second
    class, 0 for the first. With ``weights="lasso"`` this is scikit-learn's ``LogisticRegression`` with an L1 penalty and
    ``C = 1 / (alpha n)``, whose intercept is not penalised, as that of its solver ``"saga"``.

    More than two classes have a linear predictor each, and f is minus the logarithm of the softmax of the row's own class. The weights are
    as many as classes times features, and sort all coefficients together; clusters may join those of several classes.

    Parameters
    ----------
    weights, q, slope, relative, fit_intercept, standardize, ridge, positive, unpenalized, tol, max_iter, max_seconds, solver, screening, warm_start, n_jobs, verbose
        As for `OWL`.
    alpha : float, default=0.01
        The multiplier of the weights, > 0. Of standardised features none is left in the model from 0.5 on, whatever the weights from 1 up.
    loss : {"binomial", "multinomial", "squared-hinge"}, default="binomial"
        The negative log-likelihood, ``log(1 + exp(eta)) - y eta`` of two classes, with probabilities; the first two are one, whatever the
        number of classes. Or, for two, ``max(0, 1 - m)^2 / 2`` of the margin m, which is eta for the second class and -eta for the first.
    class_weight : dict, "balanced" or None, default=None
        What the rows of each class count, times ``sample_weight``; classes that a dict leaves out count 1. ``"balanced"``: all classes count
        the same. n is then the sum of what rows count.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in order.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Of the second of two classes, or of each of several.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Those of several classes are 0 in the mean.
    clusters_ : list of ndarray
        The columns of each cluster; of several classes, places in ``coef_.ravel()``.
    scale_, dual_gap_, certificate_, alpha_, alpha_max_, screened_, n_iter_, trace_, n_features_in_, feature_names_in_
        As of `OWL`.

    Examples
    --------
    >>> import numpy as np
    >>> from tyto import OWLClassifier
    >>> X = np.array([[1.0, 1.1], [2, 2.1], [3, 2.9], [4, 4.0], [2.5, 2.4], [2.6, 2.5]])
    >>> model = OWLClassifier(alpha=0.1).fit(X, ["no", "no", "yes", "yes", "yes", "no"])
    >>> model.predict([[1.0, 1.0], [4.0, 4.0]]).tolist()
    ['no', 'yes']
    """

    def __init__(self, weights: Weights = "oscar", alpha: float = 0.01, *, loss: ClassLoss = "binomial", class_weight: Any = None, q: float = 0.1,
                 slope: float = 1.0, relative: bool = False, fit_intercept: bool = True, standardize: bool = False, ridge: float = 0.0,
                 positive: bool = False, unpenalized: Any = None, tol: float = 1e-6, max_iter: int = 100_000,
                 max_seconds: float | None = None, solver: Solver = "auto", screening: Screening = "safe", warm_start: bool = False,
                 n_jobs: int | None = None, verbose: bool = False):
        self.weights = weights
        self.alpha = alpha
        self.loss = loss
        self.class_weight = class_weight
        self.q = q
        self.slope = slope
        self.relative = relative
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

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None) -> OWLClassifier:
        """Fits the model.

        Parameters
        ----------
        X, sample_weight, offset
            As for ``OWL.fit``.
        y : array of shape (n_samples,)
            Labels of any kind: words, booleans, numbers.

        After an error or Ctrl-C the estimator is as it was before.
        """
        self._fit(X, y, sample_weight, offset)
        return self

    def path(self, X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None, **grid: Any) -> Path:
        """The models along a grid of alphas, with this estimator's settings: see `owl_path`, also for ``grid``."""
        params = self._params()
        loss, class_weight = _solve.loss_for(True, params["loss"]), params["class_weight"]
        for name in ("alpha", "relative", "warm_start", "class_weight"):
            del params[name]
        X, y, sample_weight, offset = unpacked(X, y, sample_weight, offset)
        checked, labels = _data.validate_labelled_arrays(X, y)
        rows, _ = _data.validate_weights(sample_weight, checked)
        classes, codes = _labels.encode(labels, most=2 if loss == _OF_TWO else None)
        loss = loss if len(classes) == 2 else "multinomial"
        weights = _labels.class_weights(class_weight, classes, codes, rows)
        return owl_path(X, codes, sample_weight=weights, offset=offset, **{**params, "loss": loss, **grid})


class OWLClassifierCV(_Classifier, ChosenAlpha):
    """OWLClassifier with alpha chosen by cross-validation along a path.

    The path is fitted on all rows, then, along the same grid, on the training rows of every fold.

    Parameters
    ----------
    weights, loss, class_weight, fit_intercept, standardize, ridge, positive, unpenalized, tol, max_iter, max_seconds, solver, screening
        As for `OWLClassifier`; ``tol`` and ``max_iter`` are for each fit, ``max_seconds`` is for all.
    q, slope, alphas, n_alphas, eps, random_state, choose, n_jobs, verbose
        As for `OWLCV`.
    cv : int, splitter or iterable, default=None
        As for `OWLCV`; of a number of folds, each has about as many rows of every class: the folds of ``tyto cv --loss binomial``.
    scoring : str or callable, default="deviance"
        ``"deviance"`` (the mean of twice the loss), ``"misclassification"`` (the share of rows of another class) or, of two classes,
        ``"brier"`` (the mean squared error of the probability), the smaller the better; ``"auc"``, the area under the ROC curve, the larger the better; or a scorer
        of scikit-learn by name, ``"accuracy"``, or a callable ``scoring(model, X, y)``, which gets a fitted `OWLClassifier` and the rows held
        out: the larger the better. It also gets ``sample_weight``, where there are weights and it takes them; they are times those of the
        classes.

    Attributes
    ----------
    classes_, coef_, intercept_
        As of `OWLClassifier`.
    alpha_, q_, slope_, path_, scoring_, cv_errors_, cv_error_, cv_standard_error_, best_index_, one_se_index_, chosen_index_, folds_, worst_fold_gap_
        As of `OWLCV`.
    """

    _stratified = True

    def __init__(self, weights: Weights = "oscar", *, loss: ClassLoss = "binomial", class_weight: Any = None, q: Any = 0.1, slope: Any = 1.0,
                 alphas: Any = None, n_alphas: int = 100, eps: float | None = None, cv: Any = None, random_state: Any = 1,
                 scoring: Any = "deviance", choose: Choice = "best", fit_intercept: bool = True, standardize: bool = False, ridge: float = 0.0,
                 positive: bool = False, unpenalized: Any = None, tol: float = 1e-6, max_iter: int = 100_000,
                 max_seconds: float | None = None, solver: Solver = "auto", screening: Screening = "safe", n_jobs: int | None = None,
                 verbose: bool = False):
        self.weights = weights
        self.loss = loss
        self.class_weight = class_weight
        self.q = q
        self.slope = slope
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

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None) -> OWLClassifierCV:
        """Fits the path, cross-validates it and keeps the model chosen. After an error or Ctrl-C the estimator is as it was before."""
        self._fit(X, y, sample_weight, offset)
        return self
