"""CBOD: the worked example, the radius, and rows that end nearer to another cluster."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import pdist

from rtkm import CBOD
from rtkm.datasets import make_outlier_blobs
from rtkm.detectors import _spread

X = reference.column(0, 1, 2, 10, 11, 30)
# mean 9; squared deviations 81 + 64 + 49 + 1 + 4 + 441 = 640 over 6 rows
STD = np.sqrt(640 / 6)


def test_the_worked_example():
    # r = 3: {0, 1, 2}, {10, 11}, {30} with centers 1, 10.5, 30, which are 9.5, 29 and
    # 19.5 apart: OF = 2/6 9.5 + 1/6 29 = 8, 3/6 9.5 + 1/6 19.5 = 8,
    # 3/6 29 + 2/6 19.5 = 21, all of it in the units of X; 30 alone is 1/6 >= 0.1
    model = CBOD(radius=3 / STD).fit(X)
    assert_array_equal(model.cluster_labels_, [0, 0, 0, 1, 1, 2])
    assert_array_equal(model.cluster_sizes_, [3, 2, 1])
    assert_allclose(model.cluster_centers_, [[1], [10.5], [30]])
    assert_allclose(model.cluster_factors_ * STD, [8, 8, 21])
    assert_array_equal(model.outlier_clusters_, [False, False, True])
    assert_array_equal(model.outlier_mask_, [False] * 5 + [True])
    assert_allclose(model.outlier_scores_ * STD, [8, 8, 8, 8, 8, 21])
    assert_allclose(model.offset_ * STD, -(8 + 21) / 2)
    assert model.n_clusters_ == 3
    assert model.radius_ == 3 / STD


def test_new_rows_join_the_nearest_cluster_within_the_radius_or_stay_alone():
    model = CBOD(radius=3 / STD).fit(X)
    # 12 is 1.5 from 10.5; 20 is 9.5 and more from all: 3/6 19 + 2/6 9.5 + 1/6 10 =
    # 14.33, just below (8 + 21) / 2 = 14.5; -20: 3/6 21 + 2/6 30.5 + 1/6 50 = 29
    scores = model.score_samples([[12.0], [20.0], [-20.0]])
    assert_allclose(-scores * STD, [8, 14 + 1 / 3, 29])
    assert_array_equal(model.predict([[12.0], [20.0], [-20.0]]), [1, 1, -1])


@pytest.mark.parametrize(
    ("share", "outliers"),
    [
        (0.1, [30]),
        (1 / 7, [30]),  # reached exactly
        (0.15, [10, 11, 30]),
        (0.9, [10, 11, 30]),  # but never all
    ],
)
def test_clusters_are_taken_until_they_hold_the_share(share, outliers):
    # r = 3: {0, 1, 2, 3}, {10, 11}, {30} with centers 1.5, 10.5, 30:
    # 7 OF = 2 * 9 + 28.5 = 46.5, 4 * 9 + 19.5 = 55.5, 4 * 28.5 + 2 * 19.5 = 153
    rows = reference.column(0, 1, 2, 3, 10, 11, 30)
    model = CBOD(radius=3 / rows.std(), min_outlier_share=share).fit(rows)
    assert_allclose(model.cluster_factors_ * 7 * rows.std(), [46.5, 55.5, 153])
    assert_array_equal(rows[model.outlier_mask_].ravel(), outliers)


def test_at_equal_factors_the_first_cluster_stays():
    # two clusters of two: OF = 1/2 * distance for both
    model = CBOD(radius=0.5).fit(reference.column(8, 8, 0, 0))
    assert_array_equal(model.cluster_factors_, [1, 1])  # 2 standard deviations, halved
    assert_array_equal(model.outlier_mask_, [False, False, True, True])
    assert_array_equal(model.cluster_centers_, [[8], [0]])


def test_one_cluster_has_no_outliers():
    model = CBOD(radius=100).fit(X)
    assert model.n_clusters_ == 1
    assert_array_equal(model.cluster_factors_, [0])
    assert model.n_outliers_ == 0
    assert model.offset_ == -np.inf
    assert_array_equal(model.predict([[5.0], [1e9]]), [1, 1])


def test_rows_are_judged_by_the_center_that_ends_nearest():
    data = np.random.default_rng(0).normal(size=(200, 2))
    model = CBOD(radius=1.0).fit(data)
    Z = (data - data.mean(axis=0)) / data.std(axis=0)
    labels, members = reference.leaders(Z, 1.0)
    assert_array_equal(model.cluster_labels_, labels)
    centers = np.array([Z[rows].mean(axis=0) for rows in members])
    D = np.sqrt(reference.squared_distances(Z, centers))
    nearest = D.argmin(axis=1)
    assert (nearest != labels).any()
    shares = np.array([len(rows) for rows in members]) / 200
    factors = np.sqrt(reference.squared_distances(centers, centers)) @ shares
    alone = D.min(axis=1) > 1.0
    expected = np.where(alone, D @ shares, factors[nearest])
    assert_allclose(model.outlier_scores_, expected, rtol=1e-10)
    assert_array_equal(model.outlier_mask_, model.predict(data) == -1)
    # the clusters themselves are judged by the rows that joined them
    by_factor = np.argsort(factors)[::-1]
    count = int((shares[by_factor].cumsum() >= 0.1).argmax()) + 1
    assert set(np.flatnonzero(model.outlier_clusters_)) == set(by_factor[:count])


def test_the_order_of_the_rows_matters():
    # 0, 2, 4 with r = 2.5: 0 and 2 (center 1), then 4 is 3 away; from the other end 4
    # and 2 (center 3), then 0 is 3 away
    rows, radius = reference.column(0, 2, 4), 2.5 / np.sqrt(8 / 3)
    for order, outlier in ((rows, 4), (rows[::-1], 0)):
        model = CBOD(radius).fit(order)
        assert_array_equal(model.cluster_labels_, [0, 0, 1])
        assert order[model.outlier_mask_].ravel() == [outlier]


def test_units_and_constant_columns_do_not_matter():
    data, _, _ = make_outlier_blobs(300, 3, 4, random_state=0)
    expected = CBOD().fit(data)
    other = np.column_stack([data * [1e-3, 1, 50] + [4, 0, -9], np.full(300, 0.1)])
    model = CBOD().fit(other)
    assert_allclose(model.outlier_scores_, expected.outlier_scores_, rtol=1e-9)
    assert_allclose(model.radius_, expected.radius_)
    assert_allclose(model.cluster_centers_[:, 3], 0.1)
    # a column that never varied says nothing of new rows either
    other[:, 3] = 77
    assert_allclose(-model.score_samples(other), model.outlier_scores_)


# The radius


def test_the_usual_radius_is_half_a_deviation_below_the_mean():
    data = np.random.default_rng(0).normal(size=(50, 3))
    d = pdist((data - data.mean(axis=0)) / data.std(axis=0))
    assert_allclose(CBOD().fit(data).radius_, d.mean() - d.std() / 2)


def test_the_usual_radius_is_at_least_the_five_percent_quantile():
    # 40 rows around 0 and one far away: 40 of 820 distances are large
    data = np.append(np.linspace(0, 1, 40), 1e4)[:, None]
    d = pdist((data - data.mean()) / data.std())
    assert d.mean() - d.std() / 2 < np.quantile(d, 0.05)
    assert_allclose(CBOD().fit(data).radius_, np.quantile(d, 0.05))


def test_mostly_equal_rows_leave_the_mean_distance():
    data = np.zeros((100, 1))
    data[-1] = 1
    model = CBOD().fit(data)
    # 99 of 4950 pairs are 1 / sqrt(0.01 * 0.99) deviations apart
    assert_allclose(model.radius_, 99 / 4950 / np.sqrt(0.01 * 0.99))
    assert model.n_clusters_ == 2
    assert_array_equal(np.flatnonzero(model.outlier_mask_), [99])


def test_equal_rows_are_one_cluster():
    model = CBOD().fit(np.full((30, 2), 0.1))
    assert model.n_clusters_ == 1
    assert model.n_outliers_ == 0
    assert_array_equal(model.cluster_centers_, [[0.1, 0.1]])


def test_many_rows_are_sampled_for_the_radius_always_alike():
    data = np.random.default_rng(0).normal(size=(5000, 2))
    model = CBOD().fit(data)
    assert model.radius_ == CBOD().fit(data).radius_
    d = pdist((data - data.mean(axis=0)) / data.std(axis=0))
    assert model.radius_ != d.mean() - d.std() / 2
    assert_allclose(model.radius_, d.mean() - d.std() / 2, rtol=0.05)


def test_a_tiny_radius_makes_every_row_a_cluster_in_little_memory(monkeypatch):
    data = np.random.default_rng(0).normal(size=(300, 2))
    expected = CBOD(radius=1e-6).fit(data)
    assert expected.n_clusters_ == 300
    monkeypatch.setattr(_spread, "BLOCK_ENTRIES", 1000)
    model = CBOD(radius=1e-6).fit(data)
    assert_array_equal(model.outlier_scores_, expected.outlier_scores_)
    assert model.n_outliers_ == 30


def test_a_huge_radius_is_no_overflow():
    assert CBOD(radius=1e200).fit(X).n_clusters_ == 1


def test_sparse_rows_are_refused():
    with pytest.raises(TypeError, match="dense data is required"):
        CBOD().fit(sparse.csr_array(X))
