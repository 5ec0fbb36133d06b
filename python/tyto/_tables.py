"""Parquet and Feather through pyarrow: columns of numbers into one array by columns, block after block."""
from __future__ import annotations

from typing import Any, Iterator

import numpy as np

from . import _foreign
from ._foreign import Parts, Roles


def read_parquet(path: str, roles: Roles, options: dict[str, Any]) -> Parts:
    parquet = _foreign.needed("pyarrow.parquet", "Parquet files")
    with _in_words(path), parquet.ParquetFile(path, memory_map=True) as file:
        table = _Table(path, file.schema_arrow, file.metadata.num_rows, roles, options)

        def blocks(names: list[str]) -> Iterator[Any]:
            """Of row groups, some columns at a time."""
            for group in range(file.num_row_groups):
                step = max(1, _foreign.BLOCK // (8 * max(1, file.metadata.row_group(group).num_rows)))
                for begin in range(0, len(names), step):
                    part = file.read_row_group(group, columns=names[begin:begin + step], use_threads=False)
                    yield from ((begin, batch) for batch in part.select(names[begin:begin + step]).to_batches())
        return table.read(blocks)


def read_feather(path: str, roles: Roles, options: dict[str, Any]) -> Parts:
    pyarrow = _foreign.needed("pyarrow", "Feather files")
    with _in_words(path), pyarrow.memory_map(path) as source, _foreign.needed("pyarrow.ipc", "Feather files").open_file(source) as file:
        rows = sum(file.get_batch(k).num_rows for k in range(file.num_record_batches))
        table = _Table(path, file.schema, rows, roles, options)

        def blocks(names: list[str]) -> Iterator[Any]:
            for k in range(file.num_record_batches):
                yield 0, file.get_batch(k).select(names)
        return table.read(blocks)


class _in_words:
    """What Arrow says of a file, as a ValueError that names it."""

    def __init__(self, path: str):
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, _: Any) -> None:
        import pyarrow
        if isinstance(error, pyarrow.ArrowException) or (isinstance(error, OSError) and not isinstance(error, FileNotFoundError)):
            raise ValueError(f"{self.path}: cannot read: {str(error).splitlines()[0]}") from None


class _Table:
    """Which columns of a file are features, and of which type they are together."""

    def __init__(self, path: str, schema: Any, rows: int, roles: Roles, options: dict[str, Any]):
        self.path, self.rows = path, rows
        index = (schema.pandas_metadata or {}).get("index_columns", [])
        known = [name for name in schema.names if name not in index]
        if len(set(known)) < len(known):
            raise ValueError(f"{path}: want columns of different names, got {next(name for name in known if known.count(name) > 1)!r} twice")
        for name in options["drop"]:
            if name not in known:
                raise _foreign.unknown("drop", "columns", path, known, name)
        self.roles = roles.found_in([name for name in known if name not in options["drop"]], "column")
        left_out = {*options["drop"], *self.roles.values()}
        self.names = [name for name in known if name not in left_out]
        if not self.names or not rows:
            raise ValueError(f"{path}: want rows and at least one feature, got {rows} rows and {len(self.names)} features")
        kinds = {self._dtype(schema.field(name)) for name in self.names}
        self.dtype = _foreign.stored(np.result_type(*kinds), path)

    def _dtype(self, field: Any) -> np.dtype:
        import pyarrow
        kind = field.type
        if not (pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind) or pyarrow.types.is_boolean(kind)):
            raise TypeError(f"{self.path}: column {field.name!r}: want numbers, got {kind}; leave it out: drop=[{field.name!r}]")
        return np.dtype(kind.to_pandas_dtype())

    def read(self, blocks: Any) -> Parts:
        """``blocks(names)``: pairs of the place of the first of some of these columns and a batch of their next rows."""
        X = np.empty((self.rows, len(self.names)), self.dtype, order="F")
        others: dict[str, list[np.ndarray]] = {role: [] for role in self.roles}
        filled = np.zeros(len(self.names) + len(others), dtype=np.int64)
        for begin, batch in blocks([*self.names, *self.roles.values()]):
            for k, column in enumerate(batch.columns, begin):
                row = filled[k]
                filled[k] += len(column)
                values = self._values(column, batch.schema.names[k - begin], row)
                if k < len(self.names):
                    X[row:filled[k], k] = values
                else:
                    list(others.values())[k - len(self.names)].append(values)
        vectors = {role: _foreign.without_missing(f"{self.path}: column {self.roles[role]!r}", np.concatenate(parts)) for role, parts in others.items()}
        return Parts(X, self.names, vectors, self.roles.get("target", ""))

    def _values(self, column: Any, name: str, row: int) -> np.ndarray:
        if column.null_count:
            first = row + int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
            raise ValueError(f"{self.path}: column {name!r}, row {first}: want a value, got a missing one")
        if hasattr(column, "dictionary_decode"):
            column = column.dictionary_decode()
        return column.to_numpy(zero_copy_only=False)
