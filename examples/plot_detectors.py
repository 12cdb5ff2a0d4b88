"""
Outlier detectors side by side
==============================

No detector is best on all tables: each has its own idea of what is normal. Three of
this library and two of scikit-learn look at outliers between groups, at outliers that
keep together, and at outliers near a tight group beside a wide one. The first table is
easy; each of the others defeats some of them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor

from rtkm import CBLOF, LDOF, RTKM, ClusterDetector
from rtkm.metrics import outlier_roc_auc

rng = np.random.default_rng(0)


def table(centers, widths, outliers):
    """Draw 150 rows in each group; outliers are the last rows."""
    groups = [
        rng.normal(center, width, (150, 2))
        for center, width in zip(centers, widths, strict=True)
    ]
    rows = np.concatenate([*groups, outliers])
    return rows, np.arange(len(rows)) >= len(rows) - len(outliers)


corners = np.array([[-6, -6], [6, -6], [0, 6]])
anywhere = rng.uniform(-10, 10, (200, 2))
gaps = np.linalg.norm(anywhere[:, None] - corners, axis=2).min(axis=1)
angle = rng.uniform(0, 2 * np.pi, 40)
ring = np.column_stack([np.cos(angle), np.sin(angle)]) * rng.uniform(1.5, 2.5, (40, 1))

tables = {
    "between groups": table(corners, [1, 1, 1], anywhere[gaps > 4][:40]),
    "a clump": table(corners, [1, 1, 1], rng.normal([9, 6], 0.3, (40, 2))),
    "near a tight group": table([[-5, 0], [6, 0]], [0.3, 3], ring - [5, 0]),
}

# %%
# All are left with their defaults. RTKM takes part twice: once it chooses the number of
# clusters and of outliers, and once it is told both. (``contamination`` of the others
# would move their cut only; here rankings are compared.)

N_GROUPS = {"between groups": 3, "a clump": 3, "near a tight group": 2}


def detectors_for(n_groups):
    robust = RTKM(n_groups, contamination=40, random_state=0)
    return {
        "RTKM, alone": ClusterDetector(),
        "RTKM, told": ClusterDetector(robust),
        "CBLOF": CBLOF(),
        "LDOF": LDOF(),
        "LocalOutlierFactor": LocalOutlierFactor(),
        "IsolationForest": IsolationForest(random_state=0),
    }


def scores_of(detector, X):
    """Return outlier scores of the rows a detector is fitted to, large for outliers."""
    detector.fit(X)
    if hasattr(detector, "outlier_scores_"):
        return detector.outlier_scores_
    if hasattr(detector, "negative_outlier_factor_"):
        return -detector.negative_outlier_factor_
    return -detector.score_samples(X)


areas = {
    name: {
        which: outlier_roc_auc(truth, scores_of(detector, X))
        for which, detector in detectors_for(N_GROUPS[name]).items()
    }
    for name, (X, truth) in tables.items()
}
print(f"{'ROC AUC':20}", *(f"{name:>18}" for name in tables))
for which in detectors_for(3):
    print(f"{which:20}", *(f"{areas[name][which]:18.3f}" for name in tables))

# %%
# Above, the tables with their true outliers; below, how well each detector ranks them.
# At 0.5, the line, it is guessing; below that it takes outliers for the most normal
# rows of all.

figure, axes = plt.subplots(
    2, 3, figsize=(8.4, 5), layout="constrained", height_ratios=[5, 4]
)
for (name, (X, truth)), (above, below) in zip(tables.items(), axes.T, strict=True):
    above.scatter(*X[~truth].T, s=6, c="#0072b2", linewidth=0)
    above.scatter(*X[truth].T, s=14, c="#d55e00", marker="x", linewidth=1)
    above.set(
        title=f"outliers {name}" if name != "a clump" else "outliers in a clump",
        xticks=[],
        yticks=[],
    )
    above.set_aspect("equal", adjustable="datalim")
    heights = list(areas[name].values())[::-1]
    below.barh(list(areas[name])[::-1], heights, color="#56b4e9")
    below.axvline(0.5, color="black", lw=1)
    below.set(xlim=(0, 1), xlabel="ROC AUC")
    if below is not axes[1, 0]:
        below.set_yticks([])
plt.show()

# %%
# - Scattered outliers between groups of one width are easy for nearly all of them.
# - Forty rows close together are a cluster for RTKM where it chooses their number, and
#   rows in the middle of a cluster score low. Told that there are three, it cannot
#   spare a center for them. To neighbors they look normal, too; CBLOF, which gives no
#   credit to small clusters, is made for this.
# - RTKM and CBLOF measure all clusters by one width, and near a tight group beside a
#   wide one they look in the wrong place. Take neighbors there.
#
# So ask first what your outliers are like. If nobody knows, look at those that two such
# different detectors disagree on.
