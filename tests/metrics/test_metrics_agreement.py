"""Agreement of clusterings, on cases worked by hand and by its properties."""

from itertools import combinations

import numpy as np
import pytest
from clusterings import clusterings, columns, generators, labelings, matrices, sets
from hypothesis import assume, given
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import adjusted_rand_score

from rtkm.metrics import _pairs, ari_on_inliers, omega_index, overlapping_nmi

AGREEMENTS = [omega_index, overlapping_nmi]


def two_rows_or_more(*sides):
    assume(len(sides[0]) > 1)  # a single row has no pairs


@pytest.mark.parametrize("metric", AGREEMENTS)
@given(truth=clusterings)
def test_same_clusters_score_one(metric, truth):
    two_rows_or_more(truth)
    assert metric(truth, truth) == pytest.approx(1)


@pytest.mark.parametrize("metric", AGREEMENTS)
@given(truth=clusterings, prediction=clusterings)
def test_sides_may_be_exchanged(metric, truth, prediction):
    two_rows_or_more(truth)
    score = metric(truth, prediction)
    assert metric(prediction, truth) == pytest.approx(score)


@pytest.mark.parametrize("metric", AGREEMENTS)
@given(truth=matrices, prediction=matrices, rng=generators)
def test_order_of_rows_and_clusters_changes_nothing(metric, truth, prediction, rng):
    two_rows_or_more(truth)
    score = metric(truth, prediction)
    rows = rng.permutation(len(truth))
    T, Q = (rng.permutation(M[rows], axis=1) for M in (truth, prediction))
    assert metric(T, Q) == pytest.approx(score)


@pytest.mark.parametrize("metric", AGREEMENTS)
@given(truth=labelings, prediction=labelings)
def test_labels_and_memberships_agree(metric, truth, prediction):
    two_rows_or_more(truth)
    score = metric(truth, prediction)
    assert metric(columns(truth), columns(prediction).astype(float)) == score


@pytest.mark.parametrize("metric", AGREEMENTS)
@given(truth=matrices, prediction=matrices)
def test_empty_clusters_change_nothing(metric, truth, prediction):
    two_rows_or_more(truth)
    score = metric(truth, prediction)
    empty = np.zeros((len(truth), 2), dtype=bool)
    assert metric(truth, np.hstack([prediction, empty])) == score


@pytest.mark.parametrize("metric", [*AGREEMENTS, ari_on_inliers])
def test_independent_clusters_score_about_zero(metric):
    rng = np.random.default_rng(0)
    T, Q = rng.integers(5, size=(2, 5000))
    score = metric(T, Q)
    assert abs(getattr(score, "ari", score)) < 0.005


@pytest.mark.parametrize("metric", [*AGREEMENTS, ari_on_inliers])
@pytest.mark.parametrize(
    ("truth", "prediction", "error", "message"),
    [
        ([0, 1], [0], ValueError, "truth has 2 rows and prediction 1; expected the "),
        ([0.0, 1.0], [0, 1], TypeError, "truth has dtype float64; expected integer "),
        ([0, 1], [[2], [0]], ValueError, "prediction holds the membership 2; expecte"),
        ([0, -3], [0, 1], ValueError, "truth holds the label -3; expected integers "),
    ],
)
def test_agreement_refuses(metric, truth, prediction, error, message):
    with pytest.raises(error) as caught:
        metric(truth, prediction)
    assert str(caught.value).startswith(message)


# The omega index


def direct_omega(T, Q):
    """The definition, pair by pair."""
    pairs = list(combinations(range(len(T)), 2))
    shared = [[(M[i] & M[j]).sum() for i, j in pairs] for M in (T, Q)]
    t, q = np.array(shared)
    observed = (t == q).mean()
    expected = sum((t == j).mean() * (q == j).mean() for j in range(T.shape[1] + 1))
    return 1.0 if expected == 1 else (observed - expected) / (1 - expected)


def test_omega_of_four_rows():
    # pairs   12 13 14 23 24 34
    # T        1  1  0  1  0  1   pairs in 0, 1, 2 clusters: 2, 4, 0
    # Q        1  0  0  1  1  2                              2, 3, 1
    # 3/6 agree, by chance (2*2 + 4*3 + 0*1)/36 = 4/9: (1/2 - 4/9)/(5/9) = 1/10
    truth = sets(4, {1, 2, 3}, {3, 4})
    prediction = sets(4, {1, 2}, {2, 3, 4}, {3, 4})
    assert omega_index(truth, prediction) == pytest.approx(0.1)


