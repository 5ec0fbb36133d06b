"""More than two classes: shapes, probabilities, weights, and agreement with scikit-learn."""
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

import tyto
from tyto import OWLClassifier, OWLClassifierCV, owl_path
from support import norm

L1 = {"l1_ratio": 1} if LogisticRegression().get_params()["penalty"] == "deprecated" else {"penalty": "l1"}
WORDS = np.array(["ash", "birch", "cedar"])


def classes(n=90, p=8, seed=0):
    """X, and three labels by a noisy linear rule."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    code = (1.5 * X[:, :3] + rng.gumbel(size=(n, 3))).argmax(axis=1)
    return X, WORDS[code], code


def objective(X, code, model, penalty, weights=None):
    eta = X @ model.coef_.T + model.intercept_
    rows = np.logaddexp.reduce(eta, axis=1) - eta[np.arange(len(code)), code]
    return np.average(rows, weights=weights) + norm(np.ravel(model.coef_), penalty)


@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_is_logistic_regression_with_an_l1_penalty(alpha):
    X, y, code = classes()
    ours = OWLClassifier("lasso", alpha=alpha, tol=1e-11).fit(X, y)
    theirs = LogisticRegression(**L1, C=1 / (alpha * len(y)), solver="saga", tol=1e-10, max_iter=200_000).fit(X, y)
    assert ours.coef_.shape == theirs.coef_.shape == (3, 8) and ours.intercept_.shape == theirs.intercept_.shape == (3,)
    assert ours.classes_.tolist() == WORDS.tolist()
    found, other = (objective(X, code, model, np.full(24, alpha)) for model in (ours, theirs))
    np.testing.assert_allclose(found, other, rtol=1e-8)
    assert found <= other + ours.dual_gap_ + 1e-14
    np.testing.assert_allclose(ours.certificate_.primal, found, rtol=1e-11)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
    np.testing.assert_allclose(ours.intercept_.sum(), 0, atol=1e-12)
    assert tyto.verify(ours, X, y).holds


@pytest.mark.parametrize("weights", ["bh", "oscar"])
def test_decisions_probabilities_and_classes_belong_together(weights):
    X, y, _ = classes()
    model = OWLClassifier(weights, alpha=0.02, standardize=True, tol=1e-10).fit(X, y)
    decisions = model.decision_function(X)
    assert decisions.shape == (90, 3)
    np.testing.assert_allclose(decisions, X @ model.coef_.T + model.intercept_)
    np.testing.assert_allclose(np.exp(decisions) / np.exp(decisions).sum(axis=1, keepdims=True), model.predict_proba(X))
    np.testing.assert_allclose(np.log(model.predict_proba(X)), model.predict_log_proba(X))
    assert (model.predict(X) == model.classes_[decisions.argmax(axis=1)]).all()
    standardised = (model.coef_ * model.scale_).ravel()
    for members in model.clusters_:
        np.testing.assert_allclose(abs(standardised[members]), abs(standardised[members[0]]), rtol=1e-12)
    assert sorted(np.concatenate(model.clusters_)) == np.flatnonzero(model.coef_).tolist()
    assert [len(cluster.members) for cluster in model.cluster_table(X)] == [len(members) for members in model.clusters_]
    assert tyto.verify(model, X, y).holds
    with pytest.raises(ValueError, match="offset: want None"):
        model.predict(X, offset=np.ones(90))


def test_sparse_is_dense_and_weights_are_repetitions():
    X, y, _ = classes()
    X[np.abs(X) < 0.5] = 0
    options = dict(weights="bh", alpha=0.02, tol=1e-11)
    dense = OWLClassifier(**options).fit(X, y)
    np.testing.assert_allclose(OWLClassifier(**options).fit(sparse.csc_matrix(X), y).coef_, dense.coef_, atol=1e-6)
    weighted = OWLClassifier(**options).fit(X, y, sample_weight=np.r_[2, np.ones(89)])
    twice = OWLClassifier(**options).fit(np.r_[X[:1], X], np.r_[y[:1], y])
    np.testing.assert_allclose(weighted.certificate_.primal, twice.certificate_.primal, rtol=1e-9)
    balanced = OWLClassifier(class_weight="balanced", **options).fit(X, y)
    counts = {label: (y == label).sum() for label in WORDS}
    by_rows = OWLClassifier(**options).fit(X, y, sample_weight=[90 / (3 * counts[label]) for label in y])
    np.testing.assert_allclose(balanced.coef_, by_rows.coef_, atol=1e-7)
    assert tyto.verify(balanced, X, y).holds


def test_warm_start_own_weights_and_pickles():
    X, y, _ = classes()
    model = OWLClassifier(np.linspace(2, 1, 24), alpha=0.01, warm_start=True, tol=1e-10).fit(X, y)
    first = model.coef_.copy()
    model.fit(X, y)
    np.testing.assert_allclose(model.coef_, first, atol=1e-6)
    assert model.n_iter_ <= 3
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    with pytest.raises(ValueError, match="weights: want 24 numbers"):
        OWLClassifier(np.linspace(2, 1, 8)).fit(X, y)


def test_cross_validation():
    X, y, code = classes()
    model = OWLClassifierCV("bh", n_alphas=8, cv=3).fit(X, y)
    assert model.coef_.shape == (3, 8) and model.path_.coefs.shape == (3, 8, 8) and model.path_.intercepts.shape == (3, 8)
    assert model.cv_error_.shape == (8,) and model.scoring_ == "deviance"
    # The same by hand, at the best alpha.
    errors = []
    for fold in range(3):
        out = model.folds_ == fold
        part = OWLClassifier("bh", alpha=model.alpha_).fit(X[~out], y[~out])
        errors.append(2 * log_loss(code[out], part.predict_proba(X[out]), labels=[0, 1, 2]) * out.sum())
    np.testing.assert_allclose(sum(errors) / 90, model.cv_error_[model.best_index_], rtol=1e-4)
    by_accuracy = OWLClassifierCV("bh", n_alphas=8, cv=3, scoring="accuracy").fit(X, y)
    by_errors = OWLClassifierCV("bh", n_alphas=8, cv=3, scoring="misclassification").fit(X, y)
    np.testing.assert_allclose(by_accuracy.cv_error_, 1 - by_errors.cv_error_)
    assert tyto.verify(model, X, y).holds
    for options in ({"scoring": "auc"}, {"scoring": "brier"}):
        with pytest.raises(ValueError, match="scoring: want deviance or misclassification"):
            OWLClassifierCV(n_alphas=3, cv=3, **options).fit(X, y)


def test_path():
    X, y, code = classes()
    path = owl_path(X, y, loss="multinomial", weights="bh", n_alphas=6)
    assert path.loss == "multinomial" and path.coefs.shape == (3, 8, 6)
    np.testing.assert_array_equal(path.coefs, owl_path(X, code, loss="multinomial", weights="bh", n_alphas=6).coefs)
    probabilities = path.predict(X)
    assert probabilities.shape == (90, 3, 6)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    last = OWLClassifier("bh", alpha=path.alphas[-1]).fit(X, y)
    np.testing.assert_allclose(probabilities[:, :, -1], last.predict_proba(X), atol=1e-3)
    np.testing.assert_allclose(OWLClassifier("bh").path(X, y, n_alphas=6).coefs, path.coefs)
    assert (np.diff(path.explained) > -1e-6).all()
    two = owl_path(X, code == 0, loss="multinomial", n_alphas=3)
    assert two.loss == "binomial" and two.coefs.shape == (8, 3)


def test_pictures():
    pytest.importorskip("matplotlib").use("Agg")
    X, y, _ = classes()
    from tyto import plot
    model = OWLClassifierCV("bh", n_alphas=6, cv=3).fit(X, y)
    assert plot.path(model).get_title() == "Path"
    labels = [text.get_text() for text in plot.clusters(model, X=X).get_yticklabels()]
    assert len(labels) == len(model.clusters_) and any("(birch)" in label for label in labels)


def test_tables_summaries_and_files(tmp_path):
    X, y, _ = classes()
    model = OWLClassifier("bh", alpha=0.02, standardize=True).fit(X, y)
    assert "loss multinomial" in model.summary() and "(birch)" in model.summary(most=30)
    model.save(tmp_path / "m.json")
    again = tyto.load(tmp_path / "m.json")
    np.testing.assert_array_equal(again.coef_, model.coef_)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert [members.tolist() for members in again.clusters_] == [members.tolist() for members in model.clusters_]
    assert tyto.verify(again, X, y).holds
    pandas = pytest.importorskip("pandas")
    table = model.coefficients()
    assert isinstance(table, pandas.DataFrame) and len(table) == (model.coef_ != 0).sum()
    for _, row in table.iterrows():
        assert row["coefficient"] == model.coef_[WORDS.tolist().index(row["class"]), row["column"]]
