"""OWLCV: its folds, its grid, what it is scored by, which model it keeps, and when it has doubts."""
import os
import pickle
import subprocess
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import get_scorer, make_scorer, mean_squared_error
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit, cross_val_predict

import tyto
from tyto import OWL, OWLCV, ChoiceWarning
from support import grouped


def noisy(n=60, p=20, noise=2.0):
    X, y, _ = grouped(n, p, noise=noise)
    return X, y


def mersenne_twister(seed):
    """The 64-bit one, by its definition."""
    mask, state = 2**64 - 1, [seed]
    for i in range(1, 312):
        state.append((6364136223846793005 * (state[-1] ^ (state[-1] >> 62)) + i) & mask)
    while True:
        for i in range(312):
            x = (state[i] & (mask ^ 0x7FFFFFFF)) | (state[(i + 1) % 312] & 0x7FFFFFFF)
            state[i] = state[(i + 156) % 312] ^ (x >> 1) ^ (0xB5026F5AA96619E9 if x & 1 else 0)
        for x in state:
            x ^= (x >> 29) & 0x5555555555555555
            x ^= (x << 17) & 0x71D67FFFEDA60000
            x ^= (x << 37) & 0xFFF7EEE000000000
            yield (x ^ (x >> 43)) & mask


def folds_of_the_command_line(n, folds=10, seed=1):
    labels, bits = [row % folds for row in range(n)], mersenne_twister(seed)
    for left in range(n, 1, -1):
        place = next(bits) % left
        labels[left - 1], labels[place] = labels[place], labels[left - 1]
    return labels


def test_folds_are_those_of_the_command_line():
    X, y = noisy(97, 3)
    assert OWLCV(n_alphas=3).fit(X, y).folds_.tolist() == folds_of_the_command_line(97)
    model = OWLCV(n_alphas=3, cv=4, random_state=2**64 - 1).fit(X, y)
    assert model.folds_.tolist() == folds_of_the_command_line(97, 4, 2**64 - 1)
    assert model.cv_errors_.shape == (3, 4)


@pytest.mark.skipif("TYTO_PROGRAM" not in os.environ, reason="no command line at hand")
def test_cv_is_the_command_lines(tmp_path):
    X, y = noisy(97, 8)
    order = np.argsort(y)
    X, y = X[order], y[order]
    np.savetxt(tmp_path / "data.csv", np.column_stack([X, y]), delimiter=",", fmt="%.17g", comments="",
               header=",".join([*"abcdefgh", "y"]))
    done = subprocess.run([os.environ["TYTO_PROGRAM"], "cv", "data.csv", "--target", "y", "--weights", "bh", "--coefficients", "best.csv"],
                          cwd=tmp_path, capture_output=True, text=True, check=True)
    model = OWLCV("bh", standardize=True).fit(X, y)
    best = next(line for line in done.stdout.splitlines() if line.startswith("best:"))
    assert f"step {model.best_index_}," in best
    np.testing.assert_allclose(float(best.split("mse")[1].split()[0]), model.cv_error_.min(), rtol=1e-4)


