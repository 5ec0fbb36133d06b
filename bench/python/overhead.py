"""What Python adds to a fit: CPU seconds of OWL.fit and of the same work in C++, in turns, medians."""
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tyto import OWL

SIZES = [(50, 20), (100, 1000), (200, 5000), (1000, 2000), (500, 40000), (20000, 500)]
ROUNDS = 5


def problem(n, p):
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.normal(size=(n, p)))
    return X, X[:, :10].sum(axis=1) + rng.normal(size=n)


def repeats(X):
    return 50 if X.size < 10**6 else 7  # short ones settle down late


def in_cpp(driver, folder, strength, times):
    command = [driver, str(folder / "X.npy"), "--target", str(folder / "y.npy"), "--weights", "bh", "--strengths", str(strength),
               "--repeat-seconds", "1e9", "--max-repeats", str(times)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["seconds"]


def in_python(X, y, strength):
    seconds = []
    for _ in range(repeats(X)):
        start = time.process_time()
        OWL("bh", alpha=strength, relative=True, fit_intercept=False).fit(X, y)
        seconds.append(time.process_time() - start)
    return seconds


def main(driver):
    OWL().fit(*problem(20, 5))
    good = True
    print("      n       p     C++ ms  Python ms   added ms   allowed ms")
    for n, p in SIZES:
        X, y = problem(n, p)
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            np.save(folder / "X.npy", X)
            np.save(folder / "y.npy", y)
            cpp, python = [], []
            for _ in range(ROUNDS):
                cpp += in_cpp(driver, folder, 0.2, repeats(X))
                python += in_python(X, y, 0.2)
        a, b = 1e3 * statistics.median(cpp), 1e3 * statistics.median(python)
        allowed = 1 + 0.05 * a
        good &= b - a <= allowed
        print(f"{n:7} {p:7} {a:10.3f} {b:10.3f} {b - a:10.3f} {allowed:12.3f}{'' if b - a <= allowed else '  TOO MUCH'}")
    return 0 if good else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: overhead.py build/bench/tyto_solve")
    sys.exit(main(sys.argv[1]))
