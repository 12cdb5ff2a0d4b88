"""
Weights: a row that counts several times
========================================

Tables often hold each different row once, with a column that says how often it was
seen. With ``sample_weight`` the fit to such a table is the fit to the long one, to the
last digit, and the number of outliers, too, counts rows of the long table. Leaving the
weights out answers another question.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.decomposition import PCA

from rtkm import RTKM
from rtkm.datasets import load_wbc

X, malignant = load_wbc(return_X_y=True)
rows, place, counts = np.unique(X, axis=0, return_inverse=True, return_counts=True)
print(f"{len(X)} samples, {len(rows)} different rows, one of them {counts.max()} times")

# %%
# The same fit to the long table, to the short one with weights, and to the short one
# without:

model = RTKM(2, contamination=0.05, random_state=0)
long = clone(model).fit(X)
weighted = clone(model).fit(rows, sample_weight=counts)
plain = clone(model).fit(rows)

same_labels = np.array_equal(weighted.labels_[place], long.labels_)
same_centers = np.array_equal(weighted.cluster_centers_, long.cluster_centers_)
print(f"with weights: same labels {same_labels}, same centers {same_centers}")
for name, fit in (("with weights", weighted), ("without", plain)):
    shift = np.linalg.norm(fit.cluster_centers_ - long.cluster_centers_, axis=1)
    trimmed = counts[fit.outlier_mask_].sum()
    print(f"{name}: {trimmed} samples trimmed, centers moved by {shift.round(2)}")

# %%
plane = PCA(2).fit(X)
dots = plane.transform(rows)
COLORS = np.array(["#0072b2", "#009e73", "#d55e00"])  # the last: label -1

figure, axes = plt.subplots(
    1, 2, figsize=(8, 4), sharex=True, sharey=True, layout="constrained"
)
for ax, title, fit in (
    (axes[0], "with weights", weighted),
    (axes[1], "every different row counts once", plain),
):
    ax.scatter(
        *dots.T, s=10 + 12 * counts, c=COLORS[fit.labels_], alpha=0.6, linewidth=0
    )
    ax.scatter(
        *plane.transform(fit.cluster_centers_).T,
        s=130,
        marker="X",
        c="black",
        ec="white",
    )
    ax.set(title=title, xticks=[], yticks=[])
axes[0].text(
    0, -0.02, "orange: outliers; area: how often", transform=axes[0].transAxes, va="top"
)
plt.show()

# %%
# Both pictures show the same rows. Without weights the many equal rows in the left
# cluster count for little, so its center moves to the few others, and fewer samples are
# trimmed: a share of the outliers is a share of what is counted. Weights are
# multiplicities: a row of weight 27 counts as 27 among the outliers, too.