def test_sorted_rows():
    """Folds of neighbours would hold out all of the largest y."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 8))
    y = np.sort(X @ rng.normal(size=8) + rng.normal(size=90))
    X = X[np.argsort(X @ np.ones(8))]
    shuffled, neighbours = (OWLCV(cv=cv).fit(X, y).cv_error_.min() for cv in (None, KFold(10)))
    assert shuffled < 0.8 * neighbours


def test_random_state():
    X, y = noisy()

    def folds(state):
        return OWLCV(n_alphas=2, cv=5, random_state=state).fit(X, y).folds_.tolist()

    assert folds(7) == folds(np.int64(7)) != folds(8)
    assert folds(np.random.RandomState(0)) == folds(np.random.RandomState(0))
    assert folds(np.random.default_rng(0)) == folds(np.random.default_rng(0))
    generator = np.random.default_rng(0)
    assert folds(generator) != folds(generator)
    assert folds(None) != folds(None)
    for wrong in (-1, 2**64, 1.5, "a", True):
        with pytest.raises((ValueError, TypeError), match="random_state: want"):
            folds(wrong)


def test_cv_takes_what_scikit_learn_takes():
    X, y = noisy()
    splits = list(KFold(4).split(X))
    want = OWLCV(n_alphas=5, cv=KFold(4)).fit(X, y)
    masks = [(np.isin(np.arange(60), training), np.isin(np.arange(60), held_out)) for training, held_out in splits]
    for cv in (splits, iter(splits), masks, [(list(a), list(b)) for a, b in splits], [(a - 60, b) for a, b in splits]):
        np.testing.assert_array_equal(OWLCV(n_alphas=5, cv=cv).fit(X, y).cv_errors_, want.cv_errors_)
    np.testing.assert_array_equal(want.folds_, np.repeat(np.arange(4), 15))
    assert OWLCV(n_alphas=2, cv=list(GroupKFold(3).split(X, y, np.arange(60) % 7))).fit(X, y).cv_errors_.shape == (2, 3)


@pytest.mark.parametrize("cv, message", [
    (1, "cv: want a number from 2 to n_samples=60, got 1"),
    (61, "cv: want a number from 2 to n_samples=60, got 61"),
    (0.5, "Expected `cv` as an integer"),
    ("five", "Expected `cv` as an integer"),
    (TimeSeriesSplit(3), "training rows that are all rows not held out|hold out every row once"),
    ([(np.arange(30), np.arange(30, 60))], "hold out every row once"),
    ([(np.arange(20), np.arange(30, 60)), (np.arange(30, 60), np.arange(30))], "training rows that are all rows not held out"),
    ([(np.arange(30), [60])], "pairs of training and held-out rows, numbers from 0 to 59"),
    ([np.arange(3)], "pairs of training and held-out rows"),
    ([(["a"], [1])], "pairs of training and held-out rows"),
])
def test_folds_that_cannot_be(cv, message):
    X, y = noisy()
    with pytest.raises(ValueError, match=message):
        OWLCV(n_alphas=2, cv=cv).fit(X, y)
    with pytest.raises(ValueError, match="n_samples=5, got 10 by default"):
        OWLCV(n_alphas=2).fit(X[:5], y[:5])


def test_alphas():
    X, y = noisy()
    grid = OWLCV("bh", cv=4).fit(X, y)
    some = grid.path_.alphas[[50, 10, 30]]
    model = OWLCV("bh", alphas=some, cv=4, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.path_.alphas, np.sort(some)[::-1], rtol=1e-12)
    np.testing.assert_allclose(model.cv_error_, grid.cv_error_[[10, 30, 50]], rtol=1e-4)
    np.testing.assert_allclose(model.alpha_max_, grid.alpha_max_)
    weights = np.random.default_rng(0).integers(1, 4, size=60)
    path = tyto.owl_path(X, y, weights="bh", alphas=some, sample_weight=weights)
    np.testing.assert_allclose(OWLCV("bh", alphas=some, cv=4).fit(X, y, sample_weight=weights).path_.coefs, path.coefs, atol=1e-4)
    for wrong in ([], [0.1, -1], [np.nan], "ab", [[0.1]], None.__class__):
        with pytest.raises((ValueError, TypeError), match="alphas: want"):
            OWLCV(alphas=wrong).fit(X, y)


def by_hand(model, X, y, scorer, **weights):
    """Scores of the chosen alpha, fold by fold, from fits on the training rows alone."""
    found = []
    for fold in range(model.folds_.max() + 1):
        training, held_out = model.folds_ != fold, model.folds_ == fold
        one = OWL(model.weights, alpha=model.alpha_, q=model.q_, gamma=model.gamma_, tol=1e-10)
        one.fit(X[training], y[training], **{name: w[training] for name, w in weights.items()})
        found.append(scorer(one, X[held_out], y[held_out], **{name: w[held_out] for name, w in weights.items()}))
    return found


@pytest.mark.parametrize("scoring", ["neg_mean_squared_error", "neg_mean_absolute_error", "neg_root_mean_squared_error", "explained_variance",
                                     "neg_median_absolute_error", get_scorer("r2"), make_scorer(lambda truth, guess: -abs(truth - guess).max())])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csc_matrix])
def test_scorers_of_scikit_learn(scoring, storage):
    X, y = noisy()
    model = OWLCV("bh", scoring=scoring, n_alphas=12, cv=4, tol=1e-10).fit(storage(X), y)
    scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
    np.testing.assert_allclose(model.cv_errors_[model.best_index_], by_hand(model, X, y, scorer), rtol=1e-4)
    np.testing.assert_allclose(model.cv_error_, model.cv_errors_.mean(axis=1), rtol=1e-12)
    assert model.best_index_ == np.argmax(model.cv_error_)
    limit = model.cv_error_.max() - model.cv_standard_error_[model.best_index_]
    assert model.one_se_index_ == np.flatnonzero(model.cv_error_ >= limit)[0]


def test_a_scorer_and_the_librarys_measure_agree():
    """The same number, measured in Python and by the library, makes the same choice among shapes and relaxations."""
    X, y = noisy()
    weights = np.random.default_rng(0).integers(0, 4, size=60).astype(float)
    options = dict(weights="bh", q=[0.05, 0.3], gamma=[0, 0.5, 1], n_alphas=10, cv=4)
    calls = []

    def scored(model, X, y, sample_weight=None):
        calls.append(len(y))
        return -mean_squared_error(y, model.predict(X), sample_weight=sample_weight)

    for given in ({}, {"sample_weight": weights}):
        ours, theirs = (OWLCV(**options, scoring=scoring).fit(X, y, **given) for scoring in ("neg_mean_squared_error", scored))
        np.testing.assert_allclose(theirs.cv_errors_, ours.cv_errors_, rtol=1e-9)
        np.testing.assert_array_equal(theirs.coef_, ours.coef_)
        assert (theirs.q_, theirs.gamma_, theirs.alpha_) == (ours.q_, ours.gamma_, ours.alpha_)
        np.testing.assert_array_equal(-OWLCV(**options).fit(X, y, **given).cv_errors_, ours.cv_errors_)
        np.testing.assert_array_equal(OWLCV(**options, scoring=scored, n_jobs=3).fit(X, y, **given).coef_, ours.coef_)
    assert set(calls) == {15}


def test_rows_of_no_weight_are_not_scored():
    X, y = noisy()
    weights = (np.arange(60) >= 15).astype(float)
    model = OWLCV(n_alphas=5, cv=KFold(4), scoring="explained_variance").fit(X, y, sample_weight=weights)
    assert (model.cv_errors_[:, 0] == 0).all() and np.isfinite(model.cv_errors_).all()
    np.testing.assert_allclose(model.cv_error_, model.cv_errors_[:, 1:].mean(axis=1))


def test_what_a_scorer_raises():
    X, y = noisy()
    model = OWLCV(n_alphas=5, cv=4).fit(X, y)
    before = model.coef_

    def fails(*_):
        raise KeyError("mine")

    for scoring, error, message in ((fails, KeyError, "mine"), (lambda *_: "a", TypeError, "scoring: want a scorer that returns a number"),
                                    ("accuracy", ValueError, "continuous"), ("roc_auc", ValueError, "scoring: want a scorer of predicted numbers"), (None, TypeError, "scoring: want a name or a callable"),
                                    ("none", ValueError, "scoring: want 'mse'"), (lambda *_: np.nan, ValueError, "scoring: want one that is finite")):
        for jobs in (1, 3):
            with pytest.raises(error, match=message):
                model.set_params(scoring=scoring, n_jobs=jobs).fit(X, y)
    assert model.coef_ is before


def test_the_default_is_best_and_another_choice_comes_after():
    X, y = noisy()
    model = OWLCV("bh", gamma=[0.5, 0.9], cv=5).fit(X, y)
    assert model.chosen_index_ == model.best_index_ > model.one_se_index_
    np.testing.assert_allclose(model.predict(X), model.path_.predict(X)[:, model.best_index_], rtol=1e-13)  # other sums in NumPy
    sparser, again = model.with_choice("one-se"), clone(model).set_params(choose="one-se").fit(X, y)
    np.testing.assert_array_equal(sparser.coef_, again.coef_)
    np.testing.assert_array_equal(sparser.predict(X), again.predict(X))
    assert sparser.certificate_ == again.certificate_ and sparser.alpha_ == again.alpha_ and tyto.verify(sparser, X, y)
    assert model.chosen_index_ == model.best_index_  # is as it was
    for step in (0, 3, np.int64(99)):
        other = pickle.loads(pickle.dumps(model)).with_choice(step)
        np.testing.assert_array_equal(other.coef_, model.path_.coefs[:, step])
        assert other.chosen_index_ == step and tyto.verify(other, X, y)
    for wrong in ("last", 100, -1, 1.5, None):
        with pytest.raises((ValueError, TypeError), match="choose: want"):
            model.with_choice(wrong)
    with pytest.raises(ValueError, match="choose: want 'best' or 'one-se', got 3"):
        OWLCV(choose=3).fit(X, y)
    np.testing.assert_array_equal(cross_val_predict(OWLCV(n_alphas=5), X, y, cv=3).shape, (60,))


def test_a_choice_at_the_end_of_the_grid_warns():
    X, y = noisy(noise=0.01)
    with pytest.warns(ChoiceWarning, match="OWLCV: the best alpha is the last of the grid: smaller ones") as said:
        OWLCV(eps=0.5, n_alphas=5).fit(X, y)
    assert said[0].filename == __file__
    rng = np.random.default_rng(0)
    with pytest.warns(ChoiceWarning, match="the best alpha is the first of the grid: larger ones"):
        OWLCV("lasso", alphas=[0.01, 0.001]).fit(X, rng.normal(size=60))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OWLCV("lasso").fit(*noisy())
        OWLCV("lasso", alphas=[0.01]).fit(*noisy())
        OWLCV("lasso").fit(X, rng.normal(size=60))  # the empty model is best: no end of the grid


def test_doubtful_criteria_warn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 200))
    y = X[:, 0] + rng.normal(size=30)
    wide = tyto.owl_path(X, y, weights="lasso", eps=1e-3)
    with pytest.warns(ChoiceWarning) as said:
        chosen = wide.choose("aic")
    messages = [str(warning.message) for warning in said]
    assert wide.criteria["df"][chosen] >= 24 and said[0].filename == __file__
    assert any("so near to as many" in message for message in messages)
    if chosen == len(wide) - 1:
        assert any("with 200 features for 30 rows it falls without end" in message for message in messages)
    with pytest.warns(ChoiceWarning, match="bic chooses the last alpha: smaller ones may do better"):
        tyto.owl_path(*noisy(noise=0.1), eps=0.5).choose("bic")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tyto.owl_path(*noisy()).choose("bic")
        short = tyto.owl_path(X, y, weights="lasso", alphas=[1e-3, 1e-4, 1e-5], sigma=1e-3)  # less noise than there is
        assert short.criteria["df"][0] >= 24 and short.choose("cp") == 0  # Cp is not what falls without end
