"""Ten problems, three solvers, one judge: the objective of each answer, computed here from its coefficients.

    1/(2n) ||y - Xb - c||^2 + alpha sum_i w_i |b|_(i)         b on the standardised scale where columns are standardised

An answer's error is its objective over the least bound that Tyto proves (its dual value), less 1. Peers run at their default
tolerance, and at a tight one. sortedl1 is given our weights; scikit-learn takes part where they are the lasso's.
"""
import sys
import warnings

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso
from sklearn.preprocessing import StandardScaler

import tyto
from tyto import OWL

try:
    from sortedl1 import Slope
except ImportError:
    Slope = None

# weights, sparse, standardised, intercept, n, p, share of alpha-max
PROBLEMS = [
    ("lasso", False, False, False, 100, 300, 0.1), ("lasso", False, True, True, 100, 300, 0.1),
    ("lasso", True, False, True, 400, 1000, 0.1), ("bh", False, False, False, 100, 300, 0.2),
    ("bh", False, True, True, 200, 100, 0.05), ("bh", True, False, True, 400, 1000, 0.2),
    ("bh", False, True, True, 60, 2000, 0.3), ("oscar", False, False, False, 100, 300, 0.1),
    ("oscar", False, True, True, 200, 100, 0.02), ("oscar", True, False, False, 400, 1000, 0.1),
]


def problem(is_sparse, n, p, seed):
    rng = np.random.default_rng(seed)
    if is_sparse:
        X = rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.05)
    else:
        X = rng.normal(size=(n, 5)) @ rng.normal(size=(5, p)) + rng.normal(size=(n, p)) + rng.normal(size=p)
    y = X[:, :10] @ np.linspace(2, 1, 10) + rng.normal(size=n) + 3
    return (sparse.csc_matrix(X) if is_sparse else np.asfortranarray(X)), y


def objective(X, y, coef, intercept, penalty):
    residual = y - np.asarray(X @ coef).ravel() - intercept
    return residual @ residual / (2 * len(y)) + np.sort(abs(coef))[::-1] @ penalty


def answers(name, X, y, alpha, w, intercept):
    """(solver, coefficients, intercept); X is standardised already where that was asked for."""
    for tolerance in (1e-6, 1e-10):
        ours = OWL(name, alpha=alpha, fit_intercept=intercept, tol=tolerance).fit(X, y)
        yield f"tyto {tolerance:g}", ours.coef_, ours.intercept_
    if Slope is not None:
        for tolerance in (None, 1e-10):
            options = {} if tolerance is None else {"tol": tolerance, "max_iter": 10**6}
            theirs = Slope(lam=w, alpha=alpha, fit_intercept=intercept, **options).fit(X, y)
            yield ("sortedl1" if tolerance is None else "sortedl1 1e-10"), np.ravel(theirs.coef_), float(np.ravel(theirs.intercept_)[0]) if intercept else 0.0
    if name == "lasso":
        for tolerance in (None, 1e-12):
            options = {} if tolerance is None else {"tol": tolerance, "max_iter": 10**6}
            theirs = Lasso(alpha=alpha, fit_intercept=intercept, **options).fit(X, y)
            yield ("sklearn" if tolerance is None else "sklearn 1e-12"), theirs.coef_, theirs.intercept_


def compare(number, row):
    name, is_sparse, standardize, intercept, n, p, share = row
    X, y = problem(is_sparse, n, p, number)
    raw, scaler = X, None
    if standardize:
        scaler = StandardScaler().fit(X)
        X = np.asfortranarray(scaler.transform(X))
    alpha, w = share * tyto.alpha_max(X, y, weights=name, fit_intercept=intercept), tyto.owl_weights(name, p)
    proof = OWL(name, alpha=alpha, fit_intercept=intercept, tol=1e-12).fit(X, y)
    bound, best = proof.certificate_.dual, proof.coef_
    errors = {}
    for solver, coef, constant in answers(name, X, y, alpha, w, intercept):
        errors[solver] = (objective(X, y, coef, constant, alpha * w) / bound - 1, abs(coef - best).max() / abs(best).max())
    if standardize:  # ours does it by itself, too
        own = OWL(name, alpha=alpha, fit_intercept=intercept, standardize=True, tol=1e-10).fit(raw, y)
        coef = own.coef_ * scaler.scale_
        constant = own.intercept_ + scaler.mean_ @ own.coef_
        errors["tyto standardize=True"] = (objective(X, y, coef, constant, alpha * w) / bound - 1, abs(coef - best).max() / abs(best).max())
    least = min(error for error, _ in errors.values())
    lowest = [solver for solver, (error, _) in errors.items() if error <= least + 1e-13]  # beyond that it is rounding
    words = f"{name}, {'sparse' if is_sparse else 'dense'}{', standardised' if standardize else ''}{', intercept' if intercept else ''}"
    print(f"\n{number + 1}. {words}, {n} x {p}, alpha {share:g} of alpha-max: lowest objective: {', '.join(lowest)}")
    for solver, (error, distance) in errors.items():
        print(f"   {solver:22} objective - bound, relative {error:9.1e}   largest difference of a coefficient, relative {distance:9.1e}")
    tight = [error for solver, (error, _) in errors.items() if solver not in ("sortedl1", "sklearn")]
    return max(tight) <= 2e-6 and max(d for s, (_, d) in errors.items() if "1e-1" in s) <= 1e-3


def main():
    warnings.simplefilter("ignore", ConvergenceWarning)
    if Slope is None:
        print("no sortedl1 here: compared with scikit-learn only")
    agreed = [compare(number, row) for number, row in enumerate(PROBLEMS)]
    print(f"\n{sum(agreed)} of {len(agreed)} agree at the tight tolerances")
    return 0 if all(agreed) else 1


if __name__ == "__main__":
    sys.exit(main())
