"""The words of sets, and mixes of centers, against their slow twins."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import reference
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from interrupting import processor_seconds_after_ctrl_c
from numpy.testing import assert_allclose, assert_array_equal
from reference import column
from test_table import each_form, rows_and_table, run_python
from threadpoolctl import threadpool_limits

from rtkm import _native
from rtkm.core import sets as _sets
from rtkm.core.sets import Prices, count_subsets, grow_sets, search_sets
from rtkm.core.validation import make_table


def sizes_up_to(k):
    """The sizes 0 to k, with a 1 for the unused 0 so that it can be divided by."""
    return np.maximum(np.arange(k + 1.0), 1)


def mean_prices(k, per_extra=0.0):
    """Prices of the squared distance to the mean, and of each further cluster."""
    s = sizes_up_to(k)
    return Prices(1 / s, -1 / s**2, per_extra * (s - 1))


def members_of(sets):
    """Rows of memberships as tuples of cluster numbers."""
    assert sets.dtype == np.bool_
    return [tuple(np.flatnonzero(row).tolist()) for row in sets]


def greedy_sets(L, P, prices, max_size):
    """The search that search_sets falls back on."""
    return _native.greedy_sets(L, P, *prices, max_size, 1).view(np.bool_)


def priced(row, P, prices):
    """The cost of a set for a row of L, term by term."""

    def cost(members):
        pairs = sum(P[pair] for pair in combinations(members, 2))
        linear, pair, fixed = (price[len(members)] for price in prices)
        return linear * sum(row[j] for j in members) + pair * pairs + fixed

    return cost


# The searches, by the prices


@st.composite
def exact_problems(draw):
    """Small fractions, so that no sum is rounded, ties abound, and prices are odd."""
    n, k = draw(st.integers(1, 6)), draw(st.integers(1, 7))
    L = draw(arrays(np.int64, (n, k), elements=st.integers(-4, 9))) / 1.0
    P = np.triu(draw(arrays(np.int64, (k, k), elements=st.integers(-4, 9))), 1) / 1.0
    P = P + P.T + np.diag(np.full(k, 1e300))  # which no search may read
    prices = draw(arrays(np.int64, (3, k + 1), elements=st.integers(-4, 8))) / 4
    prices[:, 0] = np.nan  # nor these
    return L, P, Prices(*prices), draw(st.integers(1, k + 1))


@settings(max_examples=300)
@given(exact_problems())
def test_best_sets_are_the_cheapest_of_all(problem):
    L, P, prices, max_size = problem
    for row, found in zip(L, members_of(search_sets(*problem)), strict=True):
        expected = reference.best_set(priced(row, P, prices), L.shape[1], max_size)
        assert found == expected


@settings(max_examples=300)
@given(exact_problems())
def test_greedy_sets_are_those_of_the_reference(problem):
    L, P, prices, max_size = problem
    for row, found in zip(L, members_of(greedy_sets(*problem)), strict=True):
        cost = priced(row, P, prices)
        assert found == reference.greedy_set(cost, L.shape[1], max_size)
        assert cost(found) <= cost((int(row.argmin()),))


@settings(max_examples=300)
@given(exact_problems())
def test_grown_sets_are_those_of_the_reference(problem):
    L, P, prices, _ = problem
    for row, found in zip(L, members_of(grow_sets(L, P, prices)), strict=True):
        assert found == reference.grown_set(priced(row, P, prices), row)


# The searches, by what the methods mean


def method_problem(method, X, C):
    """A method's L, P, prices and, from its definition, the cost of a set for a row."""
    D, P = reference.squared_distances(X, C), reference.squared_distances(C, C)
    s = sizes_up_to(len(C))
    zero = np.zeros_like(s)
    mean, total = reference.mean_cost, reference.sum_cost
    if method == "OKM":
        return D, P, mean_prices(len(C)), mean
    if method == "ROKM by size":
        prices = Prices(s**0.5, -(s**-0.5), zero)
        return D, P, prices, lambda x, C: lambda A: len(A) ** 1.5 * mean(x, C)(A)
    if method == "ROKM by distance":

        def spread(x, C):
            squared = reference.squared_distances(x[None], C)[0]
            return lambda A: mean(x, C)(A) + 0.3 * squared[list(A)].mean()

        return D, P, Prices(1.3 / s, -1 / s**2, zero), spread
    if method == "ISP":
        prices = mean_prices(len(C), per_extra=0.25)
        return D, P, prices, lambda x, C: lambda A: mean(x, C)(A) + 0.25 * len(A)
    assert method == "MOC"
    prices = Prices(np.ones_like(s), np.full_like(s, 2.0), zero)
    return D - (X**2).sum(axis=1, keepdims=True), C @ C.T, prices, total


