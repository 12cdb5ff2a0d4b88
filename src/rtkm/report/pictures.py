"""Where everything lies in the pictures of the report.

Numbers become places and paths here; `templates/pictures.html` draws them as SVG, in
the colors of `templates/colors.css`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rtkm._number_text import counted
from rtkm.report.findings import Cluster, Histogram, Objective, Points, Scatter
from rtkm.report.templating import OUTLIERS, number

GOLDEN = 0.6180339887498949  # multiples of it lie evenly between whole numbers
FINE = 2  # positions are whole numbers of 1 / FINE pixel, which keeps the page small
RIM = 9  # how far beyond the frame what lies outside of it is drawn
CROSS = "\N{MULTIPLICATION SIGN}"  # stands for outliers
MOST_STEPS = 400
MOST_DOTS = 60
# from this ratio on, the last steps are lost at the bottom of a plain scale
WIDE = 50.0


# Axes


@dataclass(frozen=True)
class Axis:
    """A range of numbers along a line from `start` to `end` of a picture."""

    low: float
    high: float
    start: float
    end: float

    @property
    def half(self) -> float:
        """Half the range: the whole may be more than a number can hold."""
        return self.high / 2 - self.low / 2

    def share(self, value: float) -> float:
        """Return how far along the range a number lies; 0.5 if all are equal."""
        return (value / 2 - self.low / 2) / self.half if self.half > 0 else 0.5

    def at(self, value: float) -> float:
        """Return where a number is drawn."""
        return self.start + (self.end - self.start) * self.share(value)

    def holds(self, value: float) -> bool:
        """Tell whether a number lies within."""
        return self.low <= value <= self.high

    def round_numbers(self, most: int = 6) -> list[float]:
        """Return round numbers within, at most `most` of them, or the ends."""
        ends = [self.low, self.high] if self.half > 0 else [self.low]
        for step in round_steps(2 * (self.half / most)):
            # beyond this, steps are too small for numbers to tell them apart
            if max(abs(self.low), abs(self.high)) / step > 1e12:
                break
            first, last = math.ceil(self.low / step), math.floor(self.high / step)
            if last - first < most:
                found = [i * step for i in range(first, last + 1)]
                return found if len(found) > 1 else ends
        return ends

    def ticks(self, most: int) -> list[Tick]:
        """Return where round numbers lie."""
        return [Tick(self.at(v), number(v)) for v in self.round_numbers(most)]


@dataclass(frozen=True)
class Tick:
    """A number at an axis."""

    at: float
    text: str


def round_steps(size: float) -> Iterator[float]:
    """Yield a few of 1, 2, 5, 10, 20, ... from a size on."""
    if 1e-290 < size < 1e290:  # others have no power of ten that can be held
        power = 10.0 ** math.floor(math.log10(size))
        yield from (f * power for f in (1, 2, 5, 10, 20, 50) if f * power >= size)


def padded(low: float, high: float, start: float, end: float) -> Axis:
    """Return an axis with some room beside the smallest and the largest number."""
    room = (high / 2 - low / 2) / 10
    if not math.isfinite((low - room) + (high + room)):
        room = 0.0
    return Axis(low - room, high + room, start, end)


@dataclass(frozen=True)
class Frame:
    """The size of a picture, and where the frame within it lies, in pixels."""

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int


SCATTER = Frame(760, 520, left=58, right=742, top=16, bottom=462)
PATH = Frame(760, 260, left=84, right=742, top=14, bottom=212)
STRIP_LEFT, STRIP_RIGHT, STRIP_WIDTH = 34, 312, 320


# The rows in two directions: a dot for each, a cross for each outlier


@dataclass(frozen=True)
class Point:
    """A row that is drawn, where it is drawn."""

    x: float
    y: float
    label: int
    row: int
    id: str | None


@dataclass(frozen=True)
class Mark:
    """The path of all points of a label, or the place of a center."""

    label: int
    path: str = ""
    x: float = 0.0
    y: float = 0.0


@dataclass(frozen=True)
class ScatterPicture:
    """The rows in the order they are drawn, and the frame around them."""

    points: list[Point]
    across: Axis
    up: Axis
    flat: bool
    centers: list[Mark]
    frame: Frame = SCATTER
    fine: int = FINE

    @property
    def beyond(self) -> int:
        """The number of rows outside the frame."""
        return sum(
            not (self.across.holds(p.x) and self.up.holds(p.y)) for p in self.points
        )

    @property
    def n_outliers(self) -> int:
        """The number of outliers that are drawn."""
        return sum(point.label == OUTLIERS for point in self.points)

    @property
    def density(self) -> str:
        """How large dots are: smaller where there are many."""
        n_points = len(self.points)
        return "few" if n_points <= 400 else "some" if n_points <= 2000 else "many"

    @property
    def marks(self) -> list[Mark]:
        """A path for each cluster, and one for the outliers."""
        paths: dict[int, list[str]] = {}
        for point in self.points:
            x = round(FINE * on_rim(self.across, point.x))
            y = round(FINE * on_rim(self.up, point.y))
            # a line of no length with round ends is a dot
            mark = f"M{x} {y}h0"
            if point.label == OUTLIERS:
                mark = f"M{x} {y}m-7-7l14 14m0-14l-14 14"
            paths.setdefault(point.label, []).append(mark)
        return [Mark(label, "".join(marks)) for label, marks in paths.items()]

    @property
    def ticks_across(self) -> list[Tick]:
        """The numbers below the frame."""
        return self.across.ticks(7)

    @property
    def ticks_up(self) -> list[Tick]:
        """The numbers beside the frame."""
        return [] if self.flat else self.up.ticks(6)


def lay_out(scatter: Scatter, clusters: Sequence[Cluster]) -> ScatterPicture:
    """Find the frame, and the order in which points are drawn: outliers last.

    Parameters
    ----------
    scatter : Scatter
        The findings.
    clusters : sequence of Cluster
        Those whose centers are marked.
    """
    flat = len(scatter["directions"]) < 2
    points = read_points(scatter["points"], flat)
    sizes: dict[int, int] = {}
    for point in points:
        sizes[point.label] = sizes.get(point.label, 0) + 1
    # small clusters are drawn over large ones
    order = sorted(sizes, key=lambda label: (label == OUTLIERS, -sizes[label], label))
    place = {label: i for i, label in enumerate(order)}
    points.sort(key=lambda point: place[point.label])
    centers = read_centers(scatter)
    xs, ys = [mark.x for mark in centers], [mark.y for mark in centers]
    across = span(points, xs, 0, SCATTER.left, SCATTER.right)
    up = span(points, [] if flat else ys, 1, SCATTER.bottom, SCATTER.top)
    if flat:
        up = Axis(0.0, 1.0, SCATTER.bottom, SCATTER.top)
    marked = {cluster["label"] for cluster in clusters}
    marks = [
        Mark(mark.label, "", across.at(mark.x), up.at(0.5 if flat else mark.y))
        for mark in centers
        if mark.label in marked
    ]
    return ScatterPicture(points, across, up, flat, marks)


def read_points(told: Points, flat: bool) -> list[Point]:
    """Return the points whose place is known."""
    ids = told["id"] or [None] * len(told["row"])
    points = []
    for x, y, label, row, id in zip(
        told["x"], told["y"], told["label"], told["row"], ids, strict=True
    ):
        # without a second direction, heights only keep points apart
        y = 0.1 + 0.8 * (row * GOLDEN % 1.0) if flat else y
        if x is not None and y is not None:
            points.append(Point(x, y, label, row, id))
    return points


def read_centers(scatter: Scatter) -> list[Mark]:
    """Return the centers whose place is known."""
    return [
        Mark(label, "", x, y)
        for label, (x, y) in enumerate(scatter["centers"])
        if x is not None and y is not None
    ]


def span(
    points: Sequence[Point],
    centers: Sequence[float],
    direction: int,
    start: float,
    end: float,
) -> Axis:
    """Return a range that far outliers do not stretch out of all proportion."""
    values = [(point.x, point.y)[direction] for point in points]
    whole = [*values, *centers] or [0.0]
    inner = [
        value
        for value, point in zip(values, points, strict=True)
        if point.label != OUTLIERS
    ]
    if not inner:
        return padded(min(whole), max(whole), start, end)
    low, high = min([*inner, *centers]), max([*inner, *centers])
    half = high / 2 - low / 2
    # what lies within has at least a third of the width
    near = Axis(
        max(min(whole), low - 2 * half), min(max(whole), high + 2 * half), start, end
    )
    n_beyond = sum(not near.holds(value) for value in values)
    stretched = max(whole) / 2 - min(whole) / 2 > 3 * half
    if stretched and 4 * n_beyond <= len(values):
        return padded(near.low, near.high, start, end)
    return padded(min(whole), max(whole), start, end)


def on_rim(axis: Axis, value: float) -> float:
    """Return where a number is drawn, which is on the rim if it is not within."""
    outward = RIM if axis.end > axis.start else -RIM
    if value < axis.low:
        return axis.start - outward
    if value > axis.high:
        return axis.end + outward
    return axis.at(value)


# How a feature is distributed in each cluster: a histogram for each, in a strip


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
    across = Axis(edges[0], edges[-1], STRIP_LEFT, STRIP_RIGHT)
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
    return HistogramPicture(drawn, bottom, across.ticks(4), describe(edges, strips))


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


# The objective from one iteration to the next


@dataclass(frozen=True)
class PathPicture:
    """A line that falls, in its frame."""

    line: str
    dots: str
    ticks_across: list[Tick]
    ticks_up: list[Tick]
    logs: bool
    told: str
    frame: Frame = PATH


def draw_path(objective: Objective) -> PathPicture | None:
    """Return the objective as a line, or None if it is but a point."""
    path = objective["path"]
    steps = [(i, value) for i, value in enumerate(path) if value is not None]
    if len(steps) < 2:
        return None
    values = [value for _, value in steps]
    logs = min(values) > 0 and max(values) / min(values) > WIDE
    told = (
        f"It falls from {number(values[0])} to {number(values[-1])} in "
        f"{counted(len(path) - 1, 'step')}."
    )
    steps = thinned(steps)
    heights = [math.log10(value) if logs else value for _, value in steps]
    across = Axis(0, len(path) - 1, PATH.left, PATH.right)
    up = padded(min(heights), max(heights), PATH.bottom, PATH.top)
    places = [
        f"{across.at(i):.1f} {up.at(height):.1f}"
        for (i, _), height in zip(steps, heights, strict=True)
    ]
    return PathPicture(
        line="M" + "L".join(places),
        dots="".join(f"M{p}h0" for p in places) if len(places) <= MOST_DOTS else "",
        ticks_across=[
            Tick(across.at(value), f"{int(value):,}")
            for value in across.round_numbers(8)
            if value == int(value)
        ],
        ticks_up=log_ticks(up) if logs else up.ticks(5),
        logs=logs,
        told=told,
    )


def thinned(steps: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return no more steps than can be told apart, the last one among them."""
    stride = -(-len(steps) // MOST_STEPS)
    return steps if stride == 1 else [*steps[:-1:stride], steps[-1]]


def log_ticks(up: Axis) -> list[Tick]:
    """Return whole powers of ten, no more than six."""
    # the room above the line may be more than a number can hold
    first, last = math.ceil(up.low), min(math.floor(up.high), sys.float_info.max_10_exp)
    stride = max(1, -(-(last - first + 1) // 6))
    powers = range(first, last + 1, stride)
    return [Tick(up.at(power), number(10.0**power)) for power in powers]
