"""From what users have to a Design. The rules of what is borrowed and what is copied are all here (docs/python.md)."""
from __future__ import annotations

import numbers
from contextlib import contextmanager
from typing import Any, Iterator

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite, check_array
from sklearn.utils import validation
from sklearn.utils.extmath import safe_sparse_dot

from . import _core, _solve, _survival
from ._matrix import Matrix

FLOATS = [np.float64, np.float32]
# What the library reads as it is; other numbers become float64, the first of them. Genotypes and counts stay an eighth of that.
STORED = [np.float64, np.float32, np.int8, np.uint8, np.int16, np.bool_]
INDICES = [np.int32, np.int64]
# scikit-learn 1.6 made a function of a method, and renamed an argument.
_NEW = hasattr(validation, "validate_data")
_UNCHECKED = {"ensure_all_finite": False} if _NEW else {"force_all_finite": False}
# Columns one after the other: what the library reads. Whether numbers are finite it sees by itself, in the pass that it makes anyway.
def _columns(X: Any) -> dict[str, Any]:
    return dict(accept_sparse="csc", dtype=FLOATS if sparse.issparse(X) else STORED, order="F", **_UNCHECKED)


def validate_labels(estimator: Any, X: Any, y: Any) -> tuple[Any, np.ndarray]:
    """X by columns and y as labels of any kind, for an estimator that remembers the names and number of the columns."""
    if isinstance(X, Matrix):
        return _remembered(estimator, X), _response_of(X, y)
    with _in_words():
        return _validator(estimator)(_sound("X", X), _sound("y", y), **_columns(X))


def validate_labelled_arrays(X: Any, y: Any) -> tuple[Any, np.ndarray]:
    """The same where there is no estimator."""
    if isinstance(X, Matrix):
        return X, _response_of(X, y)
    with _in_words():
        return validation.check_X_y(_sound("X", X), _sound("y", y), **_columns(X))


def validate_fit(estimator: Any, X: Any, y: Any) -> tuple[Any, np.ndarray]:
    """X by columns and y in float64, for an estimator that remembers the names and number of the columns."""
    if isinstance(X, Matrix):
        return _remembered(estimator, X), _numbers_of(X, y)
    if _ready(X, y):
        estimator.__dict__.pop("feature_names_in_", None)
        estimator.n_features_in_ = X.shape[1]
        return X, y
    validate = _validator(estimator)
    with _in_words():
        X, y = validate(_sound("X", X), _sound("y", y), y_numeric=True, **_columns(X))
    return X, _float64("y", y)


def validate_survival(estimator: Any, X: Any, y: Any) -> tuple[Any, np.ndarray]:
    """X by columns, and y as events and times; without an estimator (None), nobody remembers the columns."""
    with _in_words():
        if isinstance(X, Matrix):
            X = X if estimator is None else _remembered(estimator, X)
        elif estimator is None:
            X = check_array(_sound("X", X), **_columns(X))
        else:
            X = _validator(estimator)(_sound("X", X), **_columns(X))
    y = _survival.encode(y)
    if len(y) != X.shape[0]:
        raise ValueError(f"y: want {X.shape[0]} rows, as in X, got {len(y)}")
    return X, y


def _ready(X: Any, y: Any) -> bool:
    """Arrays that scikit-learn would hand back as they are, after half a millisecond."""
    return (type(X) is np.ndarray and type(y) is np.ndarray and X.ndim == 2 and y.ndim == 1 and X.dtype in STORED
            and y.dtype == np.float64 and X.flags.f_contiguous and X.size > 0 and len(X) == len(y) and bool(np.isfinite(y).all()))


def validate_predict(estimator: Any, X: Any) -> Any:
    if isinstance(X, Matrix):
        return _as_fitted(estimator, X)
    with _in_words():
        return _validator(estimator)(_sound("X", X), reset=False, accept_sparse=["csr", "csc"], dtype=FLOATS)


def validate_arrays(X: Any, y: Any) -> tuple[Any, np.ndarray]:
    """X by columns and y in float64, where there is no estimator."""
    if isinstance(X, Matrix):
        return X, _numbers_of(X, y)
    with _in_words():
        X, y = validation.check_X_y(_sound("X", X), _sound("y", y), y_numeric=True, **_columns(X))
    return X, _float64("y", y)


