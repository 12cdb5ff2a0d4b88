"""Scores of outliers, on cases worked by hand and by their properties."""

import numpy as np
import pytest
from clusterings import n_rows
from hypothesis import assume, given, strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import average_precision_score, roc_auc_score

from rtkm.metrics import outlier_average_precision, outlier_me, outlier_roc_auc


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


# Scores of an order

ORDERS = [outlier_roc_auc, outlier_average_precision]

masks = n_rows.flatmap(lambda n: arrays(bool, n + 2))
numbers = st.integers(-4, 4) | st.floats(-1e6, 1e6)
score_lists = n_rows.flatmap(lambda n: arrays(float, n + 2, elements=numbers))


def with_both(truth):
    return np.r_[True, False, truth[2:]]


def test_orders_with_ties_by_hand():
    # the outliers score 5, 3, 1 and the inliers 4, 3, 0
    truth = np.array([True, False, True, False, True, False])
    scores = [5, 4, 3, 3, 1, 0]
    # wins 3 + (1 + 1/2) + 1 of 9
    assert outlier_roc_auc(truth, scores) == pytest.approx(5.5 / 9)
    # 1/1 at 5; 2/4 at 3, where two rows come together; 3/5 at 1
    average = outlier_average_precision(truth, scores)
    assert average == pytest.approx((1 + 2 / 4 + 3 / 5) / 3)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (outlier_roc_auc, roc_auc_score),
        (outlier_average_precision, average_precision_score),
    ],
)
@given(truth=masks, scores=score_lists)
def test_orders_are_scored_as_in_scikit_learn(ours, theirs, truth, scores):
    truth = with_both(truth)
    assert ours(truth, scores) == pytest.approx(theirs(truth, scores))


@pytest.mark.parametrize("metric", ORDERS)
@given(truth=masks, scores=score_lists)
def test_only_the_order_of_scores_counts(metric, truth, scores):
    assume(scores.min() < scores.max())
    truth = with_both(truth)
    score = metric(truth, scores)
    stretched = np.where(scores == scores.max(), np.inf, scores)
    stretched[scores == scores.min()] = -np.inf
    assert metric(truth, stretched) == pytest.approx(score)
    assert metric(truth[::-1], scores[::-1]) == pytest.approx(score)


@pytest.mark.parametrize("metric", ORDERS)
@given(truth=masks)
def test_perfect_order_scores_one(metric, truth):
    truth = with_both(truth)
    assert metric(truth, np.where(truth, np.inf, 1.0)) == pytest.approx(1)


@given(masks, score_lists)
def test_reversed_order_has_the_complementary_area(truth, scores):
    truth = with_both(truth)
    area = outlier_roc_auc(truth, scores)
    assert outlier_roc_auc(truth, -scores) == pytest.approx(1 - area)


def test_infinite_scores_tie():
    # both rows at infinity: 1/2, and 1/2 of them are outliers
    truth, scores = [True, False], [np.inf, np.inf]
    assert outlier_roc_auc(truth, scores) == 0.5
    assert outlier_average_precision(truth, scores) == 0.5


@pytest.mark.parametrize("metric", ORDERS)
@pytest.mark.parametrize(("value", "name"), [(False, "outliers"), (True, "inliers")])
def test_orders_are_nan_if_a_class_is_missing(metric, value, name):
    with pytest.warns(UndefinedMetricWarning) as caught:
        assert np.isnan(metric([value, value], [1.0, 2.0]))
    assert [str(each.message) for each in caught] == [
        f"truth_mask has no {name}, so {metric.__name__} is undefined; returning NaN."
    ]
    assert caught[0].filename == __file__


@pytest.mark.parametrize("metric", ORDERS)
@pytest.mark.parametrize(
    ("truth", "scores", "error", "message"),
    [
        (
            [1, 0],
            [1.0, 2.0],
            TypeError,
            "truth_mask has dtype int64; expected a boolean mask of the outliers, such "
            "as labels == -1.",
        ),
        (
            [[True, False]],
            [1.0, 2.0],
            ValueError,
            "truth_mask has shape (1, 2); expected one value per row.",
        ),
        (
            [True, False],
            [[1.0, 2.0]],
            ValueError,
            "scores has shape (1, 2); expected one value per row.",
        ),
        (
            [True, False],
            [1.0, 2.0, 3.0],
            ValueError,
            "truth_mask has 2 rows and scores 3; expected the same rows in both.",
        ),
        (
            [True, False, True],
            [np.nan, 2.0, np.nan],
            ValueError,
            "scores holds NaN in 2 rows; expected a number in each, inf for a row "
            "beyond all others.",
        ),
        (
            [True, False],
            [True, False],
            TypeError,
            "scores has dtype bool; expected numbers, larger for more outlying rows, "
            "such as outlier_scores_.",
        ),
        (
            [True, False],
            ["1", "2"],
            TypeError,
            "scores has dtype <U1; expected numbers, larger for more outlying rows, "
            "such as outlier_scores_.",
        ),
    ],
)
def test_orders_refuse(metric, truth, scores, error, message):
    with pytest.raises(error) as caught:
        metric(truth, scores)
    assert str(caught.value) == message
