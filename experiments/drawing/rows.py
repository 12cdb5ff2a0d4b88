"""Pictures whose dots are rows of a table: clouds, a descent, and outliers on a map."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from experiments.claims.names import in_order, label
from experiments.drawing.style import (
    BLUE,
    GREEN,
    NOT_DRAWN,
    PURPLE,
    QUIET,
    RED,
    matplotlib,
    new_figure,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CENTERS: dict[str, Any] = {"marker": "X", "s": 110, "c": "black", "ec": "white"}


def draw_dots(ax: Axes, points: Any, **looks: Any) -> Any:
    """Draw the rows of an (n, 2) array."""
    x, y = np.asarray(points, dtype=float).reshape(-1, 2).T
    return ax.scatter(x, y, **looks)


def draw_clouds(record: dict[str, Any]) -> Figure:
    """Draw the rows as they are, as k-means has them and as RTKM has them."""
    X, truth = np.array(record["X"]), np.array(record["truth"])
    figure = new_figure(7.2, 6.2)
    axes = figure.subplots(1 + len(record["labels"]), 1, sharex=True, sharey=True)
    axes[0].margins(0.04, 0.12)
    draw_clusters(axes[0], X, truth, "the data, outliers marked")
    for ax, (method, labels) in zip(axes[1:], record["labels"].items(), strict=True):
        matched = as_colored(truth, np.array(labels))
        n_trimmed = labels.count(-1)
        words = f", {n_trimmed} rows trimmed" if n_trimmed else ""
        draw_clusters(ax, X, matched, label(method) + words)
        draw_dots(ax, record["centers"][method], **CENTERS, zorder=3)
    return figure


def draw_clusters(ax: Axes, X: NDArray[Any], labels: NDArray[Any], title: str) -> None:
    """Draw rows in the colors of their clusters, outliers as crosses."""
    colors = np.array([BLUE, GREEN, PURPLE])[labels % 3]
    inliers = labels >= 0
    draw_dots(ax, X[inliers], s=16, c=colors[inliers], linewidths=0)
    draw_dots(ax, X[~inliers], s=50, c=RED, marker="x", linewidths=1.8)
    ax.set(title=title, aspect="equal")
    hide_numbers(ax)


def as_colored(truth: NDArray[Any], labels: NDArray[Any]) -> NDArray[Any]:
    """Give clusters the numbers of the clouds they hold, so that colors agree."""
    k = max(truth.max(), labels.max()) + 1
    shared = np.zeros((k, k))
    both = (truth >= 0) & (labels >= 0)
    np.add.at(shared, (labels[both], truth[both]), 1)
    _, new = linear_sum_assignment(shared, maximize=True)
    return np.where(labels >= 0, new[labels], -1)


def hide_numbers(ax: Axes) -> None:
    """Take the numbers off axes where only places count."""
    ax.tick_params(length=0, labelbottom=False, labelleft=False)


def draw_process(record: dict[str, Any]) -> Figure:
    """Draw the stages of relaxed k-means, weights as shades between blue and green."""
    figure = new_figure(8.4, 6.4)
    # the paper's two colors as viridis has them: green is also the lighter one
    shades = matplotlib("colors").LinearSegmentedColormap.from_list(
        "weights", ["#5EC962", "#21918C", "#3B528B"]
    )
    X = np.array(record["X"])
    stages = zip(
        record["iterations"], record["centers"], record["weights"], strict=True
    )
    axes = figure.subplots(2, 2, sharex=True, sharey=True).ravel()
    for ax, (iteration, centers, weights) in zip(axes, stages, strict=True):
        dots = draw_dots(ax, X, c=weights, cmap=shades, vmin=0, vmax=1, s=22, lw=0)
        draw_dots(ax, centers, **CENTERS)
        ax.set(title=f"iteration {iteration}", aspect="equal")
        hide_numbers(ax)
    figure.colorbar(dots, ax=axes, label="weight in the first cluster", shrink=0.7)
    return figure


def draw_outlier_maps(maps: dict[str, Any], protocol: str) -> Figure:
    """Draw what each method takes for outliers, on the first two principal components.

    `maps` is {"plane": [[x, y], ...], "outliers": {"truth": [row, ...], "RTKM":
    [row, ...], ...}}: where every row lies on the plane, and by name the numbers of
    the rows that are outliers. A panel for each name, the truth first.
    """
    plane = np.array(maps["plane"], dtype=float).reshape(-1, 2)
    truth = maps["outliers"]["truth"]
    found = {
        name: rows
        for name, rows in in_order(maps["outliers"]).items()
        if name not in ("truth", *NOT_DRAWN)
    }
    figure = new_figure(10.5, 2.9)
    axes = figure.subplots(1, 1 + len(found), sharex=True, sharey=True, squeeze=False)
    draw_map(axes[0, 0], plane, truth, truth)
    axes[0, 0].set_title(f"true outliers\n\n{len(truth)}", fontsize=9)
    for ax, (name, rows) in zip(axes[0, 1:], found.items(), strict=True):
        n_true = draw_map(ax, plane, rows, truth)
        name = textwrap.fill(label(name, protocol), 18)
        name += "\n" * (1 - name.count("\n"))
        ax.set_title(f"{name}\n{len(rows)}, {n_true} true", fontsize=9)
    axes[0, 0].set_ylabel("second component")
    figure.supxlabel("first principal component of the table", fontsize=10)
    return figure


def draw_map(ax: Axes, plane: NDArray[Any], rows: list[int], truth: list[int]) -> int:
    """Mark the rows taken for outliers, and return how many of them are."""
    kept = np.setdiff1d(np.arange(len(plane)), rows)
    right, wrong = np.intersect1d(rows, truth), np.setdiff1d(rows, truth)
    # thousands of dots would make the file heavy, and none is looked at alone
    draw_dots(ax, plane[kept], s=3, c=QUIET, lw=0, rasterized=True)
    for chosen, color, marker in ((wrong, BLUE, "+"), (right, RED, "x")):
        looks = {"c": color, "marker": marker, "s": 14, "lw": 0.8}
        draw_dots(ax, plane[chosen.astype(int)], **looks, rasterized=True)
    hide_numbers(ax)
    return len(right)
