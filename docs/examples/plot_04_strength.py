"""
Four ways to choose a strength
==============================

Cross-validation (the best, and one standard error from it), BIC along one path, and the level of the noise. Each answers
another question: prediction, a model of few features, false discoveries.
"""
import matplotlib.pyplot as plt
import numpy as np

import tyto
from tyto import OWL, OWLCV

rng = np.random.default_rng(5)
X = rng.normal(size=(200, 100))
truth = np.concatenate([[3.0, 3.0, 2.0, -1.0, -1.0], np.zeros(95)])
y = X @ truth + rng.normal(size=200)
X_new = rng.normal(size=(2000, 100))

best = OWLCV("bh", standardize=True).fit(X, y)
path = tyto.owl_path(X, y, weights="bh", standardize=True)
found = {
    "cv, best": best.coef_,
    "cv, one s.e.": best.with_choice("one-se").coef_,
    "BIC": path.coefs[:, path.choose("bic")],
    "noise, q = 0.1": OWL("bh", q=0.1, sigma="estimate", standardize=True).fit(X, y).coef_,
}
for name, coef in found.items():
    error = np.sqrt(np.mean((X_new @ (coef - truth)) ** 2))
    print(f"{name:15s} {np.count_nonzero(coef):3d} features, {np.count_nonzero(coef[5:]):2d} of them false, error {error:.2f}")

# %%
# The features, true ones to the left of the line.

figure, axes = plt.subplots(len(found), 1, figsize=(8, 6), sharex=True, layout="constrained")
for ax, (name, coef) in zip(axes, found.items()):
    ax.stem(coef[:60], basefmt=" ", markerfmt=".")
    ax.axvline(4.5, color="0.6", lw=1)
    ax.set_ylabel(name, fontsize=8)
axes[-1].set_xlabel("feature")
plt.show()
