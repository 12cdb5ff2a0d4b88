"""The average F1 over memberships, by hand and against all matchings."""

from itertools import permutations, product

import numpy as np
import pytest
from clusterings import (
    CROSSED_PREDICTION,
    CROSSED_TRUTH,
    f1,
    generators,
    matrices,
    sets,
)
from hypothesis import given, strategies as st

from rtkm.metrics import average_f1


def test_micro_counts_memberships():
    # T1 with Q1 shares 3, T2 with Q2 shares 3: 2*6/(5 + 3 + 3 + 5)
    micro = average_f1(CROSSED_TRUTH, CROSSED_PREDICTION, average="micro")
    assert micro == pytest.approx(0.75)


def test_micro_best_counts_a_repeated_set_twice_and_an_unused_one_once():
    # Q2 shares 4 with T1 and 3 with T2, Q1 is left: 2*7/(5 + 5 + 3 + 5 + 3)
    micro = average_f1(
        CROSSED_TRUTH, CROSSED_PREDICTION, matching="best", average="micro"
    )
    assert micro == pytest.approx(2 / 3)


def test_micro_uses_the_matching_that_is_best_for_macro():
    # as numbered: 2*1/5 + 2*1/5 = .8, exchanged: 0 + 2*3/8 = .75; so 2 rows are right,
    # not 3
    truth, prediction = [0, 1, 1, 1, 1], [0, 0, 0, 0, 1]
    assert average_f1(truth, prediction, average="micro") == pytest.approx(2 / 5)


def test_micro_counts_unmatched_sets_on_either_side():
    # 2*2/(3 + 2 + 1), the last for the false cluster
    assert average_f1([0, 0, 0], [0, 0, 1], average="micro") == pytest.approx(2 / 3)
    # 2*2/(2 + 4 + 2), the last for the cluster that was missed
    missed = [0, 0, 1, 1], [0, 0, 0, 0]
    assert average_f1(*missed, average="micro") == pytest.approx(1 / 2)
    # 2*(2 + 2)/(2 + 4 + 2 + 4)
    best = average_f1(*missed, matching="best", average="micro")
    assert best == pytest.approx(2 / 3)


@pytest.mark.parametrize("matching", ["assignment", "best"])
@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_micro_breaks_ties_by_the_larger_overlap(matching, order):
    # F1 of T with Q1 and Q2: 2*1/(4 + 1) = 2*2/(4 + 6); 2 is more than 1, so
    # 2*2/(4 + 6 + 1), and below 4 true and 2 predicted outliers more
    truth = sets(8, {1, 2, 3, 4})
    prediction = sets(8, {1}, {1, 2, 5, 6, 7, 8})[:, order]
    micro = average_f1(truth, prediction, matching=matching, average="micro")
    assert micro == pytest.approx(4 / 17)


def test_micro_best_leaves_a_set_that_lost_a_tie_unused():
    # T1 goes with Q2 as above, and so does T2, with 4; Q1 is left:
    # 2*(2 + 4)/(4 + 6 + 4 + 6 + 1)
    truth = sets(8, {1, 2, 3, 4}, {5, 6, 7, 8})
    prediction = sets(8, {1}, {1, 2, 5, 6, 7, 8})
    micro = average_f1(truth, prediction, matching="best", average="micro")
    assert micro == pytest.approx(12 / 21)


@pytest.mark.parametrize("matching", ["assignment", "best"])
def test_micro_counts_outliers_if_the_truth_has_some(matching):
    options = {"matching": matching, "average": "micro"}
    # 2*2/(2 + 3 + 1 + 0)
    assert average_f1([0, 0, -1], [0, 0, 0], **options) == pytest.approx(2 / 3)
    # 2*(1 + 1)/(2 + 1 + 1 + 2)
    assert average_f1([0, 0, -1], [0, -1, -1], **options) == pytest.approx(2 / 3)
    # 2*2/(3 + 2)
    assert average_f1([0, 0, 0], [0, 0, -1], **options) == pytest.approx(4 / 5)
    # nothing shared: 0/(2 + 2 + 2 + 2)
    assert average_f1([0, 0, -1, -1], [-1, -1, 0, 0], **options) == 0


@pytest.mark.parametrize("matching", ["assignment", "best"])
def test_empty_sets_do_not_count_in_micro(matching):
    both = [[1, 0], [1, 0]]
    assert average_f1(both, both, matching=matching, average="micro") == 1


@given(st.integers(1, 4), st.integers(0, 8), generators)
def test_micro_is_the_accuracy_after_matching(k, n_more, rng):
    truth, prediction = (
        rng.permutation(np.r_[np.arange(k), rng.integers(k, size=n_more)])
        for _ in range(2)
    )

    def macro_and_accuracy(order):
        named = np.array(order)[prediction]
        scores = [f1(truth == label, named == label) for label in range(k)]
        return round(sum(scores), 9), (named == truth).mean()

    accuracy = max(map(macro_and_accuracy, permutations(range(k))))[1]
    micro = average_f1(truth, prediction, average="micro")
    assert micro == pytest.approx(accuracy)


@given(matrices, matrices)
def test_micro_assignment_is_the_fullest_of_the_best_matchings(truth, prediction):
    T, Q = list(truth.T), list(prediction.T)
    Q += [np.zeros(len(truth), dtype=bool)] * (len(T) - len(Q))

    def macro_and_overlap(order):
        overlap = sum((a & b).sum() for a, b in zip(T, order, strict=True))
        return round(sum(map(f1, T, order)), 9), overlap

    overlap = max(map(macro_and_overlap, permutations(Q, len(T))))[1]
    outliers, flagged = ~truth.any(axis=1), ~prediction.any(axis=1)
    size = truth.sum() + prediction.sum()
    if outliers.any():
        overlap += (outliers & flagged).sum()
        size += outliers.sum() + flagged.sum()
    micro = average_f1(truth, prediction, average="micro")
    assert micro == pytest.approx(2 * overlap / size)


@given(matrices, matrices)
def test_micro_best_is_the_most_favorable_of_the_best_choices(truth, prediction):
    truth, prediction = (np.c_[M, ~M.any(axis=1)] for M in (truth, prediction))
    Q = list(prediction.T)  # the outliers are one set more: there are none left

    def choices(a):
        ranks = [(f1(a, b), (a & b).sum()) for b in Q]
        return [j for j in range(len(Q)) if ranks[j] == max(ranks) and ranks[j][0] > 0]

    def score(chosen):
        pairs = [(a, Q[j]) for a, j in zip(truth.T, chosen, strict=True) if j >= 0]
        left = sum(b.sum() for j, b in enumerate(Q) if j not in chosen)
        overlap = sum((a & b).sum() for a, b in pairs)
        return 2 * overlap / (truth.sum() + sum(b.sum() for _, b in pairs) + left)

    expected = max(map(score, product(*(choices(a) or [-1] for a in truth.T))))
    micro = average_f1(truth, prediction, matching="best", average="micro")
    assert micro == pytest.approx(expected)


@given(matrices, matrices)
def test_micro_is_symmetric_if_both_sides_have_outliers(truth, prediction):
    T, Q = (np.vstack([M, np.zeros_like(M[:1])]) for M in (truth, prediction))
    micro = average_f1(T, Q, average="micro")
    assert average_f1(Q, T, average="micro") == pytest.approx(micro)
