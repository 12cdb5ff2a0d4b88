"""The paper's figures, drawn anew with the published curves beside ours."""

from __future__ import annotations

import io
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rtkm.reproduce._cells import write_atomically
from rtkm.reproduce._figures import CURVES, TABLE
from rtkm.reproduce._summary import Point, curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# at which shares of outliers the published curves have their points
SHARES = {
    "wbc": tuple(float(share) for share in np.linspace(0.25, 0.45, 10)),
    "shuttle": tuple(float(share) for share in np.linspace(0, 0.1, 11)),
    "yeast_noise": tuple(float(share) for share in np.linspace(0, 0.1, 11)),
}

# the colors of Okabe and Ito, that color-blind readers can tell apart
COLORS = {
    "RTKM": "#0072B2",
    "RTKM, step 1.1": "#56B4E9",
    "NEO": "#009E73",
    "KMOR": "#D55E00",
    "KMOR, gamma 1": "#D55E00",
    "KMOR, gamma 9": "#E69F00",
}
OTHER, QUIET, LOUD = "#555555", "#BBBBBB", "#D55E00"
MARKERS = {
    "RTKM": "o",
    "RTKM, step 1.1": "v",
    "NEO": "s",
    "KMOR": "D",
    "KMOR, gamma 1": "D",
    "KMOR, gamma 9": "X",
}
LABELS = {
    "RTKM": "RTKM",
    "NEO": "NEO-k-means",
    "moc": "MOC",
    "fuzzy": "fuzzy c-means",
    "esp": "ESP",
    "isp": "ISP",
    "okm": "OKM",
    "rokm": "R-OKM",
    "truth": "true outliers",
}
TRIVIAL = "every row in every cluster"
STYLE = {"font.size": 10, "svg.fonttype": "none", "axes.titlesize": 10}

Published = dict[str, dict[str, list[tuple[float, float, float]]]]


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure that knows no window, or say how to get matplotlib."""
    try:
        figures = import_module("matplotlib.figure")
    except ImportError as error:
        raise ImportError(
            'reproduce needs matplotlib; pip install "rtkm[plot]".'
        ) from error
    figure: Any = figures.Figure(figsize=(width, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.08)
    return figure


def label(method: str) -> str:
    """Return a method's name for readers."""
    return LABELS.get(method, method.replace("gamma", "\N{GREEK SMALL LETTER GAMMA} ="))


def f1_score(experiment: str, protocol: str) -> str:
    """Return which F1 a figure shows: the published one on shuttle is micro."""
    micro = (experiment, protocol) == ("shuttle", "as published")
    return "f1_micro" if micro else "f1"


def sorted_curve(
    cells: dict[str, Any], experiment: str, protocol: str, score: str
) -> dict[str, list[Point]]:
    """Return the points of every method by rising share of outliers."""
    return {
        method: sorted(points, key=lambda point: float(point.setting))
        for method, points in curve(cells, experiment, protocol, score).items()
    }


def draw_sensitivity(
    cells: dict[str, Any],
    experiment: str,
    protocol: str,
    published: Published | None = None,
) -> Figure:
    """Draw M_e and F1 against the share of outliers, the published values dashed.

    Lines are means over the starts and bands reach from the lowest to the highest
    value; thin dotted lines bound the published band. `published` is an entry of
    CURVES, the experiment's own if not given.
    """
    published = CURVES[experiment] if published is None else published
    shares = SHARES[experiment]
    figure = new_figure(8.4, 3.5)
    f1 = f1_score(experiment, protocol)
    words = {"me": "$M_e$ (lower is better)", "f1": "average $F_1$ (higher is better)"}
    words["f1_micro"] = "micro $F_1$ (higher is better)"
    axes = figure.subplots(1, 2)
    for ax, score in zip(axes, ("me", f1), strict=True):
        curves = sorted_curve(cells, experiment, protocol, score)
        for i, (method, points) in enumerate(curves.items()):
            draw_band(ax, method, points, max(4 - i, 1))
        for method, scores in published.items():
            draw_published(ax, method, shares, scores[score.removesuffix("_micro")])
        ax.set(xlabel="share of outliers asked for", ylabel=words[score])
        tidy(ax)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=9
    )
    return figure


def draw_band(ax: Axes, method: str, points: list[Point], width: float) -> None:
    """Draw a method's mean, and a band from its lowest to its highest value.

    Widths that shrink from method to method show curves that lie on each other.
    """
    x = [float(point.setting) for point in points]
    color = COLORS.get(method, OTHER)
    low, high = [point.low for point in points], [point.high for point in points]
    ax.fill_between(x, low, high, color=color, alpha=0.18, linewidth=0)
    ax.plot(
        x,
        [point.mean for point in points],
        color=color,
        marker=MARKERS.get(method, "o"),
        markersize=2 + 1.6 * width,
        linewidth=0.4 + 0.7 * width,
        label=label(method),
    )


def draw_published(
    ax: Axes,
    method: str,
    shares: Sequence[float],
    triples: list[tuple[float, float, float]],
) -> None:
    """Draw a published mean dashed, with thin lines where its starts differ."""
    color = COLORS.get(method, OTHER)
    mean, low, high = np.array(triples).T
    words = f"{label(method)}, published"
    # white gaps, so that it stays visible on our own line of the same color
    ax.plot(
        shares,
        mean,
        color=color,
        gapcolor="white",
        linestyle=(0, (4, 3)),
        linewidth=1.3,
        label=words,
        zorder=3,
    )
    if (high > low).any():
        for bound in (low, high):
            ax.plot(shares, bound, color=color, linestyle=":", linewidth=0.8)


