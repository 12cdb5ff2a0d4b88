"""Axes take all numbers, show most rows well, and say round numbers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from rtkm.report.axes import TAIL, Axis
from rtkm.report.extents import FARTHEST, axis_of, bins_of, extent_of

FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@given(FLOATS, FLOATS)
def test_axes_take_all_numbers(one, other):
    axis = Axis(min(one, other), max(one, other), 10, 20)
    assert 10 <= axis.at(one) <= 20
    ticks = axis.round_numbers()
    assert 1 <= len(ticks) <= 6
    assert all(9.9 < axis.at(tick) < 20.1 for tick in ticks)


def test_ticks_are_round():
    assert Axis(-167.1, 148.2, 0, 1).round_numbers(4) == [-100, 0, 100]


def test_a_bent_axis_by_hand():
    # plain from -1 to 1, which takes 2 of 2 + 2 TAIL; e is halfway to e^2
    axis = Axis(-(np.e**2), np.e**2, 0.0, 2 + 2 * TAIL, plain=(-1, 1))
    assert axis.bends == pytest.approx([TAIL, 2 + TAIL])
    for value, place in ((0, 1 + TAIL), (0.5, 1.5 + TAIL), (np.e, 2 + 1.5 * TAIL)):
        assert axis.at(value) == pytest.approx(place)
        assert axis.value_at(place / axis.end) == pytest.approx(value)
    assert axis.at(1e9) == axis.end


def test_numbers_at_the_ends_do_not_run_into_others():
    axis = Axis(0.02, 328.5, 34.0, 312.0, plain=(0.02, 35.54))
    texts = [tick.text for tick in axis.ticks(4)]
    assert texts[-1] == "100"
    far = Axis(0.02, 900.0, 34.0, 312.0, plain=(0.02, 35.54))
    places = [tick.at for tick in far.ticks(4)]
    assert all(b - a >= 40 for a, b in pairwise(places))


def test_a_short_tail_is_not_drawn_longer_than_it_is():
    axis = Axis(0.0, 11.0, 0.0, 1.0, plain=(0.0, 10.0))
    width = axis.at(11.0) - axis.at(10.0)
    assert width < (axis.at(10.0) - axis.at(9.0)) * 1.001


@given(st.lists(FLOATS, min_size=1, max_size=60))
@example([4.842447584238606e16, 6.0092535158415624e16, 8.342865379047475e16])
@example([0.0, 1.0, 8.98846567431158e307])
@example([1.5762598695796728e16, -6755399441055750.0, -1.8014398509481988e16])
def test_every_table_has_an_axis_and_bins(values):
    values = np.array(values)
    axis = axis_of(extent_of(values), 0.0, 100.0)
    places = [axis.at(value) for value in np.sort(values).tolist()]
    assert all(0 <= place <= 100 for place in places)
    assert places == sorted(places)
    assert 1 <= len(axis.ticks(6)) <= 20
    extent, edges = bins_of(values)
    assert np.all(np.diff(edges / 2) > 0)
    inside = (values >= extent["low"]) & (values <= extent["high"])
    assert np.histogram(values, edges)[0].sum() == inside.sum()


def test_one_row_far_out_bends_the_axis_and_few_do_not_leave_it():
    values = np.r_[np.random.default_rng(0).normal(size=300), 50.0, 1e6]
    extent = extent_of(values)
    assert extent["plain_low"] == extent["low"] == values.min()
    assert 2 < extent["plain_high"] < 5
    assert 50 < extent["high"] < 1e6  # the last is drawn at the edge
    reach = extent["plain_high"] - extent["plain_low"]
    assert extent["high"] == pytest.approx(reach / 2 * FARTHEST, rel=1e-2)
    axis = axis_of(extent, 0, 100)
    assert np.ptp([axis.at(value) for value in values[:300]]) > 60
    assert 70 < axis.at(50.0) < 95


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(0).normal(size=100_000),
        np.repeat([1.0, 10.0], [880, 120]),  # the others are no accidents
        # the giants of the cluster CYG OB1 do not flatten the other stars
        np.r_[np.linspace(4.26, 4.62, 41), 3.84, 4.01, [3.49, 3.49, 3.5, 3.45]],
        np.array([2.0, 2.0]),
        np.array([0.0, 1e6]),
    ],
)
def test_axes_are_plain_where_that_flattens_nothing(values):
    extent = extent_of(values)
    assert (extent["low"], extent["high"]) == (values.min(), values.max())
    assert axis_of(extent, 0, 1).plain is None


def test_an_axis_of_counts_that_are_mostly_nothing_bends_at_the_others():
    values = np.r_[np.zeros(1000), np.arange(1, 20), 1e5]
    extent = extent_of(values)
    assert extent["plain_low"] == 0
    assert extent["plain_high"] == 19


@pytest.mark.parametrize(
    ("values", "edges"),
    [
        ([1, 2, 3, 2], [0.5, 1.5, 2.5, 3.5]),
        ([4, 4, 4], [3.5, 4.5]),
        ([], [0, 1]),
    ],
)
def test_few_whole_numbers_have_bins_around_them(values, edges):
    found = bins_of(np.array(values, dtype=float))[1]
    assert [found[0], found[-1]] == [edges[0], edges[-1]]
    if values:
        assert found.tolist() == edges


def test_no_bin_lies_between_two_whole_numbers_where_outliers_are_far():
    values = np.r_[np.tile(np.arange(6.0), 30), 500.0]
    extent, edges = bins_of(values)
    assert extent["plain_high"] == 5
    assert {0.5, 1.5, 2.5, 3.5, 4.5} <= set(edges.tolist())
    assert np.histogram(values, edges)[0][:5].tolist() == [30] * 5


@pytest.mark.parametrize("value", [0.25, 1e300, -1e-300])
def test_equal_values_have_bins_too(value):
    edges = bins_of(np.full(5, value))[1]
    assert (np.diff(edges) > 0).all()
    assert np.histogram(np.full(5, value), edges)[0].sum() == 5


def test_bins_are_drawn_equally_wide():
    values = np.random.default_rng(0).standard_t(1, size=2000)
    extent, edges = bins_of(values)
    axis = axis_of(extent, 0, 30)
    assert axis.plain is not None
    np.testing.assert_allclose([axis.at(edge) for edge in edges], range(31), atol=1e-6)
