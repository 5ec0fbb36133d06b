"""HDF5 and zarr: a matrix in a file of them, dense or sparse, also in anndata's layout (.h5ad)."""
from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from . import _data, _foreign
from ._foreign import Parts, Roles


def read_hdf5(path: str, roles: Roles, options: dict[str, Any]) -> Parts:
    h5py = _foreign.needed("h5py", "HDF5 files")
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise ValueError(f"{path}: cannot open as HDF5: {error}") from None
    with file:
        return _Store(path, file, roles, options["dataset"]).read(options["drop"])


def read_zarr(path: str, roles: Roles, options: dict[str, Any]) -> Parts:
    zarr = _foreign.needed("zarr", "zarr stores")
    try:
        node = zarr.open(path, mode="r")
    except (OSError, ValueError, KeyError) as error:
        raise ValueError(f"{path}: cannot open as zarr: {error}") from None
    return _Store(path, node, roles, options["dataset"]).read(options["drop"])


def _is_array(node: Any) -> bool:
    return hasattr(node, "shape")


def _layout(node: Any) -> str:
    """``"csr"`` or ``"csc"`` where a group is a sparse matrix; else empty."""
    if _is_array(node) or not all(name in node for name in ("data", "indices", "indptr")):
        return ""
    kind = str(node.attrs.get("encoding-type", node.attrs.get("h5sparse_format", "")))
    return kind[:3] if kind[:3] in ("csr", "csc") else ""


def _is_matrix(node: Any) -> bool:
    return bool(_layout(node)) or (_is_array(node) and len(node.shape) == 2)


class _Store:
    """A file, or group, with a matrix."""

    def __init__(self, path: str, root: Any, roles: Roles, dataset: str | None):
        self.path, self.root, self.roles = path, root, roles
        self.is_anndata = not _is_array(root) and "obs" in root and "var" in root
        self.where, self.matrix = self._matrix(dataset)

    def read(self, drop: list[str]) -> Parts:
        if drop:
            raise ValueError(f"drop: want none for {self.path}, got {drop[0]!r}")
        vectors, response_name = self._vectors()
        X = _Sparse(self.matrix, self.where).by_columns() if _layout(self.matrix) else _dense(self.matrix, self.where)
        if 0 in X.shape:
            raise ValueError(f"{self.where}: want rows and columns, got a matrix of shape {X.shape}")
        return Parts(X, self._names(X.shape[1]), vectors, response_name)

    def _matrix(self, dataset: str | None) -> tuple[str, Any]:
        if _is_array(self.root):
            if dataset is not None:
                raise ValueError(f"dataset: want None for {self.path}, which is one array, got {dataset!r}")
            name, found = "", self.root
        else:
            name = dataset or ("X" if self.is_anndata else self._only_matrix())
            found = self._node("dataset", name)
        where = f"{self.path}: {name}" if name else self.path
        if not _is_matrix(found):
            shape = f"an array of shape {found.shape}" if _is_array(found) else "a group without data, indices and indptr"
            raise ValueError(f"{where}: want a matrix, got {shape}")
        return where, found

    def _only_matrix(self) -> str:
        names = [name for name in sorted(self.root) if _is_matrix(self.root[name])]
        if len(names) != 1:
            raise ValueError(f"dataset: want the name of a matrix of {self.path}, which has {_foreign.few(names)}")
        return names[0]

    def _node(self, option: str, name: str) -> Any:
        try:
            return self.root[name]
        except KeyError:
            raise _foreign.unknown(option, "parts", self.path, sorted(self.root), name) from None

    def _vectors(self) -> tuple[dict[str, np.ndarray], str]:
        """Columns of obs, or arrays of the file, by their roles."""
        if self.is_anndata:
            obs = self.root["obs"]
            if _is_array(obs):
                raise ValueError(f"{self.path}: want anndata's layout from version 0.7 on; write the file again: anndata.read_h5ad(...).write(...)")
            named = {role: name.removeprefix("obs:") for role, name in self.roles.named.items()}
            known = [name for name in obs if name != obs.attrs.get("_index", "_index") and not name.startswith("__")]
            for role, name in named.items():
                if name not in known:
                    raise _foreign.unknown(role, "columns of obs", self.path, known, name)
            source = obs
        else:
            named, source = dict(self.roles.named), self.root
            if self.roles.target_wanted and not _is_array(self.root) and "y" in self.root:
                named["target"] = "y"
            for role, name in named.items():
                if _is_array(self.root) or not _is_array(self._node(role, name)):
                    raise ValueError(f"{role}: want an array in {self.path}, got {name!r}")
        vectors = {role: _foreign.without_missing(f"{self.path}: {name}", _series(source[name])) for role, name in named.items()}
        return vectors, named.get("target", "")

    def _names(self, cols: int) -> list[str] | None:
        if not self.is_anndata or _is_array(self.root["var"]):
            return None
        var = self.root["var"]
        key = var.attrs.get("_index", "_index")
        if key not in var:
            return None
        names = [one.decode("utf-8", "replace") if isinstance(one, bytes) else str(one) for one in _series(var[key])]
        return names if len(names) == cols else None


