"""Blocks of rows from batches of Arrow: columns x (lists of numbers), y, and where they are there w (weights) and f (folds)."""
from __future__ import annotations

from typing import Iterable, Iterator

import numpy as np
import pyarrow

from . import _passes


def _block(batch: pyarrow.RecordBatch) -> _passes.Rows:
    columns = dict(zip(batch.schema.names, batch.columns))
    lists = columns["x"]
    if lists.null_count or columns["y"].null_count:
        raise ValueError("want no nulls, got some")
    counts = np.diff(lists.offsets.to_numpy())
    if len(counts) and (counts != counts[0]).any():
        raise ValueError(f"want {counts[0]} features in every row, got {counts[counts != counts[0]][0]}")
    x = lists.flatten().to_numpy(zero_copy_only=False).reshape(len(counts), -1)
    rest = [columns[name].to_numpy(zero_copy_only=False) if name in columns else None for name in ("y", "w", "f")]
    return _passes.Rows(x, *rest)


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
