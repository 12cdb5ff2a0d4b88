"""
Which handwritten digits to show to a person
============================================

Clusters of scikit-learn's 1797 handwritten digits, each named after the digit that most
of its pictures show, read most pictures right. RTKM also sets the pictures aside that
fit no cluster, and a good part of its mistakes is among these few: they are the ones
to show to a person.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from rtkm import RTKM

X, digit = load_digits(return_X_y=True)

# people write a digit in more than one way, so there are two clusters for each
model = RTKM(20, contamination=0.05, random_state=0).fit(X)
aside = model.outlier_mask_


def reading(labels, nearest):
    """Read each picture as the most frequent digit of its cluster."""
    names = [np.bincount(digit[labels == j]).argmax() for j in range(nearest.max() + 1)]
    return np.array(names)[nearest]


read = reading(model.labels_, model.transform(X).argmin(axis=1))
wrong = read != digit
print(
    f"{aside.sum()} pictures are set aside, {wrong[aside].mean():.0%} of them misread"
)
print(f"{(~aside).sum()} are kept, {wrong[~aside].mean():.1%} of them misread")
print(f"of all mistakes {aside[wrong].mean():.0%} are among those set aside")

# %%
# Twenty of the pictures set aside, the farthest out first, with what they were read as;
# below, the centers of the clusters.

figure, (top, bottom) = plt.subplots(2, 1, figsize=(7, 3.9), layout="constrained")


def mosaic(rows):
    """Lay out pictures ten in a line, with a margin above each."""
    tiles = np.pad(rows.reshape(-1, 10, 8, 8), ((0, 0), (0, 0), (4, 0), (1, 2)))
    return np.block([[*line] for line in tiles])


far = np.argsort(-model.outlier_scores_)[:20]
top.imshow(mosaic(X[far]), cmap="gray_r")
for i, row in enumerate(far):
    words = f"{digit[row]} as {read[row]}" if wrong[row] else f"{digit[row]}"
    color = "#d55e00" if wrong[row] else "#0072b2"
    place = (11 * (i % 10) + 4.5, 12 * (i // 10) + 2)
    top.text(*place, words, ha="center", va="center", color=color, fontsize=9)
top.set_title("Set aside: orange where the cluster reads it wrong")
order = np.argsort(reading(model.labels_, np.arange(20)), kind="stable")
bottom.imshow(mosaic(model.cluster_centers_[order]), cmap="gray_r")
bottom.set_title("The centers of the clusters")
for ax in (top, bottom):
    ax.set_axis_off()
plt.show()

# %%
# Is this due to trimming, or would the distance to the centers of k-means do as well?
# Set aside more and more pictures by either, and see how many of the rest are misread.

k_means = KMeans(20, n_init=10, random_state=0).fit(X)
misread = reading(k_means.labels_, k_means.labels_) != digit
shares = np.linspace(0, 0.3, 31)

figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
for name, errors, scores, style in (
    ("RTKM, by outlier score", wrong, model.outlier_scores_, "-"),
    ("k-means, by distance", misread, k_means.transform(X).min(axis=1), "--"),
):
    errors = errors[np.argsort(scores)]
    rates = [errors[: round((1 - share) * len(X))].mean() for share in shares]
    print(f"{name:24} none set aside: {rates[0]:.1%}, a tenth: {rates[10]:.1%}")
    ax.plot(100 * shares, 100 * np.array(rates), style, lw=2, label=name)
ax.set(xlabel="set aside, in %", ylabel="of the rest misread, in %", ylim=0)
ax.legend()
plt.show()

# %%
# k-means reads more pictures right, and setting pictures aside pays with it as much.
# All of them show digits, and none is so far out that it would spoil a center: where
# nothing spoils the clusters, do not expect trimming to improve them. Looking at the
# rows that fit worst pays all the same.
