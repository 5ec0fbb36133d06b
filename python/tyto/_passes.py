"""Fits of rows that are elsewhere, by a few passes over them: what `tyto.dask` and `tyto.spark` share. It knows no engine.

A pass is a function of a partition of the rows that returns bytes, and a function that merges them in pairs. Both are pure: a lost worker
costs the partitions that it had under way, and a task may run twice.
"""
from __future__ import annotations

import hashlib
import pathlib
import time
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Protocol, Sequence

import numpy as np
from scipy import sparse

from . import _core, _data, _solve
from ._path import Path, make_path

ROWS_AT_ONCE = 16384  # a multiple of the library's chunks: blocks of this length have the bits of their partition
_PARTITION = 2**40  # numbers of rows of a partition, for folds


class Block(Protocol):
    """Some rows: X (an array, a SciPy matrix or a frame), y, and where they are asked for weights and folds."""
    X: Any
    y: Any
    weights: Any
    folds: Any


@dataclass(frozen=True)
class Rows:
    X: Any
    y: Any
    weights: Any = None
    folds: Any = None


def _vector(name: str, values: Any) -> np.ndarray | None:
    if values is None:
        return None
    found = np.asarray(values)
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.dtype.kind not in "biuf" or found.ndim != 1:
        raise _solve.want(name, "a vector of numbers", values)
    return np.require(found, np.float64, ["C", "A"])


def _matrix(X: Any) -> Any:
    if sparse.issparse(X):
        X = X.tocsc()
        return X if X.dtype in _data.FLOATS else X.astype(np.float64)
    found = np.asarray(X)
    if found.ndim != 2 or found.dtype.kind not in "biuf":
        raise _solve.want("X", "blocks of numbers, each a matrix", f"{found.dtype} of shape {found.shape}")
    return np.require(found, found.dtype if found.dtype in _data.FLOATS else np.float64, ["F", "A"])


def _rows(block: Block, names: Sequence[str]) -> _core.Rows:
    X, y = _matrix(block.X), _vector("y", block.y)
    rows = _core.Rows(_data.design(X), y, _vector("sample_weight", block.weights), None, list(names))
    if block.folds is not None:
        rows.set_folds(np.asarray(block.folds).astype(np.int64).tolist())
    return rows


@dataclass(frozen=True)
class MomentsOf:
    """Pass 1: means and co-moments, by fold."""
    names: tuple[str, ...]
    folds: int = 1
    seed: int = 1

    def __call__(self, number: int, blocks: Iterable[Block]) -> bytes:
        sum_ = _core.PartitionMoments(self.folds, self.seed, number * _PARTITION)
        return _summed(sum_, number, blocks, self.names)


@dataclass(frozen=True)
class EvidenceFor:
    """Pass 2: what the gaps of these models depend on."""
    query: bytes

    def __call__(self, number: int, blocks: Iterable[Block]) -> bytes:
        return _summed(_core.PartitionEvidence(self.query), number, blocks, ())


@dataclass(frozen=True)
class ColumnsOf:
    """Pass 1 where gradients follow: each column alone, and with the response."""
    names: tuple[str, ...]

    def __call__(self, number: int, blocks: Iterable[Block]) -> bytes:
        return _summed(_core.PartitionColumns(), number, blocks, self.names)


@dataclass(frozen=True)
class GradientsFor:
    """Further passes: values and gradients of these models, and second derivatives of the working set."""
    query: bytes

    def __call__(self, number: int, blocks: Iterable[Block]) -> bytes:
        return _summed(_core.PartitionGradients(self.query), number, blocks, ())


def _summed(sum_: Any, number: int, blocks: Iterable[Block], names: Sequence[str]) -> bytes:
    try:
        for block in blocks:
            if np.shape(block.X)[0] > 0:
                sum_.add(_rows(block, names))
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from None
    return sum_.total()


def merge_moments(*parts: bytes) -> bytes:
    return _core.merge_moments([part for part in parts])


def merge_evidence(*parts: bytes) -> bytes:
    return _core.merge_evidence([part for part in parts])


def merge_columns(*parts: bytes) -> bytes:
    return _core.merge_columns([part for part in parts])


def merge_gradients(*parts: bytes) -> bytes:
    return _core.merge_gradients([part for part in parts])


def merged(parts: Sequence[Any], merge: Callable[[Any, Any], Any]) -> Any:
    """Neighbours in pairs, and so on: a tree whose shape depends on nothing but their number, so that a sum always has the same bits."""
    level = list(parts)
    while len(level) > 1:
        pairs = [merge(level[k], level[k + 1]) for k in range(0, len(level) - 1, 2)]
        level = pairs + level[len(level) - len(level) % 2:]
    return level[0]