def test_omega_can_be_negative():
    # pairs 12, 34 in the truth and 13, 24 predicted: 2/6 agree, by chance
    # (4*4 + 2*2)/36 = 5/9: (1/3 - 5/9)/(4/9) = -1/2
    assert omega_index([0, 0, 1, 1], [0, 1, 0, 1]) == pytest.approx(-0.5)


@given(matrices, matrices)
def test_omega_follows_its_definition(truth, prediction):
    two_rows_or_more(truth)
    expected = direct_omega(truth, prediction)
    assert omega_index(truth, prediction) == pytest.approx(expected)


@given(labelings, labelings)
def test_omega_of_labels_is_the_adjusted_rand_index(truth, prediction):
    two_rows_or_more(truth)
    # every outlier is a cluster of its own
    alone = np.arange(10, 10 + len(truth))
    T, Q = (np.where(y < 0, alone, y) for y in (truth, prediction))
    assert omega_index(truth, prediction) == pytest.approx(adjusted_rand_score(T, Q))


def square_omega(T, Q):
    """The definition in matrices of all pairs."""
    above = np.triu_indices(len(T), 1)
    t, q = ((M.astype(int) @ M.T)[above] for M in (T, Q))
    counts = [np.bincount(each, minlength=20) / len(t) for each in (t, q)]
    expected = counts[0] @ counts[1]
    return ((t == q).mean() - expected) / (1 - expected)


@pytest.mark.parametrize("block", [1, 1000, 10_000, 2**20])
def test_omega_in_blocks_is_omega_at_once(monkeypatch, block):
    # 300 rows, most of them patterns of their own: blocks of 1, 3, 34 and all of them
    monkeypatch.setattr(_pairs, "BLOCK", block)
    rng = np.random.default_rng(1)
    T = rng.random((300, 7)) < 0.3
    Q = T ^ (rng.random((300, 7)) < 0.1)
    T, Q = np.vstack([T, T[:40]]), np.vstack([Q, Q[:40]])
    assert omega_index(T, Q) == pytest.approx(square_omega(T, Q), rel=1e-12)


def test_omega_of_2000_rows_in_14_overlapping_clusters():
    rng = np.random.default_rng(2)
    T = rng.random((2000, 14)) < 0.3
    Q = T ^ (rng.random((2000, 14)) < 0.1)
    assert omega_index(T, Q) == pytest.approx(square_omega(T, Q), rel=1e-12)


def test_omega_counts_equal_rows_together():
    # six patterns, and more pairs of rows than would fit
    T, Q = np.repeat([[0, 0, 1, 1, 1, 2], [0, 1, 0, 1, 1, 1]], 10**5, axis=1)
    expected = adjusted_rand_score(T, Q)
    assert omega_index(T, Q) == pytest.approx(expected, rel=1e-12)


def test_omega_is_one_if_chance_alone_agrees():
    assert omega_index([-1, -1, -1], [[0], [0], [0]]) == 1
    assert omega_index([0, 0, 0], [1, 1, 1]) == 1
    # all pairs in two clusters, against all in one: never equal, nor by chance
    assert omega_index([[1, 1], [1, 1]], [0, 0]) == 0


def test_omega_of_one_row_is_nan():
    with pytest.warns(UndefinedMetricWarning) as caught:
        assert np.isnan(omega_index([0], [0]))
    message = "one row has no pairs, so omega_index is undefined; returning NaN."
    assert [str(each.message) for each in caught] == [message]
    assert caught[0].filename == __file__


# Normalized mutual information


def test_nmi_of_four_rows():
    # T = {1,2}, {3,4}: 1 bit each; Q = {1,2,3}, {3,4}: .811278 and 1
    # T1 and Q1: yes/yes 2/4, no/no 1/4, no/yes 1/4: 1 > 1/2, joint entropy 1.5
    #   left of T1: 1.5 - .811278 = .688722, and of Q1: 1.5 - 1 = .5
    # T1 and Q2: complements, 0 < 1; T2 and Q1: 1/4 yes/yes, 1/4, 1/2: .5 < 1
    # T2 and Q2: the same, nothing left
    # (2 - .688722 + 1.811278 - .5) / 2 = 1.311278, over max(2, 1.811278)
    truth, prediction = sets(4, {1, 2}, {3, 4}), sets(4, {1, 2, 3}, {3, 4})
    score = overlapping_nmi(truth, prediction)
    assert score == pytest.approx(0.655639, abs=1e-6)


