"""Writes ROWS x COLUMNS float32 numbers in C order, the response last: groups of ten columns with correlation 0.64 and far means.

python3 bench/scale/make_rows.py FILE.npy ROWS COLUMNS [MEANS]    MEANS: in standard deviations, up to (default 1000)
"""
import sys

import numpy as np


def block(rng, rows, columns, far):
    x = rng.standard_normal((rows, columns + 1), dtype=np.float32)
    for j in range(columns):
        if j % 10:
            x[:, j] = 0.8 * x[:, j - j % 10] + 0.6 * x[:, j]
    x[:, columns] += x[:, 0:columns:17].sum(axis=1)
    x[:, :columns] += far * np.linspace(0, 1, columns, dtype=np.float32)
    return x


def main(name, rows, columns, far=1000.0):
    rng = np.random.default_rng(1)
    shape = (int(rows), int(columns) + 1)
    out = np.lib.format.open_memmap(name, mode="w+", dtype=np.float32, shape=shape)
    for begin in range(0, shape[0], 50_000):
        end = min(shape[0], begin + 50_000)
        out[begin:end] = block(rng, end - begin, int(columns), float(far))
    out.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
