"""Compares fits and paths of other losses than squared error with other public solvers, at duality gaps recomputed here.

    cmake --preset release && cmake --build --preset release   # makes build/bench/tyto_solve
    python3 bench/losses.py build/bench/tyto_solve [--runs 3] [--only NAME] [--weights bh,lasso] [--tasks 0.1,0.02,path]

CPU seconds of one thread, medians of interleaved rounds, without reading and imports; of Tyto with everything after reading,
so column norms, weights and the largest strength too. A path has 100 strengths down to a hundredth of alpha-max, or the
ratio in PROBLEMS. Each peer counts at the loosest tolerance whose answer has a relative gap of at most 1e-6 on the full
problem, at every strength: losses_judge.py recomputes it from the coefficients alone, with the best intercept for them.
Sorted weights (bh, oscar) are with an intercept, the lasso without one, as celer and liblinear have no free one. Everybody
gets the same standardised columns (of sparse data: over their largest magnitude).

Of several classes, sortedl1 takes the last as a reference, without coefficients, and so has another objective, with its own
alpha-max. Real data sets are read from TYTO_DATA and left out where they are not there; the others are simulated. It needs
numpy, scipy and whichever of sortedl1, celer, skglm, adelie, scikit-learn there are (pip).
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import losses_peers as peers
import losses_problems as problems
import numpy as np
from losses_judge import worst_gap

GOAL = 1e-6


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    text = lambda value: value.split(",")  # noqa: E731
    parser.add_argument("program", help="the driver, build/bench/tyto_solve")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", type=text, default=[""], help="problems whose name contains one of these")
    parser.add_argument("--weights", type=text, default=["bh", "lasso"])
    parser.add_argument("--tasks", type=text, default=["0.1", "0.02", "path"])
    parser.add_argument("--peers", type=text, default=list(peers.PEERS))
    parser.add_argument("--cap", type=float, default=60, help="CPU seconds of one run of a peer")
    parser.add_argument("--goal", type=float, default=GOAL, help="relative gap")
    return parser.parse_args()


class Tyto:
    def __init__(self, program, folder):
        self.program, self.folder = program, Path(folder)

    def solve(self, problem, kind, strengths, tolerance, repeat_seconds=0.1):
        out = self.folder / "coefficients.npy"
        command = [self.program, *problem.files, "--loss", problem.loss, "--weights", kind, "--q", "0.1",
                   "--intercept", "no" if kind == "lasso" else "yes", "--strengths", ",".join(map(repr, map(float, strengths))),
                   "--tolerance", str(tolerance), "--coefficients", str(out), "--repeat-seconds", str(repeat_seconds),
                   "--max-repeats", "100"]
        answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        classes = problem.classes if problem.loss == "multinomial" else 1
        betas = np.load(out).reshape(problem.x.shape[1], classes, -1, order="C")
        return answer, [betas[:, :, k] for k in range(betas.shape[2])]


def compare(args, tyto, problem, kind, task):
    strengths = problem.path() if task == "path" else np.array([float(task)])
    first, betas = tyto.solve(problem, kind, strengths, args.goal, 0)
    alphas = np.array(first["alphas"])
    intercept = kind != "lasso"
    gap = worst_gap(problem, kind, intercept, alphas, betas)
    missed = sum(status != "converged" for status in first["status"])
    found = {name: peers.search(name, problem, kind, alphas, strengths, args.goal, args.cap)
             for name in args.peers if peers.takes(name, problem, kind, task)}
    ours, theirs = [], {name: [] for name in found}
    for _ in range(args.runs):
        ours += tyto.solve(problem, kind, strengths, args.goal)[0]["seconds"]
        for name, answer in found.items():
            if answer.good and sum(theirs[name]) < 30:
                theirs[name] += peers.again(name, problem, kind, alphas, strengths, answer)
    own = statistics.median(ours)
    line = f"{problem.name:<20} {kind:>5} {task:>5}  tyto {own:9.5f} s, gap {gap:7.1e}"
    line += f", {int(np.count_nonzero(betas[-1])):5d} non-zeros, {first['passes']:6.1f} passes"
    line += f", {missed} MISSED" if missed or gap > args.goal else ""
    for name, answer in found.items():
        if answer.good:
            seconds = statistics.median(theirs[name])
            line += f" | {name} {seconds:9.5f} s {seconds / own:7.1f}x (gap {answer.gap:.1e} at {answer.tolerance:.0e})"
        else:
            bound = f" > {answer.seconds:.3g} s > {answer.seconds / own:.1f}x" if answer.capped else ""
            line += f" | {name} -{bound} ({answer.why})"
    print(line, flush=True)


def main():
    args = parse_args()
    for name in args.peers:
        if name not in peers.PEERS:
            sys.exit(f"--peers: want some of {', '.join(peers.PEERS)}, got {name}")
    args.peers = [name for name in args.peers if peers.available(name)]
    with tempfile.TemporaryDirectory() as folder:
        tyto = Tyto(args.program, folder)
        for problem in problems.each(args.only, folder):
            for kind in args.weights:
                for task in args.tasks:
                    compare(args, tyto, problem, kind, task)


if __name__ == "__main__":
    main()
