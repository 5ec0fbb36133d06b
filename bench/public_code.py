#!/usr/bin/env python3
"""The public code of the seed paper, as it is, under GNU Octave, beside `tyto fit --variant published`.

    git clone https://github.com/brx18/Fast-OSCAR-and-OWL-Regression-via-Safe-Screening-Rules public
    python3 bench/public_code.py public [--program build/tyto] [--rows 50] [--cols 80] [--libsvm FILE] [--tau 3] [--cap 20000]

Needs octave-cli (Debian: octave). What their code takes from MATLAB and Octave does not have, and their prox in C, stand in a
folder of their own; nothing of the public code is changed, but for a second copy of APGDScreen.m that keeps the number of
columns (remark 16 of docs/paper.md). Both start from the same random vector, so that APGD takes the same iterations until
their stopping rule holds at 1e-6. SPGD draws batches of 50 rows, so that 50 rows leave nothing to chance: there it takes the
same steps too. Data: simulated, or a LIBSVM file (.xz too) in the settings of the paper.
"""
import argparse
import json
import lzma
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

SHIMS = {
    "RandStream.m": "function s = RandStream(varargin)\n s = struct('shim', 1);\nend\n",
    "randn.m": "function x = randn(varargin)\n if isstruct(varargin{1}), x = dlmread('u.csv'); else x = builtin('randn', varargin{:}); end\nend\n",
    "randsample.m": """function j = randsample(from, k)
 if k > numel(from), error('randsample: %d of %d without replacement', k, numel(from)); end
 p = randperm(numel(from)); j = from(p(1:k));
end
""",
    "proxSortedL1Mex.m": """function x = proxSortedL1Mex(y, w)
 n = numel(y); total = zeros(n, 1); size = zeros(n, 1); k = 0;  % blocks of y - w whose means decrease
 for i = 1:n
  k = k + 1; total(k) = y(i) - w(i); size(k) = 1;
  while k > 1 && total(k-1) * size(k) <= total(k) * size(k-1)
   total(k-1) = total(k-1) + total(k); size(k-1) = size(k-1) + size(k); k = k - 1;
  end
 end
 x = max(repelem(total(1:k) ./ size(1:k), size(1:k)), 0);
end
""",
}
MAIN = """warning('off', 'all'); addpath('{code}/solver/method'); addpath('{code}/solver/utils'); addpath('{folder}');
A = dlmread('A.csv'); b = dlmread('b.csv'); d = columns(A); o = struct('verbosity', 0, 'tolInfeas', 1e-6, 'tolRelGap', 1e-6, 'iterations', {cap});
for i = 1:3
 p = i * exp(-{tau}); l1 = p * max(abs(A' * b)); lambda = l1 + (d - (1:d)) * l1 / d;
 [x, plain] = APGD(A, b, lambda, o); [x, screen] = APGDScreen(A, b, lambda, o); [x, keeps] = APGDScreenKeeps(A, b, lambda, o);
 dlmwrite(sprintf('apgd%d.csv', i), plain.obj(:), 'precision', 17);
 printf('%d %.4f %d %.4f %d %.4f\\n', numel(plain.obj), plain.runtime, numel(screen.nnz) + 1, screen.runtime, numel(keeps.nnz) + 1, keeps.runtime);
 if rows(A) == 50 && d >= 50 && d < 100
  o.iterations = {epochs}; [x, spgd] = SPGD(A, b, lambda, o); dlmwrite(sprintf('spgd%d.csv', i), spgd.obj(:), 'precision', 17); o.iterations = {cap};
 end
end
"""


EPOCHS = 300  # of SPGD


def random_64(seed):
    """std::mt19937_64."""
    word = (1 << 64) - 1
    state = [seed]
    for k in range(1, 312):
        state.append((6364136223846793005 * (state[-1] ^ (state[-1] >> 62)) + k) & word)
    while True:
        for k in range(312):
            x = (state[k] & ~0x7FFFFFFF & word) | (state[(k + 1) % 312] & 0x7FFFFFFF)
            state[k] = state[(k + 156) % 312] ^ (x >> 1) ^ (0xB5026F5AA96619E9 if x & 1 else 0)
        for y in state:
            y ^= (y >> 29) & 0x5555555555555555
            y ^= (y << 17) & 0x71D67FFFEDA60000 & word
            y ^= (y << 37) & 0xFFF7EEE000000000 & word
            yield y ^ (y >> 43)


def normals(seed, count):
    """std::normal_distribution of libstdc++: Marsaglia's polar method."""
    draw, out = random_64(seed), []
    while len(out) < count:
        x, y = (2 * (next(draw) / 2**64) - 1 for _ in range(2))
        square = x * x + y * y
        if 0 < square <= 1:
            factor = math.sqrt(-2 * math.log(square) / square)
            out += [y * factor, x * factor]
    return out[:count]


