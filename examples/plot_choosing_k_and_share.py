"""
How many clusters, and how many outliers?
=========================================

With outliers the two questions hang together: a few far rows are a small cluster or
outliers, and each number of clusters suggests another share. :func:`rtkm.choose`
answers both and says what else it could be; :func:`rtkm.curves` lets you see for
yourself; and :func:`rtkm.stability` tells which clusters come back in halves of the
table.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score

import rtkm
from rtkm import RTKM
from rtkm.datasets import make_outlier_blobs

X, truth, _ = make_outlier_blobs(1000, n_clusters=5, contamination=0.08, random_state=0)
choice = rtkm.choose(X, random_state=0)
print(choice.summary())

outliers = RTKM(random_state=0).fit(X).outlier_mask_
print(f"drawn as {truth.max() + 1} clusters and {np.sum(truth == -1)} outliers")
print(
    f"of {outliers.sum()} found {np.sum(truth[outliers] == -1)} were drawn as outliers"
)

# %%
# The number of clusters is right. There are more outliers than were drawn as such: the
# blobs differ in width, and most of the others lie at the rim of the widest ones.

for j in range(choice.n_clusters):
    rows = truth == j
    width = X[rows].std(axis=0).mean()
    print(f"blob {j}: width {width:.2f}, {outliers[rows].sum()} called outliers")

# %%
# What decided: on the left, the number of groups that trials agree on most often; on
# the right, that there are hardly any rows between the two groups that are hardest to
# tell apart. (``choice.plot()`` draws both at once.)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
rtkm.plot.plateau(choice, left)
rtkm.plot.weakest_pair(choice, right)
plt.show()

# %%
# The curves show the cost of the rows that are kept, for every number of clusters and
# share of outliers. Read them from below: from five clusters on, another one gains
# little, and its line stops falling steeply at the share of outliers that were drawn.
# The dashed line is the share that was chosen.

found = rtkm.curves(X, range(2, 8), np.arange(0, 0.21, 0.01), random_state=0)
ax = found.plot()
ax.axvline(100 * choice.contamination, color="#767676", ls="--", lw=1.2)
plt.show()

# %%
# The usual way, k-means with the best silhouette, answers another question: outliers
# are rows like any other for it.

scores = {
    k: silhouette_score(X, KMeans(k, n_init=10, random_state=0).fit_predict(X))
    for k in range(2, 11)
}
best = max(scores, key=scores.get)
print({k: round(float(score), 3) for k, score in scores.items()}, "- best:", best)

# %%
# And if one cluster too many was asked for? Of fits to random halves of the rows, those
# clusters come back that are there.

for k in (choice.n_clusters, choice.n_clusters + 1):
    model = RTKM(k, contamination=choice.n_outliers, random_state=0).fit(X)
    steady = rtkm.stability(model, X, random_state=0)
    print(
        f"{k} clusters, similarity in halves: {steady.clusters.round(2)}, "
        f"unsure: {steady.unsure_clusters}"
    )

# %%
# Silhouettes rise with every center that an outlier gets. The choice, the curves and
# the halves agree on five; where they do not, believe the one that you can see in the
# table, and give ``RTKM`` the numbers: a choice is a suggestion.
