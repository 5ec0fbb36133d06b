"""Files as the library holds them: the models of arrays, and errors in words."""
import copy
import gzip
import os
import pickle
import re
import threading
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import KFold

import tyto
from tyto import OWL, OWLCV, OWLClassifier, OWLClassifierCV

N, P = 60, 12
SETTINGS = dict(weights="bh", alpha=0.05, tol=1e-10)


def problem(seed=3):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(N, P)) * (rng.random((N, P)) < 0.4)
    return X.astype(float), X[:, :4].sum(axis=1) + 0.3 * rng.normal(size=N)


def table(path, X, y, names=None):
    names = names or [f"g{j}" for j in range(X.shape[1])]
    rows = [",".join([*map(repr, map(float, row)), str(value)]) for row, value in zip(X, y)]
    path.write_text("\n".join([",".join([*names, "y"]), *rows]) + "\n")
    return path


def written(folder, X, y):
    """The same data in every format of the library: what to call, and whether there are names."""
    np.save(folder / "x.npy", np.asfortranarray(X))
    np.save(folder / "y.npy", y)
    np.save(folder / "both.npy", np.column_stack([X, y]))
    np.save(folder / "single.npy", X.astype(np.float32))
    table(folder / "d.csv", X, y)
    with gzip.open(folder / "d.csv.gz", "wb") as file:
        file.write((folder / "d.csv").read_bytes())
    rows = [" ".join([repr(float(value)), *(f"{j + 1}:{row[j]!r}" for j in np.flatnonzero(row))]) for row, value in zip(X.tolist(), y)
            for row in [np.array(row)]]
    (folder / "d.svm").write_text("\n".join(row.replace("np.float64(", "").replace(")", "") for row in rows) + "\n")
    entries = sparse.coo_matrix(X)
    lines = [f"{i + 1} {j + 1} {float(v)!r}" for i, j, v in zip(entries.row, entries.col, entries.data)]
    (folder / "x.mtx").write_text("\n".join(["%%MatrixMarket matrix coordinate real general", f"{N} {P} {len(lines)}", *lines]) + "\n")
    yield lambda: tyto.open(folder / "x.npy", response=folder / "y.npy"), False
    yield lambda: tyto.open(folder / "x.npy", response=y), False
    yield lambda: tyto.open(folder / "both.npy", target=P), False
    yield lambda: tyto.open(folder / "single.npy", response=y.tolist()), False
    yield lambda: tyto.open(folder / "d.csv"), True
    yield lambda: tyto.open(str(folder / "d.csv.gz"), target="y"), True
    yield lambda: tyto.open(folder / "d.svm", features=P), False
    yield lambda: tyto.open(folder / "x.mtx", response=folder / "y.npy"), False


def test_every_format_gives_the_model_of_the_array(tmp_path):
    X, y = problem()
    want = OWL(**SETTINGS).fit(np.asfortranarray(X), y)
    path = tyto.owl_path(np.asfortranarray(X), y, weights="bh", n_alphas=5, standardize=True)
    assert want.coef_.any()
    for opened, named in written(tmp_path, X, y):
        data = opened()
        assert data.shape == (N, P) and len(data) == N and (data.feature_names is not None) == named
        np.testing.assert_array_equal(data.to_numpy(), X)
        np.testing.assert_allclose(data.y, y, rtol=1e-15)
        model = OWL(**SETTINGS).fit(data)
        if "sparse" not in data.storage:
            np.testing.assert_array_equal(model.coef_, want.coef_, err_msg=repr(data))
        np.testing.assert_allclose(model.coef_, want.coef_, atol=1e-8, err_msg=repr(data))
        np.testing.assert_allclose(model.predict(data), want.predict(X), atol=1e-8)
        assert tyto.verify(model, data) and model.certificate_.converged
        assert model.n_features_in_ == P and hasattr(model, "feature_names_in_") == named
        assert abs(model.score(data) - want.score(X, y)) < 1e-8
        found = tyto.owl_path(data, weights="bh", n_alphas=5, standardize=True)
        np.testing.assert_allclose(found.coefs, path.coefs, atol=1e-5)
        np.testing.assert_allclose(found.predict(data), path.predict(X), atol=1e-4)
        np.testing.assert_allclose(OWL(**SETTINGS).path(data, n_alphas=3).alphas, OWL(**SETTINGS).path(X, y, n_alphas=3).alphas, rtol=1e-12)
        assert tyto.alpha_max(data) == pytest.approx(tyto.alpha_max(X, y))
        assert [(c.size, c.members) for c in model.cluster_table(data)] == [(c.size, c.members) for c in model.cluster_table(data)]


