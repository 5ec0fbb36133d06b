"""Compares builds of the program side by side: the same commands in turn, CPU seconds, medians and ratios.

    python3 bench/builds.py BEFORE AFTER [MORE...] [--runs 5] [--only NAME] [--tasks path,fit,cv] [--weights oscar,bh] [--callgrind]

BEFORE and AFTER are programs (build/tyto). A program may have settings of its environment before it:
'OPENBLAS_CORETYPE=SkylakeX /path/to/tyto'. Ratios are BEFORE over each of the others: above 1 is faster than before. The last line
is their median, least and most. Real data sets are read from TYTO_DATA and left out where they are not there; the others are
simulated. Only the solver's own CPU seconds count (`cpu_seconds` of the JSON): reading is left out. With --callgrind instructions of
the whole program are counted instead, which other work on the machine does not disturb; it takes fifty times as long.
"""
import argparse
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

DATA = Path(os.environ.get("TYTO_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))

SIMULATED = {
    "2000x500": ["--rows", "2000", "--cols", "500", "--groups", "20"],
    "1000x5000": ["--rows", "1000", "--cols", "5000", "--groups", "20"],
    "10000x300": ["--rows", "10000", "--cols", "300", "--groups", "10"],
    "200x10000": ["--rows", "200", "--cols", "10000", "--groups", "10"],
    "200x20000": ["--rows", "200", "--cols", "20000", "--groups", "10"],
    "20000x500": ["--rows", "20000", "--cols", "500", "--groups", "10"],
}
REAL = {  # files, and the response, where it is not the label or a column called y
    "colon-cancer": (["colon-cancer/data.svm.xz"], None),
    "duke": (["duke/data.svm.xz"], None),
    "riboflavin": (["riboflavin/data.csv.xz"], None),
    "permeability": (["permeability/data.csv.xz"], None),
    "leukemia": (["leukemia/data.svm.xz"], None),
    "ujiindoorloc": (["ujiindoorloc/trainingData.csv.xz", "ujiindoorloc/validationData.csv.xz"], "LONGITUDE"),
    "news20": (["news20/data.svm.xz"], None),
}
TASKS = {"path": [], "fit": ["--strength", "0.05"], "cv": ["--folds", "5"]}


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", help="at least two")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="", help="problems whose name contains this, or one of these: a,b")
    parser.add_argument("--tasks", default="path,fit", help="of path, fit and cv")
    parser.add_argument("--weights", default="oscar,bh")
    parser.add_argument("--callgrind", action="store_true", help="count instructions, of the whole program")
    args = parser.parse_args()
    if len(args.programs) < 2:
        parser.error("want at least two programs")
    return args


def problems(program, folder, only):
    """(name, words of the command line) of every problem that can be had."""
    wanted = only.split(",")
    for name, words in SIMULATED.items():
        if any(part in name for part in wanted):
            file = folder / f"{name}.csv"
            subprocess.run([*program[-1:], "simulate", *words, "--seed", "1", "--output", file], check=True, capture_output=True)
            yield name, [str(file), "--target", "y"]
    for name, (files, target) in REAL.items():
        if any(part in name for part in wanted) and all((DATA / file).exists() for file in files):
            yield name, [*(str(DATA / file) for file in files), *(["--target", target] if target else [])]


def run(program, words):
    """`program` is settings of the environment, then the program, and what it is started by."""
    count = sum("=" in word and not word.startswith(("/", "-")) for word in program)
    settings = dict(word.split("=", 1) for word in program[:count])
    done = subprocess.run([*program[count:], *words], env=os.environ | settings, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(map(str, program + words))}: {done.stderr}")
    return done.stderr


def seconds(program, words, result):
    """CPU seconds of one run."""
    run(program, [*words, "--quiet", "--json", result])
    return json.loads(Path(result).read_text())["cpu_seconds"]


def instructions(program, words, result):
    """Those of one run, from the start of the program to its end."""
    under = [*program[:-1], "valgrind", "--tool=callgrind", f"--callgrind-out-file={result}.callgrind", program[-1]]
    found = re.search(r"Collected : (\d+)", run(under, [*words, "--threads", "1", "--quiet", "--json", result]))
    return int(found.group(1)) / 1e9


def compare(programs, words, args, result):
    """What BEFORE takes, and the ratios of the others; medians."""
    measure = instructions if args.callgrind else seconds
    times = [[measure(program, words, result) for program in programs] for _ in range(1 if args.callgrind else args.runs)]
    return (statistics.median(row[0] for row in times),
            [statistics.median(row[0] / max(row[k], 1e-9) for row in times) for k in range(1, len(programs))])


def main():
    args = parse_args()
    programs = [shlex.split(text) for text in args.programs]
    unit = "10^9 instr" if args.callgrind else "before s"
    columns = "".join(f"{f'ratio {k}':>10}" for k in range(1, len(programs)))
    print(f"{'problem':>14} {'weights':>7} {'task':>10} {unit:>10}{columns}")
    every = []
    with tempfile.TemporaryDirectory(prefix="tyto-builds-") as name:
        folder = Path(name)
        for problem, data in problems(programs[0], folder, args.only):
            for weights in args.weights.split(","):
                for task in args.tasks.split(","):
                    words = [task, *data, "--weights", weights, *TASKS[task]]
                    before, ratios = compare(programs, words, args, folder / "out.json")
                    every.append(ratios)
                    print(f"{problem:>14} {weights:>7} {task:>10} {before:10.4f}" + "".join(f"{r:10.3f}" for r in ratios), flush=True)
    for k, found in enumerate(zip(*every), 1):
        print(f"ratio {k}: median {statistics.median(found):.3f}, least {min(found):.3f}, most {max(found):.3f}, of {len(found)}")


if __name__ == "__main__":
    sys.exit(main())
