"""The table (Markdown and CSV) and the plots, from the measurements on disk."""
import csv
import math
import platform
import statistics

import measure

PLOT_COLUMNS = 5


def counts(args, records, tyto, target, criterion, bound):
    """The record of the loosest tolerance that reached the target. Tyto's tolerance is the target itself."""
    for record in records:
        good = record.status == "done" and record.worst(criterion, bound) <= target
        if good and (not tyto or record.tolerance == target):
            return record
    return None


def row(cell, solver, records, record, bound):
    seconds = sorted(second for seconds in record.rounds for second in seconds) if record else []
    seconds = seconds or [math.nan]
    done = [r for r in records if r.status == "done"]
    capped = [r.cap for r in records if r.status == "capped"]
    failed = [r.message for r in records if r.status == "failed"]
    return {
        "problem": cell.problem.name, "n": cell.problem.n, "p": cell.problem.p, "weights": cell.kind, "task": cell.task,
        "solver": solver.name, "version": solver.version,
        "status": status(records, record),
        "tolerance": record.tolerance if record else "",
        "seconds": statistics.median(seconds) if record else "",
        "least_seconds": seconds[0] if record else "", "most_seconds": seconds[-1] if record else "",
        "timings": len(seconds) if record else 0, "rounds": len(record.rounds) if record else 0,
        # Of the answer that counts, or else of the best one.
        "worst_gap": max(record.gap) if record else min((max(r.gap) for r in done), default=math.inf),
        "worst_suboptimality": min(r.worst("suboptimality", bound) for r in ([record] if record else done)) if done else "",
        "cap": min(capped, default=""), "message": "; ".join(failed),
    }


def rows(args, store, cell, here):
    """One row a solver, target and criterion; and the plain runs for the plot."""
    bound = measure.reference(store, cell, here)
    records = {solver.name: store.all(cell, solver) for solver in here}
    result = []
    for criterion in args.criteria:
        for target in args.targets:
            chosen = []
            for solver in here:
                record = counts(args, records[solver.name], solver is here[0], target, criterion, bound)
                chosen.append(row(cell, solver, records[solver.name], record, bound))
            own = chosen[0]["seconds"]
            for r in chosen:
                time = r["seconds"] if r["status"] == "reached" else r["cap"]
                r.update(criterion=criterion, target=target, ratio=time / own if own != "" and time != "" else "",
                         ratio_is_bound=r["status"] != "reached" or r["seconds"] >= args.cap)  # another time it was below
                r["runs"] = records[r["solver"]]
            result += chosen
    return result


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}" if value < 10 else f"{value:.3g}"


def shown(r):
    if r["status"] == "reached":
        more = "> " if r["ratio_is_bound"] else ""
        ratio = f" ({more}{number(r['ratio'])}x)" if r["ratio"] != "" and r["solver"] != "tyto" else ""
        return f"{more}{number(r['seconds'])}{ratio}"
    if r["status"] == "capped":
        return f"> {number(r['cap'])}" + (f" (> {number(r['ratio'])}x)" if r["ratio"] != "" else "")
    if r["status"] == "failed":
        return "failed"
    return f"stays at {r['worst_gap']:.0e}"


def status(records, record):
    """capped: the tightest tolerance that was tried took longer than its cap, which may be of an earlier run."""
    if record is not None:
        return "reached"
    return {"done": "not reached", "capped": "capped", "failed": "failed"}[records[-1].status] if records else "failed"


def groups(table):
    """Cells with the same solvers share a table."""
    result = {}
    for r in table:
        key = (r["criterion"], r["target"], r["weights"] == "lasso")
        result.setdefault(key, {}).setdefault((r["problem"], r["n"], r["p"], r["weights"], r["task"]), {})[r["solver"]] = r
    return result


def summary(cells, name):
    rs = [cell[name] for cell in cells.values() if name in cell]
    ratios = [r["ratio"] for r in rs if r["ratio"] != ""]
    reached = [r["ratio"] for r in rs if r["ratio"] != "" and not r["ratio_is_bound"]]
    text = f"- {name}: reached the target in {sum(r['status'] == 'reached' for r in rs)} of {len(rs)} cells"
    if ratios:
        text += f"; median ratio {number(statistics.median(ratios))}x (a cap counts as the time)"
    if reached:
        text += f", least {number(min(reached))}x"
    return text