def test_a_cross_validation(tmp_path):
    X, y = problem()
    data = tyto.open(table(tmp_path / "d.csv", X, y))
    for options in ({}, {"cv": KFold(3)}, {"scoring": "mae", "choose": "one-se"}):
        ours, theirs = (OWLCV("bh", n_alphas=6, **{"cv": 3, **options}) for _ in range(2))
        ours.fit(data), theirs.fit(np.asfortranarray(X), y)
        np.testing.assert_array_equal(ours.coef_, theirs.coef_)
        np.testing.assert_array_equal(ours.cv_errors_, theirs.cv_errors_)
        np.testing.assert_array_equal(ours.folds_, theirs.folds_)
    with pytest.raises(ValueError, match="scoring: want .*, whose rows scorers cannot have"):
        OWLCV(scoring="neg_median_absolute_error").fit(data)


def test_classes(tmp_path):
    X, y = problem()
    words = np.where(y > 1, "yes", np.where(y < -1, "no", "maybe"))
    for labels in (words, np.where(y > 0, "yes", "no")):
        data = tyto.open(table(tmp_path / "d.csv", X, labels))
        assert list(data.y) == list(labels) and f"of {len(set(labels))} classes" in repr(data)
        ours, theirs = OWLClassifier(alpha=0.02).fit(data), OWLClassifier(alpha=0.02).fit(np.asfortranarray(X), labels)
        np.testing.assert_array_equal(ours.coef_, theirs.coef_)
        np.testing.assert_allclose(ours.predict_proba(data), theirs.predict_proba(X), atol=1e-12)
        assert list(ours.predict(data)) == list(theirs.predict(X)) and ours.score(data) == theirs.score(X, labels)
        np.testing.assert_allclose(ours.decision_function(data), theirs.decision_function(X), atol=1e-12)
        assert tyto.verify(ours, data)
        loss = "binomial" if len(set(labels)) == 2 else "multinomial"
        np.testing.assert_allclose(tyto.owl_path(data, loss=loss, n_alphas=4).predict(data), tyto.owl_path(X, labels, loss=loss, n_alphas=4).predict(X), atol=1e-6)
        assert OWLClassifierCV(cv=3, n_alphas=4).fit(data).coef_.shape == theirs.coef_.shape
        with pytest.raises(TypeError, match="y: want numbers, got an array of <U"):
            OWL().fit(data)


def test_weights_offset_and_events_are_part_of_the_data(tmp_path):
    X, y = problem()
    rng = np.random.default_rng(0)
    weights, offset, counts = rng.integers(1, 4, N).astype(float), rng.normal(size=N), rng.poisson(3, N)
    lines = ["w,o,event,y," + ",".join(f"g{j}" for j in range(P))]
    lines += [",".join(map(repr, map(float, [w, o, k % 3 > 0, c, *row]))) for k, (w, o, c, row) in enumerate(zip(weights, offset, counts + 1, X))]
    (tmp_path / "d.csv").write_text("\n".join(lines) + "\n")
    data = tyto.open(tmp_path / "d.csv", sample_weight="w", offset="o", drop=["event"])
    assert data.shape == (N, P) and "sample_weight, offset" in repr(data)
    ours = OWL(alpha=0.02, loss="poisson").fit(data)
    theirs = OWL(alpha=0.02, loss="poisson").fit(X, counts + 1.0, weights, offset)
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    np.testing.assert_allclose(ours.predict(data), theirs.predict(X, offset), rtol=1e-12)
    assert tyto.verify(ours, data) and not tyto.verify(ours, data, offset=np.zeros(N))
    np.testing.assert_array_equal(OWL(alpha=0.1).fit(data, y, weights * 0 + 1, offset * 0).coef_, OWL(alpha=0.1).fit(X, y, np.ones(N), np.zeros(N)).coef_)
    times = tyto.open(tmp_path / "d.csv", event="event", drop=["w", "o"])
    surv = np.array([(k % 3 > 0, c + 1) for k, c in enumerate(counts)], [("event", bool), ("time", float)])
    model = OWL(alpha=0.01, loss="cox").fit(times)
    np.testing.assert_array_equal(model.coef_, OWL(alpha=0.01, loss="cox").fit(X, surv).coef_)
    assert model.score(times) > 0.4 and "of times" in repr(times) and tyto.verify(model, times)
    assert tyto.alpha_max(times, loss="cox") > 0


