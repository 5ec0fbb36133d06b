"""Slopes, relaxed fits, criteria along a path, the level of the noise: by definitions written out plainly."""
import pickle
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

import tyto
from tyto import OWL, OWLCV
from support import grouped


def noisy(n=60, p=20, noise=1.0):
    X, y, _ = grouped(n, p, noise=noise)
    return X * np.linspace(0.5, 2, p) + 1, y - 2 * X[:, 5] + 3


def test_slope():
    np.testing.assert_allclose(tyto.owl_weights("oscar", 4, slope=2), [2.5, 2, 1.5, 1])
    np.testing.assert_array_equal(tyto.owl_weights("oscar", 4, slope=0), tyto.owl_weights("lasso", 4))
    assert tyto.sorted_l1_norm([1.0, -2.0], "oscar", slope=4) == 2 * 3 + 1
    assert tyto.dual_sorted_l1_norm([6.0, 0.0], "oscar", slope=4) == 2
    np.testing.assert_array_equal(tyto.prox_sorted_l1([5.0, 1.0], "oscar", slope=4), [2, 0])
    X, y = noisy()
    steep = OWL("oscar", alpha=0.02, slope=5.0, tol=1e-10).fit(X, y)
    np.testing.assert_array_equal(steep.coef_, OWL(tyto.owl_weights("oscar", 20, slope=5), alpha=0.02, tol=1e-10).fit(X, y).coef_)
    assert len(steep.clusters_) < len(OWL("oscar", alpha=0.02, slope=0).fit(X, y).clusters_)
    assert tyto.verify(steep, X, y) and not tyto.verify(steep.set_params(slope=1), X, y)
    assert tyto.alpha_max(X, y, slope=5.0) == steep.alpha_max_ < tyto.alpha_max(X, y)
    np.testing.assert_allclose(tyto.owl_path(X, y, slope=5.0, alphas=[0.02], tol=1e-10).coefs[:, 0], steep.coef_, atol=1e-7)


def test_slope_by_cross_validation():
    X, y = noisy()
    best = OWLCV("oscar", slope=[0.0, 5.0], n_alphas=20, cv=4).fit(X, y)
    errors = {slope: OWLCV("oscar", slope=slope, n_alphas=20, cv=4).fit(X, y).cv_error_.min() for slope in (0.0, 5.0)}
    assert best.slope_ == min(errors, key=errors.get) and best.cv_error_.min() == min(errors.values())
    assert errors[0.0] != errors[5.0] and tyto.verify(best, X, y)
    with pytest.raises(ValueError, match="slope: want one number where the weights are not oscar"):
        OWLCV("bh", slope=[1, 2]).fit(X, y)


def least_squares_on(model, X, y, standardize=False):
    """Coefficients with one magnitude for each of the model's clusters, and the intercept."""
    scale = X.std(axis=0) if standardize else np.ones(X.shape[1])
    penalized = model.coef_ if model.relaxation_ is None else model.relaxation_.penalized_coef
    directions = np.zeros((X.shape[1], len(model.clusters_)))
    for k, columns in enumerate(model.clusters_):
        directions[columns, k] = np.sign(penalized[columns]) / scale[columns]
    sums = np.column_stack([np.ones(len(y)), X @ directions])
    found = np.linalg.lstsq(sums, y, rcond=None)[0]
    return directions @ found[1:], found[0]


