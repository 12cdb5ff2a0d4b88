"""The capped simplex: cases worked by hand, a QP solver, KKT conditions, messages."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import reference
from hypothesis import example, given, settings, strategies as st
from scipy.optimize import LinearConstraint, minimize
from threadpoolctl import threadpool_limits

from rtkm.projections import capped_simplex, capped_simplex_rows

# entries this close to a bound are put on it, so the conditions hold to this much
SNAP = 1e-12
SOLVED = 5e-12

# Small integers over one of these make ties, entries exactly 1 apart and totals that
# fall on a breakpoint, or, over the last two, numbers that binary fractions round.
units = st.sampled_from([1.0, 4.0, 8.0, 3.0, 7.3])
integers = st.integers(-32, 32)
shares = st.integers(0, 24).map(lambda i: i / 24)
# puts entries a hair off a breakpoint, where a solver that stops early is wrong
nudges = st.sampled_from([0.0, 1e-9])


@st.composite
def weighted_problems(draw):
    """Entries, weights of which one is positive, and a total they can reach."""
    entries = draw(
        st.lists(st.tuples(integers, st.integers(0, 9)), min_size=1, max_size=8)
    )
    y, weight = np.array(entries, dtype=float).T
    if not weight.any():
        weight[0] = 1
    weight /= draw(units)
    y = y / draw(units) + draw(nudges) * np.arange(len(y))
    return y, weight, draw(shares) * weight.sum()


@st.composite
def row_problems(draw):
    """A small matrix and a total, whole or not, that its rows can reach."""
    n, k = draw(st.integers(1, 2)), draw(st.integers(1, 7))
    entries = draw(st.lists(integers, min_size=n * k, max_size=n * k))
    total = draw(st.one_of(st.integers(0, k), shares.map(lambda share: share * k)))
    Y = np.reshape(entries, (n, k)) / draw(units)
    return Y + draw(nudges) * np.arange(k), total


def solved(y, total, weight):
    """Minimize sum weight (w - y)^2 by Bitran and Hax's variable fixing, in fractions.

    The problem is solved without its bounds; whichever bound is violated by more weight
    holds the entries beyond it for good, and the rest is solved again. Nothing is
    rounded, and no shift is searched for.
    """
    y, weight = (
        [Fraction(v) for v in y.tolist()],
        [Fraction(v) for v in weight.tolist()],
    )
    left, free = Fraction(float(total)), list(range(len(y)))
    w = [Fraction(0)] * len(y)
    while free:
        mean = (sum(weight[i] * y[i] for i in free) - left) / sum(
            weight[i] for i in free
        )
        over, under = Fraction(0), Fraction(0)
        for i in free:
            w[i] = y[i] - mean
            over += weight[i] * max(w[i] - 1, 0)
            under += weight[i] * max(-w[i], 0)
        if over == under:
            break
        bound = int(over > under)
        fixed = [i for i in free if (w[i] >= 1 if bound else w[i] <= 0)]
        left -= bound * sum(weight[i] for i in fixed)
        free = [i for i in free if i not in fixed]
    return np.array([float(min(max(v, 0), 1)) for v in w])


def assert_optimal(w, y, total, weight=None):
    """Hold w to feasibility and to the Karush-Kuhn-Tucker conditions, exactly.

    The problem is convex, so a shift t with y <= t where w = 0, y >= t + 1 where w = 1,
    and y - w = t between is a proof that no other point is nearer.
    """
    weight = np.ones(len(y)) if weight is None else weight
    assert w.dtype == np.float64
    assert w.shape == y.shape
    assert ((w == 0) | (w == 1) | ((w >= SNAP) & (w <= 1 - SNAP))).all()
    scale = max(1, len(y), math.fsum(weight))
    assert abs(math.fsum(weight * w) - total) <= 1e-9 * scale
    counted = [i for i in range(len(y)) if weight[i] > 0]
    shift = {i: Fraction(float(y[i])) - Fraction(float(w[i])) for i in counted}
    at_least = [shift[i] for i in counted if w[i] < 1]
    at_most = [shift[i] for i in counted if w[i] > 0]
    if at_least and at_most:
        assert max(at_least) - min(at_most) <= 2 * Fraction(SNAP)


# Worked by hand


@pytest.mark.parametrize(
    ("y", "total", "expected"),
    [
        # shift -0.1: 1.0, 0.7, 0.3, -0.2
        ((0.9, 0.6, 0.2, -0.3), 2, (1, 0.7, 0.3, 0)),
        # shift 0.25: 0.65, 0.35, -0.05, -0.55
        ((0.9, 0.6, 0.2, -0.3), 1, (0.65, 0.35, 0, 0)),
        # shift 0.05: 1.95, 0.55, 0.45, -0.35
        ((2, 0.6, 0.5, -0.3), 2, (1, 0.55, 0.45, 0)),
        # any shift in [-5, -0.9]
        ((3, 2, -5, 0.1), 3, (1, 1, 0, 1)),
        # shift -0.8: 1.7, 1.4, 1.0, 0.5 are worth 3.5
        ((0.9, 0.6, 0.2, -0.3), 3.5, (1, 1, 1, 0.5)),
        # three tie for the last two places: shift 4/3
        ((9, 2, 2, 2), 3, (1, 2 / 3, 2 / 3, 2 / 3)),
        ((3, 2, -5, 0.1), 0, (0, 0, 0, 0)),
        ((3, 2, -5, 0.1), 4, (1, 1, 1, 1)),
        ((7.0,), 0.25, (0.25,)),
    ],
)
def test_worked_examples(y, total, expected):
    np.testing.assert_allclose(capped_simplex(y, total), expected, rtol=0, atol=1e-15)
    np.testing.assert_allclose(
        capped_simplex_rows([y], total), [expected], rtol=0, atol=1e-15
    )


def test_weighted_example_worked_by_hand():
    # shift 0.35: 2 * 0.65 + 1 * 0.25 - the third stays at 0 - are worth 1.55
    w = capped_simplex([1.0, 0.6, 0.1], 1.55, sample_weight=[2, 1, 5])
    np.testing.assert_allclose(w, [0.65, 0.25, 0], rtol=0, atol=1e-15)


def test_entries_at_a_bound_are_exactly_zero_or_one():
    assert capped_simplex([3, 2, -5, 0.1], 3).tolist() == [1, 1, 0, 1]
    # shift 0.25 + 1e-14/3 would leave 7e-15 on the last entry
    assert capped_simplex([0.75, 0.75, 0.25 + 1e-14], 1)[2] == 0
    # and here 1 - 1e-14 on the first
    assert capped_simplex_rows([[1.0, 1e-14, -1.0]], 1)[0, 0] == 1


# Against solvers of quadratic programs


@settings(max_examples=2000, deadline=None)
@given(row_problems())
@example((np.array([[2.0, 1.0, 1.0, 0.0]]), 2.0))
def test_rows_solve_the_quadratic_program(problem):
    Y, total = problem
    W = capped_simplex_rows(Y, total)
    for y, w in zip(Y, W, strict=True):
        assert_optimal(w, y, total)
        np.testing.assert_allclose(
            w, solved(y, total, np.ones(len(y))), rtol=0, atol=SOLVED
        )


@pytest.mark.slow
@settings(max_examples=2000, deadline=None)
@given(weighted_problems())
@example((np.array([1.0, 0.0, 5.0]), np.array([1.0, 1.0, 0.0]), 1.0))
def test_weighted_entries_solve_the_quadratic_program(problem):
    y, weight, total = problem
    w = capped_simplex(y, total, sample_weight=weight)
    assert_optimal(w, y, total, weight)
    counted = weight > 0
    expected = solved(y[counted], total, weight[counted])
    np.testing.assert_allclose(w[counted], expected, rtol=0, atol=SOLVED)


def test_projection_is_where_a_general_solver_comes_to():
    rng = np.random.default_rng(0)
    for trial in range(200):
        n = rng.integers(2, 9)
        y = rng.normal(scale=2, size=n)
        weight = rng.uniform(0.5, 2, size=n) if trial % 2 else np.ones(n)
        total = rng.uniform(0.1, 0.9) * weight.sum()
        found = minimize(
            lambda w, y=y, weight=weight: weight @ (w - y) ** 2,
            np.full(n, total / weight.sum()),
            jac=lambda w, y=y, weight=weight: 2 * weight * (w - y),
            bounds=[(0, 1)] * n,
            constraints=LinearConstraint(weight, total, total),
            method="SLSQP",
            options={"ftol": 1e-13},
        )
        w = capped_simplex(y, total, sample_weight=weight)
        np.testing.assert_allclose(w, found.x, rtol=0, atol=1e-5)
        np.testing.assert_allclose(w, solved(y, total, weight), rtol=0, atol=SOLVED)


@settings(max_examples=500, deadline=None)
@given(row_problems())
def test_vector_and_rows_agree(problem):
    Y, total = problem
    vectors = np.array([capped_simplex(y, total) for y in Y])
    np.testing.assert_allclose(
        capped_simplex_rows(Y, total), vectors, rtol=0, atol=1e-12
    )


# Numbers of any size


@settings(max_examples=500, deadline=None)
@given(
    st.lists(integers, min_size=1, max_size=30),
    units,
    shares,
    st.sampled_from([1e6, -1e9, 1e9, 2.0**40, 1e300]),
)
def test_large_entries_satisfy_the_conditions(y, unit, share, offset):
    y = np.array(y) / 16 / unit
    total = share * len(y)
    # all far from 0, and some far from the others
    for moved in (y + offset, np.where(np.arange(len(y)) % 2, y, y * offset)):
        assert_optimal(capped_simplex(moved, total), moved, total)
        assert_optimal(capped_simplex_rows([moved], total)[0], moved, total)


def test_entries_near_1e9_keep_the_digits_of_their_differences():
    # differences are multiples of 1/8, which a float holds beside 1e9
    y = np.array([0.875, 0.625, 0.25, -0.25])
    np.testing.assert_allclose(
        capped_simplex(y + 1e9, 2), capped_simplex(y, 2), atol=1e-15
    )
    np.testing.assert_allclose(
        capped_simplex_rows([y - 1e9], 2), capped_simplex_rows([y], 2), atol=1e-15
    )


def test_entries_further_apart_than_floats_reach_are_projected():
    y = [1.7e308, -1.7e308, 0.0, 3.0]
    np.testing.assert_array_equal(capped_simplex(y, 1.5), [1, 0, 0, 0.5])
    np.testing.assert_array_equal(capped_simplex_rows([y], 1.5), [[1, 0, 0, 0.5]])


# Ties and repetitions


@pytest.mark.parametrize("total", [0.5, 1, 37, 99.5, 100])
def test_equal_entries_share_equally(total):
    np.testing.assert_allclose(capped_simplex(np.full(100, 7.5), total), total / 100)
    np.testing.assert_allclose(
        capped_simplex_rows(np.full((2, 100), -3.0), total), total / 100
    )


@settings(max_examples=500, deadline=None)
@given(
    st.lists(st.tuples(integers, st.integers(0, 4)), min_size=1, max_size=12),
    units,
    shares,
)
def test_weight_counts_as_repetition(entries, unit, share):
    y, counts = np.array(entries).T
    y = y / unit
    if not counts.any():
        counts[0] = 2
    total = share * counts.sum()
    repeated = capped_simplex(np.repeat(y, counts), total)
    weighted = capped_simplex(y, total, sample_weight=counts)
    np.testing.assert_allclose(
        np.repeat(weighted, counts), repeated, rtol=0, atol=2e-12
    )


def test_large_vectors_agree_with_sorting():
    rng = np.random.default_rng(0)
    for n in (4095, 4097, 20_000):  # small gathers, and histograms that refine
        for y in (rng.normal(size=n), rng.normal(size=n).round(1), np.zeros(n)):
            weight = rng.integers(0, 9, size=n) / 4
            total = 0.37 * weight.sum()
            w = capped_simplex(y, total, sample_weight=weight)
            expected = reference.capped_simplex(y, total, weight)
            np.testing.assert_allclose(
                w[weight > 0], expected[weight > 0], rtol=0, atol=1e-10
            )
            assert abs(math.fsum(weight * w) - total) <= 1e-9 * n
            w = capped_simplex(y, n / 3)
            np.testing.assert_allclose(
                w, reference.capped_simplex(y, n / 3), rtol=0, atol=1e-10
            )


def test_total_as_large_as_all_weights_is_reached_whatever_their_rounding():
    rng = np.random.default_rng(1)
    for _ in range(200):
        weight = rng.uniform(0, 3, size=rng.integers(1, 50))
        for total in (weight.sum(), np.nextafter(weight.sum(), 0)):
            w = capped_simplex(
                rng.normal(size=len(weight)), total, sample_weight=weight
            )
            np.testing.assert_array_equal(w, 1)


# Threads


def test_one_and_two_threads_agree_bitwise():
    rng = np.random.default_rng(2)
    y = rng.normal(size=1_500_000)  # enough work for a second thread
    weight = rng.uniform(0, 2, size=len(y))
    Y = rng.normal(size=(100_000, 7))
    answers = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            answers.append(
                (
                    capped_simplex(y, 4e5),
                    capped_simplex(y, 4e5, sample_weight=weight),
                    capped_simplex_rows(Y, 2.5),
                )
            )
    for one, two in zip(*answers, strict=True):
        np.testing.assert_array_equal(one.view(np.uint64), two.view(np.uint64))
    assert abs(answers[0][0].sum() - 4e5) <= 1e-6


# What comes in


def test_input_is_left_alone_and_may_have_any_layout():
    y = np.array([5, 1, 0, 3, 2, 9], dtype=np.int32)
    given_y = y.copy()
    # shift 2 for 5, 0 and 2 in two places, and -1 likewise for 9, 3 and 1
    np.testing.assert_array_equal(capped_simplex(y[::2], 1.5), [1, 0, 0.5])
    np.testing.assert_array_equal(
        capped_simplex(y[::-2], 2.5, sample_weight=np.ones(6)[::2]), [1, 1, 0.5]
    )
    np.testing.assert_array_equal(y, given_y)
    Y = np.asfortranarray([[3.0, 0.0], [0.0, 3.0]], dtype=np.float32)
    np.testing.assert_array_equal(capped_simplex_rows(Y, 1), [[1, 0], [0, 1]])


@pytest.mark.parametrize("total", [-1, -1e-9, 2.5, float("nan"), float("inf")])
def test_totals_out_of_reach_are_refused(total):
    message = (
        rf"^total={total!r} cannot be reached by 2 weights in \[0, 1\]; "
        r"expected a number from 0 to 2\.$"
    )
    with pytest.raises(ValueError, match=message):
        capped_simplex([1.0, 2.0], total)
    with pytest.raises(ValueError, match=message):
        capped_simplex_rows([[1.0, 2.0]], total)
    with pytest.raises(ValueError, match=message):
        capped_simplex([1.0, 2.0, 3.0], total, sample_weight=[0.5, 0, 1.5])


def test_a_matrix_is_sent_to_the_function_for_rows():
    with pytest.raises(ValueError, match=r"y has shape \(1, 2\).*capped_simplex_rows"):
        capped_simplex([[1.0, 2.0]], 1)


def test_a_vector_of_rows_is_refused():
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        capped_simplex_rows([1.0, 2.0], 1)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_entries_that_are_no_numbers_are_refused(bad):
    with pytest.raises(ValueError, match="Input y contains"):
        capped_simplex([1.0, bad], 1)
    with pytest.raises(ValueError, match="Input Y contains"):
        capped_simplex_rows([[1.0, bad]], 1)
    with pytest.raises(ValueError, match="Input sample_weight contains"):
        capped_simplex([1.0, 2.0], 1, sample_weight=[1.0, bad])


def test_no_entries_are_refused():
    with pytest.raises(ValueError, match="0 sample"):
        capped_simplex([], 0)
    with pytest.raises(ValueError, match="0 sample"):
        capped_simplex_rows(np.empty((0, 2)), 1)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0, -1.0], "^sample_weight has negative values, such as -1; expected"),
        ([1.0], r"^sample_weight has shape \(1,\); expected"),
    ],
)
def test_weights_that_make_no_sense_are_refused(weight, message):
    with pytest.raises(ValueError, match=message):
        capped_simplex([1.0, 2.0], 1, sample_weight=weight)


def test_weights_that_are_all_zero_are_refused():
    with pytest.raises(ValueError, match=r"^sample_weight is zero for all rows"):
        capped_simplex([1.0, 2.0], 1, sample_weight=[0, 0])