def test_names_of_columns(tmp_path):
    X, y = problem()
    data = tyto.open(table(tmp_path / "d.csv", X, y))
    model = OWL(alpha=0.05, unpenalized=["g2"]).fit(data)
    assert list(model.feature_names_in_) == data.feature_names == [f"g{j}" for j in range(P)]
    names = [f"g{j}" for j in range(P)]
    other = tyto.open(table(tmp_path / "other.csv", X, y, [names[1], names[0], *names[2:]]))
    with pytest.raises(ValueError, match="X: want the columns of the fit in their order, 'g0' as column 0, got 'g1'"):
        model.predict(other)
    short = tyto.open(table(tmp_path / "short.csv", X[:, 1:], y))
    with pytest.raises(ValueError, match=f"X: want {P} columns, as in the fit, got {P - 1}"):
        model.predict(short)
    bare = OWL(alpha=0.05).fit(X, y)
    np.testing.assert_allclose(bare.predict(data), bare.predict(X), atol=1e-12)


def test_new_data_without_a_response(tmp_path):
    X, y = problem()
    path = tmp_path / "new.csv"
    path.write_text("\n".join([",".join(f"g{j}" for j in range(P)), *(",".join(map(repr, map(float, row))) for row in X)]) + "\n")
    with pytest.raises(ValueError, match="target: no column .* is called y, target, label or response; give target=NAME"):
        tyto.open(path)
    new = tyto.open(path, target=False)
    assert new.y is None and "no response" in repr(new)
    np.testing.assert_allclose(OWL(alpha=0.1).fit(X, y).predict(new), OWL(alpha=0.1).fit(X, y).predict(X), atol=1e-12)
    with pytest.raises(ValueError, match="y: want a response, got none"):
        OWL().fit(new)
    np.testing.assert_array_equal(OWL(alpha=0.1).fit(new, y).coef_, OWL(alpha=0.1).fit(X, y).coef_)
    with pytest.raises(ValueError, match=f"y: want {N} rows, as in X, got {N - 1}"):
        OWL().fit(new, y[1:])


def test_missing_values(tmp_path):
    X, y = problem()
    path = table(tmp_path / "d.csv", X, y)
    text = path.read_text().splitlines()
    text[3] = "NA," + text[3].split(",", 1)[1]
    path.write_text("\n".join(text) + "\n")
    with pytest.raises(ValueError, match="d.csv:4: column .g0.: missing value .*; use missing=mean or drop-rows"):
        tyto.open(path)
    with pytest.warns(UserWarning, match="1 of 60 rows were left out"):
        data = tyto.open(path, missing="drop-rows")
    assert data.shape == (N - 1, P) and data.dropped_rows.tolist() == [2] and "1 rows left out" in repr(data)
    with pytest.warns(UserWarning, match="1 of 60 rows"):
        beside = tyto.open(path, missing="drop-rows", target=False, drop=["y"], response=y)
    np.testing.assert_array_equal(OWL(alpha=0.1).fit(beside).coef_, OWL(alpha=0.1).fit(np.delete(X, 2, 0), np.delete(y, 2)).coef_)
    with pytest.warns(UserWarning, match="1 missing value became the mean of its column"):
        assert tyto.open(path, missing="mean").shape == (N, P)


@pytest.mark.parametrize("options, message", [
    ({"missing": "guess"}, "missing: want refuse, mean, drop-rows, drop-columns, got 'guess'"),
    ({"header": "maybe"}, "header: want auto, yes, no, got 'maybe'"),
    ({"decimal": ";"}, "decimal: want"),
    ({"format": "exel"}, "unknown format 'exel'"),
    ({"target": "z"}, "target"),
    ({"target": 1.5}, "target: want a whole number"),
    ({"features": -1}, "features: want a whole number >= 1"),
    ({"drop": "g1"}, "drop: want a list of columns"),
    ({"target": "y", "response": [1.0]}, "response: want it or target, got both"),
    ({"response": [1.0]}, r"response: want a vector of 60 values, one for each row, got shape \(1,\)"),
    ({"response": "nowhere.npy"}, "nowhere.npy: cannot open"),
    ({"dataset": "X"}, "dataset: want None"),
])
def test_wrong_options(tmp_path, options, message):
    X, y = problem()
    with pytest.raises((ValueError, TypeError), match=message):
        tyto.open(table(tmp_path / "d.csv", X, y), **options)


def test_files_that_are_not_there_or_not_data(tmp_path):
    for name in ("none.csv", "none.npy", "none.h5", "none.parquet", "none.zarr"):
        with pytest.raises((ValueError, OSError, ImportError), match="none|package"):
            tyto.open(tmp_path / name)
    with pytest.raises(ValueError, match="got a folder"):
        tyto.open(tmp_path)
    (tmp_path / "short.npy").write_bytes(b"\x93NUMPY\x01\x00\x10")
    with pytest.raises(ValueError, match="short.npy"):
        tyto.open(tmp_path / "short.npy")


