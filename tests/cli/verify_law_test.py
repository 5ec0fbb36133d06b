#!/usr/bin/env python3
"""A law: where fit, path or cv exits with 0, verify exits with 0 on the same files, whatever the data.

Small random problems with awkward numbers, through the program. TYTO_LAW_CASES says how many, TYTO_LAW_SEED where to begin; a
case depends on its seed alone, which a failure names."""
import os
import random
import unittest

from support import TytoTest, csv_text, libsvm_text

CASES = int(os.environ.get("TYTO_LAW_CASES", "150"))
FIRST = int(os.environ.get("TYTO_LAW_SEED", "1"))


def size(source, widest):
    """10^k, k mostly 0."""
    return 10.0 ** source.uniform(-widest, widest) if source.random() < 0.4 else 1.0


def column(source, n, sparse):
    """n numbers: normal, few values, or mostly zeros, with a unit and a mean of any size."""
    kind = source.choice(["normal", "normal", "signs", "counts", "rare"])
    draw = {"normal": lambda: source.gauss(0, 1), "signs": lambda: source.choice([-1.0, 1.0]),
            "counts": lambda: float(source.randrange(4)),
            "rare": lambda: source.gauss(0, 1) if source.random() < 0.3 else 0.0}[kind]
    unit = size(source, 12)
    mean = size(source, 8) if source.random() < 0.3 else 0.0
    values = [unit * (draw() + mean) for _ in range(n)]
    if sparse:
        values = [value if source.random() < 0.5 else 0.0 for value in values]
    return values


def features(source, n, p, sparse):
    made = [column(source, n, sparse) for _ in range(p)]
    for j in range(1, p):
        if source.random() < 0.15:  # a column like another: the same, its opposite, or nearly so
            factor = source.choice([1.0, -1.0, size(source, 6)])
            off = source.choice([0.0, 1e-9, 1e-4])
            made[j] = [factor * value * (1 + off * source.gauss(0, 1)) for value in made[source.randrange(j)]]
    return [list(row) for row in zip(*made)]


def response(source, rows):
    n = len(rows)
    which = source.randrange(len(rows[0]))
    spread = max(abs(row[which]) for row in rows) or 1.0
    noise = source.choice([0.0, 1e-6, 0.1, 1.0])
    unit = size(source, 12)
    mean = source.choice([0.0, 0.0, size(source, 8)])
    return [unit * (row[which] / spread + noise * source.gauss(0, 1) + mean) for row in rows[:n]]


def options(source, p):
    """Of fit, path and cv alike."""
    made = ["--weights", source.choice(["oscar", "lasso", "linf", "bh", "gaussian", "linear"]),
            "--tolerance", source.choice(["1e-3", "1e-6", "1e-6", "1e-9", "1e-12"]), "--max-epochs", "3000", "--quiet"]
    for flag in ("--no-intercept", "--no-standardize"):
        if source.random() < 0.3:
            made.append(flag)
    if p > 1 and source.random() < 0.3:
        free = source.sample(range(p), source.randint(1, min(3, p - 1)))
        made += ["--unpenalized", ",".join(map(str, sorted(free)))]
    if source.random() < 0.25:
        made += ["--ridge", repr(10.0 ** source.uniform(-6, 4))]
    if source.random() < 0.2:
        made.append("--nonnegative")
    elif source.random() < 0.2:
        made += ["--gamma", source.choice(["0", "0.5", "1"])]
    if source.random() < 0.2:
        made += ["--solver", source.choice(["apgd", "spgd", "newton"])]
    return made


def command(source):
    kind = source.choice(["fit", "fit", "fit", "path", "cv"])
    if kind == "fit":
        return [kind, "--strength", repr(10.0 ** source.uniform(-5, 0.1))]
    steps = [kind, "--steps", "8", "--ratio", source.choice(["0.001", "0.1"])]
    return steps + (["--folds", "3"] if kind == "cv" else [])


def row_weights(source, n):
    if source.random() < 0.7:
        return None
    widest = source.choice([0.3, 3, 8])
    weights = [0.0 if source.random() < 0.1 else 10.0 ** source.uniform(-widest, widest) for _ in range(n)]
    return weights if sum(weight > 0 for weight in weights) > 1 else None


class Law(TytoTest):
    def case(self, seed):
        """Exit codes of a run and, where that is 0, of verify, and what verify said."""
        source = random.Random(seed)
        n, p, sparse = source.randint(3, 25), source.randint(1, 12), source.random() < 0.35
        rows = features(source, n, p, sparse)
        y = response(source, rows)
        args = command(source) + options(source, p)
        weights = row_weights(source, n)
        if weights:
            args += ["--observation-weights", self.write("w.txt", "".join(f"{weight!r}\n" for weight in weights))]
        if sparse:
            data = self.write("data.svm", libsvm_text(rows, y))
        else:
            data = self.write("data.csv", csv_text([row + [target] for row, target in zip(rows, y)],
                                                   [f"x{j}" for j in range(p)] + ["y"]))
        code, _, err = self.run_tyto(*args, data, "--model", "model.json")
        self.assertIn(code, (0, 1, 2), f"seed {seed}: {args}: {err}")
        if code != 0:
            return code, None, err
        found, out, err = self.run_tyto("verify", "model.json", data,
                                        *(["--observation-weights", "w.txt"] if weights else []))
        return code, found, f"{' '.join(args)}: {out}{err}"

    def test_exit_0_of_a_fit_is_exit_0_of_verify(self):
        converged, broken = 0, []
        for seed in range(FIRST, FIRST + CASES):
            code, found, said = self.case(seed)
            converged += code == 0
            if code == 0 and found != 0:
                broken.append(f"seed {seed}: {said}")
        print(f"seeds {FIRST} to {FIRST + CASES - 1}: {converged} converged, {len(broken)} of them do not verify")
        if broken:
            self.fail("\n".join(broken))
        self.assertGreater(converged, CASES // 3)


if __name__ == "__main__":
    unittest.main()
