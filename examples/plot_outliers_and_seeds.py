"""
How outliers move the starting centers
======================================

k-means++ draws starting centers far from each other, and nothing is as far from the
rest as an outlier. Here is how many starting centers fall on outliers by four ways to
draw them, where fits from them end, and what the search of RTKM for a better minimum
makes of that.
"""

import matplotlib.pyplot as plt
import numpy as np

from rtkm import TrimmedKMeans
from rtkm.datasets import make_outlier_blobs
from rtkm.seeding import (
    k_means_plus_plus,
    random_rows,
    robin,
    robust_k_means_plus_plus,
)

K, N_DRAWS = 8, 50
X, truth, _ = make_outlier_blobs(1000, n_clusters=K, random_state=1)

ways = {
    "k-means++": lambda seed: k_means_plus_plus(X, K, random_state=seed),
    "random rows": lambda seed: random_rows(X, K, random_state=seed),
    "ROBIN": lambda seed: robin(X, K),  # the same every time
    "robust k-means++": lambda seed: robust_k_means_plus_plus(X, K, random_state=seed),
}
starts = {name: [draw(seed) for seed in range(N_DRAWS)] for name, draw in ways.items()}

# %%
# One draw of two of them, at the same seed. Crosses are the starting centers.

figure, axes = plt.subplots(
    1, 2, figsize=(8, 3.9), sharex=True, sharey=True, layout="constrained"
)
for ax, name in zip(axes, ("k-means++", "robust k-means++"), strict=True):
    ax.scatter(*X[truth >= 0].T, s=6, c="#56b4e9", linewidth=0)
    ax.scatter(*X[truth == -1].T, s=6, c="#999999", linewidth=0)
    ax.scatter(*starts[name][0].T, s=110, marker="X", c="#d55e00", ec="white")
    ax.set(title=name, xticks=[], yticks=[])
plt.show()

# %%
# Fifty draws of each. A start is good if every blob has a center.

blob_of = {tuple(row): label for row, label in zip(X, truth, strict=True)}
print(f"{'':18}{'on outliers':>13}{'blobs reached':>15}{'all of them':>13}")
for name, draws in starts.items():
    blobs = [[blob_of[tuple(row)] for row in C] for C in draws]
    n_reached = np.array([len(set(some) - {-1}) for some in blobs])
    print(
        f"{name:18}{np.mean(np.array(blobs) == -1):13.0%}"
        f"{n_reached.mean():10.1f} of {K}{np.mean(n_reached == K):13.0%}"
    )

# %%
# A tenth of the rows are outliers, and random rows hit about as many. k-means++ hits
# far more. So does ROBIN, which takes far rows that are about as dense as their
# neighbors, as evenly scattered outliers are. Robust k-means++, which caps distances,
# hits fewest and reaches most blobs.
#
# From each start, trimmed k-means goes down to a minimum, first by alternation alone
# and then with swaps, as is the default. Costs are in units of the lowest one.

model = TrimmedKMeans(K, contamination=0.1, random_state=0)
costs = {
    (name, swaps): np.array(
        [
            model.set_params(init=C, n_swaps=swaps).fit(X).objective_
            for C in (draws if name != "ROBIN" else draws[:1])
        ]
    )
    for name, draws in starts.items()
    for swaps in (0, "auto")
}
least = min(some.min() for some in costs.values())
for (name, swaps), some in costs.items():
    how = "with swaps" if swaps else "alternation"
    good = np.mean(some < 1.001 * least)
    print(f"{name:18}{how:13}median {np.median(some) / least:6.3f}, best {good:4.0%}")

figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
jitter = np.random.default_rng(0).uniform(-0.25, 0.25, N_DRAWS)
for y, name in enumerate(starts):
    for swaps, color in ((0, "#d55e00"), ("auto", "#0072b2")):
        ratios = costs[name, swaps] / least
        ax.plot(ratios, y + jitter[: len(ratios)], "o", color=color, ms=4, alpha=0.6)
ax.set(xscale="log", xlabel="cost in units of the lowest one, after a fit")
ax.set_yticks(range(len(starts)), list(starts))
ax.set_xticks([1, 2, 5, 10], ["1", "2", "5", "10"])
ax.minorticks_off()
ax.legend(["alternation", "with swaps"])
plt.show()

# %%
# Alternation keeps what the start got wrong, and drawing robustly helps much. Swaps end
# at the same lowest cost from all starts here; so with the default search the draw
# hardly matters on such a table. It does where swaps are turned off, or with methods
# that have none.
