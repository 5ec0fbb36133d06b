"""
Relaxed fits: undo the shrinkage
================================

A penalty draws coefficients towards zero. ``gamma=0`` fits the clusters that it found once more by least squares;
numbers between 0 and 1 mix the two.
"""
import matplotlib.pyplot as plt
import numpy as np

from tyto import OWL

rng = np.random.default_rng(8)
X = np.repeat(rng.normal(size=(80, 3)), 4, axis=1) + 0.1 * rng.normal(size=(80, 12))
X = np.hstack([X, rng.normal(size=(80, 20))])
truth = np.concatenate([np.repeat([2.0, -1.5, 1.0], 4), np.zeros(20)])
y = X @ truth + rng.normal(size=80)

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
ax.step(np.arange(32), truth, where="mid", color="0.6", label="truth")
for gamma in (1, 0.5, 0):
    model = OWL("bh", alpha=0.3, relative=True, gamma=gamma).fit(X, y)
    print(f"gamma {gamma}: error of the coefficients {np.linalg.norm(model.coef_ - truth):.2f}, {len(model.clusters_)} clusters")
    ax.plot(model.coef_, ".", label=f"gamma = {gamma}")
ax.set(xlabel="feature", ylabel="coefficient")
ax.legend(frameon=False)
plt.show()
