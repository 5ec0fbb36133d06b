"""HDF5, anndata's layout, zarr, Parquet and Feather: the models of arrays, in narrow types, and errors in words."""
import sys

import numpy as np
import pytest
from scipy import sparse

import tyto
from tyto import OWL, OWLClassifier, _foreign

N, P = 70, 15
RNG = np.random.default_rng(4)
X = RNG.integers(0, 3, size=(N, P)).astype(np.int8)
Y = X[:, :3].sum(axis=1) + 0.3 * RNG.normal(size=N)
THIN = sparse.random(N, P, 0.3, random_state=1, format="csr", dtype=np.float32)
WANT = OWL("bh", alpha=0.05, tol=1e-10).fit(X.astype(float), Y)


def expect_same(data):
    assert data.shape == (N, P)
    np.testing.assert_array_equal(data.to_numpy(), X)
    model = OWL("bh", alpha=0.05, tol=1e-10).fit(data)
    np.testing.assert_allclose(model.coef_, WANT.coef_, atol=1e-8)
    np.testing.assert_allclose(model.predict(data), WANT.predict(X), atol=1e-8)
    assert tyto.verify(model, data)


@pytest.fixture(autouse=True, params=[None, 200])
def small_blocks(request, monkeypatch):
    """Also with blocks so small that there are many."""
    if request.param:
        monkeypatch.setattr(_foreign, "BLOCK", request.param)


def string_array(group, name, values):
    if type(group).__module__.startswith("h5py"):
        group.create_dataset(name, data=np.array(values, dtype=object), dtype=pytest.importorskip("h5py").string_dtype())
    else:
        group.create_array(name, data=np.array(values))


def number_array(group, name, values, **options):
    if type(group).__module__.startswith("h5py"):
        return group.create_dataset(name, data=values, **options)
    return group.create_array(name, data=values, **({"chunks": options["chunks"]} if "chunks" in options else {}))


def write_sparse(group, matrix, kind):
    node = group.create_group("X")
    node.attrs.update({"encoding-type": f"{kind}_matrix", "encoding-version": "0.1.0", "shape": list(matrix.shape)})
    made = matrix.asformat(kind)
    for name in ("data", "indices", "indptr"):
        number_array(node, name, getattr(made, name))


