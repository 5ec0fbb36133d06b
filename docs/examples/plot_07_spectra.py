"""
Non-negative spectra
====================

A spectrum is a sum of known shapes with amounts that cannot be negative, on a baseline that is not to be penalised.
"""
import matplotlib.pyplot as plt
import numpy as np

from tyto import OWL

rng = np.random.default_rng(7)
place = np.linspace(0, 1, 300)
centres = np.linspace(0.02, 0.98, 80)
shapes = np.exp(-0.5 * ((place[:, None] - centres) / 0.012) ** 2)
amounts = np.zeros(80)
amounts[[10, 11, 40, 62, 63, 64]] = [1.0, 1.0, 2.0, 0.7, 0.7, 0.7]
spectrum = shapes @ amounts + 0.8 * place + 0.05 * rng.normal(size=300)

X = np.column_stack([shapes, place])
model = OWL("oscar", alpha=0.05, relative=True, positive=True, unpenalized=[80]).fit(X, spectrum)
print("slope of the baseline:", model.coef_[80].round(2))
print("shapes in the model:", np.flatnonzero(model.coef_[:80]))

# %%

figure, (top, bottom) = plt.subplots(2, 1, figsize=(8, 5), layout="constrained")
top.plot(place, spectrum, ".", ms=3, color="0.6", label="measured")
top.plot(place, model.predict(X), label="model")
top.legend(frameon=False)
bottom.stem(centres, amounts, linefmt="0.7", markerfmt="o", basefmt=" ", label="truth")
bottom.stem(centres, model.coef_[:80], linefmt="C0", markerfmt=".", basefmt=" ", label="model")
bottom.set(xlabel="place", ylabel="amount")
bottom.legend(frameon=False)
plt.show()
