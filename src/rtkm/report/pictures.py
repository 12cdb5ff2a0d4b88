"""Where everything lies in the pictures of the rows, and in that of the objective.

Numbers become places and paths here; `templates/pictures.html` draws them as SVG, in
the colors of `templates/colors.css`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from rtkm._number_text import counted
from rtkm.report.axes import Axis, Frame, Tick, log_ticks, padded
from rtkm.report.extents import axis_of
from rtkm.report.findings import Cluster, Histogram, Objective, Points, Scatter
from rtkm.report.templating import OUTLIERS, number

GOLDEN = 0.6180339887498949  # multiples of it lie evenly between whole numbers
FINE = 2  # positions are whole numbers of 1 / FINE pixel, which keeps the page small
INSET = 14  # between the frame and the smallest and largest number
RIM = 5  # how far beyond these, still in the frame, rows from outside are drawn
MOST_STEPS = 400
MOST_DOTS = 60
# from this ratio on, the last steps are lost at the bottom of a plain scale
WIDE = 50.0

SCATTER = Frame(760, 520, left=58, right=742, top=16, bottom=462)
PATH = Frame(760, 260, left=84, right=742, top=14, bottom=212)
# of a single feature: columns of rows above, and below them the rows one by one
COLUMNS_TOP, COLUMNS_BOTTOM, ROWS_TOP = 30, 370, 386


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
    """The path of all that is drawn of a label, or the place of a center."""

    label: int
    path: str = ""
    x: float = 0.0
    y: float = 0.0


@dataclass(frozen=True)
class EdgeNote:
    """How many rows lie outside of the frame, on one of its sides."""

    side: str
    x: float
    y: float
    text: str


@dataclass(frozen=True)
class ScatterPicture:
    """The rows in the order they are drawn, and the frame around them."""

    points: list[Point]
    across: Axis
    up: Axis
    centers: list[Mark]
    edge_notes: list[EdgeNote]
    columns: list[Mark] = field(default_factory=list)
    counts: Axis | None = None
    frame: Frame = SCATTER
    fine: int = FINE

    @property
    def flat(self) -> bool:
        """Whether there is a single feature, and heights are no numbers of rows."""
        return self.counts is not None

    @property
    def bends(self) -> bool:
        """Whether part of an axis is logarithmic."""
        return bool(self.across.bends or self.up.bends)

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
        return self.across.ticks(7, room=90)  # also on a phone

    @property
    def ticks_up(self) -> list[Tick]:
        """The numbers beside the frame."""
        return (self.counts or self.up).ticks(6, room=24)


def lay_out(
    scatter: Scatter, clusters: Sequence[Cluster], histogram: Histogram | None = None
) -> ScatterPicture:
    """Find the frame, and the order in which points are drawn: outliers last.

    Parameters
    ----------
    scatter : Scatter
        The findings.
    clusters : sequence of Cluster
        Those whose centers are marked.
    histogram : Histogram, default=None
        The histogram of the feature, where there is a single one.
    """
    flat = len(scatter["directions"]) < 2
    points = in_order(read_points(scatter["points"], flat))
    extents = scatter["axes"]
    across = axis_of(extents[0], SCATTER.left + INSET, SCATTER.right - INSET)
    columns: list[Mark] = []
    counts = None
    if flat:
        up = Axis(0.0, 1.0, SCATTER.bottom - INSET, ROWS_TOP)
        columns, counts = stack_columns(histogram, across)
    else:
        up = axis_of(extents[1], SCATTER.bottom - INSET, SCATTER.top + INSET)
    marked = {cluster["label"] for cluster in clusters}
    centers = [
        Mark(label, "", across.at(x), up.at(0.5 if flat else y))
        for label, (x, y) in enumerate(scatter["centers"])
        if x is not None and y is not None and label in marked
    ]
    notes = edge_notes(scatter)
    return ScatterPicture(points, across, up, centers, notes, columns, counts)


def in_order(points: list[Point]) -> list[Point]:
    """Return small clusters after large ones, over which they are drawn."""
    sizes: dict[int, int] = {}
    for point in points:
        sizes[point.label] = sizes.get(point.label, 0) + 1
    order = sorted(sizes, key=lambda label: (label == OUTLIERS, -sizes[label], label))
    place = {label: i for i, label in enumerate(order)}
    return sorted(points, key=lambda point: place[point.label])


def read_points(told: Points, flat: bool) -> list[Point]:
    """Return the points whose place is known."""
    ids = told["id"] or [None] * len(told["row"])
    points = []
    for x, y, label, row, id in zip(
        told["x"], told["y"], told["label"], told["row"], ids, strict=True
    ):
        # without a second direction, heights only keep points apart
        y = row * GOLDEN % 1.0 if flat else y
        if x is not None and y is not None:
            points.append(Point(x, y, label, row, id))
    return points


def on_rim(axis: Axis, value: float) -> float:
    """Return where a number is drawn, which is on the rim if it is not within."""
    outward = RIM if axis.end > axis.start else -RIM
    if value < axis.low:
        return axis.start - outward
    if value > axis.high:
        return axis.end + outward
    return axis.at(value)


def edge_notes(scatter: Scatter) -> list[EdgeNote]:
    """Return how many rows lie beyond each side of the frame, where there are any."""
    middle, frame = (SCATTER.top + SCATTER.bottom) / 2, SCATTER
    center = (SCATTER.left + SCATTER.right) / 2
    sides = [
        ("left", frame.left + 6, middle, "← {}"),
        ("right", frame.right - 6, middle, "{} →"),
        ("below", center, frame.bottom - 8, "↓ {}"),
        ("above", center, frame.top + 14, "↑ {}"),
    ]
    counts = [beyond[end] for beyond in scatter["beyond"] for end in ("low", "high")]
    return [
        EdgeNote(side, x, y, words.format(f"{count:,}"))
        for (side, x, y, words), count in zip(sides, counts, strict=False)
        if count
    ]


def stack_columns(histogram: Histogram | None, across: Axis) -> tuple[list[Mark], Axis]:
    """Return the columns of all labels, one on the other, and the axis of counts."""
    counts = {} if histogram is None else histogram["counts"]
    told = [] if histogram is None else histogram["edges"]
    edges = [edge for edge in told if edge is not None]
    labels = sorted(map(int, counts), key=lambda label: (label == OUTLIERS, label))
    columns = [counts[str(label)] for label in labels]
    totals = [sum(column) for column in zip(*columns, strict=True)]
    up = Axis(0.0, float(max([1, *totals])), COLUMNS_BOTTOM, COLUMNS_TOP)
    if len(edges) != len(totals) + 1:
        return [], up
    places = [across.at(edge) for edge in edges]
    base, marks = [0] * len(totals), []
    for label, column in zip(labels, columns, strict=True):
        top = [one + other for one, other in zip(base, column, strict=True)]
        if any(column):
            marks.append(Mark(label, outline_between(base, top, places, up)))
        base = top
    return marks, up


def outline_between(
    base: Sequence[int], top: Sequence[int], places: Sequence[float], up: Axis
) -> str:
    """Return the path around columns that stand on others."""
    there = steps_along(top, places, up)
    back = steps_along(base[::-1], places[::-1], up)
    return "M" + "L".join([*there, *back]) + "z"


def steps_along(heights: Sequence[int], places: Sequence[float], up: Axis) -> list[str]:
    """Return the corners of steps, from one end to the other."""
    corners: list[str] = []
    for i, height in enumerate(heights):
        if i and height == heights[i - 1]:
            corners.pop()  # no corner where nothing changes
        else:
            corners.append(f"{places[i]:.1f} {up.at(height):.1f}")
        corners.append(f"{places[i + 1]:.1f} {up.at(height):.1f}")
    return corners


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
    """Return the objective as a line, or None if it is but a level line."""
    path = objective["path"]
    steps = [(i, value) for i, value in enumerate(path) if value is not None]
    if len(steps) < 2:
        return None
    values = [value for _, value in steps]
    if min(values) == max(values):
        return None  # a level line tells nothing
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
