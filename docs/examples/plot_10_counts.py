"""
Counts with an exposure
=======================

Claims of 500 drivers who were seen for different times. The logarithm of the time is an offset: twice the time, twice the
claims.
"""
import matplotlib.pyplot as plt
import numpy as np

from tyto import OWLCV

rng = np.random.default_rng(10)
names = ["age", "km", "km at work", "night", "town"] + [f"other {k}" for k in range(15)]
X = rng.normal(size=(500, 20))
X[:, 2] = 0.9 * X[:, 1] + 0.44 * X[:, 2]
years = rng.uniform(0.1, 3, size=500)
truth = np.concatenate([[-0.3, 0.25, 0.25, 0.0, 0.5], np.zeros(15)])
claims = rng.poisson(years * np.exp(-1 + X @ truth))

model = OWLCV("bh", loss="poisson", standardize=True, choose="one-se").fit(X, claims, offset=np.log(years))
for j in np.flatnonzero(model.coef_):
    print(f"{names[j]:12s} rate ratio {np.exp(model.coef_[j]):.2f} (truth {np.exp(truth[j]):.2f})")

# %%
# Observed claims against those expected, in ten groups of drivers.

expected = model.predict(X, offset=np.log(years))
groups = np.array_split(np.argsort(expected), 10)
figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
ax.axline((0, 0), slope=1, color="0.7", lw=1)
ax.plot([expected[g].sum() for g in groups], [claims[g].sum() for g in groups], "o")
ax.set(xlabel="expected claims", ylabel="observed claims", xlim=0, ylim=0)
plt.show()