OF_MEANS = ["OKM", "ROKM by size", "ROKM by distance", "ISP"]


@pytest.mark.parametrize(
    ("method", "offset"),
    # sums of centers move with the origin
    [("MOC", 0.0), *((method, offset) for method in OF_MEANS for offset in (0.0, 1e6))],
)
def test_sets_are_those_of_the_method(method, offset):
    rng = np.random.default_rng(0)
    sizes = set()
    for _ in range(20):
        k, p = rng.integers(1, 8), rng.integers(1, 5)
        X, C = rng.normal(size=(15, p)) + offset, rng.normal(size=(k, p)) + offset
        L, P, prices, cost_of = method_problem(method, X, C)
        max_size = int(rng.integers(1, k + 1))
        best = members_of(search_sets(L, P, prices, max_size))
        greedy = members_of(greedy_sets(L, P, prices, max_size))
        grown = members_of(grow_sets(L, P, prices))
        for i, x in enumerate(X):
            cost = cost_of(x, C)
            assert best[i] == reference.best_set(cost, k, max_size)
            assert greedy[i] == reference.greedy_set(cost, k, max_size)
            assert grown[i] == reference.grown_set(cost, L[i])
            sizes.add(len(best[i]))
    assert sizes > {1, 2}  # the prices leave room for overlaps


# One row at 5 and centers at 0, 10 and 3, whose sets cost 25, 25, 4; 0, 12.25, 2.25;
# and 4/9
ROW = column(0, 10, 3).T - 5
ROW_COSTS = ROW**2, reference.squared_distances(column(0, 10, 3), column(0, 10, 3))


@pytest.mark.parametrize(
    ("max_size", "per_extra", "expected"),
    [
        (1, 0, (2,)),
        (2, 0, (0, 1)),
        (3, 0, (0, 1)),
        (3, 3, (0, 1)),  # for 0 + 3; cluster 2 alone costs 4
        (3, 5, (2,)),  # 0 + 5 is more than 4
    ],
)
def test_best_sets_worked_by_hand(max_size, per_extra, expected):
    prices = mean_prices(3, per_extra)
    assert members_of(search_sets(*ROW_COSTS, prices, max_size)) == [expected]
    assert members_of(greedy_sets(*ROW_COSTS, prices, max_size)) == [expected]


def test_a_tie_goes_to_the_smaller_set_or_the_first_start():
    # (0, 1) and (2,) both cost 4, and the start from 0 leads to (0, 1)
    prices = mean_prices(3, per_extra=4)
    assert members_of(search_sets(*ROW_COSTS, prices, 3)) == [(2,)]
    assert members_of(greedy_sets(*ROW_COSTS, prices, 3)) == [(0, 1)]


def test_a_grown_set_stops_at_the_first_failure():
    # the next nearest of 25, 25, 4 is cluster 0, and (0, 2) costs 12.25
    assert members_of(grow_sets(*ROW_COSTS, mean_prices(3))) == [(2,)]
    # a row at 2 between 0 and 4, and 9: (0, 1) costs nothing, 9 would bring it to 49/9
    C = column(0, 4, 9)
    D, P = reference.squared_distances(column(2), C), reference.squared_distances(C, C)
    assert members_of(grow_sets(D, P, mean_prices(3))) == [(0, 1)]


