"""OWL, OWLCV and owl_path with losses for counts and for outliers, and offsets."""
import numpy as np
import pytest
from sklearn.linear_model import HuberRegressor, PoissonRegressor
from sklearn.metrics import mean_poisson_deviance

import tyto
from tyto import OWL, OWLCV
from support import norm


def counts(n=90, p=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    exposure = rng.uniform(0.5, 4, size=n)
    return X, rng.poisson(exposure * np.exp(0.4 * X[:, 0] - 0.3 * X[:, 1] + 0.5)).astype(float), exposure


def outliers(n=60, p=10, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = 2 * X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=n)
    y[::10] += 30
    return X, y


def half_deviance(y, mu):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(y > 0, y * np.log(y / mu), 0) - y + mu


def huber(u, delta):
    return np.where(abs(u) <= delta, u * u / 2, delta * abs(u) - delta * delta / 2)


def test_is_poisson_regression_with_a_ridge():
    X, y, _ = counts()
    ours = OWL("lasso", alpha=1e-12, loss="poisson", ridge=0.1, tol=1e-10).fit(X, y)
    theirs = PoissonRegressor(alpha=0.1, tol=1e-12, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-6)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-5)
    found, other = (half_deviance(y, m.predict(X)).mean() + 0.05 * m.coef_ @ m.coef_ for m in (ours, theirs))
    np.testing.assert_allclose(ours.certificate_.primal, found, rtol=1e-9)
    assert found <= other * (1 + 1e-9)


@pytest.mark.parametrize("weights", ["oscar", "lasso", "bh"])
def test_certificate_of_counts(weights):
    X, y, exposure = counts()
    penalty = 0.05 * tyto.owl_weights(weights, 20)
    for offset in (None, np.log(exposure)):
        model = OWL(weights, alpha=0.05, loss="poisson").fit(X, y, offset=offset)
        mu = model.predict(X, offset=offset)
        np.testing.assert_allclose(mu, np.exp(X @ model.coef_ + model.intercept_ + (0 if offset is None else offset)), rtol=1e-12)
        np.testing.assert_allclose(model.certificate_.primal, half_deviance(y, mu).mean() + norm(model.coef_, penalty), rtol=1e-10)
        assert tyto.verify(model, X, y, offset=offset) and tyto.verify(model, X, y, offset=exposure).holds is False
        assert model.certificate_.converged and abs((y - mu).sum()) < 1e-5 * y.sum()


def test_an_offset_is_an_exposure():
    """Counts of an exposure are rates that count as often as the exposure."""
    X, y, exposure = counts()
    total = exposure.sum()
    by_offset = OWL("bh", alpha=0.05, loss="poisson", tol=1e-10).fit(X, y, offset=np.log(exposure))
    by_rates = OWL("bh", alpha=0.05 * len(y) / total, loss="poisson", tol=1e-10).fit(X, y / exposure, sample_weight=exposure)
    np.testing.assert_allclose(by_offset.coef_, by_rates.coef_, atol=1e-5)
    np.testing.assert_allclose(by_offset.intercept_, by_rates.intercept_, atol=1e-5)


def test_is_huber_regression_with_a_ridge():
    """HuberRegressor estimates a scale; with delta in its units the same coefficients are best."""
    X, y = outliers()
    theirs = HuberRegressor(epsilon=1.5, alpha=1e-3, tol=1e-10, max_iter=10_000).fit(X, y)
    delta, n = 1.5 * theirs.scale_, len(y)
    ours = OWL("lasso", alpha=1e-12, loss="huber", huber_delta=delta, ridge=1e-3 * theirs.scale_ / n, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)


def test_outliers_count_less():
    X, y = outliers()
    robust = OWL("bh", alpha=0.02, loss="huber", huber_delta=1.0).fit(X, y)
    squares = OWL("bh", alpha=0.02).fit(X, y)
    truth = np.r_[2, -1, np.zeros(8)]
    assert np.linalg.norm(robust.coef_ - truth) < 0.3 * np.linalg.norm(squares.coef_ - truth)
    penalty = 0.02 * tyto.owl_weights("bh", 10)
    np.testing.assert_allclose(robust.certificate_.primal, huber(y - robust.predict(X), 1.0).mean() + norm(robust.coef_, penalty), rtol=1e-10)
    assert tyto.verify(robust, X, y)
    wide = OWL("bh", alpha=0.02, loss="huber", huber_delta=1e3, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(wide.coef_, OWL("bh", alpha=0.02, tol=1e-10).fit(X, y).coef_, atol=1e-5)


@pytest.mark.parametrize("loss", ["gaussian", "huber"])
def test_an_offset_is_taken_off_numbers(loss):
    X, y = outliers()
    offset = np.random.default_rng(1).normal(size=60)
    model = OWL("bh", alpha=0.05, loss=loss, tol=1e-10).fit(X, y, offset=offset)
    other = OWL("bh", alpha=0.05, loss=loss, tol=1e-10).fit(X, y - offset)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-6)
    np.testing.assert_allclose(model.predict(X, offset), other.predict(X) + offset, atol=1e-5)
    assert tyto.verify(model, X, y, offset=offset) and not tyto.verify(model, X, y)


