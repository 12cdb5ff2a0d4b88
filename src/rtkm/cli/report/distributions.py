"""How each feature is distributed in each cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rtkm.cli.figures import known
from rtkm.cli.messages import counted
from rtkm.cli.report.axes import Axis
from rtkm.cli.report.parts import CROSS, OUTLIERS, color, largest, picture
from rtkm.cli.report.words import number, own, shortened

WIDTH, LEFT, RIGHT = 320, 34, 312
AXIS = 20  # height below the rows, for the numbers
MOST_ROWS = 12

# a label, None for clusters taken together; its name; its counts
Strip = tuple[int | None, str, list[int]]


def draw(findings: dict[str, Any]) -> str:
    """Return a small picture for each feature."""
    told = findings["distributions"]
    shown = largest(findings["clusters"], MOST_ROWS)
    labels = [cluster["label"] for cluster in shown] or [0]
    pictures = "".join(
        feature_figure(i, feature, labels, bool(shown))
        for i, feature in enumerate(told["features"])
    )
    return (
        f'{introduction(told, bool(shown))}<div class="features">\n{pictures}</div>\n'
    )


def introduction(told: dict[str, Any], clustered: bool) -> str:
    """Return how the pictures are to be read."""
    who = "for each cluster" if clustered else "for the inliers (in)"
    words = (
        f"One strip {who}, one below for the outliers ({CROSS}); the "
        "tallest column of a strip is as high as the strip, however many rows it has."
    )
    n_shown, n_features = len(told["features"]), told["n_features"]
    if n_shown < n_features:
        words = (
            f"Shown are the {n_shown} features that tell clusters apart most, of "
            f"{n_features:,}. {words}"
        )
    return f"<p>{words}</p>\n"


def feature_figure(
    position: int, told: dict[str, Any], labels: Sequence[int], clustered: bool
) -> str:
    """Return the picture of one feature, under its name."""
    name = f"feature-{position}"
    strips = strips_of(told["counts"], labels, clustered)
    edges = [known(edge) for edge in told["edges"]]
    places = [edge for edge in edges if edge is not None]
    if len(places) < 2 or len(places) < len(edges) or not strips:
        svg = "<p>Nothing to draw.</p>"
    else:
        svg = strip_picture(name, told["feature"], places, strips)
    return (
        f"<figure><figcaption>{own(told['feature'])}</figcaption>\n{svg}"
        f"{beyond(told.get('beyond') or {})}</figure>\n"
    )


def strips_of(
    counts: dict[str, list[int]], labels: Sequence[int], clustered: bool
) -> list[Strip]:
    """Return what is drawn from top to bottom: clusters, the others, outliers."""
    strips: list[Strip] = [
        (label, str(label) if clustered else "in", counts[str(label)])
        for label in labels
        if str(label) in counts
    ]
    shown = {str(label) for label in labels} | {str(OUTLIERS)}
    others = [columns for label, columns in counts.items() if label not in shown]
    if others:
        together = [sum(column) for column in zip(*others, strict=True)]
        strips.append((None, "rest", together))
    if any(counts.get(str(OUTLIERS), [])):
        strips.append((OUTLIERS, CROSS, counts[str(OUTLIERS)]))
    return strips


def strip_picture(
    name: str, feature: str, edges: list[float], strips: list[Strip]
) -> str:
    """Return the strips above a common axis."""
    height = 24 if len(strips) <= 6 else 16
    across = Axis(edges[0], edges[-1], LEFT, RIGHT)
    places = [across.at(edge) for edge in edges]
    if across.half <= 0:  # all numbers are equal: the columns get equal widths
        step = (RIGHT - LEFT) / (len(edges) - 1)
        places = [LEFT + i * step for i in range(len(edges))]
    drawn = "".join(
        strip(one, places, (i + 1) * height, height - 4) for i, one in enumerate(strips)
    )
    bottom = len(strips) * height
    drawn += axis(across, bottom)
    return picture(
        name,
        (WIDTH, bottom + AXIS),
        f"Distribution of {shortened(feature)} by cluster",
        describe(edges, strips),
        drawn,
        "strips",
    )


def strip(one: Strip, places: Sequence[float], bottom: int, height: int) -> str:
    """Return the histogram of a cluster, its label before it."""
    label, name, counts = one
    highest = max(counts, default=0) or 1
    path, level = f"M{places[0]:.1f} {bottom}", 0.0
    for right, count in zip(places[1:], counts, strict=False):
        top = round(bottom - height * count / highest, 1)
        # no cluster's few rows vanish beside its many
        top = min(top, bottom - 1) if count else top
        path += "" if top == level else f"V{top:g}"
        path += f"H{right:.1f}"
        level = top
    kind = "together" if label is None else color(label)
    return (
        f'<g class="{kind}"><text class="strip" x="{LEFT - 8}" y="{bottom - 4}">'
        f'{name}</text><path d="{path}V{bottom}z"/>'
        f'<path class="base" d="M{LEFT} {bottom}H{RIGHT}"/></g>\n'
    )


def axis(across: Axis, bottom: int) -> str:
    """Return the numbers below the strips."""
    marks = []
    for value in across.ticks(4):
        x = across.at(value)
        side = "" if LEFT + 20 < x < RIGHT - 20 else " from" if x < WIDTH / 2 else " to"
        marks.append(
            f'<path class="base" d="M{x:.1f} {bottom}v4"/>'
            f'<text class="tick{side}" x="{x:.1f}" y="{bottom + 16}">'
            f"{number(value)}</text>"
        )
    return "\n".join(marks)


def describe(edges: Sequence[float], strips: Sequence[Strip]) -> str:
    """Return where each strip has most of its rows."""
    told = []
    for label, name, counts in strips:
        if not any(counts):
            continue
        top = counts.index(max(counts))
        who = {CROSS: "outliers", "rest": "other clusters", "in": "inliers"}.get(
            name, f"cluster {label}"
        )
        told.append(
            f"{who}: most rows between {number(edges[top])} and "
            f"{number(edges[top + 1])}"
        )
    return "; ".join(told) + "."


def beyond(counts: dict[str, Any]) -> str:
    """Return how many rows the picture leaves out."""
    low, high = counts.get("low") or 0, counts.get("high") or 0
    if not low + high:
        return ""
    rows = counted(low + high, "row")
    return f'<p class="beyond">{rows} beyond: {low:,} below, {high:,} above.</p>\n'