def validate_rows(X: Any) -> Any:
    """X to predict from, where there is no estimator."""
    if isinstance(X, Matrix):
        return X
    with _in_words():
        return check_array(_sound("X", X), accept_sparse=["csr", "csc"], dtype=FLOATS)


def _remembered(estimator: Any, X: Matrix) -> Matrix:
    """X, whose columns the estimator remembers as it does those of a frame."""
    estimator.__dict__.pop("feature_names_in_", None)
    if X.names is not None:
        estimator.feature_names_in_ = np.array(X.names, dtype=object)
    estimator.n_features_in_ = X.shape[1]
    return X


def _as_fitted(estimator: Any, X: Matrix) -> Matrix:
    """X, if its columns are those of the fit: as many, and where both have names, the same in their order."""
    wanted = estimator.n_features_in_
    if X.shape[1] != wanted:
        raise ValueError(f"X: want {wanted} columns, as in the fit, got {X.shape[1]}")
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None and X.names is not None:
        for place, (theirs, ours) in enumerate(zip(names, X.names)):
            if theirs != ours:
                raise ValueError(f"X: want the columns of the fit in their order, {theirs!r} as column {place}, got {ours!r}")
    return X


def _response_of(X: Matrix, y: Any) -> np.ndarray:
    if y is None:
        raise ValueError("y: want a response, got none: name it, tyto.open(..., target=...) or response=..., or give y")
    with _in_words():
        y = validation.column_or_1d(_sound("y", y), warn=True)
    if len(y) != X.shape[0]:
        raise ValueError(f"y: want {X.shape[0]} rows, as in X, got {len(y)}")
    return y


def _numbers_of(X: Matrix, y: Any) -> np.ndarray:
    y = _response_of(X, y)
    with _in_words():
        return _float64("y", y.astype(np.float64) if y.dtype == object else y)


@contextmanager
def _in_words() -> Iterator[None]:
    """What scikit-learn, NumPy and pandas raise for data that are no numbers, as one of two kinds of error."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, OverflowError) as error:
        raise ValueError(f"X, y: want arrays of numbers: {error}") from None


def _sound(name: str, values: Any) -> Any:
    """The values themselves, unless a conversion would lose what they say or read outside of them."""
    masked = sum(map(np.ma.count_masked, filter(np.ma.isMaskedArray, values if isinstance(values, (list, tuple)) else [values])))
    if masked:
        raise ValueError(f"{name}: want no masked entries, got {masked}; fill them in, or drop their rows")
    if sparse.issparse(values):
        check_indices(name, values)
    types = getattr(values, "dtypes", None)  # of a frame, one for each column
    for kind in types if np.iterable(types) else [getattr(values, "dtype", None)]:
        if getattr(kind, "kind", "") in ("M", "m"):
            raise TypeError(f"{name}: want numbers, got times ({kind})")
    return values


def check_indices(name: str, X: Any) -> None:
    """Throws where the indices of a sparse matrix lead outside of it: SciPy would follow them."""
    if X.ndim != 2:
        raise ValueError(f"{name}: want a matrix, got a sparse array of shape {X.shape}")
    if X.format == "coo":
        _check_range(name, X.row, X.shape[0])
        _check_range(name, X.col, X.shape[1])
    elif X.format in ("csc", "csr", "bsr"):
        _check_compressed(name, X)


def _check_compressed(name: str, X: Any) -> None:
    block = X.blocksize if X.format == "bsr" else (1, 1)
    rows, columns = X.shape[0] // block[0], X.shape[1] // block[1]
    major, minor = (columns, rows) if X.format == "csc" else (rows, columns)
    indptr = X.indptr
    if indptr.ndim != 1 or X.indices.ndim != 1 or X.data.ndim != (3 if X.format == "bsr" else 1):
        raise ValueError(f"{name}: want a sparse matrix whose indptr, indices and data are vectors")
    if indptr.dtype.kind not in "iu" or len(indptr) != major + 1 or indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        raise ValueError(f"{name}: want indptr of {major + 1} whole numbers from 0 on that do not fall")
    if indptr[-1] > min(len(X.indices), len(X.data)):
        raise ValueError(f"{name}: want indptr to end within indices and data")
    _check_range(name, X.indices, minor)


def _check_range(name: str, indices: np.ndarray, end: int) -> None:
    if indices.dtype.kind not in "iu":
        raise ValueError(f"{name}: want sparse indices that are whole numbers, got {indices.dtype}")
    if len(indices) and not (0 <= indices.min() and indices.max() < end):
        raise ValueError(f"{name}: want sparse indices from 0 to {end - 1}, got {indices.min()} to {indices.max()}")


def _float64(name: str, values: np.ndarray) -> np.ndarray:
    if values.dtype.kind not in "biuf":
        raise TypeError(f"{name}: want numbers, got an array of {values.dtype}")
    numbers = np.require(values, np.float64, ["C", "A"])
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name}: want numbers that float64 can hold, got {values[~np.isfinite(numbers)][0]}")
    return numbers


def validate_weights(sample_weight: Any, X: Any) -> tuple[np.ndarray | None, float]:
    """The weights of the rows, if there are any, and their sum: the n of scikit-learn's objective."""
    if sample_weight is None:
        return None, float(X.shape[0])
    if sparse.issparse(sample_weight):
        raise TypeError("sample_weight: want a vector, got a sparse matrix")
    with _in_words():
        weights = validation._check_sample_weight(_sound("sample_weight", sample_weight), X, dtype=np.float64)
    weights = _float64("sample_weight", weights)
    if (weights < 0).any() or not weights.any():
        raise ValueError("sample_weight: want numbers >= 0, and one above, got "
                         + (f"{weights.min():g}" if (weights < 0).any() else "only zeros"))
    return weights, float(weights.sum())


