"""The picture of a fit that a notebook shows: inline SVG, without a program."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtkm._number_text import counted
from rtkm.core.sketch import GOLDEN, Sketch
from rtkm.report.axes import Axis, Frame, Tick
from rtkm.report.extents import axis_of, extent_of
from rtkm.report.plot_axes import COLORS
from rtkm.report.table_results import Floats
from rtkm.report.templating import shortened
from rtkm.tables.fitted_preparation import Preparation

SKETCH = Frame(width=460, height=320, left=14, right=446, top=8, bottom=312)
WITH_TICKS = Frame(width=460, height=320, left=58, right=446, top=8, bottom=268)
INSET = 12
FINE = 2  # steps in a pixel, so that places are whole numbers
MOST_MARKED = 50  # centers
FEW = 400  # points that are drawn large


def picture_of(sketch: Sketch, preparation: Preparation, n_rows: int) -> str:
    """Return points, crosses for outliers, and centers, and what they show in words."""
    places, centers = sketch.places(sketch.points), sketch.places(sketch.centers)
    names: Sequence[str] = ()
    if sketch.has_features:  # in the units of the table
        names = preparation.columns
        places = preparation.in_data_units(places)
        centers = preparation.in_data_units(centers)
    frame = WITH_TICKS if names else SKETCH
    across = axis_along(places[:, 0], frame.left + INSET, frame.right - INSET)
    if places.shape[1] == 1:
        up = Axis(-1.0, max(len(centers), 1), frame.bottom - INSET, frame.top + INSET)
        heights, middles = bands(sketch.labels), np.arange(len(centers)) + 0.5
    else:
        up = axis_along(places[:, 1], frame.bottom - INSET, frame.top + INSET)
        heights, middles = places[:, 1], centers[:, -1]
    parts = [
        frame_of(frame),
        *(dotted(f"M{at:.0f} {frame.top}V{frame.bottom}") for at in across.bends),
        *(dotted(f"M{frame.left} {at:.0f}H{frame.right}") for at in up.bends),
        *(axis_text(frame, across, up, names) if names else ()),
        *marks(sketch.labels, positions(across, places[:, 0]), positions(up, heights)),
        *center_marks(positions(across, centers[:, 0]), positions(up, middles)),
    ]
    told = words_of(sketch, names, n_rows, bool(across.bends or up.bends))
    return (
        f'<svg width="{frame.width}" height="{frame.height}" '
        f'viewBox="0 0 {frame.width} {frame.height}" role="img" '
        'style="max-width:100%;height:auto;font:12px sans-serif">'
        f"<title>{escape(told)}</title>{''.join(parts)}</svg><p>{escape(told)}</p>"
    )


def words_of(sketch: Sketch, names: Sequence[str], n_rows: int, bends: bool) -> str:
    """Return what is drawn, and how much of it."""
    n_drawn, n_outliers = len(sketch.labels), int((sketch.labels < 0).sum())
    if len(names) == 1:
        by = f"by {shortened(names[0])}, clusters one above the other"
    elif names:
        by = f"by {shortened(names[0])} (across) and {shortened(names[1])} (up)"
    elif len(sketch.centers) > 2:
        by = "in the two directions that tell the centers apart best"
    else:
        by = "in two directions in which they spread most"
    amount = f"{counted(n_drawn, 'row')}"
    if n_drawn < n_rows:
        amount = f"A sample of {n_drawn:,} of {counted(n_rows, 'row')}"
    told = f"{amount} {by}"
    if n_outliers:
        told += f"; {counted(n_outliers, 'outlier')} among them, as crosses"
    if bends:
        told += "; the scale is logarithmic beyond the dotted lines"
    return told + "."


def axis_along(values: Floats, start: float, end: float) -> Axis:
    """Return an axis for numbers, logarithmic where a few would flatten the rest."""
    return axis_of(extent_of(values[np.isfinite(values)]), start, end)


def positions(axis: Axis, values: NDArray[Any]) -> list[int]:
    """Return where numbers are drawn, those beyond the axis at its ends."""
    within = np.clip(np.nan_to_num(values), axis.low, axis.high)
    return [round(FINE * axis.at(value)) for value in within.tolist()]


def bands(labels: NDArray[np.int32]) -> Floats:
    """Return heights that keep rows apart, in a band for each cluster."""
    return labels + 0.1 + 0.8 * (np.arange(len(labels)) * GOLDEN % 1.0)


def frame_of(frame: Frame) -> str:
    """Return the box around the points."""
    return (
        f'<rect x="{frame.left}" y="{frame.top}" width="{frame.right - frame.left}" '
        f'height="{frame.bottom - frame.top}" fill="none" stroke="currentColor" '
        'stroke-opacity="0.3"/>'
    )


def axis_text(frame: Frame, across: Axis, up: Axis, names: Sequence[str]) -> list[str]:
    """Return numbers and names beside the frame."""
    middle = (frame.left + frame.right) // 2
    parts = [
        text_at(tick.at, frame.bottom + 18, "middle", tick.text)
        for tick in across.ticks(6, room=60)
    ]
    parts.append(text_at(middle, frame.bottom + 40, "middle", shortened(names[0])))
    if len(names) == 1:
        return parts
    ticks: list[Tick] = up.ticks(6, room=30)
    return [
        *parts,
        *(text_at(frame.left - 6, t.at + 4, "end", t.text) for t in ticks),
    ]


def text_at(x: float, y: float, anchor: str, text: str) -> str:
    """Return a text in the color of the notebook's own."""
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="currentColor">'
        f"{escape(text)}</text>"
    )


def dotted(path: str) -> str:
    """Return a dotted line."""
    return (
        f'<path d="{path}" fill="none" stroke="currentColor" stroke-opacity="0.6" '
        'stroke-dasharray="1 4"/>'
    )


def marks(labels: NDArray[np.int32], x: Sequence[int], y: Sequence[int]) -> list[str]:
    """Return a path for each cluster, large ones first, and one for the outliers."""
    paths: dict[int, list[str]] = {}
    for label, left, top in zip(labels.tolist(), x, y, strict=True):
        cross = "m-6-6l12 12m0-12l-12 12" if label < 0 else "h0"
        paths.setdefault(label, []).append(f"M{left} {top}{cross}")
    order = sorted(paths, key=lambda label: (label < 0, -len(paths[label]), label))
    dot = 10 if len(labels) <= FEW else 6
    drawn = []
    for label in order:
        color = "currentColor" if label < 0 else COLORS[label % len(COLORS)]
        width = 3 if label < 0 else dot
        drawn.append(
            f'<path transform="scale({1 / FINE})" d="{"".join(paths[label])}" '
            f'fill="none" stroke="{color}" stroke-opacity="0.85" '
            f'stroke-width="{width}" stroke-linecap="round"/>'
        )
    return drawn


def center_marks(x: Sequence[int], y: Sequence[int]) -> list[str]:
    """Return a ring with its number for each center."""
    return [
        f'<circle cx="{left / FINE}" cy="{top / FINE}" r="8" fill="#fff" '
        f'fill-opacity="0.7" stroke="{COLORS[label % len(COLORS)]}" stroke-width="2"/>'
        f'<text x="{left / FINE}" y="{top / FINE + 4}" text-anchor="middle" '
        f'fill="#000" font-weight="600">{label}</text>'
        for label, (left, top) in enumerate(zip(x, y, strict=True))
        if label < MOST_MARKED
    ]
