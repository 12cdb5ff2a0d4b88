"""Trimmed cost by number of clusters and share of outliers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from rtkm import TrimmedKMeans, curves
from rtkm.choosing.curves import curves_for
from rtkm.core.validation import make_table


def blobs(seed, n_each=60, k=3, d=2, n_outliers=10):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(k, n_each, d)) + 12 * np.arange(k)[:, None, None]
    far = rng.uniform(-150, 150, (n_outliers, d))
    return rng.permutation(np.concatenate([X.reshape(-1, d), far]))


def test_costs_worked_by_hand():
    # of all rows the mean 20.4 costs 20.4**2 + 19.4**2 + 15.4**2 + 14.4**2 + 69.6**2
    found = curves([[0.0], [1.0], [5.0], [6.0], [90.0]], [1, 2], [0, 0.2, 0.4])
    # of 0, 1, 5 the mean 2 costs 4 + 1 + 9; without 40 %, 0, 1 and 5 in two cost 0.5
    assert_allclose(found.costs, [[6081.2, 26, 14], [26, 1, 0.5]])
    assert found.n_clusters == (1, 2)
    assert found.contamination == (0.0, 0.2, 0.4)
    assert found.table[2] == {"n_clusters": 1, "contamination": 0.4, "cost": 14.0}
    assert len(found.table) == 6


@pytest.mark.parametrize("seed", range(3))
def test_costs_rise_neither_with_the_number_nor_with_the_share(seed):
    X = np.random.RandomState(seed).standard_t(2, size=(150, 3))
    costs = curves(X, random_state=seed).costs
    assert costs.shape == (8, 16)
    assert (np.diff(costs, axis=0) <= 0).all()
    assert (np.diff(costs, axis=1) <= 0).all()


@pytest.mark.parametrize("seed", range(4))
def test_costs_are_near_the_best_of_many_starts(seed):
    X = blobs(seed)
    found = curves(X, range(1, 5), [0.06, 0.1, 0.15], random_state=0)
    for i, k in enumerate((1, 2, 3)):
        for j, share in enumerate(found.contamination):
            model = TrimmedKMeans(
                k, contamination=share, n_init=20, random_state=0
            ).fit(X)
            # too few centers have many minima; 0.041 and 0.001 were seen
            rtol = 0.002 if k == 3 else 0.05
            assert_allclose(found.costs[i, j], model.objective_, rtol=rtol)
    # three clusters are enough
    ratios = found.costs[:-1, 0] / found.costs[1:, 0]
    assert ratios[1] > 5
    assert ratios[2] < 1.5


def test_numbers_and_shares_may_come_in_any_order():
    X = blobs(1)
    tangled = curves(X, [4, 2, 2], np.array([0.2, 0.0]), random_state=0)
    assert tangled.n_clusters == (2, 4)
    assert tangled.contamination == (0.0, 0.2)
    sorted_ = curves(X, [2, 4], [0.0, 0.2], random_state=0)
    assert_array_equal(tangled.costs, sorted_.costs)
    assert curves(X, 2, 0.1).costs.shape == (1, 1)


@pytest.mark.parametrize("seed", range(3))
def test_weights_are_repetitions_and_formats_do_not_matter(seed):
    rng, X = np.random.RandomState(seed), blobs(seed)
    weight = rng.randint(0, 4, size=len(X))
    weighted = curves(X, sample_weight=weight, random_state=0).costs
    repeated = curves(np.repeat(X, weight, axis=0), random_state=0).costs
    assert_allclose(weighted, repeated, rtol=1e-9)
    plain = curves(X, random_state=0).costs
    assert_allclose(curves(sparse.csr_array(X), random_state=0).costs, plain)
    assert_allclose(curves(X[::-1], random_state=0).costs, plain)
    assert_allclose(curves(8 * X, random_state=0).costs, 64 * plain)


def test_costs_of_a_sample_are_those_of_the_table():
    X = blobs(2, n_each=5000, n_outliers=0)
    found = curves(X, [2, 3], [0.0, 0.1], random_state=0).costs
    for i, k in enumerate((2, 3)):
        model = TrimmedKMeans(k, contamination=0.0, random_state=0).fit(X)
        assert_allclose(found[i, 0], model.objective_, rtol=0.05)


def test_a_table_that_was_validated_has_the_same_curves():
    X = blobs(3)
    table, rng = make_table(X), np.random.RandomState(5)
    inner = curves_for(table, [1, 3], [0.0, 0.1], rng)
    outer = curves(X, [1, 3], [0, 0.1], random_state=5)
    assert_array_equal(inner.costs, outer.costs)


def test_rows_that_are_all_equal_cost_nothing():
    with pytest.warns(match="exceeds the number of distinct rows"):
        found = curves(np.full((30, 2), 3.0), [1, 2], [0.0, 0.1])
    assert_array_equal(found.costs, 0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("n_clusters", v) for v in ([], 0, "auto", [2, 0], None)),
        *(("contamination", v) for v in ([], 1.0, -0.1, "auto", [0.1, 1], None, [[0]])),
        ("random_state", "seed"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(name, value):
    with pytest.raises(ValueError, match=f"{name}=.* is not valid for curves"):
        curves(np.eye(30), **{name: value})


def test_more_clusters_than_rows_are_refused():
    with pytest.raises(ValueError, match="needs at least 31 rows"):
        curves(np.eye(30), [2, 31])
    with pytest.raises(ValueError, match=r"contamination=0\.3 leaves 7 of 10 rows"):
        curves(np.eye(10))
