"""The clusters: how large they are, and where their centers lie."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from html import escape
from typing import Any

from rtkm.cli.figures import known
from rtkm.cli.messages import counted
from rtkm.cli.report.parts import (
    MOST_CLUSTERS,
    cell,
    color,
    head,
    in_blocks,
    largest,
    number_cell,
    row_head,
    swatch,
    table,
)
from rtkm.cli.report.words import alike, all_known, own, percent

BLOCK = 12  # clusters side by side; more do not fit on paper
KINDS = ("core", "border", "doubtful")
# steps of color, and how far from the middle each of them begins
STEPS = (0.25, 0.75, 1.5, 3.0)


def draw(findings: dict[str, Any]) -> str:
    """Return sizes and centers."""
    clusters = findings["clusters"]
    shown = largest(clusters, MOST_CLUSTERS)
    note = ""
    if len(shown) < len(clusters):
        note = (
            f"<p>Shown here are the {len(shown)} largest of {len(clusters):,} "
            "clusters.</p>\n"
        )
    return note + sizes(shown) + centers(findings, shown)


def sizes(clusters: list[dict[str, Any]]) -> str:
    """Return a bar for each cluster, with the numbers beside it."""
    most = max([cluster["size"] for cluster in clusters], default=0)
    sure = [kind for kind in KINDS if any(has(cluster, kind) for cluster in clusters)]
    rows = []
    for cluster in clusters:
        counts = cluster.get("confidence") or {}
        numbers = [f"{cluster['size']:,}", percent(cluster["share"])]
        numbers += [f"{counts.get(kind, 0):,}" for kind in sure]
        label = cluster["label"]
        rows.append(
            f"<tr>{row_head(f'{swatch(label)} cluster {label}', 'short')}"
            f"{cell(bar(cluster, most), 'bar')}"
            f"{''.join(map(number_cell, numbers))}</tr>"
        )
    heads = head("cluster") + head("size") + head("rows", "number")
    heads += head("share", "number") + "".join(head(kind, "number") for kind in sure)
    caption = "Rows of each cluster."
    if sure:
        caption += (
            " Core rows lie well within it (full color), border rows are not far from "
            "being outliers (paler), and doubtful ones may well belong to another "
            "cluster (palest)."
        )
    return table("sizes", caption, heads, rows)


def has(cluster: dict[str, Any], kind: str) -> bool:
    """Tell whether it is known how many rows of a cluster are of a kind."""
    return kind in (cluster.get("confidence") or {})


def bar(cluster: dict[str, Any], most: int) -> str:
    """Return a bar as long as a cluster is large, in parts of falling certainty."""
    counts = cluster.get("confidence") or {}
    told = ", ".join(f"{counts[kind]:,} {kind}" for kind in KINDS if kind in counts)
    parts, start = [], 0.0
    for kind in KINDS if counts else ("core",):
        size = counts.get(kind, 0) if counts else cluster["size"]
        width = 100 * size / most if most else 0.0
        if width > 0:
            parts.append(
                f'<rect class="{kind}" x="{start:.2f}%" width="{width:.2f}%" '
                'height="14"/>'
            )
        start += width
    words = counted(cluster["size"], "row") + (f": {told}" if told else "")
    return (
        f'<svg class="{color(cluster["label"])}" role="img" width="100%" height="14">'
        f"<title>{escape(words)}</title>{''.join(parts)}</svg>"
    )


def centers(findings: dict[str, Any], clusters: list[dict[str, Any]]) -> str:
    """Return the centers as tables whose colors tell where they differ."""
    features = chosen_features(findings)
    if not features or not clusters:
        return ""
    rows = [Row(findings, clusters, feature) for feature in features]
    blocks = in_blocks(range(len(clusters)), BLOCK)
    tables = "".join(
        center_table(f"centers-{i}", clusters, rows, block, len(blocks) > 1)
        for i, block in enumerate(blocks)
    )
    n_features = len(findings["features"])
    note = ""
    if len(features) < n_features:
        note = (
            f"<p>Shown are the {len(features)} features that tell clusters apart most, "
            f"of {n_features:,}.</p>\n"
        )
    return f"<h3>Centers</h3>\n{note}{legend()}{tables}"


def chosen_features(findings: dict[str, Any]) -> list[int]:
    """Return the positions of the features whose distributions are shown."""
    position: dict[str, int] = {}
    for i, name in enumerate(findings["features"]):
        position.setdefault(name, i)
    listed = [told["feature"] for told in findings["distributions"]["features"]]
    return [position[name] for name in listed if name in position]


class Row:
    """The centers of all clusters in one feature, written and colored."""

    def __init__(
        self, findings: dict[str, Any], clusters: Sequence[dict[str, Any]], feature: int
    ) -> None:
        self.name = findings["features"][feature]
        values = [cluster["center"][feature] for cluster in clusters]
        numbers = all_known(values)
        # centers may lie close together and far from zero
        range_of = max(numbers, default=0.0) - min(numbers, default=0.0)
        self.written = alike(values, range_of or max(map(abs, numbers), default=0.0))
        unit = unit_of(findings, clusters, feature)
        middle = statistics.median(numbers or [0.0])
        self.steps = [step_of(value, middle, unit) for value in values]


def unit_of(
    findings: dict[str, Any], clusters: Sequence[dict[str, Any]], feature: int
) -> float:
    """Return the spread that a feature was scaled by, or else that of its clusters."""
    preparation = findings["preparation"]
    if preparation["scale"] != "none":
        return known(preparation["spread"][feature]) or 0.0
    spreads = all_known([cluster["spread"][feature] for cluster in clusters])
    return statistics.median(spreads) if spreads else 0.0


def step_of(value: Any, middle: float, unit: float) -> int:
    """Return the step of color of a center: 0 in the middle, at most 4 to each side."""
    value = known(value)
    if value is None or value == middle:
        return 0
    # in halves, since a difference may be more than a number can hold
    distance = abs(value / 2 - middle / 2)
    passed = sum(distance >= step * (unit / 2) for step in STEPS)
    return passed if value > middle else -passed


def center_table(
    name: str,
    clusters: Sequence[dict[str, Any]],
    rows: Sequence[Row],
    block: Sequence[int],
    several: bool,
) -> str:
    """Return the centers of some clusters."""
    labels = [clusters[i]["label"] for i in block]
    heads = head("feature") + "".join(
        head(f"{swatch(label)} {label}", "number") for label in labels
    )
    lines = [
        f"<tr>{row_head(own(row.name))}"
        + "".join(cell(row.written[i], f"number h{row.steps[i]}") for i in block)
        + "</tr>"
        for row in rows
    ]
    caption = "Center of each cluster, in the units of the data"
    if several:
        caption += f": clusters {labels[0]} to {labels[-1]}"
    return table(name, caption + ".", heads, lines, "heat")


def legend() -> str:
    """Return what the colors of centers mean."""
    scale = "".join(f'<span class="h{step}"></span>' for step in range(-4, 5))
    return (
        '<p class="scale"><span>far below</span>'
        f'<span class="steps" aria-hidden="true">{scale}</span><span>far above</span> '
        "the middle of all centers, in units of the feature's spread: colors begin at "
        f"{', '.join(map(str, STEPS[:-1]))} and {STEPS[-1]:g} spreads.</p>\n"
    )