def test_nmi_of_independent_halves_is_zero():
    assert overlapping_nmi([0, 0, 1, 1], [0, 1, 0, 1]) == pytest.approx(0)


def test_nmi_does_not_take_a_complement_for_the_set():
    assert overlapping_nmi(sets(4, {1, 2}), sets(4, {3, 4})) == 0


def test_nmi_is_lowered_by_a_set_found_twice():
    # (1 - 0 + 2 - 0) / 2 = 1.5, over max(1, 2)
    twice = overlapping_nmi(sets(4, {1, 2}), sets(4, {1, 2}, {1, 2}))
    assert twice == pytest.approx(0.75)


def test_nmi_is_lowered_by_a_set_unrelated_to_the_truth():
    # {1, 2} is found; {1, 3} is independent of it: (1 + 1) / 2, over max(1, 2)
    score = overlapping_nmi(sets(4, {1, 2}), sets(4, {1, 2}, {1, 3}))
    assert score == pytest.approx(0.5)


def test_nmi_without_sets_or_without_information():
    assert overlapping_nmi([-1, -1], [0, -1]) == 0
    assert overlapping_nmi([0, -1], [[0], [0]]) == 0
    assert overlapping_nmi([-1, -1], [-1, -1]) == 1
    # sets of all rows
    assert overlapping_nmi([0, 0], [[1, 1], [1, 1]]) == 1
    assert overlapping_nmi([0, 0], [0, 1]) == 0


@given(clusterings, clusterings)
def test_nmi_lies_between_zero_and_one(truth, prediction):
    assert 0 <= overlapping_nmi(truth, prediction) <= 1


# The adjusted Rand index on inliers


def test_ari_of_the_common_inliers():
    # rows 1-4 are inliers on both sides: 0 0 1 1 against 0 0 0 1
    # pairs together 2 and 3, in both 1, of 6: (1 - 2*3/6) / ((2 + 3)/2 - 2*3/6) = 0
    score = ari_on_inliers([0, 0, 1, 1, 1, -1, -1, -1], [0, 0, 0, 1, -1, 1, 1, -1])
    assert score == (0, 0.5)
    assert (score.ari, score.coverage) == (0, 0.5)


@given(labelings, labelings)
def test_ari_is_that_of_scikit_learn(truth, prediction):
    inliers = (truth >= 0) & (prediction >= 0)
    assume(inliers.sum() > 1)
    score = ari_on_inliers(truth, prediction)
    expected = adjusted_rand_score(truth[inliers], prediction[inliers])
    assert score.ari == pytest.approx(expected)
    assert score.coverage == inliers.mean()
    assert ari_on_inliers(prediction, truth) == pytest.approx(score)
    assert ari_on_inliers(columns(truth), columns(prediction).astype(int)) == score


@pytest.mark.parametrize(
    ("truth", "prediction", "coverage"),
    [([0, 1, -1], [-1, -1, 0], 0), ([0, 1, -1, 1], [1, -1, 0, -1], 0.25)],
)
def test_ari_of_fewer_than_two_common_inliers_is_nan(truth, prediction, coverage):
    with pytest.warns(UndefinedMetricWarning) as caught:
        score = ari_on_inliers(truth, prediction)
    assert np.isnan(score.ari)
    assert score.coverage == coverage
    assert [str(each.message) for each in caught] == [
        "fewer than two rows are inliers on both sides, so ari_on_inliers is "
        "undefined; returning NaN."
    ]
    assert caught[0].filename == __file__


def test_ari_refuses_overlaps():
    overlapping = [[1, 0, 0], [0, 1, 1], [1, 1, 1]]
    for name, sides in (
        ("truth", (overlapping, [0, 0, 1])),
        ("prediction", ([0, 0, 1], overlapping)),
    ):
        with pytest.raises(ValueError, match=f"^{name} has row 2 in 3 clu") as caught:
            ari_on_inliers(*sides)
        assert str(caught.value).endswith(
            "; ari_on_inliers takes one at most, omega_index any number."
        )
