"""The problems of losses.py: real data of TYTO_DATA and simulated ones, standardised, in memory and in files for Tyto."""
import dataclasses
import lzma
import os
import sys
from pathlib import Path

import numpy as np
import scipy.sparse

DATA = Path(os.environ.get("TYTO_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
CLASSES = 3


@dataclasses.dataclass
class Problem:
    name: str
    loss: str
    x: object  # dense by columns, or sparse by columns
    y: np.ndarray  # 0 and 1, counts, or class numbers
    least: float  # the last strength of a path
    files: list = None

    @property
    def classes(self):
        return int(self.y.max()) + 1

    def path(self):
        return np.geomspace(1, self.least, 100)


def read_libsvm(file):
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
    return scipy.sparse.coo_matrix((values, (rows, columns))).tocsc(), np.array(labels)


def microarray(name):
    def read():
        x, y = read_libsvm(DATA / name / "data.svm.xz")
        return standardised(x.toarray()), (y > 0).astype(float)

    return read


def news20():
    x, y = read_libsvm(DATA / "news20" / "data.svm.xz")
    x = x[:, np.flatnonzero(np.diff(x.indptr))]
    most = np.array([np.abs(x.data[a:b]).max() for a, b in zip(x.indptr, x.indptr[1:])])
    return (x @ scipy.sparse.diags(1 / most)).tocsc(), (y > 10).astype(float)


def simulated(loss, rows, cols):
    def make():
        random = np.random.default_rng(1)
        x = random.normal(size=(rows, cols))
        if loss == "multinomial":
            beta = np.zeros((cols, CLASSES))
            beta[:20] = random.normal(size=(20, CLASSES))
            return standardised(x), (x @ beta + random.gumbel(size=(rows, CLASSES))).argmax(axis=1).astype(float)
        beta = np.zeros(cols)
        beta[:20] = random.normal(size=20) * (1 if loss == "binomial" else 0.2)
        eta = x @ beta
        if loss == "poisson":
            return standardised(x), random.poisson(np.exp(np.clip(eta, -3, 3))).astype(float)
        return standardised(x), (random.uniform(size=rows) < 1 / (1 + np.exp(-eta))).astype(float)

    return make


def standardised(x):
    x = x[:, x.max(axis=0) > x.min(axis=0)]
    for _ in range(2):  # twice, against rounding
        x = x - x.mean(axis=0)
        x = x / np.sqrt(np.mean(x * x, axis=0))
    return np.asfortranarray(x)


# name: loss, data, and the last strength of a path
PROBLEMS = {
    "colon-cancer": ("binomial", microarray("colon-cancer"), 0.01),
    "duke": ("binomial", microarray("duke"), 0.01),
    "leukemia": ("binomial", microarray("leukemia"), 0.01),
    "binomial 200x20000": ("binomial", simulated("binomial", 200, 20000), 0.01),
    "news20": ("binomial", news20, 0.01),
    "poisson 200x2000": ("poisson", simulated("poisson", 200, 2000), 0.01),
    "3 classes 150x1000": ("multinomial", simulated("multinomial", 150, 1000), 0.01),
    "binomial 2000x500": ("binomial", simulated("binomial", 2000, 500), 0.01),
    "poisson 2000x200": ("poisson", simulated("poisson", 2000, 200), 0.01),
    "3 classes 1000x100": ("multinomial", simulated("multinomial", 1000, 100), 0.01),
}


def write(problem, folder):
    """In the forms that the driver reads."""
    folder = Path(folder)
    if scipy.sparse.issparse(problem.x):
        file = folder / "data.svm"
        rows = problem.x.tocsr()
        with open(file, "w") as out:
            for i in range(rows.shape[0]):
                part = slice(rows.indptr[i], rows.indptr[i + 1])
                entries = " ".join(f"{j + 1}:{v!r}" for j, v in zip(rows.indices[part].tolist(), rows.data[part].tolist()))
                out.write(f"{problem.y[i]:g} {entries}\n")
        problem.files = [str(file), "--storage", "sparse"]
    else:
        np.save(folder / "x.npy", problem.x)
        np.save(folder / "y.npy", problem.y)
        problem.files = [str(folder / "x.npy"), "--target", str(folder / "y.npy")]


def each(only, folder):
    for name, (loss, make, least) in PROBLEMS.items():
        if not any(part in name for part in only):
            continue
        try:
            x, y = make()
        except FileNotFoundError as missing:
            print(f"{name}: left out, {missing.filename} is not there", file=sys.stderr)
            continue
        problem = Problem(name, loss, x, y, least)
        write(problem, folder)
        yield problem
