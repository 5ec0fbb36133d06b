"""How alike the features of a cluster are."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ._matrix import Matrix

COINCIDENTAL = 0.5  # a mean |r| below it, by more than rounding: a tie by coincidence
MOST_MEMBERS = 500  # that are compared; of more, so many at even distances
ROWS = 1 << 14  # that are looked at together


@dataclass(frozen=True)
class Cluster:
    """Features with one magnitude in a model, and the correlations between them.

    A cluster is a tie of magnitudes, no more. Where its features are correlated, the model treats them as one; where they are not
    (``coincidental``), they happen to have one magnitude, as steep weights make many do.

    Attributes
    ----------
    size : int
    columns : ndarray of int
        Of the coefficients; of several classes, their places in ``coef_.ravel()``.
    members : list of str
        Their names; ``x0``, ``x1``, ... where the data had none.
    signs : ndarray of int
        1 or -1 for each member.
    coefficient : float
        The magnitude that they share (of the standardised coefficients, where ``standardize=True``).
    mean_correlation, min_correlation : float
        Of ``|r|`` over all pairs of members (of 500 of them, where there are more); NaN for a single feature.
    coincidental : bool
        Whether ``mean_correlation`` is below 0.5.
    """

    size: int
    columns: np.ndarray
    members: list[str]
    signs: np.ndarray
    coefficient: float
    mean_correlation: float
    min_correlation: float
    coincidental: bool

    def __repr__(self) -> str:
        shown = ", ".join(self.members[:3]) + (", ..." if self.size > 3 else "")
        alike = "" if self.size == 1 else f", mean |r| {self.mean_correlation:.2f}{' (coincidence?)' if self.coincidental else ''}"
        return f"Cluster({self.size} x {self.coefficient:.4g}: {shown}{alike})"


def make_cluster(columns: np.ndarray, coefs: np.ndarray, members: list[str], X: Any, weights: np.ndarray | None) -> Cluster:
    """``coefs``: of the members, on the scale on which they share a magnitude."""
    features = np.unique(columns % X.shape[1])  # one may be in it for several classes
    mean, least = correlation(X, compared(features), weights) if len(features) > 1 else (np.nan, np.nan)
    return Cluster(len(columns), columns, members, np.sign(coefs).astype(int), float(abs(coefs).max()), mean, least, mean < COINCIDENTAL * (1 - 1e-9))


def compared(columns: np.ndarray) -> np.ndarray:
    columns = np.sort(columns)
    if len(columns) <= MOST_MEMBERS:
        return columns
    return columns[np.arange(MOST_MEMBERS) * (len(columns) - 1) // (MOST_MEMBERS - 1)]


def correlation(X: Any, columns: np.ndarray, weights: np.ndarray | None) -> tuple[float, float]:
    """Mean and least |r| over the pairs of some columns; a constant one is correlated with none."""
    part = X.columns(columns) if isinstance(X, Matrix) else X[:, columns]
    part = part if part.dtype.kind == "f" else part.astype(np.float64)
    share = np.full(X.shape[0], 1 / X.shape[0]) if weights is None else weights / weights.sum()
    largest = np.maximum(abs(part).max(axis=0).toarray().ravel() if sparse.issparse(part) else abs(part).max(axis=0), np.finfo(float).tiny)
    blocks = [(slice(begin, begin + ROWS), share[begin:begin + ROWS, None]) for begin in range(0, X.shape[0], ROWS)]
    mean = sum((share * scaled(part[rows], largest)).sum(axis=0) for rows, share in blocks)
    gram = np.zeros((len(columns), len(columns)))
    for rows, share in blocks:
        centred = scaled(part[rows], largest) - mean
        gram += centred.T @ (share * centred)
    lengths = np.sqrt(np.diag(gram))
    inverse = np.divide(1, lengths, out=np.zeros(len(columns)), where=lengths > 1e-12)
    pairs = np.minimum(abs(gram * np.outer(inverse, inverse))[np.triu_indices(len(columns), 1)], 1)
    return float(pairs.mean()), float(pairs.min())


def scaled(part: Any, largest: np.ndarray) -> np.ndarray:
    """Entries of size 1 at most: squares neither overflow nor vanish."""
    return (part.toarray() if sparse.issparse(part) else np.asarray(part, dtype=np.float64)) / largest
