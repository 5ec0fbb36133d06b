"""The command line and Python are one workflow: the same options give the same bits."""
import inspect
import json
import os
import subprocess
import warnings

import numpy as np
import pytest

import tyto
from tyto import _core
from support import grouped

PROGRAM = os.environ.get("TYTO_PROGRAM", "")
needs_program = pytest.mark.skipif(not PROGRAM, reason="TYTO_PROGRAM: no command line to compare with")
N, P = 60, 20
COMMON = {"standardize": True, "max_iter": 1_000_000}  # what the command line does unasked


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """X, y and weights of the rows, and the folder that they are in as files."""
    X, y, _ = grouped(N, P, size=4, seed=5, noise=1.0)
    X = np.asfortranarray(X * np.linspace(0.1, 5, P) + 1)
    y, rows = y + 3, 1.0 + np.arange(N) % 3
    folder = tmp_path_factory.mktemp("data")
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    (folder / "rows.txt").write_text("\n".join(map(repr, rows.tolist())) + "\n")
    (folder / "w.txt").write_text("\n".join(str(P - j) for j in range(P)) + "\n")
    return X, y, rows, folder


def command(folder, name, args, target="y.npy"):
    """The exit code of a command, and what it writes to --json."""
    code = subprocess.run([PROGRAM, name, "X.npy", "--target", target, "--json", "found.json", "--quiet", *args], cwd=folder).returncode
    return code, json.loads((folder / "found.json").read_text())


def dense(fit):
    coef = np.zeros(P)
    for column, value in fit["coefficients"]:
        coef[column] = value
    return coef


# Arguments of Python, flags of the command line, and whether rows have weights. Python's objective is divided by n, the command
# line's is not: ridge and absolute strengths are N times as large there.
SHAPES = [
    ({}, [], False),
    ({"weights": "bh", "q": 0.2}, ["--weights", "bh", "--q", "0.2"], False),
    ({"weights": "gaussian", "q": 0.05}, ["--weights", "gaussian", "--q", "0.05"], True),
    ({"weights": "oscar", "slope": 3.5}, ["--slope", "3.5"], False),
    ({"weights": [float(P - j) for j in range(P)]}, ["--weights", "w.txt"], False),
    ({"weights": "lasso", "ridge": 0.25}, ["--weights", "lasso", "--ridge", repr(0.25 * N)], False),
    ({"weights": "linf", "fit_intercept": False}, ["--weights", "linf", "--no-intercept"], False),
    ({"weights": "linear", "standardize": False}, ["--weights", "linear", "--no-standardize"], False),
    ({"positive": True}, ["--nonnegative"], False),
    ({"unpenalized": [1, 7]}, ["--unpenalized", "1,7"], True),
    ({"gamma": 0.0}, ["--gamma", "0"], False),
    ({"gamma": 0.3, "weights": "bh"}, ["--gamma", "0.3", "--weights", "bh"], True),
    ({"solver": "apgd", "screening": "none", "tol": 1e-9}, ["--solver", "apgd", "--screening", "none", "--tolerance", "1e-9"], False),
    ({"solver": "apgd", "screening": "strong", "n_jobs": 2}, ["--solver", "apgd", "--screening", "strong", "--threads", "1"], False),
]

FITS = [({**args, "alpha": 0.07, "relative": True}, [*flags, "--strength", "0.07"], weighted) for args, flags, weighted in SHAPES] + [
    ({"alpha": 0.125}, ["--relative-to", "absolute", "--strength", repr(0.125 * N)], False),
    ({"weights": "bh", "sigma": 0.75}, ["--weights", "bh", "--sigma", "0.75"], False),
    ({"weights": "gaussian", "sigma": "estimate", "gamma": 0.0}, ["--weights", "gaussian", "--sigma", "estimate", "--gamma", "0"], False),
    ({"solver": "apgd", "alpha": 0.01, "relative": True, "max_iter": 3}, ["--solver", "apgd", "--strength", "0.01", "--max-epochs", "3"], False),
]


