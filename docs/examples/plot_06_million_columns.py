"""
Half a million sparse columns
=============================

A CSC matrix is used where it lies. Screening proves all but a few of the coefficients zero while the solver runs.
"""
import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse

from tyto import OWL, plot

p = 500_000
rng = np.random.default_rng(0)
rows = np.sort(rng.integers(0, 2000, size=(p, 3)), axis=1)
X = sparse.csc_matrix((np.ones(3 * p), rows.ravel(), np.arange(0, 3 * p + 1, 3)), shape=(2000, p))
relevant = rng.choice(p, 20, replace=False)
y = X[:, relevant] @ np.full(20, 5.0) + 0.1 * rng.normal(size=2000)

model = OWL(weights="bh", alpha=0.3, relative=True).fit(X, y)
print("found", np.isin(relevant, np.flatnonzero(model.coef_)).sum(), "of 20; selected", np.count_nonzero(model.coef_))
print("proved zero:", f"{model.screened_ / p:.2%}", "of the columns")

# %%

plot.convergence(model)
plt.show()
