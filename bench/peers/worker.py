"""One peer in a process of its own: takes problems on standard input, one JSON a line, answers the same way.

Every peer gets the same X (columns of mean 0 and norm sqrt(n), by columns in memory, which is what each of them wants), the
same centred y, no intercept, no standardisation, one thread. All of them minimise

    1/(2n) ||y - Xb||^2 + (alpha / n) sum_i w_i |b|_(i)

that is ours divided by n, so that alpha / n is the only conversion. Limits on iterations are lifted: time is the limit.
A solver returns its coefficients, p x m, and its dual points, n x m, where it has any that are not its residuals: they may
prove more. Their scale does not matter.
"""
import json
import os
import sys
import time
import warnings

import numpy as np

MANY = 10**7  # iterations


def sortedl1(x, y, w, alphas, tolerance):
    from sortedl1 import Slope

    model = Slope(lam=w, alpha=alphas[0] / len(y), fit_intercept=False, tol=tolerance, max_iter=MANY)
    if len(alphas) == 1:
        return model.fit(x, y).coef_[:, None], None
    # Its rules for ending a path early are switched off: everybody does the whole path.
    path = model.path(x, y, alphas=alphas / len(y), tol_dev_change=0.0, tol_dev_ratio=1.0, max_clusters=len(w) + 1)
    return path.coefs[:, 0, :], None


def skglm_slope(x, y, w, alphas, tolerance):
    """skglm has no path for SLOPE: a loop with warm starts. It would find the largest singular value of X anew at every
    strength, by a decomposition of X; here that is done once, from the smaller Gram matrix, which is in its favour."""
    from skglm.penalties import SLOPE
    from skglm.solvers import FISTA

    gram = x @ x.T if len(y) <= x.shape[1] else x.T @ x
    datafit = skglm_datafit(float(np.linalg.eigvalsh(gram)[-1]) / len(y))
    solver = FISTA(max_iter=MANY, tol=tolerance, opt_strategy="fixpoint")
    coefs, b = np.zeros((x.shape[1], len(alphas)), order="F"), np.zeros(x.shape[1])
    for k, alpha in enumerate(alphas):
        b = solver.solve(x, y, datafit, SLOPE(w * (alpha / len(y))), b, x @ b)[0]
        coefs[:, k] = b
    return coefs, None


def skglm_datafit(lipschitz):
    from numba import float64
    from skglm.datafits import Quadratic

    if "datafit" not in SKGLM:

        class KnownLipschitz(Quadratic):
            def __init__(self, lipschitz):
                self.lipschitz = lipschitz

            def get_spec(self):
                return (("Xty", float64[:]), ("lipschitz", float64))

            def params_to_dict(self):
                return {"lipschitz": self.lipschitz}

            def get_global_lipschitz(self, X, y):
                return self.lipschitz

        SKGLM["datafit"] = KnownLipschitz  # one class, so that it is compiled once
    return SKGLM["datafit"](lipschitz)


SKGLM = {}


def skglm_lasso(x, y, w, alphas, tolerance):
    from skglm import Lasso

    model = Lasso(tol=tolerance, fit_intercept=False, max_iter=MANY, max_epochs=MANY)
    return model.path(x, y, alphas / len(y))[1], None


def celer(x, y, w, alphas, tolerance):
    from celer import celer_path

    _, coefs, _, duals = celer_path(x, y, "lasso", alphas=alphas / len(y), tol=tolerance, max_iter=10**4, max_epochs=MANY,
                                    return_thetas=True)
    return coefs, duals.T


def sklearn(x, y, w, alphas, tolerance):
    from sklearn.linear_model import lasso_path

    return lasso_path(x, y, alphas=alphas / len(y), tol=tolerance, max_iter=MANY, copy_X=False)[1], None


SOLVERS = {"sortedl1": sortedl1, "skglm-slope": skglm_slope, "skglm-lasso": skglm_lasso, "celer": celer, "sklearn": sklearn}


def warm_up(solve):
    """Imports, and what is compiled at the first call."""
    rng = np.random.default_rng(0)
    x, y = np.asfortranarray(rng.standard_normal((20, 30))), rng.standard_normal(20)
    largest = np.max(np.abs(x.T @ y))
    solve(x, y, np.ones(30), largest * np.array([0.5]), 1e-3)
    solve(x, y, np.ones(30), largest * np.array([1.0, 0.5]), 1e-3)


def timed(solve, task, problem):
    """The answer, and CPU seconds of each repetition. No CPU limit is set in here: while one is armed (ITIMER_PROF,
    RLIMIT_CPU), Linux may move the process clock at ticks only, and a fast run takes no time at all."""
    first, seconds = None, []
    while not seconds or (sum(seconds) < task["repeat_seconds"] and len(seconds) < task["max_repeats"]):
        start = time.process_time()
        answer = solve(*problem, np.array(task["alphas"]), task["tolerance"])
        seconds.append(time.process_time() - start)
        if not seconds[-1] > 0:
            raise RuntimeError("the CPU clock is too coarse to time this")
        first = answer if first is None else first
    return *first, seconds


def main():
    warnings.simplefilter("ignore")
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a peer prints does not disturb the answers
    solve = SOLVERS[sys.argv[1]]
    warm_up(solve)
    print(json.dumps({"ready": True}), file=replies, flush=True)
    loaded, problem = None, None
    for line in sys.stdin:
        task = json.loads(line)
        files = [task["x"], task["y"], task["w"]]
        if files != loaded:
            loaded, problem = files, [np.load(file) for file in files]
        try:
            coefs, duals, seconds = timed(solve, task, problem)
            np.save(task["coefficients"], np.asfortranarray(coefs))
            if duals is not None:
                np.save(task["duals"], np.asfortranarray(duals))
            reply = {"seconds": seconds, "duals": duals is not None}
        except Exception as error:  # a peer's own failure is a result, too
            reply = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(reply), file=replies, flush=True)


if __name__ == "__main__":
    main()
