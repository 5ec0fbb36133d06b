"""The answers, by definitions written out plainly."""
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LassoCV
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, ShuffleSplit

import tyto
from tyto import OWL, OWLCV
from support import dual_norm, grouped, objective

NAMES = ["oscar", "lasso", "linf", "bh", "gaussian", "linear"]


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weights", NAMES)
def test_certificate_from_scratch(weights, intercept, standardize):
    X, y, _ = grouped(50, 30)
    X, y = X * np.linspace(0.2, 3, 30) + np.linspace(-1, 2, 30), y + 4
    model = OWL(weights, alpha=0.1, relative=True, fit_intercept=intercept, standardize=standardize, tol=1e-9).fit(X, y)
    w = model.alpha_ * tyto.owl_weights(weights, 30, n_samples=50)
    center = X.mean(axis=0) if intercept else np.zeros(30)
    scale = np.sqrt(((X - center) ** 2).mean(axis=0)) if standardize else np.ones(30)
    Z, target = (X - center) / scale, y - (y.mean() if intercept else 0)
    beta = model.coef_ * scale
    primal = objective(Z, target, beta, 0, w)
    np.testing.assert_allclose(model.certificate_.primal, primal, rtol=1e-10)
    residual = target - Z @ beta
    theta = residual * min(1, 1 / dual_norm(Z.T @ residual / 50, w))
    dual = (target @ target - (target - theta) @ (target - theta)) / 100
    assert primal - dual <= 1e-8 * primal
    np.testing.assert_allclose(model.predict(X), Z @ beta + y.mean() * intercept, rtol=1e-9, atol=1e-9)
    check = tyto.verify(model, X, y)
    assert check and check.gap <= 1.0001e-9 * check.primal
    magnitudes = [set(np.round(abs(beta[columns]), 12)) for columns in model.clusters_]
    assert all(len(values) == 1 for values in magnitudes)
    assert sorted(np.concatenate(model.clusters_)) == list(np.flatnonzero(model.coef_))


def test_verify_refuses_what_is_false():
    X, y, _ = grouped(40, 20)
    model = OWL("bh", alpha=0.1, relative=True).fit(X, y)
    assert tyto.verify(model, X, y)
    assert not tyto.verify(model, X, y + 0.01 * X[:, 5])
    model.coef_ = model.coef_ * 1.001
    found = tyto.verify(model, X, y)
    assert not found and "primal" in found.reason
    with pytest.raises(ValueError, match="columns"):
        tyto.verify(model, X[:, :5], y)


def test_alpha_max_is_where_the_model_empties():
    X, y, _ = grouped(50, 30)
    for weights in NAMES:
        for options in ({}, {"standardize": True}, {"fit_intercept": False}):
            top = tyto.alpha_max(X, y, weights=weights, **options)
            assert not OWL(weights, alpha=1.0001 * top, **options).fit(X, y).coef_.any()
            model = OWL(weights, alpha=0.999 * top, tol=1e-10, **options).fit(X, y)
            assert model.coef_.any()
            np.testing.assert_allclose(model.alpha_max_, top)
            np.testing.assert_allclose(OWL(weights, alpha=0.5, relative=True, **options).fit(X, y).alpha_, 0.5 * top)


def test_grouping():
    """Three features that are almost the same get one coefficient from OWL; the lasso shares them out unevenly."""
    X, y, group = grouped(100, 50)
    owl = OWL("oscar", alpha=0.3, relative=True).fit(X, y)
    lasso = OWL("lasso", alpha=0.3, relative=True).fit(X, y)
    assert set(group) <= set(owl.clusters_[0])
    assert len(set(owl.coef_[group])) == 1 and np.ptp(lasso.coef_[group]) > 0.01


def test_given_weights_and_solvers():
    X, y, _ = grouped(50, 20)
    named = OWL("bh", alpha=0.05, tol=1e-10).fit(X, y)
    given = OWL(tyto.owl_weights("bh", 20), alpha=0.05, tol=1e-10).fit(X, y)
    np.testing.assert_array_equal(named.coef_, given.coef_)
    for solver in ("newton", "apgd", "spgd"):
        for screening in ("none", "seed", "safe", "strong"):
            other = OWL("bh", alpha=0.05, tol=1e-10, solver=solver, screening=screening).fit(X, y)
            np.testing.assert_allclose(other.coef_, named.coef_, atol=1e-4)
            assert other.certificate_.converged


