"""Between scikit-learn's words and the library's: options there, answers back, on the scale of the mean over rows."""
from __future__ import annotations

import numbers
import os
import warnings
from dataclasses import dataclass
from typing import Any, Callable, Mapping

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from . import _core


@dataclass(frozen=True)
class Certificate:
    """How far from optimal an answer can be, at most: ``primal - optimum <= gap``.

    Objectives are those of ``1/(2n) ||y - Xb||^2 + alpha * sum_i w_i |b|_(i)``; with another loss, its mean over rows, less the smallest
    value that any prediction could give it, takes the place of the squares: of ``"poisson"`` and ``"binomial"`` half the mean deviance.

    Attributes
    ----------
    primal, dual, gap : float
        The objective, the lower bound of its optimum that was proved, and their difference.
    rounding : float
        What ``gap`` may be off by in floating point.
    tolerance : float
        The relative gap that was asked for.
    status : str
        ``"converged"``, ``"epoch_limit"``, ``"time_limit"``, ``"interrupted"`` or ``"stalled"``.
    """

    primal: float
    dual: float
    gap: float
    rounding: float
    tolerance: float
    status: str

    def __repr__(self) -> str:
        return f"Certificate({self.status}, relative gap {max(0.0, self.relative_gap):.2g}, objective {self.primal:.6g})"

    @property
    def relative_gap(self) -> float:
        return self.gap / self.primal if self.primal > 0 else self.gap

    @property
    def converged(self) -> bool:
        return self.status == "converged"


@dataclass(frozen=True)
class Relaxation:
    """Both ends of a relaxed fit, whose coefficients are ``(1 - gamma) * relaxed + gamma * penalized``, and so is its intercept.

    The certificate is about the penalised end. The relaxed one is least squares on its clusters, which keep one magnitude each.
    """

    gamma: float
    penalized_coef: np.ndarray
    penalized_intercept: float
    relaxed_coef: np.ndarray
    relaxed_intercept: float

    def __repr__(self) -> str:
        return f"Relaxation(gamma {self.gamma:.6g}, {np.count_nonzero(self.penalized_coef)} non-zeros)"


MOST_JOBS = 10_000  # of threads, more than can be of use


class ChoiceWarning(UserWarning):
    """A choice along a path that says more about the path, or about the number of rows, than about the data."""


def want(name: str, wish: str, got: Any) -> ValueError:
    shown = repr(got)
    return ValueError(f"{name}: want {wish}, got {shown if len(shown) <= 200 else shown[:197] + '...'}")


