"""Blocks of rows from batches of Arrow: columns x (lists of numbers), y, and where they are there w (weights) and f (folds)."""
from __future__ import annotations

from typing import Iterable, Iterator

import numpy as np
import pyarrow
from scipy import sparse

from . import _passes


def _block(batch: pyarrow.RecordBatch) -> _passes.Rows:
    columns = dict(zip(batch.schema.names, batch.columns))
    lists = columns["x"]
    if lists.null_count or columns["y"].null_count:
        raise ValueError("want no nulls, got some")
    rest = [columns[name].to_numpy(zero_copy_only=False) if name in columns else None for name in ("y", "w", "f")]
    return _passes.Rows(_vectors(lists) if pyarrow.types.is_struct(lists.type) else _lists(lists), *rest)


def _vectors(structs: Any) -> Any:
    """Spark's vectors: sparse ones have a size and indices. A matrix that is sparse if one of them is."""
    kind, size, indices, values = structs.flatten()
    dense = kind.to_numpy(zero_copy_only=False) == 1
    if dense.all():
        return _lists(values)
    lengths = values.value_lengths().to_numpy(zero_copy_only=False)
    widths = np.where(dense, lengths, size.fill_null(0).to_numpy(zero_copy_only=False))
    if (widths != widths[0]).any():
        raise ValueError(f"want {widths[0]} features in every row, got {widths[widths != widths[0]][0]}")
    columns = np.empty(lengths.sum(), dtype=np.int64)
    of_dense = np.repeat(dense, lengths)
    columns[~of_dense] = indices.flatten().to_numpy(zero_copy_only=False)
    columns[of_dense] = np.tile(np.arange(widths[0]), int(dense.sum()))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return sparse.csr_matrix((values.flatten().to_numpy(zero_copy_only=False), columns, starts), shape=(len(dense), int(widths[0])))


def _lists(lists: Any) -> np.ndarray:
    counts = np.diff(lists.offsets.to_numpy())
    if len(counts) and (counts != counts[0]).any():
        raise ValueError(f"want {counts[0]} features in every row, got {counts[counts != counts[0]][0]}")
    return lists.flatten().to_numpy(zero_copy_only=False).reshape(len(counts), -1)


def in_blocks(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[_passes.Rows]:
    """Of as many rows each, whatever the batches are: results then have the same bits."""
    held: list[pyarrow.RecordBatch] = []
    count = 0
    for batch in batches:
        while batch.num_rows:
            part = batch.slice(0, _passes.ROWS_AT_ONCE - count)
            batch = batch.slice(part.num_rows)
            held.append(part)
            count += part.num_rows
            if count == _passes.ROWS_AT_ONCE:
                yield _block(_joined(held))
                held, count = [], 0
    if held:
        yield _block(_joined(held))


def _joined(batches: list[pyarrow.RecordBatch]) -> pyarrow.RecordBatch:
    return pyarrow.Table.from_batches(batches).combine_chunks().to_batches()[0]
