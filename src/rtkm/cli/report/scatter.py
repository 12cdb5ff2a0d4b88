"""The rows in two directions: a dot for each, a cross for each outlier."""

from __future__ import annotations

from html import escape
from typing import Any

from rtkm.cli.figures import known
from rtkm.cli.messages import counted
from rtkm.cli.report.axes import Axis
from rtkm.cli.report.layout import BOTTOM, LEFT, RIGHT, TOP, Plot
from rtkm.cli.report.parts import (
    CROSS,
    MOST_CLUSTERS,
    N_COLORS,
    OUTLIERS,
    color,
    largest,
    picture,
    swatch,
)
from rtkm.cli.report.words import number, own, percent, shortened

SIZE = (760, 520)
FINE = 2  # positions are whole numbers of 1 / FINE pixel, which keeps the page small
RIM = 9  # how far beyond the frame what lies outside of it is drawn
AXIS_NAMES = (24, 18)  # the widest names across and up


def draw(scatter: dict[str, Any], clusters: list[dict[str, Any]], plot: Plot) -> str:
    """Return the picture with its legend and what is to be known about it."""
    drawn = (
        draw_axes(plot)
        + draw_axis_names(scatter["directions"])
        + f'<g transform="scale({1 / FINE:g})" class="points {density(plot)}">\n'
        + draw_points(plot)
        + "</g>\n"
        + draw_centers(scatter, clusters, plot)
    )
    svg = picture(
        "scatter",
        SIZE,
        "The rows drawn in the directions that show most of their differences",
        describe(clusters, plot),
        drawn,
    )
    return (
        f'<figure>\n<div class="plot" id="plot">{svg}</div>\n'
        f"{legend(clusters, plot)}<figcaption>{caption(scatter, plot)}</figcaption>\n"
        "</figure>\n"
    )


def density(plot: Plot) -> str:
    """Return how large dots are: smaller where there are many."""
    n_points = len(plot.points)
    return "few" if n_points <= 400 else "some" if n_points <= 2000 else "many"


def draw_points(plot: Plot) -> str:
    """Return a path for each cluster, and one for the outliers."""
    paths: dict[int, list[str]] = {}
    for point in plot.points:
        x = round(FINE * on_rim(plot.across, point.x))
        y = round(FINE * on_rim(plot.up, point.y))
        # a line of no length with round ends is a dot
        mark = f"M{x} {y}h0"
        if point.label == OUTLIERS:
            mark = f"M{x} {y}m-7-7l14 14m0-14l-14 14"
        paths.setdefault(point.label, []).append(mark)
    return "".join(
        f'<path class="{color(label)}" data-label="{label}" d="{"".join(marks)}"/>\n'
        for label, marks in paths.items()
    )


def on_rim(axis: Axis, value: float) -> float:
    """Return where a number is drawn, which is on the rim if it is not within."""
    outward = RIM if axis.end > axis.start else -RIM
    if value < axis.low:
        return axis.start - outward
    if value > axis.high:
        return axis.end + outward
    return axis.at(value)


def draw_axes(plot: Plot) -> str:
    """Return the frame with faint lines at round numbers."""
    lines = [
        f'<rect class="frame" x="{LEFT}" y="{TOP}" width="{RIGHT - LEFT}" '
        f'height="{BOTTOM - TOP}"/>'
    ]
    for value in plot.across.ticks(7):
        x = f"{plot.across.at(value):.1f}"
        lines.append(f'<path class="grid" d="M{x} {TOP}V{BOTTOM}"/>')
        lines.append(
            f'<text class="tick" x="{x}" y="{BOTTOM + 20}">{number(value)}</text>'
        )
    for value in [] if plot.flat else plot.up.ticks(6):
        y = plot.up.at(value)
        lines.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{RIGHT}"/>')
        lines.append(
            f'<text class="tick side" x="{LEFT - 12}" y="{y + 4:.1f}">'
            f"{number(value)}</text>"
        )
    return "\n".join(lines) + "\n"


