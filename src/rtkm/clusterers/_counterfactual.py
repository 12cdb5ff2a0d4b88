"""Counterfactuals: the smallest change of one feature that makes an outlier an inlier.

While only feature f of a row moves, its squared distance to center j is ::

    D_j(t) = others[j, f] + (t - c_jf)^2

with t the feature's value and `others` what all the other features add up to. A row is
an inlier if the sum of its s smallest distances is within a cut-off, so the values t
that make it one are intervals in which some set of centers stays the nearest. All of
these are found; the one closest to the row's own value is the answer. Few of all sets
are the nearest anywhere: of k centers about k, not k (k - 1) / 2, for s = 2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Numbers = NDArray[np.intp]
Inliers = Callable[[Floats], NDArray[np.bool_]]


class Ranges(NamedTuple):
    """Values of one feature, from `low` to `high`, that would make a row an inlier."""

    row: Numbers
    feature: Numbers
    low: Floats
    high: Floats

    def only(self, some: Any) -> Ranges:
        """Return some of them."""
        return Ranges(*(field[some] for field in self))


class Changes(NamedTuple):
    """One change a row: the feature, -1 where none suffices, and its new value."""

    feature: Numbers
    value: Floats


def smallest_changes(
    rows: Floats,
    C: Floats,
    cutoffs: Floats,
    n_memberships: int,
    are_inliers: Inliers,
    dtype: Any,
    may_change: NDArray[np.bool_],
) -> Changes:
    """Return the smallest change of each row that `are_inliers` agrees with.

    `cutoffs` has, for each center, the largest squared distance of an inlier; for
    several memberships all are the same. New values are numbers of the `dtype`, of
    features that `may_change`.
    """
    others = sums_of_others(np.square(rows[:, None] - C))
    if n_memberships == 1:
        ranges = ranges_of_centers(others, C, cutoffs)
    else:
        ranges = ranges_of_sets(others, C, cutoffs[0], n_memberships)
    ranges = ranges.only(may_change[ranges.feature])
    return first_that_holds(rows, ranges, are_inliers, dtype)


def sums_of_others(values: Floats) -> Floats:
    """Return, for each value, the sum of the others along the last axis.

    Subtracting it from the sum of all would lose the digits of those beside a large
    one, and outliers are large.
    """
    before, after = np.zeros_like(values), np.zeros_like(values)
    np.cumsum(values[..., :-1], axis=-1, out=before[..., 1:])
    np.cumsum(values[..., :0:-1], axis=-1, out=after[..., -2::-1])
    return before + after


def ranges_of_centers(others: Floats, C: Floats, cutoffs: Floats) -> Ranges:
    """Return where a center is the nearest one, and the row within its cut-off."""
    slack = cutoffs[:, None] - others
    row, center, feature = np.nonzero(slack >= 0)
    own, c = others[row, center, feature], C[center, feature]
    reach = np.sqrt(slack[row, center, feature])
    low, high = c - reach, c + reach
    for rival in range(len(C)):
        its, gap = others[row, rival, feature], C[rival, feature] - c
        edge = equidistant(own, c, its, C[rival, feature])
        high = np.where(gap > 0, np.minimum(high, edge), high)
        low = np.where(gap < 0, np.maximum(low, edge), low)
        # ties go to the lowest number
        is_hopeless = (gap == 0) & np.where(rival < center, its <= own, its < own)
        low = np.where(is_hopeless, np.inf, low)
    return Ranges(row, feature, low, high).only(low <= high)


def equidistant(own: Floats, c: Floats, others: Floats, rival: Floats) -> Floats:
    """Return the value at which a center and a rival are equally near, if any."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return (others - own) / (2 * (rival - c)) + (rival + c) / 2


def ranges_of_sets(others: Floats, C: Floats, cutoff: float, size: int) -> Ranges:
    """Return where a set of so many nearest centers is within the cut-off together."""
    row, feature = np.nonzero((others <= cutoff).sum(axis=1) >= size)
    own = others[row, :, feature]
    # a center beyond the cut-off on its own is in no set
    n_near = int((own <= cutoff).sum(axis=1).max(initial=size))
    near = np.argsort(own, axis=1, kind="stable")[:, :n_near]
    own, c = np.take_along_axis(own, near, axis=1), C[near, feature[:, None]]
    sets = all_nearest_sets(own, c, cutoff, size)
    slack = cutoff / size - sets.own
    reach = np.sqrt(np.maximum(slack, 0.0))
    ranges = Ranges(row[sets.line], feature[sets.line], sets.c - reach, sets.c + reach)
    return ranges.only(slack >= 0)


