"""Who is compared, and how each is run: peers in worker processes, Tyto by its driver."""
import hashlib
import json
import math
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

import environment

HERE = pathlib.Path(__file__).resolve().parent
# A fast run is repeated inside the process until so many CPU seconds are spent, but not more often than that.
REPEAT = {"repeat_seconds": 0.1, "max_repeats": 200}


TICK = 0.25  # seconds between looks at a process
MARGIN = 10.0  # CPU seconds beyond the cap for reading the problem


class Failure(Exception):
    """The solver's own: an exception, a crash."""


class Capped(Exception):
    """Killed after the cap."""


def cpu_seconds(pid):
    """Of another process; its wall clock where the system does not say."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return time.monotonic()


def watch(process, cpu_limit, ready):
    """Waits until ready(); kills a process that uses more CPU seconds than that, or hangs for much longer. The limit is kept
    from outside, as one that the process has on itself spoils its clock (worker.py)."""
    start_cpu, start = cpu_seconds(process.pid), time.monotonic()
    while not ready():
        if cpu_seconds(process.pid) - start_cpu > cpu_limit or time.monotonic() - start > 10 * cpu_limit + 120:
            process.kill()
            return


def wait(process, seconds):
    try:
        process.wait(seconds)
        return True
    except subprocess.TimeoutExpired:
        return False


def check_cap(seconds, cap):
    if seconds[0] > cap:
        raise Capped


class Peer:
    """A solver of the table below in a process that lives from run to run, so that imports and compilation are not timed."""

    def __init__(self, name, package, kinds, first_rung):
        self.name, self.package, self.kinds, self.first_rung = name, package, kinds, first_rung
        self.process = None

    @property
    def version(self):
        return environment.versions().get(self.package)

    def available(self):
        return self.version is not None

    def start(self):
        command = [sys.executable, str(HERE / "worker.py"), self.name]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.reply(600)

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def reply(self, cpu_limit):
        watch(self.process, cpu_limit, lambda: select.select([self.process.stdout], [], [], TICK)[0])
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        code = self.process.wait()
        self.process = None
        raise Capped if code == -signal.SIGKILL else Failure(f"the process ended with code {code}")

    def solve(self, cell, tolerance, cap, scratch):
        """Coefficients p x m, dual points n x m or None, CPU seconds of each repetition."""
        if self.process is None:
            self.start()
        out, duals = scratch / f"{self.name}.npy", scratch / f"{self.name}.dual.npy"
        task = {"x": str(cell.problem.x_file), "y": str(cell.problem.y_file), "w": str(cell.weights_file),
                "alphas": list(cell.alphas), "tolerance": tolerance, "coefficients": str(out), "duals": str(duals),
                **REPEAT}
        self.process.stdin.write(json.dumps(task) + "\n")
        self.process.stdin.flush()
        reply = self.reply(cap + MARGIN)
        if "error" in reply:
            raise Failure(reply["error"])
        check_cap(reply["seconds"], cap)
        coefs = np.load(out)
        if coefs.shape != (cell.problem.p, len(cell.alphas)):
            raise Failure(f"an answer of shape {coefs.shape}")
        return coefs, np.load(duals) if reply["duals"] else None, reply["seconds"]


class Tyto:
    """The library behind a driver program that times itself. Its tolerance is the target: no search."""

    def __init__(self, driver, solver="auto", screening="safe"):
        self.driver, self.solver, self.screening = pathlib.Path(driver), solver, screening
        self.name = "tyto"
        self.kinds = ("oscar", "bh", "lasso")
        digest = hashlib.sha256(self.driver.read_bytes()).hexdigest()[:8]
        self.version = f"{solver}-{screening}-{digest}"

    def available(self):
        return True

    def stop(self):
        pass

    def run(self, files, options, cap):
        command = [str(self.driver)] + [str(file) for file in files] + ["--solver", self.solver, "--screening", self.screening]
        for name, value in options.items():
            command += ["--" + name.replace("_", "-"), str(value)]
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen(command, stdout=out, stderr=errors)
            watch(process, cap + MARGIN, lambda: wait(process, TICK))
            out.seek(0)
            errors.seek(0)
            code = process.wait()
            if code == -signal.SIGKILL:
                raise Capped
            if code != 0:
                raise Failure(errors.read().strip() or f"code {code}")
            answer = json.loads(out.read())
        check_cap(answer["seconds"], cap)
        return answer

    def solve(self, cell, tolerance, cap, scratch):
        out = scratch / "tyto.npy"
        options = {"target": cell.problem.y_file, "weights": cell.kind, "strengths": ",".join(map(repr, map(float, cell.strengths))),
                   "tolerance": tolerance, "coefficients": out, **REPEAT}
        answer = self.run([cell.problem.x_file], options, cap)
        if len(answer["alphas"]) != len(cell.alphas) or not np.allclose(answer["alphas"], cell.alphas, rtol=1e-11, atol=0):
            raise Failure("the driver's strengths are not the ones asked for")
        return np.load(out), None, answer["seconds"]


def rung(tolerance):
    return math.floor(-math.log10(tolerance))


# Where to start looking for the loosest tolerance that reaches a target: the peers stop on criteria of their own.
# `share` is the smallest objective on the path over 1/2 ||y||^2. A tolerance is 10^-rung.
def own_relative_gap(target, cell, share):
    return rung(target)


def gap_of_null_model(target, cell, share):
    return rung(target * share / 2)


def subgradient(target, cell, share):
    return rung(target * min(cell.alphas) / cell.problem.n)


def fixed_point(target, cell, share):
    return rung(target * min(cell.alphas) / (cell.problem.n * cell.problem.lipschitz) * 100)


def peers():
    return [
        Peer("sortedl1", "sortedl1", ("oscar", "bh"), own_relative_gap),
        Peer("skglm-slope", "skglm", ("oscar", "bh"), fixed_point),
        Peer("celer", "celer", ("lasso",), gap_of_null_model),
        Peer("sklearn", "scikit-learn", ("lasso",), gap_of_null_model),
        Peer("skglm-lasso", "skglm", ("lasso",), subgradient),
    ]
