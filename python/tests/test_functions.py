"""The penalty's own functions, against their definitions."""
import pickle

import numpy as np
import pytest

import tyto
from support import dual_norm, norm


def cases():
    rng = np.random.default_rng(0)
    for p in (1, 2, 5, 40, 1000):
        for shape in ("normal", "ties", "integers"):
            v = rng.normal(size=p) * 3
            w = np.sort(rng.random(p))[::-1].copy()
            if shape == "ties":
                v, w = np.round(v), np.round(w, 1)
            if shape == "integers":
                v = rng.integers(-5, 6, size=p)
            w[0] += 0.1
            yield v, w


def test_norms():
    for v, w in cases():
        np.testing.assert_allclose(tyto.sorted_l1_norm(v, w), norm(v, w), rtol=1e-13)
        np.testing.assert_allclose(tyto.dual_sorted_l1_norm(v, w), dual_norm(v, w), rtol=1e-13)


def test_prox_meets_its_optimality_conditions():
    """b is the prox of v if and only if v - b is in the dual ball and (v - b)'b = J(b) (step 1)."""
    for v, w in cases():
        for step in (0.0, 0.3, 1.0, 10.0):
            b = tyto.prox_sorted_l1(v, w, step)
            if step == 0:
                np.testing.assert_array_equal(b, v)
                continue
            assert dual_norm((v - b) / step, w) <= 1 + 1e-12
            np.testing.assert_allclose((v - b) @ b / step, norm(b, w), rtol=1e-10, atol=1e-10)


def test_prox_of_the_lasso_is_soft_thresholding():
    v = np.random.default_rng(1).normal(size=100)
    want = np.sign(v) * np.maximum(abs(v) - 0.5, 0)
    np.testing.assert_allclose(tyto.prox_sorted_l1(v, 1.0, 0.5), want, atol=1e-15)
    np.testing.assert_allclose(tyto.prox_sorted_l1(v, "lasso", 0.5), want, atol=1e-15)
    np.testing.assert_array_equal(tyto.prox_sorted_l1(v, "lasso", 0.5) == 0, want == 0)


def test_prox_in_place_and_for_other_types():
    v = np.array([5.0, -4.9, 0.5])
    want = [3.45, -3.45, 0]
    np.testing.assert_allclose(tyto.prox_sorted_l1(v.tolist(), [2, 1, 1]), want)
    np.testing.assert_allclose(tyto.prox_sorted_l1(v.astype(np.float32), [2, 1, 1]), want, rtol=1e-6)
    np.testing.assert_allclose(tyto.prox_sorted_l1(np.repeat(v, 2)[::2], [2, 1, 1]), want)
    assert tyto.prox_sorted_l1(v, [2, 1, 1], out=v) is v
    np.testing.assert_allclose(v, want)
    penalty = tyto.SortedL1([2, 1, 1])
    np.testing.assert_allclose(penalty.prox([5.0, -4.9, 0.5]), want)
    assert penalty([3, 1, -2]) == 9 and penalty.dual([3, 1, -2]) == 5 / 3
    assert pickle.loads(pickle.dumps(penalty))([3, 1, -2]) == 9


@pytest.mark.parametrize("call, error, message", [
    (lambda: tyto.prox_sorted_l1([1.0, 2.0], [1.0]), ValueError, "v: want 1 numbers, as many as weights, got 2"),
    (lambda: tyto.prox_sorted_l1([1.0, np.nan], [1.0, 1.0]), ValueError, "finite"),
    (lambda: tyto.prox_sorted_l1([1.0, 2.0], [1.0, 2.0]), ValueError, "weights"),
    (lambda: tyto.prox_sorted_l1([1.0, 2.0], [1.0, -2.0]), ValueError, "weights"),
    (lambda: tyto.prox_sorted_l1([1.0], [1.0], -1), ValueError, "step"),
    (lambda: tyto.prox_sorted_l1([[1.0]], [1.0]), ValueError, "v: want a vector"),
    (lambda: tyto.prox_sorted_l1([1.0], [1.0], out=np.zeros(1, int)), TypeError, "out"),
    (lambda: tyto.owl_weights("bh", 0), ValueError, "n_features"),
    (lambda: tyto.owl_weights("gaussian", 5), ValueError, "n_samples"),
    (lambda: tyto.owl_weights("none", 5), ValueError, "unknown kind"),
])
def test_mistakes(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_weights():
    np.testing.assert_allclose(tyto.owl_weights("oscar", 4), [1.75, 1.5, 1.25, 1])
    np.testing.assert_allclose(tyto.owl_weights("linear", 4), [1, 0.75, 0.5, 0.25])
    np.testing.assert_allclose(tyto.owl_weights("linf", 3), [1, 0, 0])
    scipy_stats = pytest.importorskip("scipy.stats")
    np.testing.assert_allclose(tyto.owl_weights("bh", 5, q=0.2), scipy_stats.norm.isf(0.2 * np.arange(1, 6) / 10), rtol=1e-12)
