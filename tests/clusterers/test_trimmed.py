"""Trimmed k-means and k-means--: cases worked by hand, counts and edges."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from numpy.testing import assert_allclose, assert_array_equal
from reference import column

from rtkm import RTKM, KMeansMinusMinus, TrimmedKMeans
from rtkm.datasets import make_outlier_blobs


def descent(cls, X, start, **parameters):
    """Fit from the centers given; return the model and what each step looked like."""
    seen = []

    def watch(state):
        labels = np.where(state.v > 0, state.W.argmax(axis=1), -1)
        seen.append((state.C.ravel(), labels, state.objective))

    start = column(*start)
    model = cls(len(start), init=start, on_step=watch, **parameters).fit(X)
    return model, seen


def assert_descent(seen, expected):
    assert len(seen) == len(expected)
    for (C, labels, objective), (centers, rows, cost) in zip(
        seen, expected, strict=True
    ):
        assert_allclose(C, centers, rtol=1e-15)
        assert_array_equal(labels, rows)
        assert_allclose(objective, cost, rtol=1e-15)


FIVE = column(0, 1, 10, 11, 100)


def test_trimmed_kmeans_worked_by_hand():
    model, seen = descent(TrimmedKMeans, FIVE, (0, 1), contamination=0.2, n_swaps=0)
    assert_descent(
        seen,
        [
            # 0 and 1 on their centers, 9**2 + 10**2, and 100 is trimmed
            ((0, 1), (0, 1, 1, 1, -1), 181),
            # (1 + 10 + 11) / 3 = 22/3; 1 is nearer to 0 now: 1 + (8/3)**2 + (11/3)**2
            ((0, 22 / 3), (0, 0, 1, 1, -1), 1 + 64 / 9 + 121 / 9),
            # (0 + 1) / 2 and (10 + 11) / 2; four rows at distance 1/2
            ((0.5, 10.5), (0, 0, 1, 1, -1), 1),
        ],
    )
    assert model.converged_
    assert model.n_iter_ == 2
    assert_array_equal(model.outlier_scores_, (0.25, 0.25, 0.25, 0.25, 89.5**2))
    # halfway between the last cost kept and the first cost trimmed
    assert model.offset_ == -(0.25 + 89.5**2) / 2


def test_a_bad_start_ends_badly_and_swaps_repair_it():
    options = {"contamination": 0.2}
    model, _ = descent(TrimmedKMeans, FIVE, (0, 100), n_swaps=0, **options)
    # 0, 1 and 10 share a center at 11/3, 100 has its own and 11 is trimmed:
    # (11/3)**2 + (8/3)**2 + (19/3)**2 = 546/9
    assert_array_equal(model.labels_, (0, 0, 0, -1, 1))
    assert_allclose(model.cluster_centers_.ravel(), (11 / 3, 100), rtol=1e-15)
    assert_allclose(model.objective_, 546 / 9, rtol=1e-15)
    for seed in range(10):
        start = column(0, 100)
        swapped = TrimmedKMeans(2, init=start, random_state=seed, **options).fit(FIVE)
        assert swapped.objective_ == 1
        assert_array_equal(np.sort(swapped.cluster_centers_.ravel()), (0.5, 10.5))
        assert swapped.labels_[4] == -1


EIGHT = column(0, 1, 2, 10, 11, 12, 30, -20)


def test_kmeans_minus_minus_worked_by_hand():
    model, seen = descent(KMeansMinusMinus, EIGHT, (0, 10), n_outliers=2)
    labels = (0, 0, 0, 1, 1, 1, -1, -1)
    # 1 + 4 around 0 and 1 + 4 around 10, then 1 + 1 around each mean
    assert_descent(seen, [((0, 10), labels, 10), ((1, 11), labels, 4)])
    assert model.n_outliers_ == 2


def test_kmeans_minus_minus_from_a_start_on_an_outlier():
    model, seen = descent(KMeansMinusMinus, EIGHT, (1, 30), n_outliers=2)
    labels = (0, 0, 0, 0, 0, -1, 1, -1)
    # around 1: 1 + 0 + 1 + 81 + 100; -20 (441) and 12 (121) are trimmed
    assert_array_equal(seen[0][1], labels)
    assert seen[0][2] == 183
    # (0 + 1 + 2 + 10 + 11) / 5 = 4.8; 226 - 5 * 4.8**2 = 110.8
    assert_array_equal(model.labels_, labels)
    assert_allclose(model.cluster_centers_.ravel(), (4.8, 30), rtol=1e-15)
    assert_allclose(model.objective_, 110.8, rtol=1e-14)
    # ten starts of its own do better, as the default has it
    best = KMeansMinusMinus(2, n_outliers=2, random_state=0).fit(EIGHT)
    assert best.objective_ == 4


@pytest.mark.parametrize(
    ("n_rows", "share_or_count", "n_trimmed"),
    [
        (10, 0.25, 3),  # 2.5, half up
        (10, 0.24, 2),
        (90, 0.3, 27),  # 90 * (1 - 0.3) is 62.99... in binary
        (90, 0.35, 32),  # 0.35 * 90 is 31.499999999999996
        (10, 0.04, 0),
        (10, 1, 1),
        (10, 8, 8),
        (10, np.int64(3), 3),
        (10, np.float32(0.5), 5),
    ],
)
@pytest.mark.parametrize(
    ("cls", "name"),
    [(TrimmedKMeans, "contamination"), (KMeansMinusMinus, "n_outliers")],
)
def test_shares_and_counts_become_whole_rows(
    cls, name, n_rows, share_or_count, n_trimmed
):
    X = np.random.default_rng(0).normal(size=(n_rows, 2))
    model = cls(2, random_state=0, **{name: share_or_count}).fit(X)
    assert model.n_outliers_ == n_trimmed
    # exactly the costliest rows go
    costliest = np.argsort(model.outlier_scores_)[n_rows - n_trimmed :]
    assert_array_equal(np.flatnonzero(model.outlier_mask_), np.sort(costliest))


def test_rows_exactly_on_their_center_are_not_outliers():
    # the center of each group is one of its rows, at distance 0
    X = column(-1, 0, 1, 9, 10, 11, 50)
    model = TrimmedKMeans(2, contamination=1, random_state=0).fit(X)
    assert_array_equal(model.outlier_mask_, np.arange(7) == 6)
    assert_array_equal(np.sort(model.cluster_centers_.ravel()), (0, 10))


def test_ties_at_the_cut_keep_the_lower_row():
    # -2 and 2 are equally far from the only center, 0, and stay so
    X = column(2, -1, 0, 1, -2)
    model = TrimmedKMeans(1, contamination=1, init=[[0.0]], n_swaps=0).fit(X)
    assert_array_equal(model.labels_, (0, 0, 0, 0, -1))


def test_an_empty_cluster_keeps_its_center():
    start = column(0.5, 10.5, 1000)
    for cls in (TrimmedKMeans, KMeansMinusMinus):
        options = {"n_swaps": 0} if cls is TrimmedKMeans else {}
        model = cls(3, init=start, **options).fit(FIVE[:4])
        assert_array_equal(model.cluster_centers_, start)
        assert_array_equal(model.labels_, (0, 0, 1, 1))
        assert model.objective_ == 1


def test_one_cluster_is_a_spherical_trimmed_mean():
    # mean (0 + 1 + 1 + 2) / 4, costs 1, 0, 0 and 1; 30 and 40 are trimmed
    X = column(30, 0, 1, 1, 2, 40)
    model = TrimmedKMeans(1, contamination=2, random_state=0).fit(X)
    assert model.cluster_centers_ == 1
    assert model.objective_ == 2
    assert_array_equal(model.labels_, (-1, 0, 0, 0, 0, -1))


def test_a_boundary_row_keeps_the_share_that_fits():
    # weights 1 + 1 + 3 + 2 = 7 less 1 leave 6: both rows at 0 and 1 (mass 2), the
    # heavy one (3) and half of the row at 7, whose weight is 2
    X, weights = column(0, 1, 4, 7), np.array([1.0, 1.0, 3.0, 2.0])
    model = TrimmedKMeans(1, contamination=1, init=[[2.0]], n_swaps=0)
    model.fit(X, sample_weight=weights)
    end = reference.concentration_steps(X, [[2.0]], 1, weight=weights)
    # mean (0 + 1 + 12 + 7) / 6 = 10/3, where 0 and 7 have costs 100/9 and 121/9
    assert_allclose(model.cluster_centers_, 10 / 3, rtol=1e-15)
    assert_array_equal(model.inlier_weights_, (1, 1, 1, 0.5))
    assert_array_equal(model.labels_, (0, 0, 0, 0))  # some of each row is kept
    assert_allclose(model.objective_, (100 + 49 + 3 * 4 + 121) / 9, rtol=1e-15)
    assert_allclose(model.objective_, end.objective, rtol=1e-15)


@pytest.mark.parametrize("far_clump", [False, True])
def test_swaps_reach_what_the_true_centers_lead_to(far_clump):
    for seed in range(8):
        X, _, centers = make_outlier_blobs(
            500, 4, 8, separation=1.5, far_clump=far_clump, random_state=seed
        )
        options = {"contamination": 0.1, "random_state": seed}
        from_truth = TrimmedKMeans(8, init=centers, n_swaps=0, **options).fit(X)
        assert (
            TrimmedKMeans(8, **options).fit(X).objective_
            <= 1.01 * from_truth.objective_
        )


@pytest.mark.parametrize(
    "model",
    [
        TrimmedKMeans(4),
        KMeansMinusMinus(4, n_outliers=9),
        RTKM(4, contamination=0.1),
        RTKM(4, contamination=0.1, step=1.1, tol=1e-3),
    ],
    ids=str,
)
def test_steps_do_not_ask_again_how_much_is_trimmed(model, monkeypatch):
    X = np.random.default_rng(0).normal(size=(300, 2))
    n_trimmed, asked = type(model)._n_trimmed, []

    def count(self, X):
        asked.append(X)
        return n_trimmed(self, X)

    monkeypatch.setattr(type(model), "_n_trimmed", count)
    model.set_params(n_init=1, random_state=0).fit(X)
    assert len(model.objective_path_) > 6
    # by the check of the rows, the seeding, the start, and twice at the end
    assert len(asked) <= 5
