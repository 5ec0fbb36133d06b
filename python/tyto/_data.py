"""From what users have to a Design. The rules of what is borrowed and what is copied are all here (docs/python.md)."""
from __future__ import annotations

import numbers
from contextlib import contextmanager
from typing import Any, Iterator

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite, check_array
from sklearn.utils import validation

from . import _core

FLOATS = [np.float64, np.float32]
# scikit-learn 1.6 made a function of a method, and renamed an argument.
_NEW = hasattr(validation, "validate_data")
_UNCHECKED = {"ensure_all_finite": False} if _NEW else {"force_all_finite": False}
# Columns one after the other: what the library reads. Whether numbers are finite it sees by itself, in the pass that it makes anyway.
_COLUMNS = dict(accept_sparse="csc", dtype=FLOATS, order="F", **_UNCHECKED)


def validate_fit(estimator: Any, X: Any, y: Any) -> tuple[Any, np.ndarray]:
    """X by columns and y, for an estimator that remembers their names and number."""
    if _ready(X, y):
        estimator.__dict__.pop("feature_names_in_", None)
        estimator.n_features_in_ = X.shape[1]
        return X, y
    validate = _validator(estimator)
    return validate(X, y, y_numeric=True, **_COLUMNS)


def _ready(X: Any, y: Any) -> bool:
    """Arrays that scikit-learn would hand back as they are, after half a millisecond."""
    return (type(X) is np.ndarray and type(y) is np.ndarray and X.ndim == 2 and y.ndim == 1 and X.dtype in FLOATS
            and y.dtype == np.float64 and X.flags.f_contiguous and X.size > 0 and len(X) == len(y) and bool(np.isfinite(y).all()))


def validate_predict(estimator: Any, X: Any) -> Any:
    return _validator(estimator)(X, reset=False, accept_sparse=["csr", "csc"], dtype=FLOATS)


def validate_arrays(X: Any, y: Any) -> tuple[Any, np.ndarray]:
    """The same where there is no estimator."""
    return validation.check_X_y(X, y, y_numeric=True, **_COLUMNS)


def columns(X: Any) -> Any:
    return check_array(X, **_COLUMNS)


def validate_weights(sample_weight: Any, X: Any) -> tuple[np.ndarray | None, float]:
    """The weights of the rows, if there are any, and their sum: the n of scikit-learn's objective."""
    if sample_weight is None:
        return None, float(X.shape[0])
    weights = validation._check_sample_weight(sample_weight, X, dtype=np.float64)
    if (weights < 0).any() or not weights.any():
        raise ValueError("sample_weight: want numbers >= 0, and one above, got "
                         + (f"{weights.min():g}" if (weights < 0).any() else "only zeros"))
    return weights, float(weights.sum())


def validate_columns(columns: Any, p: int, names: Any) -> list[int]:
    """Numbers of columns that are given by number or name, in order."""
    if columns is None:
        return []
    if isinstance(columns, str) or not np.iterable(columns):
        raise TypeError(f"unpenalized: want a list of columns, got {columns!r}")
    names = [] if names is None else list(names)
    found = set()
    for column in columns:
        number = _column_number(column, p, names)
        if number in found:
            raise ValueError(f"unpenalized: want each column once, got {column!r} again")
        found.add(number)
    return sorted(found)


def _column_number(column: Any, p: int, names: list[Any]) -> int:
    if isinstance(column, str) and column in names:
        if names.count(column) > 1:
            raise ValueError(f"unpenalized: want the number of one column, got {column!r}, which several are named")
        return names.index(column)
    if isinstance(column, numbers.Integral) and not isinstance(column, bool) and -p <= column < p:
        return int(column) % p
    raise ValueError(f"unpenalized: want names of columns, or numbers below {p}, got {column!r}")


def names_of(X: Any) -> Any:
    return getattr(X, "columns", None)


def _validator(estimator: Any) -> Any:
    if not _NEW:
        return estimator._validate_data
    return lambda *args, **options: validation.validate_data(estimator, *args, **options)


def design(X: Any) -> _core.Design:
    """Borrows the memory of X, which `validate_*` has seen to."""
    if not sparse.issparse(X):
        return _core.Design.dense(X)
    made = _borrow(X)
    if made is not None:
        return made
    X = X.copy()  # rows out of order, or twice there: X is the caller's, so a copy is put in order
    X.sum_duplicates()
    return design(X)


def _borrow(X: Any) -> _core.Design | None:
    indices, indptr = X.indices, X.indptr
    if indices.dtype != indptr.dtype:
        indices, indptr = indices.astype(np.int64, copy=False), indptr.astype(np.int64, copy=False)
    return _core.Design.sparse(X.data, indices, indptr, X.shape[0])


# What the library calls by other names.
_NAMES = {"error": "scoring", "folds": "cv", "observation-weights": "sample_weight", "ratio": "eps", "response": "y", "strength": "alpha"}


@contextmanager
def explained(X: Any) -> Iterator[None]:
    """The library's message, or scikit-learn's where the reason is NaN or infinity."""
    try:
        yield
    except ValueError as error:
        try:
            assert_all_finite(X.data if sparse.issparse(X) else X)
        except ValueError as clearer:
            raise clearer from None
        name, colon, rest = str(error).partition(":")
        raise ValueError(_NAMES.get(name, name) + colon + rest) from None