def markdown(args, table, everybody):
    lines = ["# Tyto and its peers", "",
             "CPU seconds of one thread, without reading and imports; in brackets: over Tyto's. `> s`: not reached within s "
             "seconds. `stays at g`: the tightest tolerance ended at a gap of g. All gaps recomputed from the coefficients.", "",
             "Versions: " + ", ".join(f"{s.name} {s.version}" for s in everybody) + f"; {platform.machine()}, "
             f"Python {platform.python_version()}.", ""]
    for (criterion, target, lasso), cells in groups(table).items():
        names = list(dict.fromkeys(name for cell in cells.values() for name in cell))
        lines += [f"## {'Equal weights (lasso)' if lasso else 'Sorted weights'}, relative {criterion} {target:.0e}", "",
                  "| problem | n x p | weights | task | " + " | ".join(names) + " | worst gap of tyto |",
                  "|---" * (5 + len(names)) + "|"]
        for (problem, n, p, weights, task), cell in cells.items():
            shown_cells = [shown(cell[name]) if name in cell else "" for name in names]
            lines.append(f"| {problem} | {n} x {p} | {weights} | {task} | " + " | ".join(shown_cells)
                         + f" | {cell['tyto']['worst_gap']:.0e} |")
        lines += [""] + [summary(cells, name) for name in names if name != "tyto"] + [""]
    return "\n".join(lines)


def write(args, table, everybody):
    fields = ["problem", "n", "p", "weights", "task", "criterion", "target", "solver", "version", "status", "tolerance", "seconds",
              "least_seconds", "most_seconds", "timings", "rounds", "worst_gap", "worst_suboptimality", "ratio", "ratio_is_bound",
              "cap", "message"]
    with open(args.results / "table.csv", "w", newline="") as out:
        writer = csv.DictWriter(out, fields, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(table)
    with open(args.results / "runs.csv", "w", newline="") as out:  # every tolerance that was tried
        writer = csv.writer(out)
        writer.writerow(["problem", "weights", "task", "solver", "tolerance", "status", "seconds", "worst_gap"])
        for r in {(r["problem"], r["weights"], r["task"], r["solver"]): r for r in table}.values():
            for record in r["runs"]:
                done = record.status == "done"
                writer.writerow([r["problem"], r["weights"], r["task"], r["solver"], record.tolerance, record.status,
                                 record.seconds if done else record.cap, max(record.gap) if done else ""])
    (args.results / "table.md").write_text(markdown(args, table, everybody))


def say(table, cell):
    for r in table:
        if (r["problem"], r["weights"], r["task"]) == (cell.problem.name, cell.kind, cell.task):
            print(f"{cell.name:>28} {r['criterion']} {r['target']:.0e} {r['solver']:>12}: {shown(r)}"
                  f"   worst gap {r['worst_gap']:.1e}" + (f"   {r['message']}" if r["message"] else ""), flush=True)


def plots(args, table):
    try:
        import matplotlib
    except ImportError:
        print("no plots: matplotlib is not installed")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    panels = {}
    for r in table:
        panels.setdefault((r["weights"], r["task"]), {}).setdefault(r["problem"], {})[r["solver"]] = r["runs"]
    for (weights, task), by_problem in panels.items():
        wide = min(PLOT_COLUMNS, len(by_problem))
        high = math.ceil(len(by_problem) / wide)
        figure, axes = pyplot.subplots(high, wide, figsize=(3.2 * wide + 1, 2.6 * high + 1), squeeze=False)
        for axis, (problem, by_solver) in zip(axes.flat, by_problem.items()):
            panel(axis, problem, by_solver)
        for axis in axes.flat[len(by_problem):]:
            axis.set_visible(False)
        what = "path of 100 strengths" if task == "path" else f"strength {task} of alpha-max"
        figure.suptitle(f"{weights}, {what}: relative gap (worst) against CPU seconds\none point a tolerance; > at the cap",
                        fontsize="medium")
        entries = {label: handle for axis in axes.flat for handle, label in zip(*axis.get_legend_handles_labels())}
        figure.legend(entries.values(), entries.keys(), loc="lower center", ncols=len(entries))
        figure.tight_layout(rect=(0, 0.06, 1, 1))
        figure.savefig(args.results / f"gap-{weights}-{task}.svg")
        pyplot.close(figure)


COLOURS = {"tyto": "C3", "sortedl1": "C0", "skglm-slope": "C2", "celer": "C0", "sklearn": "C1", "skglm-lasso": "C2"}


def panel(axis, problem, by_solver):
    for name, records in by_solver.items():
        done = [(record.seconds, max(max(record.gap), 1e-16)) for record in records if record.status == "done"]
        axis.plot([s for s, _ in done], [g for _, g in done], "o-", color=COLOURS[name], label=name, markersize=3)
        capped = [record.cap for record in records if record.status == "capped"]
        if capped:
            axis.plot([max(capped)], [done[-1][1] if done else 1], ">", color=COLOURS[name])
    axis.set(xscale="log", yscale="log", title=problem)
    axis.grid(alpha=0.3)
