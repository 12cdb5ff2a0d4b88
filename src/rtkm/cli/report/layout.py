"""Where the points of the scatter plot lie, and which part of the plane is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rtkm.cli.figures import known
from rtkm.cli.report.axes import Axis, padded
from rtkm.cli.report.parts import OUTLIERS

LEFT, RIGHT, TOP, BOTTOM = 58, 742, 16, 462
GOLDEN = 0.6180339887498949  # multiples of it lie evenly between whole numbers


@dataclass(frozen=True)
class Point:
    """A row that is drawn, where it is drawn."""

    x: float
    y: float
    label: int
    row: int
    id: str | None


@dataclass(frozen=True)
class Plot:
    """The rows in the order they are drawn, and the frame around them."""

    points: list[Point]
    across: Axis
    up: Axis
    flat: bool

    @property
    def beyond(self) -> int:
        """The number of rows outside the frame."""
        return sum(
            not (self.across.holds(p.x) and self.up.holds(p.y)) for p in self.points
        )


def lay_out(scatter: dict[str, Any]) -> Plot:
    """Find the frame, and the order in which points are drawn: outliers last."""
    flat = len(scatter["directions"]) < 2
    points = read_points(scatter["points"], flat)
    sizes: dict[int, int] = {}
    for point in points:
        sizes[point.label] = sizes.get(point.label, 0) + 1
    # small clusters are drawn over large ones
    order = sorted(sizes, key=lambda label: (label == OUTLIERS, -sizes[label], label))
    place = {label: i for i, label in enumerate(order)}
    points.sort(key=lambda point: place[point.label])
    centers = [] if flat else read_centers(scatter)
    across = frame(points, [x for x, _ in read_centers(scatter)], 0, LEFT, RIGHT)
    up = frame(points, [y for _, y in centers], 1, BOTTOM, TOP)
    if flat:
        up = Axis(0.0, 1.0, BOTTOM, TOP)
    return Plot(points, across, up, flat)


def read_points(told: dict[str, Any], flat: bool) -> list[Point]:
    """Return the points whose place is known."""
    ids = told.get("id") or [None] * len(told["row"])
    points = []
    for x, y, label, row, id in zip(
        told["x"], told["y"], told["label"], told["row"], ids, strict=True
    ):
        # without a second direction, heights only keep points apart
        y = 0.1 + 0.8 * (row * GOLDEN % 1.0) if flat else y
        if known(x) is not None and known(y) is not None:
            points.append(Point(x, y, label, row, id))
    return points


def read_centers(scatter: dict[str, Any]) -> list[tuple[float, float]]:
    """Return the centers whose place is known."""
    return [
        (center[0], center[1])
        for center in scatter.get("centers") or []
        if known(center[0]) is not None and known(center[1]) is not None
    ]


def frame(
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
