"""Accuracy of fits by passes: far means, and cross-validation beside that in memory. Needs the package with Dask.

python bench/scale/figures.py
"""
import warnings

import dask
import dask.array as da
import numpy as np

import tyto
import tyto.dask


def table(rows, columns, far, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, columns))
    for j in range(columns):
        if j % 10:
            x[:, j] = 0.8 * x[:, j - j % 10] + 0.6 * x[:, j]
    y = x[:, ::7].sum(axis=1) + rng.standard_normal(rows)
    return x + far * np.linspace(0.1, 1, columns), y


def lazy(x, y, rows=10_000):
    return da.from_array(x, chunks=(rows, -1)), da.from_array(y, chunks=rows)


def means():
    print("40,000 x 30, 100 strengths, bh, standardised: mean in deviations, passes, largest relative gap, with its rounding")
    for far in (0, 1e3, 1e5, 1e7):
        x, y = table(40_000, 30, far)
        path = tyto.dask.owl_path(*lazy(x, y), weights="bh", standardize=True, tol=1e-10)
        worst = max(c.relative_gap for c in path.certificates)
        rounded = max((c.gap + c.rounding) / c.primal for c in path.certificates)
        print(f"{far:8.0e}  {path.passes:.0f}  {worst:.1e}  {rounded:.1e}")


def cross_validation():
    print("20,000 x 50, 10 folds, 50 strengths: passes, largest difference of a held-out error, relative; choices alike")
    x, y = table(20_000, 50, 10)
    folds = np.arange(len(y)) % 10
    settings = dict(weights="bh", standardize=True, tol=1e-13, n_alphas=50)
    pairs = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(10)]
    memory = tyto.OWLCV(cv=pairs, **settings).fit(x, y)
    ours = tyto.dask.OWLCV(cv=10, **settings).fit(*lazy(x, y), folds=da.from_array(folds, chunks=10_000))
    apart = np.max(np.abs(ours.cv_errors_ - memory.cv_errors_) / memory.cv_errors_)
    print(f"{ours.path_.passes:.0f}  {apart:.1e}  {ours.best_index_ == memory.best_index_ and ours.one_se_index_ == memory.one_se_index_}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # this tol is below rounding for some folds
    with dask.config.set(scheduler="synchronous"):
        means()
        cross_validation()
