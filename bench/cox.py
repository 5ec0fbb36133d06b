"""Compares fits and paths of the loss cox with scikit-survival's CoxnetSurvivalAnalysis: the lasso, at the same objective.

    python3 bench/cox.py build/tyto [--runs 3] [--only NAME]

CPU seconds of one thread, medians, in turn; reading is left out of both. Gaps are recomputed here from the coefficients alone, with
the formulas of MATH.md, section 14. Of scikit-survival the loosest tolerance counts whose relative gap is at most 1e-6 at every
strength. Data are simulated: times to an event, a third of them censored. It needs numpy and scikit-survival (pip).
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sksurv.linear_model import CoxnetSurvivalAnalysis

TOLERANCES = (1e-5, 1e-7, 1e-9, 1e-11, 1e-13, 1e-15)
GOAL = 1e-6
CAP = 60  # CPU seconds: no smaller tolerance is asked for after that
PROBLEMS = {"100 x 2000": (100, 2000), "200 x 10000": (200, 10000), "500 x 500": (500, 500), "2000 x 200": (2000, 200)}


def simulate(rows, cols):
    random = np.random.default_rng(1)
    x = random.normal(size=(rows, cols))
    x[:, 1::2] = 0.9 * x[:, ::2] + np.sqrt(1 - 0.81) * x[:, 1::2]
    beta = np.zeros(cols)
    beta[:20] = 0.4 * random.normal(size=20)
    until = random.exponential(np.exp(-x @ beta))
    seen = random.exponential(2 * np.median(until), rows)
    x = (x - x.mean(0)) / x.std(0)
    y = np.empty(rows, [("event", bool), ("time", float)])
    y["event"], y["time"] = until <= seen, np.minimum(until, seen)
    return x, y


def relative_gap(x, y, alpha, beta):
    """Of the lasso with times that are all different: objective, and the best multiple of the residual as a dual point."""
    order = np.argsort(-y["time"])
    x, event = x[order], y["event"][order]
    eta = (x @ beta).astype(np.longdouble)
    size = np.exp(eta - eta.max())
    total = np.cumsum(size)
    share = size / total
    hazard = np.cumsum((event / total)[::-1])[::-1]
    residual = event - size * hazard
    pull = x.T @ residual
    norm = alpha * np.abs(beta).sum()
    primal = -np.log(share[event]).sum() + norm
    own = share[event]

    def gap(scale):
        mixed = 1 - scale + scale * own
        if (mixed <= 0).any():
            return np.inf
        return ((1 - own) * scale * np.log(scale) + mixed * np.log(mixed / own)).sum() + norm - scale * (beta @ pull)
    low, high = np.longdouble(1e-3), min(np.longdouble(1.5), alpha / np.abs(pull).max())
    for _ in range(80):  # it is convex
        left, right = low + 0.382 * (high - low), high - 0.382 * (high - low)
        low, high = (low, right) if gap(left) < gap(right) else (left, high)
    return float(min(gap(low), gap(high)) / primal)


def tyto(program, data, events, command, tolerance, folder):
    result = Path(folder) / "result.json"
    subprocess.run([program, *command, str(data), "--loss", "cox", "--event", str(events), "--weights", "lasso", "--no-standardize",
                    "--tolerance", str(tolerance), "--threads", "1", "--json", str(result), "--quiet"], check=True)
    found = json.loads(result.read_text())
    fits = found.get("fits", [found])
    seconds = found["cpu_seconds"]
    return seconds, [(fit["alpha"], fit["coefficients"]) for fit in fits]


def gaps_of(x, y, fits):
    found = []
    for alpha, coefficients in fits:
        beta = np.zeros(x.shape[1])
        for column, value in coefficients:
            beta[column] = value
        found.append(relative_gap(x, y, alpha, beta))
    return found


def peer(x, y, alphas, tolerance):
    """alphas on Tyto's scale: of the sum over rows. Coxnet's is that of the mean."""
    model = CoxnetSurvivalAnalysis(l1_ratio=1.0, alphas=list(np.array(alphas) / len(y)), tol=tolerance, max_iter=10_000_000)
    start = time.process_time()
    model.fit(x, y)
    return time.process_time() - start, [relative_gap(x, y, alpha, beta) for alpha, beta in zip(alphas, model.coef_.T)]


def peer_seconds(x, y, alphas, runs):
    """Of the loosest tolerance that is good enough, or None; and the gap that was reached."""
    gaps = [np.nan]
    for tolerance in TOLERANCES:
        try:
            seconds, gaps = peer(x, y, alphas, tolerance)
        except ArithmeticError:  # "weights are too large"
            break
        if max(gaps) <= GOAL:
            return statistics.median([seconds] + [peer(x, y, alphas, tolerance)[0] for _ in range(runs - 1)]), max(gaps)
        if seconds > CAP:
            break
    return None, max(gaps)


def compare(args, name, x, y, folder):
    data, events = Path(folder) / "data.npy", Path(folder) / "events.npy"
    np.save(data, np.column_stack([x, y["time"]]))
    np.save(events, y["event"].astype(float).reshape(-1, 1))
    for task, command in {"0.5": ["fit", "--strength", "0.5"], "0.1": ["fit", "--strength", "0.1"],
                          "path of 100 to 0.05": ["path", "--ratio", "0.05"]}.items():
        seconds, fits = tyto(args.program, data, events, command, GOAL, folder)
        ours = statistics.median([seconds] + [tyto(args.program, data, events, command, GOAL, folder)[0] for _ in range(args.runs - 1)])
        theirs, gap = peer_seconds(x, y, [alpha for alpha, _ in fits], args.runs)
        _, exact = tyto(args.program, data, events, command, 1e-12, folder)
        shown = f"{theirs:10.4f} {theirs / ours:8.1f}" if theirs else f"{'-':>10} {'-':>8}"
        print(f"{name:<12} {task:<20} {ours:10.4f} {shown} {max(gaps_of(x, y, fits)):10.1e} {gap:10.1e} {max(gaps_of(x, y, exact)):10.1e}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="", help="problems whose name contains this")
    args = parser.parse_args()
    print(f"{'problem':<12} {'task':<20} {'tyto':>10} {'coxnet':>10} {'ratio':>8} {'gap':>10} {'coxnet gap':>10} {'at 1e-12':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for name, (rows, cols) in PROBLEMS.items():
            if args.only in name:
                compare(args, name, *simulate(rows, cols), folder)


if __name__ == "__main__":
    main()
