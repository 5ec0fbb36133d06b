"""Labels of classes, as users have them, and the numbers 0, 1, ... that the library takes."""
from __future__ import annotations

from typing import Any, Mapping

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from . import _core, _data, _solve, _survival

MOST_SHOWN = 5  # labels, in a message


def encode(y: np.ndarray, most: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The classes, in order, `most` of them at most, and the class of each row: 0, 1, ..."""
    if y.dtype == object:  # scikit-learn takes words in it, but neither numbers nor booleans
        plain = np.array(y.tolist())
        y = plain if plain.dtype.kind in "biuf" else y
    try:
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError:
        raise TypeError("y: want labels of one kind, which can be put in order, got a mixture") from None
    if len(classes) == 1:
        raise ValueError(f"y: want two classes{'' if most else ' or more'}, got one class: {shown(classes)}")
    if most is not None and len(classes) > most:
        raise ValueError(f"y: want two classes, got {len(classes)}: {shown(classes)}. Only binary classification is supported.")
    return classes, codes.astype(np.float64)


def encode_as(classes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The class of each row, of classes that are known."""
    codes = {label: code for code, label in enumerate(classes.tolist())}
    for label in y.tolist():
        if label not in codes:
            raise ValueError(f"y: want the classes of the model, {shown(classes)}, got {label!r}")
    return np.array([codes[label] for label in y.tolist()], dtype=np.float64)


def shown(labels: np.ndarray) -> str:
    words = [repr(label) for label in labels[:MOST_SHOWN].tolist()]
    return ", ".join(words + ["..."] * (len(labels) > MOST_SHOWN))


def validate_arrays(loss: Any, X: Any, y: Any) -> tuple[Any, np.ndarray]:
    """X by columns, and y as the library takes it, where there is no estimator: numbers, labels of a loss that has them, or times."""
    if _solve.word("loss", loss) == _survival.LOSS:
        return _data.validate_survival(None, X, y)
    if loss in _core.losses(True):
        X, y = _data.validate_labelled_arrays(X, y)
        if y.dtype.kind not in "iuf":  # of numbers the library makes classes itself, or shares
            return X, encode(y, None if loss == "multinomial" else 2)[1]
    return _data.validate_arrays(X, y)


def class_weights(class_weight: Any, classes: np.ndarray, codes: np.ndarray, rows: np.ndarray | None) -> np.ndarray | None:
    """The weights `rows`, or 1, times those of the classes; None where neither are given."""
    if class_weight is None:
        return rows
    weights = np.ones(len(codes)) if rows is None else rows
    if isinstance(class_weight, str) and class_weight == "balanced":
        totals = np.bincount(codes.astype(int), weights, minlength=len(classes))
        if not totals.all():
            raise ValueError(f"class_weight: want rows of all classes that count, got none of {shown(classes[totals == 0])}")
        factors = weights.sum() / (len(classes) * totals)
    elif isinstance(class_weight, Mapping):
        factors = _given(class_weight, classes)
    else:
        raise _solve.want("class_weight", "'balanced', a dict of classes and weights, or None", class_weight)
    return weights * factors[codes.astype(int)]


def _given(class_weight: Mapping[Any, Any], classes: np.ndarray) -> np.ndarray:
    factors, labels = np.ones(len(classes)), classes.tolist()
    for label, weight in class_weight.items():
        if label not in labels:
            raise ValueError(f"class_weight: want classes of y, {shown(classes)}, got {label!r}")
        factors[labels.index(label)] = _solve.number("class_weight", weight, "[0, inf)")
    if not factors.any():
        raise _solve.want("class_weight", "a number above 0", class_weight)
    return factors
