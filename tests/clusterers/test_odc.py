"""ODC: cases worked by hand, circles, and its edges."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import column
from sklearn.exceptions import ConvergenceWarning

from rtkm import ODC
from rtkm.datasets import make_outlier_blobs


def watched(X, start, **parameters):
    states = []
    model = ODC(len(start), init=start, on_step=states.append, **parameters)
    return model.fit(X), states


def test_two_clusters_worked_by_hand():
    X = column(0, 1, 2, 10, 11, 12, 19)
    model, states = watched(X, column(0, 10), cutoff_factor=2)
    # At (0, 10) distances are 0, 1, 2 and 0, 1, 2, 9, on average 1 and 3: 9 > 6 goes.
    # At (1, 11) those of the inliers are 1, 0, 1 and 1, 0, 1, on average 2/3, and
    # 8 > 4/3 stays out.
    assert_array_equal(states[0].scales, (1, 3))
    assert_allclose(states[1].scales, (2 / 3, 2 / 3), rtol=1e-15)
    for state in states:
        assert_array_equal(state.kept, np.arange(7) < 6)
    assert_array_equal(model.objective_path_, (10, 4))
    assert_array_equal(model.cluster_centers_, column(1, 11))
    assert_array_equal(model.labels_, (0, 0, 0, 1, 1, 1, -1))
    assert_allclose(
        model.outlier_scores_, np.array([1, 0, 1, 1, 0, 1, 8]) * 1.5, rtol=1e-15
    )
    assert model.converged_
    assert model.offset_ == -2
    # new rows are held to the cut-off of their cluster, 4/3
    assert_array_equal(model.predict(column(2.3, 2.4, 9.7, 9.6)), (0, -1, 1, -1))


def test_a_row_exactly_at_the_cutoff_is_no_outlier():
    # around 0 the distances 1, 1, 1, 1, 4 have mean 8/5; 2.5 of it is 4
    X = column(1, -1, 1, -1, 4)
    _, states = watched(X, column(0), cutoff_factor=2.5)
    assert states[0].kept.all()
    _, states = watched(X, column(0), cutoff_factor=2.4999)
    assert_array_equal(states[0].kept, np.arange(5) < 4)


# Circles


def test_a_circle_worked_by_hand_ends_at_its_lowest():
    # Factor 1.5. From 0, distances 0, 0, 0, 1 have mean 1/4: the 1 goes. The mean of
    # the others is 0, all sit on it, and then nothing is flagged (a). With the 1 back
    # the center is 1/4, distances 1/4, 1/4, 1/4, 3/4 have mean 3/8, and 3/4 > 9/16 goes
    # (b). So (a), with a mean squared inlier distance of 1/4, and (b), with 1/16,
    # follow each other for ever. The start has the rows of (b), but other centers.
    X = column(0, 0, 0, 1)
    model, states = watched(X, column(0), cutoff_factor=1.5)
    assert [state.level for state in states] == [0, 1 / 4, 1 / 16, 1 / 4, 1 / 16]
    assert_array_equal(model.labels_, (0, 0, 0, -1))
    assert_array_equal(model.cluster_centers_, [[0.25]])
    assert model.objective_ == 3 / 16
    assert model.converged_
    assert_array_equal(model.predict(X), model.labels_)


def test_a_circle_of_two_clusters_ends_at_its_lowest():
    # Factor 1.5, centers 5 and
    # 7: distances 2, 0 and 0, 2, 5, 12, on average 1 and 4.75: 3 and 19 go;
    # 28/3: 2, 0, 2 (5 and 7 were inliers: mean 1) and 1/3, 8/3, 29/3 (9 and 12 were:
    #    mean 3/2), so all but 5 and 9 go;
    # 9: 2, 0, 2 and 0, 3, 10, but the inliers sit on their centers: all are in;
    # 40/3: 2, 0, 2, 4 (mean 2) and 4/3, 17/3 (mean 3.5): 9 and 19 go. The squares add
    #    up to 8 + 16/9 = 88/9 over four rows, their mean is 22/9;
    # 12: 2, 0, 2 (mean 4/3) and 3, 0, 7 (the inlier 12 sits on it): all are in, with
    #    mean (8 + 58)/6 = 11; their means are 5 and 40/3 again.
    X = column(3, 5, 7, 9, 12, 19)
    model, states = watched(X, column(5, 7), cutoff_factor=1.5)
    assert_allclose([state.C[0, 0] for state in states], 5)
    assert_allclose(
        [state.C[1, 0] for state in states], (7, 28 / 3, 9, 40 / 3, 12, 40 / 3)
    )
    levels = [state.level for state in states]
    assert_allclose(levels, (29 / 4, 1 / 18, 117 / 6, 22 / 9, 11, 22 / 9))
    assert_array_equal(model.labels_, (0, 0, 0, -1, 1, -1))
    assert_allclose(model.objective_, 88 / 9, rtol=1e-14)
    assert model.converged_


def test_a_circle_ends_before_the_last_step():
    # as above, stopped too early to see it: the last iterate is not the lowest
    X = column(3, 5, 7, 9, 12, 19)
    with pytest.warns(ConvergenceWarning, match="stopped at max_iter=4"):
        model, _ = watched(X, column(5, 7), cutoff_factor=1.5, max_iter=4)
    assert not model.converged_
    assert model.n_outliers_ == 0


# Edges


def test_a_cluster_whose_rows_sit_on_its_center_flags_nothing():
    X = column(0, 0, 0, 5, 5, 5, 5)
    model, _ = watched(X, column(0, 5))
    assert model.n_outliers_ == 0
    assert_array_equal(model.mean_distances_, (0, 0))
    assert_array_equal(model.outlier_scores_, np.zeros(7))
    # nor later
    assert_array_equal(model.predict(column(0, 1, 5, 9)), (0, 0, 1, 1))
    assert_array_equal(model.score_samples(column(1, 9)), (0, 0))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rounding_does_not_make_a_cutoff(dtype):
    # the circle above, moved to where the mean of three equal rows may be rounded
    for shift in np.random.default_rng(0).uniform(-3, 3, size=50):
        X = (column(0, 0, 0, 1) + shift).astype(dtype)
        model, _ = watched(X, X[:1], cutoff_factor=1.5)
        assert_allclose(model.cluster_centers_, [[shift + 0.25]], atol=1e-6)
        assert_array_equal(model.labels_, (0, 0, 0, -1))


def test_a_lone_outlier_with_its_own_center_is_never_found():
    X = column(0, 1, 2, 1000)
    model, _ = watched(X, column(1, 1000))
    assert_array_equal(model.labels_, (0, 0, 0, 1))


def test_clusters_have_cutoffs_of_their_own():
    # distances 0.1 and 10 on average, twice that 0.2 and 20: the 1 is far for the first
    # cluster, and 115 in reach of the second
    X = column(-0.1, 0.1, -0.1, 0.1, 1, 90, 110, 90, 110, 115)
    model, _ = watched(X, column(0, 100), cutoff_factor=2)
    assert_array_equal(model.outlier_mask_, np.arange(10) == 4)


def test_an_empty_cluster_keeps_its_center_and_flags_nothing():
    start = column(1, 11, 1000)
    model, _ = watched(column(0, 1, 2, 10, 11, 12), start)
    assert_array_equal(model.cluster_centers_, start)
    assert_array_equal(model.labels_, (0, 0, 0, 1, 1, 1))
    assert_allclose(model.mean_distances_, (2 / 3, 2 / 3, 0), rtol=1e-15)
    assert not np.isnan(model.score_samples(column(999, 1001))).any()


def test_a_cluster_all_of_whose_rows_were_outliers_flags_nothing():
    # The start has no choice: rows are inliers then. Later, the rows that change to a
    # cluster may all have been outliers of another one, and it has no mean distance.
    rng = np.random.default_rng(0)
    for _ in range(200):
        X = np.r_[rng.normal(size=(8, 1)), rng.uniform(-30, 30, size=(6, 1))]
        start = X[rng.choice(14, size=3, replace=False)]
        model, states = watched(X, start, cutoff_factor=1.2)
        assert np.isfinite(model.outlier_scores_).all()
        assert np.isfinite(model.cluster_centers_).all()
        for state in states:
            labels = state.clusters[:, 0]
            assert state.kept[state.scales[labels] == 0].all()


def test_starts_are_compared_by_the_mean_over_inliers():
    # Factor 1.2. From 1, distances 1, 1 and six near 99 have mean 74.5: the six are
    # out. From 100, distances 0.9 (six times), 100 and 98 have mean 25.4: two are out.
    # Both rest there: 2 rows with mean 1 and sum 2, 6 rows with 0.81 and 4.86.
    X = column(0, 2, 99.1, 100.9, 99.1, 100.9, 99.1, 100.9)
    small, large = (
        ODC(1, cutoff_factor=1.2, init=[[middle]]).fit(X) for middle in (1.0, 100.0)
    )
    assert_allclose((small.objective_, large.objective_), (2, 4.86), rtol=1e-12)
    starts = iter([column(1), column(100)])
    model = ODC(1, cutoff_factor=1.2, init=lambda *a, **b: next(starts), n_init=2)
    assert_array_equal(model.fit(X).labels_, (-1, -1, 0, 0, 0, 0, 0, 0))


def test_the_best_of_several_starts_is_kept_in_single_precision():
    # what rounding of the centers can do to a sum is too much to allow to a mean
    X = make_outlier_blobs(3000, 2, 12, random_state=3)[0]
    X = (X - X.mean(axis=0) + 1e5).astype(np.float32)
    ends = []

    def watch(state):
        if state.n_iter == 0:
            ends.append(None)
        ends[-1] = state.level

    model = ODC(12, init="random", n_init=6, random_state=0, on_step=watch).fit(X)
    kept = ~model.outlier_mask_
    assert min(ends) < ends[0]
    assert_allclose(model.objective_ / kept.sum(), min(ends), rtol=1e-6)
