"""Columns in units of their own spread, where units differ widely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rtkm.cli.messages import InputError, listed, shown

Scale = Literal["none", "standard", "robust"]
SCALES: tuple[Scale, ...] = get_args(Scale)

# A column with ten times the spread of another counts a hundred times as much in
# squared distances: the other then hardly counts.
WIDE_RATIO = 10.0

# in these units the spread of a normal distribution is its standard deviation
DEVIATIONS_PER_MAD = 1.4826
DEVIATIONS_PER_IQR = 0.7413

DENSEST = 0.2  # a share of the rows that is likely to lie in one cluster
DEVIATIONS_OF_DENSEST = 0.5067  # its width, in a normal distribution
MOST_JUDGED = 10_000  # rows that the decision looks at


@dataclass(frozen=True)
class Scaling:
    """How columns are scaled: less `center`, in units of `spread`."""

    method: Scale
    center: NDArray[np.float64]
    spread: NDArray[np.float64]
    notes: list[str] = field(default_factory=list)


def find_scaling(
    X: NDArray[np.float64],
    names: Sequence[str],
    medians: NDArray[np.float64],
    scale: Scale | None = None,
) -> Scaling:
    """Find how to scale a table without missing cells.

    None decides: ``"robust"`` where the densest fifth of a column spreads more than
    ten times as widely as that of another, ``"none"`` elsewhere. (The spread of all of
    a column is no sign of its unit: where clusters are apart, it is wide for that.) The
    spread to scale by is the median absolute deviation; where that is zero, the
    interquartile range; where that is zero too, the standard deviation. Columns that
    are the same in every row keep their unit, and do not take part in the decision.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # `check_finite` tells
        if scale == "standard":
            center, raw = X.mean(axis=0), X.std(axis=0)
        else:
            center, raw = medians, robust_spreads(X, medians)
    check_finite(center, raw, names)
    # rounding may leave equal numbers a spread, and a faint one none
    varied = (X.min(axis=0) < X.max(axis=0)) & (raw > 0)
    notes = note_on_constants(names, varied)
    if scale is None:
        places = np.flatnonzero(varied).tolist()
        dense = [densest_spread(X[:, j]) or raw[j] for j in places]
        scale, reason = decide(np.array(dense), [names[j] for j in places])
        notes.append(reason)
    if scale == "none":
        return Scaling(scale, np.zeros(len(names)), np.ones(len(names)), notes)
    return Scaling(scale, center, np.where(varied, raw, 1.0), notes)


def decide(spreads: NDArray[np.float64], names: Sequence[str]) -> tuple[Scale, str]:
    """Decide on the scaling, and tell it in a sentence."""
    if len(spreads) < 2:
        return "none", "The numbers are used as they are."
    low, high = int(spreads.argmin()), int(spreads.argmax())
    with np.errstate(over="ignore"):
        ratio = float(spreads[high] / spreads[low])
    if ratio <= WIDE_RATIO * (1 + 1e-9):  # but for rounding
        return "none", (
            "The numbers are used as they are: no column spreads more than "
            f"{WIDE_RATIO:g} times as widely as another."
        )
    times = f"{ratio:,.0f}" if ratio < 1e6 else f"{ratio:.0e}"
    return "robust", (
        f"Columns are scaled, by median and median absolute deviation: "
        f"{shown(names[high])} spreads {times} times as widely as {shown(names[low])} "
        "and would decide alone (--scale none to leave them as they are)."
    )


def densest_spread(values: NDArray[np.float64]) -> float:
    """Return how wide the densest fifth of a column is, or zero where that is one."""
    stride = -(-len(values) // MOST_JUDGED)
    ordered = np.sort(values[::stride])
    n_inside = int(DENSEST * len(ordered))
    widths = ordered[n_inside:] - ordered[: len(ordered) - n_inside]
    return float(widths.min() / DEVIATIONS_OF_DENSEST)


def robust_spreads(
    X: NDArray[np.float64], center: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the spread of each column, which outliers hardly change."""
    return np.array([robust_spread(X[:, j], center[j]) for j in range(X.shape[1])])


def robust_spread(values: NDArray[np.float64], center: float) -> float:
    """Return the first of three measures that is not zero, or zero."""
    spread = DEVIATIONS_PER_MAD * np.median(np.abs(values - center))
    if spread == 0:
        low, high = np.percentile(values, [25, 75])
        spread = DEVIATIONS_PER_IQR * (high - low)
    return float(spread) or float(values.std())


def check_finite(
    center: NDArray[np.float64], spread: NDArray[np.float64], names: Sequence[str]
) -> None:
    """Refuse numbers so large that their spread is none."""
    for j in np.flatnonzero(~np.isfinite(center + spread)).tolist():
        raise InputError(
            f"column {shown(names[j])} holds numbers too large to compute with; divide "
            "it by a power of ten, or leave it out with --drop."
        )


def note_on_constants(names: Sequence[str], varied: NDArray[np.bool_]) -> list[str]:
    """Name the columns that are the same in every row."""
    constant = [shown(names[j]) for j in np.flatnonzero(~varied).tolist()]
    if not constant:
        return []
    return [f"The same in every row: {listed(constant, len(constant))}."]
