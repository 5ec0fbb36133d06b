"""Checks, before anything is timed, that the clock is fine, that gaps are computed right and that every solver solves the problem it is thought to.

The gap: on an orthogonal design the lasso's solution is known in closed form; there the gap must vanish, and beside it
it must bound the distance to the optimum. Conversions: at a tight tolerance every solver must have a small
gap on the full problem, with our weights, strengths and objective, and the objectives must agree. Here the columns have means
and norms of all sizes and y is not centred: an intercept or a standardisation that was not asked for would show, as would a
wrong factor n or other weights. (On standardised data the first two would not.)
"""
import statistics
import sys
import time

import numpy as np

import certificate
import measure
import problems
import solvers

# The tightest tolerance that all problems below can meet, and what the gap has to be then.
TOLERANCE = {"tyto": 1e-10, "sortedl1": 1e-10, "skglm-slope": 1e-10, "celer": 1e-12, "sklearn": 1e-12, "skglm-lasso": 1e-10}
ENOUGH = 1e-6


def check_clock():
    """A CPU limit (ulimit -t) makes the process clock of Linux move at ticks of milliseconds: no time would be right."""
    steps, last = set(), time.process_time()
    for _ in range(20000):
        now = time.process_time()
        steps.add(now - last)
        last = now
    step = statistics.median(s for s in steps if s > 0)
    if step > 1e-4:
        sys.exit(f"the CPU clock moves in steps of {step:.0e} s: is a CPU limit set (ulimit -t)?")


def check_certificate():
    rng = np.random.default_rng(5)
    n, p = 30, 10
    x = np.linalg.qr(rng.standard_normal((n, p)))[0]
    y = rng.standard_normal(n)
    alpha, w = 0.3, np.ones(p)
    best = np.sign(x.T @ y) * np.maximum(np.abs(x.T @ y) - alpha, 0)
    near = best + 1e-3 * rng.standard_normal(p)
    c = certificate.certify(x, y, w, np.array([alpha, alpha]), np.column_stack([best, near]))
    assert abs(c.relative_gap[0]) < 1e-15, c
    assert c.relative_gap[1] * c.primal[1] >= c.primal[1] - c.primal[0] > 0, c
    # Sorted weights: for one column of coefficients the dual norm must attain the bound b'g <= J(b) J°(g).
    w = np.sort(rng.random(p))[::-1]
    g = rng.standard_normal(p)
    order = np.argsort(-np.abs(g))
    attained = max(np.abs(g[order[:k]]).sum() / w[:k].sum() for k in range(1, p + 1))
    assert np.isclose(certificate.dual_norm(g, w), attained, rtol=1e-14)


def check_conversions(everybody, folder):
    x, y = problems.simulate(80, 40, 0.5, 8)
    rng = np.random.default_rng(3)
    x = np.asfortranarray((x + rng.uniform(-0.5, 0.5, 40)) * rng.uniform(0.7, 1.4, 40))
    y = y + np.std(y)
    problems.store("selfcheck", x, y, folder)
    problem = problems.prepare("selfcheck", folder)
    good = True
    for kind in problems.WEIGHTS:
        for task in ("0.1", "path"):
            cell = measure.make_cell(problem, kind, task)
            objectives = {}
            for solver in everybody:
                if kind not in solver.kinds:
                    continue
                try:
                    coefs, duals, _ = solver.solve(cell, TOLERANCE[solver.name], 60, folder)
                except (solvers.Capped, solvers.Failure) as failure:
                    print(f"  {solver.name} {kind} {task}: failed {failure}")
                    good = False
                    continue
                c = certificate.certify(x, y, cell.weights, cell.alphas, coefs, duals)
                objectives[solver.name] = c.primal
                least = np.min(list(objectives.values()), axis=0)
                apart = float(np.max(c.primal / least - 1))
                gap = float(np.max(c.relative_gap))
                verdict = gap <= ENOUGH and apart <= ENOUGH
                good &= verdict
                print(f"  {kind:>5} {task:>4} {solver.name:>12}: worst gap {gap:8.1e}, objective above the least by {apart:8.1e}"
                      + ("" if verdict else "   WRONG"), flush=True)
    return good


def run(everybody, folder):
    print("self check: gaps on a problem of 80 x 40, each solver at a tight tolerance", flush=True)
    check_clock()
    check_certificate()
    if not check_conversions(everybody, folder):
        sys.exit("the self check failed: no comparison")
