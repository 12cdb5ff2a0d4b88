"""ORC: rounds worked by hand, the guards, and edges."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import column

from rtkm import ORC

SEVEN = column(0, 1, 2, 10, 11, 12, 20)


def fit_seven(**parameters):
    states = []
    model = ORC(2, init=column(0, 10), on_step=states.append, **parameters).fit(SEVEN)
    return model, states


def test_one_round_worked_by_hand():
    # k-means ends at 1 and 53/4, with distances 1, 0, 1, 3.25, 2.25, 1.25 and 6.75: all
    # of the largest for the last row and 3.25/6.75 = 0.481481 for the next. Without
    # the last row the means are 1 and 11.
    model, states = fit_seven(threshold=0.8)
    assert_allclose(states[0].C.ravel(), (1, 13.25), rtol=1e-15)
    distances = np.sqrt(states[0].cost)
    assert_allclose(distances, (1, 0, 1, 3.25, 2.25, 1.25, 6.75), rtol=1e-14)
    # 2 + 10.5625 + 5.0625 + 1.5625 + 45.5625, and 4 without the last
    assert_allclose(model.objective_path_, (64.75, 4), rtol=1e-14)
    assert_allclose(model.cluster_centers_, column(1, 11), rtol=1e-15)
    assert_array_equal(model.labels_, (0, 0, 0, 1, 1, 1, -1))
    assert_array_equal(model.removal_round_, (0, 0, 0, 0, 0, 0, 1))
    assert model.n_iter_ == 1
    assert model.converged_
    assert_allclose(model.outlier_scores_, (1, 0, 1, 1, 0, 1, 81), atol=1e-14)


@pytest.mark.parametrize(("threshold", "n_removed"), [(0.482, 1), (0.481, 2)])
def test_outlyingness_is_a_share_of_the_largest_distance(threshold, n_removed):
    # the next row is at 0.481481, as above
    model, _ = fit_seven(threshold=threshold)
    assert model.n_outliers_ == n_removed


def test_three_rounds_worked_by_hand():
    # The second round has distances 1, 0, 1, 1, 0, 1 and removes four good rows; the
    # third finds both left on their centers and does nothing.
    model, states = fit_seven(threshold=0.8, n_rounds=3)
    assert_array_equal(model.removal_round_, (2, 0, 2, 2, 0, 2, 1))
    assert_array_equal(model.labels_, (-1, 0, -1, -1, 1, -1, -1))
    assert_allclose(model.objective_path_, (64.75, 4, 0, 0), rtol=1e-14)
    assert_allclose(model.cluster_centers_, column(1, 11), rtol=1e-15)
    assert [state.kept.sum() for state in states] == [7, 6, 2, 2]
    assert model.converged_


def test_a_round_that_would_leave_too_few_rows_does_not_happen():
    # k-means: 0 and 1 at 1/2, 2 at 2, 10 to 12 at 11. A tenth of the largest distance,
    # which is 1, would leave 2 and 11 for three clusters; six tenths leave 0, 1, 2 and
    # 11, of which a second round would leave 2 and 11 again.
    X, start = column(0, 1, 2, 10, 11, 12), column(0, 2, 11)
    model = ORC(3, threshold=0.1, init=start, n_rounds=5).fit(X)
    assert model.n_outliers_ == 0
    assert model.converged_
    model = ORC(3, threshold=0.6, init=start, n_rounds=5).fit(X)
    assert_array_equal(model.removal_round_, (0, 0, 0, 1, 0, 1))
    assert_allclose(model.cluster_centers_, column(0.5, 2, 11), rtol=1e-15)


@pytest.mark.parametrize("options", [{"threshold": 1.0}, {"n_rounds": 0}])
def test_nothing_is_removed_at_threshold_one_or_in_no_round(options):
    model, _ = fit_seven(**options)
    assert model.n_outliers_ == 0
    assert_allclose(model.cluster_centers_, column(1, 13.25), rtol=1e-15)
    assert_array_equal(model.removal_round_, np.zeros(7))
    assert model.offset_ == -np.inf


def test_rows_all_on_their_centers_stay():
    X = column(0, 0, 0, 5, 5, 5)
    model = ORC(2, threshold=0.5, n_rounds=3, init=column(0, 5)).fit(X)
    assert model.n_outliers_ == 0
    assert model.objective_ == 0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_copies", [3, 7, 1000])
def test_rounding_does_not_make_a_row_the_farthest(n_copies, dtype):
    # means of equal rows mostly differ from them in the last digit
    for seed in range(20):
        places = np.random.default_rng(seed).random((2, 2))
        X = np.repeat(places, n_copies, axis=0).astype(dtype)
        model = ORC(2, threshold=0.5, n_rounds=3, init=places).fit(X)
        assert model.n_outliers_ == 0


def test_every_round_removes_at_least_the_farthest_row():
    X = np.random.default_rng(0).normal(size=(60, 2))
    states = []
    model = ORC(3, threshold=0.999, n_rounds=20, random_state=0)
    model.set_params(on_step=states.append).fit(X)
    counts = [state.kept.sum() for state in states]
    assert np.all(np.diff(counts) <= -1)
    assert model.removal_round_.max() == 20
    # and what was removed never comes back
    for earlier, later in pairwise(states):
        assert not (later.kept & ~earlier.kept).any()


def test_the_best_of_several_runs_of_kmeans_is_cleaned():
    # two bad starts leave k-means with one of three far groups split
    X = column(0, 1, 2, 100, 101, 102, 200, 201, 202)
    starts = iter([column(0, 1, 150), column(1, 101, 201), column(0, 150, 201)])
    model = ORC(3, init=lambda *a, **b: next(starts), n_init=3, n_rounds=0).fit(X)
    assert_allclose(model.cluster_centers_, column(1, 101, 201))


def test_max_iter_limits_k_means_and_not_the_rounds(blobs):
    model = ORC(3, threshold=0.99, n_rounds=5, max_iter=2, random_state=0).fit(blobs)
    assert model.n_iter_ == model.removal_round_.max() == 5
    assert model.converged_
