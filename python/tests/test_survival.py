"""The loss "cox": a structured response, scores, agreement with code of others."""
import numpy as np
import pytest
from scipy import sparse

from tyto import OWL, OWLCV, owl_path, verify


def survival(event, time):
    y = np.empty(len(time), [("event", bool), ("time", float)])
    y["event"], y["time"] = event, time
    return y


@pytest.fixture
def data():
    random = np.random.default_rng(3)
    X = random.normal(size=(90, 30))
    until, seen = random.exponential(np.exp(-X[:, 0] - X[:, 1] + X[:, 5])), random.exponential(2, 90)
    return X, survival(until <= seen, np.ceil(20 * np.minimum(until, seen)))


def value(y, eta):
    """The negative partial likelihood of Breslow, by all pairs, less what no model could avoid."""
    there = y["time"][None, :] >= y["time"][:, None]
    tied = ((y["time"][None, :] == y["time"][:, None]) & y["event"][None, :]).sum(1)
    each = np.log((there * np.exp(eta)[None, :]).sum(1)) - eta - np.log(np.maximum(tied, 1))
    return each[y["event"]].sum()


def c_index(y, eta):
    pairs = y["event"][:, None] & ((y["time"][None, :] > y["time"][:, None])
                                   | ((y["time"][None, :] == y["time"][:, None]) & ~y["event"][None, :]))
    right = (eta[:, None] > eta[None, :]) + 0.5 * (eta[:, None] == eta[None, :])
    return (right * pairs).sum() / pairs.sum()


def test_objective_predictions_and_score(data):
    X, y = data
    model = OWL("lasso", alpha=0.03, loss="cox", tol=1e-12).fit(X, y)
    eta = model.predict(X)
    np.testing.assert_allclose(eta, X @ model.coef_, rtol=0, atol=1e-12)
    assert model.intercept_ == 0 and 0 < np.count_nonzero(model.coef_) < 30
    assert model.certificate_.primal == pytest.approx(value(y, eta) / len(y) + 0.03 * np.abs(model.coef_).sum(), rel=1e-12)
    assert model.score(X, y) == pytest.approx(c_index(y, eta), rel=1e-12)
    assert model.score(X, y, sample_weight=np.ones(len(y))) == pytest.approx(c_index(y, eta), rel=1e-12)
    check = verify(model, X, y)
    assert check and abs(check.gap) <= 1e-12 * check.primal
    other = y.copy()
    other["event"] = ~other["event"]
    assert not verify(model, X, other)


def test_storage_weights_offset_and_the_rest(data):
    X, y = data
    settings = dict(weights="bh", alpha=0.1, relative=True, loss="cox", standardize=True, tol=1e-12)
    thin = np.where(np.abs(X) > 1, X, 0)
    dense, thinned = OWL(**settings).fit(thin, y), OWL(**settings).fit(sparse.csr_matrix(thin), y)
    np.testing.assert_allclose(dense.coef_, thinned.coef_, atol=1e-9)
    weights = np.ones(len(y))
    weights[::3] = 2
    twice = np.r_[np.arange(len(y)), np.arange(0, len(y), 3)]
    np.testing.assert_allclose(OWL(**settings).fit(X, y, weights).coef_, OWL(**settings).fit(X[twice], y[twice]).coef_, atol=1e-9)
    for more in (dict(ridge=0.1), dict(positive=True), dict(unpenalized=[1, 7]), dict(fit_intercept=False), dict(solver="apgd", tol=1e-8)):
        model = OWL(**{**settings, **more}).fit(X, y, weights, offset=0.1 * X[:, 3])
        assert verify(model, X, y, weights, 0.1 * X[:, 3]), more
    other = y.copy()
    other["time"] **= 2  # only the order counts
    np.testing.assert_array_equal(OWL(**settings).fit(X, other).coef_, OWL(**settings).fit(X, y).coef_)


