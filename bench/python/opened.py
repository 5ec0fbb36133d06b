"""Peak memory beyond the imports, over the size of the file, of a path on genotypes of 200 MB as int8 that `tyto.open` opens; by format.

    python bench/python/opened.py [FORMAT ...]     # npy, h5, zarr, parquet, h5ad (CSR), tyto, npy-c (C order); without: all whose package is there
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

N, P = 2000, 100_000

ONE = """
import resource, sys, time, tracemalloc
import numpy as np
import tyto
def peak():
    return 1024 * int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
file, y, options = sys.argv[1], np.load(sys.argv[2]), eval(sys.argv[3])
rng = np.random.default_rng(0)
tyto.OWL(alpha=0.1).fit(np.asfortranarray(rng.normal(size=(50, 20))), np.arange(50.0))
for package in ("h5py", "zarr", "pyarrow.parquet"):
    if file.endswith({"h5py": ("h5", "h5ad"), "zarr": "zarr", "pyarrow.parquet": "parquet"}[package]):
        __import__(package)
before = peak()
tracemalloc.start()
start = time.process_time()
data = tyto.open(file, response=y, **options)
opened, seen = peak() - before, tracemalloc.get_traced_memory()[1]
tracemalloc.stop()
opening = time.process_time() - start
start = time.process_time()
path = tyto.owl_path(data, weights="lasso", standardize=True, n_alphas=20, eps=0.5, criteria=False)
print(f"{data.storage:24} opened: peak {opened / 1e6:6.0f} MB (NumPy's {seen / 1e6:6.0f}), {opening:5.1f} CPU s; path: peak {(peak() - before) / 1e6:6.0f} MB, "
      f"{time.process_time() - start:5.1f} CPU s, worst gap {max(c.relative_gap for c in path.certificates):.1e}")
"""


def columns(seed=1):
    """Genotypes in blocks of 50 that are inherited together."""
    rng = np.random.default_rng(seed)
    for _ in range(0, P, 50):
        base = rng.integers(0, 3, size=(N, 1))
        yield np.where(rng.random((N, 50)) < 0.1, rng.integers(0, 3, size=(N, 50)), base).astype(np.int8)


def write(kind, folder, X):
    file = os.path.join(folder, f"x.{kind.split('-')[0]}")
    if kind == "npy":
        np.save(file, X)
    elif kind == "npy-c":
        np.save(file, np.ascontiguousarray(X))
    elif kind == "h5":
        import h5py
        with h5py.File(file, "w") as store:
            store.create_dataset("X", data=X, chunks=(N, 64), compression="lzf")
    elif kind == "zarr":
        import zarr
        zarr.create_array(file, data=X, chunks=(N, 256))
    elif kind == "parquet":
        import pyarrow
        import pyarrow.parquet
        pyarrow.parquet.write_table(pyarrow.table([pyarrow.array(X[:, j]) for j in range(P // 10)], names=[f"g{j}" for j in range(P // 10)]), file)
        return file, {"target": False}
    elif kind == "h5ad":
        import h5py
        from scipy import sparse
        thin = sparse.csr_matrix(np.where(X == 2, 1, 0).astype(np.float32))
        with h5py.File(file, "w") as store:
            group = store.create_group("X")
            group.attrs.update({"encoding-type": "csr_matrix", "shape": list(thin.shape)})
            for name in ("data", "indices", "indptr"):
                group.create_dataset(name, data=getattr(thin, name), compression="lzf" if name != "indptr" else None)
    elif kind == "tyto":
        import tyto
        tyto.convert(write("npy", folder, X)[0], file)
    return file, {}


def main(kinds):
    X = np.empty((N, P), np.int8, order="F")
    for k, block in enumerate(columns()):
        X[:, 50 * k:50 * k + 50] = block
    rng = np.random.default_rng(2)
    y = X[:, ::P // 100].astype(float).sum(axis=1) + 5 * rng.normal(size=N)
    print(f"{N} x {P}: {X.nbytes / 1e6:.0f} MB as int8, {8 * X.nbytes / 1e6:.0f} MB as float64")
    for kind in kinds:
        with tempfile.TemporaryDirectory(dir=".") as folder:
            np.save(os.path.join(folder, "y.npy"), y)
            try:
                file, options = write(kind, folder, X)
            except (ImportError, AttributeError) as error:
                print(f"{kind:8} not here: {error}")
                continue
            size = sum(os.path.getsize(os.path.join(root, name)) for root, _, names in os.walk(file) for name in names) or os.path.getsize(file)
            done = subprocess.run([sys.executable, "-c", ONE, file, os.path.join(folder, "y.npy"), repr(options)], capture_output=True, text=True)
            print(f"{kind:8} {size / 1e6:6.0f} MB file, {done.stdout.strip() or done.stderr.splitlines()[-1]}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or ["npy", "npy-c", "h5", "zarr", "parquet", "h5ad", "tyto"])