def test_a_deleted_file(tmp_path):
    X, y = problem()
    np.save(tmp_path / "x.npy", np.asfortranarray(X))
    data = tyto.open(tmp_path / "x.npy", response=y)
    os.unlink(tmp_path / "x.npy")
    np.testing.assert_array_equal(OWL(**SETTINGS).fit(data).coef_, OWL(**SETTINGS).fit(np.asfortranarray(X), y).coef_)


def test_pickles_hold_no_data(tmp_path):
    X, y = problem()
    data = tyto.open(table(tmp_path / "d.csv", X, y))
    model = OWL(**SETTINGS).fit(data)
    assert len(pickle.dumps(data)) < 1000
    again, other = pickle.loads(pickle.dumps(model)), pickle.loads(pickle.dumps(data))
    np.testing.assert_array_equal(again.predict(other), model.predict(data))
    np.testing.assert_array_equal(copy.deepcopy(model).coef_, model.coef_)
    stored = pickle.dumps(data)
    os.unlink(tmp_path / "d.csv")
    with pytest.raises(ValueError, match="d.csv: cannot open"):
        pickle.loads(stored)


def test_no_array_by_accident(tmp_path):
    X, y = problem()
    data = tyto.open(table(tmp_path / "d.csv", X, y))
    for made in (lambda: np.asarray(data), lambda: np.asarray(data.X)):
        with pytest.raises(TypeError, match="want to_numpy"):
            made()
    assert data.to_numpy(np.float32).dtype == np.float32 and data.to_numpy().flags.f_contiguous
    with pytest.raises(ValueError, match="columns: want numbers from 0 to 11, got 12"):
        data.X.columns([12])
    assert "60 x 12, dense float64" in repr(data.X)


def test_a_report(tmp_path):
    X, y = problem()
    data = tyto.open(table(tmp_path / "d.csv", X, y))
    model = OWL(**SETTINGS).fit(data)
    try:
        model.report(tmp_path / "r.html")
    except ValueError as error:
        assert "TYTO_CLI" in str(error)  # a package without reports
        return
    def page(name):  # less the word that is drawn anew for each page, and times
        text = re.sub(r"nonce([-=]\"?)[0-9a-f]+", r"nonce\1", (tmp_path / name).read_text())
        return re.sub(r'econds":(\[[^]]*\]|[0-9.e-]+)', 'econds":0', text)

    model.report(tmp_path / "again.html", data)
    same = page("again.html") == page("r.html")  # a name, as a difference would be a whole page
    assert '"names":["g0"' in page("r.html") and same
    del data
    with pytest.raises(ValueError, match="want X and y again"):
        model.report(tmp_path / "r.html")


def test_a_report_whose_weights_are_gone(tmp_path):
    """It would be one without them."""
    X, y = problem()
    model = OWL(alpha=0.1).fit(X, y, sample_weight=np.arange(1.0, N + 1))
    with pytest.raises(ValueError, match="want X and y again"):
        model.report(tmp_path / "r.html")


def test_threads(tmp_path):
    X, y = problem()
    data = tyto.open(table(tmp_path / "d.csv", X, y))
    want, found = OWL(**SETTINGS).fit(data).coef_, [None] * 6

    def work(k):
        found[k] = OWL(**SETTINGS, n_jobs=1 + k % 2).fit(data).coef_, tyto.open(tmp_path / "d.csv").shape

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(found))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for coef, shape in found:
        np.testing.assert_array_equal(coef, want)
        assert shape == (N, P)


def test_several_files_are_stacked(tmp_path):
    X, y = problem()
    parts = [table(tmp_path / f"{k}.csv", X[k::2], y[k::2]) for k in range(2)]
    data = tyto.open(*parts)
    assert data.shape == (N, P)
    np.testing.assert_array_equal(data.to_numpy(), np.vstack([X[0::2], X[1::2]]))


def test_words_as_columns(tmp_path):
    X, y = problem()
    lines = table(tmp_path / "d.csv", X, y).read_text().splitlines()
    colours = ["colour", *("red green blue".split() * N)]
    (tmp_path / "d.csv").write_text("\n".join(f"{colour},{line}" for colour, line in zip(colours, lines)) + "\n")
    data = tyto.open(tmp_path / "d.csv", one_hot=["colour"])
    assert data.feature_names[:3] == ["colour=blue", "colour=green", "colour=red"] and OWL(alpha=0.1).fit(data).coef_.shape == (P + 3,)
