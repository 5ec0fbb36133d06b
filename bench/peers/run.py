#!/usr/bin/env python3
"""Tyto and other public solvers on the same problems: CPU seconds to a duality gap that is recomputed here.

    python3 bench/peers/run.py --quick            # three small sets, a few minutes
    python3 bench/peers/run.py                    # everything, hours; goes on where it was interrupted
    python3 bench/peers/run.py --paper            # newton beside our own apgd without screening, the paper's six settings

See README.md in this folder. Needs the build with -DTYTO_BENCH=ON for the driver.
"""
import argparse
import os
import pathlib
import sys

import environment

ROOT = environment.ROOT


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    text = lambda value: value.split(",")  # noqa: E731
    parser.add_argument("--problems", type=text, help="names, by default all that there are")
    parser.add_argument("--weights", type=text, default=["oscar", "bh", "lasso"])
    parser.add_argument("--tasks", type=text, default=["0.1", "0.02", "path"], help="strengths over alpha-max, or path; "
                        "for lasso weights path only unless given")
    parser.add_argument("--solvers", type=text, help="peers, by default all that could be installed")
    parser.add_argument("--targets", type=text, default=["1e-6", "1e-10"], help="relative gaps")
    parser.add_argument("--criteria", type=text, default=["gap"], help="gap, and suboptimality: distance to the best lower "
                        "bound known, which favours a solver whose own residual proves less than is true")
    parser.add_argument("--cap", type=float, default=60, help="CPU seconds of one run")
    parser.add_argument("--runs", type=int, default=5, help="interleaved rounds of a measurement that takes little")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "build" / "peers-results")
    parser.add_argument("--driver", type=pathlib.Path, default=ROOT / "build" / "bench" / "tyto_solve")
    parser.add_argument("--tyto-solver", default="auto")
    parser.add_argument("--quick", action="store_true", help="three small sets, target 1e-6, cap 10, 3 rounds")
    parser.add_argument("--remeasure", action="store_true", help="take all times anew, with the tolerances found before")
    parser.add_argument("--report", action="store_true", help="only write table and plots from what was measured")
    parser.add_argument("--paper", action="store_true", help="newton beside apgd without screening")
    args = parser.parse_args()
    if args.quick:
        args.problems = args.problems or ["prostate", "eyedata", "colon-cancer", "sim-2000x500"]
        args.targets, args.cap, args.runs = ["1e-6"], min(args.cap, 10), min(args.runs, 3)
    args.targets = sorted((float(target) for target in args.targets), reverse=True)
    return args


def cells(args, folder):
    """All cells asked for, a problem at a time."""
    import measure
    import problems

    for problem in problems.each(args.problems or [*problems.REAL, *problems.SIMULATED], folder):
        for kind in args.weights:
            for task in args.tasks:
                if kind != "lasso" or task == "path" or "--tasks" in sys.argv:
                    yield measure.make_cell(problem, kind, task)


def find(args, store, cell, tyto, others):
    """For every solver, target and criterion the record that counts, or None."""
    import measure

    for tolerance in {1e-2, 1e-4, 1e-8, 1e-12, *args.targets}:  # some for the plot, the tightest for the lower bound
        store.measure(cell, tyto, tolerance)
    bound = measure.reference(store, cell, [tyto])
    found = {}
    for target in args.targets:
        for criterion in args.criteria:
            record = store.measure(cell, tyto, target)
            good = record.status == "done" and record.worst(criterion, bound) <= target
            found[tyto.name, target, criterion] = record if good else None
    null = 0.5 * float(cell.problem.y @ cell.problem.y)
    share = 0.01 if bound is None else max(float(min(bound)) / null, 1e-9)
    for peer in others:
        for criterion in args.criteria:
            for target in args.targets:
                found[peer.name, target, criterion] = measure.search(
                    lambda tolerance: store.measure(cell, peer, tolerance),
                    lambda record: record.worst(criterion, bound), target, peer.first_rung(target, cell, share))
    return found


def repeat(args, store, cell, everybody, found):
    """Rounds in which each solver runs once at each of its tolerances; slow ones fewer times."""
    import measure

    solver_of = {solver.name: solver for solver in everybody}
    records = {(name, r.tolerance): (solver_of[name], r) for (name, _, _), r in found.items() if r is not None}
    store.start_rounds(cell, records.values(), args.remeasure)
    for k in range(1, args.runs + 1):
        for solver, record in records.values():
            spent = sum(map(sum, record.rounds))
            if len(record.rounds) < k and spent < measure.ENOUGH:
                store.repeat(cell, solver, record)


def compare(args, scratch):
    import measure
    import report
    import selfcheck
    import solvers

    if not args.driver.exists():
        sys.exit(f"no {args.driver}: build with -DTYTO_BENCH=ON, or give --driver")
    tyto = solvers.Tyto(args.driver, args.tyto_solver)
    everybody = [tyto]
    for peer in solvers.peers():
        if args.solvers is not None and peer.name not in args.solvers:
            continue
        if peer.available():
            everybody.append(peer)
        else:
            print(f"left out: {peer.name} is not installed", flush=True)
    store = measure.Store(args.results, args.cap, scratch)
    rows = []
    try:
        if not args.report:
            selfcheck.run(everybody, scratch / "problems")
        for cell in cells(args, scratch / "problems"):
            here = [solver for solver in everybody if cell.kind in solver.kinds]
            if not args.report:
                found = find(args, store, cell, tyto, here[1:])
                repeat(args, store, cell, here, found)
            rows += report.rows(args, store, cell, here)
            report.write(args, rows, everybody)
            report.say(rows, cell)
    finally:
        for solver in everybody:
            solver.stop()
    report.plots(args, rows)
    print(f"\nwritten: {args.results}/table.md, table.csv, runs.csv and plots")


def main():
    args = arguments()
    environment.enter()
    os.environ.update(environment.ONE_THREAD)
    scratch = args.results / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    if args.paper:
        import paper

        paper.run(args)
    else:
        compare(args, scratch)


if __name__ == "__main__":
    main()
