"""OWLClassifier and OWLClassifierCV: labels, probabilities, weights of classes, and agreement with scikit-learn."""
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, brier_score_loss, get_scorer, log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import LinearSVC

import tyto
from tyto import OWL, OWLClassifier, OWLClassifierCV, _solve
from support import norm

# scikit-learn 1.8 renamed it.
L1 = {"l1_ratio": 1} if LogisticRegression().get_params()["penalty"] == "deprecated" else {"penalty": "l1"}


def classes(n=80, p=30, seed=0, labels=("no", "yes")):
    """X, labels by a noisy linear rule, and the same as 0 and 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[:, 1] = X[:, 0] + 0.1 * rng.normal(size=n)
    code = (X[:, :3] @ [1.5, 1.5, -1.0] + 0.5 + rng.logistic(size=n) > 0).astype(int)
    return X, np.array(labels)[code], code


def mean_loss(code, eta, loss="binomial"):
    if loss == "binomial":
        return np.logaddexp(0, eta) - code * eta
    return np.maximum(0, 1 - (2 * code - 1) * eta) ** 2 / 2


def objective(X, code, coef, intercept, penalty, weights=None, loss="binomial"):
    """The weighted mean of the loss and penalty = alpha * w."""
    return np.average(mean_loss(code, X @ np.ravel(coef) + np.ravel(intercept), loss), weights=weights) + norm(np.ravel(coef), penalty)


@pytest.mark.parametrize("alpha", [0.1, 0.01])
@pytest.mark.parametrize("intercept", [True, False])
def test_is_logistic_regression_with_an_l1_penalty(alpha, intercept):
    """liblinear penalises the intercept, so that it is compared without one."""
    X, y, code = classes()
    ours = OWLClassifier("lasso", alpha=alpha, fit_intercept=intercept, tol=1e-12).fit(X, y)
    theirs = LogisticRegression(**L1, C=1 / (alpha * len(y)), fit_intercept=intercept, solver="saga" if intercept else "liblinear",
                                tol=1e-10, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    found, other = (objective(X, code, m.coef_, m.intercept_, np.full(30, alpha)) for m in (ours, theirs))
    np.testing.assert_allclose(found, other, rtol=1e-9)
    assert found <= other + ours.dual_gap_ + 1e-15
    np.testing.assert_allclose(ours.certificate_.primal, found, rtol=1e-12)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)


def test_is_ridge_logistic_regression_at_hardly_any_alpha():
    X, y, _ = classes()
    ours = OWLClassifier("lasso", alpha=1e-12, ridge=0.1, tol=1e-8).fit(X, y)
    theirs = LogisticRegression(C=1 / (0.1 * len(y)), tol=1e-12, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-6)


def test_is_a_support_vector_machine():
    """LinearSVC has no 1/2 in its loss, and without an intercept the same objective times 2 C n."""
    X, y, code = classes()
    alpha = 0.05
    ours = OWLClassifier("lasso", alpha=alpha, loss="squared-hinge", fit_intercept=False, tol=1e-10).fit(X, y)
    theirs = LinearSVC(penalty="l1", dual=False, C=1 / (2 * alpha * len(y)), fit_intercept=False, tol=1e-10, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    found = objective(X, code, ours.coef_, 0, np.full(30, alpha), loss="squared-hinge")
    np.testing.assert_allclose(ours.certificate_.primal, found, rtol=1e-12)
    assert not hasattr(ours, "predict_proba") and not hasattr(ours, "predict_log_proba")
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("loss", ["binomial", "squared-hinge"])
@pytest.mark.parametrize("weights", ["oscar", "bh"])
def test_the_certificate_is_about_the_objective(loss, weights):
    X, y, code = classes()
    penalty = 0.02 * tyto.owl_weights(weights, 30)
    model = OWLClassifier(weights, alpha=0.02, loss=loss).fit(X, y)
    exact = OWLClassifier(weights, alpha=0.02, loss=loss, tol=1e-12).fit(X, y)
    found, least = (objective(X, code, m.coef_, m.intercept_, penalty, loss=loss) for m in (model, exact))
    np.testing.assert_allclose(model.certificate_.primal, found, rtol=1e-12)
    assert -1e-13 <= found - least <= model.dual_gap_ + 1e-15
    assert model.certificate_.converged and sum(map(len, model.clusters_)) == np.count_nonzero(model.coef_) > 0
    for members in model.clusters_:
        assert len(set(abs(model.coef_[0, members]))) == 1


@pytest.mark.parametrize("labels", [("no", "yes"), (False, True), (0, 1), (-1, 1), (1.0, 2.0)])
@pytest.mark.parametrize("container", [np.array, list, "object", "series", "category"])
def test_labels_of_any_kind(labels, container):
    X, y, code = classes(labels=labels)
    if container in ("series", "category"):
        pandas = pytest.importorskip("pandas")
        y_given = pandas.Series(y, dtype="category" if container == "category" else None)
    else:
        y_given = y.astype(object) if container == "object" else container(y)
    want = OWLClassifier(alpha=0.05).fit(X, code)
    model = OWLClassifier(alpha=0.05).fit(X, y_given)
    np.testing.assert_array_equal(model.classes_, labels)
    np.testing.assert_array_equal(model.coef_, want.coef_)
    np.testing.assert_array_equal(model.predict(X), np.array(labels)[want.predict(X)])
    assert model.score(X, y) == want.score(X, code) == accuracy_score(y, model.predict(X)) > 0.75
    assert tyto.verify(model, X, y_given)


def test_shapes_and_probabilities():
    X, y, _ = classes()
    model = OWLClassifier(alpha=0.01).fit(X, y)
    assert model.coef_.shape == (1, 30) and model.intercept_.shape == (1,)
    decision, probability = model.decision_function(X), model.predict_proba(X)
    assert decision.shape == (80,) and probability.shape == (80, 2)
    np.testing.assert_allclose(decision, X @ model.coef_[0] + model.intercept_[0], atol=1e-12)
    np.testing.assert_allclose(probability[:, 1], 1 / (1 + np.exp(-decision)), rtol=1e-14)
    np.testing.assert_allclose(probability.sum(axis=1), 1, rtol=1e-15)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(probability), rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), np.where(decision > 0, "yes", "no"))
    far = model.predict_log_proba(1e6 * X)
    assert np.isfinite(far).all() and (far.min(axis=1) < -1000).any() and (model.predict_proba(1e6 * X) >= 0).all()


@pytest.mark.parametrize("storage", [np.asfortranarray, np.float32, sparse.csc_matrix, sparse.csr_matrix])
def test_storage(storage):
    X, y, _ = classes()
    X = np.round(X, 1).astype(np.float32).astype(np.float64)
    want = OWLClassifier(alpha=0.02, tol=1e-10).fit(X, y)
    model = OWLClassifier(alpha=0.02, tol=1e-10).fit(storage(X), y)
    np.testing.assert_allclose(model.coef_, want.coef_, atol=1e-6)
    np.testing.assert_array_equal(model.predict(storage(X)), want.predict(X))


def test_class_weight():
    X, y, code = classes()
    rows = np.random.default_rng(1).integers(0, 3, size=80).astype(float)
    options = dict(alpha=0.02, tol=1e-10)
    by_dict = OWLClassifier(class_weight={"yes": 3}, **options).fit(X, y)
    by_rows = OWLClassifier(**options).fit(X, y, sample_weight=np.where(code == 1, 3.0, 1.0))
    np.testing.assert_allclose(by_dict.coef_, by_rows.coef_, atol=1e-7)
    np.testing.assert_allclose(by_dict.alpha_, 0.02, rtol=1e-12)
    balanced = OWLClassifier(class_weight="balanced", **options).fit(X, y)
    theirs = LogisticRegression(**L1, solver="saga", C=1 / (0.02 * 80), class_weight="balanced", tol=1e-10, max_iter=100_000)
    ours = OWLClassifier("lasso", class_weight="balanced", **options).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.fit(X, y).coef_, atol=1e-5)
    again = np.repeat(np.arange(80), rows.astype(int))
    for class_weight in ("balanced", {"no": 2}):
        weighted = OWLClassifier(class_weight=class_weight, **options).fit(X, y, sample_weight=rows)
        repeated = OWLClassifier(class_weight=class_weight, **options).fit(X[again], y[again])
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)
        assert tyto.verify(weighted, X, y, sample_weight=rows) and tyto.verify(repeated, X[again], y[again])
        assert not tyto.verify(weighted, X, y)
    assert tyto.verify(balanced, X, y)
    path = OWLClassifier(class_weight="balanced", tol=1e-10).path(X, y, alphas=[0.1, 0.02])
    np.testing.assert_allclose(path.coefs[:, 1], balanced.coef_[0], atol=1e-6)


@pytest.mark.parametrize("class_weight, message", [
    ("even", "class_weight: want 'balanced', a dict"), (3, "class_weight: want 'balanced', a dict"),
    ({"maybe": 2}, "class_weight: want classes of y, 'no', 'yes', got 'maybe'"), ({"no": -1}, "class_weight: want a finite number >= 0"),
    ({"no": 0, "yes": 0}, "class_weight: want a number above 0"), ({"no": 0}, "y: want two classes, got one"),
    ({"no": np.nan}, "class_weight: want a finite number >= 0"),
])
def test_class_weights_that_cannot_be(class_weight, message):
    X, y, _ = classes()
    with pytest.raises(ValueError, match=message):
        OWLClassifier(class_weight=class_weight).fit(X, y)


@pytest.mark.parametrize("y, error, message", [
    (np.zeros(80), ValueError, "^y: want two classes or more, got one class: 0.0$"),
    (["yes"] * 80, ValueError, "^y: want two classes or more, got one class: 'yes'$"),
    (np.linspace(0, 1, 80), ValueError, "Unknown label type"),
    (np.r_[np.nan, np.zeros(40), np.ones(39)], ValueError, "NaN"),
    (np.array(["a", 1] * 40, dtype=object), (TypeError, ValueError), "label"),
    (np.zeros((80, 2)), ValueError, "1d array"),
    (["yes", "no"], ValueError, "inconsistent numbers of samples"),
])
def test_responses_that_cannot_be(y, error, message):
    X, *_ = classes()
    with pytest.raises(error, match=message):
        OWLClassifier().fit(X, y)


@pytest.mark.parametrize("count, message", [(3, r"^y: want two classes, got 3: 0, 1, 2\. Only binary classification is supported\.$"),
                                            (9, r"y: want two classes, got 9: 0, 1, 2, 3, 4, \.\.\.\.")])
def test_margins_are_for_two_classes(count, message):
    X, *_ = classes()
    with pytest.raises(ValueError, match=message):
        OWLClassifier(loss="squared-hinge").fit(X, np.arange(80) % count)


def test_losses_that_cannot_be():
    X, y, code = classes()
    with pytest.raises(ValueError, match="^loss: want 'binomial', 'squared-hinge' or 'multinomial', got 'poisson', which is for numbers: see OWL$"):
        OWLClassifier(loss="poisson").fit(X, y)
    with pytest.raises(ValueError, match="^loss: want 'gaussian', 'poisson', 'huber' or 'cox', got 'binomial', which is for classes: see OWLClassifier$"):
        OWL(loss="binomial").fit(X, code)
    with pytest.raises(ValueError, match="^loss: want 'binomial', 'squared-hinge' or 'multinomial', got 'logit'$"):
        OWLClassifierCV(loss="logit").fit(X, y)
    with pytest.raises(TypeError, match="^loss: want a word, got 3$"):
        OWLClassifier(loss=3).fit(X, y)
    with pytest.raises(ValueError, match="loss: unknown loss 'logit'"):
        tyto.owl_path(X, code, loss="logit")


def test_after_an_error_it_is_as_before():
    X, y, _ = classes()
    model = OWLClassifier(alpha=0.02).fit(X, y)
    before = pickle.dumps(model)
    with pytest.raises(ValueError):
        model.fit(X, np.zeros(80))
    assert pickle.dumps(model) == before


def test_offset():
    X, y, code = classes()
    offset = np.random.default_rng(3).normal(size=80)
    model = OWLClassifier(alpha=0.02, tol=1e-10).fit(X, y, offset=offset)
    eta = X @ model.coef_[0] + model.intercept_[0] + offset
    np.testing.assert_allclose(model.decision_function(X, offset=offset), eta, atol=1e-12)
    np.testing.assert_allclose(model.certificate_.primal, mean_loss(code, eta).mean() + norm(model.coef_[0], 0.02 * tyto.owl_weights("oscar", 30)))
    residual = code - model.predict_proba(X, offset=offset)[:, 1]
    assert abs(residual.sum()) < 1e-6  # of the intercept, which minimises
    assert tyto.verify(model, X, y, offset=offset) and not tyto.verify(model, X, y)


def test_warm_start_and_path():
    X, y, code = classes()
    model = OWLClassifier(alpha=0.02, warm_start=True).fit(X, y)
    first = model.n_iter_
    assert model.fit(X, y).n_iter_ <= first and model.coef_.shape == (1, 30)
    path = OWLClassifier(alpha=0.5, tol=1e-10).path(X, y, n_alphas=20)
    one = OWLClassifier(alpha=path.alphas[10], tol=1e-10).fit(X, y)
    np.testing.assert_allclose(path.coefs[:, 10], one.coef_[0], atol=1e-6)
    np.testing.assert_allclose(path.predict(X)[:, 10], one.predict_proba(X)[:, 1], atol=1e-6)
    assert path.loss == "binomial" and (np.diff(path.explained) >= -1e-6).all()
    for labels in (y, code, 2 * code - 1, code == 1):
        np.testing.assert_array_equal(tyto.owl_path(X, labels, loss="binomial", tol=1e-10, n_alphas=20).coefs, path.coefs)
        np.testing.assert_allclose(tyto.alpha_max(X, labels, loss="binomial"), path.alpha_max, rtol=1e-12)


def test_shares():
    """Three rows of one X are one row of a share, with the weight 3."""
    X, _, _ = classes(n=40)
    code = (np.random.default_rng(5).random((40, 3)) < 1 / (1 + np.exp(-X[:, :1]))).astype(int)
    rows = tyto.owl_path(np.repeat(X, 3, axis=0), code.ravel(), loss="binomial", n_alphas=8, tol=1e-10)
    shares = tyto.owl_path(X, code.mean(axis=1), loss="binomial", sample_weight=np.full(40, 3.0), alphas=rows.alphas, tol=1e-10)
    np.testing.assert_allclose(shares.coefs, rows.coefs, atol=1e-5)


@pytest.mark.parametrize("loss", ["binomial", "squared-hinge"])
def test_verify(loss):
    X, y, _ = classes()
    for model in (OWLClassifier(alpha=0.02, loss=loss, standardize=True, ridge=0.01, unpenalized=[4]).fit(X, y),
                  OWLClassifierCV(n_alphas=10, cv=3, loss=loss).fit(X, y)):
        found = tyto.verify(model, X, y)
        assert found and found.reason == ""
        np.testing.assert_allclose(found.primal, model.certificate_.primal, rtol=1e-9)
        assert not tyto.verify(model, X, np.where(y == "no", "yes", "no"))
        with pytest.raises(ValueError, match="^y: want the classes of the model, 'no', 'yes', got 'perhaps'$"):
            tyto.verify(model, X, np.where(y == "no", "perhaps", "yes"))
        with pytest.raises(ValueError, match="y: want the classes of the model"):
            tyto.verify(model, X, np.zeros(len(y)))
        model.coef_ = 1.01 * model.coef_
        assert not tyto.verify(model, X, y)


@pytest.mark.parametrize("scoring, scorer", [
    ("deviance", lambda m, X, y: 2 * log_loss(y, m.predict_proba(X))), ("misclassification", lambda m, X, y: 1 - m.score(X, y)),
    ("brier", lambda m, X, y: brier_score_loss(y == "yes", m.predict_proba(X)[:, 1])), ("auc", lambda m, X, y: roc_auc_score(y == "yes", m.decision_function(X))),
    ("accuracy", get_scorer("accuracy")), ("roc_auc", get_scorer("roc_auc")), ("neg_log_loss", get_scorer("neg_log_loss")),
    (lambda m, X, y: m.score(X, y), get_scorer("accuracy")),
])
def test_scoring(scoring, scorer):
    X, y, _ = classes(120)
    model = OWLClassifierCV("bh", scoring=scoring, n_alphas=12, eps=0.01, cv=4, tol=1e-10).fit(X, y)
    found = []
    for fold in range(4):
        training, held_out = model.folds_ != fold, model.folds_ == fold
        one = OWLClassifier("bh", alpha=model.alpha_, tol=1e-10).fit(X[training], y[training])
        found.append(scorer(one, X[held_out], y[held_out]))
    np.testing.assert_allclose(model.cv_errors_[model.best_index_], found, rtol=1e-4)
    best = np.argmin if scoring in ("deviance", "misclassification", "brier") else np.argmax
    assert model.best_index_ == best(model.cv_error_)
    assert model.scoring_ == (scoring if isinstance(scoring, str) else "<lambda>")


def test_scorers_get_weights_and_labels():
    X, y, code = classes()
    seen = []

    def scored(model, X, y, sample_weight=None):
        seen.append(sample_weight)
        assert set(y) <= {"no", "yes"} and isinstance(model, OWLClassifier)
        return -2 * log_loss(y, model.predict_proba(X), sample_weight=sample_weight, labels=["no", "yes"])

    options = dict(n_alphas=6, cv=4, class_weight="balanced")
    ours, theirs = OWLClassifierCV(**options).fit(X, y), OWLClassifierCV(scoring=scored, **options).fit(X, y)
    np.testing.assert_allclose(-theirs.cv_errors_, ours.cv_errors_, rtol=1e-6)
    np.testing.assert_array_equal(theirs.coef_, ours.coef_)
    assert all(weights is not None for weights in seen)


@pytest.mark.parametrize("options, message", [
    ({"scoring": "mse"}, "scoring: want 'deviance', 'misclassification', 'brier', 'auc' or a scorer"),
    ({"scoring": "brier", "loss": "squared-hinge"}, "scoring: want another measure than brier"),
    ({"scoring": "neg_log_loss", "loss": "squared-hinge"}, "scoring: want a scorer of classes or decisions"),
    ({"cv": 100}, "cv: want a number from 2 to n_samples=80, got 100"),
])
def test_cross_validations_that_cannot_be(options, message):
    X, y, _ = classes()
    with pytest.raises(ValueError, match=message):
        OWLClassifierCV(n_alphas=3, **{"cv": 3, **options}).fit(X, y)
    with pytest.raises(ValueError, match="cv: want two classes outside each fold"):
        OWLClassifierCV(n_alphas=3, cv=3).fit(X, np.arange(80) == 7)
    with pytest.raises(ValueError, match="scoring: want 'deviance', .* where there is an offset"):
        OWLClassifierCV(n_alphas=3, cv=3, scoring="accuracy").fit(X, y, offset=np.ones(80))


def test_folds_are_stratified():
    X, _, _ = classes(100)
    y = np.where(np.arange(100) < 20, "rare", "usual")
    model = OWLClassifierCV(n_alphas=3, eps=0.1, cv=10).fit(X, y)
    assert [((model.folds_ == fold) & (y == "rare")).sum() for fold in range(10)] == [2] * 10
    given = OWLClassifierCV(n_alphas=3, cv=StratifiedKFold(5)).fit(X, y)
    assert [((given.folds_ == fold) & (y == "rare")).sum() for fold in range(5)] == [4] * 5


def test_choice_of_a_model():
    X, y, _ = classes(150)
    model = OWLClassifierCV(cv=5, choose="one-se").fit(X, y)
    assert model.alpha_ == model.path_.alphas[model.one_se_index_] >= model.path_.alphas[model.best_index_]
    best = model.with_choice("best")
    assert best.coef_.shape == (1, 30) and best.alpha_ == model.path_.alphas[model.best_index_]
    np.testing.assert_allclose(best.predict_proba(X)[:, 1], model.path_.predict(X)[:, model.best_index_], atol=1e-12)
    assert best.score(X, y) > 0.75
    assert OWLClassifierCV(cv=5, n_jobs=2).fit(X, y).cv_errors_.tolist() == OWLClassifierCV(cv=5).fit(X, y).cv_errors_.tolist()


def test_in_a_grid_search():
    X, y, _ = classes()
    search = GridSearchCV(OWLClassifier(relative=True), {"alpha": [0.5, 0.1], "loss": ["binomial", "squared-hinge"]}, cv=3, scoring="roc_auc")
    assert search.fit(X, y).best_score_ > 0.8


def test_clusters_and_pictures():
    X, y, _ = classes()
    model = OWLClassifierCV(cv=3, n_alphas=20).fit(X, y)
    table = model.cluster_table(X)
    assert [cluster.size for cluster in table] == [len(c) for c in model.clusters_]
    np.testing.assert_allclose([c.coefficient for c in table], [abs(model.coef_[0, c[0]]) for c in model.clusters_])
    pyplot = pytest.importorskip("matplotlib.pyplot")
    from tyto import plot
    for draw in (plot.path, plot.clusters, plot.convergence, plot.cv):
        pyplot.close(draw(model).figure)
    ax = plot.cv(model)
    assert ax.get_ylabel() == "deviance of rows held out"
    pyplot.close(ax.figure)


def test_says_how_large_rounding_errors_are():
    """A gap below tol is no contradiction then."""
    found = _solve.Certificate(primal=2.0, dual=2.0, gap=1e-17, rounding=6e-6, tolerance=1e-6, status="stalled")
    with pytest.warns(ConvergenceWarning, match=r"gap is 5e-18 with rounding errors of 3e-06, tol is 1e-06"):
        _solve.warn_unless_converged(found, "it")