def test_path():
    X, y, _ = grouped(60, 40)
    path = tyto.owl_path(X, y, weights="bh", n_alphas=30, eps=0.05, tol=1e-9)
    assert len(path) == 30 and path.n_nonzero[0] == 0 and path.stopped_by == "none"
    np.testing.assert_allclose(path.alphas[[0, -1]], [path.alpha_max, 0.05 * path.alpha_max])
    for k in (10, 29):
        one = OWL("bh", alpha=path.alphas[k], tol=1e-9).fit(X, y)
        np.testing.assert_allclose(path.coefs[:, k], one.coef_, atol=1e-5)
        np.testing.assert_allclose(path.certificates[k].primal, one.certificate_.primal, rtol=1e-8)
        np.testing.assert_allclose(path.predict(X)[:, k], one.predict(X), atol=1e-4)
    short = OWL("bh", tol=1e-9).path(X, y, alphas=[0.01, 0.1, 0.05])
    np.testing.assert_allclose(short.alphas, [0.1, 0.05, 0.01])
    np.testing.assert_allclose(short.coefs[:, 1], OWL("bh", alpha=0.05, tol=1e-9).fit(X, y).coef_, atol=1e-5)
    assert tyto.owl_path(X, y, max_explained=0.5).stopped_by == "max_explained"
    assert tyto.owl_path(X, y, max_nonzeros=3).n_nonzero[-1] >= 3


def test_cv_is_scikit_learns_for_the_lasso():
    X, y, _ = grouped(90, 20, noise=2)
    theirs = LassoCV(cv=5, tol=1e-10, max_iter=10**6).fit(X, y)
    ours = OWLCV("lasso", n_alphas=100, eps=1e-3, cv=KFold(5), tol=1e-10).fit(X, y)
    np.testing.assert_allclose(ours.path_.alphas, theirs.alphas_, rtol=1e-9)
    np.testing.assert_allclose(ours.cv_errors_, theirs.mse_path_, rtol=1e-4)
    np.testing.assert_allclose(ours.alpha_, theirs.alpha_, rtol=1e-9)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert tyto.verify(ours, X, y)


def test_cv_choices():
    X, y, _ = grouped(60, 20, noise=3)
    best = OWLCV("bh", q=[0.05, 0.2], n_alphas=20, cv=KFold(4, shuffle=True, random_state=0)).fit(X, y)
    simple = OWLCV("bh", q=best.q_, n_alphas=20, cv=KFold(4, shuffle=True, random_state=0), choose="one-se").fit(X, y)
    assert simple.alpha_ >= best.alpha_ and simple.one_se_index_ == best.one_se_index_
    np.testing.assert_array_equal(OWLCV("bh", q=best.q_, n_alphas=20, n_jobs=2,
                                        cv=KFold(4, shuffle=True, random_state=0)).fit(X, y).coef_, best.coef_)
    assert OWLCV(n_alphas=5, cv=LeaveOneOut(), scoring="mae").fit(X, y).cv_errors_.shape == (5, 60)
    folds = list(GroupKFold(3).split(X, y, np.arange(60) % 7))
    assert OWLCV(n_alphas=5, cv=folds, scoring="r2").fit(X, y).cv_errors_.shape == (5, 3)
    with pytest.raises(ValueError, match="hold out every row once"):
        OWLCV(cv=ShuffleSplit(3)).fit(X, y)


def test_warm_start():
    X, y, _ = grouped(60, 40)
    model = OWL("oscar", alpha=0.01, solver="apgd", warm_start=True, standardize=True).fit(X, y)
    first = model.n_iter_
    assert model.fit(X, y).n_iter_ < first
    assert model.fit(X[:, :10], y).coef_.shape == (10,)


def test_warnings_say_what_to_do():
    X, y, _ = grouped(60, 40)
    with pytest.warns(ConvergenceWarning, match="Raise it, or tol"):
        model = OWL(alpha=0.001, relative=True, solver="apgd", max_iter=2, tol=1e-9).fit(X, y)
    assert model.certificate_.status == "epoch_limit" and model.dual_gap_ > 1e-9 * model.certificate_.primal
    assert tyto.verify(model, X, y)
    with pytest.warns(ConvergenceWarning, match="rounding errors"):
        OWL(alpha=0.01, tol=1e-17).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="owl_path.*max_iter"):
        tyto.owl_path(X, y, solver="apgd", max_iter=1, n_alphas=3)
    with pytest.warns(ConvergenceWarning, match=r"owl_path: 1 of 50 alphas were fitted: max_seconds was reached. Raise it"):
        path = tyto.owl_path(X, y, max_seconds=1e-9, n_alphas=50)
    assert path.stopped_by == "max_seconds" and path.certificates[0].converged  # so no other warning says it
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OWL(alpha=0.01).fit(X, y)


