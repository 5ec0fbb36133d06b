"""tyto.dask on a cluster of real processes, which is started here."""
from __future__ import annotations

import os
import pathlib
import re
import signal
import threading
import time

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from scipy import sparse

import tyto
import tyto.dask
from problem import TOL, bits, check_other_path, check_path, other_table, sparse_table, table

OPTIONS = dict(weights="bh", standardize=True)


@pytest.fixture(scope="module")
def client():
    # 15 seconds after a worker was lost the cluster ends its place for good, if the one after it was killed just then.
    patient = dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"})
    size = dict(n_workers=2, threads_per_worker=1, memory_limit="2GiB")
    with patient, LocalCluster(**size, processes=True, dashboard_address=None) as cluster, Client(cluster) as one:
        yield one


def arrays(x, y, rows=5000):
    return da.from_array(x, chunks=(rows, -1)), da.from_array(y, chunks=rows)


@pytest.fixture(scope="module")
def quiet(client):
    x, y = table()
    return x, y, tyto.dask.owl_path(*arrays(x, y), n_alphas=20, tol=TOL, **OPTIONS)


def test_path_of_an_array(quiet):
    x, y, path = quiet
    check_path(path, x, y, **OPTIONS)


def test_every_kind_of_blocks_has_the_same_bits(client, quiet):
    x, y, path = quiet
    blocks = [dask.delayed(x[k:k + 5000]) for k in range(0, len(x), 5000)]
    responses = [dask.delayed(y[k:k + 5000]) for k in range(0, len(x), 5000)]
    assert bits(tyto.dask.owl_path(blocks, responses, n_alphas=20, tol=TOL, **OPTIONS)) == bits(path)
    csr = [dask.delayed(sparse.csr_matrix(x[k:k + 5000])) for k in range(0, len(x), 5000)]
    assert bits(tyto.dask.owl_path(csr, responses, n_alphas=20, tol=TOL, **OPTIONS)) == bits(path)
    with dask.config.set(scheduler="synchronous"):
        assert bits(tyto.dask.owl_path(*arrays(x, y), n_alphas=20, tol=TOL, **OPTIONS)) == bits(path)
    two = da.from_array(x, chunks=(5000, 11)), da.from_array(y, chunks=7000)
    assert bits(tyto.dask.owl_path(*two, n_alphas=20, tol=TOL, **OPTIONS)) == bits(path)


def test_frame(client):
    x, y = table(6000, 8)
    frame = pd.DataFrame(x, columns=[f"f{j}" for j in range(8)]).assign(y=y, w=1.0)
    lazy = dd.from_pandas(frame, npartitions=3)
    model = tyto.dask.OWL(weights="oscar", alpha=0.1, relative=True, tol=TOL, standardize=True)
    model.fit(lazy.drop(columns=["y", "w"]), lazy["y"], lazy["w"])
    assert list(model.feature_names_in_) == [f"f{j}" for j in range(8)] and model.passes_ == 2
    memory = tyto.OWL(weights="oscar", alpha=0.1, relative=True, tol=TOL, standardize=True).fit(frame.drop(columns=["y", "w"]), y)
    np.testing.assert_allclose(model.coef_, memory.coef_, atol=1e-6)
    predicted = model.predict(lazy.drop(columns=["y", "w"]))
    assert hasattr(predicted, "compute")
    np.testing.assert_allclose(predicted.compute(), memory.predict(frame.drop(columns=["y", "w"])), atol=1e-5)


def test_fit_predict_and_verify(client):
    x, y = table(20_000, 12)
    X, Y = arrays(x, y, 3000)
    weights = np.random.default_rng(3).uniform(0, 2, len(y))
    W = da.from_array(weights, chunks=3000)
    model = tyto.dask.OWL(weights="oscar", alpha=0.05, relative=True, tol=TOL, unpenalized=[3], ridge=0.01).fit(X, Y, W)
    assert model.passes_ == 2 and model.certificate_.converged
    found = tyto.dask.verify(model, X, Y, W)
    assert found, found.reason
    memory = tyto.verify(model, x, y, weights)
    assert memory, memory.reason
    assert abs(found.gap - memory.gap) <= 1e-15 * memory.primal + 1e-3 * abs(memory.gap)
    lazy = model.predict(X)
    assert isinstance(lazy, da.Array) and lazy.shape == (20_000,)
    np.testing.assert_array_equal(lazy.compute(), np.concatenate([model.predict(x[k:k + 3000]) for k in range(0, 20_000, 3000)]))
    model.coef_ = model.coef_ + 1e-3
    assert not tyto.dask.verify(model, X, Y, W)


