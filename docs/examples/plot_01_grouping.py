"""
Grouping against the lasso
==========================

Three groups of four features that are nearly alike, and 28 features of noise. The lasso picks one or two of each group; OWL
gives all of a group one coefficient. Nobody told it the groups.
"""
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Lasso

import tyto
from tyto import OWL, plot

rng = np.random.default_rng(1)
signal = np.repeat(rng.normal(size=(100, 3)), 4, axis=1) + 0.1 * rng.normal(size=(100, 12))
X = np.hstack([signal, rng.normal(size=(100, 28))])
truth = np.concatenate([np.repeat([3.0, -2.0, 1.0], 4), np.zeros(28)])
y = X @ truth + 2 * rng.normal(size=100)

# %%
# One strength: a tenth of the smallest one that leaves nothing in the model.

owl = OWL(weights="bh", alpha=0.1, relative=True).fit(X, y)
lasso = Lasso(alpha=0.1 * tyto.alpha_max(X, y, weights="lasso")).fit(X, y)
print("truth:", truth[:12])
print("OWL:  ", owl.coef_[:12].round(1))
print("lasso:", lasso.coef_[:12].round(1))

# %%
# The whole path. Features of a group are one line of OWL, and cross one another with the lasso.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
plot.path(tyto.owl_path(X, y, weights="lasso", eps=0.02), ax=left, labels=0).set_title("lasso")
plot.path(tyto.owl_path(X, y, weights="bh", eps=0.02), ax=right, labels=0).set_title("OWL")
plt.show()
