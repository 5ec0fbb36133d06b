"""OWL regression of rows that Dask holds: arrays, frames or delayed blocks, in two passes over them (docs/scale.md).

`OWL`, `OWLCV` and `owl_path` have the parameters, attributes and answers of those in ``tyto``; the data stays where it is, and what comes
back has the size of the columns. Of the losses, squared error, binomial and poisson are there. ``pip install tyto[dask]``.
"""
from __future__ import annotations

import time
from typing import Any, Callable, Sequence

import dask
import dask.array
import numpy as np
from dask.delayed import Delayed

from . import _passes, _solve, _verify_passes
from ._estimators import OWL as _OWL
from ._estimators import OWLCV as _OWLCV
from ._path import Path

__all__ = ["OWL", "OWLCV", "owl_path", "verify"]

SECONDS_WITHOUT_WORKERS = 60.0
SECONDS_WITHOUT_PROGRESS = 300.0


def _is_frame(values: Any) -> bool:
    return hasattr(values, "npartitions") and hasattr(values, "to_delayed") and not isinstance(values, dask.array.Array)


def _delayed(name: str, values: Any, chunks: Any = None) -> list[Any] | None:
    """One for each partition."""
    if values is None:
        return None
    if isinstance(values, dask.array.Array):
        if values.ndim == 2:
            values = values.rechunk({1: -1}) if values.numblocks[1] > 1 else values
            return list(values.to_delayed()[:, 0])
        if chunks is not None and values.chunks[0] != chunks and not np.isnan(sum(chunks)) and not np.isnan(sum(values.chunks[0])):
            values = values.rechunk((chunks,))
        return list(values.to_delayed())
    if _is_frame(values):
        return list(values.to_delayed())
    if isinstance(values, (list, tuple)) and values and all(isinstance(one, Delayed) for one in values):
        return list(values)
    if chunks is not None and isinstance(values, np.ndarray):
        return _delayed(name, dask.array.from_array(values, chunks=(chunks,)))
    raise TypeError(f"{name}: want a dask array or frame, or a list of delayed blocks, got {type(values).__name__}")


def _task(task: Any, number: int, *parts: Any) -> bytes:
    return task(number, [_passes.Rows(*parts)])


def _columns(block: Any) -> int:
    return int(np.shape(block)[1])


def _same(task: Any) -> Any:
    return task


class Blocks:
    """Rows as Dask has them: a backend of `_passes`."""

    def __init__(self, X: Any, y: Any, sample_weight: Any = None, folds: Any = None, client: Any = None):
        chunks = X.chunks[0] if isinstance(X, dask.array.Array) else None
        self.names = tuple(map(str, X.columns)) if _is_frame(X) and hasattr(X, "columns") else ()
        parts = [_delayed(name, values, chunks) for name, values in
                 (("X", X), ("y", y), ("sample_weight", sample_weight), ("folds", folds))]
        for name, found in zip(("y", "sample_weight", "folds"), parts[1:]):
            if found is not None and len(found) != len(parts[0]):
                raise _solve.want(name, f"{len(parts[0])} partitions, as X has", len(found))
        self._parts = [[None if part is None else part[k] for part in parts] for k in range(len(parts[0]))]
        self._client = client
        self.width = self._width(X)

    def _width(self, X: Any) -> int:
        """Where only a block says it, the first one is looked at."""
        if hasattr(X, "columns"):
            return len(X.columns)
        if isinstance(X, dask.array.Array) and not np.isnan(X.shape[1]):
            return int(X.shape[1])
        return self._computed(dask.delayed(_columns)(self._parts[0][0]))

    def total(self, task: Any, merge: Callable[..., bytes]) -> bytes:
        # The task, and with it the models, is a result itself: scattered data would be lost with its workers.
        shared = dask.delayed(_same, pure=False)(task)
        run, join = dask.delayed(_task, pure=False), dask.delayed(merge, pure=False)
        return self._computed(_passes.merged([run(shared, k, *part) for k, part in enumerate(self._parts)], join))

    def _computed(self, whole: Any) -> Any:
        client = self._client or _default_client()
        if client is None:
            return whole.compute()
        future = client.compute(whole)
        try:
            return _waited(client, future)
        finally:
            future.release()


def _default_client() -> Any:
    try:
        from distributed import default_client
        return default_client()
    except (ImportError, ValueError):
        return None


def _transitions(dask_scheduler: Any = None) -> tuple[int, int]:
    return len(dask_scheduler.workers), dask_scheduler.transition_counter


