"""What all estimators share: how an answer of the library is found and kept, whatever the response is."""
from __future__ import annotations

import copy
import inspect
import os
import weakref
from contextlib import contextmanager
from functools import cache
from pathlib import Path as File
from typing import Any, Callable, Iterator

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from . import _core, _data, _files, _folds, _scoring, _solve, _survival
from ._clusters import Cluster, make_cluster
from ._matrix import unpacked
from ._path import make_path


@cache
def _defaults(cls: type) -> tuple[tuple[str, Any], ...]:
    return tuple((name, parameter.default) for name, parameter in inspect.signature(cls).parameters.items())


class Linear(BaseEstimator):
    """A linear predictor with clusters and a certificate. Those for numbers and for classes say what it predicts."""

    coef_: np.ndarray
    intercept_: Any

    def cluster_table(self, X: Any, sample_weight: Any = None) -> list[Cluster]:
        """The clusters, each with the correlations between its features in X, the data that was fitted: see `Cluster`.

        ``pandas.DataFrame(model.cluster_table(X))`` is a table of them.
        """
        check_is_fitted(self)
        X, _, sample_weight, _ = unpacked(X, None, sample_weight)
        X = _data.validate_predict(self, X)
        weights, _ = _data.validate_weights(sample_weight, X)
        X = X.tocsc() if _data.sparse.issparse(X) else X
        return [make_cluster(members, self._penalized_scale()[members], self._feature_names(members % self.n_features_in_), X, weights)
                for members in self.clusters_]

    def coefficients(self) -> Any:
        """The coefficients that are not 0, as a pandas frame: ``column``, ``name``, ``coefficient``, ``cluster`` (-1: none), the largest cluster
        first. Of more than two classes, ``class`` says whose they are."""
        check_is_fitted(self)
        try:
            import pandas
        except ImportError as error:
            raise ImportError("coefficients: want the package pandas; pip install pandas") from error
        coef = self._coefficients()
        cluster = np.full(len(coef), -1)
        for k, members in enumerate(self.clusters_):
            cluster[members] = k
        places = np.flatnonzero(coef)
        places = places[np.argsort(np.where(cluster[places] < 0, len(coef), cluster[places]), kind="stable")]
        columns = places % self.n_features_in_
        several = len(coef) > self.n_features_in_
        of_class = {"class": self.classes_[places // self.n_features_in_]} if several else {}
        return pandas.DataFrame({**of_class, "column": columns, "name": self._feature_names(columns), "coefficient": coef[places],
                                 "cluster": cluster[places]})

    def summary(self, most: int = 10) -> str:
        """What was fitted and found, in a few lines, with the ``most`` strongest coefficients; print it."""
        check_is_fitted(self)
        coef, certificate = self._coefficients(), self.certificate_
        selected = np.flatnonzero(coef)
        share = f", {self.alpha_ / self.alpha_max_:.3g} of alpha-max" if self.alpha_max_ > 0 else ""
        lines = [f"{type(self).__name__}: {self._rows} rows x {self.n_features_in_} features, loss {self._loss()}",
                 f"alpha {self.alpha_:.6g}{share}, intercept {', '.join(f'{value:.6g}' for value in np.ravel(self.intercept_))}",
                 f"{certificate.status}: relative gap {max(0.0, certificate.relative_gap):.2g} (objective {certificate.primal:.6g})",
                 *self._more_summary(),
                 f"{len(selected)} of {len(coef)} coefficients are not zero, in {len(self.clusters_)} clusters"]
        rows = [(k, j) for k, members in enumerate(self.clusters_) for j in members] + \
            [("-", j) for j in selected if not any(j in members for members in self.clusters_)]
        if rows and most > 0:
            lines.append(f"{'cluster':>8}  {'coefficient':>12}  name")
            lines += [f"{k:>8}  {coef[j]:>12.6g}  {name}" for (k, j), name in
                      zip(rows[:most], self._coefficient_names(np.array([j for _, j in rows[:most]])))]
        if len(rows) > most:
            lines.append(f"... and {len(rows) - most} more")
        return "\n".join(lines)

    def _more_summary(self) -> list[str]:
        return []

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file that `tyto.load`, ``tyto predict`` and ``tyto coef`` read. Of a cross-validation, the model chosen."""
        check_is_fitted(self)
        _files.save(self, path)

    def report(self, path: str | os.PathLike[str], X: Any = None, y: Any = None, *, sample_weight: Any = None, offset: Any = None) -> None:
        """Writes a page (HTML) to look at: certificate, groups, charts. It is that of ``tyto fit --report`` or ``tyto cv --report``.

        The model is fitted again, as a page shows more than an estimator keeps. X and y are those of `fit` unless they are given: a model does not
        keep data alive, so that they have to be there still.
        """
        check_is_fitted(self)
        if X is None:
            X, y, sample_weight, offset = self._remembered()
        X, y, sample_weight, offset = unpacked(X, y, sample_weight, offset)
        title = f"{type(self).__name__} in Python"
        other = copy.copy(self)
        checked, codes = other._validate(X, y)
        names = [str(name) for name in getattr(other, "feature_names_in_", [])]
        with _data.explained(checked):
            page = other._page(checked, codes, sample_weight, offset, (title, names))
        File(path).write_text(page, encoding="utf-8")

    def _page(self, X: Any, y: np.ndarray, sample_weight: Any, offset: Any, titles: tuple[str, list[str]]) -> str:
        raise NotImplementedError

    def _remember(self, *data: Any) -> None:
        self._data = [_reference(one) for one in data]

    def _remembered(self) -> list[Any]:
        references = getattr(self, "_data", [])
        found = [one() for one in references]
        if not found or any(one is None and reference is not _nothing for one, reference in zip(found, references)):
            raise ValueError("report: want X and y again, as the data of fit is gone: model.report(path, X, y)")
        return found

    def _keep_setting(self, size: float, rows: int, unpenalized: Any, weighted: bool, has_offset: bool) -> None:
        """What model files say beside the answer."""
        self._size, self._rows, self._unpenalized, self._weighted, self._has_offset = size, rows, list(unpenalized), weighted, has_offset

    def __getstate__(self) -> Any:
        return {name: value for name, value in super().__getstate__().items() if name != "_data"}

    def _validate(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        """X by columns, and y as the library takes it."""
        raise NotImplementedError

    def _observed(self, y: np.ndarray) -> np.ndarray:
        """The other way round: the response as the user has it."""
        raise NotImplementedError

    def _row_weights(self, params: dict[str, Any], X: Any, y: np.ndarray, sample_weight: Any) -> tuple[np.ndarray | None, float]:
        """How often each row counts, and the n of the objective."""
        raise NotImplementedError

    def _set_coefficients(self, coef: np.ndarray, intercepts: np.ndarray) -> None:
        """Of several classes: those of one class after the other."""
        raise NotImplementedError

    def _with_coefficients(self, coef: np.ndarray, intercepts: np.ndarray) -> Linear:
        """A fitted estimator for scorers, with nothing but these coefficients."""
        raise NotImplementedError

    def _coefficients(self) -> np.ndarray:
        """`coef_` as a vector."""
        return np.ravel(self.coef_)

    def _predictor(self, X: Any, offset: Any) -> np.ndarray:
        """The linear predictor, on which losses are defined."""
        check_is_fitted(self)
        X, _, _, offset = unpacked(X, offset=offset)
        X = _data.validate_predict(self, X)
        found = _data.product(X, self._coefficients()) + np.ravel(self.intercept_)
        return found if offset is None else found + _data.validate_offset(offset, X.shape[0])

    def _penalized_scale(self) -> np.ndarray:
        """The coefficients on the scale on which clusters have one magnitude."""
        found = self._coefficients()
        return found if self.scale_ is None else (found.reshape(-1, len(self.scale_)) * self.scale_).ravel()

    def _loss(self) -> str:
        """The name of the loss that is fitted."""
        return self._params()["loss"]

    def _feature_names(self, columns: np.ndarray) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{j}" if names is None else str(names[j]) for j in columns]

    def _coefficient_names(self, places: np.ndarray) -> list[str]:
        """Those of the features, and of their classes where there are several."""
        names = self._feature_names(places % self.n_features_in_)
        if len(self._coefficients()) == self.n_features_in_:
            return names
        return [f"{name} ({self.classes_[place // self.n_features_in_]})" for name, place in zip(names, places)]

    def _params(self) -> dict[str, Any]:
        """All settings, also those that the __init__ of a subclass neither takes nor sets."""
        ours = next(cls for cls in type(self).__mro__ if cls.__module__.split(".")[0] == __package__)
        return {name: getattr(self, name, default) for name, default in _defaults(ours)}

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _words(self, params: dict[str, Any], X: Any, y: np.ndarray, sample_weight: Any, offset: Any
               ) -> tuple[_core.RegressionOptions, float]:
        """What to fit, and the n of the objective."""
        rows, size = self._row_weights(params, X, y, sample_weight)
        free = _data.validate_columns(params["unpenalized"], X.shape[1], getattr(self, "feature_names_in_", None))
        words = _solve.regression_options({**params, "loss": self._loss()}, size, rows, free)
        if offset is not None:
            words.offset = _data.validate_offset(offset, X.shape[0])
        if _survival.is_survival(y):
            words.events = _survival.events(y)
        self._keep_setting(size, X.shape[0], free, rows is not None, offset is not None)
        return words, size

    def _keep(self, answer: Any, scale: np.ndarray | None, size: float, tolerance: float) -> None:
        self.alpha_ = float(answer["alpha"]) / size
        self._set_coefficients(_solve.coefficients(answer, self.n_features_in_), np.array(answer["intercepts"]))
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


class OneAlpha(Linear):
    """A fit at a given alpha."""

    def _fit(self, X: Any, y: Any, sample_weight: Any, offset: Any) -> None:
        params = self._params()
        with self._all_or_nothing():
            self._remember(X, y, sample_weight, offset)
            X, y, sample_weight, offset = unpacked(X, y, sample_weight, offset)
            X, y = self._validate(X, y)
            words, size = self._words(params, X, y, sample_weight, offset)
            options, asked = _solve.fit_options(params), _solve.estimate_options(params)
            start = self._start() if _solve.flag("warm_start", params["warm_start"]) else None
            with _solve.ProgressBar(params["verbose"], "digit", options.tolerance) as bar, _data.explained(X):
                answer = _core.fit(_data.design(X), _survival.numbers(y), words, options, asked, start, bar.callback)
            self._keep(answer, answer["scale"], size, options.tolerance)
            self.alpha_max_ = float(answer["alpha_max"]) / size
            self._keep_extras(answer)
        self._warn_of_extras()
        _solve.warn_unless_converged(self.certificate_, type(self).__name__, stacklevel=4)

    def _page(self, X: Any, y: np.ndarray, sample_weight: Any, offset: Any, titles: tuple[str, list[str]]) -> str:
        params = self._params()
        words, _ = self._words(params, X, y, sample_weight, offset)
        return _core.report_fit(_data.design(X), _survival.numbers(y), words, _solve.fit_options(params), _solve.estimate_options(params), *titles)

    def _keep_extras(self, answer: Any) -> None:
        """What only some estimators have."""

    def _warn_of_extras(self) -> None:
        """Of what is doubtful about it."""

    def _coefficient_count(self) -> int:
        return self.n_features_in_

    def _start(self) -> np.ndarray | None:
        if getattr(self, "coef_", None) is None:
            return None
        last = self._coefficients() if self.relaxation_ is None else self.relaxation_.penalized_coef
        if np.shape(last) != (self._coefficient_count(),):
            return None
        return _solve.vector("coef_", last, "a vector of numbers to start from")


class ChosenAlpha(Linear):
    """A path, cross-validated, and the model that was chosen along it."""

    _stratified = False

    def _fit(self, X: Any, y: Any, sample_weight: Any, offset: Any) -> None:
        params = self._params()
        _check_choice(params["choose"])
        with self._all_or_nothing():
            self._remember(X, y, sample_weight, offset)
            X, y, sample_weight, offset = unpacked(X, y, sample_weight, offset)
            X, y = self._validate(X, y)
            words, cv, options, size = self._asked(params, X, y, sample_weight, offset)
            scoring = _scoring.make_scoring(params["scoring"], self, X, y, words)
            cv.error = scoring.measure
            self.folds_ = _folds.folds(params["cv"], params["random_state"], X, y, self._stratified)
            cv.given = self.folds_.tolist()
            with _solve.ProgressBar(params["verbose"], "fold", options.tolerance) as bar, _data.explained(X):
                answer = _core.cross_validate(_data.design(X), _survival.numbers(y), words, cv, options, scoring.score, bar.callback)
            if not answer:
                raise _solve.want("max_seconds", "more: not all folds could be fitted", params["max_seconds"])
            self._keep_curve(answer, scoring, size, options.tolerance)
            self._take(params["choose"])
        self._warn(answer["converged"], options.tolerance, params["alphas"] is not None)

    def _asked(self, params: dict[str, Any], X: Any, y: np.ndarray, sample_weight: Any, offset: Any) -> tuple[Any, Any, Any, float]:
        """What to fit, along which grid and how, and the n of the objective; without folds and error."""
        qs, slopes = _solve.one_or_more("q", params["q"], "(0, 1]"), _solve.one_or_more("slope", params["slope"], "[0, inf)")
        words, size = self._words({**params, "q": qs[0], "slope": slopes[0], "alpha": 1.0, "relative": True}, X, y, sample_weight, offset)
        cv = _core.CvOptions()
        cv.path = _solve.grid_options(params, size)
        cv.q, cv.slope, cv.gamma = qs, slopes, _solve.gammas(params)
        return words, cv, _solve.fit_options(params), size

    def _page(self, X: Any, y: np.ndarray, sample_weight: Any, offset: Any, titles: tuple[str, list[str]]) -> str:
        params = self._params()
        words, cv, options, _ = self._asked(params, X, y, sample_weight, offset)
        scoring = _scoring.make_scoring(params["scoring"], self, X, y, words)
        if scoring.score is not None:
            raise _solve.want("report", "a scoring that the library has, such as 'mse'", params["scoring"])
        cv.error, cv.given = scoring.measure, self.folds_.tolist()
        return _core.report_cv(_data.design(X), _survival.numbers(y), words, options, cv, *titles)

    @property
    def alphas_(self) -> np.ndarray:
        """The grid, the largest first: as that of ``LassoCV``."""
        return self.path_.alphas

    @property
    def mse_path_(self) -> np.ndarray:
        """The mean squared error of each alpha on each fold, of shape (n_alphas, n_folds): as that of ``LassoCV``."""
        if self.scoring_ != "mse":
            raise AttributeError(f"mse_path_: want scoring='mse', got {self.scoring_!r}; cv_errors_ has what it says")
        return self.cv_errors_

    def _more_summary(self) -> list[str]:
        at = self.chosen_index_
        return [f"step {at} of 0 to {len(self.path_) - 1}: {self.scoring_} {self.cv_error_[at]:.6g} +- {self.cv_standard_error_[at]:.3g} over "
                f"{self.cv_errors_.shape[1]} folds"]

    def with_choice(self, choose: Any) -> Any:
        """A copy with another model: ``"best"``, ``"one-se"`` or a place in ``path_``. Nothing is fitted again."""
        check_is_fitted(self)
        other = copy.copy(self)
        other._data = getattr(self, "_data", [])
        other._take(choose)
        return other

    def _keep_curve(self, answer: Any, scoring: _scoring.Scoring, size: float, tolerance: float) -> None:
        curve = answer["curves"][answer["chosen"]]
        self.path_ = make_path(answer, self.n_features_in_, size, tolerance, self._loss(), getattr(self, "feature_names_in_", None))
        self._fits = answer["fits"]
        self.best_index_, self.one_se_index_ = int(answer["best"]), int(answer["one_se"])
        self.alpha_max_, self.q_, self.slope_ = self.path_.alpha_max, float(curve["q"]), float(curve["slope"])
        self.gamma_ = self.path_.gamma
        self.scoring_ = scoring.name or answer["measure"]
        self.cv_errors_, self.cv_error_ = scoring.sign * curve["errors"], scoring.sign * np.array(curve["error"])
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

    def _warn(self, folds_converged: bool, tolerance: float, grid_given: bool) -> None:
        name = type(self).__name__
        _solve.warn_unless_all_converged(self.path_.certificates, name, stacklevel=6)
        if not folds_converged and all(c.converged for c in self.path_.certificates):
            _solve.warn_folds(self.worst_fold_gap_, tolerance, name)
        _solve.warn_of_choice(name, self._doubts(grid_given), stacklevel=5)

    def _doubts(self, grid_given: bool) -> list[str]:
        """What speaks against the choice."""
        if 0 < self.best_index_ == len(self.path_) - 1:
            return ["the best alpha is the last of the grid: smaller ones (eps, or alphas) may do better."]
        if grid_given and self.best_index_ == 0 and len(self.path_) > 1 and self.path_.n_nonzero[0] > 0:
            return ["the best alpha is the first of the grid: larger ones may do better."]
        return []


def _reference(data: Any) -> Callable[[], Any]:
    """Data that is not kept alive; what cannot be referred to that way is small or a list, and is."""
    if data is None:
        return _nothing
    try:
        return weakref.ref(data)
    except TypeError:
        return lambda: data


def _nothing() -> None:
    """What was not given."""


def _check_choice(choose: Any) -> None:
    if choose not in ("best", "one-se"):
        raise _solve.want("choose", "'best' or 'one-se'", choose)