def draw_axis_names(directions: list[dict[str, Any]]) -> str:
    """Return the features that the directions stand for, at the axes."""
    middle, height = (LEFT + RIGHT) / 2, (TOP + BOTTOM) / 2
    places = (
        f'x="{middle:g}" y="{SIZE[1] - 10}"',
        f'transform="translate(14 {height:g}) rotate(-90)"',
    )
    return "".join(
        f'<text class="axis" {place}>{axis_name(direction, most)}</text>\n'
        for place, direction, most in zip(places, directions, AXIS_NAMES, strict=False)
    )


def axis_name(direction: dict[str, Any], most: int) -> str:
    """Return the two features that count most, the sign before them."""
    names = [
        f"{sign(loading)}<tspan>{escape(shortened(loading['feature'], most))}</tspan>"
        for loading in direction["loadings"][:2]
    ]
    return f"mostly {', '.join(names)}" if names else ""


def sign(loading: dict[str, Any]) -> str:
    """Return a minus for a feature that falls along a direction."""
    return "\N{MINUS SIGN}" if (known(loading["weight"]) or 0.0) < 0 else ""


def draw_centers(
    scatter: dict[str, Any], clusters: list[dict[str, Any]], plot: Plot
) -> str:
    """Return a labelled mark for each center, which tells clusters without colors."""
    marks = []
    chosen = {cluster["label"] for cluster in largest(clusters, MOST_CLUSTERS)}
    for label, (x, y) in enumerate(scatter.get("centers") or []):
        if label in chosen and known(x) is not None and known(y) is not None:
            at = (plot.across.at(x), plot.up.at(0.5 if plot.flat else y))
            marks.append(
                f'<g class="center {color(label)}" '
                f'transform="translate({at[0]:.1f} {at[1]:.1f})">'
                f'<circle r="10"/><text y="4">{label}</text></g>\n'
            )
    return "".join(marks)


def legend(clusters: list[dict[str, Any]], plot: Plot) -> str:
    """Return what the marks mean."""
    items = [
        f"<li>{swatch(cluster['label'])} cluster {cluster['label']}</li>"
        for cluster in clusters[:N_COLORS]
    ]
    if len(clusters) > N_COLORS:
        items.append(
            f"<li>colors repeat after {N_COLORS} clusters; the numbers at the centers "
            "tell</li>"
        )
    if not clusters:
        items.append(f"<li>{swatch(0)} inlier</li>")
    if any(point.label == OUTLIERS for point in plot.points):
        items.append(
            f'<li><span class="cross" aria-hidden="true">{CROSS}</span> outlier</li>'
        )
    return f'<ul class="legend">{"".join(items)}</ul>\n'


def describe(clusters: list[dict[str, Any]], plot: Plot) -> str:
    """Return what there is to see."""
    n_outliers = sum(point.label == OUTLIERS for point in plot.points)
    shown = f"{counted(len(plot.points), 'row')} are drawn"
    if clusters:
        shown += f", by {counted(len(clusters), 'cluster')}"
    outliers = counted(n_outliers, "outlier") if n_outliers else "no outlier"
    return f"{shown}; {outliers} among them."


def caption(scatter: dict[str, Any], plot: Plot) -> str:
    """Return what the directions are, how many rows are drawn and where."""
    told = [
        f"{where}: {direction_in_words(direction)}."
        for where, direction in zip(
            ("Across", "Up"), scatter["directions"], strict=False
        )
    ]
    if plot.flat:
        told.append("Heights only keep the points apart.")
    n_points, n_rows = len(plot.points), scatter["n_rows"]
    if n_points < n_rows:
        told.append(f"A sample is drawn: {n_points:,} of {n_rows:,} rows.")
    else:
        told.append(f"All {n_rows:,} rows are drawn.")
    if plot.beyond:
        are = "lies" if plot.beyond == 1 else "lie"
        told.append(
            f"{counted(plot.beyond, 'outlier')} {are} beyond the frame, drawn just "
            "outside of it on the side where they lie."
        )
    return " ".join(told)


def direction_in_words(direction: dict[str, Any]) -> str:
    """Return the share of a direction and what it is made of."""
    made = ", ".join(
        f"{own(loading['feature'])} ({number(loading['weight'], 2)})"
        for loading in direction["loadings"]
    )
    return f"{percent(direction['share'])} of the spread, mostly {made or 'nothing'}"
