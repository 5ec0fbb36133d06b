"""tyto.convert: data into files whose columns are read as they are wanted."""
from __future__ import annotations

import inspect
import os
import tempfile
from typing import Any

import numpy as np

from . import _core, _foreign, _solve
from ._open import in_words, is_beside, memory_bytes, open, read_options, words


def convert(data: Any, output: str | os.PathLike[str], *, response: Any = None, memory: str | int | None = None, **options: Any) -> None:
    """Writes data as a ``.tyto`` file: columns in the narrowest exact type, which `open` reads as they are wanted.

    Parameters
    ----------
    data : str, path, list of them, or array
        Data files of the library's formats; or a matrix that hands out blocks of columns as ``data[:, begin:end]``, as arrays, mapped ones and those
        of h5py and zarr do. Names of columns are those of the files.
    output : str or path
        Ends in ``.tyto``. The file is there as a whole or not at all.
    response
        As for `open`; of a matrix the numbers themselves.
    memory : str or int, optional
        What may be taken for it: rows are then read in blocks, twice. An interrupted call, given once more, goes on where it was.
    **options
        Those of `open`: target, sample_weight, offset, event, missing, format, features, drop, one_hot, header, decimal.
    """
    output = os.fspath(output)
    if not output.endswith(".tyto"):
        raise _solve.want("output", "a name that ends in .tyto", output)
    if isinstance(data, (str, os.PathLike)) or (isinstance(data, (list, tuple)) and all(isinstance(one, (str, os.PathLike)) for one in data)):
        files = [os.fspath(one) for one in ([data] if isinstance(data, (str, os.PathLike)) else data)]
        _convert_files(files, output, response, memory, options)
        return
    if options:
        raise _solve.want(next(iter(options)), "none for a matrix", next(iter(options.values())))
    _convert_matrix(data, output, response, memory)


def _convert_files(files: list[str], output: str, response: Any, memory: Any, options: dict[str, Any]) -> None:
    defaults = {name: parameter.default for name, parameter in inspect.signature(open).parameters.items()
                if parameter.kind is parameter.KEYWORD_ONLY and name not in ("memory", "dataset")}
    for name in options:
        if name not in defaults:
            raise TypeError(f"convert: there is no option {name!r}")
    foreign = _foreign.format_of(files[0], options.get("format"))
    if foreign is not None:
        raise ValueError(f"{files[0]}: want a format of the library, or a matrix of {foreign}: convert(h5py.File(...)['X'], ...)")
    if is_beside(response):
        raise _solve.want("response", "a file, as the data is one", response)
    asked = read_options(files, {**defaults, **options, "response": response, "memory": None,
                                  "drop": words("drop", options.get("drop", ())), "one_hot": words("one_hot", options.get("one_hot", ()))})
    asked.target_optional = True
    budget = memory_bytes(memory)
    with in_words():
        if budget and _core.reads_columns(files, asked):
            budget = 0  # columns are written from the mapped file, one after the other
        _core.convert(files, asked, output, budget)


def _convert_matrix(X: Any, output: str, response: Any, memory: Any) -> None:
    """By way of a file of its columns, beside the output."""
    if len(getattr(X, "shape", ())) != 2 or not hasattr(X, "dtype") or 0 in X.shape:
        raise _solve.want("data", "files, or a matrix with rows and columns", type(X).__name__)
    rows, cols = X.shape
    dtype = _foreign.stored(np.dtype(X.dtype), "data")
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(output))) as folder:
        columns, beside = os.path.join(folder, "columns.npy"), os.path.join(folder, "response.npy")
        mapped = np.lib.format.open_memmap(columns, mode="w+", dtype=dtype, shape=(rows, cols), fortran_order=True)
        step = max(1, _foreign.BLOCK // (rows * dtype.itemsize))
        for begin in range(0, cols, step):
            mapped[:, begin:begin + step] = X[:, begin:begin + step]
        mapped.flush()
        del mapped
        if response is not None:
            np.save(beside, _solve.vector("response", response, f"{rows} numbers"))
        _convert_files([columns], output, None if response is None else beside, memory, {})