def tidy(ax: Axes) -> None:
    """Leave only the axes that carry numbers, with a faint grid."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)


def draw_process(record: dict[str, Any]) -> Figure:
    """Draw the stages of relaxed k-means, weights as shades between two colors."""
    figure = new_figure(8.4, 6.4)
    colors = import_module("matplotlib.colors")
    shades = colors.LinearSegmentedColormap.from_list(
        "weights", [COLORS["RTKM"], "#DDDDDD", COLORS["KMOR"]]
    )
    X = np.array(record["X"])
    stages = zip(
        record["iterations"], record["centers"], record["weights"], strict=True
    )
    axes = figure.subplots(2, 2, sharex=True, sharey=True).ravel()
    for ax, (iteration, centers, weights) in zip(axes, stages, strict=True):
        dots = ax.scatter(
            *X.T, c=weights, cmap=shades, vmin=0, vmax=1, s=20, ec="#777777", lw=0.3
        )
        ax.scatter(*np.array(centers).T, marker="X", s=130, c="black", ec="white")
        ax.set(title=f"iteration {iteration}", aspect="equal")
        ax.tick_params(length=0, labelbottom=False, labelleft=False)
    figure.colorbar(dots, ax=axes, label="weight in the first cluster", shrink=0.7)
    return figure


def draw_outlier_maps(maps: dict[str, Any]) -> Figure:
    """Draw what each method takes for outliers, on the first two principal components.

    `maps` is {"plane": [[x, y], ...], "outliers": {"truth": [row, ...], "RTKM":
    [row, ...], ...}}: where every row lies on the plane, and by name the numbers of
    the rows that are outliers. A panel for each name, in that order.
    """
    plane = np.array(maps["plane"], dtype=float).reshape(-1, 2)
    n_columns = min(len(maps["outliers"]), 3)
    n_lines = -(-len(maps["outliers"]) // 3)
    figure = new_figure(8.4, 3.0 * n_lines)
    axes = figure.subplots(n_lines, n_columns, sharex=True, sharey=True, squeeze=False)
    for ax in axes.flat[len(maps["outliers"]) :]:
        ax.set_axis_off()
    for ax, (name, rows) in zip(axes.flat, maps["outliers"].items(), strict=False):
        kept = np.setdiff1d(np.arange(len(plane)), rows)
        # thousands of dots would make the file heavy, and none is looked at alone
        ax.scatter(*plane[kept].T, s=3, c=QUIET, linewidths=0, rasterized=True)
        ax.scatter(*plane[rows].T, s=14, c=LOUD, marker="x", linewidths=0.9)
        ax.set_title(f"{label(name)} ({len(rows)})")
        ax.tick_params(length=0, labelbottom=False, labelleft=False)
    figure.supxlabel("first principal component", fontsize=10)
    figure.supylabel("second principal component", fontsize=10)
    return figure


def draw_table(
    cells: dict[str, Any],
    table: str,
    trivial: float | None = None,
    published: dict[str, float | None] | None = None,
) -> Figure:
    """Draw the methods' F1 as dots with the range of their starts.

    Diamonds are the published values; a dashed line is what the trivial answer, every
    row in every cluster, scores.
    """
    published = TABLE[table] if published is None else published
    found = {
        method: next(point for point in points if point.setting == table)
        for method, points in curve(cells, "overlap", "as described", "f1").items()
        if any(point.setting == table for point in points)
    }
    figure = new_figure(8.4, 1.4 + 0.28 * len(found))
    ax = figure.subplots()
    blue = COLORS["RTKM"]
    for y, point in enumerate(found.values()):
        ax.plot([point.low, point.high], [y, y], color=blue, linewidth=2, alpha=0.5)
    means = [point.mean for point in found.values()]
    ax.plot(means, range(len(found)), "o", color=blue, label="ours")
    told = [(published.get(method), y) for y, method in enumerate(found)]
    told = [(value, y) for value, y in told if value is not None]
    if told:
        ax.plot(*zip(*told, strict=True), "D", mfc="none", mec=LOUD, label="published")
    if trivial is not None:
        ax.axvline(trivial, ls="--", c=OTHER, lw=1.2, label=TRIVIAL)
    ax.set_yticks(range(len(found)), [label(method) for method in found])
    ax.invert_yaxis()
    ax.set_xlabel("average $F_1$ (higher is better)")
    tidy(ax)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure


def save(figure: Figure, folder: Path, name: str) -> str:
    """Write name.svg and name.png, the same bytes every time, and return the SVG."""
    matplotlib = import_module("matplotlib")
    undated = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    vector, pixels = io.BytesIO(), io.BytesIO()
    with matplotlib.rc_context(STYLE | {"svg.hashsalt": name}):
        figure.savefig(vector, format="svg", metadata=undated)
        figure.savefig(pixels, format="png", dpi=200, metadata={"Software": None})
    write_atomically(folder / f"{name}.svg", vector.getvalue())
    write_atomically(folder / f"{name}.png", pixels.getvalue())
    return vector.getvalue().decode()
