"""What users of scikit-learn expect to be there: reports, files, summaries, short reprs, types that a checker understands, LassoCV's words."""
import importlib.util
import json
import os
import pickle
import re
import subprocess
import sys
import typing

import numpy as np
import pytest
import tyto
from tyto import OWL, OWLCV, OWLClassifier, OWLClassifierCV, _core, _types
from sklearn.linear_model import LassoCV

rng = np.random.default_rng(3)
X = rng.standard_normal((60, 12))
X[:, 1] = X[:, 0] + 0.05 * rng.standard_normal(60)
Y = X[:, :4] @ [2.0, 2.0, -1.0, 0.5] + 0.3 * rng.standard_normal(60)
LABELS = np.where(Y > 0, "high", "low")
PROGRAM = os.environ.get("TYTO_PROGRAM")


def page_data(path):
    return json.loads(re.search(r'id="data">(.*?)</script>', path.read_text(), re.S).group(1))


def report_or_skip(model, path, *data, **more):
    try:
        model.report(path, *data, **more)
    except ValueError as error:
        if "built with the program" in str(error):
            pytest.skip(str(error))
        raise


@pytest.mark.parametrize("model", [OWL(weights="bh", alpha=0.1, standardize=True), OWLCV(n_alphas=20, cv=4)])
def test_report(model, tmp_path):
    frame = pytest.importorskip("pandas").DataFrame(X, columns=[f"gene{j}" for j in range(12)])
    model.fit(frame, Y)
    report_or_skip(model, tmp_path / "r.html")
    found = page_data(tmp_path / "r.html")
    assert (found["n"], found["p"]) == X.shape
    assert "gene0" in found["features"]["names"]
    step = model.chosen_index_ if isinstance(model, OWLCV) else 0
    assert found["fits"][step]["alpha"] == pytest.approx(model.alpha_ * len(Y))
    assert found["fits"][step]["nonzeros"] == np.count_nonzero(model.coef_)
    if isinstance(model, OWLCV):
        assert found["errors"]["mean"] == pytest.approx(model.cv_error_)


def test_report_of_classes(tmp_path):
    model = OWLClassifier(alpha=0.05).fit(X, LABELS)
    report_or_skip(model, tmp_path / "r.html")
    assert page_data(tmp_path / "r.html")["loss"] == "binomial"


def test_report_wants_data_that_is_gone(tmp_path):
    model = OWL(alpha=0.1).fit(X.copy(), Y)
    with pytest.raises(ValueError, match="want X and y again"):
        model.report(tmp_path / "r.html")
    with pytest.raises(ValueError, match="want X and y again"):
        pickle.loads(pickle.dumps(OWL(alpha=0.1).fit(X, Y))).report(tmp_path / "r.html")
    report_or_skip(model, tmp_path / "r.html", X, Y)


@pytest.mark.parametrize("model", [OWL(weights="bh", alpha=0.1, standardize=True), OWL(alpha=0.1, gamma=0.5), OWL(alpha=0.1, loss="huber"),
                                   OWL(weights=np.linspace(2, 1, 11), alpha=0.1, unpenalized=[3]), OWLCV(n_alphas=15, cv=3),
                                   OWLClassifier(alpha=0.05), OWLClassifierCV(n_alphas=10, cv=3)])
