"""The smallest change of one feature is found among all there are."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from rtkm.clusterers._counterfactual import (
    all_nearest_sets,
    smallest_changes,
    sums_of_others,
)


def distances(rows, C):
    return np.square(rows[:, None] - C).sum(axis=2)


def inliers_by(C, cutoffs, s=1):
    """The rule: the s nearest centers together within the cut-off of the nearest."""

    def are_inliers(rows):
        D = distances(rows, C)
        cost = np.sort(D, axis=1)[:, :s].sum(axis=1)
        return cost <= cutoffs[D.argmin(axis=1)]

    return are_inliers


def find(rows, C, cutoffs, s=1, dtype=np.float64):
    rows, C = np.array(rows, dtype=float), np.array(C, dtype=float)
    cutoffs = np.broadcast_to(np.asarray(cutoffs, dtype=float), len(C))
    rule = inliers_by(C, cutoffs, s)
    assert not rule(rows).any()  # all are outliers
    may_change = np.ones(rows.shape[1], dtype=bool)
    return smallest_changes(rows, C, cutoffs, s, rule, np.dtype(dtype), may_change)


def changed(rows, found):
    """The rows that can be mended, mended."""
    at = np.flatnonzero(found.feature >= 0)
    rows = rows[at].copy()
    rows[np.arange(len(at)), found.feature[at]] = found.value[at]
    return rows


def change_by_sets(row, C, cutoff, s):
    """The smallest change by feature: roots of the cost of every set of s centers."""
    best = np.full(len(row), np.inf)
    for f, chosen in itertools.product(
        range(len(row)), itertools.combinations(range(len(C)), s)
    ):
        spots, others = C[list(chosen), f], np.delete(C[list(chosen)] - row, f, axis=1)
        square, linear = s, -2 * spots.sum()
        constant = np.square(spots).sum() + np.square(others).sum() - cutoff
        discriminant = linear**2 - 4 * square * constant
        if discriminant >= 0:
            roots = (-linear + np.array([-1, 1]) * np.sqrt(discriminant)) / (2 * square)
            best[f] = min(best[f], np.abs(roots - row[f]).min())
    return best


# By hand


def test_a_row_above_a_center_comes_down_to_the_ball():
    # centers (0, 1) and (9, 1), row (3, 8): 9 + (t - 1)^2 <= 29.5 up to 1 + sqrt 20.5;
    # the other way the 49 of the second feature are too much alone
    found = find([[3, 8]], [[0, 1], [9, 1]], 29.5)
    assert_array_equal(found.feature, [1])
    assert_allclose(found.value, [1 + np.sqrt(20.5)], rtol=1e-14)


def test_the_nearest_center_need_not_be_the_one_to_go_to():
    # (8, 2) is nearer to (5, 4.9), but off by more than 1 in both features
    found = find([[5, 4.9]], [[0, 5], [8, 2]], 1.0)
    assert_array_equal(found.feature, [0])
    assert_allclose(found.value, [np.sqrt(1 - 0.01)], rtol=1e-12)


def test_a_row_off_in_two_features_cannot_be_mended():
    found = find([[3, 3], [3, 0.5]], [[0, 0]], 4.0)
    assert_array_equal(found.feature, [-1, 0])
    assert np.isnan(found.value[0])


def test_of_equal_changes_the_first_feature_is_changed():
    found = find([[2, 2]], [[0, 0]], 5.0)
    assert_array_equal(found.feature, [0])
    assert_allclose(found.value, [1.0], rtol=1e-14)


def test_a_rival_with_a_stricter_cutoff_is_gone_around():
    # a wide cluster at 0, up to 20 away, and a narrow one at 12, up to 1: what is
    # nearer to 12, from 6 on, is judged by that; 6 itself goes to the first cluster
    found = find([[8.0], [15.0], [11.9 - 1]], [[0.0], [12.0]], [400.0, 1.0])
    assert_allclose(found.value, [6.0, 13.0, 11.0], rtol=1e-14)


def test_a_cluster_without_cutoff_takes_all_that_is_nearest_to_it():
    # 6 itself goes to the first cluster, which ends at 1
    found = find([[5.0], [-9.0]], [[0.0], [12.0]], [1.0, np.inf])
    assert_allclose(found.value, [6.0, -1.0], rtol=1e-14)
    assert found.value[0] > 6.0


def test_of_two_equal_centers_the_first_has_the_say():
    found = find([[5.0, 0.0]], [[0, 0], [0, 0]], [1.0, 9.0])
    assert_allclose(found.value, [1.0], rtol=1e-14)


def test_nothing_but_the_center_will_do():
    C = np.array([[0.1, 0.2], [3.3, 0.2]])
    found = find([[1.7, 0.2], [0.1, 0.3], [0.2, 0.3]], C, 0.0)
    assert_array_equal(found.feature, [0, 1, -1])
    assert_array_equal(found.value[:2], [0.1, 0.2])


# Against all sets of centers


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("s", [1, 2, 3, 6])
def test_no_set_of_centers_is_overlooked(seed, s):
    rng = np.random.default_rng(seed)
    C = rng.normal(size=(6, 3))
    rows = rng.normal(size=(300, 3)) * [4, 2, 1]
    cutoff = np.quantile(np.sort(distances(rows, C))[:, :s].sum(axis=1), 0.4)
    rows = rows[~inliers_by(C, np.full(6, cutoff), s)(rows)]
    found = find(rows, C, cutoff, s)
    best = np.array([change_by_sets(row, C, cutoff, s) for row in rows])
    can_be_mended = np.isfinite(best).any(axis=1)
    assert 10 < can_be_mended.sum() < len(rows)
    assert_array_equal(found.feature >= 0, can_be_mended)
    best, feature = best[can_be_mended], found.feature[can_be_mended]
    assert_array_equal(feature, best.argmin(axis=1))
    change = np.abs(found.value[can_be_mended] - rows[can_be_mended, feature])
    assert_allclose(change, best.min(axis=1), rtol=1e-9)
    assert inliers_by(C, np.full(6, cutoff), s)(changed(rows, found)).all()


@pytest.mark.parametrize("s", [1, 2, 3, 9, 20])
@pytest.mark.parametrize("kind", ["cloud", "ties", "groups", "equal"])
def test_wherever_a_row_moves_its_nearest_set_is_known(kind, s):
    rng = np.random.default_rng(s)
    own, c = rng.uniform(0, 4, size=(30, 20)), rng.normal(size=(30, 20))
    if kind == "ties":
        own, c = np.round(own), np.round(c)
    if kind == "groups":  # far apart, each with sets of its own
        c += 1e6 * rng.integers(3, size=c.shape)
    if kind == "equal":
        c[:] = 0.25
    sets = all_nearest_sets(own, c, 4.0, s)
    for line in range(len(own)):
        some = sets.only(sets.line == line)
        t = c[line][:, None] + np.linspace(-1, 1, 41) * np.sqrt(4 - own[line])[:, None]
        t = t.reshape(-1, 1)
        true = np.sort(own[line] + np.square(t - c[line]), axis=1)[:, :s].mean(axis=1)
        known = (some.own + np.square(t - some.c)).min(axis=1)
        # c is rounded once more where it is a mean
        assert_allclose(known, true, rtol=1e-12, atol=1e-15 * np.abs(c).max())


def test_of_all_sets_only_the_nearest_are_kept():
    # 0, 1, ..., 9 on the line itself: {0, 1}, {1, 2}, ..., of 45 pairs
    c = np.arange(10.0)[None]
    sets = all_nearest_sets(np.zeros((1, 10)), c, 1.0, 2)
    assert_array_equal(np.sort(sets.c), np.arange(9) + 0.5)
    assert_allclose(sets.own, 0.25, rtol=1e-15)


@pytest.mark.parametrize("s", [1, 2, 3])
def test_centers_on_a_grid_with_all_their_ties_are_searched(s):
    C = np.array(list(itertools.product([0.0, 2.0], repeat=3)))
    rows = np.array(list(itertools.product([-3.0, 0.0, 1.0, 5.0], repeat=3)))
    cutoff = 1.5 + 4.0 * (s - 1)
    rows = rows[~inliers_by(C, np.full(8, cutoff), s)(rows)]
    found = find(rows, C, cutoff, s)
    best = np.array([change_by_sets(row, C, cutoff, s) for row in rows]).min(axis=1)
    assert_array_equal(found.feature >= 0, np.isfinite(best))
    assert 0 < np.isfinite(best).sum() < len(rows)
    change = np.abs(changed(rows, found) - rows[found.feature >= 0]).sum(axis=1)
    assert_allclose(change, best[np.isfinite(best)], rtol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_with_a_cutoff_for_each_center_no_value_is_overlooked(seed):
    rng = np.random.default_rng(seed)
    C, cutoffs = rng.normal(size=(5, 2)), rng.uniform(0.05, 1.0, size=5)
    rule = inliers_by(C, cutoffs)
    rows = 2 * rng.normal(size=(80, 2))
    rows = rows[~rule(rows)]
    found = find(rows, C, cutoffs)
    assert rule(changed(rows, found)).all()
    spread = np.linspace(-6, 6, 2001)
    for row, feature, value in zip(rows, *found, strict=True):
        change = np.inf if feature < 0 else abs(value - row[feature])
        for f in range(2):
            tried = np.tile(row, (len(spread), 1))
            tried[:, f] = row[f] + spread
            smaller = np.abs(spread) < change * (1 - 1e-9)
            assert not rule(tried[smaller]).any()


# Rounding


@pytest.mark.parametrize("shift", [0.0, 1e6, 1e9])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_far_from_the_origin_a_change_still_holds(shift, dtype):
    rng = np.random.default_rng(0)
    C = rng.normal(size=(4, 3)) + shift
    rows = (3 * rng.normal(size=(200, 3)) + shift).astype(dtype).astype(float)
    rule = inliers_by(C, np.full(4, 2.0))
    rows = rows[~rule(rows)]
    found = find(rows, C, 2.0, dtype=dtype)
    if dtype == np.float64:
        assert (found.feature >= 0).sum() > 30
    assert rule(changed(rows, found)).all()
    value = found.value[found.feature >= 0]
    assert_array_equal(value, value.astype(dtype))


def test_small_features_beside_a_large_one_keep_their_digits():
    # 0.2 + 0.5 of the others; beside 1e18 they would be lost
    values = np.array([[1e18, 0.2, 0.5]])
    assert_allclose(sums_of_others(values), [[0.7, 1e18, 1e18]], rtol=1e-15)
    found = find([[1e9, np.sqrt(0.2), np.sqrt(0.5)]], [[0, 0, 0]], 1.0)
    assert_allclose(found.value, [np.sqrt(0.3)], rtol=1e-12)


def test_one_feature_has_no_others():
    assert_array_equal(sums_of_others(np.array([[3.0], [4.0]])), [[0.0], [0.0]])


def test_where_a_change_fails_by_rounding_the_next_is_tried():
    # the rule calls nothing an inlier below 1: the first range, up to 0.5, fails
    rows, C = np.array([[0.9, 0.0]]), np.array([[0.0, 0.0], [5.0, 0.0]])
    found = smallest_changes(
        rows,
        C,
        np.full(2, 0.25),
        1,
        lambda rows: rows[:, 0] > 1,
        np.dtype(float),
        may_change=np.ones(2, dtype=bool),
    )
    assert_array_equal(found.feature, [0])
    assert_allclose(found.value, [4.5], rtol=1e-12)