def test_cross_validation_is_that_in_memory(client):
    x, y = table(20_000, 15)
    X, Y = arrays(x, y, 4000)
    folds = np.random.default_rng(2).integers(0, 10, len(y))
    ours = tyto.dask.OWLCV(weights="bh", cv=10, n_alphas=30, tol=1e-12, standardize=True)
    ours.fit(X, Y, folds=da.from_array(folds, chunks=4000))
    pairs = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(10)]
    memory = tyto.OWLCV(weights="bh", cv=pairs, n_alphas=30, tol=1e-12, standardize=True).fit(x, y)
    assert ours.path_.passes == 2
    assert ours.best_index_ == memory.best_index_ and ours.one_se_index_ == memory.one_se_index_
    np.testing.assert_allclose(ours.cv_error_, memory.cv_error_, rtol=1e-7)
    drawn = tyto.dask.OWLCV(weights="bh", cv=5, n_alphas=10).fit(X, Y)
    assert drawn.cv_errors_.shape == (10, 5)


def test_bytes_stay_those_of_columns(client, quiet):
    """What a pass brings to the driver does not grow with the rows."""
    from tyto import _passes
    x, y, _ = quiet
    sizes = []
    for rows in (10_000, 40_000):
        backend = tyto.dask.Blocks(*arrays(x[:rows], y[:rows]))
        sizes.append(len(backend.total(_passes.MomentsOf(()), _passes.merge_moments)))
    assert sizes[0] == sizes[1] <= 1.1 * (4 * 31**2 + 16 * 31) + 400


def test_data_that_changes_between_passes_is_an_error(client, tmp_path):
    x, y = table(4000, 5)
    counter = tmp_path / "calls"

    def changing(k):
        with open(counter, "a") as file:
            file.write("x")
        calls = len(counter.read_text())
        return y[k:k + 1000] + (1e-6 if calls > 4 else 0)

    Y = [dask.delayed(changing)(k) for k in range(0, 4000, 1000)]
    X = [dask.delayed(x[k:k + 1000]) for k in range(0, 4000, 1000)]
    with pytest.raises(ValueError, match="changed between two passes; persist it"):
        tyto.dask.owl_path(X, Y, n_alphas=5)


def test_bad_input_names_its_partition(client):
    x, y = table(4000, 5)
    x[2500, 3] = np.nan
    with pytest.raises(ValueError, match="partition 2: column 3: want finite numbers"):
        tyto.dask.owl_path(*arrays(x, y, 1000), n_alphas=5)
    with pytest.raises(TypeError, match="X: want a dask array or frame, or a list of delayed blocks, got ndarray"):
        tyto.dask.owl_path(x, y)
    with pytest.raises(ValueError, match="loss: want gaussian, binomial, poisson where rows are read in passes, got huber"):
        tyto.dask.OWL(loss="huber").fit(*arrays(np.nan_to_num(x), y, 1000))
    with pytest.raises(ValueError, match="response: .*want a count >= 0, got -"):
        tyto.dask.OWL(loss="poisson").fit(*arrays(np.nan_to_num(x), y - 1e4, 1000))


@pytest.mark.parametrize("loss", ["binomial", "poisson"])
def test_other_losses_by_gradients(client, loss, tmp_path):
    x, y = other_table(loss)
    path = tyto.dask.owl_path(*arrays(x, y, 3000), n_alphas=20, eps=0.02, tol=1e-9, loss=loss, checkpoint=tmp_path, **OPTIONS)
    check_other_path(path, x, y, 1e-9, loss=loss, **OPTIONS)
    assert path.passes <= 12 and not list(tmp_path.iterdir())


def test_wide_sparse_rows_by_working_sets(client):
    x, y = sparse_table()
    X = [dask.delayed(x[k:k + 5000]) for k in range(0, x.shape[0], 5000)]
    Y = [dask.delayed(y[k:k + 5000]) for k in range(0, x.shape[0], 5000)]
    path = tyto.dask.owl_path(X, Y, n_alphas=40, eps=0.1, tol=TOL, **OPTIONS)
    check_other_path(path, x.tocsc(), y, TOL, **OPTIONS)
    assert path.passes <= 12