@pytest.mark.parametrize("standardize", [False, True])
def test_relaxed(standardize):
    X, y = noisy()
    options = dict(weights="oscar", alpha=0.1, relative=True, standardize=standardize)
    plain = OWL(**options).fit(X, y)
    want, intercept = least_squares_on(plain, X, y, standardize)
    assert plain.relaxation_ is None
    for gamma in (0, 0.3, 1):
        model = OWL(**options, gamma=gamma).fit(X, y)
        np.testing.assert_allclose(model.coef_, (1 - gamma) * want + gamma * plain.coef_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(model.intercept_, (1 - gamma) * intercept + gamma * plain.intercept_, rtol=1e-9)
        np.testing.assert_array_equal(model.relaxation_.penalized_coef, plain.coef_)
        assert model.certificate_ == plain.certificate_ and model.relaxation_.gamma == gamma
        assert tyto.verify(model, X, y) and tyto.verify(pickle.loads(pickle.dumps(model)), X, y)
    path = OWL(**options, gamma=0.3).path(X, y, alphas=[plain.alpha_])
    np.testing.assert_allclose(path.coefs[:, 0], OWL(**options, gamma=0.3).fit(X, y).coef_, atol=1e-5)
    np.testing.assert_allclose(path.explained[0], 1 - ((y - path.predict(X)[:, 0]) ** 2).sum() / ((y - y.mean()) ** 2).sum())
    assert path.gamma == 0.3 and OWL(**options).path(X, y, n_alphas=3).gamma is None


def test_verify_looks_at_the_relaxed_part():
    X, y = noisy()
    weights = np.random.default_rng(1).integers(1, 4, size=60)
    model = OWL("bh", alpha=0.1, gamma=0.5, ridge=0.1, unpenalized=[3], standardize=True).fit(X, y, sample_weight=weights)
    assert tyto.verify(model, X, y, sample_weight=weights)
    right = model.coef_
    model.coef_ = right * 1.001
    assert "mixture" in tyto.verify(model, X, y, sample_weight=weights).reason
    model.coef_ = right
    ends = model.relaxation_
    model.relaxation_ = tyto.Relaxation(0.0, ends.penalized_coef, ends.penalized_intercept, right, model.intercept_)
    assert "normal equations" in tyto.verify(model, X, y, sample_weight=weights).reason


def test_relaxed_by_cross_validation():
    X, y = noisy(noise=2)
    model = OWLCV("bh", gamma=[1.0, 0.5, 0.0], n_alphas=8, cv=KFold(4), tol=1e-10).fit(X, y)
    errors = {gamma: OWLCV("bh", gamma=gamma, n_alphas=8, cv=KFold(4), tol=1e-10).fit(X, y).cv_error_.min() for gamma in (1.0, 0.5, 0.0)}
    assert model.gamma_ == min(errors, key=errors.get) < 1
    assert model.relaxation_.gamma == model.path_.gamma == model.gamma_ and tyto.verify(model, X, y)
    np.testing.assert_array_equal(model.coef_, model.path_.coefs[:, model.best_index_])
    for fold, (training, held_out) in enumerate(KFold(4).split(X)):
        one = OWL("bh", alpha=model.alpha_, gamma=model.gamma_, tol=1e-10).fit(X[training], y[training])
        error = ((y[held_out] - one.predict(X[held_out])) ** 2).mean()
        np.testing.assert_allclose(model.cv_errors_[model.best_index_, fold], error, rtol=1e-4)
    assert OWLCV("bh", n_alphas=8).fit(X, y).gamma_ is None


def test_warm_start_from_a_relaxed_fit():
    X, y = noisy()
    model = OWL("oscar", alpha=0.01, solver="apgd", gamma=0, warm_start=True).fit(X, y)
    first, coef = model.n_iter_, model.coef_
    assert model.fit(X, y).n_iter_ < first / 2
    np.testing.assert_allclose(model.coef_, coef, atol=1e-6)


def test_criteria():
    X, y = noisy()
    path = tyto.owl_path(X, y, weights="oscar", n_alphas=40, tol=1e-10)
    squares = ((y[:, None] - path.predict(X)) ** 2).sum(axis=0)
    df = np.array([len(clusters) + 1 for clusters in path.clusters])
    expected = {"df": df, "aic": 60 * np.log(squares / 60) + 2 * df, "bic": 60 * np.log(squares / 60) + np.log(60) * df,
                "cp": squares * (60 - df[-1]) / squares[-1] - 60 + 2 * df}
    for name, values in expected.items():
        np.testing.assert_allclose(path.criteria[name], values, rtol=1e-8)
        assert name == "df" or path.choose(name) == np.argmin(values)
    assert path.choose("bic") <= path.choose("aic")  # a larger alpha
    known = tyto.owl_path(X, y, weights="oscar", n_alphas=40, tol=1e-10, sigma=3.0)
    np.testing.assert_allclose(known.criteria["cp"], squares / 9 - 60 + 2 * df, rtol=1e-8)
    assert known.choose("cp") < path.choose("cp")
    assert pickle.loads(pickle.dumps(path)).choose("bic") == path.choose("bic")
    with pytest.raises(ValueError, match="choose: want aic, bic or cp, got 'mse'"):
        path.choose("mse")


def test_degrees_of_freedom_with_a_ridge():
    X, y = noisy()
    path = tyto.owl_path(X, y, weights="oscar", ridge=0.3, fit_intercept=False, n_alphas=10)
    for k, clusters in enumerate(path.clusters):
        sums = np.array([X[:, columns] @ np.sign(path.coefs[columns, k]) for columns in clusters]).reshape(len(clusters), 60)
        gram, ridge = sums @ sums.T, 60 * 0.3 * np.diag([len(columns) for columns in clusters])
        np.testing.assert_allclose(path.criteria["df"][k], np.trace(np.linalg.solve(gram + ridge, gram)) if clusters else 0, rtol=1e-9)


def test_criteria_of_relaxed_fits_and_wide_data():
    X, y = noisy()
    weights = np.random.default_rng(1).integers(1, 4, size=60)
    relaxed = tyto.owl_path(X, y, weights="bh", gamma=0, n_alphas=10, sample_weight=weights)
    squares = weights @ (y[:, None] - relaxed.predict(X)) ** 2
    n = weights.sum()
    np.testing.assert_allclose(relaxed.criteria["aic"], n * np.log(squares / n) + 2 * relaxed.criteria["df"], rtol=1e-8)
    for other in (OWLCV("bh", n_alphas=5).fit(X, y).path_, tyto.owl_path(X, y, criteria=False, n_alphas=5)):
        assert other.criteria is None
        with pytest.raises(ValueError, match="choose: want a path with criteria"):
            other.choose("bic")
    wide = tyto.owl_path(*noisy(30, 40), n_alphas=10)
    assert np.isnan(wide.criteria["cp"]).all() and 0 < wide.choose("bic")
    with pytest.raises(ValueError, match="cp needs the level of the noise.*sigma="):
        wide.choose("cp")
    assert tyto.owl_path(*noisy(30, 40), n_alphas=10, sigma=1.0).choose("cp") > 0


def test_sigma_given():
    X, y = noisy()
    model = OWL("bh", alpha=0.5, sigma=1.0, standardize=True).fit(X, y)
    np.testing.assert_allclose(model.alpha_, 1 / np.sqrt(60))
    assert (model.sigma_, model.sigma_status_) == (1.0, "given") and tyto.verify(model, X, y)
    np.testing.assert_allclose(model.coef_, OWL("bh", alpha=model.alpha_, standardize=True).fit(X, y).coef_, rtol=1e-9)
    own_scale = OWL("gaussian", sigma=2.0).fit(X, y)
    np.testing.assert_allclose(own_scale.alpha_, 2 * np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=0).mean()) / 60)
    plain = OWL("bh", alpha=0.1).fit(X, y)
    assert plain.sigma_ is None and plain.sigma_status_ is None
    assert len(model.path(X, y, n_alphas=4)) == 4


