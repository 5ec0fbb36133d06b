"""The words that options take, for type checkers. A test compares them with the library's tables."""
from __future__ import annotations

from typing import Literal, Sequence, Union

import numpy as np

WeightName = Literal["oscar", "lasso", "linf", "bh", "gaussian", "linear"]
Weights = Union[WeightName, np.ndarray, Sequence[float]]  # a str is no sequence of floats: other words are refused
Loss = Literal["gaussian", "poisson", "huber", "cox"]
ClassLoss = Literal["binomial", "multinomial", "squared-hinge"]
AnyLoss = Literal["gaussian", "poisson", "huber", "cox", "binomial", "multinomial", "squared-hinge"]
Solver = Literal["auto", "newton", "apgd", "spgd"]
Screening = Literal["safe", "seed", "strong", "none"]
Choice = Literal["best", "one-se"]
Missing = Literal["refuse", "mean", "drop-rows", "drop-columns"]
Header = Literal["auto", "yes", "no"]
Decimal = Literal["auto", ".", ","]
Sigma = Union[float, Literal["estimate"], None]