def _waited(client: Any, future: Any) -> bytes:
    """The result; an error where there are no workers, or where nothing moves, for too long."""
    from distributed import wait
    alive = moved = time.monotonic()
    last = None
    while not future.done():
        try:
            wait(future, timeout=1.0)
        except TimeoutError:
            pass
        if future.done():
            break
        workers, transitions = client.run_on_scheduler(_transitions)
        now = time.monotonic()
        alive = now if workers else alive
        if transitions != last:
            last, moved = transitions, now
        if now - alive > SECONDS_WITHOUT_WORKERS:
            raise RuntimeError(f"tyto.dask: the cluster has had no workers for {SECONDS_WITHOUT_WORKERS:.0f} seconds")
        if now - moved > SECONDS_WITHOUT_PROGRESS:
            raise RuntimeError(f"tyto.dask: no task of the pass has moved for {SECONDS_WITHOUT_PROGRESS:.0f} seconds")
    return future.result()


def owl_path(X: Any, y: Any, *, sample_weight: Any = None, weights: Any = "oscar", q: float = 0.1, slope: float = 1.0,
             alphas: Sequence[float] | None = None, n_alphas: int = 100, eps: float | None = None,
             max_explained: float | None = None, min_change: float | None = None, max_nonzeros: int | None = None,
             max_clusters: int | None = None, gamma: float | None = None, sigma: float | None = None, criteria: bool = True,
             fit_intercept: bool = True, standardize: bool = False, ridge: float = 0.0, positive: bool = False,
             unpenalized: Any = None, tol: float = 1e-6, max_iter: int = 100_000, max_seconds: float | None = None,
             solver: str = "auto", screening: str = "safe", n_jobs: int | None = None, loss: str = "gaussian", client: Any = None,
             checkpoint: Any = None) -> Path:
    """`tyto.owl_path` of rows that Dask holds. ``passes`` of the path says how often they were read: twice, and once more for each time
    that a gap was too large and was corrected.

    Parameters
    ----------
    X : dask array, dask frame, or list of delayed blocks
        Blocks of rows, dense or SciPy sparse; a delayed block is an array, a sparse matrix or a frame.
    y, sample_weight
        The same with as many partitions, one number a row.
    loss : {"gaussian", "binomial", "poisson"}
        Others than squared error take more passes, each of which returns gradients.
    client : distributed.Client, optional
        Default: the current one; without one, ``dask.compute``.
    checkpoint : path, optional
        A folder where passes are kept until the path is there: if this process dies, the same call goes on from the last one.
    """
    params = {name: value for name, value in locals().items() if name not in ("X", "y", "sample_weight", "client", "checkpoint")}
    return _passes.path(Blocks(X, y, sample_weight, client=client), params, checkpoint)


def _lazily(model: Any, predict: Callable[[Any], np.ndarray], X: Any) -> Any:
    if isinstance(X, dask.array.Array):
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        return X.map_blocks(predict, dtype=np.float64, drop_axis=1, meta=np.empty(0))
    if _is_frame(X):
        return X.map_partitions(predict, meta=np.empty(0))
    return predict(X)


class OWL(_passes.FitsOne, _OWL):
    """`tyto.OWL` of rows that Dask holds; ``passes_`` says how often they were read."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, client: Any = None, checkpoint: Any = None) -> OWL:
        """``X``, ``y``, ``sample_weight``, ``client``, ``checkpoint``: as for `owl_path`."""
        self._fit_by_passes(Blocks(X, y, sample_weight, client=client), checkpoint)
        return self

    def predict(self, X: Any, offset: Any = None) -> Any:
        """Predictions: lazy, with the chunks of X, where that is Dask's."""
        return _lazily(self, super().predict, X) if offset is None else super().predict(X, offset)


class OWLCV(_passes.ChoosesOne, _OWLCV):
    """`tyto.OWLCV` of rows that Dask holds: folds cost no pass of their own.

    ``cv`` is a number of folds, to which rows are dealt out by a hash of their partition, their place in it and ``random_state``; or give
    ``folds``, numbers 0, 1, ... with the partitions of X, to `fit`.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None, folds: Any = None, client: Any = None) -> OWLCV:
        """``X``, ``y``, ``sample_weight``, ``client``: as for `owl_path`."""
        count = 10 if self.cv is None else _solve.whole("cv", self.cv, 2, 1000)
        seed = _solve.whole("random_state", self.random_state, 0)
        self._cross_validate_by_passes(Blocks(X, y, sample_weight, folds, client), count, seed)
        return self

    def predict(self, X: Any, offset: Any = None) -> Any:
        """Predictions: lazy, with the chunks of X, where that is Dask's."""
        return _lazily(self, super().predict, X) if offset is None else super().predict(X, offset)


def verify(model: Any, X: Any, y: Any, sample_weight: Any = None, client: Any = None) -> Any:
    """`tyto.verify` in one pass: the objective and the gap again, in extended precision, with none of the library's code."""
    return _verify_passes.verify(model, Blocks(X, y, sample_weight, client=client))
