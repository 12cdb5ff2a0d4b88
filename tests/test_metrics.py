"""The metrics, on cases worked by hand and by their properties."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.exceptions import UndefinedMetricWarning

from rtkm.metrics import average_f1, outlier_me


def sets(n, *members):
    """Write sets of the points 1..n as an (n, K) membership matrix."""
    return np.array([[i in each for each in members] for i in range(1, n + 1)])


# F1 of T1, T2 (rows) with Q1, Q2: [[2*3/8, 2*4/10], [0, 2*3/8]] = [[.75, .8], [0, .75]]
CROSSED_TRUTH = sets(6, {2, 3, 4, 5, 6}, {1, 4, 5})
CROSSED_PREDICTION = sets(6, {2, 3, 6}, {1, 3, 4, 5, 6})

n_rows = st.shared(st.integers(1, 12), key="n_rows")
labelings = n_rows.flatmap(lambda n: arrays(np.int64, n, elements=st.integers(-1, 4)))
matrices = n_rows.flatmap(
    lambda n: st.integers(1, 4).flatmap(lambda k: arrays(bool, (n, k)))
)


def test_assignment_matches_one_to_one_for_the_greatest_sum():
    # (.75 + .75) / 2, for .8 would leave T2 with a score of 0
    assert average_f1(CROSSED_TRUTH, CROSSED_PREDICTION) == pytest.approx(0.75)


def test_best_may_use_a_predicted_set_twice():
    # (max(.75, .8) + max(0, .75)) / 2
    score = average_f1(CROSSED_TRUTH, CROSSED_PREDICTION, matching="best")
    assert score == pytest.approx(0.775)


def test_overlapping_prediction_of_three_clusters():
    # (2*2/5 + 2*2/6 + 2*2/6) / 3 = (4/5 + 2/3 + 2/3) / 3
    truth = sets(8, {1, 2, 3}, {4, 5}, {6, 7, 8})
    prediction = sets(8, {1, 2}, {3, 4, 5, 6}, {3, 7, 8})
    assert average_f1(truth, prediction) == pytest.approx(0.711111, abs=1e-6)


def test_published_wbc_counts_give_the_published_scores():
    # 447 inliers and 226 outliers right, 11 false outliers, 15 missed:
    # (2*447/(458 + 462) + 2*226/(241 + 237)) / 2 = (.971739 + .945607) / 2 = .958673
    # sqrt((11/458)^2 + (15/241)^2) = sqrt(.000577 + .003874) = .066714
    truth = np.repeat([0, 0, -1, -1], [447, 11, 15, 226])
    prediction = np.repeat([0, -1, 0, -1], [447, 11, 15, 226])
    assert average_f1(truth, prediction) == pytest.approx(0.958673, abs=1e-6)
    me = outlier_me(truth == -1, prediction == -1)
    assert me == pytest.approx(0.066714, abs=1e-6)


@pytest.mark.parametrize("matching", ["assignment", "best"])
def test_outliers_match_only_outliers(matching):
    # the true outliers are the predicted cluster 0, and the other way round: 0 each
    assert average_f1([0, 0, -1, -1], [-1, -1, 0, 0], matching=matching) == 0


def test_missed_outliers_score_zero():
    # (2*2/(2 + 3) + 0) / 2
    assert average_f1([0, 0, -1], [0, 0, 0]) == pytest.approx(0.4)


def test_predicted_outliers_are_no_set_if_the_truth_has_none():
    # 2*2/(3 + 2), divided by the one true set
    assert average_f1([0, 0, 0], [0, 0, -1]) == pytest.approx(0.8)


def test_unmatched_true_set_scores_zero():
    # T1 with Q: 2*2/6, T2 unmatched; best: T2 with Q again, so 2/3 both times
    assert average_f1([0, 0, 1, 1], [0, 0, 0, 0]) == pytest.approx(1 / 3)
    best = average_f1([0, 0, 1, 1], [0, 0, 0, 0], matching="best")
    assert best == pytest.approx(2 / 3)


def test_surplus_predicted_set_is_ignored():
    # T with the larger half: 2*2/(3 + 2), divided by the one true set
    assert average_f1([0, 0, 0], [0, 0, 1]) == pytest.approx(0.8)


def test_empty_true_set_scores_zero():
    # (1 + 0) / 2, for the F1 of two empty sets is 0
    both = [[1, 0], [1, 0]]
    assert average_f1(both, both) == pytest.approx(0.5)


@pytest.mark.parametrize("matching", ["assignment", "best"])
def test_all_rows_outliers(matching):
    assert average_f1([-1, -1], [-1, -1], matching=matching) == 1
    # (0 + 2*1/(1 + 2)) / 2
    half = average_f1([0, -1], [-1, -1], matching=matching)
    assert half == pytest.approx(1 / 3)
    # 2*1/(2 + 1): the true outliers are the only set
    most = average_f1([-1, -1], [0, -1], matching=matching)
    assert most == pytest.approx(2 / 3)


@given(labelings)
def test_perfect_prediction_scores_one(labels):
    assert average_f1(labels, labels) == pytest.approx(1)
    assert average_f1(labels, labels, matching="best") == pytest.approx(1)


@given(matrices, matrices, st.randoms(use_true_random=False))
def test_order_of_the_clusters_changes_nothing(truth, prediction, random):
    score = average_f1(truth, prediction)
    T, Q = (
        M[:, random.sample(range(M.shape[1]), M.shape[1])] for M in (truth, prediction)
    )
    assert average_f1(T, Q) == pytest.approx(score)


@given(matrices, matrices)
def test_assignment_is_the_best_of_all_matchings(truth, prediction):
    def f1(a, b):
        return 2 * (a & b).sum() / (a.sum() + b.sum()) if a.any() or b.any() else 0

    T, Q = list(truth.T), list(prediction.T)
    Q += [np.zeros(len(truth), dtype=bool)] * (len(T) - len(Q))
    total = max(sum(map(f1, T, order)) for order in permutations(Q, len(T)))
    outliers = ~truth.any(axis=1)
    if outliers.any():
        total += f1(outliers, ~prediction.any(axis=1))
    expected = total / (len(T) + outliers.any())
    assert average_f1(truth, prediction) == pytest.approx(expected)


@given(matrices, matrices)
def test_best_is_never_below_assignment(truth, prediction):
    best = average_f1(truth, prediction, matching="best")
    assert best >= average_f1(truth, prediction) - 1e-12
    assert best <= 1 + 1e-12


@given(labelings, labelings)
def test_labels_and_memberships_agree(truth, prediction):
    score = average_f1(truth, prediction)
    T, Q = ((M[:, None] == np.unique(M[M >= 0])) for M in (truth, prediction))
    assert average_f1(T, Q) == pytest.approx(score)
    assert average_f1(T.astype(float), prediction) == pytest.approx(score)
    assert average_f1(truth, Q.astype(int).tolist()) == pytest.approx(score)


@pytest.mark.parametrize(
    ("truth", "prediction", "error", "message"),
    [
        (
            [0, 1],
            [0, 1, 1],
            ValueError,
            "truth has 2 rows and prediction 3; expected the same rows in both.",
        ),
        (
            [[[0]]],
            [0],
            ValueError,
            "truth has shape (1, 1, 1); expected n labels or an (n, K) membership "
            "matrix, with at least one row.",
        ),
        (
            [0],
            [],
            ValueError,
            "prediction has shape (0,); expected n labels or an (n, K) membership "
            "matrix, with at least one row.",
        ),
        (
            [0, 1],
            [[0.5, 0.5], [0.0, 1.0]],
            ValueError,
            "prediction holds the membership 0.5; expected 0 or 1 only, such as "
            "memberships > 0.5.",
        ),
        (
            [[np.nan, 1.0]],
            [0],
            ValueError,
            "truth holds the membership nan; expected 0 or 1 only, such as "
            "memberships > 0.5.",
        ),
        (
            [0.0, 1.0],
            [0, 1],
            TypeError,
            "truth has dtype float64; expected integer labels, -1 for outliers, or an "
            "(n, K) membership matrix.",
        ),
        (
            [0, 1],
            [True, False],
            TypeError,
            "prediction has dtype bool; expected integer labels, -1 for outliers, or "
            "an (n, K) membership matrix.",
        ),
        (
            [0, -2],
            [0, 1],
            ValueError,
            "truth holds the label -2; expected integers from 0, and -1 for outliers.",
        ),
    ],
)
def test_average_f1_refuses(truth, prediction, error, message):
    with pytest.raises(error) as caught:
        average_f1(truth, prediction)
    assert str(caught.value) == message


def test_unknown_matching_is_refused():
    with pytest.raises(ValueError, match="matching='greedy' is not valid") as caught:
        average_f1([0], [0], matching="greedy")
    assert str(caught.value).endswith("average_f1; expected 'assignment' or 'best'.")


def test_me_with_one_of_two_outliers_found():
    # FPR 1/4, TPR 1/2: sqrt(1/16 + 1/4)
    truth = np.array([True, True, False, False, False, False])
    prediction = np.array([True, False, True, False, False, False])
    assert outlier_me(truth, prediction) == pytest.approx(0.559017, abs=1e-6)


@given(n_rows.flatmap(lambda n: arrays(bool, n + 2)))
def test_me_of_perfect_empty_full_and_reversed_predictions(truth):
    truth[:2] = True, False  # at least one of each
    assert outlier_me(truth, truth) == 0
    assert outlier_me(truth, np.zeros_like(truth)) == 1
    assert outlier_me(truth, np.ones_like(truth)) == 1
    assert outlier_me(truth, ~truth) == pytest.approx(np.sqrt(2))


@pytest.mark.parametrize(("value", "name"), [(False, "outliers"), (True, "inliers")])
def test_me_is_nan_if_a_class_is_missing(value, name):
    message = f"truth has no {name}, so outlier_me is undefined; returning NaN."
    with pytest.warns(UndefinedMetricWarning) as caught:
        assert np.isnan(outlier_me([value, value], [True, False]))
    assert [str(each.message) for each in caught] == [message]
    assert caught[0].filename == __file__


@pytest.mark.parametrize("coding", [[0, 1], [1, -1], [0.0, 1.0]])
def test_me_refuses_codes_in_place_of_masks(coding):
    mask = [True, False]
    dtype = np.asarray(coding).dtype
    for name, masks in (("truth", (coding, mask)), ("prediction", (mask, coding))):
        with pytest.raises(TypeError) as caught:
            outlier_me(*masks)
        assert str(caught.value) == (
            f"{name} has dtype {dtype}; expected a boolean mask of the outliers, "
            "such as labels == -1."
        )


def test_me_refuses_unequal_lengths_and_matrices():
    with pytest.raises(ValueError, match="truth has 1 rows and prediction 2; expected"):
        outlier_me([True], [True, False])
    with pytest.raises(
        ValueError, match=r"truth has shape \(1, 2\); expected one value"
    ):
        outlier_me([[True, False]], [[True, False]])
