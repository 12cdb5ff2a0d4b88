"""Columns in units of their own spread, where units differ widely."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis, min_max_axis

from rtkm.tables.exact_sums import ExactSum
from rtkm.tables.messages import InputError, listed, shown

Scale = Literal["auto", "none", "standard", "robust"]
SCALES: tuple[Scale, ...] = get_args(Scale)

Floats = NDArray[np.float64]

# A column with ten times the spread of another counts a hundred times as much in
# squared distances: the other then hardly counts.
WIDE_RATIO = 10.0
# Columns of one unit spread differently too, but over fewer orders of magnitude, and
# more of them count: in pixels, in genes whose spreads are log-normal.
FEW = 0.25  # of the columns, which should not decide for all
MEAN_RATIO = 4.0  # of spreads to the one in the middle, the geometric mean of ratios

# in these units the spread of a normal distribution is its standard deviation
DEVIATIONS_PER_MAD = 1.4826
DEVIATIONS_PER_IQR = 0.7413
DEVIATIONS_PER_MIDDLE = 0.30398

# The middle of a column leaves out the outliers, and reaches over its clusters unless
# they are very unequal: half of the rows may lie in one of two, far narrower.
MIDDLE = (0.05, 0.95)
MOST_MADS = 5.0  # where more outliers than the middle leaves out make it wide

DENSEST = 0.2  # a share of the rows that is likely to lie in one cluster
DEVIATIONS_OF_DENSEST = 0.5067  # its width, in a normal distribution
MOST_JUDGED = 10_000  # rows that the decision looks at


@dataclass(frozen=True)
class Scaling:
    """How columns are scaled: less `center`, in units of `spread`.

    The `method` is never ``"auto"``, but what that came to.
    """

    method: Scale
    center: NDArray[np.float64]
    spread: NDArray[np.float64]
    notes: list[str] = field(default_factory=list)


def find_scaling(
    X: NDArray[np.float64],
    names: Sequence[str],
    medians: NDArray[np.float64],
    scale: Scale = "auto",
    weights: Floats | None = None,
) -> Scaling:
    """Find how to scale a table without missing values.

    ``"auto"`` is ``"robust"`` where few columns would decide for all, see `decide`. It
    judges by the densest fifth of each column: the spread of all of a column is no sign
    of its unit, since where clusters are apart, it is wide for that. What
    ``"robust"`` scales by, `robust_spread` says. Columns that are the same in every row
    keep their unit, and do not take part in the decision. A row of weight 2 counts as
    that row twice.
    """
    columns = [Values.of(X[:, j], weights) for j in range(X.shape[1])]
    with np.errstate(over="ignore", invalid="ignore"):  # `check_finite` tells
        if scale == "standard":
            center = np.array([column.mean() for column in columns])
            raw = np.array([column.deviation() for column in columns])
        else:
            center = medians
            raw = np.array(
                [
                    robust_spread(column, middle)
                    for column, middle in zip(columns, medians, strict=True)
                ]
            )
    differ = X.min(axis=0) < X.max(axis=0)
    return settle_scaling(
        scale, names, center, raw, differ, lambda j: densest_spread(columns[j])
    )


def settle_scaling(
    scale: Scale,
    names: Sequence[str],
    center: Floats,
    raw: Floats,
    differ: NDArray[np.bool_],
    densest: Callable[[int], float],
) -> Scaling:
    """Settle how columns are scaled, given where their middle is and how they spread.

    Not all numbers of a column are the same where they `differ`; `densest` tells how
    wide the densest part of a column is.
    """
    check_finite(center, raw, names)
    # rounding may leave equal numbers a spread, and a faint one none
    varied = differ & (raw > 0)
    notes = note_on_constants(names, varied)
    if scale == "auto":
        places = np.flatnonzero(varied).tolist()
        dense = [densest(j) or raw[j] for j in places]
        scale, reason = decide(np.array(dense), [names[j] for j in places])
        notes.append(reason)
    if scale == "none":
        return Scaling(scale, np.zeros(len(names)), np.ones(len(names)), notes)
    return Scaling(scale, center, np.where(varied, raw, 1.0), notes)


def decide(spreads: Floats, names: Sequence[str]) -> tuple[Scale, str]:
    """Decide on the scaling, and tell it in a sentence.

    The columns decide that together have a hundred times the squared spread of all
    others. Units are taken to differ where one column decides, or a quarter of them; or
    where columns spread, in the mean, four times as widely or narrowly as the one in
    the middle, since a unit in common makes no such differences.
    """
    n = len(spreads)
    if n < 2:
        return "none", "The numbers are used as they are."
    order = np.argsort(-spreads, kind="stable")
    with np.errstate(under="ignore"):
        shares = spreads[order] / spreads[order[0]]
    shares = np.maximum(shares, np.finfo(float).tiny)
    if shares[-1] * WIDE_RATIO >= 1 - 1e-9:  # but for rounding
        return "none", (
            "The numbers are used as they are: no column spreads more than "
            f"{WIDE_RATIO:g} times as widely as another."
        )
    n_wide = count_deciding(shares)
    ratios = np.abs(np.log(shares) - np.median(np.log(shares)))
    if n_wide > max(1, FEW * n) and ratios.mean() <= np.log(MEAN_RATIO) + 1e-9:
        return "none", (
            f"The numbers are used as they are: {shown(names[order[0]])} spreads "
            f"{times(shares[-1])} times as widely as {shown(names[order[-1]])}, but "
            f"{n_wide:,} of {n:,} columns count (scale='robust' if their units differ)."
        )
    middle = (n_wide + n) // 2  # of the others
    wide = listed((shown(names[j]) for j in order[:n_wide]), n_wide, most=3)
    first, other = shown(names[order[0]]), shown(names[order[middle]])
    ratio = f"spreads {times(shares[middle])} times as widely as {other}"
    told = (
        f"{first} {ratio} and would decide alone"
        if n_wide == 1
        else f"{wide} would decide alone, as {first} {ratio}"
    )
    return "robust", (
        f"Columns are scaled, by median and middle nine tenths: {told} (scale='none' "
        "to leave them as they are)."
    )


def count_deciding(shares: Floats) -> int:
    """Return how many of the widest columns leave the others hardly any weight.

    That is a hundredth of the squares, as of two columns one of which spreads ten times
    as widely as the other. The shares fall.
    """
    squares = np.square(shares)
    others = np.append(np.cumsum(squares[::-1])[-2::-1], 0.0)
    hardly = others * WIDE_RATIO**2 < np.cumsum(squares) * (1 - 1e-9)
    return int(hardly.argmax()) + 1


def times(share: float) -> str:
    """Write how many times as wide the whole is as a share of it."""
    ratio = 1 / float(share)
    return f"{ratio:,.0f}" if ratio < 1e6 else f"{ratio:.0e}"


def densest_spread(column: Values) -> float:
    """Return how wide the densest fifth of a column is, or zero where that is one."""
    thinned = column.thinned(stride_of(len(column.values)))
    return thinned.narrowest(DENSEST) / DEVIATIONS_OF_DENSEST


def stride_of(n_rows: int) -> int:
    """Return which of so many rows are judged: the first, and every so many-th."""
    return -(-n_rows // MOST_JUDGED)


def robust_spread(column: Values, center: float) -> float:
    """Return the width of the middle nine tenths of a column, in standard deviations.

    It is at most five times the median absolute deviation, which many outliers do not
    move, but which is no spread to scale by: of a column with two peaks, which tells
    clusters apart, it is half the way between them. Where there is no middle, since
    nearly all numbers are the same or there are but two, a jump from one to the other
    counts as one between quartiles: the rarer it is the smaller the standard deviation,
    and a rare jump should not count for more than a frequent one.
    """
    least, most = column.values.min(), column.values.max()
    if ((column.values == least) | (column.values == most)).all():
        return float(DEVIATIONS_PER_IQR * (most - least))
    away = Values(np.abs(column.values - center), column.weights)
    low, high = column.quantiles(MIDDLE)
    if low == high:
        return DEVIATIONS_PER_IQR * away.where(away.values > 0).median()
    return spread_of_middle(
        low, high, away.median() or away.where(away.values > 0).median()
    )


def spread_of_middle(low: float, high: float, usual: float) -> float:
    """Return the spread of a column, given its middle and the usual distance to it."""
    return min(
        DEVIATIONS_PER_MIDDLE * (high - low), MOST_MADS * DEVIATIONS_PER_MAD * usual
    )


class Values(NamedTuple):
    """Numbers, each of which counts as often as its weight says."""

    values: Floats
    weights: Floats | None

    @classmethod
    def of(cls, values: Floats, weights: Floats | None) -> Values:
        """Return the numbers that count at all."""
        if weights is None:
            return cls(values, None)
        return cls(values, weights).where(weights > 0)

    def where(self, chosen: NDArray[np.bool_]) -> Values:
        """Return some of the numbers."""
        weights = None if self.weights is None else self.weights[chosen]
        return Values(self.values[chosen], weights)

    def thinned(self, stride: int) -> Values:
        """Return every so many-th number."""
        weights = None if self.weights is None else self.weights[::stride]
        return Values(self.values[::stride], weights)

    def mean(self) -> float:
        """Return the mean, without weights exact but for one rounding."""
        if self.weights is None:
            return ExactSum.of(self.values).mean()
        return float(np.average(self.values, weights=self.weights))

    def deviation(self) -> float:
        """Return the standard deviation."""
        if self.weights is None:
            squares = np.square(self.values - self.mean())
            return float(np.sqrt(ExactSum.of(squares).mean()))
        squares = np.square(self.values - self.mean())
        return float(np.sqrt(np.average(squares, weights=self.weights)))

    def median(self) -> float:
        """Return the median."""
        values, ends = self._in_order()
        middle = [
            np.searchsorted(ends, ends[-1] / 2, side) for side in ("left", "right")
        ]
        # both zeros are one number
        return float(values[np.minimum(middle, len(values) - 1)].mean()) + 0.0

    def quantiles(self, shares: tuple[float, ...]) -> list[float]:
        """Return the numbers below which the shares of all lie."""
        values, ends = self._in_order()
        places = np.array(shares) * max(ends[-1] - 1, 0.0)
        below, above = (at(values, ends, f(places)) for f in (np.floor, np.ceil))
        return (below + (above - below) * (places % 1) + 0.0).tolist()

    def narrowest(self, share: float) -> float:
        """Return the width of the narrowest interval that holds the share."""
        values, ends = self._in_order()
        n_inside = np.floor(share * ends[-1])
        first_of_each = np.append(0.0, ends[:-1])
        starts = first_of_each + n_inside <= ends[-1] - 1
        if not starts.any():
            return 0.0
        far = at(values, ends, first_of_each[starts] + n_inside)
        return float((far - values[starts]).min())

    def _in_order(self) -> tuple[Floats, Floats]:
        """Return the numbers in order, and how many there are up to each."""
        if self.weights is None:
            return np.sort(self.values), np.arange(1.0, len(self.values) + 1)
        order = np.argsort(self.values, kind="stable")
        return self.values[order], np.cumsum(self.weights[order])


def at(values: Floats, ends: Floats, places: Floats) -> Floats:
    """Return the numbers at places from 0 in the order of all repetitions."""
    found = np.searchsorted(ends, places, side="right")
    return values[np.minimum(found, len(values) - 1)]


def check_finite(
    center: NDArray[np.float64], spread: NDArray[np.float64], names: Sequence[str]
) -> None:
    """Refuse numbers so large that their spread is none."""
    for j in np.flatnonzero(~np.isfinite(center + spread)).tolist():
        raise InputError(
            f"column {shown(names[j])} holds numbers too large to compute with; divide "
            "it by a power of ten, or leave it out with drop=."
        )


def note_on_constants(names: Sequence[str], varied: NDArray[np.bool_]) -> list[str]:
    """Name the columns that are the same in every row."""
    constant = [shown(names[j]) for j in np.flatnonzero(~varied).tolist()]
    if not constant:
        return []
    return [f"The same in every row: {listed(constant, len(constant))}."]


def sparse_spreads(
    X: sparse.csr_array, method: Scale, weights: Floats | None
) -> tuple[float, ...]:
    """Return what to divide the columns of a CSR matrix by."""
    n_columns = X.shape[1]
    if method == "none":
        return (1.0,) * n_columns
    if method == "robust":
        raise InputError(
            "scale='robust' needs medians of every column, most of which are 0 in a "
            "CSR matrix; choose scale='standard' or scale='none', or pass it dense."
        )
    low, high = (end.ravel() for end in min_max_axis(X, 0))
    _, variances = mean_variance_axis(X, 0, weights=weights)
    # rounding may leave equal numbers a spread
    varied = (low < high) & (variances > 0)
    return tuple(np.where(varied, np.sqrt(variances), 1.0).tolist())
