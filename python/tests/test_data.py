"""Every storage gives the same model; what can be borrowed is."""
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

import tyto
from tyto import OWL, _data
from support import grouped


def problem():
    rng = np.random.default_rng(2)
    X = rng.integers(-3, 4, size=(60, 40)) * (rng.random((60, 40)) < 0.3)
    return X, X[:, :5].sum(axis=1) + rng.normal(size=60)


def storages(tmp_path):
    X, y = problem()
    mapped = np.lib.format.open_memmap(tmp_path / "x.npy", mode="w+", dtype=np.float64, shape=X.shape, fortran_order=True)
    mapped[:] = X
    mapped.flush()
    csc = sparse.csc_matrix(X.astype(float))
    wide = csc.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    unsorted = sparse.csc_matrix((csc.data[::-1].copy(), csc.indices[::-1].copy(), csc.nnz - csc.indptr[::-1].copy()),
                                 shape=X.shape)[:, ::-1]
    yield "integers", X
    yield "C order", X.astype(np.float64)
    yield "Fortran order", np.asfortranarray(X, dtype=np.float64)
    yield "float32", np.asfortranarray(X, dtype=np.float32)
    yield "int8", np.asfortranarray(X, dtype=np.int8)
    yield "int8 in C order", np.ascontiguousarray(X, dtype=np.int8)
    yield "int16", np.asfortranarray(X, dtype=np.int16)
    yield "int8 csc", sparse.csc_matrix(X.astype(np.int8))
    yield "strided", np.repeat(X.astype(np.float64), 2, axis=0)[::2]
    yield "mapped", np.load(tmp_path / "x.npy", mmap_mode="r")
    yield "list", X.tolist()
    for name, matrix in [("csc", csc), ("64-bit indices", wide), ("csr", csc.tocsr()), ("float32 csc", csc.astype(np.float32)),
                         ("integer csc", csc.astype(int)), ("unsorted", unsorted), ("coo", csc.tocoo())]:
        yield name, matrix
    if hasattr(sparse, "csc_array"):
        yield "csc_array", sparse.csc_array(csc)


def test_all_storages_agree(tmp_path):
    X, y = problem()
    for options in ({}, {"standardize": True}, {"fit_intercept": False}):
        want = OWL("bh", alpha=0.05, tol=1e-11, **options).fit(np.asfortranarray(X, dtype=float), y)
        assert want.coef_.any()
        for name, matrix in storages(tmp_path):
            model = OWL("bh", alpha=0.05, tol=1e-11, **options).fit(matrix, y)
            np.testing.assert_allclose(model.coef_, want.coef_, atol=1e-7, err_msg=name)
            np.testing.assert_allclose(model.predict(matrix), want.predict(X), atol=1e-6, err_msg=name)
            assert tyto.verify(model, matrix, y), name


def test_user_data_is_not_changed(tmp_path):
    _, y = problem()
    for name, matrix in storages(tmp_path):
        before = matrix.copy() if hasattr(matrix, "copy") else None
        OWL("bh", alpha=0.05).fit(matrix, y)
        if sparse.issparse(matrix) and matrix.format in ("csc", "csr"):
            np.testing.assert_array_equal(matrix.indices, before.indices, err_msg=name)
        elif isinstance(matrix, np.ndarray):
            np.testing.assert_array_equal(matrix, before, err_msg=name)


def test_what_is_borrowed():
    X = np.asfortranarray(np.random.default_rng(0).normal(size=(50, 20)))
    y = X[:, 0]
    for kind in _data.STORED:
        matrix = np.asfortranarray((8 * X).astype(np.int8).clip(0) if kind in (np.uint8, np.bool_) else 8 * X).astype(kind, copy=False)
        for found in (_data.validate_arrays(matrix, y)[0], _data.validate_fit(OWL(), matrix, y)[0]):
            assert np.shares_memory(found, matrix) and found.dtype == kind
        rows = np.ascontiguousarray(matrix)
        assert _data.validate_arrays(rows, y)[0].dtype == kind, "copied to columns, and no wider"
    with pytest.raises(TypeError):
        tyto._core.Design.dense(np.asfortranarray(X).astype(np.int64))  # nothing is converted behind the back
    csc = sparse.random(50, 20, 0.3, format="csc", random_state=0)
    assert np.shares_memory(_data.validate_arrays(csc, y)[0].data, csc.data)
    csc.data.flags.writeable = X.flags.writeable = False
    OWL(alpha=0.01).fit(X, y)
    OWL(alpha=0.01).fit(csc, y)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.bool_])
