"""A large number in one place changes nothing in the others."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from promises import HAS_AN_ORIGIN
from scipy import sparse
from sklearn.base import clone

from rtkm import ISP, ODC, RTKM, FuzzyCMeans, TrimmedKMeans
from rtkm.core.validation import make_table


def five_blobs(seed, n_outliers=0):
    """Draw 1000 rows around five places, and some anywhere."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(-30, 30, size=(5, 2))
    rows = places[np.arange(1000) % 5] + rng.normal(size=(1000, 2))
    return np.r_[rows, rng.uniform(-120, 120, size=(n_outliers, 2))]


def beside(X, column):
    return np.c_[X, np.broadcast_to(column, len(X))].astype(X.dtype)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("seed", range(5))
def test_a_large_constant_column_leaves_swaps_and_predict_alone(seed, form):
    X = five_blobs(seed, n_outliers=100)
    model = RTKM(5, contamination=100, random_state=seed)
    plain = clone(model).fit(X)
    wide = form(beside(X, 1.7e18))
    model.fit(wide)
    assert_allclose(model.objective_, plain.objective_, rtol=1e-9)
    assert_array_equal(model.labels_, plain.labels_)
    assert_array_equal(model.predict(wide), plain.predict(X))
    assert (model.predict(wide) == -1).sum() == 100


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("value", [1.7e18, -1e60])
def test_a_large_constant_column_leaves_fixed_steps_alone(value, form):
    X = five_blobs(3, n_outliers=20)
    model = RTKM(5, contamination=20, step=50.0, random_state=0)
    plain = clone(model).fit(X)
    model.fit(form(beside(X, value)))
    assert_array_equal(model.cluster_centers_[:, 2], value)
    assert_allclose(model.objective_, plain.objective_, rtol=1e-9)
    assert_array_equal(model.labels_, plain.labels_)


def test_the_best_start_is_kept_beside_a_large_constant_column(clusterer):
    if issubclass(clusterer, (*HAS_AN_ORIGIN, ISP)):
        return  # its answer is another one there, or its least squares lose digits
    X = five_blobs(0, n_outliers=20)[::3]
    model = clusterer(5, init="random", n_init=10, random_state=0)
    if "n_swaps" in model.get_params():
        model.set_params(n_swaps=0)
    plain = clone(model).fit(X)
    model.fit(beside(X, 1.7e18))
    assert_allclose(model.objective_, plain.objective_, rtol=1e-9)
    assert_array_equal(model.labels_, plain.labels_)


@pytest.mark.filterwarnings("ignore::rtkm.ScaleWarning")
@pytest.mark.parametrize("years", [2025, 2021 + np.arange(1100) % 5])
@pytest.mark.parametrize("seed", range(5))
def test_years_beside_small_features_in_single_precision(seed, years):
    X = (five_blobs(seed, n_outliers=100) / 1e4).astype(np.float32)
    X[:, 0] += years % 5 if np.ndim(years) else 0  # each blob has its year
    model = RTKM(5, contamination=100, random_state=seed)
    plain = clone(model).fit(X)
    model.fit(beside(X, years))
    if np.ndim(years) == 0:
        assert_array_equal(model.labels_, plain.labels_)
    best = min(
        RTKM(5, contamination=100, random_state=s).fit(beside(X, years)).objective_
        for s in range(5)
    )
    assert_allclose(model.objective_, best, rtol=1e-5)
    assert (model.predict(beside(X, years)) == -1).sum() == 100


@pytest.mark.parametrize(
    ("dtype", "fill"), [(np.float64, 1e20), (np.float64, -999e15), (np.float32, 1e7)]
)
@pytest.mark.parametrize("cls", [RTKM, TrimmedKMeans])
def test_swaps_leave_a_fill_value(cls, dtype, fill):
    for seed in range(20):
        X, rng = five_blobs(seed).astype(dtype), np.random.default_rng(seed)
        filled = rng.choice(len(X), 50, replace=False)
        clean = np.delete(X, filled, axis=0)
        X[filled, rng.integers(2)] = fill
        model = cls(5, contamination=0.05, random_state=seed).fit(X)
        assert_array_equal(np.flatnonzero(model.labels_ == -1), np.sort(filled))
        best = cls(5, contamination=0, random_state=seed).fit(clean)
        assert_allclose(model.objective_, best.objective_, rtol=1e-5)


def test_outliers_are_found_where_a_fill_value_has_a_center():
    X = five_blobs(1, n_outliers=30)
    plain = ODC(5, n_init=5, random_state=0).fit(X)
    assert plain.n_outliers_ > 0
    filled = np.r_[X, np.full((50, 2), 1e20)]
    init = np.r_[plain.cluster_centers_, [[1e20, 1e20]]]
    model = ODC(6, init=init).fit(filled)
    assert model.n_outliers_ > 0
    assert not model.outlier_mask_[-50:].any()


def test_memberships_do_not_move_a_center_in_a_constant_column():
    X = five_blobs(0)
    model = FuzzyCMeans(5, random_state=0).fit(beside(X, 1.7e18))
    assert_array_equal(model.cluster_centers_[:, 2], 1.7e18)
    plain = FuzzyCMeans(5, random_state=0).fit(X)
    assert_allclose(model.objective_, plain.objective_, rtol=1e-9)


# What may still count as rounding


def test_rounding_is_charged_to_columns_that_vary_and_never_beyond_the_cost():
    # the mean of 0.1 and 0.3, 1e16 away, is off by up to 1, their own distance
    X = np.array([[0.1, 7e20], [0.3, 7e20], [9.0, 7e20]])
    table = make_table(X)
    state = table.concentrate(np.array([[0.2, 7e20], [9.0, 7e20]]), 1, 3)
    assert state.objective == pytest.approx(0.02)
    assert 0 <= table.rounding_cost(state) < 1e-28
    assert table.goal_below(state) == pytest.approx(0.02, rel=1e-8)
    far = make_table(np.array([[2.0**53], [2.0**53 + 2], [2.0**53 + 4]]))
    state = far.concentrate(np.array([[2.0**53 + 2]]), 1, 3)
    assert far.rounding_cost(state) == state.objective == 8
    assert far.goal_below(state) <= 0


def test_a_center_far_out_does_not_say_what_is_close_at_the_others():
    # every row sits on its center, those trimmed too; so does the fill value
    X = np.repeat([[0.25], [0.75], [1e20]], [10, 10, 3], axis=0)
    model = RTKM(3, contamination=2, init=X[[0, 10, 20]]).fit(X)
    new = np.array([[0.25], [0.75], [1e20], [0.3], [70.0]])
    assert_array_equal(model.predict(new), [0, 1, 2, -1, -1])


def test_rows_on_their_centers_are_inliers_beside_a_large_constant_column():
    X = beside(np.repeat([[0.25], [0.75]], 5, axis=0), 1.7e18)
    model = RTKM(2, contamination=1, init=X[[0, 5]]).fit(X)
    nearly = np.nextafter(X, [np.inf, 0.0], where=[True, False], out=X.copy())
    assert_array_equal(model.predict(nearly), [0] * 5 + [1] * 5)
    assert_array_equal(model.predict(np.add(X, [0.01, 0.0])), [-1] * 10)
