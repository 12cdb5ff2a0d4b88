"""
Benign samples as the cluster, malignant ones as the outliers
=============================================================

The Breast Cancer Wisconsin table has 699 biopsies, graded 1 to 10 in nine features. The
benign ones are alike; the malignant ones differ from them, each in its own way. So the
natural model is one cluster and many outliers, and the question is whether a method
that never sees the diagnoses can tell them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor

from rtkm import RTKM
from rtkm.datasets import load_wbc
from rtkm.metrics import outlier_roc_auc

X, malignant = load_wbc(return_X_y=True)
malignant = malignant.astype(bool)

# %%
# One cluster, and about 35 % outliers: that many samples of this clinic turn out
# malignant, which is knowledge from outside the table.

model = RTKM(1, contamination=0.35, random_state=0).fit(X)
found = model.outlier_mask_

benign = X[~malignant].mean(axis=0)
for name, center in (("mean of all", X.mean(axis=0)), ("RTKM", model.cluster_centers_)):
    print(f"{name:12} {np.linalg.norm(center - benign):.2f} from the benign mean")
print(f"outliers: {found.sum()}, of them malignant: {malignant[found].mean():.1%}")
print(f"malignant samples that are found: {found[malignant].mean():.1%}")

# %%
# Grades are whole numbers, so a little noise parts the dots of the picture.

RTKM_COLOR, OTHER = "#d55e00", "#0072b2"
plane = PCA(2).fit(X)
jitter = np.random.default_rng(0).uniform(-0.4, 0.4, X.shape)
dots = plane.transform(X + jitter)

figure, axes = plt.subplots(
    1, 2, figsize=(8, 4), sharex=True, sharey=True, layout="constrained"
)
for ax, title, mask, names in (
    (axes[0], "what RTKM finds", found, ("cluster", "outliers")),
    (axes[1], "what the diagnosis says", malignant, ("benign", "malignant")),
):
    ax.scatter(*dots[~mask].T, s=13, c=OTHER, linewidth=0, alpha=0.7, label=names[0])
    ax.scatter(
        *dots[mask].T, s=16, c=RTKM_COLOR, marker="x", linewidth=1, label=names[1]
    )
    ax.set(title=title, xticks=[], yticks=[])
    ax.legend(loc="upper right")
plt.show()

# %%
# The ranking matters more than the cut, which was given. Detectors of scikit-learn rank
# the samples, too. The local outlier factor compares a row with its neighbors, and
# malignant samples are each other's neighbors until the neighborhood is larger than all
# of them together.

forest = IsolationForest(random_state=0).fit(X)
scores = {"RTKM": model.outlier_scores_, "IsolationForest": -forest.score_samples(X)}
for n in (100, 300):
    factor = LocalOutlierFactor(n).fit(X).negative_outlier_factor_
    scores[f"LocalOutlierFactor({n})"] = -factor
for name, score in scores.items():
    print(f"{name:24} ROC AUC {outlier_roc_auc(malignant, score):.3f}")

# %%
# Left alone, RTKM would not have called a third of a table outliers:

alone = RTKM(random_state=0).fit(X)
print(alone.choice_.summary())
for label in range(-1, alone.n_clusters_):
    rows = alone.labels_ == label
    name = "outliers" if label < 0 else f"cluster {label}"
    print(f"{name:10} {rows.sum():4} samples, {malignant[rows].mean():.0%} malignant")

# %%
# It sees a benign cluster, a malignant one, and the most extreme samples as outliers,
# which is just as true. Whether the malignant samples are a cluster or outliers is for
# the question to decide, not for the table.
