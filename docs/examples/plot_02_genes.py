"""
Genes in modules
================

120 samples and 4000 genes in modules of 20 that are expressed together; two modules matter. Cross-validation chooses the
strength; the one-standard-error rule takes the strongest penalty that is about as good as the best.
"""
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from tyto import OWLCV, plot

rng = np.random.default_rng(3)
modules = np.repeat(rng.normal(size=(120, 200)), 20, axis=1)
names = [f"m{j // 20}_g{j % 20}" for j in range(4000)]
expression = pd.DataFrame(1 + modules + 0.2 * rng.normal(size=(120, 4000)), columns=names)
trait = modules[:, 0] - modules[:, 20] + 0.5 * rng.normal(size=120)

model = OWLCV(weights="bh", q=0.1, standardize=True, cv=5, choose="one-se").fit(expression, trait)
chosen = model.feature_names_in_[model.coef_ != 0]
print(len(chosen), "genes, of modules", sorted({name.split("_")[0] for name in chosen}))

# %%
# The error of the rows held out, and the clusters with the mean correlation between their genes.

plot.cv(model)
plt.show()

# %%

plot.clusters(model, X=expression)
plt.show()