def write_anndata(group, kind):
    """What anndata writes: X, obs with columns of numbers, of words and of categories, var with names."""
    if kind == "dense":
        number_array(group, "X", X, chunks=(16, 4)).attrs["encoding-type"] = "array"
    else:
        write_sparse(group, sparse.csr_matrix(X), kind)
    obs, var = group.create_group("obs"), group.create_group("var")
    obs.attrs.update({"encoding-type": "dataframe", "_index": "_index", "column-order": ["age", "cell_type", "batch"]})
    var.attrs.update({"encoding-type": "dataframe", "_index": "gene"})
    string_array(obs, "_index", [f"cell{i}" for i in range(N)])
    string_array(var, "gene", [f"ENSG{j}" for j in range(P)])
    number_array(obs, "age", Y)
    string_array(obs, "batch", ["a", "b"] * (N // 2))
    categories = obs.create_group("cell_type")
    categories.attrs.update({"encoding-type": "categorical", "ordered": False})
    number_array(categories, "codes", (X[:, 0] > 0).astype(np.int8))
    string_array(categories, "categories", ["B", "T"])
    gaps = obs.create_group("gaps")
    number_array(gaps, "values", np.arange(N))
    number_array(gaps, "mask", np.arange(N) == 7)


def store(tmp_path, kind):
    if kind == "h5":
        return pytest.importorskip("h5py").File(tmp_path / "x.h5ad", "w"), tmp_path / "x.h5ad"
    return pytest.importorskip("zarr").open_group(str(tmp_path / "x.zarr"), mode="w"), tmp_path / "x.zarr"


def closed(group):
    if hasattr(group, "close"):
        group.close()


@pytest.mark.parametrize("kind", ["h5", "zarr"])
@pytest.mark.parametrize("layout", ["dense", "csr", "csc"])
def test_anndata(tmp_path, kind, layout):
    group, path = store(tmp_path, kind)
    write_anndata(group, layout)
    closed(group)
    data = tyto.open(path, target="age")
    assert data.feature_names == [f"ENSG{j}" for j in range(P)] and data.response_name == "age"
    assert ("sparse" in data.storage) == (layout != "dense")
    expect_same(data)
    expect_same(tyto.open(path, target="obs:age"))
    expect_same(tyto.open(path, response=Y))
    assert tyto.open(path).y is None
    for target in ("cell_type", "batch"):
        cells = tyto.open(path, target=target)
        theirs = OWLClassifier(alpha=0.02, tol=1e-10).fit(X.astype(float), cells.y)
        assert len(theirs.classes_) == 2
        np.testing.assert_allclose(OWLClassifier(alpha=0.02, tol=1e-10).fit(cells).coef_, theirs.coef_, atol=1e-6)
    with pytest.raises(ValueError, match="target: want one of the columns of obs of .*'age'.*, got 'height'"):
        tyto.open(path, target="height")
    with pytest.raises(ValueError, match="gaps, row 7: want a value, got a missing one; there are 1"):
        tyto.open(path, target="gaps")


@pytest.mark.parametrize("kind", ["h5", "zarr"])
@pytest.mark.parametrize("chunks", [(N, 1), (1, P), (10, 4), (N, P)])
def test_dense_arrays(tmp_path, kind, chunks):
    group, path = store(tmp_path, kind)
    number_array(group, "genotypes", X, chunks=chunks)
    number_array(group, "trait", Y)
    closed(group)
    expect_same(tyto.open(path, target="trait"))
    expect_same(tyto.open(path, dataset="genotypes", response=Y))
    with pytest.raises(ValueError, match="dataset: want one of the parts of .*'genotypes', 'trait', got 'phenotypes'"):
        tyto.open(path, dataset="phenotypes")
    with pytest.raises(ValueError, match=r"trait: want a matrix, got an array of shape \(70,\)"):
        tyto.open(path, dataset="trait")


@pytest.mark.parametrize("kind", ["h5", "zarr"])
def test_only_matrix(tmp_path, kind):
    group, path = store(tmp_path, kind)
    number_array(group, "a", X)
    number_array(group, "y", Y)
    expect_same(tyto.open(path) if kind == "zarr" else (closed(group), tyto.open(path))[1])
    group = store(tmp_path, kind)[0]
    number_array(group, "a", X)
    number_array(group, "b", X)
    closed(group)
    with pytest.raises(ValueError, match="dataset: want the name of a matrix of .*, which has 'a', 'b'"):
        tyto.open(path)


def test_a_zarr_array_alone(tmp_path):
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(str(tmp_path / "x.zarr"), shape=X.shape, dtype="int8", chunks=(20, 7))
    array[...] = X
    expect_same(tyto.open(tmp_path / "x.zarr", response=Y))
    with pytest.raises(ValueError, match="dataset: want None"):
        tyto.open(tmp_path / "x.zarr", dataset="a")


@pytest.mark.parametrize("layout", ["csr", "csc"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.int64, bool])
def test_sparse_values_are_exact(tmp_path, layout, dtype):
    h5py = pytest.importorskip("h5py")
    matrix = THIN.copy()
    matrix.data = (1000 * matrix.data).astype(dtype)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        write_sparse(file, matrix, layout)
    data = tyto.open(tmp_path / "x.h5", response=Y)
    np.testing.assert_array_equal(data.to_numpy(), matrix.toarray().astype(float))
    assert data.storage == f"sparse {'float32' if np.dtype(dtype).itemsize <= 2 or dtype is np.float32 else 'float64'}"


def broken(change):
    def write(file):
        write_sparse(file, THIN, "csr")
        change(file["X"])
    return write


def replace(node, name, values):
    del node[name]
    node[name] = values


@pytest.mark.parametrize("change, message", [
    (lambda x: x["indices"].__setitem__(3, P), f"want indices from 0 to {P - 1}"),
    (lambda x: x["indices"].__setitem__(3, -1), f"want indices from 0 to {P - 1}"),
    (lambda x: x["indptr"].__setitem__(0, 1), "want an indptr from 0 on"),
    (lambda x: x["indptr"].__setitem__(4, 10**6), "want an indptr from 0 on"),
    (lambda x: x["indptr"].__setitem__(N, 10**6), "want an indptr from 0 on"),
    (lambda x: x.attrs.__setitem__("shape", [N + 1, P]), "want a shape and an indptr that fit"),
    (lambda x: replace(x, "data", np.array(["a"] * THIN.nnz, dtype="S1")), "want numbers"),
])
def test_damaged_sparse_matrices(tmp_path, change, message):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        broken(change)(file)
    with pytest.raises((ValueError, TypeError), match=message):
        tyto.open(tmp_path / "x.h5", response=Y)


def test_files_that_are_no_hdf5(tmp_path):
    pytest.importorskip("h5py")
    (tmp_path / "x.h5").write_bytes(b"nothing of the kind")
    with pytest.raises(ValueError, match="x.h5: cannot open as HDF5"):
        tyto.open(tmp_path / "x.h5")
    with pytest.raises(FileNotFoundError, match="y.h5: cannot open"):
        tyto.open(tmp_path / "y.h5")


def frame():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=[f"g{j}" for j in range(P)])
    table["y"] = Y
    return table


def write_table(table, path, kind, **options):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    made = pyarrow.Table.from_pandas(table) if not isinstance(table, pyarrow.Table) else table
    if kind == "parquet":
        parquet.write_table(made, path, row_group_size=options.get("rows", 32))
    else:
        feather = pytest.importorskip("pyarrow.feather")
        feather.write_feather(made, path, chunksize=options.get("rows", 32))
    return path


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_tables(tmp_path, kind):
    table = frame()
    path = write_table(table, tmp_path / f"x.{kind}", kind)
    data = tyto.open(path)
    assert data.feature_names == [f"g{j}" for j in range(P)] and data.response_name == "y"
    expect_same(data)
    table.index = [f"row{i}" for i in range(N)]  # an index is no feature
    table["trait"], table["note"], table["w"] = np.where(Y > 2, "high", "low"), "text", np.arange(1.0, N + 1)
    path = write_table(table.astype({"trait": "category"}), path, kind)
    with pytest.raises(TypeError, match=r"column 'note': want numbers, got .*; leave it out: drop=\['note'\]"):
        tyto.open(path, drop=["trait", "w"])
    expect_same(tyto.open(path, drop=["trait", "note", "w"]))
    classes = tyto.open(path, target="trait", drop=["note", "y"], sample_weight="w")
    assert set(classes.y) == {"high", "low"} and classes.shape == (N, P) and classes.sample_weight[3] == 4
    np.testing.assert_array_equal(OWLClassifier(alpha=0.02).fit(classes).coef_, OWLClassifier(alpha=0.02).fit(X.astype(float), classes.y, np.arange(1.0, N + 1)).coef_)
    expect_same(tyto.open(path, target=False, drop=["trait", "note", "w", "y"], response=Y))
    with pytest.raises(ValueError, match="target: want one of the columns of .*, got 'height'"):
        tyto.open(path, target="height")
    with pytest.raises(ValueError, match="header: want 'auto' for files of"):
        tyto.open(path, header="yes")
    with pytest.raises(ValueError, match="target: no column of .* is called y, target, label or response"):
        tyto.open(path, drop=["y"])


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_missing_values_of_tables(tmp_path, kind):
    pandas = pytest.importorskip("pandas")
    table = frame()
    table["g3"] = pandas.array([None if i == 40 else 1 for i in range(N)], dtype="Int8")
    path = write_table(table, tmp_path / "x.dat", kind)
    with pytest.raises(ValueError, match="x.dat: column 'g3', row 40: want a value, got a missing one"):
        tyto.open(path)
    table["g3"] = np.where(np.arange(N) == 40, np.nan, 1.0)
    pyarrow = pytest.importorskip("pyarrow")
    path = write_table(pyarrow.Table.from_pandas(table, preserve_index=False), path, kind)
    with pytest.raises(ValueError, match="column 'g3'|NaN|finite|missing"):
        OWL().fit(tyto.open(path))


@pytest.mark.parametrize("types, want", [
    ((np.int8, np.bool_), "int8"), ((np.uint8, np.bool_), "uint8"), ((np.int8, np.uint8), "int16"), ((np.int16, np.float32), "float32"),
    ((np.float16,), "float32"), ((np.int32,), "float64"), ((np.int8, np.int64), "float64"), ((np.uint16,), "float32")])
def test_types_are_narrow_and_exact(tmp_path, types, want):
    pyarrow = pytest.importorskip("pyarrow")
    columns = {f"c{k}": RNG.integers(0, 2, N).astype(kind) for k, kind in enumerate(types)}
    write_table(pyarrow.table({**columns, "y": Y}), tmp_path / "x.parquet", "parquet")
    data = tyto.open(tmp_path / "x.parquet")
    assert data.storage == f"dense {want}"
    np.testing.assert_array_equal(data.to_numpy(), np.column_stack([values.astype(float) for values in columns.values()]))


def test_damaged_tables(tmp_path):
    pytest.importorskip("pyarrow")
    for name in ("x.parquet", "x.feather"):
        (tmp_path / name).write_bytes(b"PAR1 and no more")
        with pytest.raises(ValueError, match=f"{name}: cannot read"):
            tyto.open(tmp_path / name)


@pytest.mark.parametrize("package, file", [("h5py", "x.h5"), ("zarr", "x.zarr"), ("pyarrow", "x.parquet"), ("pyarrow", "x.feather")])
def test_a_package_that_is_missing(tmp_path, monkeypatch, package, file):
    (tmp_path / file).write_bytes(b"")
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"tyto.open: want the package {package} for .*; pip install 'tyto\[formats\]'"):
        tyto.open(tmp_path / file)


def test_formats_are_known_by_content(tmp_path):
    pytest.importorskip("h5py"), pytest.importorskip("pyarrow")
    group, path = store(tmp_path, "h5")
    number_array(group, "X", X)
    closed(group)
    path.rename(tmp_path / "matrix")
    expect_same(tyto.open(tmp_path / "matrix", response=Y))
    expect_same(tyto.open(write_table(frame(), tmp_path / "table", "parquet")))
    with pytest.raises(ValueError, match="path: want one file of parquet, got 2"):
        tyto.open(tmp_path / "table", tmp_path / "table")
