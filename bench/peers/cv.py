#!/usr/bin/env python3
"""Ten-fold cross-validation over 100 strengths: 'tyto cv' beside sortedl1's cv, and beside one path of our own.

    python3 bench/peers/cv.py --program build/tyto

Both get the same standardised data, weights, strengths and number of folds, no intercept, one thread. sortedl1's tolerance
is the loosest (of 1, 2, 5 times a power of ten) with which each strength of its path on all rows has a relative gap of 1e-6
or less, recomputed here; with it its cv is run. It is stopped when it has taken --factor times our CPU seconds, since
what is asked is only whether it is slower than that. Needs the build with -DTYTO_BENCH=ON for the driver.
"""
import argparse
import json
import multiprocessing
import os
import pathlib
import statistics
import subprocess
import time

import environment

ROOT = environment.ROOT
TARGET = 1e-6


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    text = lambda value: value.split(",")  # noqa: E731
    parser.add_argument("--problems", type=text, default=["riboflavin", "duke", "ujiindoorloc", "blogfeedback"])
    parser.add_argument("--weights", type=text, default=["oscar", "bh"])
    parser.add_argument("--runs", type=int, default=5, help="interleaved runs of our path and our cv")
    parser.add_argument("--factor", type=float, default=15, help="sortedl1 may take so many times our CPU seconds")
    parser.add_argument("--cap", type=float, default=300, help="CPU seconds of one path of sortedl1")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build" / "tyto")
    parser.add_argument("--driver", type=pathlib.Path, default=ROOT / "build" / "bench" / "tyto_solve")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "build" / "peers-results")
    parser.add_argument("--own", action="store_true", help="without sortedl1: our cv beside our path")
    return parser.parse_args()


def ours(args, cell, command):
    out = args.results / "scratch" / "cv.json"
    p, n = cell.problem.p, cell.problem.n
    subprocess.run([args.program, command, cell.problem.x_file, "--target", cell.problem.y_file, "--weights", cell.kind,
                    "--no-intercept", "--no-standardize", "--threads", "1", "--tolerance", str(TARGET), "--steps", "100",
                    "--ratio", "0.01", "--json", out, "--quiet"], check=True)
    answer = json.loads(out.read_text())
    assert (answer["n"], answer["p"]) == (n, p)
    worst = max(fit["relative_gap"] for fit in answer["fits"])
    return answer["cpu_seconds"], max(worst, answer.get("worst_fold_gap", 0))


def theirs(cell, tolerance, reply):
    import numpy as np
    from sortedl1 import Slope

    x, y = np.load(cell.problem.x_file), np.load(cell.problem.y_file)
    model = Slope(lam=cell.weights, fit_intercept=False, tol=tolerance, max_iter=10**7)
    folds = np.array([np.array_split(np.random.default_rng(1).permutation(len(y)), 10)], dtype=object)
    start = time.process_time()
    model.cv(x, y, predefined_folds=folds, alphas=cell.alphas / len(y), q=[0.1], tol_dev_change=0.0, tol_dev_ratio=1.0,
             max_clusters=cell.problem.p + 1)
    reply.put(time.process_time() - start)


def limited(cell, tolerance, cap):
    """CPU seconds, or None where it was stopped."""
    import solvers

    reply = multiprocessing.Queue()
    process = multiprocessing.Process(target=theirs, args=(cell, tolerance, reply))
    process.start()
    start = time.monotonic()
    while process.is_alive():
        process.join(solvers.TICK)
        if solvers.cpu_seconds(process.pid) > cap + solvers.MARGIN or time.monotonic() - start > 10 * cap + 120:
            process.kill()
            process.join()
            return None
    if process.exitcode != 0:
        raise SystemExit(f"sortedl1's cv failed with code {process.exitcode}")
    return reply.get()


def compare(args, cell):
    import measure
    import solvers

    paths, cvs, worst = [], [], 0
    for _ in range(args.runs):
        paths.append(ours(args, cell, "path")[0])
        seconds, gap = ours(args, cell, "cv")
        cvs.append(seconds)
        worst = max(worst, gap)
    mine = statistics.median(cvs)
    ratio = statistics.median(cv / path for cv, path in zip(cvs, paths))
    line = f"{cell.problem.name:14} {cell.kind:6} cv {mine:9.4g} s, {ratio:5.1f} paths, worst relative gap {worst:.1e}"
    if args.own:
        return line
    peer = next(peer for peer in solvers.peers() if peer.name == "sortedl1")
    store = measure.Store(args.results, args.cap, args.results / "scratch")
    try:
        record = measure.search(lambda tolerance: store.measure(cell, peer, tolerance),
                                lambda record: record.worst("gap", None), TARGET, 6)
    finally:
        peer.stop()
    if record is None:
        return line + f"; sortedl1 {peer.version}: its path missed the gap within {args.cap:g} s"
    seconds = limited(cell, record.tolerance, args.factor * mine)
    shown = f"more than {args.factor:g} times that" if seconds is None else f"{seconds:.4g} s: {seconds / mine:.1f} times that"
    return line + f"; sortedl1 {peer.version} at {record.tolerance:.0e}: {shown}"


def main():
    args = arguments()
    environment.enter()
    os.environ.update(environment.ONE_THREAD)
    import measure
    import problems

    scratch = args.results / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    for problem in problems.each(args.problems, scratch / "problems"):
        for kind in args.weights:
            print(compare(args, measure.make_cell(problem, kind, "path")), flush=True)


if __name__ == "__main__":
    main()