class Backend(Protocol):
    """Where the rows are. `total` runs ``task(number, blocks)`` for each partition and merges the answers by `merged`."""

    names: tuple[str, ...]  # of the columns; empty where they have none
    width: int  # their number

    def total(self, task: Callable[[int, Iterable[Block]], bytes], merge: Callable[..., bytes]) -> bytes: ...


@dataclass
class Answer:
    """What passes found, as the library says it."""
    found: dict[str, Any]
    size: float  # the n of the objective: rows, or their weight
    rows: int
    features: int
    tolerance: float
    passes: int
    names: Any


def solve(backend: Backend, task: str, params: dict[str, Any], folds: int = 1, seed: int = 1,
          moments: bytes | None = None, checkpoint: Any = None) -> Answer:
    """`task`: fit, path or cv. `params`: those of the estimator or function in memory. `checkpoint`: see `Remembered`."""
    if checkpoint is not None:
        backend = Remembered(backend, checkpoint)
    start = time.perf_counter()
    gradients = moments is None and wants_gradients(backend, params)
    if gradients:
        first = backend.total(ColumnsOf(backend.names), merge_columns)
        about = _core.about_columns(first)
    else:
        first = backend.total(MomentsOf(backend.names, folds, seed), merge_moments) if moments is None else moments
        about = _core.about_moments(first)
    size, features = about["weight"], about["features"]
    names = np.array(about["names"], dtype=object) if about["names"] else None
    asked, options = _asked(task, params, size, features, names)
    if gradients:
        passes = _core.GradientPasses(first, task, *asked)
    else:
        passes = _core.Passes(first, task, *asked, None)
    task_of, merge = (GradientsFor, merge_gradients) if gradients else (EvidenceFor, merge_evidence)
    while (query := passes.ask()) is not None:
        passes.tell(backend.total(task_of(query), merge))
    found = passes.answer()
    if found:
        found["seconds"] = time.perf_counter() - start
    if checkpoint is not None:
        backend.forget()
    return Answer(found, size, about["rows"], features, options.tolerance, passes.passes, names)


def wants_gradients(backend: Backend, params: dict[str, Any]) -> bool:
    """Other losses than squared error, and so many columns that their products are too many."""
    if params.get("loss", "gaussian") != "gaussian":
        return True
    return backend.width > _core.most_columns_of_moments


def _asked(task: str, params: dict[str, Any], size: float, features: int, names: Any) -> tuple[tuple[Any, ...], Any]:
    """Regression, grid, fit and estimate, as the library takes them."""
    free = _data.validate_columns(params["unpenalized"], features, names)
    cv = _core.CvOptions()
    if task == "cv":
        qs, slopes = _solve.one_or_more("q", params["q"], "(0, 1]"), _solve.one_or_more("slope", params["slope"], "[0, inf)")
        cv.q, cv.slope, cv.gamma = qs, slopes, _solve.gammas(params)
        cv.error = {"auto": "mse"}.get(params["scoring"], params["scoring"])
        params = {**params, "q": qs[0], "slope": slopes[0]}
    if task != "fit":
        params = {**params, "alpha": 1.0, "relative": True}
        cv.path = _solve.grid_options(params, size)
    words = _solve.regression_options(params, size, None, free)
    options = _solve.fit_options(params)
    asked = _core.EstimateOptions() if task == "cv" else _solve.estimate_options(params)
    asked.criteria = bool(params.get("criteria", task == "path"))
    return (words, cv, options, asked), options


class Remembered:
    """A backend whose passes are kept in a folder until all is done: where the driver dies, it goes on from there. The passes are those of
    the same partitions and options; data that changed meanwhile is found by the next pass over it."""

    def __init__(self, backend: Backend, folder: Any):
        self._backend, self._folder = backend, pathlib.Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._used: list[pathlib.Path] = []
        self.names, self.width = backend.names, backend.width

    def total(self, task: Callable[[int, Iterable[Block]], bytes], merge: Callable[..., bytes]) -> bytes:
        key = hashlib.sha256(repr((type(task).__name__, task, self.names, _core.version())).encode()).hexdigest()
        place = self._folder / f"{key[:32]}.pass"
        self._used.append(place)
        if place.exists():
            return place.read_bytes()
        found = self._backend.total(task, merge)
        beside = place.with_suffix(".new")
        beside.write_bytes(found)
        beside.replace(place)
        return found

    def forget(self) -> None:
        for place in self._used:
            place.unlink(missing_ok=True)


