"""Small tables in the plane, and how a fit to one of them is drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

# the source tree; pictures have no file of their own while Sphinx runs them
ROOT = Path(__file__).parents[2]

# Okabe and Ito's colors, which most people can tell apart
COLORS = np.array(["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#8c6d31"])
OUTLIER, INK = "#d1121f", "#222222"
TRIANGLE = ((0, 0), (9, 0), (4.5, 7.5))

Floats = NDArray[np.float64]


def blobs(
    centers: Any = TRIANGLE, n: Any = 80, widths: Any = 1.0, seed: int = 0
) -> Floats:
    """Return round clusters, of one number and width or one for each."""
    rng = np.random.default_rng(seed)
    k = len(centers)
    sizes, scales = np.broadcast_to(n, k), np.broadcast_to(widths, k)
    parts = zip(centers, sizes, scales, strict=True)
    return np.concatenate([rng.normal(c, width, (m, 2)) for c, m, width in parts])


def strays(n: int = 16, low: Any = (-5, -6), high: Any = (15, 13), seed: int = 1):
    """Return rows that lie anywhere in a box."""
    return np.random.default_rng(seed).uniform(low, high, (n, 2))


def with_strays(n: int = 16, **ways: Any) -> Floats:
    """Return three clusters and strays, which come last."""
    return np.concatenate([blobs(**ways), strays(n)])


def between(n: int = 24, seed: int = 3) -> Floats:
    """Return two clusters and rows halfway between them, which come last."""
    rng = np.random.default_rng(seed)
    two = blobs(((0, 0), (10, 0)), 70, 1.0, seed)
    return np.concatenate([two, rng.normal((5, 0), (0.5, 0.9), (n, 2))])


def panels(n: int = 2, height: float = 3.0) -> Any:
    """Return axes side by side."""
    _, axes = plt.subplots(1, n, figsize=({1: 5, 2: 7.2, 3: 8.6}[n], height))
    return np.atleast_1d(axes)


def draw(ax: Any, X: Floats, model: Any, title: str, *, size: float = 13) -> None:
    """Draw rows by cluster, halved where they are in two, and outliers as crosses."""
    labels = np.asarray(model.labels_)
    several = getattr(model, "assignments_", None)
    if several is None:
        several = np.zeros((len(X), 1), bool)
    shared = several.sum(axis=1) > 1
    alone = (labels >= 0) & ~shared
    ax.scatter(*X[alone].T, s=size, c=COLORS[labels[alone] % 6], alpha=0.8, lw=0)
    for row in np.flatnonzero(shared):
        draw_shared(ax, X[row], np.flatnonzero(several[row]))
    ax.scatter(*X[labels < 0].T, s=26, marker="x", c=OUTLIER, linewidths=1.1)
    draw_centers(ax, model.cluster_centers_)
    finish(ax, title)


def draw_shared(ax: Any, x: Floats, clusters: Any) -> None:
    """Draw a row of several clusters: half in the color of one, half of another."""
    first, second = COLORS[clusters[:2] % 6]
    ax.plot(
        *x,
        marker="o" if len(clusters) == 2 else "s",
        ms=5.2,
        fillstyle="left",
        color=first,
        markerfacecoloralt=second,
        markeredgecolor=INK,
        markeredgewidth=0.5,
    )


def draw_centers(ax: Any, centers: Floats) -> None:
    """Draw centers as large crosses with a white edge."""
    ax.scatter(*np.asarray(centers).T, s=110, marker="X", c=INK, ec="white", lw=1.2)


def draw_flags(ax: Any, X: Floats, flagged: Any, title: str) -> None:
    """Draw the answer of a detector."""
    ax.scatter(*X[~flagged].T, s=13, c=COLORS[0], alpha=0.7, lw=0)
    ax.scatter(*X[flagged].T, s=26, marker="x", c=OUTLIER, linewidths=1.1)
    finish(ax, title)


def finish(ax: Any, title: str) -> None:
    """Give a picture of rows its title, and no numbers at its sides."""
    ax.set_title(title, fontsize=8.5)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_aspect("equal", "datalim")