def read_libsvm(path):
    opener = lzma.open if path.endswith(".xz") else open
    with opener(path, "rt") as file:
        lines = [line.split() for line in file if line.strip()]
    entries = [[(int(k), float(v)) for k, v in (word.split(":") for word in line[1:])] for line in lines]
    cols = max(k for row in entries for k, _ in row)
    x = [[0.0] * cols for _ in lines]
    for dense, row in zip(x, entries):
        for k, value in row:
            dense[k - 1] = value
    return x, [float(line[0]) for line in lines]


def simulated(rows, cols):
    draw = random.Random(5)
    x = [[draw.gauss(0, 1) * (1 + j % 3) for j in range(cols)] for _ in range(rows)]
    return x, [2 * sum(row[:4]) + draw.gauss(0, 1) for row in x]


def ours(args, folder, strength, solver, epochs):
    """The objective by iteration."""
    words = ["--no-intercept", "--no-standardize", "--weights", "oscar", "--relative-to", "correlation", "--strength", repr(strength),
             "--solver", solver, "--variant", "published", "--screening", "none", "--tolerance", "1e-12", "--max-epochs", str(epochs)]
    run = subprocess.run([args.program, "fit", folder / "data.csv", "--target", "y", *words, "--quiet", "--json", "-"], capture_output=True,
                         text=True)
    if run.returncode not in (0, 1):
        sys.exit(run.stderr)
    return [at["primal"] for at in json.loads(run.stdout)["trace"]]


def compared(args, folder, i, solver):
    """How many iterations of theirs have the same objective here, and the largest difference."""
    theirs = [float(line) for line in (folder / f"{solver}{i}.csv").read_text().split()]
    trace = ours(args, folder, i * math.exp(-args.tau), solver, len(theirs))[:len(theirs)]
    apart = [abs(a - b) / b for a, b in zip(theirs, trace)]
    same = next((k for k, difference in enumerate(apart) if difference > 1e-9), len(apart))
    return f"{solver}: objectives agree to 1e-9 in the first {same} of {len(apart)} iterations, to {max(apart):.0e} in all"


def prepare(args, folder):
    x, y = read_libsvm(args.libsvm) if args.libsvm else simulated(args.rows, args.cols)
    lines = [",".join(map(repr, row)) for row in x]
    (folder / "A.csv").write_text("\n".join(lines))
    (folder / "b.csv").write_text("\n".join(map(repr, y)))
    names = ",".join(["y"] + [f"x{j}" for j in range(len(x[0]))])
    (folder / "data.csv").write_text("\n".join([names] + [f"{t!r},{line}" for t, line in zip(y, lines)]) + "\n")
    (folder / "u.csv").write_text("\n".join(map(repr, normals(1, len(x[0])))))
    for name, text in SHIMS.items():
        (folder / name).write_text(text)
    keeps = (args.code / "solver/method/APGDScreen.m").read_text().replace("= APGDScreen(", "= APGDScreenKeeps(", 1)
    (folder / "APGDScreenKeeps.m").write_text(keeps.replace("index_tmp = active;", "index_tmp = active; prev = curr;", 1))
    (folder / "main.m").write_text(MAIN.format(code=args.code.resolve(), folder=folder, tau=args.tau, cap=args.cap,
                                                 epochs=EPOCHS))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("code", type=Path, help="a clone of the public code")
    parser.add_argument("--program", default=str(Path(__file__).resolve().parents[1] / "build" / "tyto"))
    parser.add_argument("--rows", type=int, default=50)
    parser.add_argument("--cols", type=int, default=80)
    parser.add_argument("--libsvm", default="")
    parser.add_argument("--tau", type=float, default=3)
    parser.add_argument("--cap", type=int, default=20000, help="iterations")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tyto-public-") as name:
        folder = Path(name)
        prepare(args, folder)
        run = subprocess.run(["octave-cli", "--no-gui", "--quiet", "main.m"], cwd=folder, capture_output=True, text=True)
        lines = [line.split() for line in run.stdout.splitlines()]
        if len(lines) != 3:
            sys.exit(run.stdout + run.stderr)
        for i, words in enumerate(lines, 1):
            base, with_screening, kept = (float(word) for word in words[1::2])
            print(f"p_{i}: APGD ends after {words[0]} iterations, with screening {words[2]}; CPU: screening {base / with_screening:.2f}x, "
                  f"where it keeps the number of columns {base / kept:.2f}x")
            for solver in ("apgd", "spgd"):
                if (folder / f"{solver}{i}.csv").exists():
                    print("     " + compared(args, folder, i, solver), flush=True)


if __name__ == "__main__":
    main()
