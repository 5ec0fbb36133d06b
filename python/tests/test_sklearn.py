"""scikit-learn's own checks, all of them, and its tools around the estimators."""
import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import Lasso
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from tyto import OWL, OWLCV, OWLClassifier, OWLClassifierCV
from support import grouped


@parametrize_with_checks([OWL(), OWL(weights="lasso", alpha=0.01, standardize=True), OWLCV(n_alphas=10),
                          OWL(weights="bh", sigma="estimate", standardize=True), OWL(alpha=0.1, gamma=0.5, slope=2.0),
                          OWLCV(n_alphas=5, slope=[0.5, 2], gamma=[0, 1]), OWL(loss="poisson", alpha=0.01), OWL(loss="huber", alpha=0.01),
                          OWLCV(loss="poisson", n_alphas=5, cv=3), OWLClassifier(), OWLClassifier(loss="squared-hinge", class_weight="balanced"),
                          OWLClassifierCV(n_alphas=10, cv=3), OWLClassifierCV(loss="squared-hinge", n_alphas=5, cv=3, scoring="accuracy")])
@pytest.mark.filterwarnings("ignore:OWL. the estimate of the noise")  # of data without noise
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_pipeline_and_grid_search():
    X, y, _ = grouped(80, 20)
    search = GridSearchCV(make_pipeline(StandardScaler(), OWL(relative=True)),
                          {"owl__alpha": [0.5, 0.1, 0.01], "owl__weights": ["oscar", "lasso", "bh"]}, cv=3)
    search.fit(X, y)
    assert search.best_score_ > 0.9
    assert np.isfinite(cross_val_score(OWL(alpha=0.1), X, y, cv=3)).all()


def test_grid_search_in_processes_and_threads():
    X, y, _ = grouped(60, 10)
    scores = []
    for backend in ("loky", "threading"):
        with joblib.parallel_backend(backend, n_jobs=2):
            scores.append(GridSearchCV(OWL(), {"alpha": [1.0, 0.1, 0.01]}, cv=3).fit(X, y).cv_results_["mean_test_score"])
    np.testing.assert_array_equal(scores[0], scores[1])


def test_clone_and_pickle():
    X, y, _ = grouped(50, 8)
    model = OWL(weights=np.linspace(2, 1, 8), alpha=0.1).fit(X, y)
    fresh = clone(model)
    assert not hasattr(fresh, "coef_")
    np.testing.assert_array_equal(fresh.fit(X, y).coef_, model.coef_)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.certificate_ == model.certificate_


def test_feature_selection():
    X, y, support = grouped(100, 30)
    chosen = SelectFromModel(OWL(weights="bh", alpha=0.5, relative=True)).fit(X, y).get_support()
    assert chosen[support].all() and not chosen.all()


def test_names_with_set_output():
    pandas = pytest.importorskip("pandas")
    X, y, _ = grouped(50, 5)
    frame = pandas.DataFrame(X, columns=list("abcde"))
    pipeline = make_pipeline(StandardScaler(), OWL(alpha=0.1)).set_output(transform="pandas").fit(frame, y)
    assert list(pipeline[-1].feature_names_in_) == list("abcde")
    with pytest.raises(ValueError, match="feature names"):
        pipeline[-1].predict(frame.rename(columns={"a": "z"}))


def test_html_shows_the_diagram():
    assert "OWL" in make_pipeline(StandardScaler(), OWL())._repr_html_()


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.5, 0.05])
def test_is_lasso(intercept, alpha):
    X, y, _ = grouped(60, 100)
    ours = OWL(weights="lasso", alpha=alpha, fit_intercept=intercept, tol=1e-10).fit(X, y + 3)
    theirs = Lasso(alpha=alpha, fit_intercept=intercept, tol=1e-12, max_iter=10**6).fit(X, y + 3)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-6)
    objective = ((y + 3 - ours.predict(X)) ** 2).mean() / 2 + alpha * abs(ours.coef_).sum()
    np.testing.assert_allclose(ours.certificate_.primal, objective, rtol=1e-12)
    assert 0 <= ours.dual_gap_ <= 1e-10 * objective