def alpha_max(moments: bytes, params: dict[str, Any]) -> float:
    """The smallest alpha whose solution is 0: no pass is needed for it."""
    about = _core.about_moments(moments)
    free = _data.validate_columns(params["unpenalized"], about["features"], about["names"] or None)
    words = _solve.regression_options({**params, "alpha": 1.0, "relative": True}, about["weight"], None, free)
    found = _core.Passes(moments, "fit", words, _core.CvOptions(), _core.FitOptions(), _core.EstimateOptions(), None)
    return float(found.answer()["alpha_max"]) / about["weight"]


def path(backend: Backend, params: dict[str, Any], checkpoint: Any = None) -> Path:
    answer = solve(backend, "path", params, checkpoint=checkpoint)
    loss = params.get("loss", "gaussian")
    result = make_path(answer.found, answer.features, answer.size, answer.tolerance, loss, answer.names)
    _solve.warn_unless_all_converged(result.certificates, "owl_path")
    return result


class FitsOne:
    """Of an estimator of one alpha: ``fit`` by passes."""

    def _fit_by_passes(self, backend: Backend, checkpoint: Any = None) -> None:
        params = self._params()
        with self._all_or_nothing():
            answer = solve(backend, "fit", params, checkpoint=checkpoint)
            self._remember(answer)
            self._keep(answer.found, answer.found["scale"], answer.size, answer.tolerance)
            self.alpha_max_ = float(answer.found["alpha_max"]) / answer.size
            self._keep_extras(answer.found)
        self._warn_of_extras()
        _solve.warn_unless_converged(self.certificate_, type(self).__name__, stacklevel=4)

    def _remember(self, answer: Answer) -> None:
        self.n_features_in_, self.passes_ = answer.features, answer.passes
        self.__dict__.pop("feature_names_in_", None)
        if answer.names is not None:
            self.feature_names_in_ = answer.names


class ChoosesOne(FitsOne):
    """Of an estimator that cross-validates: the same."""

    def _cross_validate_by_passes(self, backend: Backend, folds: int, seed: int) -> None:
        params = self._params()
        if params["loss"] != "gaussian":
            raise _solve.want("loss", "'gaussian' for cross-validation of rows in passes", params["loss"])
        if params["scoring"] not in ("auto", "mse", "r2"):
            raise _solve.want("scoring", "'auto', 'mse' or 'r2' where rows are summed", params["scoring"])
        with self._all_or_nothing():
            answer = solve(backend, "cv", params, folds, seed)
            if not answer.found:
                raise _solve.want("max_seconds", "more: not all folds could be fitted", params["max_seconds"])
            self._remember(answer)
            self._keep_curve(answer.found, _Measure(), answer.size, answer.tolerance)
            self._take(params["choose"])
        self._warn(answer.found["converged"], answer.tolerance, params["alphas"] is not None)


@dataclass(frozen=True)
class _Measure:
    """Of `ChosenAlpha._keep_curve`: the library's own."""
    name: str = ""
    sign: int = 1


def state_of(model: Any) -> dict[str, Any]:
    """A fitted OWL as numbers, words and lists, which JSON can hold."""
    names = getattr(model, "feature_names_in_", None)
    return {"version": _core.version(), "settings": model.get_params(), "coef": model.coef_.tolist(), "intercept": model.intercept_,
            "scale": None if model.scale_ is None else model.scale_.tolist(), "clusters": [one.tolist() for one in model.clusters_],
            "certificate": dict(model.certificate_.__dict__), "alpha": model.alpha_, "alpha_max": model.alpha_max_,
            "passes": model.passes_, "names": [] if names is None else names.tolist()}


def restored(cls: type, state: dict[str, Any]) -> Any:
    """The model that `state_of` described."""
    model = cls(**state["settings"])
    model.coef_, model.intercept_ = np.array(state["coef"]), state["intercept"]
    model.scale_ = None if state["scale"] is None else np.array(state["scale"])
    model.clusters_ = [np.array(one) for one in state["clusters"]]
    model.certificate_ = _solve.Certificate(**state["certificate"])
    model.dual_gap_, model.relaxation_ = model.certificate_.gap, None
    model.alpha_, model.alpha_max_, model.passes_ = state["alpha"], state["alpha_max"], state["passes"]
    model.n_features_in_ = len(model.coef_)
    if state["names"]:
        model.feature_names_in_ = np.array(state["names"], dtype=object)
    return model
