"""PLINK, .npz, .npy in place and .tyto: the models of arrays, also with a budget of memory."""
import os

import numpy as np
import pytest
from scipy import sparse

import tyto
from tyto import OWL, OWLCV

N, P = 90, 40
RNG = np.random.default_rng(7)
GENOTYPES = RNG.integers(0, 3, size=(N, P)).astype(np.int8)
Y = GENOTYPES[:, :4].sum(axis=1) + 0.5 * RNG.normal(size=N)
SETTINGS = dict(weights="bh", standardize=True, tol=1e-9)
MEMORY = "64M"


def write_bed(folder, name="g", phenotype=Y):
    """Copies of the first allele, two bits each: 00 two, 10 one, 11 none."""
    code = np.array([3, 2, 0], dtype=np.uint8)[GENOTYPES]
    padded = np.zeros((-(-N // 4) * 4, P), dtype=np.uint8)
    padded[:N] = code
    packed = padded[0::4] | padded[1::4] << 2 | padded[2::4] << 4 | padded[3::4] << 6
    (folder / f"{name}.bed").write_bytes(b"\x6c\x1b\x01" + packed.T.tobytes())
    (folder / f"{name}.bim").write_text("".join(f"1\trs{j}\t0\t{j + 1}\tA\tG\n" for j in range(P)))
    (folder / f"{name}.fam").write_text("".join(f"f{i} p{i} 0 0 1 {value!r}\n" for i, value in enumerate(map(float, phenotype))))
    return folder / f"{name}.bed"


def opened(folder):
    np.save(folder / "y.npy", Y)
    for dtype in (np.int8, np.uint8, np.int16, np.float32, np.float64):
        np.save(folder / f"{np.dtype(dtype).name}.npy", np.asfortranarray(GENOTYPES, dtype=dtype))
        yield np.dtype(dtype).name, lambda memory=None, d=np.dtype(dtype).name: tyto.open(folder / f"{d}.npy", response=folder / "y.npy", memory=memory)
    bed = write_bed(folder)
    yield "bed", lambda memory=None: tyto.open(bed, memory=memory)
    tyto.convert(GENOTYPES, folder / "x.tyto", response=Y)
    yield "tyto", lambda memory=None: tyto.open(folder / "x.tyto", memory=memory)


def test_every_storage_gives_the_model_of_the_array(tmp_path):
    wanted = tyto.owl_path(np.asfortranarray(GENOTYPES, dtype=float), Y, n_alphas=6, **SETTINGS)
    for name, open_ in opened(tmp_path):
        for memory in (None, MEMORY):
            data = open_(memory)
            assert data.shape == (N, P), name
            np.testing.assert_array_equal(data.to_numpy(), GENOTYPES, err_msg=name)
            np.testing.assert_allclose(data.y, Y, rtol=1e-15)
            path = tyto.owl_path(data, n_alphas=6, **SETTINGS)
            np.testing.assert_allclose(path.coefs, wanted.coefs, atol=1e-6, err_msg=name)
            model = OWL(alpha=0.1, relative=True, **SETTINGS).fit(data)
            assert model.certificate_.converged and tyto.verify(model, data), name
            np.testing.assert_allclose(model.predict(data), model.predict(GENOTYPES), atol=1e-12)
            chosen = OWLCV(cv=3, n_alphas=5, **SETTINGS).fit(data)
            assert chosen.worst_fold_gap_ <= 1e-9 * (1 + 1e-6)


def test_the_same_bits_whatever_the_memory(tmp_path):
    for name, open_ in opened(tmp_path):
        mapped, read = (tyto.owl_path(open_(memory), n_alphas=6, **SETTINGS) for memory in (None, MEMORY))
        np.testing.assert_array_equal(mapped.coefs, read.coefs, err_msg=name)
        assert mapped.certificates == read.certificates


def test_plink(tmp_path):
    bed = write_bed(tmp_path)
    data = tyto.open(bed)
    assert len(data.feature_names) == P and "rs3" in data.feature_names[3]
    (tmp_path / "traits.txt").write_text("FID IID height\n" + "".join(f"f{i} p{i} {Y[i]!r}\n" for i in RNG.permutation(N)).replace("np.float64(", "").replace(")", ""))
    by_sample = tyto.open(bed, response=tmp_path / "traits.txt", target="height")
    np.testing.assert_allclose(by_sample.y, Y)
    model = OWL(alpha=0.1).fit(by_sample)
    np.testing.assert_array_equal(model.coef_, OWL(alpha=0.1).fit(data).coef_)
    with pytest.raises(ValueError, match="memory"):
        OWL(alpha=0.1).fit(tyto.open(bed, memory="1K"))
    os.truncate(bed, 100)
    with pytest.raises(ValueError, match="g.bed"):
        tyto.open(bed)


def test_npz(tmp_path):
    matrix = sparse.random(N, P, 0.3, format="csc", random_state=0)
    want = OWL("bh", alpha=0.01).fit(matrix, Y)
    for made in (matrix, matrix.tocsr()):
        sparse.save_npz(tmp_path / "x.npz", made)
        data = tyto.open(tmp_path / "x.npz", response=Y)
        assert data.X.design.is_sparse and tyto.open(tmp_path / "x.npz").y is None
        np.testing.assert_array_equal(data.to_numpy(), matrix.toarray())
        np.testing.assert_allclose(OWL("bh", alpha=0.01).fit(data).coef_, want.coef_, atol=1e-10)


def test_conversions(tmp_path):
    np.savetxt(tmp_path / "x.csv", np.column_stack([GENOTYPES, Y]), delimiter=",", header=",".join([*(f"g{j}" for j in range(P)), "y"]), comments="")
    for memory in (None, "4M"):
        tyto.convert(tmp_path / "x.csv", tmp_path / "x.tyto", target="y", memory=memory)
        data = tyto.open(tmp_path / "x.tyto")
        assert data.feature_names == [f"g{j}" for j in range(P)] and data.response_name == "y"
        np.testing.assert_array_equal(data.to_numpy(), GENOTYPES)
        np.testing.assert_allclose(data.y, Y, rtol=1e-15)
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["X"] = GENOTYPES
        tyto.convert(file["X"], tmp_path / "of-h5.tyto", response=Y, memory="1M")
    np.testing.assert_array_equal(tyto.open(tmp_path / "of-h5.tyto", memory=MEMORY).to_numpy(), GENOTYPES)
    assert sorted(os.listdir(tmp_path)) == ["of-h5.tyto", "x.csv", "x.h5", "x.tyto"]


@pytest.mark.parametrize("data, output, options, message", [
    (GENOTYPES, "x.npy", {}, "output: want a name that ends in .tyto"),
    (GENOTYPES[0], "x.tyto", {}, "data: want files, or a matrix"),
    (GENOTYPES, "x.tyto", {"target": 3}, "target: want none for a matrix"),
    (GENOTYPES, "x.tyto", {"response": Y[1:]}, "expected 90 rows"),
    (GENOTYPES, "x.tyto", {"memory": "much"}, "memory: want a number of bytes, or a size such as '512M' or '4G', got 'much'"),
    (GENOTYPES.astype(str), "x.tyto", {}, "data: want numbers"),
    ("none.csv", "x.tyto", {}, "none.csv: cannot open"),
    ("none.csv", "x.tyto", {"colour": 1}, "there is no option 'colour'"),
])
def test_conversions_that_cannot_be(tmp_path, data, output, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        tyto.convert(data, tmp_path / output, **options)
    assert os.listdir(tmp_path) == []


def test_memory_is_for_columns_in_files(tmp_path):
    (tmp_path / "x.csv").write_text("a,y\n1,2\n2,3\n")
    with pytest.raises(ValueError, match="memory: want None for .*x.csv, which is read as a whole"):
        tyto.open(tmp_path / "x.csv", memory="1G")


def test_narrow_arrays_are_borrowed():
    from tyto import _data
    want = OWL(alpha=0.1, relative=True, **SETTINGS).fit(np.asfortranarray(GENOTYPES, dtype=float), Y)
    for dtype in (np.int8, np.uint8, np.int16, bool):
        X = np.asfortranarray(GENOTYPES, dtype=dtype)
        checked, _ = _data.validate_arrays(X, Y)
        assert np.shares_memory(checked, X), dtype
        model = OWL(alpha=0.1, relative=True, **SETTINGS).fit(X, Y)
        np.testing.assert_allclose(model.predict(X), model.intercept_ + X.astype(float) @ model.coef_, atol=1e-12)
        assert tyto.verify(model, X, Y)
        if dtype is not bool:
            np.testing.assert_allclose(model.coef_, want.coef_, atol=1e-9)
            assert [c.mean_correlation for c in model.cluster_table(X)] == pytest.approx([c.mean_correlation for c in model.cluster_table(X.astype(float))], nan_ok=True)
        np.testing.assert_allclose(tyto.owl_path(X, Y, n_alphas=3).predict(X), tyto.owl_path(X.astype(float), Y, n_alphas=3).predict(X.astype(float)), atol=1e-6)
    lowest = np.asfortranarray(np.where(GENOTYPES == 0, -128, GENOTYPES), dtype=np.int8)
    found = OWL("bh", alpha=0.2, relative=True).fit(lowest, Y)
    assert all(abs(c.mean_correlation) <= 1 for c in found.cluster_table(lowest) if c.size > 1)
