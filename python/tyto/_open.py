"""tyto.open: data files, as the estimators take them."""
from __future__ import annotations

import io
import os
import re
import warnings
from contextlib import contextmanager
from typing import Any, Iterable, Iterator

import numpy as np

from . import _core, _foreign, _solve, _survival
from ._matrix import Data, Matrix
from ._types import Decimal, Header, Missing

# What has no names of columns, of which all are features unless somebody says otherwise.
_UNNAMED = (".npy", ".npz", ".mtx", ".mm")
_UNNAMED_BYTES = (b"\x93NUMPY", b"%%Matr", b"PK\x03\x04")
_COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")


def open(path: str | os.PathLike[str], *more: str | os.PathLike[str], response: Any = None, target: Any = None,
         sample_weight: str | None = None, offset: str | None = None, event: str | None = None, missing: Missing = "refuse",
         memory: str | int | None = None, format: str | None = None, features: int | None = None, drop: Iterable[str] = (),
         one_hot: Iterable[str] = (), header: Header = "auto", decimal: Decimal = "auto", dataset: str | None = None) -> Data:
    """Opens data files without making arrays of them, for `OWL.fit` and everything else that takes X.

    All formats of the command line (docs/formats.md), by the same reader; and through their own packages HDF5, anndata's ``.h5ad`` (h5py),
    zarr, Parquet and Feather (pyarrow): ``pip install 'tyto[formats]'``.

    Parameters
    ----------
    path, more
        A file, or several of the same shape that are stacked by rows.
    response : str, path or array, optional
        The response, where it is not in the data: a file of one column, or a table of which ``target`` says the column (beside ``.bed`` with
        the columns FID and IID, or IID alone); or the numbers or labels themselves.
    target : str, int or False, optional
        Which part of the data is the response: a column by name or number; of ``.h5ad`` a column of ``obs``. Default: as the command line
        finds it, by the names y, target, label and response; files without names (``.npy``, ``.npz``, ``.mtx``) have none. False: there is none,
        and all columns are features.
    sample_weight, offset, event : str, optional
        Columns by name, or files of one number a row: how often each row counts, what is added to its linear predictor, and, of times to
        an event, whether it is that of an event.
    missing : {"refuse", "mean", "drop-rows", "drop-columns"}, default="refuse"
        What becomes of missing values.
    memory : str or int, optional
        What may be taken by everything that is computed from columns that stay in their file (``.tyto``, ``.bed``, ``.npy`` in Fortran
        order), in bytes or as ``"4G"``: they are then read as they are wanted. Default: such files are mapped.
    format : str, optional
        The format, where neither the name nor the content of the file says it.
    features : int, optional
        The number of columns, where LIBSVM files may end before it.
    drop, one_hot : list of str
        Columns to leave out, and columns of words that become columns of 0 and 1.
    header : {"auto", "yes", "no"}, default="auto"
    decimal : {"auto", ".", ","}, default="auto"
        Of CSV files.
    dataset : str, optional
        Of HDF5 and zarr, the matrix: ``"layers/counts"``. Default: X of anndata, or the only matrix.

    Returns
    -------
    Data

    Examples
    --------
    >>> import pathlib, tempfile, tyto
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "small.csv"
    >>> _ = file.write_text("height,weight,y\\n1.7,70,1\\n1.8,75,2\\n1.6,50,0\\n1.9,95,4\\n")
    >>> data = tyto.open(file)
    >>> data
    Data(small.csv: 4 rows x 2 features, dense float64, response 'y' of numbers)
    >>> tyto.OWL(alpha=0.1).fit(data).predict(data).shape
    (4,)
    """
    options = {"response": response, "target": target, "sample_weight": sample_weight, "offset": offset, "event": event, "missing": missing,
               "memory": memory, "format": format, "features": features, "drop": words("drop", drop), "one_hot": words("one_hot", one_hot),
               "header": header, "decimal": decimal, "dataset": dataset}
    files = [os.fspath(one) for one in (path, *more)]
    foreign = _foreign.format_of(files[0], format)
    data = _open_by_library(files, options) if foreign is None else _foreign.open_foreign(foreign, files, options)
    if is_beside(response) or (foreign is not None and response is not None):
        data.y, data.response_name = _vector(response, data), ""
    data.files, data._call = files, (files, options)
    return data


def _open_by_library(files: list[str], options: dict[str, Any]) -> Data:
    if options["dataset"] is not None:
        raise _solve.want("dataset", "None, as it is for HDF5 and zarr", options["dataset"])
    asked = read_options(files, options)
    with in_words():
        found = _core.read(files, asked)
    for text in _notes(found):
        warnings.warn(f"tyto.open: {text}", UserWarning, stacklevel=3)
    names = found["names"] or None
    y = found["response"] if len(found["response"]) else None
    if y is not None and found["labels"]:
        y = np.array(found["labels"])[y.astype(int)]
    if len(found["events"]):
        y = _survival.encode(np.rec.fromarrays([found["events"], y], names="event,time"))
    return Data(Matrix(found["design"], names), y, sample_weight=_or_none(found["row_weights"]), offset=_or_none(found["offset"]),
                response_name=found["response_name"], dropped_rows=found["dropped_rows"])


