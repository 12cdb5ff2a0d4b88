"""F1 of matched sets, on cases worked by hand and by its properties."""

from itertools import permutations

import numpy as np
import pytest
from clusterings import (
    CROSSED_PREDICTION,
    CROSSED_TRUTH,
    clusterings,
    columns,
    f1,
    generators,
    labelings,
    matrices,
    sets,
)
from hypothesis import given

from rtkm.metrics import average_f1, cardinality, outlier_me, trivial_f1

OPTIONS = [
    {"matching": matching, "average": average}
    for matching in ("assignment", "best")
    for average in ("macro", "micro")
]


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


@pytest.mark.parametrize("options", OPTIONS)
@given(labels=labelings)
def test_perfect_prediction_scores_one(options, labels):
    assert average_f1(labels, labels, **options) == pytest.approx(1)


@pytest.mark.parametrize("options", OPTIONS)
@given(truth=clusterings, prediction=clusterings)
def test_scores_lie_between_zero_and_one(options, truth, prediction):
    assert 0 <= average_f1(truth, prediction, **options) <= 1 + 1e-12


@pytest.mark.parametrize("options", OPTIONS)
@given(truth=matrices, prediction=matrices, rng=generators)
def test_order_of_rows_and_clusters_changes_nothing(options, truth, prediction, rng):
    score = average_f1(truth, prediction, **options)
    rows = rng.permutation(len(truth))
    T, Q = (rng.permutation(M[rows], axis=1) for M in (truth, prediction))
    assert average_f1(T, Q, **options) == pytest.approx(score)


@given(matrices, matrices)
def test_assignment_is_the_best_of_all_matchings(truth, prediction):
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
    T, Q = columns(truth), columns(prediction)
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


def test_unknown_average_is_refused():
    with pytest.raises(ValueError, match="average='weighted' is not valid") as caught:
        average_f1([0], [0], average="weighted")
    assert str(caught.value).endswith("average_f1; expected 'macro' or 'micro'.")


# The trivial answer, and the cardinality


def test_trivial_answer_on_three_sets_and_an_outlier():
    # sets of 2, 3 and 1 among 5 rows: (4/7 + 6/8 + 2/6 + 0) / 4 = 139/336
    truth = sets(5, {1, 2}, {2, 3, 4}, {4})
    assert trivial_f1(truth) == pytest.approx(139 / 336)
    # 2*(2 + 3 + 1)/(6 + 3*5 + 1)
    assert trivial_f1(truth, average="micro") == pytest.approx(12 / 22)


@pytest.mark.parametrize("options", OPTIONS)
def test_trivial_answer_finds_no_outliers(options):
    assert trivial_f1([-1, -1], **options) == 0


@pytest.mark.parametrize("average", ["macro", "micro"])
@given(truth=clusterings)
def test_matching_makes_no_difference_to_the_trivial_answer(average, truth):
    best = trivial_f1(truth, matching="best", average=average)
    assert best == pytest.approx(trivial_f1(truth, average=average))


def test_trivial_answer_refuses_what_average_f1_refuses():
    with pytest.raises(ValueError, match="average='none' is not valid for average_f1"):
        trivial_f1([0], average="none")
    with pytest.raises(ValueError, match=r"truth holds the membership 2; expected 0"):
        trivial_f1([[2, 0]])


def test_trivial_answer_and_cardinality_of_yeast(data_file):
    table = np.loadtxt(data_file("yeast/yeast.arff"), delimiter=",", comments="@")
    truth = table[:, -14:]
    assert truth.shape == (2417, 14)
    assert trivial_f1(truth) == pytest.approx(0.425, abs=5e-4)
    assert cardinality(truth) == pytest.approx(4.237, abs=5e-4)


def test_cardinality_counts_outliers_as_zero():
    # (2 + 1 + 0 + 2) / 4
    assert cardinality([[1, 1], [0, 1], [0, 0], [1, 1]]) == 1.25
    assert cardinality([0, 3, -1, 0]) == 0.75
    assert cardinality([-1, -1]) == 0


def test_cardinality_refuses_weights():
    with pytest.raises(ValueError, match=r"prediction holds the membership 0.5; expec"):
        cardinality([[0.5, 0.5]])
