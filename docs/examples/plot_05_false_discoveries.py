"""
False discoveries against q
===========================

With the level of the noise as strength, ``bh`` weights keep the false discovery rate at or below q where columns are orthogonal.
100 data sets of 50 orthogonal columns, 10 of which matter. :doc:`/fdr` has designs where this does not hold.
"""
import matplotlib.pyplot as plt
import numpy as np

from tyto import OWL

rng = np.random.default_rng(6)
n, p, signals, data_sets = 200, 50, 10, 100
X = np.sqrt(n) * np.linalg.qr(rng.normal(size=(n, p)))[0]
truth = np.zeros(p)
truth[:signals] = np.sqrt(2 * np.log(p) / n)
responses = [X @ truth + rng.normal(size=n) for _ in range(data_sets)]

levels = [0.05, 0.1, 0.2, 0.4]
rates, powers = [], []
for q in levels:
    coefs = [OWL("bh", q=q, sigma=1.0, fit_intercept=False).fit(X, y).coef_ for y in responses]
    false = [np.count_nonzero(coef[signals:]) / max(1, np.count_nonzero(coef)) for coef in coefs]
    rates.append(np.mean(false))
    powers.append(np.mean([np.count_nonzero(coef[:signals]) / signals for coef in coefs]))
    print(f"q = {q}: false discovery rate {rates[-1]:.2f}, power {powers[-1]:.2f}")

# %%

figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
ax.plot(levels, levels, color="0.6", ls="--", label="q")
ax.plot(levels, rates, "o-", label="false discovery rate")
ax.plot(levels, powers, "s-", label="power")
ax.set(xlabel="q", ylim=(0, 1))
ax.legend(frameon=False)
plt.show()
