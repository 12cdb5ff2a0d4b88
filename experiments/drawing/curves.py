"""The paper's curves and its table, drawn anew with the published values beside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments import shuttle, wbc, yeast_noise
from experiments.claims.figures import CURVES, TABLE
from experiments.claims.names import in_order, label, looked_up, published_name
from experiments.claims.summary import Point, curve
from experiments.drawing.style import (
    BLUE,
    COLORS,
    MARKERS,
    NOT_DRAWN,
    OTHER,
    RED,
    add_legend,
    matplotlib,
    new_figure,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SENSITIVITY = {
    experiment.name: experiment
    for experiment in (wbc.EXPERIMENT, shuttle.EXPERIMENT, yeast_noise.EXPERIMENT)
}
TRIVIAL = "every row in every cluster"

Published = dict[str, dict[str, list[tuple[float, float, float]]]]


def published_curves(experiment: str) -> Published:
    """Return the published curves under the names of our own methods."""
    kmor = f"KMOR, gamma {SENSITIVITY[experiment].gammas[0]:g}"
    return {
        kmor if method == "KMOR" else method: scores
        for method, scores in CURVES[experiment].items()
    }


def f1_score(experiment: str) -> str:
    """Return which F1 a figure shows, that of the published one: micro on shuttle."""
    micro = SENSITIVITY[experiment].published_average == "micro"
    return "f1_micro" if micro else "f1"


def sorted_curve(
    cells: dict[str, Any], experiment: str, protocol: str, score: str
) -> dict[str, list[Point]]:
    """Return the points of every method by rising setting, the paper's method first."""
    found = curve(cells, experiment, protocol, score)
    return {
        method: sorted(points, key=lambda point: float(point.setting))
        for method, points in in_order(found).items()
    }


def draw_sensitivity(cells: dict[str, Any], experiment: str, protocol: str) -> Figure:
    """Draw M_e and F1 against the share of outliers, the published values dashed.

    Lines are means over the starts and bars reach from the lowest to the highest value;
    dotted bars are those of the published values.
    """
    figure = new_figure(8.4, 4.2)
    f1 = f1_score(experiment)
    words = {"me": "$M_e$ (lower is better)", "f1": "average $F_1$ (higher is better)"}
    words["f1_micro"] = "micro $F_1$ (higher is better)"
    axes = figure.subplots(1, 2)
    published = published_curves(experiment)
    for ax, score in zip(axes, ("me", f1), strict=True):
        places = draw_curves(
            ax, sorted_curve(cells, experiment, protocol, score), protocol
        )
        for method, scores in published.items():
            triples = np.array(scores[score.removesuffix("_micro")])
            place = places.get(method, 0.0)
            draw_published(ax, method, SENSITIVITY[experiment].shares, triples, place)
        ax.set(xlabel="share of outliers asked for", ylabel=words[score])
        tidy(ax)
    add_legend(figure, axes[0], len(published))
    return figure


def draw_curves(
    ax: Axes, curves: dict[str, list[Point]], protocol: str
) -> dict[str, float]:
    """Draw every method's mean, with a bar from its lowest to its highest value.

    Widths that shrink from method to method show curves that lie on each other. Bars
    stand side by side, since filled bands of several methods cannot be told apart;
    where, in gaps between points, is returned under the published names.
    """
    drawn = [method for method in curves if method not in NOT_DRAWN]
    places = {}
    for i, method in enumerate(drawn):
        x, mean, low, high = np.array(
            [(float(p.setting), p.mean, p.low, p.high) for p in curves[method]]
        ).T
        name = looked_up(method, protocol)
        color, width = COLORS.get(name, OTHER), max(3 - 0.6 * i, 1)
        ax.plot(
            x,
            mean,
            color=color,
            marker=MARKERS.get(name, "o"),
            markersize=2 + 1.8 * width,
            linewidth=width,
            label=label(method, protocol),
        )
        place = 0.15 * (i - (len(drawn) - 1) / 2)
        places[published_name(method, protocol) or method] = place
        draw_bars(ax, x, low, high, place, color=color, linewidth=1.8, alpha=0.5)
    return places