def _series(node: Any) -> np.ndarray:
    """A vector, as anndata writes columns of frames: an array, categories, or values with a mask."""
    if _is_array(node):
        return np.asarray(node[...]).ravel()
    if "categories" in node:
        categories, codes = _series(node["categories"]).astype(object), np.asarray(node["codes"][...])
        return np.append(categories, np.array([None]))[codes]  # -1: missing
    if "mask" in node:
        values = np.asarray(node["values"][...]).astype(object)
        values[np.asarray(node["mask"][...])] = None
        return values
    raise ValueError(f"{node.name}: want a column of numbers or words, got {node.attrs.get('encoding-type', 'a group')}")


def _dense(array: Any, where: str) -> np.ndarray:
    """An array by columns, tile by tile of whole chunks."""
    (rows, cols), dtype = array.shape, _foreign.stored(np.dtype(array.dtype), where)
    found = np.empty((rows, cols), dtype, order="F")
    tall, wide = getattr(array, "shards", None) or getattr(array, "chunks", None) or (1, cols)
    entries = _foreign.BLOCK // array.dtype.itemsize
    tall *= max(1, min(-(-rows // tall), entries // (tall * wide)))
    wide *= max(1, min(-(-cols // wide), entries // (tall * wide)))
    for left in range(0, cols, wide):
        for top in range(0, rows, tall):
            found[top:top + tall, left:left + wide] = array[top:top + tall, left:left + wide]
    return found


class _Sparse:
    """A compressed matrix in a file."""

    def __init__(self, node: Any, where: str):
        self.node, self.where, self.layout = node, where, _layout(node)
        shape = node.attrs.get("shape", node.attrs.get("h5sparse_shape"))
        self.indptr = np.asarray(node["indptr"][...]).astype(np.int64)
        if shape is None or len(self.indptr) != shape[1 if self.layout == "csc" else 0] + 1:
            raise ValueError(f"{where}: want a shape and an indptr that fit each other")
        self.rows, self.cols = int(shape[0]), int(shape[1])
        entries = int(self.indptr[-1])
        if self.indptr[0] != 0 or (np.diff(self.indptr) < 0).any() or entries > min(node["indices"].shape[0], node["data"].shape[0]):
            raise ValueError(f"{where}: want an indptr from 0 on that does not fall and ends within indices and data")
        dtype = np.dtype(node["data"].dtype)
        self.dtype = _foreign.stored(dtype, where) if dtype.kind == "f" else _integers(dtype, where)
        wide = max(entries, self.rows) >= 2**31
        self.index_type = np.int64 if wide else np.int32

    def by_columns(self) -> sparse.csc_matrix:
        """As a CSC matrix; of rows, in blocks of them."""
        made = self._columns() if self.layout == "csc" else self._transposed()
        found = sparse.csc_matrix((self.rows, self.cols), dtype=self.dtype)
        found.data, found.indices, found.indptr = made
        _data.check_indices(self.where, found)
        return found

    def _columns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        entries = int(self.indptr[-1])
        data, indices = np.empty(entries, self.dtype), np.empty(entries, self.index_type)
        for begin in range(0, entries, _foreign.BLOCK // 8):
            part = slice(begin, min(begin + _foreign.BLOCK // 8, entries))
            data[part], indices[part] = self.node["data"][part], self.node["indices"][part]
        return data, indices, self.indptr.astype(self.index_type)

    def _transposed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """First the entries of each column are counted, then each block of rows is put in its place behind the ones before."""
        counts = np.zeros(self.cols, dtype=np.int64)
        for block in self._blocks():
            counts += np.bincount(self._indices(block), minlength=self.cols)
        start = np.concatenate([[0], np.cumsum(counts)])
        data, indices, place = np.empty(start[-1], self.dtype), np.empty(start[-1], self.index_type), start[:-1].copy()
        for first, last in self._blocks():
            own = self.indptr[first:last + 1] - self.indptr[first]
            values = self.node["data"][self.indptr[first]:self.indptr[last]]
            part = sparse.csr_matrix((values.astype(self.dtype, copy=False), self._indices((first, last)), own), shape=(last - first, self.cols)).tocsc()
            lengths = np.diff(part.indptr)
            to = np.repeat(place - part.indptr[:-1], lengths) + np.arange(len(part.data))
            data[to], indices[to] = part.data, part.indices + first
            place += lengths
        return data, indices, start.astype(self.index_type)

    def _blocks(self) -> list[tuple[int, int]]:
        """First and last row of blocks, each of about as many entries."""
        entries = np.arange(0, self.indptr[-1] + _foreign.BLOCK // 16, _foreign.BLOCK // 16)
        ends = np.unique(np.searchsorted(self.indptr, entries, side="right") - 1)
        ends = np.unique(np.concatenate([[0], ends, [self.rows]]))
        return list(zip(ends[:-1].tolist(), ends[1:].tolist()))

    def _indices(self, block: tuple[int, int]) -> np.ndarray:
        first, last = block
        found = np.asarray(self.node["indices"][self.indptr[first]:self.indptr[last]])
        if len(found) and not (0 <= found.min() and found.max() < self.cols):
            raise ValueError(f"{self.where}: want indices from 0 to {self.cols - 1}, got {found.min()} to {found.max()}")
        return found


def _integers(dtype: np.dtype, where: str) -> np.dtype:
    """Of entries of a sparse matrix: floats that hold them."""
    if dtype.kind not in "biu":
        raise TypeError(f"{where}: want numbers, got {dtype}")
    return np.dtype(np.float32 if dtype.itemsize <= 2 else np.float64)
