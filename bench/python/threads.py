"""Eight threads that fit at once, 200 fits each, all of them all problems: the same bits as one after the other."""
import sys
import threading
import time

import numpy as np

from tyto import OWL

THREADS, FITS = 8, 200


def fitted(seed):
    rng = np.random.default_rng(seed)
    n, p = (40, 200) if seed % 2 else (300, 60)
    X = rng.normal(size=(n, 5)) @ rng.normal(size=(5, p)) + rng.normal(size=(n, p))
    weights = ["oscar", "bh", "lasso", "linf", "linear"][seed % 5]
    model = OWL(weights, alpha=0.02, relative=True, standardize=bool(seed % 3)).fit(X, X[:, :8].sum(axis=1) + rng.normal(size=n))
    return model.coef_.tobytes(), model.dual_gap_


def main():
    start = time.perf_counter()
    serial = [fitted(seed) for seed in range(FITS)]
    one = time.perf_counter() - start
    different = []

    def work():
        different.extend(seed for seed in range(FITS) if fitted(seed) != serial[seed])

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{THREADS} threads, {FITS} fits each: {len(different)} of {THREADS * FITS} differ from the serial ones; "
          f"{one:.1f} s for one thread alone, {time.perf_counter() - start:.1f} s for all eight")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
