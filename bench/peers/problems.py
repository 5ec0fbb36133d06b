"""The problems: real data of the data folder and simulated ones, standardised; weights and strengths."""
import dataclasses
import json
import lzma
import pathlib
import statistics

import numpy as np

from sets import DATA, REAL

# name: rows, columns, correlation of neighbours, non-zeros
SIMULATED = {
    "sim-2000x500": (2000, 500, 0.5, 50),
    "sim-200x20000": (200, 20000, 0.5, 20),
    "sim-20000x500": (20000, 500, 0.5, 50),
    "sim-1000x10000": (1000, 10000, 0.8, 100),
}
WEIGHTS = ["oscar", "bh", "lasso"]
Q = 0.1


@dataclasses.dataclass
class Problem:
    name: str
    x_file: pathlib.Path
    y_file: pathlib.Path
    n: int
    p: int
    lipschitz: float  # largest eigenvalue of X'X / n
    x: np.ndarray = None
    y: np.ndarray = None

    def load(self):
        if self.x is None:
            self.x, self.y = np.load(self.x_file), np.load(self.y_file)
        return self

    def unload(self):
        self.x = self.y = None


def read_libsvm(lines):
    labels, rows = [], []
    for line in lines:
        tokens = line.split()
        labels.append(float(tokens[0]))
        rows.append([(int(i), float(v)) for i, v in (token.split(":") for token in tokens[1:])])
    x = np.zeros((len(rows), max(i for row in rows for i, _ in row)))
    for k, row in enumerate(rows):
        for i, value in row:
            x[k, i - 1] = value
    return x, np.array(labels)


def read_csv(stream, target):
    names = None if target == -1 else [name.strip('"') for name in stream.readline().rstrip("\r\n").split(",")]
    table = np.loadtxt(stream, delimiter=",", ndmin=2)
    column = table.shape[1] - 1 if target == -1 else names.index(target)
    return np.delete(table, column, axis=1), table[:, column]


def read_real(name):
    files, target = REAL[name]
    parts = []
    for file in files:
        with lzma.open(DATA / name / file, "rt") as stream:
            parts.append(read_libsvm(stream) if target is None else read_csv(stream, target))
    return np.vstack([x for x, _ in parts]), np.concatenate([y for _, y in parts])


def simulate(rows, cols, rho, nonzeros, seed=1):
    rng = np.random.default_rng(seed)
    x = np.empty((rows, cols), order="F")
    x[:, 0] = rng.standard_normal(rows)
    for j in range(1, cols):
        x[:, j] = rho * x[:, j - 1] + np.sqrt(1 - rho * rho) * rng.standard_normal(rows)
    support = rng.choice(cols, nonzeros, replace=False)
    x, _ = standardise(x, np.zeros(rows))
    signal = x[:, support] @ ((2 + rng.standard_normal(nonzeros)) * rng.choice([-1.0, 1.0], nonzeros))
    noise = rng.standard_normal(rows)
    return x, signal + noise * (0.5 * np.linalg.norm(signal) / np.linalg.norm(noise))


def standardise(x, y):
    """Constant columns removed, the others of mean 0 and norm sqrt(n); y of mean 0. Twice, against rounding."""
    x = np.asfortranarray(x[:, x.max(axis=0) > x.min(axis=0)], dtype=np.float64)
    for _ in range(2):
        x = x - x.mean(axis=0)
        x = x / np.sqrt(np.mean(x * x, axis=0))
        y = y - y.mean()
    return np.asfortranarray(x), y


def largest_eigenvalue(x, steps=30):
    v = np.random.default_rng(0).standard_normal(x.shape[1])
    for _ in range(steps):
        v = x.T @ (x @ (v / np.linalg.norm(v)))
    return float(np.linalg.norm(v)) / len(x)


def available(name):
    return name in SIMULATED or all((DATA / name / file).exists() for file in REAL[name][0])


def store(name, x, y, folder):
    folder = folder / name
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "X.npy", x)
    np.save(folder / "y.npy", y)
    about = {"n": x.shape[0], "p": x.shape[1], "lipschitz": largest_eigenvalue(x)}
    (folder / "about.json").write_text(json.dumps(about))  # last: it says that the rest is complete


def prepare(name, folder):
    """The problem as two .npy files that every solver reads."""
    if not (folder / name / "about.json").exists():
        store(name, *standardise(*(simulate(*SIMULATED[name]) if name in SIMULATED else read_real(name))), folder)
    about = json.loads((folder / name / "about.json").read_text())
    return Problem(name, folder / name / "X.npy", folder / name / "y.npy", **about)


def each(names, folder):
    """Those that there are, one at a time, as a matrix may be large."""
    for name in names:
        if name not in REAL and name not in SIMULATED:
            raise SystemExit(f"unknown problem {name}: want one of {', '.join([*REAL, *SIMULATED])}")
        if not available(name):
            print(f"skipped {name}: not in {DATA} (set TYTO_DATA)", flush=True)
            continue
        problem = prepare(name, folder)
        yield problem
        problem.unload()


def weights(kind, p):
    i = np.arange(1, p + 1)
    if kind == "oscar":
        return 1 + (p - i) / p
    if kind == "bh":
        normal = statistics.NormalDist()
        return np.array([normal.inv_cdf(1 - Q * k / (2 * p)) for k in i])
    return np.ones(p)


def strengths(task):
    """As fractions of alpha-max, falling."""
    return 0.01 ** (np.arange(100) / 99) if task == "path" else np.array([float(task)])
