"""Peak memory of a process that makes X and fits, less what the imports take, over the size of X; by storage."""
import subprocess
import sys

ONE = """
import sys
import numpy as np
from scipy import sparse
from tyto import OWL
kind, n, p = sys.argv[1], 2000, 40000
def peak():
    return 1024 * int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
rng = np.random.default_rng(0)
OWL(alpha=0.1).fit(np.asfortranarray(rng.normal(size=(50, 20))), np.arange(50.0))
before = peak()
if kind.startswith("sparse"):
    rows = np.sort(rng.integers(0, n, size=(1000000, 40)), axis=1)
    X = sparse.csc_matrix((rng.normal(size=rows.size), rows.ravel().astype(np.int32), np.arange(0, rows.size + 1, 40, dtype=np.int32)),
                          shape=(n, 1000000))
    del rows
    X.sum_duplicates()
    X = X.tocsr() if kind == "sparse CSR" else X
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    y = np.asarray(X[:, :20].sum(axis=1)).ravel() + rng.normal(size=n)
else:
    dtype = {"float32": np.float32, "integers": np.int64}.get(kind, np.float64)
    X = np.empty((n, p), dtype=dtype, order="C" if kind in ("C order", "integers") else "F")
    if kind == "mapped":
        import tempfile
        X = np.memmap(tempfile.TemporaryFile(dir="."), dtype=dtype, shape=(n, p), order="F", mode="w+")
    for j in range(0, p, 500):
        X[:, j:j + 500] = 10 * rng.normal(size=(n, 500))
    size = X.nbytes
    y = X[:, :20].sum(axis=1) + 10 * rng.normal(size=n)
made = peak() - before
OWL("bh", alpha=0.2, relative=True, standardize=True).fit(X, y)
print(size / 1e6, made / size, (peak() - before) / size)
"""

if __name__ == "__main__":
    failed = False
    print(f"{'X':14} {'MB':>7} {'made':>6} {'with fit':>9}   peak over the size of X")
    for kind in ("Fortran order", "float32", "mapped", "C order", "integers", "sparse CSC", "sparse CSR"):
        out = subprocess.run([sys.executable, "-c", ONE, kind], check=True, capture_output=True, text=True).stdout
        size, made, whole = map(float, out.split())
        failed |= kind == "Fortran order" and whole > 1.1
        print(f"{kind:14} {size:7.0f} {made:6.2f} {whole:9.2f}")
    sys.exit(1 if failed else 0)