def test_small_integers_have_the_bits_of_float64(kind):
    rng = np.random.default_rng(4)
    X = np.asfortranarray(rng.integers(0, 2 if kind == np.bool_ else 100, size=(71, 120))).astype(kind)
    y = X[:, :6] @ np.ones(6) + rng.normal(size=71)
    for options in ({}, {"standardize": True}):
        want = OWL("bh", alpha=0.2, relative=True, **options).fit(X.astype(np.float64), y)
        model = OWL("bh", alpha=0.2, relative=True, **options).fit(X, y)
        assert want.coef_.any()
        np.testing.assert_array_equal(model.coef_, want.coef_)
        np.testing.assert_array_equal(model.predict(X), want.predict(X.astype(float)))
        assert tyto.verify(model, X, y)


def test_the_least_int8_has_a_magnitude():
    X = np.zeros((40, 3), np.int8, order="F")
    X[::2, 0] = X[::2, 1] = -128
    X[::3, 2] = 100
    y = X[:, :2].sum(axis=1) + 0.01 * np.arange(40)
    narrow, wide = (OWL("oscar", alpha=0.1, relative=True).fit(M, y) for M in (X, X.astype(float)))
    assert repr(narrow.clusters_) == repr(wide.clusters_)


def test_a_design_keeps_its_arrays():
    X, y, _ = grouped(50, 20)
    design = tyto._core.Design.dense(np.asfortranarray(X))
    del X
    junk = [np.zeros((50, 20)) for _ in range(100)]
    words = tyto._core.RegressionOptions()
    assert tyto._core.alpha_max(design, y, words) == tyto._core.alpha_max(design, y, words) > 0
    del junk


def test_frames():
    X, y, _ = grouped(50, 4)
    want = OWL(alpha=0.1).fit(X, y)
    for package in ("pandas", "polars"):
        module = pytest.importorskip(package)
        frame = module.DataFrame({name: X[:, j] for j, name in enumerate("abcd")})
        model = OWL(alpha=0.1).fit(frame, y)
        np.testing.assert_array_equal(model.coef_, want.coef_)
        if package == "pandas":
            assert list(model.feature_names_in_) == list("abcd")
            assert np.shares_memory(_data.validate_arrays(frame, y)[0], frame.to_numpy())
            np.testing.assert_array_equal(OWL(alpha=0.1).fit(frame, module.Series(y)).coef_, want.coef_)


@pytest.mark.parametrize("change, message", [
    (lambda m: m.indices.__setitem__(3, 99), "indices from 0"),
    (lambda m: m.indices.__setitem__(3, -1), "indices from 0"),
    (lambda m: m.indptr.__setitem__(2, 10**6), "indptr"),
    (lambda m: m.indptr.__setitem__(0, 1), "indptr to begin with 0"),
])
def test_broken_sparse_matrices_are_refused(change, message):
    matrix = sparse.random(50, 20, 0.3, format="csc", random_state=0)
    change(matrix)
    with pytest.raises(ValueError, match=message):
        _data.design(matrix)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nan_and_infinity(value):
    X, y = problem()
    X = X.astype(float)
    X[5, 2] = value
    for matrix in (X, np.asfortranarray(X), sparse.csc_matrix(X)):
        with pytest.raises(ValueError, match="NaN|infinity"):
            OWL().fit(matrix, y)
        with pytest.raises(ValueError, match="NaN|infinity"):
            tyto.owl_path(matrix, y)
    y[3] = value
    with pytest.raises(ValueError, match="NaN|infinity"):
        OWL().fit(problem()[0], y)


MEMORY = """
import resource, sys
import numpy as np
from tyto import OWL
def peak():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
rng = np.random.default_rng(0)
OWL(alpha=0.1).fit(rng.normal(size=(50, 20)), np.arange(50.0))
X = np.empty((1000, 20000), order="F")
for j in range(0, 20000, 100):
    X[:, j:j + 100] = rng.normal(size=(1000, 100))
y = X[:, :20].sum(axis=1) + rng.normal(size=1000)
before = peak()
OWL("bh", alpha=0.2, relative=True, standardize=True).fit(X, y)
print((peak() - before) / X.nbytes)
"""


def test_memory():
    """160 MB in Fortran order: the fit takes a tenth of that at most beside it."""
    share = float(subprocess.run([sys.executable, "-c", MEMORY], check=True, capture_output=True, text=True).stdout)
    assert share <= 0.1
