"""
A tour of the pictures
======================

:mod:`rtkm.plot` draws what a fit found, on matplotlib axes that you can change: rows
and clusters, how far out rows are and where outliers begin, what sets clusters apart,
and which clusters share rows. Here are five pictures of one table, and how to read
them.
"""

import matplotlib.pyplot as plt
import pandas as pd

import rtkm
from rtkm import RTKM, NEOKMeans
from rtkm.datasets import make_outlier_blobs

rows, _, _ = make_outlier_blobs(
    1000, n_features=4, n_clusters=4, contamination=0.05, separation=2, random_state=1
)
table = pd.DataFrame(rows, columns=list("abcd"))
model = RTKM(random_state=0).fit(table)
print(model.choice_.summary())
print(model.summary())

# %%
# **Rows and clusters.** Of more than two features the two principal directions of the
# inliers are drawn, in which one cluster here hides another; ``model.plot(table)`` is
# the same.

ax = rtkm.plot.clusters(model, table)
plt.show()

# %%
# **The tail.** Each row by its outlier score, and how many lie as far out, both on
# logarithmic axes. The line is what the shape of the clusters lets expect.

rtkm.plot.tail(model, table)
plt.show()

# %%
# **Scores.** The same scores, the largest first, and the cut.

rtkm.plot.scores(model, table)
plt.show()

# %%
# **Profiles.** In which features do clusters differ, also those that the first picture
# shows in one place? The features that tell clusters apart most come first.

rtkm.plot.profiles(model, table)
plt.show()

# %%
# **Overlap.** For methods that put rows into several clusters: how many rows any two of
# them share. Overlap that was asked for goes where it costs least, whether there is any
# or not.

overlapping = NEOKMeans(4, overlap=0.1, contamination=0.05, random_state=0).fit(table)
rtkm.plot.overlap(overlapping, table)
plt.show()

# %%
# All of them take ``ax=``, return the axes, and draw samples of very many rows. A
# :class:`rtkm.TableModel` is drawn in the same way. The pictures of a choice,
# ``rtkm.plot.plateau``, ``weakest_pair`` and ``curves``, have an example of their own.