def test_equal_centers_are_not_taken_twice():
    C = column(1, 7, 1, 7)
    D, P = reference.squared_distances(column(1, 2, 4), C), (C - C.T) ** 2
    # 4 is half way; of the equal pairs (0, 1), (0, 3), (1, 2) and (2, 3) the first
    expected = [(0,), (0,), (0, 1)]
    prices = mean_prices(4)
    assert members_of(search_sets(D, P, prices, 4)) == expected
    assert members_of(greedy_sets(D, P, prices, 4)) == expected
    # of 9, 9, 9, 9 the nearest two are 0 and 1
    assert members_of(grow_sets(D, P, prices)) == expected


# Choice of the search, many clusters, layouts, threads


def generic_problem(n, k, seed=0):
    """Squared distances without ties and the prices of the mean."""
    rng = np.random.default_rng(seed)
    X, C = rng.normal(size=(n, 4)), rng.normal(size=(k, 4))
    D, P = reference.squared_distances(X, C), reference.squared_distances(C, C)
    return D, P, mean_prices(k)


def test_subsets_are_counted():
    # 5 + 10 + 10; all 2^12 but the empty one; 100 + 4950
    assert [count_subsets(5, 3), count_subsets(12, 12)] == [25, 4095]
    assert [count_subsets(100, 2), count_subsets(3, 7)] == [5050, 7]


def test_the_search_is_exact_while_sets_are_few(monkeypatch):
    # the tie above, where the exact answer is (2,) and the greedy one (0, 1)
    problem = *ROW_COSTS, mean_prices(3, per_extra=4), 3
    monkeypatch.setattr(_sets, "MOST_SUBSETS", 7)  # 3 + 3 + 1
    assert members_of(search_sets(*problem)) == [(2,)]
    monkeypatch.setattr(_sets, "MOST_SUBSETS", 6)
    assert members_of(search_sets(*problem)) == [(0, 1)]


@pytest.mark.parametrize("k", [64, 100])
def test_many_clusters(k):
    L, P, prices = generic_problem(30, k)
    best = _native.best_sets(L, P, *prices, 2, 1).view(np.bool_)
    pairs = (L[:, :, None] + L[:, None, :]) / 2 - P / 4  # singles on the diagonal
    for i, found in enumerate(members_of(best)):
        assert {*found} == {*np.unravel_index(pairs[i].argmin(), pairs[i].shape)}
    grown = members_of(grow_sets(L, P, prices))
    greedy = members_of(search_sets(L[:2], P, prices, 4))
    for i, row in enumerate(L):
        cost = priced(row, P, prices)
        assert grown[i] == reference.grown_set(cost, row)
        if i < len(greedy):
            assert greedy[i] == reference.greedy_set(cost, k, 4)


def test_costs_may_come_in_any_layout():
    L, P, prices = generic_problem(40, 6)
    L = L.astype(np.float32)
    expected = search_sets(L.astype(np.float64), P, prices, 3)
    assert_array_equal(search_sets(L, P, prices, 3), expected)
    assert_array_equal(search_sets(np.asfortranarray(L), P, prices, 3), expected)
    assert_array_equal(grow_sets(L[:, ::2], P[::2, ::2], mean_prices(3)).shape, (40, 3))


def test_wrong_shapes_are_refused():
    L, P, prices = generic_problem(5, 4)
    with pytest.raises(ValueError, match="P of wrong shape"):
        grow_sets(L, P[:3], prices)
    with pytest.raises(ValueError, match="prices of wrong length"):
        search_sets(L, P, mean_prices(3), 2)
    with pytest.raises(ValueError, match="at least one cluster"):
        search_sets(L, P, prices, 0)
    table = make_table(np.zeros((5, 2)))
    with pytest.raises(ValueError, match="mixing weights of wrong shape"):
        table.squared_residuals(np.ones((5, 3)), np.zeros((4, 2)))


