"""NEO-k-means and its estimators: cases worked by hand, ties and edges."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import column
from scipy import sparse

from rtkm import NEOKMeans, estimate_neo_parameters
from rtkm.clusterers.neo_estimates import (
    outlier_share,
    overlap_by_radius,
    overlap_by_share,
)
from rtkm.core.validation import make_table


def test_overlap_and_an_outlier_worked_by_hand():
    # One extra membership and one row to be left out. The start is first turned into
    # labels 000111, and these into means:
    # (5/3, 15): the five rows nearest to a center are all nearest to the first, at
    #     25/9, 4/9, 49/9, 256/9 and 361/9; the two cheapest other pairs are 8 and 7
    #     with the second, at 49 and 64. J = 695/9 + 113.
    # (20/5, 15/2): nearest 16, 9, 0, 1/4, 1/4; others 9 (7 with the first) and 49/4 (4
    #     with the second). J = 25.5 + 21.25.
    # (12/4, 19/3): nearest 9, 4, 1, 4/9, 25/9; others 49/9 (4) and 16 (7), as before.
    #     J = 14 + 29/9 + 49/9 + 16.
    states = []
    X = column(0, 1, 4, 7, 8, 30)
    model = NEOKMeans(2, overlap=1 / 6, contamination=1, init=column(1, 8))
    model.set_params(on_step=states.append).fit(X)
    centers = [state.C.ravel() for state in states]
    assert_allclose(centers, [(5 / 3, 15), (4, 7.5), (3, 19 / 3)], rtol=1e-15)
    J = 30 + 78 / 9
    assert_allclose(model.objective_path_, (695 / 9 + 113, 46.75, J), rtol=1e-14)
    sets = [(1, 0), (1, 0), (1, 0), (1, 1), (1, 1), (0, 0)]
    assert_array_equal(states[0].W, sets)
    sets = [(1, 0), (1, 0), (1, 1), (1, 1), (0, 1), (0, 0)]
    assert_array_equal(model.assignments_, sets)
    assert_array_equal(model.memberships_, sets)
    assert_array_equal(model.labels_, (0, 0, 0, 1, 1, -1))
    assert model.converged_
    # memberships reach up to 16, that of 7 in the first cluster; a new row has those
    # within reach, and its nearest in any case
    assert_allclose(model.reach_, 16, rtol=1e-15)
    assert_array_equal(
        model.predict_memberships(column(-2, 2.4, 6.9, 7.1, 30)),
        [(1, 0), (1, 1), (1, 1), (0, 1), (0, 1)],
    )


def test_a_row_left_out_at_first_may_come_back_with_an_extra_membership():
    # around (0, 10): 4 is the costliest row, at 16, but no other pair is as cheap
    X = column(0, 0, 4, 10, 10)
    model = NEOKMeans(2, overlap=0.0, contamination=1, init=column(0, 10))
    state = model._assign(make_table(X), column(0, 10))
    assert_array_equal(state.W, [(1, 0), (1, 0), (1, 0), (0, 1), (0, 1)])
    assert state.objective == 16
    # 3 and 7 each cost 9 to their nearest and 49 to the other; the last one is left
    # out first, and is the cheapest of what remains
    state = model._assign(make_table(column(0, 3, 7, 10)), column(0, 10))
    assert_array_equal(state.v, np.ones(4))


def test_equal_distances_go_to_the_first_row_then_to_the_first_cluster():
    table, C = make_table(column(0, 0, 0)), column(-1, 1, 1)
    model = NEOKMeans(3, overlap=1.0, contamination=1)
    # all distances are 1: two rows are sure, in cluster 0; then four more pairs, first
    # those of row 0, then those of row 1, and the third row is left out
    state = model._assign(table, C)
    assert_array_equal(state.W, [(1, 1, 1), (1, 1, 1), (0, 0, 0)])
    assert state.objective == 6
    assert_array_equal(state.v, (1, 1, 0))


def test_one_cluster_has_no_outliers():
    X = column(0, 1, 2, 100)
    model = NEOKMeans(1, overlap=0, contamination=2, init=column(0)).fit(X)
    assert_array_equal(model.labels_, (0, 0, 0, 0))
    assert_array_equal(model.cluster_centers_, column(103 / 4))
    with pytest.warns(UserWarning, match="has no effect at n_clusters=1"):
        NEOKMeans(1, overlap=0.5, contamination=0).fit(X)


def test_every_row_in_every_cluster_is_the_most_overlap():
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = NEOKMeans(3, overlap=2, contamination=0, random_state=0).fit(X)
    assert model.assignments_.all()
    assert_allclose(model.cluster_centers_, np.tile(X.mean(axis=0), (3, 1)))
    with pytest.raises(ValueError, match=r"more than every row .* at most 2\."):
        NEOKMeans(3, overlap=2.1, contamination=0).fit(X)


def test_a_negative_overlap_goes_down_to_minus_the_outliers():
    X = column(0, 1, 2, 10, 11, 12, 30, -20)
    model = NEOKMeans(2, overlap=-0.25, contamination=2, init=column(0, 10)).fit(X)
    # k-means-- with two outliers: 1 + 1 around 1 and 1 + 1 around 11
    assert_array_equal(model.labels_, (0, 0, 0, 1, 1, 1, -1, -1))
    assert model.objective_ == 4
    with pytest.raises(
        ValueError, match="leaves out 2 of 8 rows, contamination=1 only 1"
    ):
        NEOKMeans(2, overlap=-0.25, contamination=1).fit(X)


@pytest.mark.parametrize(
    ("overlap", "n_extra"),
    [(0.25, 3), (0.24, 2), (-0.25, -3), (-0.24, -2), (0.04, 0), (1.35, 14)],
)
def test_extra_memberships_are_whole_and_half_goes_away_from_zero(overlap, n_extra):
    X = np.random.default_rng(0).normal(size=(10, 2))
    model = NEOKMeans(3, overlap=overlap, contamination=3, random_state=0).fit(X)
    assert model.memberships_.sum() == 10 + n_extra


def test_an_empty_cluster_keeps_its_center():
    # twice: where labels become means, and where memberships do
    start = column(1, 11, 1000)
    X = column(0, 1, 2, 10, 11, 12)
    model = NEOKMeans(3, overlap=0, contamination=0, init=start).fit(X)
    assert_array_equal(model.cluster_centers_, start)
    assert_array_equal(model.labels_, (0, 0, 0, 1, 1, 1))


def test_duplicates_on_their_center_are_members():
    X = column(0, 0, 0, 5, 5, 5)
    model = NEOKMeans(2, overlap=0, contamination=2, init=column(0, 5)).fit(X)
    assert model.n_outliers_ == 0
    assert model.objective_ == model.reach_ == 0
    assert_array_equal(model.memberships_.sum(axis=1), np.ones(6))


def assign_by_all_distances(X, C, n_left_out, n_extra):
    """Return what the step finds, from all distances at once."""
    D = X.squared_distances(C).astype(np.float64)
    rows = np.arange(len(D))
    sure = np.argsort(D.min(axis=1), kind="stable")[: len(D) - n_left_out]
    U = np.zeros(D.shape, dtype=bool)
    U[rows[sure], D[sure].argmin(axis=1)] = True
    rest = np.where(U, np.inf, D).ravel()
    further = np.argsort(rest, kind="stable")[: n_extra + n_left_out]
    U.ravel()[further] = True
    return U, D[U].sum(), rest[further].max(initial=0.0)


@pytest.mark.parametrize("make", [np.asarray, np.float32, np.round, sparse.csr_array])
@pytest.mark.parametrize("overlap", [-0.05, 0.0, 0.1, 0.6, 1.7])
def test_every_step_is_that_of_all_distances(make, overlap):
    rng = np.random.default_rng(7)
    blobs = 3 * rng.normal(size=(5, 3))[rng.integers(5, size=200)]
    X = make(blobs + rng.normal(size=blobs.shape))
    table = make_table(X)
    # of the distances, which sums that are kept from step to step do not share
    rtol = 32 * np.finfo(table.dtype).eps
    model = NEOKMeans(5, overlap=overlap, contamination=20, random_state=0)
    states = []
    model.set_params(on_step=states.append).fit(X)
    assert len(states) > 2
    for state in states:
        U, objective, reach = assign_by_all_distances(
            table, state.C, 20, model._n_extra(table)
        )
        assert_array_equal(state.W, U)
        assert_array_equal(state.v, U.any(axis=1))
        assert_allclose((state.objective, state.reach), (objective, reach), rtol=rtol)
        means = table.weighted_means(U.astype(float), fallback=state.C)
        found = table.further_means(state.sure, state.rows, state.clusters)
        assert_allclose(found, means, rtol=rtol, atol=rtol)


def test_memberships_settle_when_they_repeat_at_any_tolerance():
    table = make_table(column(0, 1, 4, 7, 8, 30))
    model = NEOKMeans(2, overlap=1 / 6, contamination=1)
    last = model._assign(table, column(3, 19 / 3))
    same = model._assign(table, column(3, 19 / 3), last=last)
    assert replace(same, objective=last.objective - 1).settled(last, tol=0)
    # 8 in the first cluster instead of 7
    other = replace(
        same, objective=last.objective - 1e-3, rows=same.rows + np.arange(2)
    )
    assert not other.settled(last, tol=0.5)
    # only rounding still moves rows then
    assert replace(other, objective=last.objective).settled(last, tol=0)


# Estimators

SIX = column(0, 2, 4, 6, 8, 10)
DISTANCES = np.abs(SIX - np.array([2.0, 8.0]))


@pytest.mark.parametrize(
    ("deviations", "overlap"),
    [
        # own distances 2, 0, 2 have mean 4/3 and deviation 1.154701 in both clusters;
        # the nearest strangers are 4 away
        (2.0, 0),  # 3.642734
        (2.3, 0),  # 3.989146
        (2.5, 1 / 3),  # 4.220085, so 4 and 6 of six rows
        (5.0, 2 / 3),  # 7.106837, so also 2 and 8, which are 6 away
    ],
)
def test_overlap_by_radius_worked_by_hand(deviations, overlap):
    assert overlap_by_radius(DISTANCES, deviations) == pytest.approx(overlap, rel=1e-15)
    found = estimate_neo_parameters(
        SIX, 2, overlap_deviations=deviations, random_state=0
    )
    assert found.overlap == pytest.approx(overlap, rel=1e-15)
    assert found.contamination == 0


def test_overlap_by_share_worked_by_hand():
    # shares of the nearer center 2/10, 0/6, 2/6, 2/6, 0/6, 2/10: four are below 1/3,
    # and none of the farther one
    assert overlap_by_share(DISTANCES, as_published=True) == pytest.approx(2 / 3)
    assert overlap_by_share(DISTANCES, as_published=False) == 0
    for as_published, overlap in ((True, 2 / 3), (False, 0)):
        found = estimate_neo_parameters(
            SIX, 2, strategy="share", as_published=as_published, random_state=0
        )
        assert found.overlap == pytest.approx(overlap)


def test_overlap_by_share_counts_what_is_beyond_the_own_cluster():
    # three rows midway between two of three centers, one row near the third:
    # d = (1, 1, 9): shares 1/11, 1/11 < 1/4 and 9/11; (9, 9, 1): only 1/19
    d = np.array([(1, 1, 9), (1, 1, 9), (1, 1, 9), (9, 9, 1)], dtype=float)
    assert overlap_by_share(d, as_published=True) == 7 / 4
    assert overlap_by_share(d, as_published=False) == 3 / 4


def test_outliers_are_counted_by_deviations_from_the_mean_distance():
    # distances 2, 0, 2, 2, 0, 2 have mean 4/3 and deviation 1.032796:
    # 4/3 + 0.6 * 1.032796 = 1.953 and 4/3 + 0.65 * 1.032796 = 2.005
    assert outlier_share(DISTANCES, 0.6) == 4 / 6
    assert outlier_share(DISTANCES, 0.65) == 0
    for deviations, share in ((0.6, 4 / 6), (0.65, 0), (6, 0)):
        found = estimate_neo_parameters(
            SIX, 2, outlier_deviations=deviations, random_state=0
        )
        assert found.contamination == share


def test_clusters_of_one_row_or_none_have_no_deviation():
    # the last row is alone at distance 3 from its center: radius 3 at any factor, which
    # reaches the first row; nobody is nearest to the third center
    d = np.array([(1, 3, 9), (1, 4, 9), (8, 3, 9)], dtype=float)
    for deviations in (0, 3):
        assert overlap_by_radius(d, deviations) == pytest.approx(1 / 3)


@pytest.mark.parametrize(("overlap", "contamination"), [(0.3, 0), (0.3, 0.1), (1.5, 0)])
def test_new_rows_belong_as_the_training_rows_do(blobs, overlap, contamination):
    model = NEOKMeans(3, overlap=overlap, contamination=contamination, random_state=0)
    inliers = ~model.fit(blobs).outlier_mask_
    expected = model.memberships_[inliers]
    assert_array_equal(model.predict_memberships(blobs[inliers]), expected)
