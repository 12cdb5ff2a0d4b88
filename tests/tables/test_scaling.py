"""Which tables are scaled, by what, and what is said of it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.metrics import adjusted_rand_score

from rtkm import RTKM
from rtkm.tables.scaling import decide, find_scaling


def scaling_of(X, scale="auto", weights=None, names=None):
    if names is None:
        names = [f"x{j}" for j in range(X.shape[1])]
    rows = X if weights is None else np.repeat(X, weights.astype(int), axis=0)
    return find_scaling(X, names, np.median(rows, axis=0), scale, weights)


def normals(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_tables_of_many_units_are_scaled(load):
    assert scaling_of(load().data).method == "robust"


def test_pixels_are_used_as_they_are_though_they_spread_differently():
    found = scaling_of(load_digits().data)
    assert found.method == "none"
    assert "49 of 61 columns count" in found.notes[-1]


@pytest.mark.parametrize("shape", [(100, 50), (200, 1000)])
def test_columns_of_one_unit_whose_spreads_are_log_normal_are_not_scaled(shape):
    X = normals(*shape) * np.exp(normals(shape[1], seed=1))
    assert np.ptp(np.log10(X.std(axis=0))) > 1
    assert scaling_of(X).method == "none"


@pytest.mark.parametrize("n_wide", [1, 3, 10, 20])
def test_wide_columns_beside_narrow_ones_are_scaled(n_wide):
    X = normals(100, 40)
    X[:, :n_wide] *= 1000
    assert scaling_of(X).method == "robust"


def test_one_narrow_column_of_many_does_not_make_units_differ():
    X = normals(100, 20)
    X[:, 0] *= 1e-3
    assert scaling_of(X).method == "none"


def test_units_of_all_orders_of_magnitude_are_scaled():
    X = normals(100, 13) * np.logspace(-3, 3, 13)
    assert scaling_of(X).method == "robust"


def test_a_unit_in_common_changes_nothing():
    X = normals(60, 8) * np.logspace(0, 2, 8)
    for factor in (1e-200, 7.3, 1e200):
        assert scaling_of(X * factor).notes == scaling_of(X).notes


def test_the_order_of_rows_and_columns_changes_nothing():
    X = normals(60, 8) * np.logspace(0, 3, 8)
    names = list("abcdefgh")
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(60), rng.permutation(8)
    moved = X[rows][:, columns]
    other = scaling_of(moved, names=[names[j] for j in columns])
    assert other.notes == scaling_of(X, names=names).notes
    assert_allclose(other.spread, scaling_of(X).spread[columns], rtol=1e-14)


@pytest.mark.parametrize("scale", ["auto", "robust"])
def test_a_row_of_weight_two_is_that_row_twice(scale):
    X = normals(70, 6) * np.logspace(0, 3, 6)
    X[:, 4] = np.round(normals(70, seed=2))
    X[:, 5] = normals(70, seed=3) > 1
    weights = np.random.default_rng(1).integers(0, 4, size=70).astype(float)
    by_weight = scaling_of(X, scale, weights)
    by_rows = scaling_of(np.repeat(X, weights.astype(int), axis=0), scale)
    assert by_weight.notes == by_rows.notes
    assert_allclose(by_weight.spread, by_rows.spread, rtol=1e-14)


def test_spreads_of_normal_columns_are_standard_deviations():
    X = normals(20_000, 3) * [1, 10, 100]
    assert_allclose(scaling_of(X, "robust").spread, [1, 10, 100], rtol=0.03)


def test_a_column_with_two_peaks_tells_clusters_apart_once_scaled():
    # half of the way between the peaks is their median absolute deviation: in units of
    # it the column varies less than each of the others
    X, labels = normals(400, 11), np.repeat([0, 1], 200)
    X[:, 0] += 8 * labels
    X *= np.logspace(0, 3, 11)
    found = scaling_of(X)
    assert found.method == "robust"
    model = RTKM(2, contamination=0.05, random_state=0)
    model.fit((X - found.center) / found.spread)
    inliers = model.labels_ >= 0
    assert adjusted_rand_score(labels[inliers], model.labels_[inliers]) > 0.95


def test_many_outliers_move_a_spread_by_a_bounded_factor():
    X = normals(500, 2)
    X[:100, 0] = 1e9
    spread = scaling_of(X, "robust").spread
    assert 1 < spread[0] / spread[1] < 10


def test_columns_that_decide_are_named_beside_a_usual_one():
    scale, note = decide(np.array([9.0, 2, 1e5, 1, 3, 5, 2e5, 1, 1]), list("abcdefghi"))
    assert scale == "robust"
    assert note == (
        "Columns are scaled, by median and middle nine tenths: 'g', 'c' would decide "
        "alone, as 'g' spreads 100,000 times as widely as 'b' (scale='none' to leave "
        "them as they are)."
    )


def test_columns_left_as_they_are_though_they_differ_are_named():
    scale, note = decide(np.array([40.0, 20, 2]), ["width", "height", "depth"])
    assert scale == "none"
    assert note == (
        "The numbers are used as they are: 'width' spreads 20 times as widely as "
        "'depth', but 2 of 3 columns count (scale='robust' if their units differ)."
    )


def test_spreads_at_both_ends_of_the_numbers_there_are():
    scale, note = decide(np.array([1e300, 5e-324]), ["wide", "narrow"])
    assert scale == "robust"
    assert "e+307 times as widely" in note
