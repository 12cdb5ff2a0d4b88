"""What differs between training rows and new ones, in plain language."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scipy import special

from rtkm._number_text import counted, figure, percent
from rtkm.report.prediction_findings import FeatureChange, LabelChange, MissingChange
from rtkm.tables.messages import shown

if TYPE_CHECKING:
    from rtkm.report.drift import Drift

# the chance that labels differ anywhere though nothing has changed; of features and
# missing values the same
LEVEL = 0.01
MOST_NAMED = 8  # changes of each kind
WIDENED = 1.5  # ratio of widths of the middle half that is told rather than a move
INSENSITIVE = 0.25  # a distance between distributions that would not be seen


def sentences(drift: Drift) -> list[str]:
    """Return what differs, changes of units first, as others may follow from them."""
    if not drift.found:
        return [*nothing_found(drift)]
    moved = [change for change in drift.features if change["differs"]]
    moved.sort(key=lambda change: -change["distance"])
    labels = [change for change in drift.labels if change["differs"]]
    missing = [change for change in drift.missing if change["differs"]]
    return [
        *first_few([about_units(change) for change in moved if change["units"]]),
        *first_few([about_label(change) for change in labels]),
        *first_few([about_feature(change) for change in moved if not change["units"]]),
        *first_few([about_missing(change) for change in missing]),
    ]


def first_few(told: Sequence[str]) -> list[str]:
    """Return some sentences, and how many more there would be."""
    n_left = len(told) - MOST_NAMED
    if n_left <= 0:
        return list(told)
    more = "1 more differs" if n_left == 1 else f"{n_left:,} more differ"
    return [*told[:MOST_NAMED], f"{more} in the same way."]


def nothing_found(drift: Drift) -> list[str]:
    """Say that nothing differs, and what would not be seen among few rows."""
    told = [
        "The new rows are like the training rows: what differs between them is small, "
        "or chance explains it."
    ]
    least = least_distance_seen(drift)
    if least > INSENSITIVE:
        rows = counted(min(drift.n_now, drift.n_then), "row")
        if least < 1:
            seen = f"show only if {percent(least)} of its values had moved"
        else:
            seen = "not show if all of its values had moved"
        told.append(f"Few rows tell little: with {rows}, a column would {seen}.")
    return told


def least_distance_seen(drift: Drift) -> float:
    """Return how far a feature has to move to be told from chance."""
    n = drift.n_then * drift.n_now / (drift.n_then + drift.n_now)
    return float(special.kolmogi(LEVEL / max(1, len(drift.features))) / n**0.5)


def about_units(change: FeatureChange) -> str:
    """Tell of a column in other units."""
    units, name = change["units"], shown(change["feature"])
    assert units is not None
    middles = f"{figure(change['quartiles_now'][1])}, and was "
    middles += figure(change["quartiles_then"][1])
    if units["conversion"]:
        return (
            f"{name} looks like it is in other units, {units['conversion']}: its "
            f"middle is {middles}."
        )
    return (
        f"{name} looks like it is in other units: its values are about "
        f"{times(units['factor'])} what they were (its middle is {middles})."
    )


def times(factor: float) -> str:
    """Write a factor as people know it.

    Examples
    --------
    >>> times(25.4), times(1 / 25.4)
    ('25.4 times', '1/25.4 of')
    """
    return (
        f"1/{figure(1 / factor, 3)} of" if factor < 1 else f"{figure(factor, 3)} times"
    )


def about_label(change: LabelChange) -> str:
    """Tell of a cluster of another size, or of more or fewer outliers."""
    label = change["label"]
    kind = "outliers" if label < 0 else f"in cluster {label}"
    now = percent(change["share_now"]) if change["count_now"] else "None"
    return (
        f"{now} of the new rows are {kind}, against {percent(change['share_then'])} of "
        "the training rows."
    )


def about_feature(change: FeatureChange) -> str:
    """Tell of a column that has moved, or spreads differently."""
    then, now = change["quartiles_then"], change["quartiles_now"]
    name = shown(change["feature"])
    if change["share_now"] is not None and change["share_then"] is not None:
        return (
            f"{name} holds for {percent(change['share_now'])} of the new rows, against "
            f"{percent(change['share_then'])} of the training rows."
        )
    if None in then or None in now:
        return f"{name} has moved."
    low, middle, high = (value or 0.0 for value in then)
    lower, middle_now, upper = (value or 0.0 for value in now)
    width, width_now = high - low, upper - lower
    if max(width, width_now) > WIDENED * min(width, width_now):
        return (
            f"{name} spreads differently: its middle half is from {figure(lower)} to "
            f"{figure(upper)}, and was from {figure(low)} to {figure(high)}."
        )
    if middle_now != middle:
        return (
            f"{name} has moved: its middle is {figure(middle_now)}, and was "
            f"{figure(middle)}."
        )
    return (
        f"{name} is distributed differently: {percent(change['distance'])} of its "
        "values lie elsewhere."
    )


def about_missing(change: MissingChange) -> str:
    """Tell of a column with more missing values, or with fewer."""
    return (
        f"{shown(change['feature'])} is missing in {percent(change['share_now'])} of "
        f"the new rows, against {percent(change['share_then'])} of the training rows."
    )
