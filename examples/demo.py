"""Find clusters among outliers, by k-means and by RTKM, and draw both.

Prints what was found and draws one picture: ``python examples/demo.py [picture.png]``.
"""

from __future__ import annotations

import sys

from matplotlib.figure import Figure
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from rtkm import RTKM
from rtkm.datasets import make_outlier_blobs

COLORS = ["#3b6fb6", "#c8553d", "#4f9d69", "#8e63b0", "#d19a2a"]
OUTLIER, CENTER = "#444444", "#111111"


def main(picture: str = "demo.png") -> None:
    X, truth, _ = make_outlier_blobs(
        600, n_clusters=5, contamination=0.05, separation=4, random_state=11
    )
    k_means = KMeans(n_clusters=5, n_init=10, random_state=0).fit(X)
    robust = RTKM(random_state=0).fit(X)
    print_findings(truth, k_means, robust)
    draw(X, k_means, robust, picture)
    print(f"\nPicture: {picture}")


def print_findings(truth, k_means, robust) -> None:
    is_outlier, found = truth == -1, robust.outlier_mask_
    print("600 rows: 5 clusters, and 30 outliers drawn anywhere around them.\n")
    print(f"{'':26}{'k-means':>12}{'RTKM':>12}")
    row("clusters", "5, given", f"{robust.n_clusters_}, found")
    agreement = (
        f"{adjusted_rand_score(truth[~is_outlier], model.labels_[~is_outlier]):.3f}"
        for model in (k_means, robust)
    )
    row("agreement with the truth", *agreement)
    row("outliers found", "-", f"{(found & is_outlier).sum()} of {is_outlier.sum()}")
    row("rows flagged by mistake", "-", (found & ~is_outlier).sum())


def row(title: str, *cells: object) -> None:
    print(f"{title:26}" + "".join(f"{cell!s:>12}" for cell in cells))


def draw(X, k_means, robust, picture: str) -> None:
    figure = Figure(figsize=(10, 4.4))
    panels = (
        ("k-means: a center for outliers, one for two clusters", k_means),
        ("RTKM: a center for each cluster; crosses are outliers", robust),
    )
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    for ax, (title, model) in zip(axes, panels, strict=True):
        for label, color in enumerate(COLORS):
            ax.scatter(*X[model.labels_ == label].T, s=14, color=color, alpha=0.6, lw=0)
        ax.scatter(*X[model.labels_ == -1].T, s=24, color=OUTLIER, marker="x", lw=1)
        centers = model.cluster_centers_.T
        ax.scatter(*centers, s=90, marker="X", color=CENTER, edgecolors="white")
        ax.set_title(title, fontsize=11)
        ax.set_xticks([])
        ax.set_yticks([])
        ax.spines[:].set_color("#cccccc")
    figure.tight_layout()
    figure.savefig(picture, dpi=150)


if __name__ == "__main__":
    main(*sys.argv[1:])