def test_path(data):
    X, y = data
    path = owl_path(X, y, loss="cox", weights="bh", n_alphas=20)
    assert (path.intercepts == 0).all() and all(c.converged for c in path.certificates)
    np.testing.assert_allclose(path.predict(X), X @ path.coefs, atol=1e-12)
    null = value(y, np.zeros(len(y)))
    np.testing.assert_allclose(path.explained, [1 - value(y, eta) / null for eta in path.predict(X).T], atol=1e-10)
    events = y["event"].sum()
    deviance = np.array([2 * value(y, eta) for eta in path.predict(X).T])
    np.testing.assert_allclose(path.criteria["bic"], deviance + np.log(events) * path.criteria["df"], rtol=1e-9)
    assert path.criteria["df"][0] == 0
    assert 0 < path.choose("bic") < 19


@pytest.mark.parametrize("scoring", ["auto", "c-index", "deviance"])
def test_cross_validation(data, scoring):
    X, y = data
    model = OWLCV("bh", loss="cox", cv=5, n_alphas=15, scoring=scoring).fit(X, y)
    counts = np.bincount(model.folds_[y["event"]])
    assert counts.max() - counts.min() <= 1
    assert model.scoring_ == ("deviance" if scoring == "auto" else scoring)
    assert model.score(X, y) > 0.6
    assert verify(model, X, y)
    fold, step = 2, 9
    train = model.folds_ != fold
    part = OWL("bh", alpha=model.path_.alphas[step], loss="cox", tol=1e-8).fit(X[train], y[train])
    eta = part.predict(X)
    held_out = c_index(y[~train], eta[~train]) if scoring == "c-index" else 2 * (value(y, eta) - value(y[train], eta[train])) / (~train).sum()
    assert model.cv_errors_[step, fold] == pytest.approx(held_out, rel=1e-3)


def test_a_callable_gets_the_response_of_users(data):
    X, y = data
    seen = []

    def scoring(model, X, y):
        seen.append(y.dtype["event"])
        return model.score(X, y)
    model = OWLCV("lasso", loss="cox", cv=3, n_alphas=5, scoring=scoring).fit(X, y)
    assert set(seen) == {np.dtype(bool)} and model.cv_error_.max() > 0.5


def test_what_is_refused(data):
    X, y = data
    for bad in (y["time"], np.c_[y["event"], y["time"]], list(y["time"]), y[["event"]]):
        with pytest.raises(ValueError, match="y: want a structured array"):
            OWL(loss="cox").fit(X, bad)
    with pytest.raises(ValueError, match="y: want 90 rows"):
        OWL(loss="cox").fit(X, y[:50])
    none = y.copy()
    none["event"] = False
    with pytest.raises(ValueError, match="y: want at least one row with an event"):
        OWL(loss="cox").fit(X, none)
    late = y.copy()
    late["time"][3] = np.inf
    with pytest.raises(ValueError, match="y: want finite times"):
        owl_path(X, late, loss="cox")
    with pytest.raises(ValueError, match="scoring: want"):
        OWLCV(loss="cox", scoring="mse").fit(X, y)
    words = np.array([("yes", 1.0)] * 90, dtype=[("event", "U3"), ("time", float)])
    with pytest.raises(ValueError, match="as events"):
        OWL(loss="cox").fit(X, words)


def test_agreement_with_scikit_survival(data):
    linear_model = pytest.importorskip("sksurv.linear_model")
    metrics = pytest.importorskip("sksurv.metrics")
    X, y = data
    X = X[:, :8]
    # Without a penalty, with the ties of Breslow.
    theirs = linear_model.CoxPHSurvivalAnalysis(ties="breslow", tol=1e-14).fit(X, y)
    ours = OWL("lasso", alpha=1e-8, loss="cox", tol=1e-9).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert ours.score(X, y) == pytest.approx(metrics.concordance_index_censored(y["event"], y["time"], ours.predict(X))[0], rel=1e-12)
    # The lasso: no worse an objective, and the same coefficients.
    net = linear_model.CoxnetSurvivalAnalysis(l1_ratio=1.0, alphas=[0.05], tol=1e-12, max_iter=1_000_000).fit(X, y)
    for scale in (1.0, 0.5, 2.0):
        model = OWL("lasso", alpha=0.05 * scale, loss="cox", tol=1e-12).fit(X, y)
        if np.allclose(model.coef_, net.coef_[:, 0], atol=1e-6):
            return
    pytest.fail("at no scale of alpha the same coefficients")