def read_options(files: list[str], options: dict[str, Any]) -> _core.ReadOptions:
    found = _core.ReadOptions()
    target, response = options["target"], options["response"]
    beside = is_beside(response) or (target is None and response is None and _is_unnamed(files[0], options["format"]))
    found.target_optional = target is False or beside
    if is_beside(response) and target not in (None, False):
        raise ValueError("response: want it or target, got both")
    if response is not None and not is_beside(response):
        found.set_place("response", os.fspath(response))
    for name in ("target", "sample_weight", "offset", "event"):
        place = _place(name, options[name])
        if place is not None:
            found.set_place(name, place)
    found.text_labels = True  # of what is fitted nobody knows yet
    found.format = "" if options["format"] is None else _solve.word("format", options["format"])
    found.features = 0 if options["features"] is None else _solve.whole("features", options["features"], 1)
    found.drop = options["drop"]
    found.set_one_hot(options["one_hot"])
    for name in ("missing", "header", "decimal"):
        getattr(found, f"set_{name}")(_solve.word(name, options[name]))
    found.memory = memory_bytes(options["memory"])
    with in_words():
        by_columns = not found.memory or _core.reads_columns(files, found)
    if not by_columns:
        raise ValueError(f"memory: want None for {files[0]}, which is read as a whole; or files whose columns stay in them: first "
                         "tyto.convert(..., 'x.tyto')")
    return found


def _vector(response: Any, data: Data) -> np.ndarray:
    """The response that is not in the data, of the rows that were not left out."""
    rows = data.shape[0] + len(data.dropped_rows)
    with in_words():
        found = np.asarray(response) if is_beside(response) else _core.read_column(os.fspath(response), rows)
    if found.ndim != 1 or len(found) != rows:
        raise ValueError(f"response: want a vector of {rows} values, one for each row, got shape {found.shape}")
    return np.delete(found, data.dropped_rows)


@contextmanager
def in_words() -> Iterator[None]:
    """What the library says of files, with the names that options have here."""
    try:
        yield
    except ValueError as error:
        text = re.sub(r"--([a-z][a-z-]*) ", lambda found: found[1].replace("-", "_") + "=", str(error))
        raise ValueError(text.replace("observation-weights", "sample_weight").replace("observation_weights", "sample_weight")) from None


def is_beside(response: Any) -> bool:
    """Whether it is the numbers themselves, and no file."""
    return response is not None and not isinstance(response, (str, os.PathLike))


def _is_unnamed(file: str, format: str | None) -> bool:
    """Whether columns of this file have no names, so that nothing says which of them is the response."""
    if format is not None:
        return f".{format}" in _UNNAMED
    base, ending = os.path.splitext(file.lower())
    if ending in _COMPRESSIONS:
        ending = os.path.splitext(base)[1]
    if ending in _UNNAMED or not os.path.isfile(file):
        return ending in _UNNAMED
    with io.open(file, "rb") as stream:
        return stream.read(6).startswith(_UNNAMED_BYTES)


def _place(name: str, place: Any) -> str | None:
    """A column by name or number, or a file, as a word."""
    if place is None or (name == "target" and place is False):
        return None
    if isinstance(place, (str, os.PathLike)):
        return os.fspath(place)
    return str(_solve.whole(name, place, 0))


def words(name: str, words: Any) -> list[str]:
    if isinstance(words, (str, bytes)) or not np.iterable(words):
        raise TypeError(f"{name}: want a list of columns, got {words!r}")
    return [str(word) for word in words]


def _or_none(values: np.ndarray) -> np.ndarray | None:
    return values if len(values) else None


def _notes(found: Any) -> list[str]:
    """What was guessed, filled in or left out."""
    notes = list(found["warnings"])
    rows = found["design"].rows
    if len(found["dropped_rows"]):
        notes.append(f"{len(found['dropped_rows'])} of {rows + len(found['dropped_rows'])} rows were left out for missing values")
    if found["filled"]:
        notes.append(f"{found['filled']} missing values became the means of their columns" if found["filled"] > 1
                     else "1 missing value became the mean of its column")
    if found["dropped_columns"]:
        notes.append(f"columns were left out for missing values: {', '.join(found['dropped_columns'])}")
    return notes


_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def memory_bytes(memory: Any) -> int:
    """A size such as ``"4G"`` in bytes; 0 where there is none."""
    if memory is None:
        return 0
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([KMGT]?)B?", memory.strip().upper()) if isinstance(memory, str) else None
    if isinstance(memory, str) and found is None:
        raise _solve.want("memory", "a number of bytes, or a size such as '512M' or '4G'", memory)
    bytes_ = _solve.number("memory", memory) if found is None else float(found[1]) * _UNITS[found[2]]
    if not 1 <= bytes_ < 2**62:
        raise _solve.want("memory", "a number of bytes, or a size such as '512M' or '4G'", memory)
    return int(bytes_)