class Sets(NamedTuple):
    """Sets of centers, each on the line that a row moves along in one feature.

    On average over a set, the squared distances are ``own + (t - c)^2``, as they are of
    a single center: `c` is the mean of the centers, and `own` has their spread in it.
    """

    line: Numbers
    own: Floats
    c: Floats

    def only(self, some: Any) -> Sets:
        """Return some of them."""
        return Sets(*(field[some] for field in self))


def all_nearest_sets(own: Floats, c: Floats, cutoff: float, size: int) -> Sets:
    """Return the sets that are the nearest somewhere within the cut-off.

    Less t^2, the distances of sets are straight lines in t, and the least of them is
    concave. So if any set comes between two others, then one that is nearer than both
    does so where these two are equally near.
    """
    line = np.arange(len(own))
    reach = np.sqrt(np.maximum(cutoff - own, 0.0))
    left = nearest_sets(line, (c - reach).min(axis=1), own, c, size)
    right = nearest_sets(line, (c + reach).max(axis=1), own, c, size)
    found = [left, right]
    while len(left.line):
        is_apart = left.c < right.c
        left, right = left.only(is_apart), right.only(is_apart)
        t = equidistant(left.own, left.c, right.own, right.c)
        between = nearest_sets(left.line, t, own, c, size)
        # what is nearer lies between them, too, but for rounding
        is_new = (left.c < between.c) & (between.c < right.c)
        is_new &= distances(between, t) < distances(left, t)
        left, between, right = (sets.only(is_new) for sets in (left, between, right))
        found.append(between)
        left, right = joined(left, between), joined(between, right)
    return joined(*found)


def nearest_sets(line: Numbers, t: Floats, own: Floats, c: Floats, size: int) -> Sets:
    """Return the set of nearest centers at one value on each line."""
    own, c = own[line], c[line]
    nearest = np.argpartition(own + np.square(t[:, None] - c), size - 1, axis=1)
    nearest = nearest[:, :size]
    spots = np.take_along_axis(c, nearest, axis=1)
    middle = spots.mean(axis=1)
    spread = np.square(spots - middle[:, None])
    parts = np.take_along_axis(own, nearest, axis=1)
    return Sets(line, (parts + spread).mean(axis=1), middle)


def distances(sets: Sets, t: Floats) -> Floats:
    """Return the mean squared distance of each set at a value."""
    return sets.own + np.square(t - sets.c)


def joined(*sets: Sets) -> Sets:
    """Return all of them."""
    return Sets(*map(np.concatenate, zip(*sets, strict=True)))


def first_that_holds(
    rows: Floats, ranges: Ranges, are_inliers: Inliers, dtype: Any
) -> Changes:
    """Try the ranges of every row, the closest first, until one holds."""
    values = rows[ranges.row, ranges.feature]
    change = np.abs(np.clip(values, ranges.low, ranges.high) - values)
    ranges = ranges.only(np.lexsort((ranges.feature, change, ranges.row)))
    found = Changes(np.full(len(rows), -1), np.full(len(rows), np.nan))
    while len(ranges.row):
        _, first = np.unique(ranges.row, return_index=True)
        tried = ranges.only(first)
        value = closest_inside(rows, tried, are_inliers, dtype)
        holds = ~np.isnan(value)
        found.feature[tried.row[holds]] = tried.feature[holds]
        found.value[tried.row[holds]] = value[holds]
        is_left = found.feature[ranges.row] < 0
        is_left[first] = False
        ranges = ranges.only(is_left)
    return found


def closest_inside(
    rows: Floats, ranges: Ranges, are_inliers: Inliers, dtype: Any
) -> Floats:
    """Return the value in each range next to the row's own; NaN where none holds.

    By rounding, the end of a range may lie outside. From there on it goes toward the
    middle in growing steps.
    """
    own = rows[ranges.row, ranges.feature]
    end = np.clip(own, ranges.low, ranges.high)
    # a range without end has no middle: look as far as the row is from it and from 0
    far = np.abs(end - own) + np.abs(own)
    low = np.where(np.isinf(ranges.low), end - far, ranges.low)
    high = np.where(np.isinf(ranges.high), end + far, ranges.high)
    way = low + (high - low) / 2 - end
    found = np.full(len(own), np.nan)
    left = np.arange(len(own))
    eps = float(np.finfo(dtype).eps)
    for share in [0.0, *np.geomspace(eps, 1.0, 27)]:
        value = (end[left] + share * way[left]).astype(dtype).astype(np.float64)
        changed = rows[ranges.row[left]]
        changed[np.arange(len(left)), ranges.feature[left]] = value
        holds = are_inliers(changed)
        found[left[holds]] = value[holds]
        left = left[~holds]
        if not len(left):
            break
    return found
