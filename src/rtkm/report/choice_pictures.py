"""Where everything lies in the pictures of a choice, and in that of the scores.

They are small enough to be read on a phone as they are, two of them side by side on a
desk; `templates/pictures.html` draws them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from rtkm._number_text import counted, joined, known, percent, scientific
from rtkm.report.axes import Axis, Frame, Tick, log_ticks, padded
from rtkm.report.findings import ChoiceFindings, Number, SortedScores
from rtkm.report.strips import columns_path
from rtkm.report.templating import number

SMALL = Frame(380, 250, left=46, right=368, top=18, bottom=202)
# scores smaller than this share of the cut-off are drawn at the lower rim: rows next to
# their center would stretch the scale over many powers of ten
LEAST_SCORE = 1e-3
NAME_WIDTH, NAME_HEIGHT = 56, 12  # pixels that the names of curves need
TALLEST_LABEL = 14  # pixels that the words at a line need above it


# The plateau: groups over the number of cells


@dataclass(frozen=True)
class PlateauPicture:
    """Groups over cells: filled dots on the plateau, open ones elsewhere."""

    agreeing: list[tuple[float, float]]
    others: list[tuple[float, float]]
    chosen_at: float
    chosen: str
    ticks_across: list[Tick]
    ticks_up: list[Tick]
    told: str
    frame: Frame = SMALL


def draw_plateau(choice: ChoiceFindings) -> PlateauPicture | None:
    """Return how many groups each number of cells shows; None of fewer than two."""
    trials = choice["trials"]
    if len(trials) < 2:
        return None
    n_small = len(choice["small_groups"])
    chosen = choice["n_clusters"] + n_small
    cells = [trial["n_cells"] for trial in trials]
    groups = [trial["n_groups"] for trial in trials]
    across = padded(min(cells), max(cells), SMALL.left, SMALL.right)
    highest = max(chosen, *groups)
    up = Axis(0, highest + 0.5, SMALL.bottom, SMALL.top + TALLEST_LABEL)
    dots = [(across.at(x), up.at(y)) for x, y in zip(cells, groups, strict=True)]
    told = "; ".join(
        f"{counted(x, 'cell')}: {counted(y, 'group')}"
        for x, y in zip(cells, groups, strict=True)
    )
    small = f" and {counted(n_small, 'small group')}" if n_small else ""
    return PlateauPicture(
        agreeing=[d for d, y in zip(dots, groups, strict=True) if y == chosen],
        others=[d for d, y in zip(dots, groups, strict=True) if y != chosen],
        chosen_at=up.at(chosen),
        chosen=counted(choice["n_clusters"], "cluster") + small,
        ticks_across=whole_ticks(across, 8),
        ticks_up=whole_ticks(up, 6),
        told=f"{told}.",
    )


def whole_ticks(axis: Axis, most: int) -> list[Tick]:
    """Return where round whole numbers lie, none of them below 1."""
    return [
        Tick(axis.at(value), f"{int(value):,}")
        for value in axis.round_numbers(most)
        if value == int(value) and value >= 1
    ]


# Trimmed cost by clusters and outliers


@dataclass(frozen=True)
class Curve:
    """A line, and what stands at its right end."""

    path: str
    name: str
    x: float
    y: float
    is_chosen: bool


@dataclass(frozen=True)
class CurvesPicture:
    """A line for each number of clusters over the share trimmed."""

    lines: list[Curve]
    share_at: float
    ticks_across: list[Tick]
    ticks_up: list[Tick]
    told: str
    frame: Frame = SMALL


def draw_curves(choice: ChoiceFindings) -> CurvesPicture | None:
    """Return trimmed costs; None where there are none, or all are nothing."""
    found = choice["curves"]
    if found is None:
        return None
    shares = found["contamination"]
    logs = [
        [math.log10(cost) if cost and cost > 0 else None for cost in costs]
        for costs in found["costs"]
    ]
    heights = [height for line in logs for height in line if height is not None]
    if not heights:
        return None
    end = SMALL.right - NAME_WIDTH
    across = Axis(min(shares), max(shares), SMALL.left, end)
    up = padded(min(heights), max(heights), SMALL.bottom, SMALL.top)
    lines: list[Curve] = []
    lowest = -math.inf
    for k, line in zip(found["n_clusters"], logs, strict=True):
        dots = [
            (across.at(share), up.at(height))
            for share, height in zip(shares, line, strict=True)
            if height is not None
        ]
        if not dots:
            continue
        # names keep apart, from few clusters (above) to many
        lowest = max(dots[-1][1], lowest + NAME_HEIGHT)
        name = counted(k, "cluster") if not lines else str(k)
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in dots)
        is_chosen = k == choice["n_clusters"]
        lines.append(Curve(path, name, dots[-1][0] + 5, lowest, is_chosen))
    return CurvesPicture(
        lines=lines,
        share_at=across.at(min(choice["contamination"], max(shares))),
        ticks_across=[
            Tick(across.at(share), percent(share)) for share in across.round_numbers(4)
        ],
        ticks_up=score_ticks(up),
        told=f"For {joined([str(k) for k in found['n_clusters']])} clusters.",
    )


# The weakest pair: rows along the line between two centers


@dataclass(frozen=True)
class GapPicture:
    """A histogram along a line, the two centers and the middle marked."""

    path: str
    labels: list[int]
    centers: list[float]
    middle: float
    ticks_up: list[Tick]
    between: str
    around: list[str]
    n_pairs: int
    told: str
    frame: Frame = SMALL


def draw_gap(choice: ChoiceFindings) -> GapPicture | None:
    """Return what lies between the two clusters that are least apart."""
    pair = choice["pairs"][0] if choice["pairs"] else None
    if pair is None or pair["histogram"] is None or not pair["bin_width"]:
        return None
    counts = [round(count) for count in pair["histogram"]]
    half = len(counts) / 2 * pair["bin_width"]
    across = Axis(-half, half, SMALL.left, SMALL.right)
    step = (SMALL.right - SMALL.left) / len(counts)
    places = [SMALL.left + i * step for i in range(len(counts) + 1)]
    highest = max(counts, default=0)
    top = SMALL.top + TALLEST_LABEL
    up = Axis(0, highest, SMALL.bottom, top)
    first, second = pair["clusters"]
    between = f"{pair['between']:,.0f}"
    around = [f"{count:,.0f}" for count in pair["around"]]
    return GapPicture(
        path=columns_path(counts, places, SMALL.bottom, SMALL.bottom - top),
        labels=[first, second],
        centers=[across.at(-0.5), across.at(0.5)],
        middle=across.at(0.0),
        ticks_up=whole_ticks(up, 4),
        between=between,
        around=around,
        n_pairs=len(choice["pairs"]),
        told=(
            f"{around[0]} rows around the center of cluster {first}, {around[1]} "
            f"around that of cluster {second}, {between} between them where they are "
            "fewest."
        ),
    )


# Scores from the largest to the smallest


@dataclass(frozen=True)
class ScorePicture:
    """Sorted scores: paths of crosses, rings and dots, and the cut-off."""

    crosses: str
    rings: list[tuple[float, float]]
    dots: str
    cut_at: float | None
    cut_text: str
    ticks_across: list[Tick]
    ticks_up: list[Tick]
    tells_apart: bool
    logs: bool
    n_drawn: int
    told: str
    frame: Frame = SMALL


def draw_scores(scores: SortedScores | None, cutoff: Number) -> ScorePicture | None:
    """Return the scores that are drawn, largest first; None if there are none."""
    if scores is None or not scores["score"]:
        return None
    values = scores["score"]
    cut = known(cutoff)
    logs = values[-1] >= 0 and (cut is None or cut > 0)
    least = least_drawn(values, cut) if logs else values[-1]
    heights = [height_of(value, least, logs) for value in values]
    marks = heights if cut is None else [*heights, height_of(cut, least, logs)]
    up = padded(min(marks), max(marks), SMALL.bottom, SMALL.top)
    across = Axis(0.0, math.log10(max(scores["n_rows"], 2)), SMALL.left, SMALL.right)
    places = [
        (across.at(math.log10(rank)), up.at(height))
        for rank, height in zip(scores["rank"], heights, strict=True)
    ]
    kinds = kinds_of(scores)
    return ScorePicture(
        crosses="".join(
            f"M{x:.1f} {y:.1f}m-3-3l6 6m0-6l-6 6"
            for (x, y), kind in zip(places, kinds, strict=True)
            if kind == "cross"
        ),
        rings=[p for p, kind in zip(places, kinds, strict=True) if kind == "ring"],
        dots="".join(
            f"M{x:.1f} {y:.1f}h0"
            for (x, y), kind in zip(places, kinds, strict=True)
            if kind == "dot"
        ),
        cut_at=None if cut is None else up.at(height_of(cut, least, logs)),
        cut_text=number(cut),
        ticks_across=rank_ticks(across, scores["n_rows"]),
        ticks_up=score_ticks(up) if logs else up.ticks(5),
        tells_apart=scores["stands_out"] is not None,
        logs=logs,
        n_drawn=len(values),
        told=f"They fall from {number(values[0])} to {number(values[-1])}.",
    )


def least_drawn(values: list[float], cut: float | None) -> float:
    """Return the smallest score that has a place of its own on a logarithmic axis."""
    reference = cut or values[len(values) // 2] or values[0]
    above = [value for value in values if value > LEAST_SCORE * reference]
    return min(above, default=values[0])


def height_of(value: float, least: float, logs: bool) -> float:
    """Return a score as it is measured on the axis."""
    return math.log10(max(value, least)) if logs else value


def kinds_of(scores: SortedScores) -> list[str]:
    """Return a mark for each score: crosses stand out, rings were only trimmed."""
    far = scores["stands_out"] or scores["outlier"]
    return [
        "cross" if stands_out else "ring" if is_outlier else "dot"
        for stands_out, is_outlier in zip(far, scores["outlier"], strict=True)
    ]


def short_number(value: float) -> str:
    """Return a round number in few letters: all its zeros have no room at the side."""
    return number(value) if value < 1e5 else scientific(value, 2)


LETTER = 8  # pixels


def rank_ticks(across: Axis, n_rows: int) -> list[Tick]:
    """Return powers of ten, from the first row on, and the last row."""
    last = Tick(across.end, f"{n_rows:,}")
    powers = range(math.floor(across.high) + 1)
    ticks = [Tick(across.at(power), f"{10**power:,}") for power in powers]
    # close to the last row, which stands to the left of its place, there is no room
    letters = [len(last.text) + len(tick.text) / 2 for tick in ticks]
    return [
        *(
            tick
            for tick, n in zip(ticks, letters, strict=True)
            if last.at - tick.at > LETTER * n
        ),
        last,
    ]


def score_ticks(up: Axis) -> list[Tick]:
    """Return powers of ten, or round numbers where there are fewer than two."""
    ticks = log_ticks(up)
    if len(ticks) > 1:
        return ticks
    # the room above the largest score may be more than a number can hold
    plain = Axis(10.0**up.low, 10.0 ** min(up.high, 308.0), 0.0, 1.0)
    return [
        Tick(up.at(math.log10(value)), short_number(value))
        for value in plain.round_numbers(5)
        if value > 0
    ]