@pytest.mark.parametrize("loss", ["gaussian", "poisson"])
@pytest.mark.parametrize("scoring", ["auto", "deviance", "mae"])
def test_cross_validation_with_an_offset(loss, scoring):
    X, y, exposure = counts()
    offset = np.log(exposure)
    model = OWLCV("bh", loss=loss, scoring=scoring, n_alphas=8, cv=3, tol=1e-10).fit(X, y, offset=offset)
    assert model.scoring_ == (scoring if scoring != "auto" else "mse" if loss == "gaussian" else "deviance")
    score = {"mae": lambda y, mu: abs(y - mu).mean(), "mse": lambda y, mu: ((y - mu) ** 2).mean(),
             "deviance": mean_poisson_deviance if loss == "poisson" else lambda y, mu: ((y - mu) ** 2).mean()}[model.scoring_]
    found = []
    for fold in range(3):
        training, held_out = model.folds_ != fold, model.folds_ == fold
        one = OWL("bh", alpha=model.alpha_, loss=loss, tol=1e-10).fit(X[training], y[training], offset=offset[training])
        found.append(score(y[held_out], one.predict(X[held_out], offset[held_out])))
    np.testing.assert_allclose(model.cv_errors_[model.best_index_], found, rtol=1e-4)
    path = tyto.owl_path(X, y, offset=offset, loss=loss, weights="bh", alphas=model.path_.alphas, tol=1e-10)
    np.testing.assert_allclose(path.coefs, model.path_.coefs, atol=1e-5)
    np.testing.assert_allclose(path.predict(X, offset), np.column_stack(
        [model.with_choice(k).predict(X, offset) for k in range(8)]), rtol=1e-4)
    alpha = tyto.alpha_max(X, y, offset=offset, loss=loss, weights="bh")
    np.testing.assert_allclose(alpha, path.alpha_max, rtol=1e-10)


def test_scorers_see_means():
    X, y, _ = counts()
    ours = OWLCV(loss="poisson", n_alphas=6, cv=3).fit(X, y)
    theirs = OWLCV(loss="poisson", n_alphas=6, cv=3, scoring="neg_mean_poisson_deviance").fit(X, y)
    np.testing.assert_allclose(-theirs.cv_errors_, ours.cv_errors_, rtol=1e-8)
    assert theirs.scoring_ == "neg_mean_poisson_deviance" and theirs.best_index_ == ours.best_index_
    assert ours.score(X, y) > 0.1  # R2 of the means


@pytest.mark.parametrize("options, y, message", [
    ({"loss": "poisson"}, lambda y: y - 1, "^y: row [0-9]+: want a count >= 0, got -1$"),
    ({"loss": "poisson"}, lambda y: 0 * y, "^y: want counts of which some are above 0, got none$"),
    ({"loss": "poisson", "gamma": 0}, lambda y: y, "gamma: want none with the loss poisson"),
    ({"loss": "poisson", "sigma": 1.0, "weights": "bh"}, lambda y: y, "sigma: want none with the loss poisson"),
    ({"loss": "huber", "huber_delta": 0}, lambda y: y, "huber_delta: want a finite number > 0, got 0"),
    ({"loss": "huber", "huber_delta": np.nan}, lambda y: y, "huber_delta: want a finite number > 0, got nan"),
    ({"loss": "normal"}, lambda y: y, "^loss: want 'gaussian', 'poisson', 'huber' or 'cox', got 'normal'$"),
])
def test_what_cannot_be(options, y, message):
    X, given, _ = counts()
    with pytest.raises(ValueError, match=message):
        OWL(**options).fit(X, y(given))


@pytest.mark.parametrize("offset, message", [
    (np.ones(5), "offset: want 90 finite numbers, one for each row, got 5"), (np.full(90, np.inf), "offset: want 90 finite numbers, one for each row, got .*inf"),
    ("log", "offset: want 90 finite numbers"), (np.ones((90, 1)), "offset: want 90 finite numbers"), (0.5, "offset: want 90 finite numbers"),
])
def test_offsets_that_cannot_be(offset, message):
    X, y, _ = counts()
    model = OWL(loss="poisson").fit(X, y)
    for call in (lambda: OWL(loss="poisson").fit(X, y, offset=offset), lambda: OWLCV(loss="poisson").fit(X, y, offset=offset),
                 lambda: tyto.owl_path(X, y, loss="poisson", offset=offset), lambda: tyto.alpha_max(X, y, loss="poisson", offset=offset),
                 lambda: model.predict(X, offset=offset), lambda: tyto.verify(OWL().fit(X, y), X, y, offset=offset)):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(ValueError, match="scoring: want 'mse', .* where there is an offset"):
        OWLCV(loss="poisson", scoring="explained_variance", n_alphas=3, cv=3).fit(X, y, offset=np.ones(90))


def test_criteria():
    X, y, _ = counts()
    path = tyto.owl_path(X, y, loss="poisson", n_alphas=30)
    assert 0 < path.choose("bic") < 30 and np.isnan(path.criteria["cp"]).all()
    with pytest.raises(ValueError, match="choose: cp needs .* with the loss poisson want 'aic' or 'bic'"):
        path.choose("cp")
