"""
Clusters that mean nothing
==========================

A cluster is features of equal magnitude. Here two features are nearly the same, and tie. Two others have nothing to do with one
another, and tie as well, because falling weights pull near magnitudes together. The correlation within a cluster tells
the two cases apart.
"""
import matplotlib.pyplot as plt
import numpy as np

from tyto import OWL, plot

rng = np.random.default_rng(5)
X = rng.normal(size=(150, 60))
X[:, 1] = X[:, 0] + 0.1 * rng.normal(size=150)  # the only pair that is alike
y = X[:, :6] @ [2.0, 2.0, 1.2, 1.1, -1.0, 0.9] + rng.normal(size=150)

model = OWL(weights="bh", alpha=0.15, relative=True, standardize=True).fit(X, y)
for cluster in model.cluster_table(X):
    if cluster.size > 1:
        print(cluster.size, "features, mean |r|", round(cluster.mean_correlation, 2), "- a coincidence" if cluster.coincidental else "- alike")

# %%
# Orange: likely a tie by coincidence, as the mean of ``|r|`` is below 0.5.

plot.clusters(model, X=X, most=20)
plt.show()
