#!/usr/bin/env python3
"""spgd at its defaults, on the data sets and settings of the seed paper: over apgd without screening, and over older builds.

    python3 bench/spgd.py build/tyto [BEFORE/tyto ...] [--runs 3] [--cap 60] [--only NAME]

Medians of interleaved runs, in CPU seconds of solving only, from a cold start, one thread, to a relative gap of 1e-6. A run
that misses it within the cap is marked *, and not repeated: its ratio is a bound. Real data sets are read from TYTO_DATA, and
left out where they are not there; the stand-ins of `tyto reproduce` are simulated by the first program.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

DATA = Path(os.environ.get("TYTO_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
AS_IT_IS = ["--no-intercept", "--no-standardize"]
# name, i exp(-tau), files or what is simulated, options
SETS = [
    ("duke", 2, ["duke/data.svm.xz"], AS_IT_IS),
    ("colon-cancer", 3, ["colon-cancer/data.svm.xz"], AS_IT_IS),
    ("cardiac-left", 3, {"--groups": 10, "--group-size": 20, "--correlation": 0.95, "--rho": 0.9, "--seed": 1}, ["--target", "y"]),
    ("cardiac-right", 3, {"--groups": 20, "--group-size": 10, "--correlation": 0.9, "--rho": 0.95, "--seed": 2}, ["--target", "y"]),
    ("cardiac-dense", 3, {"--groups": 40, "--group-size": 20, "--correlation": 0.95, "--rho": 0.95, "--seed": 3}, ["--target", "y"]),
    ("ujiindoorloc", 2, ["ujiindoorloc/trainingData.csv.xz", "ujiindoorloc/validationData.csv.xz"], ["--target", "LONGITUDE"]),
    ("slice-part", 2, ["slice-part/data.csv.xz"], ["--target", "reference"]),
    ("blogfeedback", 2, ["blogfeedback/blogData_train.csv.xz"], []),
]
WIDE = ("duke", "colon-cancer")


def files_of(program, source, folder):
    """Paths of a set's files, or none where they are not there."""
    if isinstance(source, list):
        return [str(DATA / name) for name in source] if all((DATA / name).exists() for name in source) else []
    file = folder / "stand-in.csv"
    words = [str(word) for pair in source.items() for word in pair]
    subprocess.run([program, "simulate", "--rows", "3360", "--cols", "1600", "--snr", "3", *words, "--output", file], check=True,
                   capture_output=True)
    return [str(file)]


def seconds(program, files, words, cap):
    """CPU seconds of one run, and whether it reached the tolerance."""
    run = subprocess.run([program, "fit", *files, *words, "--threads", "1", "--max-seconds", str(cap), "--quiet", "--json", "-"],
                         capture_output=True, text=True)
    if run.returncode not in (0, 1):
        sys.exit(run.stderr)
    result = json.loads(run.stdout)
    reached = result["status"] == "converged" and result["relative_gap"] <= 1e-6
    return result["cpu_seconds"], reached


def measure(contestants, files, words, args):
    """-> (median, mark) of each."""
    times = [[] for _ in contestants]
    reached = [True] * len(contestants)
    for _ in range(args.runs):
        for k, (program, extra) in enumerate(contestants):
            if reached[k]:
                taken, reached[k] = seconds(program, files, [*words, *extra], args.cap)
                times[k] = [*times[k], taken] if reached[k] else [taken]
    return [(statistics.median(taken), "" if good else "*") for taken, good in zip(times, reached)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cap", type=float, default=60, help="seconds on the clock")
    parser.add_argument("--only", default="", help="sets whose name contains this")
    args = parser.parse_args()
    contestants = [(args.programs[0], ["--solver", "apgd", "--screening", "none"])]
    contestants += [(program, ["--solver", "spgd"]) for program in args.programs]
    names = ["apgd"] + ["spgd"] + [f"before {k}" for k in range(1, len(args.programs))]
    print(f"{'set':>14} p_i" + "".join(f"{name + ' s':>12}" for name in names) + "   each over spgd")
    over = {True: [], False: []}
    with tempfile.TemporaryDirectory(prefix="tyto-spgd-") as name:
        for set_name, tau, source, extra in SETS:
            files = files_of(args.programs[0], source, Path(name)) if args.only in set_name else []
            for i in (1, 2, 3) if files else ():
                strength = ["--weights", "oscar", "--relative-to", "correlation", "--strength", repr(i * math.exp(-tau))]
                found = measure(contestants, files, [*extra, *strength], args)
                ratios = [taken / found[1][0] for taken, _ in found]
                over[set_name in WIDE].append(ratios)
                cells = "".join(f"{taken:11.4g}{mark or ' '}" for taken, mark in found)
                print(f"{set_name:>14} p_{i}{cells}   " + "  ".join(f"{r:.2f}" for k, r in enumerate(ratios) if k != 1), flush=True)
    for wide, title in ((True, "n << d"), (False, "n >= d")):
        for k, label in enumerate(names):
            column = [ratios[k] for ratios in over[wide]]
            if k != 1 and column:
                print(f"{title}: {label} over spgd: median {statistics.median(column):.2f}, least {min(column):.2f}")


if __name__ == "__main__":
    main()