def draw_bars(
    ax: Axes, x: Any, low: Any, high: Any, place: float, **looks: Any
) -> None:
    """Draw bars beside points, `place` gaps between them to the right."""
    gap = np.diff(x).min() if len(x) > 1 else 0.0
    ax.vlines(np.asarray(x) + place * gap, low, high, **looks)


def draw_published(
    ax: Axes, method: str, shares: Sequence[float], triples: Any, place: float
) -> None:
    """Draw a published mean dashed, with dotted bars where its starts differ."""
    color = COLORS.get(method, OTHER)
    mean, low, high = triples.T
    # white gaps, so that it stays visible on our own line of the same color
    ax.plot(
        shares,
        mean,
        color=color,
        gapcolor="white",
        linestyle=(0, (4, 3)),
        linewidth=1.3,
        label=f"{label(method, 'as published')}, published",
        zorder=3,
    )
    if (high > low).any():
        place += 0.07  # beside our own bar
        draw_bars(ax, shares, low, high, place, color=color, ls=":", lw=1.1)


def unit_curves(cells: dict[str, Any], score: str) -> dict[str, list[Point]]:
    """Return a score by scale of the table; objectives are relative to the best."""
    curves = sorted_curve(cells, "units", "as described", score)
    if score != "objective":
        return curves
    best = min(point.low for points in curves.values() for point in points)
    return {
        method: [
            point._replace(
                mean=point.mean / best, low=point.low / best, high=point.high / best
            )
            for point in points
        ]
        for method, points in curves.items()
    }


def draw_units(cells: dict[str, Any]) -> Figure:
    """Draw what becomes of two solvers when a table is given in other units."""
    figure = new_figure(8.4, 3.2)
    axes = figure.subplots(1, 3)
    words = {
        "me": "$M_e$",
        "objective": "objective / lowest objective",
        "fractional": "rows with fractional weights",
    }
    for ax, (score, name) in zip(axes, words.items(), strict=True):
        draw_curves(ax, unit_curves(cells, score), "as described")
        ax.set(xscale="log", xlabel="table multiplied by", title=name)
        ax.xaxis.set_major_formatter("{x:g}")
        tidy(ax)
    axes[0].set_ylim(bottom=0)
    axes[2].yaxis.set_major_formatter(matplotlib("ticker").PercentFormatter(1))
    add_legend(figure, axes[0])
    return figure


def table_points(
    cells: dict[str, Any], table: str, protocol: str, score: str
) -> dict[str, Point]:
    """Return a score of every method on yeast or scene, the paper's method first."""
    return {
        method: point
        for method, points in in_order(curve(cells, "overlap", protocol, score)).items()
        for point in points
        if point.setting == table
    }


def draw_table(
    cells: dict[str, Any], table: str, trivial: float | None = None
) -> Figure:
    """Draw the methods' F1 as dots with the range of their starts.

    Ticks are the starts of lowest objective, diamonds the published values; a dashed
    line is what the trivial answer, every row in every cluster, scores.
    """
    found = table_points(cells, table, "as described", "f1")
    figure = new_figure(8.4, 1.4 + 0.28 * len(found))
    ax = figure.subplots()
    rows = range(len(found))
    for y, point in enumerate(found.values()):
        ax.plot([point.low, point.high], [y, y], color=BLUE, linewidth=2, alpha=0.5)
    means = [point.mean for point in found.values()]
    ax.plot(means, rows, "o", color=BLUE, label="ours, mean")
    best = [point.at_best for point in found.values()]
    ax.plot(best, rows, "|k", ms=11, mew=1.6, label="ours, at the best objective")
    names = [published_name(method, "as described") for method in found]
    told = [TABLE[table].get(name or "") for name in names]
    at = [np.nan if value is None else value for value in told]
    ax.plot(at, rows, "D", mfc="none", mec=RED, mew=1.4, label="published")
    if trivial is not None:
        ax.axvline(trivial, ls="--", c=OTHER, lw=1.2, label=TRIVIAL)
    ax.set_yticks(rows, [label(method) for method in found])
    ax.invert_yaxis()
    ax.set_xlabel("average $F_1$ (higher is better)")
    tidy(ax)
    add_legend(figure, ax)
    return figure
