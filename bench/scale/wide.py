"""200,000 x 20,000 sparse, 18 million entries: passes and CPU seconds of a path of 100 strengths by working sets, beside the path in memory.
In one process, by the passes that Dask and Spark run: python bench/scale/wide.py [gaussian|binomial|poisson] [ROWS COLUMNS]"""
import sys
import time

import numpy as np
from scipy import sparse

import tyto
from tyto import _passes


class Here:
    """Rows of this process, in partitions: a backend without an engine."""

    def __init__(self, x, y, partitions):
        self.names, self.width = (), x.shape[1]
        cuts = np.linspace(0, x.shape[0], partitions + 1).astype(int)
        self.parts = [_passes.Rows(x[a:b].tocsc(), y[a:b]) for a, b in zip(cuts, cuts[1:])]
        self.passes, self.sent = 0, 0

    def total(self, task, merge):
        self.passes += 1
        found = _passes.merged([task(k, [part]) for k, part in enumerate(self.parts)], merge)
        self.sent += len(found)
        return found


def main(loss="gaussian", rows=200_000, columns=20_000, ratio=0.05):
    rng = np.random.default_rng(1)
    rows, columns = int(rows), int(columns)
    each = 90
    x = sparse.csr_matrix((rng.standard_normal(rows * each), rng.integers(0, columns, rows * each), np.arange(0, rows * each + 1, each)),
                          shape=(rows, columns))
    x.sum_duplicates()
    eta = x[:, :200] @ rng.standard_normal(200)
    y = eta + 0.5 * rng.standard_normal(rows)
    if loss == "binomial":
        y = (rng.random(rows) < 1 / (1 + np.exp(-eta))).astype(float)
    elif loss == "poisson":
        y = rng.poisson(np.exp(np.clip(0.3 * eta, -5, 3))).astype(float)
    options = dict(weights="bh", standardize=True, tol=1e-10, n_alphas=100, eps=float(ratio), loss=loss)
    here = Here(x, y, 8)
    params = {**dict(q=0.1, slope=1.0, alphas=None, max_explained=None, min_change=None, max_nonzeros=None, max_clusters=None, gamma=None,
                     sigma=None, criteria=False, fit_intercept=True, ridge=0.0, positive=False, unpenalized=None, max_iter=100_000,
                     max_seconds=None, solver="auto", screening="safe", n_jobs=None), **options}
    begin = time.process_time()
    path = _passes.path(here, params)
    ours = time.process_time() - begin
    print(f"{loss}: {path.passes:.0f} passes, {ours:.1f} CPU s, worst relative gap {max(c.gap + c.rounding for c in path.certificates) :.2g} "
          f"over {min(c.primal for c in path.certificates):.3g}, {np.diff(path.coefs_sparse.indptr).max()} coefficients, {here.sent / 2**20:.0f} MB", flush=True)
    begin = time.process_time()
    memory = tyto.owl_path(x.tocsc(), y, **options)
    print(f"in memory: {time.process_time() - begin:.1f} CPU s")
    worst = max(abs(a.primal - b.primal) / b.primal for a, b in zip(path.certificates, memory.certificates))
    print(f"objectives differ by {worst:.1e} at most; converged: {sum(c.converged for c in path.certificates)} of {len(path.certificates)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
