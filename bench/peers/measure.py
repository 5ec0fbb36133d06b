"""Cells (problem x weights x task), their measurements on disk, and the search for the tolerance that reaches a target."""
import dataclasses
import json
import math
import pathlib
import statistics

import numpy as np

import certificate
import problems
import solvers

LOOSEST, TIGHTEST = -6, 18  # rungs
ENOUGH = 10.0  # CPU seconds after which a measurement is not repeated


@dataclasses.dataclass
class Cell:
    problem: problems.Problem
    kind: str  # of weights
    task: str  # "path", or one strength
    weights: np.ndarray
    weights_file: pathlib.Path
    strengths: np.ndarray
    alphas: np.ndarray

    @property
    def name(self):
        return f"{self.problem.name}.{self.kind}.{self.task}"


def make_cell(problem, kind, task):
    problem.load()
    w = problems.weights(kind, problem.p)
    file = problem.x_file.parent / f"{kind}.npy"
    np.save(file, w)
    strengths = problems.strengths(task)
    return Cell(problem, kind, task, w, file, strengths, strengths * certificate.alpha_max(problem.x, problem.y, w))


@dataclasses.dataclass
class Record:
    """What one solver did in one cell at one tolerance. status: done, capped or failed."""
    solver: str
    tolerance: float
    status: str
    cap: float = 0.0
    message: str = ""
    rounds: list = dataclasses.field(default_factory=list)  # CPU seconds: a list a round
    primal: list = dataclasses.field(default_factory=list)  # these three: one number a strength, recomputed
    dual: list = dataclasses.field(default_factory=list)
    gap: list = dataclasses.field(default_factory=list)

    @property
    def seconds(self):
        """Empty where an interrupted run had just begun to take times anew."""
        if not self.rounds:
            return math.nan
        return statistics.median(second for seconds in self.rounds for second in seconds)

    def worst(self, criterion, reference):
        """The largest relative gap; or the largest distance to the best lower bound known, which is never larger."""
        if criterion == "gap":
            return max(self.gap)
        if reference is None:
            return math.inf
        return max((p - d) / p if p > 0 else 0.0 for p, d in zip(self.primal, reference))


class Store:
    """One JSON file a measurement, so that an interrupted run goes on where it was."""

    def __init__(self, folder, cap, scratch):
        self.folder, self.cap, self.scratch = folder, cap, scratch

    def file(self, cell, solver, tolerance):
        return self.folder / "cells" / cell.name / f"{solver.name}-{solver.version}" / f"{tolerance:.0e}.json"

    def load(self, cell, solver, tolerance):
        file = self.file(cell, solver, tolerance)
        if not file.exists():
            return None
        record = Record(**json.loads(file.read_text()))
        return None if self.outdated(record) else record

    def outdated(self, record):
        """A run that was killed after a shorter time than is granted now is worth another try."""
        return record.status == "capped" and record.cap < self.cap

    def save(self, cell, solver, record):
        file = self.file(cell, solver, record.tolerance)
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part")
        part.write_text(json.dumps(dataclasses.asdict(record)))
        part.replace(file)

    def all(self, cell, solver):
        folder = self.file(cell, solver, 1.0).parent
        records = [Record(**json.loads(file.read_text())) for file in folder.glob("*.json")]
        return sorted(records, key=lambda record: -record.tolerance)

    def measure(self, cell, solver, tolerance):
        record = self.load(cell, solver, tolerance)
        if record is None:
            record = Record(solver.name, tolerance, "done", self.cap)
            try:
                coefs, duals, seconds = solver.solve(cell, tolerance, self.cap, self.scratch)
                record.rounds.append(seconds)
                c = certificate.certify(cell.problem.x, cell.problem.y, cell.weights, cell.alphas, coefs, duals)
                record.primal, record.dual, record.gap = ([float(v) for v in values]
                                                          for values in (c.primal, c.dual, c.relative_gap))
            except solvers.Capped:
                record.status = "capped"
            except solvers.Failure as failure:
                record.status, record.message = "failed", str(failure)
            self.save(cell, solver, record)
        return record

    def repeat(self, cell, solver, record):
        """One more round. Answers do not change from run to run, so only the time is taken."""
        try:
            seconds = solver.solve(cell, record.tolerance, self.cap, self.scratch)[-1]
        except (solvers.Capped, solvers.Failure):
            seconds = [self.cap]  # it was below the cap before: the machine is slower now
        record.rounds.append(seconds)
        self.save(cell, solver, record)

    def start_rounds(self, cell, chosen, anew):
        """Times are compared only if they were taken in turns. So they are all taken anew where somebody is new: another
        version, another tolerance; and the runs of the search do not count."""
        file = self.folder / "cells" / cell.name / "rounds.json"
        names = sorted(f"{solver.name} {solver.version} {record.tolerance:.0e}" for solver, record in chosen)
        if anew or not file.exists() or json.loads(file.read_text()) != names:
            for solver, record in chosen:
                record.rounds = []
                self.save(cell, solver, record)
            file.write_text(json.dumps(names))


def reference(store, cell, solvers_here):
    """The best lower bound of the optimum at each strength, over all answers."""
    duals = [record.dual for solver in solvers_here for record in store.all(cell, solver) if record.status == "done"]
    return np.max(np.array(duals), axis=0) if duals else None


def search(run, worst, target, start):
    """The record of the loosest tolerance that reaches the target; None where none does within the cap.

    run(tolerance) -> Record, worst(record) -> float. Powers of ten first, from 10^-start, until one misses and the next
    reaches; then 5 and 2 times that. Assumes that a tighter tolerance is never worse.
    """
    missed = enough = None  # the tightest power that missed, the loosest that reached the target or was capped
    values, capped = {}, 0
    k = max(LOOSEST, min(TIGHTEST, start))
    while LOOSEST <= k <= TIGHTEST:
        record = run(float(f"1e{-k}"))
        if record.status == "failed":
            return None
        value = values[k] = worst(record) if record.status == "done" else math.inf
        if record.status == "capped" or value <= target:
            enough = k
            capped += record.status == "capped"
            distance = 3 if record.status == "capped" else math.floor(math.log10(target / max(value, 1e-300)))
        else:
            # A thousand times tighter for nothing: it will not come closer.
            if missed is not None and k - missed >= 3 and value > values[missed] / 2:
                return None
            missed = k
            distance = math.ceil(math.log10(value / target)) if value < math.inf else 1
        if missed is not None and enough is not None:
            if enough - missed <= 1:
                break
            k = (missed + enough) // 2
        elif enough is not None and capped > 2:  # even loose tolerances take too long
            return None
        else:
            k += max(1, min(3, distance)) * (1 if enough is None else -1)
    return None if enough is None else refine(run, worst, target, enough)


def refine(run, worst, target, k):
    """The loosest of 5, 2 and 1 times 10^-k that reaches the target; 10^-k did so, or was capped."""
    found = None
    for factor in (1, 2, 5):
        record = run(float(f"{factor}e{-k}"))
        if record.status == "done" and worst(record) <= target:
            found = record
        elif record.status != "capped":
            break
    return found