def validate_offset(offset: Any, n: int) -> np.ndarray:
    """What is added to the linear predictor, row by row."""
    wish = f"{n} finite numbers, one for each row"
    found = _solve.vector("offset", offset, wish)
    if len(found) != n:
        raise _solve.want("offset", wish, len(found))
    if not np.isfinite(found).all():
        raise _solve.want("offset", wish, found[~np.isfinite(found)][0])
    return found


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
    if isinstance(X, Matrix):
        return X.names
    return getattr(X, "columns", None)


def _validator(estimator: Any) -> Any:
    if not _NEW:
        return estimator._validate_data
    return lambda *args, **options: validation.validate_data(estimator, *args, **options)


def design(X: Any) -> _core.Design:
    """Borrows the memory of X, which `validate_*` has seen to."""
    if isinstance(X, Matrix):
        return X.design
    if not sparse.issparse(X):
        X = np.require(X, requirements=["F", "A"])
        return _core.Design.dense(X.view(np.uint8) if X.dtype == np.bool_ else X)
    if X.dtype not in FLOATS:
        X = X.astype(np.float64)
    made = _borrow(X)
    if made is not None:
        return made
    X = X.copy()  # rows out of order, or twice there: X is the caller's, so a copy is put in order
    X.sum_duplicates()
    return design(X)


def product(X: Any, coef: np.ndarray) -> np.ndarray:
    """``X @ coef``, of a vector or of several in columns."""
    if isinstance(X, Matrix):
        return X.times(coef)
    return np.asarray(safe_sparse_dot(X, coef), dtype=np.float64)


def _borrow(X: Any) -> _core.Design | None:
    indices, indptr = X.indices, X.indptr
    if indices.dtype != indptr.dtype or indices.dtype not in INDICES:
        indices, indptr = indices.astype(np.int64, copy=False), indptr.astype(np.int64, copy=False)
    return _core.Design.sparse(*(np.require(part, requirements=["C", "A"]) for part in (X.data, indices, indptr)), X.shape[0])


# What the library calls by other names.
_NAMES = {"design": "X", "error": "scoring", "event": "y", "folds": "cv", "observation-weights": "sample_weight", "ratio": "eps", "response": "y", "steps": "n_alphas", "strength": "alpha"}


@contextmanager
def explained(X: Any) -> Iterator[None]:
    """The library's message, or scikit-learn's where the reason is NaN or infinity."""
    try:
        yield
    except ValueError as error:
        if isinstance(X, Matrix):
            raise _renamed(error) from None
        try:
            assert_all_finite(X.data if sparse.issparse(X) else X)
        except ValueError as clearer:
            raise clearer from None
        raise _renamed(error) from None


@contextmanager
def renamed() -> Iterator[None]:
    """The library's message, in the words of this package."""
    try:
        yield
    except ValueError as error:
        raise _renamed(error) from None


def _renamed(error: ValueError) -> ValueError:
    name, colon, rest = str(error).partition(":")
    return ValueError(_NAMES.get(name, name) + colon + rest)
