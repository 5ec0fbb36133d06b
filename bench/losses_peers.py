"""The peers of losses.py: how each is called, and the search for the loosest tolerance that reaches a gap.

Each run is in a process of its own, forked after imports and compilation, so that one that takes too long can be ended. The
limit is kept from outside: one that a process has on itself spoils its clock.
"""
import dataclasses
import importlib.util
import multiprocessing
import os
import time
import warnings

os.environ.update({name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")})

import numpy as np
import scipy.sparse
from losses_judge import dual_norm, shape, worst_gap
from losses_problems import Problem

MANY = 10**7  # iterations
LONG = 2.0  # CPU seconds of a run that is not repeated


def sortedl1(problem, kind, alphas, tolerance):
    from sortedl1 import Slope

    n, p = problem.x.shape
    loss = {"binomial": "logistic"}.get(problem.loss, problem.loss)
    size = p * (problem.classes - 1 if loss == "multinomial" else 1)
    y = problem.y if loss == "poisson" else problem.y.astype(int)
    model = Slope(lam=shape(kind, size), loss=loss, tol=tolerance, max_iter=MANY, alpha=alphas[0] / n, fit_intercept=kind != "lasso")
    if len(alphas) == 1:
        coefs = model.fit(problem.x, y).coef_
        return [(coefs.toarray() if scipy.sparse.issparse(coefs) else np.asarray(coefs)).reshape(p, -1)]
    path = model.path(problem.x, y, alphas=alphas / n, tol_dev_change=0.0, tol_dev_ratio=1.0, max_clusters=size + 1)
    return [path.coefs[:, :, k] for k in range(path.coefs.shape[2])]


def celer(problem, kind, alphas, tolerance):
    from celer import celer_path

    y = np.where(problem.y > 0, 1.0, -1.0)
    coefs = celer_path(problem.x, y, "logreg", alphas=alphas, tol=tolerance, max_iter=10**4, max_epochs=MANY, use_PN=True)[1]
    return [coefs[:, k:k + 1] for k in range(coefs.shape[1])]


def liblinear(problem, kind, alphas, tolerance):
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(penalty="l1", C=1 / alphas[0], solver="liblinear", fit_intercept=False, tol=tolerance, max_iter=MANY)
    return [model.fit(problem.x, problem.y).coef_.T]


def skglm(problem, kind, alphas, tolerance):
    from skglm import SparseLogisticRegression

    y = np.where(problem.y > 0, 1.0, -1.0)
    model = SparseLogisticRegression(tol=tolerance, max_iter=1000, max_epochs=MANY, fit_intercept=False, warm_start=True)
    coefs = []
    for alpha in alphas:
        model.alpha = alpha / len(y)
        coefs.append(model.fit(problem.x, y).coef_.reshape(-1, 1).copy())
    return coefs


def adelie(problem, kind, alphas, tolerance):
    """One column of coefficients a class; there, a group of its own for each coefficient."""
    import adelie as ad

    n, p = problem.x.shape
    if problem.loss == "multinomial":
        glm = ad.glm.multinomial(np.asfortranarray(np.eye(problem.classes)[problem.y.astype(int)]))
        groups = "ungrouped"
    else:
        glm = getattr(ad.glm, problem.loss)(problem.y)
        groups = None
    # Groups of a class must weigh 1, not the root of their size.
    classes = problem.classes if groups else 1
    scale = n * (classes if groups else 1)
    state = ad.grpnet(problem.x, glm, lmda_path=alphas / scale, tol=tolerance, irls_tol=tolerance, groups=groups, intercept=False,
                      early_exit=False, progress_bar=False, max_iters=MANY, penalty=np.ones(p * classes))
    return [np.asarray(row.todense()).reshape(p, classes) for row in state.betas]


@dataclasses.dataclass
class Peer:
    solve: object
    package: str
    losses: tuple
    kinds: tuple
    tolerances: tuple  # the loosest first
    path: bool = True
    sparse: bool = True


HALF_DECADES = tuple(float(f"{factor}e-{k}") for k in range(2, 13) for factor in (3, 1))
DECADES = tuple(10.0**-k for k in range(2, 16))
PEERS = {
    "sortedl1": Peer(sortedl1, "sortedl1", ("binomial", "poisson", "multinomial"), ("bh", "oscar", "lasso"), HALF_DECADES),
    "celer": Peer(celer, "celer", ("binomial",), ("lasso",), DECADES),
    "liblinear": Peer(liblinear, "sklearn", ("binomial",), ("lasso",), DECADES, path=False),
    "skglm": Peer(skglm, "skglm", ("binomial",), ("lasso",), DECADES),
    "adelie": Peer(adelie, "adelie", ("binomial", "poisson", "multinomial"), ("lasso",), DECADES, sparse=False),
}


def available(name):
    if importlib.util.find_spec(PEERS[name].package) is None:
        print(f"left out: {name} is not installed", flush=True)
        return False
    return True


def takes(name, problem, kind, task):
    peer = PEERS[name]
    return (problem.loss in peer.losses and kind in peer.kinds and (peer.path or task != "path")
            and (peer.sparse or not scipy.sparse.issparse(problem.x)))


@dataclasses.dataclass
class Answer:
    good: bool = False
    capped: bool = False
    tolerance: float = 0.0
    gap: float = np.inf
    seconds: float = 0.0
    why: str = ""


def timed(pipe, name, problem, kind, alphas, tolerance, repeat_seconds):
    """CPU seconds of each repetition, and the answer. Where runs are repeated, the first one does not count, if it is short: some set
    themselves up anew in each process."""
    warnings.simplefilter("ignore")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    seconds = []
    try:
        start = time.process_time()
        betas = PEERS[name].solve(problem, kind, alphas, tolerance)
        first = time.process_time() - start
        if repeat_seconds == 0 or first > LONG:
            pipe.send(([first], betas))
            return
        while not seconds or (sum(seconds) < repeat_seconds and len(seconds) < 100):
            start = time.process_time()
            betas = PEERS[name].solve(problem, kind, alphas, tolerance)
            seconds.append(time.process_time() - start)
        pipe.send((seconds, betas))
    except Exception as error:  # a peer's own failure is a result, too
        pipe.send(([0.0], f"{type(error).__name__}: {error}"[:80]))


def cpu_seconds(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0.0


def run(name, problem, kind, alphas, tolerance, cap, repeat_seconds=0.0):
    """CPU seconds of each repetition, and the coefficients or what went wrong; None for those after the cap."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=timed,
                                                           args=(theirs, name, problem, kind, alphas, tolerance, repeat_seconds))
    process.start()
    theirs.close()
    try:
        while not ours.poll(0.05):
            if cpu_seconds(process.pid) > cap:
                process.kill()
                return [cap], None
        return ours.recv()
    except EOFError:
        return [0.0], "the process ended"
    finally:
        process.join()


def strengths_of(name, problem, kind, alphas, strengths):
    """sortedl1's objective of several classes is another one."""
    if name != "sortedl1" or problem.loss != "multinomial":
        return alphas
    own = np.eye(problem.classes)[problem.y.astype(int)]
    mean = own.mean(axis=0) if kind != "lasso" else 1 / problem.classes
    return strengths * dual_norm(problem.x.T @ (own - mean)[:, :-1], kind)


WARM = set()


def warm_up(name):
    """Imports and compilation, in this process."""
    if name in WARM:
        return
    WARM.add(name)
    x, y = np.random.default_rng(0).normal(size=(20, 30)), (np.arange(20) % 2).astype(float)
    for columns in (np.asfortranarray(x), scipy.sparse.csc_matrix(x)):
        if PEERS[name].sparse or not scipy.sparse.issparse(columns):
            small = Problem("small", "binomial", columns, y, 0.1)
            PEERS[name].solve(small, "lasso", np.array([2.0]), 1e-3)
            if PEERS[name].path:
                PEERS[name].solve(small, "lasso", np.array([2.0, 1.0]), 1e-3)


def search(name, problem, kind, alphas, strengths, goal, cap):
    warm_up(name)
    alphas = strengths_of(name, problem, kind, alphas, strengths)
    answer = Answer()
    for tolerance in PEERS[name].tolerances:
        seconds, betas = run(name, problem, kind, alphas, tolerance, cap)
        answer = Answer(False, betas is None, tolerance, answer.gap, seconds[0], f"gap {answer.gap:.1e} before")
        if betas is None:
            return answer
        if isinstance(betas, str):
            answer.why = betas
            return answer
        if len(betas) < len(alphas):
            answer.why = f"{len(betas)} strengths of {len(alphas)}"
            continue
        answer.gap = worst_gap(problem, kind, kind != "lasso", alphas, betas)
        if answer.gap <= goal:
            answer.good = True
            return answer
    answer.why = f"stays at {answer.gap:.1e}"
    return answer


def again(name, problem, kind, alphas, strengths, answer):
    alphas = strengths_of(name, problem, kind, alphas, strengths)
    return run(name, problem, kind, alphas, answer.tolerance, 1e9, 0.1)[0]
