#!/usr/bin/env python3
"""What screening saves: the seed paper's settings on colon-cancer and duke, every solver with every rule.

Medians of interleaved runs, in CPU seconds of solving only, from a cold start, one thread. A run that does not reach the
tolerance within the cap counts as the cap. With --instructions (needs valgrind) also instruction counts of apgd, which do
not depend on what else the machine does. Needs the data sets in TYTO_DATA; build first (scripts/quickstart.sh).

    python3 bench/screening.py [--runs 5] [--cap 60] [--instructions]
"""
import argparse
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RULES = ["none", "seed", "safe"]
SETTINGS = [("colon-cancer", 3, i) for i in (1, 2, 3)] + [("duke", 2, i) for i in (1, 2, 3)]


def command(program, data, strength, solver, rule, extra):
    return [program, "fit", str(data), "--no-intercept", "--no-standardize", "--weights", "oscar", "--relative-to",
            "correlation", "--strength", repr(strength), "--solver", solver, "--screening", rule, "--threads", "1",
            "--quiet"] + extra


def solve(*args):
    run = subprocess.run(command(*args) + ["--json", "-"], capture_output=True, text=True)
    if run.returncode not in (0, 1):
        sys.exit(run.stderr)
    return json.loads(run.stdout)


def instructions(*args):
    """Of fit() alone: reading the file is left out."""
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=tyto::fit(*"]
    run = subprocess.run(tool + command(*args), capture_output=True, text=True)
    return int(re.search(r"Collected : (\d+)", run.stderr).group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cap", type=float, default=60)
    parser.add_argument("--solvers", default="apgd,spgd")
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--program", default=str(ROOT / "build" / "tyto"))
    args = parser.parse_args()
    folder = pathlib.Path(os.environ.get("TYTO_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        sys.exit(f"no data in {folder}: set TYTO_DATA to a folder with colon-cancer/data.svm.xz and duke/data.svm.xz")

    for solver in args.solvers.split(","):
        print(f"\n{solver}: CPU seconds (epochs; column work in passes over X), ratio to none")
        ratios = {rule: [] for rule in RULES[1:]}
        for name, tau, i in SETTINGS:
            strength = i * math.exp(-tau)
            data = folder / name / "data.svm.xz"
            extra = ["--tolerance", "1e-6", "--max-seconds", str(args.cap)]
            runs = {rule: [] for rule in RULES}
            for k in range(args.runs):
                for rule in RULES:
                    # A capped run says the same every time.
                    if k == 0 or runs[rule][0]["status"] == "converged":
                        runs[rule].append(solve(args.program, data, strength, solver, rule, extra))
            seconds = {rule: statistics.median(r["cpu_seconds"] for r in runs[rule]) for rule in RULES}
            objectives = [runs[rule][0]["primal"] for rule in RULES if runs[rule][0]["status"] == "converged"]
            line = f"{name:>13} p_{i}"
            for rule in RULES:
                r = runs[rule][0]
                work = sum(at["active"] for at in r["trace"]) / r["p"]
                mark = "" if r["status"] == "converged" and r["relative_gap"] <= 1e-6 else "*"
                line += f"   {rule} {seconds[rule]:8.4f}{mark} ({r['epochs']}; {work:.1f})"
                if rule != "none":
                    ratios[rule].append(seconds["none"] / seconds[rule])
                    line += f" {ratios[rule][-1]:7.2f}x"
            spread = max(objectives) / min(objectives) - 1
            print(line + f"   objectives agree to {spread:.0e}", flush=True)
            if args.instructions and solver == "apgd":
                count = {rule: instructions(args.program, data, strength, solver, rule, extra) for rule in RULES}
                print(f"{'':>17} instructions: none {count['none'] / 1e6:.1f}M, seed {count['seed'] / 1e6:.1f}M, "
                      f"safe {count['safe'] / 1e6:.1f}M, safe / seed {count['safe'] / count['seed']:.3f}", flush=True)
        for rule in RULES[1:]:
            print(f"{rule}: median {statistics.median(ratios[rule]):.2f}x, least {min(ratios[rule]):.2f}x")
        losers = [(n, i, rule) for rule in RULES[1:] for (n, _, i), r in zip(SETTINGS, ratios[rule]) if r < 1]
        print("screening does not pay on: " + (", ".join(f"{n} p_{i} ({rule})" for n, i, rule in losers) or "none of these"))
    print("\n* stopped at the cap")


if __name__ == "__main__":
    main()