def test_files(model, tmp_path):
    model.fit(X, LABELS if "Classifier" in type(model).__name__ else Y)
    model.save(tmp_path / "m.json")
    other = tyto.load(tmp_path / "m.json")
    np.testing.assert_array_equal(other.coef_, model.coef_)
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    assert other.alpha_ == pytest.approx(model.alpha_)
    assert other.certificate_.gap == pytest.approx(model.certificate_.gap)
    assert [c.tolist() for c in other.clusters_] == [c.tolist() for c in model.clusters_]
    again = tmp_path / "again.json"
    other.save(again)
    assert json.loads(again.read_text())["coefficients"] == json.loads((tmp_path / "m.json").read_text())["coefficients"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["again.json", "m.json"]  # nothing is left behind


@pytest.mark.skipif(not PROGRAM, reason="no TYTO_PROGRAM")
def test_files_and_the_program(tmp_path):
    model = OWL(weights="bh", alpha=0.1, relative=True, standardize=True).fit(X, Y)
    model.save(tmp_path / "m.json")
    np.savetxt(tmp_path / "d.csv", np.column_stack([X, Y]), delimiter=",")
    run = lambda *args: subprocess.run([PROGRAM, *args], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert "the certificate holds" in run("verify", "m.json", "d.csv")
    predicted = np.array(run("predict", "m.json", "d.csv", "--quiet").split()[1:], dtype=float)
    np.testing.assert_allclose(predicted, model.predict(X), rtol=1e-12)
    run("cv", "d.csv", "--steps", "20", "--model", "cv.json")
    best = json.loads((tmp_path / "cv.json").read_text())["best"]
    loaded = tyto.load(tmp_path / "cv.json")
    assert np.count_nonzero(loaded.coef_) == best["nonzeros"]
    predicted = np.array(run("predict", "cv.json", "d.csv", "--quiet").split()[1:], dtype=float)
    np.testing.assert_allclose(loaded.predict(X), predicted, rtol=1e-12)
    run("path", "d.csv", "--steps", "5", "--model", "path.json")
    with pytest.raises(ValueError, match="step: want a number from 0 to 4"):
        tyto.load(tmp_path / "path.json")
    assert np.count_nonzero(tyto.load(tmp_path / "path.json", step=0).coef_) == 0


@pytest.mark.parametrize("text, message", [("{", "expected a tyto model"), ("[]", "expected format"), ('{"format": "x"}', "expected format"),
                                           ('{"format": "tyto-model-1"}', "damaged model")])
def test_damaged_files(text, message, tmp_path):
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(ValueError, match=message):
        tyto.load(tmp_path / "m.json")


def test_summary_and_frame():
    model = OWL(weights="bh", alpha=0.1, standardize=True).fit(X, Y)
    text = model.summary()
    count = np.count_nonzero(model.coef_)
    assert "60 rows x 12 features" in text and f"{count} of 12 coefficients are not zero" in text and "converged" in text
    assert len(model.summary(most=2).splitlines()) < len(text.splitlines())
    frame = model.coefficients()
    assert list(frame.columns) == ["column", "name", "coefficient", "cluster"] and len(frame) == count
    np.testing.assert_array_equal(model.coef_[frame["column"]], frame["coefficient"])
    assert frame["cluster"].is_monotonic_increasing
    assert "over 4 folds" in OWLCV(n_alphas=10, cv=4).fit(X, Y).summary()


def test_reprs_are_short():
    model = OWLCV(n_alphas=10, cv=4).fit(X, Y)
    for thing in (model, model.path_, model.certificate_, *model.cluster_table(X)):
        assert len(repr(thing)) < 160 and "\n" not in repr(thing), repr(thing)
    assert repr(OWL(weights="bh")) == "OWL(weights='bh')"


def test_plot_is_there():
    code = "import tyto, sys; assert tyto.plot.path; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_words_of_lasso_cv():
    ours = OWLCV(weights="lasso", n_alphas=20, cv=4).fit(X, Y)
    theirs = LassoCV(cv=4).fit(X, Y)
    for name in ("alpha_", "alphas_", "mse_path_", "coef_", "intercept_", "dual_gap_", "n_iter_", "n_features_in_"):
        assert np.ndim(getattr(ours, name)) == np.ndim(getattr(theirs, name)), name
    assert ours.mse_path_.shape == (20, 4) and np.all(np.diff(ours.alphas_) < 0)
    assert ours.alpha_ == ours.alphas_[np.argmin(np.average(ours.mse_path_, axis=1))]
    with pytest.raises(AttributeError, match="mse_path_"):
        OWLCV(scoring="mae", n_alphas=5, cv=3).fit(X, Y).mse_path_


def test_types_are_those_of_the_tables():
    words = lambda kind: set(typing.get_args(kind))
    for kind, option in ((_types.Solver, "solver"), (_types.Screening, "screening"), (_types.WeightName, "weights")):
        bad = OWL(**{option: "nonsense"})
        with pytest.raises(ValueError) as refused:
            bad.fit(X, Y)
        known = str(refused.value).split("known: ")[1].split(";")[0]
        assert set(known.split(", ")) == words(kind), option
    assert words(_types.Loss) == set(_core.losses(False)) and words(_types.ClassLoss) == set(_core.losses(True))
    assert words(_types.AnyLoss) == words(_types.Loss) | words(_types.ClassLoss)


CHECKED = '''
import numpy as np
from tyto import OWL, OWLCV, OWLClassifier, owl_path
OWL(weights="bh", solver="newton").fit([[1.0]], [1.0])
OWL(weights=np.ones(3)), OWL(weights=[2.0, 1.0]), OWL(sigma="estimate")
OWLCV(choose="one-se", loss="poisson"), OWLClassifier(loss="squared-hinge")
OWL(solver="lbfgs")  # wrong
OWL(weights="bhh")  # wrong
OWLCV(screening="fast")  # wrong
OWLClassifier(loss="gaussian")  # wrong
owl_path([[1.0]], [1.0], solver="saga")  # wrong
'''


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="no mypy")
def test_a_type_checker_sees_wrong_words(tmp_path):
    (tmp_path / "calls.py").write_text(CHECKED)
    done = subprocess.run([sys.executable, "-m", "mypy", "--ignore-missing-imports", "--follow-imports=silent", "--cache-dir",
                           str(tmp_path / "cache"), "calls.py"], cwd=tmp_path, capture_output=True, text=True)
    found = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    wrong = {k for k, line in enumerate(CHECKED.splitlines(), 1) if line.endswith("# wrong")}
    assert found == wrong, done.stdout + done.stderr
