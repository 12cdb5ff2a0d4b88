"""How a feature is distributed in each cluster: a histogram for each, in a strip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rtkm.report.axes import Axis, Tick
from rtkm.report.extents import axis_of
from rtkm.report.findings import Histogram
from rtkm.report.templating import OUTLIERS, number, percent

CROSS = "\N{MULTIPLICATION SIGN}"  # stands for outliers
STRIP_LEFT, STRIP_RIGHT, STRIP_WIDTH = 34, 312, 320


@dataclass(frozen=True)
class Strip:
    """A histogram of a cluster, of clusters taken together (None), or of outliers."""

    label: int | None
    name: str
    counts: list[int]

    @property
    def who(self) -> str:
        """Whose rows they are."""
        names = {CROSS: "outliers", "rest": "other clusters", "in": "inliers"}
        return names.get(self.name, f"cluster {self.label}")


@dataclass(frozen=True)
class DrawnStrip:
    """A strip, and where it lies."""

    label: int | None
    name: str
    path: str
    bottom: int


@dataclass(frozen=True)
class HistogramPicture:
    """Strips above a common axis."""

    strips: list[DrawnStrip]
    bottom: int
    ticks: list[Tick]
    bends: list[float]
    told: str
    left: int = STRIP_LEFT
    right: int = STRIP_RIGHT
    width: int = STRIP_WIDTH


def draw_histogram(
    told: Histogram, labels: Sequence[int], clustered: bool
) -> HistogramPicture | None:
    """Return the strips of a feature, or None if there is nothing to draw."""
    strips = strips_of(told["counts"], labels, clustered)
    edges = [edge for edge in told["edges"] if edge is not None]
    if len(edges) < 2 or len(edges) < len(told["edges"]) or not strips:
        return None
    height = 24 if len(strips) <= 6 else 16
    across = replace(
        axis_of(told["axis"], STRIP_LEFT, STRIP_RIGHT), low=edges[0], high=edges[-1]
    )
    places = [across.at(edge) for edge in edges]
    if across.half <= 0:  # all numbers are equal: the columns get equal widths
        step = (STRIP_RIGHT - STRIP_LEFT) / (len(edges) - 1)
        places = [STRIP_LEFT + i * step for i in range(len(edges))]
    drawn = [
        DrawnStrip(
            strip.label,
            strip.name,
            columns_path(strip.counts, places, (i + 1) * height, height - 4),
            (i + 1) * height,
        )
        for i, strip in enumerate(strips)
    ]
    bottom = len(strips) * height
    told_so = describe(edges, strips)
    return HistogramPicture(drawn, bottom, across.ticks(4), across.bends, told_so)


def draw_shares(
    told: Histogram, labels: Sequence[int], clustered: bool
) -> HistogramPicture | None:
    """Return a bar for each strip of a category: the share of its rows that are in it.

    The feature is 1 in these rows and 0 in the others.
    """
    strips = strips_of(told["counts"], labels, clustered)
    middles = [
        (low + high) / 2
        for low, high in pairwise(told["edges"])
        if low is not None and high is not None
    ]
    if not strips or not middles:
        return None
    height = 24 if len(strips) <= 6 else 16
    across = Axis(0.0, 1.0, STRIP_LEFT, STRIP_RIGHT)
    drawn, words = [], []
    for i, strip in enumerate(strips):
        inside = sum(
            n for n, middle in zip(strip.counts, middles, strict=True) if middle > 0.5
        )
        share = inside / max(sum(strip.counts), 1)
        bottom = (i + 1) * height
        path = f"M{STRIP_LEFT} {bottom}V{bottom - height + 6}H{across.at(share):.1f}"
        drawn.append(DrawnStrip(strip.label, strip.name, f"{path}V{bottom}z", bottom))
        words.append(f"{strip.who}: {percent(share)}")
    ticks = [Tick(across.at(share), percent(share)) for share in (0.0, 0.5, 1.0)]
    return HistogramPicture(
        drawn, len(strips) * height, ticks, [], "; ".join(words) + "."
    )


def strips_of(
    counts: dict[str, list[int]], labels: Sequence[int], clustered: bool
) -> list[Strip]:
    """Return what is drawn from top to bottom: clusters, the others, outliers."""
    strips = [
        Strip(label, str(label) if clustered else "in", counts[str(label)])
        for label in labels
        if str(label) in counts
    ]
    shown = {str(label) for label in labels} | {str(OUTLIERS)}
    others = [columns for label, columns in counts.items() if label not in shown]
    if others:
        together = [sum(column) for column in zip(*others, strict=True)]
        strips.append(Strip(None, "rest", together))
    if any(counts.get(str(OUTLIERS), [])):
        strips.append(Strip(OUTLIERS, CROSS, counts[str(OUTLIERS)]))
    return strips


def columns_path(
    counts: Sequence[int], places: Sequence[float], bottom: int, height: int
) -> str:
    """Return the outline of a histogram; its tallest column has the whole height."""
    highest = max(counts, default=0) or 1
    path, level = f"M{places[0]:.1f} {bottom}", 0.0
    for right, count in zip(places[1:], counts, strict=False):
        top = round(bottom - height * count / highest, 1)
        # no cluster's few rows vanish beside its many
        top = min(top, bottom - 1) if count else top
        path += "" if top == level else f"V{top:g}"
        path += f"H{right:.1f}"
        level = top
    return f"{path}V{bottom}z"


def describe(edges: Sequence[float], strips: Sequence[Strip]) -> str:
    """Return where each strip is highest."""
    told = []
    for strip in strips:
        if any(strip.counts):
            top = strip.counts.index(max(strip.counts))
            told.append(
                f"{strip.who}: highest between {number(edges[top])} and "
                f"{number(edges[top + 1])}"
            )
    return "; ".join(told) + "."
