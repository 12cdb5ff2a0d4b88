"""Find the benign core of a medical table, and the samples that do not belong to it.

Prints a short table and draws one picture: ``python examples/demo.py [picture.png]``.
"""

from __future__ import annotations

import sys

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from rtkm import RTKM
from rtkm.datasets import load_wbc
from rtkm.metrics import outlier_me

INLIER, OUTLIER, CENTER = "#3b6fb6", "#e07b39", "#111111"


def main(picture: str = "demo.png") -> None:
    X, malignant = load_wbc(return_X_y=True)
    malignant = malignant.astype(bool)
    k_means = KMeans(n_clusters=1, n_init=1, random_state=0).fit(X)
    robust = RTKM(n_clusters=1, contamination=0.35, random_state=0).fit(X)
    print_findings(X, malignant, k_means, robust)
    draw(X, malignant, k_means, robust, picture)
    print(f"\nPicture: {picture}")


def print_findings(X, malignant, k_means, robust) -> None:
    core = X[~malignant].mean(axis=0)
    found = robust.outlier_mask_
    print("Breast Cancer Wisconsin: 699 samples, 9 measurements, 241 malignant.")
    print("One cluster is asked for, and about 35 % outliers; classes are not shown.\n")
    print(f"{'':26}{'k-means':>10}{'RTKM':>10}")
    pulled = (
        np.linalg.norm(model.cluster_centers_[0] - core) for model in (k_means, robust)
    )
    row("center to benign mean", *(f"{distance:.2f}" for distance in pulled))
    row("outliers found", 0, found.sum())
    row("  of them malignant", "-", f"{malignant[found].mean():.0%}")
    row("malignant samples found", "0%", f"{found[malignant].mean():.0%}")
    nothing = np.zeros_like(malignant)
    errors = (outlier_me(malignant, mask) for mask in (nothing, found))
    row("outlier error (0 is best)", *(f"{error:.3f}" for error in errors))


def row(title: str, *cells: object) -> None:
    print(f"{title:26}" + "".join(f"{cell!s:>10}" for cell in cells))


def draw(X, malignant, k_means, robust, picture: str) -> None:
    plane = PCA(2).fit(X)
    # the measurements are whole numbers from 1 to 10: a little noise parts the dots
    points = plane.transform(X + np.random.default_rng(0).uniform(-0.4, 0.4, X.shape))
    core = plane.transform(X[~malignant].mean(axis=0, keepdims=True))[0]
    figure = Figure(figsize=(10, 4.6))
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    panels = [
        ("k-means: the outliers pull the center away", k_means, np.zeros(len(X), bool)),
        (
            "RTKM: the center stays, the outliers are found",
            robust,
            robust.outlier_mask_,
        ),
    ]
    for ax, (title, model, outlying) in zip(axes, panels, strict=True):
        for mask, color in ((~outlying, INLIER), (outlying, OUTLIER)):
            ax.scatter(*points[mask].T, s=14, color=color, alpha=0.6, linewidth=0)
        center = plane.transform(model.cluster_centers_)[0]
        ax.scatter(*core, s=420, facecolors="none", edgecolors=CENTER, linewidth=1.6)
        ax.scatter(*center, s=130, marker="X", color=CENTER, edgecolors="white")
        ax.set_title(title, fontsize=11)
        ax.set_xticks([])
        ax.set_yticks([])
        ax.spines[:].set_visible(False)
    axes[0].annotate(
        "where the benign samples are",
        core,
        xytext=(20, -100),
        textcoords="offset points",
        ha="center",
        arrowprops={"arrowstyle": "-", "color": CENTER},
    )
    handles = [
        Line2D([], [], ls="", marker=m, color=c, ms=8, label=label)
        for m, c, label in (
            ("X", CENTER, "center found"),
            ("o", INLIER, "inlier"),
            ("o", OUTLIER, "outlier"),
        )
    ]
    figure.legend(handles=handles, ncols=3, loc="lower center", frameon=False)
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    figure.savefig(picture, dpi=150)


if __name__ == "__main__":
    main(*sys.argv[1:])
