"""Split moves: which center goes, which cluster is split, and when it is hopeless."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from numpy.testing import assert_allclose, assert_array_equal

from rtkm import RTKM, TrimmedKMeans
from rtkm.core.splits import Splits, split_clusters, survey_splits
from rtkm.core.validation import make_table
from rtkm.datasets import make_outlier_blobs


def wide_blobs(seed, n_features=256, k=12, n=900):
    """Clusters in so many columns that no single row draws the rows of its cluster."""
    rng = np.random.default_rng(seed)
    C = rng.normal(size=(k, n_features)) * 9 / np.sqrt(2 * n_features)
    labels = rng.integers(k, size=n)
    X = C[labels] + rng.normal(size=(n, n_features))
    return np.concatenate([X, rng.uniform(-6, 6, (40, n_features))]), C


def test_the_cheapest_center_goes_to_the_cluster_that_gains_most():
    # two centers in the rows around 0, and one for those around 50 and 60
    X = reference.column(-1, -0.5, 0.5, 1, 49, 50, 51, 59, 60, 61)
    table, C = make_table(X), reference.column(-0.75, 0.75, 55)
    state = table.concentrate(C, 1, 10.0)
    splits = survey_splits(table, state, np.random.RandomState(0))
    assert not splits.are_hopeless
    moved = next(splits.proposals())
    assert sorted(moved.ravel()) in ([-0.75, 50, 60], [0.75, 50, 60])
    # 3 * 2 * 5^2 for the six rows around 55
    assert splits.gains[2] == pytest.approx(150)
    # the slot of the cluster that was split keeps one of its halves
    assert moved[2, 0] > 40


def test_clear_clusters_leave_no_hope():
    X, _, C = make_outlier_blobs(900, 3, 5, separation=20, random_state=0)
    table = make_table(X)
    state = table.concentrate(C, 1, 0.9 * len(X))
    for _ in range(20):
        state = table.concentrate(state.means, 1, 0.9 * len(X), last=state)
    assert survey_splits(table, state, np.random.RandomState(0)).are_hopeless


def test_each_center_and_cluster_has_two_tries():
    k = 4
    rng = np.random.default_rng(0)
    splits = Splits(
        rng.normal(size=(k, 2)),
        rng.random(k),
        rng.normal(size=(k, 2, 2)),
        rng.random(k),
    )
    tries = list(splits.proposals())
    assert 2 * (k - 1) <= len(tries) <= 2 * k
    for C in tries:
        assert (C != splits.C).any(axis=1).sum() == 2
    change = splits.losses[:, None] - splits.gains
    np.fill_diagonal(change, np.inf)
    lost, split = np.unravel_index(change.argmin(), change.shape)
    assert_array_equal(tries[0][[split, lost]], splits.halves[split])


@pytest.mark.parametrize("n_features", [2, 300])
def test_two_clusters_in_one_are_halved_whatever_row_is_drawn(n_features):
    rng = np.random.default_rng(1)
    middle = np.zeros((1, n_features))
    middle[0, 0] = 5.0
    rows = rng.normal(size=(200, n_features))
    X = np.concatenate([rows[:100] + middle, rows[100:] - middle])
    table, C = make_table(X), np.array([[0.0] * n_features, [99.0] * n_features])
    two = table.nearest(C, 2)
    for seed in range(10):
        halves, gains = split_clusters(
            table, C, two, np.inf, np.random.RandomState(seed)
        )
        assert_allclose(np.sort(halves[0, :, 0]), [-5, 5], atol=0.5)
        assert gains[0] > 0.9 * 200 * 25
        assert gains[1] == -np.inf  # no row is there to be drawn


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_minimum_is_found_in_many_columns(seed, dtype):
    X, C = wide_blobs(seed)
    X = X.astype(dtype)
    options = {"contamination": 40, "random_state": seed}
    found = RTKM(len(C), **options).fit(X)
    true = TrimmedKMeans(len(C), init=C, n_swaps=0, **options).fit(X)
    assert found.objective_ <= 1.001 * true.objective_


def test_an_objective_of_nothing_ends_the_search():
    X = np.repeat(np.arange(4.0), 30)[:, None]
    n_steps = []
    model = RTKM(4, contamination=0, random_state=0, on_step=n_steps.append).fit(X)
    assert model.objective_ == 0
    assert len(n_steps) < 60  # of ten starts, as there are so few different rows