def test_a_driver_that_dies_goes_on_from_its_last_pass(client, tmp_path, monkeypatch):
    from tyto import _passes
    x, y = other_table("poisson", 6000, 8)
    options = dict(n_alphas=8, tol=1e-9, loss="poisson", checkpoint=tmp_path, **OPTIONS)
    quiet = tyto.dask.owl_path(*arrays(x, y, 1500), **options)
    whole, made = tyto.dask.Blocks.total, []

    def dying(self, task, merge):
        if len(made) == 3:
            raise KeyboardInterrupt
        made.append(task)
        return whole(self, task, merge)

    monkeypatch.setattr(tyto.dask.Blocks, "total", dying)
    with pytest.raises(KeyboardInterrupt):
        tyto.dask.owl_path(*arrays(x, y, 1500), **options)
    assert len(list(tmp_path.glob("*.pass"))) == 3
    again = []
    monkeypatch.setattr(tyto.dask.Blocks, "total", lambda self, task, merge: (again.append(task), whole(self, task, merge))[1])
    found = tyto.dask.owl_path(*arrays(x, y, 1500), **options)
    assert bits(found) == bits(quiet) and len(again) == quiet.passes - 3
    assert not list(tmp_path.iterdir())


def test_empty_partitions_and_partitions_of_one_row(client):
    x, y = table(3000, 5)
    cuts = [0, 0, 1, 1000, 1000, 3000]
    X = [dask.delayed(x[a:b]) for a, b in zip(cuts, cuts[1:])]
    Y = [dask.delayed(y[a:b]) for a, b in zip(cuts, cuts[1:])]
    path = tyto.dask.owl_path(X, Y, n_alphas=10, tol=TOL, **OPTIONS)
    check_path(path, x, y, **OPTIONS)


def slow(block, seconds):
    time.sleep(seconds)
    return block


def killed_while_it_runs(client, x, y, everyone, seed, waits=(0.6, 1.6), **options):
    """A path during which workers are killed (SIGKILL), in each of its passes."""
    rng = np.random.default_rng(seed)
    X = [dask.delayed(slow)(x[k:k + 5000], 0.25) for k in range(0, len(x), 5000)]
    Y = [dask.delayed(y[k:k + 5000]) for k in range(0, len(x), 5000)]
    killed = []
    done = threading.Event()

    def kill():
        for wait in waits:
            if done.wait(wait + 0.4 * rng.random()):
                return
            pids = list(client.run(os.getpid).values())
            for pid in pids if everyone else pids[:1]:
                killed.append(pid)
                os.kill(pid, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        return tyto.dask.owl_path(X, Y, **{**dict(n_alphas=20, tol=TOL), **OPTIONS, **options}), killed
    finally:
        done.set()
        thread.join()
        client.wait_for_workers(2, timeout=180)  # on a machine that does much else they take long to start


@pytest.mark.parametrize("seed", range(int(os.environ.get("TYTO_KILLS", "1"))))
@pytest.mark.parametrize("everyone", [False, True])
def test_killed_workers_do_not_change_a_bit(client, quiet, everyone, seed):
    x, y, path = quiet
    found, killed = killed_while_it_runs(client, x, y, everyone, seed)
    assert killed
    assert bits(found) == bits(path)


@pytest.mark.parametrize("seed", range(int(os.environ.get("TYTO_KILLS", "1"))))
def test_killed_workers_do_not_change_a_bit_of_gradients(client, seed):
    x, y = other_table("poisson", 10_000, 8)
    options = dict(n_alphas=4, eps=0.2, tol=1e-8, loss="poisson")
    path = tyto.dask.owl_path(*arrays(x, y), **options, **OPTIONS)
    found, killed = killed_while_it_runs(client, x, y, False, seed, (0.2, 0.7, 0.7, 0.7), **options)
    assert killed and bits(found) == bits(path)


def test_no_workers_is_an_error(monkeypatch):
    x, y = table(2000, 5)
    monkeypatch.setattr(tyto.dask, "SECONDS_WITHOUT_WORKERS", 3.0)
    with LocalCluster(n_workers=0, processes=True, dashboard_address=None) as cluster, Client(cluster) as alone:
        with pytest.raises(RuntimeError, match="no workers for 3 seconds"):
            tyto.dask.owl_path(*arrays(x, y, 500), n_alphas=3, client=alone)


def test_the_example_of_the_page():
    page = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "scale.md").read_text()
    code = re.search(r"```py\n(import dask.*?)```", page, re.DOTALL).group(1)
    names = {}
    exec(code, names)
    try:
        assert names["path"].passes == 2 and max(c.relative_gap for c in names["path"].certificates) < 1e-10
        assert names["verify"](names["model"], names["X"], names["y"])
    finally:
        names["client"].close()