def quiet(call):
    """Neither limits nor doubtful choices matter here: the other side has them, too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call()


def weighted_args(data, flags, weighted):
    return (data[2] if weighted else None), (["--observation-weights", "rows.txt"] if weighted else []) + flags


@needs_program
@pytest.mark.parametrize("args, flags, weighted", FITS)
def test_a_fit(data, args, flags, weighted):
    X, y, _, folder = data
    rows, flags = weighted_args(data, flags, weighted)
    size = N if rows is None else rows.sum()
    model = quiet(lambda: tyto.OWL(**{**COMMON, **args}).fit(X, y, rows))
    code, found = command(folder, "fit", flags)
    assert code == (0 if model.certificate_.converged else 1)
    np.testing.assert_array_equal(model.coef_, dense(found))
    assert model.coef_.any()
    assert (model.intercept_, model.alpha_) == (found["intercept"], found["alpha"] / size)
    assert (model.certificate_.primal, model.certificate_.gap) == (found["primal"] / size, found["gap"] / size)
    assert (model.certificate_.status, model.n_iter_) == (found["status"], found["epochs"] + 1)
    assert len(model.clusters_) == found["clusters"]


@needs_program
@pytest.mark.parametrize("args, flags, weighted", SHAPES)
def test_a_path(data, args, flags, weighted):
    X, y, _, folder = data
    rows, flags = weighted_args(data, flags, weighted)
    size = N if rows is None else rows.sum()
    path = quiet(lambda: tyto.owl_path(X, y, sample_weight=rows, n_alphas=12, eps=0.02, max_nonzeros=15, **{**COMMON, **args}))
    code, found = command(folder, "path", [*flags, "--steps", "12", "--ratio", "0.02", "--max-nonzeros", "15"])
    assert code == 0
    assert (len(path), path.stopped_by) == (len(found["fits"]), found["stopped_by"])
    for k, fit in enumerate(found["fits"]):
        np.testing.assert_array_equal(path.coefs[:, k], dense(fit))
        assert (path.intercepts[k], path.explained[k]) == (fit["intercept"], fit["explained"])
        assert path.alphas[k] == fit["alpha"] / size
        assert [path.criteria[name][k] for name in ("df", "aic", "bic", "cp")] == [fit[name] for name in ("df", "aic", "bic", "cp")]


@needs_program
@pytest.mark.parametrize("args, flags, weighted", SHAPES + [
    ({"weights": "bh", "q": [0.05, 0.4]}, ["--weights", "bh", "--q", "0.05,0.4"], False),
    ({"slope": [0, 2], "gamma": [0, 0.5, 1]}, ["--slope", "0,2", "--gamma", "0,0.5,1"], True),
    ({"scoring": "mae"}, ["--error", "mae"], False)])
def test_a_cross_validation(data, args, flags, weighted):
    X, y, _, folder = data
    rows, flags = weighted_args(data, flags, weighted)
    model = quiet(lambda: tyto.OWLCV(cv=4, n_alphas=8, eps=0.05, random_state=3, **{**COMMON, **args}).fit(X, y, rows))
    code, found = command(folder, "cv", [*flags, "--folds", "4", "--steps", "8", "--ratio", "0.05", "--seed", "3"])
    assert code == 0
    assert (model.best_index_, model.one_se_index_) == (found["best"]["step"], found["one_se"]["step"])
    assert (model.q_, model.slope_) == (found["best"]["q"], found["best"]["slope"])
    np.testing.assert_array_equal(model.cv_error_, [fit["error"] for fit in found["fits"]])
    np.testing.assert_array_equal(model.cv_standard_error_, [fit["standard_error"] for fit in found["fits"]])
    np.testing.assert_array_equal(model.coef_, dense(found["fits"][model.best_index_]))


@needs_program
@pytest.mark.parametrize("loss", ["huber", "poisson", "binomial", "squared-hinge"])
def test_losses(data, loss):
    X, y, _, folder = data
    classes = loss in ("binomial", "squared-hinge")
    response = np.where(y > 3, 1.0, -1.0) if classes else np.round(np.exp(y / 4)) if loss == "poisson" else y
    np.save(folder / "response.npy", response)
    one, chosen = (tyto.OWLClassifier, tyto.OWLClassifierCV) if classes else (tyto.OWL, tyto.OWLCV)
    labels = np.where(response > 0, "yes", "no") if classes else response
    args, flags = ({"huber_delta": 0.75}, ["--huber-delta", "0.75"]) if loss == "huber" else ({}, [])
    model = quiet(lambda: one(alpha=0.07, relative=True, loss=loss, **COMMON, **args).fit(X, labels))
    code, found = command(folder, "fit", ["--loss", loss, *flags, "--strength", "0.07"], "response.npy")
    assert code == 0 and model.coef_.any()
    np.testing.assert_array_equal(np.ravel(model.coef_), dense(found))
    assert (np.ravel(model.intercept_)[0], model.certificate_.gap) == (found["intercept"], found["gap"] / N)
    model = quiet(lambda: chosen(cv=4, n_alphas=8, eps=0.05, random_state=3, loss=loss, **COMMON, **args).fit(X, labels))
    code, found = command(folder, "cv", ["--loss", loss, *flags, "--folds", "4", "--steps", "8", "--ratio", "0.05", "--seed", "3"], "response.npy")
    assert code == 0 and model.best_index_ == found["best"]["step"]
    np.testing.assert_array_equal(model.cv_error_, [fit["error"] for fit in found["fits"]])
    np.testing.assert_array_equal(np.ravel(model.coef_), dense(found["fits"][model.best_index_]))


def arguments(*parts):
    return {name for part in parts for _, name, *_ in part.arguments}


def test_every_argument_of_the_table_can_be_given():
    """scikit-learn reads the arguments from the signatures, so they are written there; none is forgotten."""
    everywhere = arguments(_core.RegressionOptions, _core.FitOptions)
    assert {"ridge", "positive", "q", "tol", "max_seconds"} <= everywhere
    for function in (tyto.OWL, tyto.OWLCV, tyto.owl_path):
        assert everywhere <= set(inspect.signature(function).parameters)
    for function in (tyto.OWLClassifier, tyto.OWLClassifierCV):
        assert everywhere - {"huber_delta"} <= set(inspect.signature(function).parameters)
    assert arguments(_core.PathOptions) <= set(inspect.signature(tyto.owl_path).parameters)
