"""Data files that are read through packages of others: HDF5, zarr, Parquet and Feather."""
from __future__ import annotations

import importlib
import io
import os
from typing import Any, Callable, NamedTuple

import numpy as np

from . import _data, _solve, _survival
from ._matrix import Data, Matrix

BLOCK = 1 << 25  # bytes that are read together
NARROWEST = [np.int8, np.uint8, np.int16, np.float32, np.float64]  # of what the library stores, the narrowest first
INSTALL = "pip install 'tyto[formats]'"
_RESPONSES = ("y", "target", "label", "response")


class Parts(NamedTuple):
    """What a file holds: X by columns, an array or a CSC matrix, and vectors by their roles."""

    X: Any
    names: list[str] | None
    vectors: dict[str, np.ndarray]
    response_name: str


class Roles:
    """Which parts of a file are no features: ``target``, ``sample_weight``, ``offset``, ``event``, by name."""

    NAMES = ("target", "sample_weight", "offset", "event")

    def __init__(self, file: str, options: dict[str, Any]):
        self.file = file
        self.target_wanted = options["target"] is None and options["response"] is None
        self.named = {name: options[name] for name in self.NAMES if options[name] is not None and options[name] is not False}
        for name, column in self.named.items():
            if not isinstance(column, str):
                raise TypeError(f"{name}: want a name, got {column!r}")

    def found_in(self, known: list[str], what: str) -> dict[str, str]:
        """The roles and their names, the response by its usual name where nobody says which it is."""
        for role, name in self.named.items():
            if known.count(name) != 1:
                raise unknown(role, f"{what}s", self.file, known, name)
        if not self.target_wanted:
            return dict(self.named)
        usual = [name for name in known if name.lower() in _RESPONSES and name not in self.named.values()]
        if len(usual) != 1:
            raise ValueError(f"target: {'no' if not usual else 'more than one'} {what} of {self.file} is called y, target, label or response; "
                             f"give target=, one of {few(known)}, or target=False where there is none")
        return {**self.named, "target": usual[0]}


def needed(package: str, files: str) -> Any:
    """The package, or one line that says what to install."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise ImportError(f"tyto.open: want the package {package.split('.')[0]} for {files}; {INSTALL}") from error


def stored(dtype: np.dtype, where: str) -> np.dtype:
    """The narrowest type that the library stores and that holds all numbers of this one; 64-bit integers become float64."""
    if dtype.kind not in "biuf":
        raise TypeError(f"{where}: want numbers, got {dtype}")
    if dtype.kind == "b":
        dtype = np.dtype(np.uint8)
    return next((np.dtype(kind) for kind in NARROWEST if np.can_cast(dtype, kind, "safe")), np.dtype(np.float64))


def _readers() -> dict[str, tuple[tuple[str, ...], bytes, Callable[..., Parts]]]:
    from . import _stores, _tables
    return {"hdf5": ((".h5", ".hdf5", ".hdf", ".h5ad", ".loom"), b"\x89HDF\r\n\x1a\n", _stores.read_hdf5),
            "zarr": ((".zarr",), b"", _stores.read_zarr),
            "parquet": ((".parquet", ".pq"), b"PAR1", _tables.read_parquet),
            "feather": ((".feather", ".arrow", ".ipc"), b"ARROW1", _tables.read_feather)}


def format_of(file: str, format: str | None) -> str | None:
    """The format of a file, where it is one of these; None where the library is to see to it."""
    readers = _readers()
    if format is not None:
        return format if format in readers else None
    ending = os.path.splitext(file.rstrip("/").lower())[1]
    by_name = next((name for name, (endings, _, _) in readers.items() if ending in endings), None)
    if by_name is not None or os.path.isdir(file):
        return by_name or ("zarr" if any(os.path.exists(os.path.join(file, one)) for one in (".zgroup", ".zarray", "zarr.json")) else None)
    if not os.path.isfile(file):
        return None
    with io.open(file, "rb") as stream:
        start = stream.read(8)
    return next((name for name, (_, magic, _) in readers.items() if magic and start.startswith(magic)), None)


def open_foreign(format: str, files: list[str], options: dict[str, Any]) -> Data:
    """The data of one file of these formats."""
    if len(files) > 1:
        raise ValueError(f"path: want one file of {format}, got {len(files)}")
    for name, default in (("features", None), ("one_hot", []), ("header", "auto"), ("decimal", "auto"), ("missing", "refuse")):
        if options[name] != default:
            raise _solve.want(name, f"{default!r} for files of {format}", options[name])
    if options["memory"] is not None:
        raise ValueError(f"memory: want None for files of {format}, which are read into memory; or convert a matrix of them first: tyto.convert")
    if not os.path.exists(files[0]):
        raise FileNotFoundError(f"{files[0]}: cannot open: there is no such file")
    if options["response"] is not None and options["target"] not in (None, False):
        raise ValueError("response: want it or target, got both")
    parts = _readers()[format][2](files[0], Roles(files[0], options), options)
    vectors, y = parts.vectors, parts.vectors.get("target")
    for name, values in vectors.items():
        if len(values) != parts.X.shape[0]:
            raise ValueError(f"{name}: want {parts.X.shape[0]} rows, as in X, got {len(values)}")
    if "event" in vectors and y is not None:
        y = _survival.encode(np.rec.fromarrays([vectors["event"], y], names="event,time"))
    weights, offset = (None if name not in vectors else _solve.vector(name, vectors[name], "numbers") for name in ("sample_weight", "offset"))
    return Data(Matrix(_data.design(parts.X), parts.names), y, sample_weight=weights, offset=offset, response_name=parts.response_name)


def without_missing(where: str, values: np.ndarray) -> np.ndarray:
    """Numbers or words, none of which is missing."""
    if values.dtype.kind == "O":
        values = np.array([one.decode("utf-8", "replace") if isinstance(one, bytes) else one for one in values], dtype=object)
        missing = np.array([one is None or one != one for one in values])
        values = np.array(values.tolist()) if not missing.any() else values
    else:
        missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
    if missing.any():
        raise ValueError(f"{where}, row {int(np.flatnonzero(missing)[0])}: want a value, got a missing one; there are {int(missing.sum())}")
    return values


def unknown(option: str, what: str, file: str, known: list[str], got: str) -> ValueError:
    return _solve.want(option, f"one of the {what} of {file}, {few(known)}", got)


def few(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:8])
    return (shown + (", ..." if len(names) > 8 else "")) or "none"
