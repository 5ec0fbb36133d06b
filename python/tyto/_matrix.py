"""Data that the library holds as it is stored: what files become, without arrays being made of them."""
from __future__ import annotations

from pathlib import Path
from typing import Any, Sequence

import numpy as np

from . import _core, _survival

AT_ONCE = 1 << 25  # bytes of doubles that are made together


class Matrix:
    """X of a `Data`: what the estimators read. Nothing of it is in NumPy until somebody asks.

    Attributes
    ----------
    shape : tuple of int
    storage : str
        How its numbers are stored, in words: ``"dense float32"``.
    names : list of str, or None
        Of the columns.
    """

    def __init__(self, design: _core.Design, names: list[str] | None = None):
        self.design, self.names = design, names

    @property
    def shape(self) -> tuple[int, int]:
        return self.design.rows, self.design.cols

    @property
    def ndim(self) -> int:
        return 2

    @property
    def storage(self) -> str:
        return self.design.storage

    def times(self, coef: np.ndarray) -> np.ndarray:
        """``X @ coef``, of a vector or of several in columns. Only columns with a coefficient are read."""
        if coef.ndim == 2:
            return np.column_stack([self.times(one) for one in coef.T])
        used = np.flatnonzero(coef)
        return self.design.combination(used.tolist(), np.asarray(coef, dtype=np.float64)[used])

    def columns(self, places: Any) -> np.ndarray:
        """Some columns as float64, of shape (n_samples, number of places)."""
        return self.design.columns([int(place) for place in places])

    def to_numpy(self, dtype: Any = np.float64) -> np.ndarray:
        """All of it, zeros included, by columns."""
        rows, cols = self.shape
        found = np.empty((rows, cols), dtype, order="F")
        step = max(1, AT_ONCE // (8 * rows))
        for begin in range(0, cols, step):
            found[:, begin:begin + step] = self.columns(range(begin, min(begin + step, cols)))
        return found

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("X: want to_numpy() where an array is needed: what tyto.open read is for the estimators of this package")

    def __repr__(self) -> str:
        return f"Matrix({self.shape[0]} x {self.shape[1]}, {self.storage})"


class Data:
    """What `tyto.open` found. ``model.fit(data)``, ``owl_path(data)`` and ``model.predict(data)`` take it in the place of X and y.

    Attributes
    ----------
    X : Matrix
        The features as they are stored; nothing is copied to NumPy. Its estimators read it column by column.
    y : ndarray of shape (n_samples,), or None
        The response: numbers, words, or with ``event=`` a structured array of events and times.
    sample_weight, offset : ndarray of shape (n_samples,), or None
        Where they were asked for. They are used wherever the data is, unless others are given there.
    feature_names : list of str, or None
    response_name : str
        Empty where it has none.
    shape : tuple of int
        Of X.
    storage : str
        How its numbers are stored, in words: ``"dense float32"``.
    dropped_rows : ndarray of int
        Rows of the files, from 0, that were left out for missing values.
    files : list of str
    """

    def __init__(self, X: Matrix, y: np.ndarray | None, **more: Any):
        self.X, self.y = X, y
        self.sample_weight: np.ndarray | None = more.get("sample_weight")
        self.offset: np.ndarray | None = more.get("offset")
        self.response_name: str = more.get("response_name", "")
        self.dropped_rows: np.ndarray = np.array(more.get("dropped_rows", ()), dtype=np.int64)
        self.files: list[str] = []
        self._call: tuple[Any, dict[str, Any]] | None = None

    @property
    def feature_names(self) -> list[str] | None:
        return self.X.names

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape

    @property
    def storage(self) -> str:
        return self.X.storage

    def to_numpy(self, dtype: Any = np.float64) -> np.ndarray:
        """X as an array, by columns: as large as it is, zeros included."""
        return self.X.to_numpy(dtype)

    def __array__(self, *_: Any, **__: Any) -> Any:
        return self.X.__array__()

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        named = f" {self.response_name!r}" if self.response_name else ""
        response = "no response" if self.y is None else f"response{named} of {_kind(self.y)}"
        more = [name for name in ("sample_weight", "offset") if getattr(self, name) is not None]
        left_out = [f"{len(self.dropped_rows)} rows left out"] if len(self.dropped_rows) else []
        parts = [f"{self.shape[0]} rows x {self.shape[1]} features", self.storage, response, *more, *left_out]
        return f"Data({', '.join(Path(file).name for file in self.files)}: {', '.join(parts)})"

    def __reduce__(self) -> Any:
        """The files are opened again: a pickle holds no data."""
        return _open_again, self._call


def _kind(y: np.ndarray) -> str:
    if _survival.is_survival(y):
        return "times"
    return "numbers" if y.dtype.kind in "biuf" else f"{len(np.unique(y))} classes"


def _open_again(files: Sequence[str], options: dict[str, Any]) -> Data:
    from ._open import open
    return open(*files, **options)


def unpacked(X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None) -> tuple[Any, Any, Any, Any]:
    """The parts of a `Data`, where X is one, but for those that are given; else what is given."""
    if not isinstance(X, Data):
        return X, y, sample_weight, offset
    return (X.X, X.y if y is None else y, X.sample_weight if sample_weight is None else sample_weight,
            X.offset if offset is None else offset)
