"""
Rows that belong to two clusters
================================

Three round groups overlap, and rows where they do belong to two or to all three; some
far rows belong to none. One label a row cannot say that, and a method that knows
overlap but no outliers is pulled away. :class:`rtkm.NEOKMeans` knows both, but it has
to be told how much overlap there is.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans

from rtkm import OKM, RTKM, NEOKMeans, estimate_neo_parameters
from rtkm.metrics import average_f1, cardinality, omega_index, outlier_me, trivial_f1

rng = np.random.default_rng(0)
centers = np.array([[0.0, 0.0], [3.0, 0.0], [1.5, 2.6]])


def distances(rows):
    return np.linalg.norm(rows[:, None] - centers, axis=2)


anywhere = rng.uniform(-2.5, 5.5, (1800, 2))
near = anywhere[distances(anywhere).min(axis=1) < 2]
far = rng.uniform(-12, 15, (50, 2))
far = far[distances(far).min(axis=1) > 4]
X = np.concatenate([near, far])
truth = distances(X) < 2  # a row is in each disc around it
overlap = truth.sum() / len(X) - 1
print(f"{len(X)} rows in {cardinality(truth):.2f} clusters each, {len(far)} far out")

# %%
# Methods that take a number of outliers are told it, and NEOKMeans the true overlap:
# the memberships beyond one a row. Average F1 and the omega index compare sets of
# clusters (1 is best), the last column the outliers (0 is best). To beat is the answer
# that every row is in every cluster.

models = {
    "k-means": KMeans(3, n_init=10, random_state=0),
    "RTKM": RTKM(3, contamination=len(far), random_state=0),
    "RTKM, two each": RTKM(3, contamination=len(far), n_memberships=2, random_state=0),
    "OKM": OKM(3, random_state=0),
    "NEOKMeans": NEOKMeans(3, overlap=overlap, contamination=len(far), random_state=0),
}
print(f"{'':26}{'F1':>7}{'omega':>7}{'clusters':>10}{'outliers':>10}")
for name, model in models.items():
    model.fit(X)
    found = getattr(model, "assignments_", model.labels_)
    outliers = getattr(model, "outlier_mask_", np.zeros(len(X), dtype=bool))
    print(
        f"{name:26}{average_f1(truth, found):7.3f}{omega_index(truth, found):7.3f}"
        f"{cardinality(found):10.2f}{outlier_me(~truth.any(axis=1), outliers):10.3f}"
    )
print(f"{'every row in every cluster':26}{trivial_f1(truth):7.3f}")

# %%
# Colors mix those of the clusters that a row is in. Crosses are outliers.

INK = np.array([[0.0, 0.45, 0.7], [0.95, 0.65, 0.0], [0.8, 0.47, 0.65]])


def draw(ax, title, sets):
    # each cluster in the color of the disc that it shares most rows with
    sets = sets[:, linear_sum_assignment(truth.T.astype(int) @ sets, maximize=True)[1]]
    counts = sets.sum(axis=1)
    mixed = sets @ INK / np.maximum(counts, 1)[:, None]
    for n, marker, size in ((1, "o", 8), (2, "D", 12), (3, "*", 36)):
        rows = counts == n
        edge = "black" if n > 1 else "none"
        ax.scatter(*X[rows].T, s=size, c=mixed[rows], marker=marker, ec=edge, lw=0.5)
    ax.scatter(*X[counts == 0].T, s=18, c="#767676", marker="x", linewidth=1)
    ax.set(title=title, xlim=(-5, 8), ylim=(-4.5, 7), xticks=[], yticks=[])
    ax.set_aspect("equal")


figure, axes = plt.subplots(2, 2, figsize=(7, 6.4), layout="constrained")
draw(axes[0, 0], "the truth", truth)
for ax, name in zip(axes.flat[1:], ("RTKM", "OKM", "NEOKMeans"), strict=True):
    draw(ax, name, models[name].assignments_)
plt.show()

# %%
# How much does it matter to know the overlap, and can it be estimated?
# :func:`rtkm.estimate_neo_parameters` looks at k-means, which the far rows pull away;
# so it is also asked about the rows that RTKM keeps.

kept = X[~models["RTKM"].outlier_mask_]
estimates = {
    "true": overlap,
    "by all rows": estimate_neo_parameters(X, 3, random_state=0).overlap,
    "by those kept": estimate_neo_parameters(kept, 3, random_state=0).overlap,
}
for name, value in estimates.items():
    print(f"overlap, {name}: {value:.2f}")

asked = np.linspace(0, 0.8, 17)
fits = [
    NEOKMeans(3, overlap=o, contamination=len(far), random_state=0).fit(X).assignments_
    for o in asked
]
figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for name, score, style in (
    ("average F1", average_f1, "-"),
    ("omega", omega_index, "--"),
):
    ax.plot(asked, [score(truth, fit) for fit in fits], style, lw=2, label=name)
for name, value in estimates.items():
    ax.axvline(value, color="#767676", lw=1)
    ax.text(value + 0.005, 0.05, name, rotation=90)
ax.set(xlabel="overlap asked for", ylabel="score", ylim=(0, 1.02))
ax.legend(loc="upper right")
plt.show()

# %%
# Neither estimate is close: one looks at clusters that far rows have spoiled, and both
# count memberships by a convention. But a guess that is half or twice as much as there
# is still says more than one label a row, and RTKM alone, with one label, comes next.
# Its ``n_memberships`` is for tables where *every* row belongs to as many clusters.
