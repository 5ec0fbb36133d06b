"""Compares fits with losses other than squared error with those of sortedl1, at the same objective.

    python3 bench/losses.py build/tyto [--runs 3] [--only NAME]

CPU seconds of one thread, medians, in turn; reading is left out of both. Of sortedl1 the loosest tolerance counts whose
objective is within 1e-6 of the optimum, which a certificate of Tyto at 1e-10 bounds from below. Real data sets are read from
TYTO_DATA and left out where they are not there; the others are simulated. It needs numpy, scipy and sortedl1 (pip).

Of several classes, sortedl1 takes the last as a reference, without coefficients, and has so another objective: its strengths
are relative to its own alpha-max, and it is compared with its own fit at a tolerance of 1e-9. Tyto fits all classes. There, a
path of 100 strengths down to a hundredth of alpha-max is compared as well, where every strength has to be good enough.
"""
import argparse
import json
import lzma
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse
import scipy.special
import scipy.stats
from sortedl1 import Slope

DATA = Path(os.environ.get("TYTO_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
GOAL = 1e-6
CAP = 60  # CPU seconds: sortedl1 is not asked for a smaller tolerance after that

REAL = {name: ("binomial", DATA / name / "data.svm.xz") for name in ("colon-cancer", "duke", "leukemia")}
SIMULATED = {
    "binomial 200x20000": ("binomial", 200, 20000),
    "poisson 200x2000": ("poisson", 200, 2000),
    "binomial 2000x500": ("binomial", 2000, 500),
    "poisson 2000x200": ("poisson", 2000, 200),
    "3 classes 150x1000": ("multinomial", 150, 1000),
    "3 classes 1000x100": ("multinomial", 1000, 100),
}
CLASSES = 3


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="", help="problems whose name contains this")
    return parser.parse_args()


def read_svm(file):
    """Labels and a dense matrix."""
    labels, rows, columns, values = [], [], [], []
    with lzma.open(file, "rt") as lines:
        for row, line in enumerate(lines):
            label, *entries = line.split()
            labels.append(float(label))
            for entry in entries:
                column, value = entry.split(":")
                rows.append(row)
                columns.append(int(column) - 1)
                values.append(float(value))
    x = scipy.sparse.coo_matrix((values, (rows, columns))).toarray()
    return x, np.array(labels)


def simulate(loss, rows, cols):
    random = np.random.default_rng(1)
    x = random.normal(size=(rows, cols))
    if loss == "multinomial":
        beta = np.zeros((cols, CLASSES))
        beta[:20] = random.normal(size=(20, CLASSES))
        return x, (x @ beta + random.gumbel(size=(rows, CLASSES))).argmax(axis=1).astype(float)
    beta = np.zeros(cols)
    beta[:20] = random.normal(size=20) * (1 if loss == "binomial" else 0.2)
    eta = np.clip(x @ beta, -3, 3) if loss == "poisson" else x @ beta
    if loss == "poisson":
        return x, random.poisson(np.exp(eta)).astype(float)
    return x, (random.uniform(size=rows) < 1 / (1 + np.exp(-eta))).astype(float)


def tyto_fit(program, data, loss, strength, tolerance, folder):
    result = Path(folder) / "fit.json"
    subprocess.run([program, "fit", str(data), "--loss", loss, "--weights", "bh", "--q", "0.1", "--strength", str(strength),
                    "--tolerance", str(tolerance), "--threads", "1", "--json", str(result), "--quiet"], check=True)
    return json.loads(result.read_text())


def objective(x, y, loss, model, coefficients, intercept):
    """On the scale of Tyto: the sum over rows, less what no model could avoid, plus the penalty on standardised columns."""
    eta = x @ coefficients + intercept
    if loss == "binomial":
        value = np.sum(np.logaddexp(0, eta) - y * eta)
    else:
        least = np.where(y > 0, y - y * np.log(np.maximum(y, 1e-300)), 0)
        value = np.sum(np.exp(eta) - y * eta - least)
    weights = scipy.stats.norm.ppf(1 - 0.1 * np.arange(1, x.shape[1] + 1) / (2 * x.shape[1]))
    magnitudes = np.sort(np.abs(coefficients * x.std(axis=0)))[::-1]
    return value + model["alpha"] * magnitudes @ weights


def peer_fit(x, y, loss, model, tolerance):
    n, p = x.shape
    weights = scipy.stats.norm.ppf(1 - 0.1 * np.arange(1, p + 1) / (2 * p))
    slope = Slope(alpha=model["alpha"] / n, lam=weights, loss={"binomial": "logistic"}.get(loss, loss), tol=tolerance,
                  max_iter=1000000, centering="mean", scaling="sd")
    target = (y > 0).astype(int) if loss == "binomial" else y
    start = time.process_time()
    slope.fit(x, target)
    seconds = time.process_time() - start
    coefficients = slope.coef_.toarray() if scipy.sparse.issparse(slope.coef_) else slope.coef_
    intercept = float(np.ravel(slope.intercept_)[0])
    return seconds, objective(x, target, loss, model, np.ravel(coefficients), intercept)


def peer_seconds(x, y, loss, model, optimum, runs):
    """Of the loosest tolerance that is good enough; None if none is."""
    for tolerance in TOLERANCES:
        seconds, value = peer_fit(x, y, loss, model, tolerance)
        if value - optimum <= GOAL * value:
            return statistics.median([seconds] + [peer_fit(x, y, loss, model, tolerance)[0] for _ in range(runs - 1)])
        if seconds > CAP:
            return None
    return None


class Classes:
    """sortedl1's problem of several classes, and its own objective: the mean over rows plus alpha times the sorted L1 norm."""

    def __init__(self, x, y):
        self.x, self.y = np.asfortranarray(x), y.astype(int)
        n, p = x.shape
        size = p * (CLASSES - 1)
        self.weights = scipy.stats.norm.ppf(1 - 0.1 * np.arange(1, size + 1) / (2 * size))
        self.scaled = (x - x.mean(axis=0)) / x.std(axis=0)
        self.own = np.eye(CLASSES)[self.y]
        gradient = self.scaled.T @ (self.own - self.own.mean(axis=0))[:, :-1] / n
        self.alpha_max = np.max(np.cumsum(np.sort(np.abs(gradient).ravel())[::-1]) / np.cumsum(self.weights))

    def objective(self, alpha, coefficients):
        """With the intercepts that are best for these coefficients, of (features, classes - 1): sortedl1 reports one of them."""
        eta = np.column_stack([self.scaled @ (coefficients * self.x.std(axis=0)[:, None]), np.zeros(len(self.y))])
        shift = np.zeros(CLASSES)
        for _ in range(50):
            mu = scipy.special.softmax(eta + shift, axis=1)
            slope = (self.own - mu).sum(axis=0)[:-1]
            information = np.diag(mu.sum(axis=0)) - mu.T @ mu
            shift[:-1] += np.linalg.solve(information[:-1, :-1], slope)
        rows = scipy.special.logsumexp(eta + shift, axis=1) - (eta + shift)[np.arange(len(self.y)), self.y]
        magnitudes = np.sort(np.abs(coefficients * self.x.std(axis=0)[:, None]).ravel())[::-1]
        return rows.mean() + alpha * magnitudes @ self.weights

    def fits(self, alphas, tolerance):
        """CPU seconds, and the objective at each of the alphas."""
        slope = Slope(lam=self.weights, loss="multinomial", tol=tolerance, max_iter=1000000, centering="mean", scaling="sd")
        start = time.process_time()
        found = slope.path(self.x, self.y, alphas=np.array(alphas), tol_dev_change=0, tol_dev_ratio=1, max_clusters=10**9)
        seconds = time.process_time() - start
        return seconds, [self.objective(alpha, found.coefs[:, :, k]) for k, alpha in enumerate(alphas[:len(found.alphas)])]

    def seconds(self, alphas, runs):
        """Of the loosest tolerance that is good enough; None if none is."""
        best = self.fits(alphas, 1e-9)[1]
        for tolerance in TOLERANCES:
            seconds, values = self.fits(alphas, tolerance)
            if len(values) == len(best) and all(v - b <= GOAL * v for v, b in zip(values, best)):
                return statistics.median([seconds] + [self.fits(alphas, tolerance)[0] for _ in range(runs - 1)])
            if seconds > CAP:
                break
        return None


def tyto_path(program, data, folder):
    result = Path(folder) / "path.json"
    subprocess.run([program, "path", str(data), "--loss", "multinomial", "--weights", "bh", "--q", "0.1", "--steps", "100", "--ratio", "0.01",
                    "--tolerance", str(GOAL), "--threads", "1", "--json", str(result), "--quiet"], check=True)
    return json.loads(result.read_text())


def compare_classes(args, name, x, y, data, folder):
    peer = Classes(x, y)
    for task in (0.1, 0.02, "path"):
        ratios = np.geomspace(1, 0.01, 100) if task == "path" else [task]
        run = (lambda: tyto_path(args.program, data, folder)) if task == "path" else (
            lambda: tyto_fit(args.program, data, "multinomial", task, GOAL, folder))
        found = [run() for _ in range(args.runs)]
        ours = statistics.median(one["cpu_seconds"] for one in found)
        theirs = peer.seconds([ratio * peer.alpha_max for ratio in ratios], args.runs)
        nonzeros = found[0]["fits"][-1]["nonzeros"] if task == "path" else found[0]["nonzeros"]
        ratio = f"{theirs / ours:8.1f}" if theirs else "       -"
        shown = f"{theirs:10.4f}" if theirs else f"   > {CAP} s"
        print(f"{name:<20} {task:>8} {ours:10.4f} {shown} {ratio} {nonzeros:>9}", flush=True)


def compare(args, name, loss, x, y, data, folder):
    if loss == "multinomial":
        return compare_classes(args, name, x, y, data, folder)
    for strength in (0.1, 0.02):
        exact = tyto_fit(args.program, data, loss, strength, 1e-10, folder)
        ours = statistics.median(
            tyto_fit(args.program, data, loss, strength, GOAL, folder)["cpu_seconds"] for _ in range(args.runs))
        theirs = peer_seconds(x, y, loss, exact, exact["dual"], args.runs)
        ratio = f"{theirs / ours:8.1f}" if theirs else "       -"
        shown = f"{theirs:10.4f}" if theirs else f"   > {CAP} s"
        print(f"{name:<20} {strength:>8} {ours:10.4f} {shown} {ratio} {exact['nonzeros']:>9}", flush=True)


def main():
    args = parse_args()
    print(f"{'problem':<20} {'strength':>8} {'tyto':>10} {'sortedl1':>10} {'ratio':>8} {'non-zeros':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for name, (loss, file) in REAL.items():
            if args.only not in name:
                continue
            if not file.exists():
                print(f"{name}: left out, {file} is not there", file=sys.stderr)
                continue
            x, y = read_svm(file)
            compare(args, name, loss, x, y, file, folder)
        for name, (loss, rows, cols) in SIMULATED.items():
            if args.only not in name:
                continue
            x, y = simulate(loss, rows, cols)
            data = Path(folder) / "data.npy"
            np.save(data, np.column_stack([x, y]))
            compare(args, name, loss, x, y, data, folder)


if __name__ == "__main__":
    main()
