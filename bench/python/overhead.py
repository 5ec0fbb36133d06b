"""What Python adds to a fit: CPU seconds of OWL.fit and of the same work in C++, in short turns; the median of their differences."""
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
ROUNDS = 21
WARM = 3  # runs at the start of a turn that do not count


def problem(n, p):
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.normal(size=(n, p)))
    return X, X[:, :10].sum(axis=1) + rng.normal(size=n)


def repeats(X):
    return WARM + (20 if X.size < 10**6 else 5)


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


def median(seconds):  # in milliseconds
    return 1e3 * statistics.median(seconds[WARM:])


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
            turns = [(median(in_cpp(driver, folder, 0.2, repeats(X))), median(in_python(X, y, 0.2))) for _ in range(ROUNDS)]
        a, b = (statistics.median(side) for side in zip(*turns))
        added = statistics.median(python - cpp for cpp, python in turns)
        allowed = 1 + 0.05 * a
        good &= added <= allowed
        print(f"{n:7} {p:7} {a:10.3f} {b:10.3f} {added:10.3f} {allowed:12.3f}{'' if added <= allowed else '  TOO MUCH'}")
    return 0 if good else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: overhead.py build/bench/tyto_solve")
    sys.exit(main(sys.argv[1]))
