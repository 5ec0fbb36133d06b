"""The prox of the sorted L1 norm: milliseconds by size, against a plain one in NumPy (stack of averages) and, as a check, its answer."""
import time

import numpy as np

import tyto


def plain(v, w, step):
    order = np.argsort(-abs(v), kind="stable")
    z = abs(v)[order] - step * w
    starts, sums, counts = [], [], []
    for i, value in enumerate(z.tolist()):
        starts.append(i), sums.append(value), counts.append(1)
        while len(sums) > 1 and sums[-2] * counts[-1] <= sums[-1] * counts[-2]:
            sums[-2] += sums[-1]
            counts[-2] += counts[-1]
            starts.pop(), sums.pop(), counts.pop()
    x = np.repeat(np.maximum(np.array(sums) / counts, 0), counts)
    result = np.empty_like(v)
    result[order] = x
    return np.sign(v) * result


def milliseconds(call):
    times = []
    while len(times) < 3 or (sum(times) < 0.5 and len(times) < 1000):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e3 * sorted(times)[len(times) // 2]


if __name__ == "__main__":
    print("        p      tyto   SortedL1.prox     NumPy   (ms; bh weights, normal v, step 0.5)")
    for p in (100, 10_000, 1_000_000):
        rng = np.random.default_rng(0)
        v, w = rng.normal(size=p) * 3, tyto.owl_weights("bh", p)
        penalty, out = tyto.SortedL1(w), np.empty(p)
        np.testing.assert_allclose(plain(v, w, 0.5), penalty.prox(v, 0.5), atol=1e-10)
        print(f"{p:9} {milliseconds(lambda: tyto.prox_sorted_l1(v, w, 0.5)):9.3f} {milliseconds(lambda: penalty.prox(v, 0.5, out)):15.3f} "
              f"{milliseconds(lambda: plain(v, w, 0.5)):9.1f}")