@pytest.mark.parametrize("options, error, message", [
    ({"alpha": 0}, ValueError, "alpha: want a finite number > 0, got 0"),
    ({"alpha": -1.0}, ValueError, "alpha"),
    ({"alpha": float("nan")}, ValueError, "alpha"),
    ({"alpha": "1"}, TypeError, "alpha: want a number"),
    ({"weights": "ridge"}, ValueError, "weights: unknown kind 'ridge'; known: oscar"),
    ({"weights": [1.0, 2.0, 3.0]}, ValueError, "weights"),
    ({"weights": np.arange(20.0)}, ValueError, "weights"),
    ({"q": 1.5, "weights": "bh"}, ValueError, "q: want"),
    ({"tol": 0}, ValueError, "tol: want"),
    ({"tol": 1.0}, ValueError, r"tol: want a number in \(0, 1\), got 1.0"),
    ({"tol": 2}, ValueError, r"tol: want a number in \(0, 1\), got 2"),
    ({"q": 0, "weights": "bh"}, ValueError, r"q: want a number in \(0, 1\], got 0"),
    ({"ridge": -1}, ValueError, "ridge: want a finite number >= 0, got -1"),
    ({"ridge": float("inf")}, ValueError, "ridge: want a finite number >= 0, got inf"),
    ({"alpha": 1e308}, ValueError, "alpha: "),
    ({"weights": ["a"]}, ValueError, "weights: want a name or numbers"),
    ({"weights": None}, ValueError, "weights: want a name"),
    ({"max_iter": -1}, ValueError, "max_iter: want a whole number >= 0, got -1"),
    ({"solver": None}, TypeError, "solver: want a word, got None"),
    ({"max_iter": 1.5}, TypeError, "max_iter: want a whole number"),
    ({"solver": "magic"}, ValueError, "solver"),
    ({"screening": "magic"}, ValueError, "screening"),
    ({"n_jobs": 0}, ValueError, "n_jobs"),
    ({"max_seconds": -1}, ValueError, "max_seconds"),
])
def test_mistakes(options, error, message):
    X, y, _ = grouped(30, 20)
    with pytest.raises(error, match=message):
        OWL(**options).fit(X, y)


@pytest.mark.parametrize("options, message", [
    ({"eps": 1}, r"eps: want a number in \(0, 1\), got 1"),
    ({"eps": 1e-320}, "eps: want a last strength above"),
    ({"n_alphas": 0}, "n_alphas: want a whole number >= 1, got 0"),
    ({"alphas": []}, "alphas: want at least one number"),
    ({"alphas": [1, -1]}, "alphas: want a finite number > 0, got -1"),
    ({"max_explained": 1.5}, r"max_explained: want a number in \(0, 1\], got 1.5"),
    ({"min_change": 0}, r"min_change: want a number in \(0, 1\], got 0"),
    ({"max_nonzeros": 0}, "max_nonzeros: want a whole number >= 1, got 0"),
    ({"max_clusters": -3}, "max_clusters: want a whole number >= 1, got -3"),
])
def test_mistakes_of_paths(options, message):
    X, y, _ = grouped(30, 20)
    with pytest.raises(ValueError, match=message):
        tyto.owl_path(X, y, **options)


def test_mistakes_of_cross_validation():
    X, y, _ = grouped(30, 20)
    with pytest.raises(ValueError, match="scoring: want 'mse', 'mae', 'r2', 'deviance' or a scorer of scikit-learn by name .*, got 'rmse'"):
        OWLCV(scoring="rmse").fit(X, y)
    with pytest.raises(ValueError, match="scoring: want mse or mae where the response is constant"):
        OWLCV(scoring="r2").fit(X, np.ones(30))
    with pytest.raises(ValueError, match="cv: want rows of positive weight outside each fold"):
        OWLCV(cv=KFold(2)).fit(X, y, sample_weight=np.arange(30) < 15)


def test_a_failed_fit_changes_nothing():
    X, y, _ = grouped(30, 5)
    model = OWL(alpha=0.1).fit(X, y)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((30, 7), np.nan), y)
    assert {name: id(value) for name, value in vars(model).items()} == {name: id(value) for name, value in before.items()}


def test_constant_and_huge_data():
    y = np.full(10, 3.0)
    model = OWL(alpha=0.1).fit(np.eye(10)[:, :4], y)
    assert model.intercept_ == 3 and not model.coef_.any() and model.dual_gap_ == 0
    with pytest.raises(ValueError, match="squares can be added"):
        OWL(alpha=0.1).fit(np.full((10, 2), 1e200) * np.arange(1, 11)[:, None], np.arange(10.0))