def test_one_and_two_threads_agree_bitwise():
    L, P, prices = generic_problem(60_000, 12)  # work enough for several threads
    table = make_table(np.random.default_rng(1).normal(size=(60_000, 16)))
    C, answers = table.rows(np.arange(12)), []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            grown = grow_sets(np.tile(L, 3), np.tile(P, (3, 3)), mean_prices(36))
            best = search_sets(L, P, prices, 3)
            greedy = _native.greedy_sets(L, P, *prices, 3, n_threads)
            residuals = make_table(table.X).squared_residuals(1 / (1 + L), C)
            answers.append([a.tobytes() for a in (grown, best, greedy, residuals)])
    assert answers[0] == answers[1]


def test_ctrl_c_ends_a_long_search_at_once():
    seconds = processor_seconds_after_ctrl_c("""
        import numpy as np
        from rtkm.core.sets import Prices, search_sets
        def work():
            k = 400
            L, P = np.ones((25_000, k)), np.ones((k, k))
            prices = Prices(*np.ones((3, k + 1)))
            press_soon()
            search_sets(L, P, prices, k)
    """)
    assert seconds < 2


# Mixes of centers


@each_form
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_residuals_are_summed_from_differences(form, offset):
    rng = np.random.default_rng(2)
    for p in range(1, 41):
        n, k = rng.integers(1, 60), rng.integers(1, 7)
        X, table = rows_and_table(form, rng, n, p, whole=False)
        if offset and "CSR" not in form:
            X = (X + offset).astype(X.dtype)
            table = make_table(X)
        C = (rng.normal(size=(k, p)) + offset).astype(X.dtype)
        A = rng.random((n, k)) < 0.5
        A[:, 0] = True
        B = A / A.sum(axis=1, keepdims=True)
        squared = table.squared_residuals(B, C)
        assert squared.dtype == np.float64
        # doubles at 1e6 are rounded to 1e-10, so a difference has nine digits left
        atol = p * 1e-9 if offset else 0
        expected = reference.squared_residuals(X, B, C)
        assert_allclose(squared, expected, rtol=1e-12, atol=atol)


@each_form
def test_residuals_of_a_single_center_are_squared_distances(form):
    X, table = rows_and_table(form, np.random.default_rng(3), 80, 12)
    C = np.unique(X, axis=0)[:5]
    labels = np.arange(80) % len(C)
    expected = reference.squared_distances(X, C)[np.arange(80), labels]
    A = np.eye(len(C), dtype=bool)[labels]  # as memberships come
    assert_array_equal(table.squared_residuals(A, C), expected)


def residual_answers():
    """Residuals on every form of a small table, for a comparison between processes."""
    rng = np.random.default_rng(4)
    for form in ("dense", "dense 32", "CSR", "sparse CSR 32"):
        X, table = rows_and_table(form, rng, 333, 13, whole=False)
        C = rng.normal(size=(7, 13)).astype(X.dtype)
        yield form, table.squared_residuals(rng.random((333, 7)), C)


def test_residuals_for_all_processors_agree_with_those_for_this_one(tmp_path):
    if _native.instruction_set() == "baseline":
        pytest.skip("this processor, or this build, has the baseline kernels only")
    code = """if True:
        import sys, numpy as np, rtkm._native, test_sets
        assert rtkm._native.instruction_set() == "baseline"
        np.savez(sys.argv[1], **dict(test_sets.residual_answers()))
    """
    run_python(code, str(tmp_path / "answers.npz"), RTKM_INSTRUCTIONS="baseline")
    baseline = dict(np.load(tmp_path / "answers.npz"))
    for form, value in residual_answers():
        assert_allclose(value, baseline[form], rtol=1e-12, err_msg=form)