@pytest.mark.parametrize("gamma", [None, 0.0])
def test_sigma_estimated(gamma):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 50))
    y = X[:, :4] @ [4.0, -3, 3, 2] + 1.5 * rng.normal(size=300) + 7
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = OWL("bh", sigma="estimate", standardize=True, gamma=gamma).fit(X, y)
    support = np.flatnonzero(model.coef_)
    chosen = np.column_stack([np.ones(300), X[:, support]])
    residual = y - chosen @ np.linalg.lstsq(chosen, y, rcond=None)[0]
    np.testing.assert_allclose(model.sigma_, np.sqrt(residual @ residual / (300 - 1 - len(support))), rtol=1e-9)
    assert abs(model.sigma_ - 1.5) < 0.2 and set(range(4)) <= set(support) and model.sigma_status_ == "converged"
    np.testing.assert_allclose(model.alpha_, model.sigma_ / np.sqrt(300))
    assert tyto.verify(model, X, y)


def test_an_estimate_that_does_not_settle_warns():
    X = np.random.default_rng(0).normal(size=(50, 10))
    with pytest.warns(ConvergenceWarning, match="did not settle: least squares.*Give a number as sigma"):
        model = OWL("bh", sigma="estimate").fit(X, 10 * X[:, 0])
    assert model.sigma_status_ == "no_noise"
    X, y = noisy()
    with pytest.warns(ConvergenceWarning) as said:
        OWL("bh", sigma="estimate", solver="apgd", screening="none", tol=1e-12, max_seconds=1e-9).fit(X, y)
    assert "did not settle: the limit of time" in str(said[0].message) and "relative duality gap" in str(said[1].message)


@pytest.mark.parametrize("options, error, message", [
    ({"weights": "lasso", "sigma": 1.0}, ValueError, "sigma: want weights bh or gaussian, got 'lasso'"),
    ({"weights": np.ones(20), "sigma": "estimate"}, ValueError, "sigma: want weights bh or gaussian, got 'given'"),
    ({"weights": "bh", "sigma": "guess"}, ValueError, "sigma: want a number > 0, 'estimate' or None, got 'guess'"),
    ({"weights": "bh", "sigma": 0}, ValueError, "sigma: want a finite number > 0, got 0"),
    ({"gamma": 1.5}, ValueError, r"gamma: want a number in \[0, 1\], got 1.5"),
    ({"gamma": [0, 1]}, TypeError, r"gamma: want a number, got \[0, 1\]"),
    ({"gamma": 0, "positive": True}, ValueError, "gamma: want None where positive=True"),
    ({"slope": -1}, ValueError, "slope: want a finite number >= 0, got -1"),
    ({"slope": [1, 2]}, TypeError, "slope: want a number"),
])
def test_mistakes(options, error, message):
    X, y = noisy()
    with pytest.raises(error, match=message):
        OWL(**options).fit(X, y)


@pytest.mark.parametrize("call, message", [
    (lambda X, y: tyto.owl_path(X, y, sigma="estimate"), "sigma: want a number or None, got 'estimate'"),
    (lambda X, y: tyto.owl_path(X, y, gamma=-1), r"gamma: want a number in \[0, 1\], got -1"),
    (lambda X, y: OWLCV(gamma=[0, 2]).fit(X, y), r"gamma: want a number in \[0, 1\], got 2"),
    (lambda X, y: OWLCV(gamma=[0, 0]).fit(X, y), "gamma: want each number once"),
    (lambda X, y: OWLCV(gamma=0, positive=True).fit(X, y), "gamma: want None where positive=True"),
    (lambda X, y: OWLCV(slope=[]).fit(X, y), "slope: want at least one number"),
    (lambda X, y: OWLCV("bh", q=[]).fit(X, y), "q: want at least one number"),
])
def test_mistakes_of_paths(call, message):
    X, y = noisy()
    with pytest.raises(ValueError, match=message):
        call(X, y)
