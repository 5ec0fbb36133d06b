"""Compares builds of the program side by side: the same commands in turn, CPU seconds, medians and ratios.

    python3 bench/builds.py BEFORE AFTER [MORE...] [--runs 5] [--only NAME] [--tasks path,fit,cv] [--weights oscar,bh] [--callgrind]

BEFORE and AFTER are programs (build/tyto). A program may have settings of its environment before it:
'OPENBLAS_CORETYPE=SkylakeX /path/to/tyto'. Ratios are BEFORE over each of the others: above 1 is faster than before.
Real data sets are read from TYTO_DATA and left out where they are not there; the others are simulated. Only the solver's own
CPU seconds count (`cpu_seconds` of the JSON): reading is left out. With --callgrind instructions of the whole program are counted
instead, which other work on the machine does not disturb; it takes fifty times as long.  The last line is the median, and the least ratio, over all rows.
"""
import argparse
import json
import os
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
REAL = {
    "colon-cancer": "colon-cancer/data.svm.xz",
    "duke": "duke/data.svm.xz",
    "riboflavin": "riboflavin/data.csv.xz",
    "permeability": "permeability/data.csv.xz",
    "leukemia": "leukemia/data.svm.xz",
    "ujiindoorloc": "ujiindoorloc/data.csv.xz",
    "news20": "news20/data.svm.xz",
}


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", help="at least two")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="", help="problems whose name contains this")
    args = parser.parse_args()
    if len(args.programs) < 2:
        parser.error("want at least two programs")
    return args


def problems(program, folder, only):
    """(name, words of the command line) of every problem that can be had."""
    for name, words in SIMULATED.items():
        if only in name:
            file = folder / f"{name}.csv"
            subprocess.run([*program[-1:], "simulate", *words, "--seed", "1", "--output", file], check=True, capture_output=True)
            yield name, [str(file), "--target", "y"]
    for name, file in REAL.items():
        if only in name and (DATA / file).exists():
            yield name, [str(DATA / file)]


def seconds(program, words, result):
    """CPU seconds of one run; `program` is settings of the environment, then the program."""
    settings = dict(word.split("=", 1) for word in program[:-1])
    subprocess.run([program[-1], *words, "--quiet", "--json", result], check=True, env=os.environ | settings,
                   stdout=subprocess.DEVNULL)
    return json.loads(Path(result).read_text())["cpu_seconds"]


def main():
    args = parse_args()
    programs = [shlex.split(text) for text in args.programs]
    columns = "".join(f"{f'ratio {k}':>10}" for k in range(1, len(programs)))
    print(f"{'problem':>14} {'weights':>7} {'task':>10} {'before s':>10}{columns}")
    with tempfile.TemporaryDirectory(prefix="tyto-builds-") as name:
        folder = Path(name)
        for problem, data in problems(programs[0], folder, args.only):
            for weights in ("oscar", "bh"):
                for task in ("path", "fit"):
                    words = [task, *data, "--weights", weights, *(["--strength", "0.05"] if task == "fit" else [])]
                    times = [[seconds(program, words, folder / "out.json") for program in programs] for _ in range(args.runs)]
                    before = statistics.median(row[0] for row in times)
                    ratios = [statistics.median(row[0] / max(row[k], 1e-9) for row in times) for k in range(1, len(programs))]
                    print(f"{problem:>14} {weights:>7} {task:>10} {before:10.4f}" + "".join(f"{r:10.2f}" for r in ratios), flush=True)


if __name__ == "__main__":
    sys.exit(main())
