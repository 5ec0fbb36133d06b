"""
Two classes
===========

Logistic regression with the sorted penalty, on data of scikit-learn: 569 samples of breast tissue, 30 measurements of cell
nuclei, of which many say nearly the same.
"""
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import RocCurveDisplay
from sklearn.model_selection import train_test_split

from tyto import OWLClassifierCV, plot

data = load_breast_cancer(as_frame=True)
labels = np.where(data.target == 0, "malignant", "benign")
X, X_new, y, y_new = train_test_split(data.data, labels, test_size=0.5, random_state=0, stratify=labels)

model = OWLClassifierCV("oscar", standardize=True, cv=5, choose="one-se").fit(X, y)
print("classes:", model.classes_, "- coefficients are those of", model.classes_[1])
print("features:", np.count_nonzero(model.coef_), "of 30; correct on new samples:", f"{model.score(X_new, y_new):.1%}")

# %%
# The error of the folds, and the ROC curve on the samples that were kept apart.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
plot.cv(model, ax=left)
RocCurveDisplay.from_estimator(model, X_new, y_new, ax=right)
plt.show()

# %%
# What is in the model. All are drawn; ``|r|`` is the mean correlation within a cluster.

plot.clusters(model, X=X)
plt.show()
