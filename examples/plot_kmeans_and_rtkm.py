"""
k-means against RTKM
====================

Three clusters and a few stray rows: k-means gives the strays a center, RTKM leaves
them out.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

from rtkm import RTKM

# %%
# The table
# ---------

rng = np.random.default_rng(0)
blobs = [rng.normal(center, 1, (100, 2)) for center in ((0, 0), (7, 0), (3.5, 6))]
X = np.concatenate([*blobs, rng.normal((40, 40), 1, (5, 2))])
k_means = KMeans(3, n_init=10, random_state=0).fit(X)
model = RTKM(3, contamination=5, random_state=0).fit(X)
print(model.n_outliers_, "outliers")

# %%
# Both fits
# ---------

fig, axes = plt.subplots(1, 2, figsize=(8, 4), sharey=True)
for ax, fit, name in zip(axes, (k_means, model), ("k-means", "RTKM"), strict=True):
    ax.scatter(*X.T, c=fit.labels_, s=8)
    ax.set_title(name)
plt.show()
