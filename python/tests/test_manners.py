"""Threads, processes, Ctrl-C, progress."""
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import tyto
from tyto import OWL, OWLCV
from support import grouped


@pytest.fixture(autouse=True)
def listen():
    """A shell's background job is started deaf to Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


LONG = dict(weights="oscar", alpha=1e-4, relative=True, solver="apgd", screening="none", tol=1e-13, max_seconds=60)


def interrupted_after(seconds, call):
    """How long `call` goes on after Ctrl-C."""
    sent = []

    def send():
        time.sleep(seconds)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=send)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        call()
    late = time.perf_counter() - sent[0]
    thread.join()
    return late


@pytest.mark.parametrize("call", [
    lambda X, y: OWL(**LONG).fit(X, y),
    lambda X, y: tyto.owl_path(X, y, solver="apgd", screening="none", tol=1e-13, max_seconds=60),
    lambda X, y: OWLCV(solver="apgd", screening="none", tol=1e-13, max_seconds=60, n_jobs=2).fit(X, y),
    lambda X, y: OWL("linf", alpha=0.05, relative=True, tol=1e-9, max_seconds=60).fit(X, y),  # its epochs are long
])
def test_ctrl_c(call):
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(800, 20))
    X = np.asfortranarray(factors @ rng.normal(size=(20, 8000)) + rng.normal(size=(800, 8000)))
    y = X[:, :50].sum(axis=1) + rng.normal(size=800)
    assert interrupted_after(0.3, lambda: call(X, y)) < 1


def test_after_ctrl_c_the_estimator_is_as_it_was():
    X, y, _ = grouped(50, 5)
    model = OWL(alpha=0.1).fit(X, y)
    before = model.predict(X)
    model.set_params(**LONG)
    wide = np.asfortranarray(np.random.default_rng(0).normal(size=(500, 3000)) + 1)
    interrupted_after(0.2, lambda: model.fit(wide, wide[:, :400].sum(axis=1)))
    np.testing.assert_array_equal(model.predict(X), before)
    assert model.set_params(alpha=0.1, relative=False, solver="auto", tol=1e-6).fit(X, y).n_features_in_ == 5


LEFT = """
import atexit, os, signal, sys, threading, time
import numpy as np

def report():  # comes after what tyto does at the end
    time.sleep(0.02)
    print("goes on:", len(os.listdir("/proc/self/task")) > threads, flush=True)

if sys.argv[1] != "raise":
    atexit.register(report)
from tyto import OWL
atexit.register(print, "ending", flush=True)
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
X = np.asfortranarray(rng.normal(size=(1000, 20)) @ rng.normal(size=(20, 10000)) + rng.normal(size=(1000, 10000)))
y = X[:, :300] @ rng.normal(size=300)
threads = len(os.listdir("/proc/self/task"))
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    OWL("linf", alpha=0.05, relative=True, tol=1e-9).fit(X, y)
except KeyboardInterrupt:
    del X, y
    print("stopped", flush=True)
    if sys.argv[1] in ("raise", "prompt"):
        raise
if sys.argv[1] == "fork":
    child = os.fork()
    if child == 0:
        atexit.unregister(report)
        sys.exit(7)
    print("child:", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.mark.parametrize("ending, said, code", [
    ("raise", "ending\n", -signal.SIGINT), ("exit", "ending\ngoes on: False\n", 0), ("prompt", "ending\ngoes on: False\n", 0),
    ("fork", "ending\nchild: 7\nending\ngoes on: False\n", 0),
])
def test_python_ends_well_after_ctrl_c(ending, said, code):
    prompt = ["-i"] if ending == "prompt" else []
    done = subprocess.run([sys.executable, *prompt, "-c", LEFT, ending], input="exit()\n", capture_output=True, text=True, timeout=60)
    assert done.stdout == "stopped\n" + said
    assert done.returncode == code, done.stderr


LEFT_FOR_LONG = """
import atexit, os, signal, threading
import numpy as np
import tyto
atexit.register(print, "ending", flush=True)
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 600))
threading.Timer(1.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:  # quick to fit, as the alphas are equal; then come 500 traces of large inverses
    tyto.owl_path(X, X @ rng.normal(size=600), weights="lasso", ridge=0.1, alphas=[1e-3] * 500)
except KeyboardInterrupt:
    pass
"""


def test_ctrl_c_while_python_waits_at_its_end():
    process = subprocess.Popen([sys.executable, "-c", LEFT_FOR_LONG], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ending\n"
    time.sleep(0.3)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=5)
    assert process.returncode == -signal.SIGINT


def fitted(seed):
    X, y, _ = grouped(60, 80, seed=seed)
    return OWL(["oscar", "bh", "lasso", "linf"][seed % 4], alpha=0.05, relative=True).fit(X, y).coef_


def test_threads_get_the_same_bits():
    serial = [fitted(seed) for seed in range(20)]
    found = [None] * 8

    def work(k):
        found[k] = [fitted(seed) for seed in range(20)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for answers in found:
        for answer, want in zip(answers, serial):
            np.testing.assert_array_equal(answer, want)


def test_the_gil_is_released():
    """A thread that only counts goes on while a fit runs."""
    X = np.asfortranarray(np.random.default_rng(0).normal(size=(500, 3000)) + 1)
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    with pytest.warns(Warning):
        OWL(**{**LONG, "max_seconds": 0.5}).fit(X, X[:, :400].sum(axis=1))
    stop.set()
    thread.join()
    assert counted[0] > 50


def test_fork():
    """A child made by fork while other threads fit can fit, too."""
    want, stop = fitted(1), threading.Event()

    def work():
        while not stop.is_set():
            fitted(0)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    context = multiprocessing.get_context("fork")
    try:
        for _ in range(5):
            with context.Pool(2) as pool:
                for answer in pool.map_async(fitted, [1, 1]).get(timeout=20):
                    np.testing.assert_array_equal(answer, want)
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_same_bits_for_any_number_of_threads():
    X = np.asfortranarray(np.random.default_rng(0).normal(size=(600, 2000)))
    y = X[:, :20].sum(axis=1)
    one, two = (OWL("bh", alpha=0.1, relative=True, n_jobs=n).fit(X, y).coef_ for n in (None, -1))
    np.testing.assert_array_equal(one, two)


def test_progress(capsys):
    pytest.importorskip("tqdm")
    X = np.asfortranarray(np.random.default_rng(0).normal(size=(500, 3000)) + 1)
    with pytest.warns(Warning):
        OWL(**{**LONG, "max_seconds": 0.5}, verbose=True).fit(X, X[:, :400].sum(axis=1))
    assert "digits of the gap" in capsys.readouterr().err
    with pytest.warns(Warning):
        tyto.owl_path(X, X[:, :400].sum(axis=1), verbose=True, solver="apgd", tol=1e-12, max_seconds=0.5)
    assert "alpha" in capsys.readouterr().err


def test_an_error_in_progress_stops_the_fit():
    X = np.asfortranarray(np.random.default_rng(0).normal(size=(500, 3000)) + 1)
    options, words = tyto._core.FitOptions(), tyto._core.RegressionOptions()
    options.tolerance, options.solver, options.screening = 1e-13, "apgd", "none"
    words.strength = 1e-4

    def progress(done, total, gap):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        tyto._core.fit(tyto._core.Design.dense(X), X[:, :400].sum(axis=1), words, options, tyto._core.EstimateOptions(), None, progress)