def number(name: str, value: Any, interval: str = "(0, inf)") -> float:
    """A finite number in an interval, which is written as usual: ``"(0, 1]"``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name}: want a number, got {value!r}")
    try:
        found = float(value)
    except OverflowError:
        found = np.inf if value > 0 else -np.inf
    low, high = (float(end) for end in interval[1:-1].split(","))
    above = found >= low if interval[0] == "[" else found > low
    below = found <= high if interval[-1] == "]" else found < high
    if not (above and below):
        wish = f"a number in {interval}" if high < np.inf else f"a finite number {'>=' if interval[0] == '[' else '>'} {low:g}"
        raise want(name, wish, value)
    return found


def one_or_more(name: str, values: Any, interval: str) -> list[float]:
    if isinstance(values, (str, bytes)) or np.ndim(values) > 1:
        raise TypeError(f"{name}: want numbers, got {values!r}")
    found = list(values) if np.iterable(values) else [values]
    if not found:
        raise want(name, "at least one number", values)
    return [number(name, value, interval) for value in found]


def vector(name: str, values: Any, wish: str) -> np.ndarray:
    """Numbers in float64, one after the other in memory."""
    try:
        if np.ma.is_masked(values):
            raise TypeError
        found = np.asarray(values)
        if found.dtype.kind not in "biufO" or found.ndim != 1 or len(found) == 0:
            raise TypeError
        return np.require(found, np.float64, ["C", "A"])
    except (TypeError, ValueError, OverflowError):
        raise want(name, wish, values) from None


def word(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name}: want a word, got {value!r}")
    if not value.isprintable():
        raise want(name, "a word", value)
    return value


def whole(name: str, value: Any, least: int, most: int = 2**63 - 1) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name}: want a whole number, got {value!r}")
    if value < least:
        raise want(name, f"a whole number >= {least}", value)
    if value > most:
        raise want(name, f"a whole number up to {most}", value)
    return int(value)


def flag(name: str, value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)) or (isinstance(value, numbers.Integral) and value in (0, 1)):
        return bool(value)
    raise TypeError(f"{name}: want True or False, got {value!r}")


def loss_for(labels: bool, value: Any) -> str:
    """The name of a loss for labels, or of one for numbers."""
    names, others = _core.losses(labels), _core.losses(not labels)
    if word("loss", value) in names:
        return value
    elsewhere = f", which is for {'numbers: see OWL' if labels else 'classes: see OWLClassifier'}" if value in others else ""
    raise ValueError(f"loss: want {listed(names)}, got {value!r}{elsewhere}")


def listed(names: list[str]) -> str:
    """``'a', 'b' or 'c'``"""
    *first, last = map(repr, names)
    return f"{', '.join(first)} or {last}" if first else last


def threads(n_jobs: int | None) -> int:
    """As joblib counts: None is 1, -1 all cores, -2 all but one."""
    if n_jobs is None:
        return 1
    count = whole("n_jobs", n_jobs, -MOST_JOBS, MOST_JOBS)
    if count == 0:
        raise want("n_jobs", "a number that is not 0, or None", n_jobs)
    if count > 0:
        return count
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else _core.hardware_threads()
    return max(1, cores + 1 + count)


def _whole_in(name: str, value: Any, interval: str) -> int:
    """A whole number in a closed interval, which is written as usual: ``"[1, 100]"``, or ``"[0, inf)"``."""
    low, high = interval[1:-1].split(",")
    return whole(name, value, int(low), *([] if "inf" in high else [int(high)]))


_CHECKS: dict[str, Callable[[str, Any, str], Any]] = {
    "number": number,
    "whole": _whole_in,
    "word": lambda name, value, _: word(name, value),
    "flag": lambda name, value, _: flag(name, value),
}


def take(params: Mapping[str, Any], options: Any, size: float = 1.0) -> None:
    """Sets all options that the library's table has an argument for and that are among `params`, checked as it says. `size`: see
    `regression_options`."""
    for field, name, kind, interval, optional, per_row in type(options).arguments:
        if name in params and not (optional and params[name] is None):
            value = _CHECKS[kind](name, params[name], interval)
            setattr(options, field, value * size if per_row else value)


def regression_options(params: Mapping[str, Any], size: float, rows: np.ndarray | None, unpenalized: list[int]
                       ) -> _core.RegressionOptions:
    """`size`: n or the sum of the weights `rows`, which the library's sum is divided by in scikit-learn's objective."""
    options = _core.RegressionOptions()
    weights = params["weights"]
    if isinstance(weights, str):
        options.weights = word("weights", weights)
    else:
        options.weights, options.weight_values = "given", vector("weights", weights, "a name or numbers, a vector")
    relative, alpha = flag("relative", params["relative"]), number("alpha", params["alpha"])
    options.relative_to = "alpha-max" if relative else "absolute"
    options.strength = alpha if relative else alpha * size
    if rows is not None:
        options.observation_weights = rows
    options.unpenalized = unpenalized
    take(params, options, size)
    return options


def fit_options(params: Mapping[str, Any]) -> _core.FitOptions:
    options = _core.FitOptions()
    take(params, options)
    options.threads = threads(params["n_jobs"])
    return options


def grid_options(params: Mapping[str, Any], size: float) -> _core.PathOptions:
    """`size`: see `regression_options`."""
    grid = _core.PathOptions()
    if params["alphas"] is not None:
        found = one_or_more("alphas", params["alphas"], "(0, inf)")
        grid.alphas = sorted((number("alphas", size * alpha) for alpha in found), reverse=True)
    take(params, grid)
    return grid


def gammas(params: Mapping[str, Any]) -> list[float]:
    """How far to relax; empty: not at all."""
    gamma = params.get("gamma")
    if gamma is None:
        return []
    if params["positive"]:
        raise want("gamma", "None where positive=True, as relaxed coefficients may be below 0", gamma)
    return one_or_more("gamma", gamma, "[0, 1]")


def estimate_options(params: Mapping[str, Any]) -> _core.EstimateOptions:
    """The level of the noise, and how far to relax."""
    asked = _core.EstimateOptions()
    sigma, gamma = params.get("sigma"), params.get("gamma")
    asked.estimate_sigma = isinstance(sigma, str)
    if sigma is not None and not asked.estimate_sigma:
        asked.sigma = number("sigma", sigma)
    if gamma is not None:
        number("gamma", gamma, "[0, 1]")
        asked.gamma = gammas(params)[0]
    return asked


def certificate(answer: Mapping[str, Any], size: float, tolerance: float) -> Certificate:
    values = {name: float(answer[name]) / size for name in ("primal", "dual", "gap", "rounding")}
    return Certificate(**values, tolerance=tolerance, status=answer["status"])


def coefficients(answer: Mapping[str, Any], p: int) -> np.ndarray:
    """Of all columns; of several classes, those of one class after the other."""
    coef = np.zeros(p * len(answer.get("intercepts", "1")))
    coef[answer["columns"]] = answer["values"]
    return coef


def clusters(answer: Mapping[str, Any]) -> list[np.ndarray]:
    """The columns of each cluster, the largest magnitude first; columns that are not penalised are in none. Of several classes: the places of
    the coefficients, of one class after the other."""
    penalized = answer["clusters"] >= 0
    labels, columns = answer["clusters"][penalized], answer["columns"][penalized]
    columns = columns[np.argsort(labels, kind="stable")]
    ends = np.cumsum(np.bincount(labels)).tolist()
    return [np.sort(columns[begin:end]) for begin, end in zip([0, *ends], ends)]


def relaxation(answer: Mapping[str, Any], p: int) -> Relaxation | None:
    ends = answer.get("relaxation")
    if ends is None:
        return None
    penalized, relaxed = (coefficients({"columns": answer["columns"], "values": ends[name]}, p) for name in ("penalized", "relaxed"))
    return Relaxation(ends["gamma"], penalized, ends["penalized_intercept"], relaxed, ends["relaxed_intercept"])


def trace(answer: Mapping[str, Any], size: float) -> dict[str, np.ndarray]:
    course = dict(answer["trace"])
    course["primal"], course["gap"] = course["primal"] / size, course["gap"] / size
    return course


_ADVICE = {
    "epoch_limit": "max_iter was reached. Raise it, or tol; standardize=True often needs fewer iterations.",
    "time_limit": "max_seconds was reached. Raise it, or tol; n_jobs=-1 uses all cores.",
    "stalled": "rounding errors allow no more. Raise tol; columns of very different size may need standardize=True.",
}


def warn_unless_converged(found: Certificate, what: str, stacklevel: int = 3) -> None:
    if not found.converged:
        # A gap below tol proves nothing where its own rounding errors are above it.
        known = f" with rounding errors of {found.rounding / found.primal:.2g}" if found.status == "stalled" and found.primal > 0 else ""
        warnings.warn(f"{what}: the relative duality gap is {found.relative_gap:.2g}{known}, tol is {found.tolerance:.2g}: "
                      f"{_ADVICE[found.status]}", ConvergenceWarning, stacklevel=stacklevel)


def warn_unless_all_converged(found: list[Certificate], what: str, stacklevel: int = 4) -> None:
    """One warning, for the worst."""
    warn_unless_converged(max(found, key=lambda c: (not c.converged, c.relative_gap)), what, stacklevel)


def warn_if_cut(found: int, wanted: int, stopped_by: str, what: str) -> None:
    if stopped_by == "max_seconds" and found < wanted:
        warnings.warn(f"{what}: {found} of {wanted} alphas were fitted: {_ADVICE['time_limit']}", ConvergenceWarning, stacklevel=3)


_NOISE_ADVICE = {
    "cycle": "its supports come again. sigma_ is the largest among them, which selects the least.",
    "limit": "the limit of time or rounds was reached. Raise max_seconds.",
    "too_many_selected": "the columns selected leave no degrees of freedom.",
    "no_noise": "least squares on the columns selected leaves no residual.",
}


def warn_unless_settled(status: str | None, what: str) -> None:
    if status in _NOISE_ADVICE:
        warnings.warn(f"{what}: the estimate of the noise did not settle: {_NOISE_ADVICE[status]} Give a number as sigma where it is known.",
                      ConvergenceWarning, stacklevel=5)


def warn_folds(worst_gap: float, tolerance: float, what: str) -> None:
    warnings.warn(f"{what}: on some folds the relative duality gap, with its rounding, is up to {worst_gap:.2g}, tol is {tolerance:.2g}. "
                  "Raise max_iter, or tol.", ConvergenceWarning, stacklevel=5)


def warn_of_choice(what: str, reasons: list[str], stacklevel: int = 3) -> None:
    for reason in reasons:
        warnings.warn(f"{what}: {reason}", ChoiceWarning, stacklevel=stacklevel)


class ProgressBar:
    """A tqdm bar as a callable for the library, or nothing. Of one fit: how many digits of the gap are there."""

    def __init__(self, verbose: Any, unit: str, tolerance: float):
        self.bar: Any = None
        self.first, self.tolerance = np.inf, tolerance
        if not verbose:
            return
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise ImportError("verbose: want the package tqdm for a progress bar; pip install tqdm") from error
        layout = None if unit != "digit" else "{l_bar}{bar}| {n:.1f}/{total:.1f} digits of the gap [{elapsed}]"
        self.bar = tqdm(total=1, unit=unit, bar_format=layout)

    @property
    def callback(self) -> Callable[[int, int, float], None] | None:
        return None if self.bar is None else self.update

    def update(self, done: int, total: int, relative_gap: float) -> None:
        bar = self.bar
        if bar.unit == "digit":
            level = -np.log10(min(max(relative_gap, self.tolerance), 1.0)) if relative_gap > 0 else 0.0
            self.first = min(self.first, level)
            bar.total, bar.n = -np.log10(self.tolerance) - self.first, level - self.first
        else:
            bar.total, bar.n = total, done
        bar.refresh()

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if self.bar is None:
            return
        if kind is None and self.bar.total:
            self.bar.n = self.bar.total
            self.bar.refresh()
        self.bar.close()
