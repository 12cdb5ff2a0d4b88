"""
Two rows are enough to break k-means
====================================

Three clouds of a hundred rows each, and two rows far away. k-means has to put every row
into a cluster: it spends one of its three centers on a single far row, and two clouds
have to share another. RTKM leaves the two rows out, and finds the clouds. This is the
example to start with.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

from rtkm import RTKM
from rtkm.datasets import make_clouds

X, truth = make_clouds(100, spread=0.8, random_state=0)
clouds = np.array([X[truth == j].mean(axis=0) for j in range(3)])

# %%
# Both methods are told that there are three clusters, RTKM also that two rows are
# outliers. How far from the middle of each cloud is the nearest center?

k_means = KMeans(3, n_init=10, random_state=0).fit(X)
robust = RTKM(3, contamination=2, random_state=0).fit(X)

for name, model in (("k-means", k_means), ("RTKM", robust)):
    gaps = np.linalg.norm(clouds[:, None] - model.cluster_centers_, axis=2).min(axis=1)
    print(f"{name:8} rows by cluster: {np.bincount(model.labels_[model.labels_ >= 0])}")
    print(f"{'':8} from each cloud to the nearest center: {gaps.round(2)}")
print("RTKM leaves out", X[robust.outlier_mask_].round(1).tolist())

# %%
# Ten random starts do not help k-means: a center on the lonely row *is* the minimum of
# its objective. That of RTKM counts only the rows that are kept.

COLORS = np.array(["#0072b2", "#e69f00", "#009e73", "#d55e00"])  # the last: label -1

figure, axes = plt.subplots(2, 1, figsize=(7, 4.6), sharex=True, layout="constrained")
for ax, title, model in zip(
    axes,
    ("k-means: a center for one row", "RTKM: a center for each cloud"),
    (k_means, robust),
    strict=True,
):
    ax.scatter(*X.T, s=14, c=COLORS[model.labels_], linewidth=0)
    left_out = X[model.labels_ == -1]
    ax.scatter(*left_out.T, s=90, facecolors="none", edgecolors=COLORS[-1], lw=1.6)
    ax.scatter(*model.cluster_centers_.T, s=130, marker="X", c="black", ec="white")
    ax.set_title(title)
    ax.set_aspect("equal")
plt.show()

# %%
# How many outliers there are need not be known, nor the number of clusters.
# ``RTKM()`` chooses both, and says what it saw:

found = RTKM(random_state=0).fit(X)
print(found.choice_.summary())

# %%
# Use k-means where every row is known to belong somewhere. Where that is not known,
# leaving out a few rows costs little if they were fine, and keeping them can cost a
# cluster.
