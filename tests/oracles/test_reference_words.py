"""The oracles of the words: cases worked by hand, other solvers."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from reference import column
from scipy.optimize import minimize


def bisected(y, total, weight):
    """The projection again, by halving a bracket of the threshold 200 times."""
    low, high = y.min() - 1, y.max()
    for _ in range(200):
        middle = (low + high) / 2
        if weight @ np.clip(y - middle, 0, 1) > total:
            low = middle
        else:
            high = middle
    return np.clip(y - high, 0, 1)


# The projection


@pytest.mark.parametrize(
    ("y", "total", "expected"),
    [
        # threshold -0.1: 1.0, 0.7, 0.3, -0.2
        ((0.9, 0.6, 0.2, -0.3), 2, (1, 0.7, 0.3, 0)),
        # threshold 0.25: 0.65, 0.35, -0.05, -0.55
        ((0.9, 0.6, 0.2, -0.3), 1, (0.65, 0.35, 0, 0)),
        # threshold 0.05: 1.95, 0.55, 0.45, -0.35
        ((2, 0.6, 0.5, -0.3), 2, (1, 0.55, 0.45, 0)),
        # any threshold in [-5, -0.9] does
        ((3, 2, -5, 0.1), 3, (1, 1, 0, 1)),
        ((3, 2, -5, 0.1), 0, (0, 0, 0, 0)),
        ((3, 2, -5, 0.1), 4, (1, 1, 1, 1)),
        # a tie of three for the last two places: threshold 4/3
        ((9, 2, 2, 2), 3, (1, 2 / 3, 2 / 3, 2 / 3)),
    ],
)
def test_projection_worked_by_hand(y, total, expected):
    np.testing.assert_allclose(reference.capped_simplex(y, total), expected, atol=1e-15)


def test_projection_leaves_exact_zeros_and_ones():
    projected = reference.capped_simplex((3, 2, -5, 0.1), 3)
    np.testing.assert_array_equal(projected, (1, 1, 0, 1))
    # threshold 0.25 + 1e-14/3: the dust of 7e-15 on the last entry goes
    projected = reference.capped_simplex((0.75, 0.75, 0.25 + 1e-14), 1)
    assert projected[2] == 0


def test_projection_is_found_by_bisection_too():
    rng = np.random.default_rng(0)
    for trial in range(300):
        n = rng.integers(1, 30)
        y = rng.normal(scale=10 ** rng.uniform(-3, 2), size=n)
        if trial % 3 == 0:
            y = y.round(1)  # ties, and entries exactly 1 apart
        weight = rng.uniform(0.1, 3, size=n) if trial % 2 else np.ones(n)
        total = rng.uniform(0, weight.sum()) if trial % 4 else rng.integers(0, n + 1)
        total = min(total, weight.sum())
        projected = reference.capped_simplex(y, total, weight)
        assert weight @ projected == pytest.approx(total, rel=1e-11, abs=1e-11)
        np.testing.assert_allclose(projected, bisected(y, total, weight), atol=1e-11)


def test_projection_solves_the_quadratic_program():
    rng = np.random.default_rng(1)
    for trial in range(60):
        n = rng.integers(2, 9)
        y = rng.normal(size=n)
        weight = rng.uniform(0.5, 2, size=n) if trial % 2 else np.ones(n)
        total = rng.uniform(0.1, 0.9) * weight.sum()
        solved = minimize(
            lambda w, y=y, weight=weight: weight @ (w - y) ** 2,
            np.full(n, total / weight.sum()),
            jac=lambda w, y=y, weight=weight: 2 * weight * (w - y),
            bounds=[(0, 1)] * n,
            constraints={
                "type": "eq",
                "fun": lambda w, weight=weight, total=total: weight @ w - total,
                "jac": lambda w, weight=weight: weight,
            },
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        projected = reference.capped_simplex(y, total, weight)
        np.testing.assert_allclose(projected, solved.x, atol=1e-6)
        assert weight @ (projected - y) ** 2 <= solved.fun + 1e-12


@pytest.mark.parametrize("shift", [1e6, 1e9, -1e9, 2.0**40])
def test_projection_of_large_entries_keeps_its_digits(shift):
    rng = np.random.default_rng(2)
    for _ in range(50):
        # multiples of 2**-10, so that the shift itself is exact
        y = rng.integers(-3000, 3000, size=12) / 1024
        total = rng.uniform(0.5, 11.5)
        projected = reference.capped_simplex(y + shift, total)
        np.testing.assert_array_equal(projected, reference.capped_simplex(y, total))


def test_projection_of_entries_whose_neighbor_in_floats_is_more_than_one_away():
    # 1e17 - 1 == 1e17 in floats; the two largest tie for one place
    projected = reference.capped_simplex((1e17, 1e17, -1e17, 0.0), 1)
    np.testing.assert_array_equal(projected, (0.5, 0.5, 0, 0))


def test_projection_of_rows_is_the_projection_of_each():
    Y = [(0.9, 0.6, 0.2, -0.3), (2, 0.6, 0.5, -0.3)]
    expected = [(1, 0.7, 0.3, 0), (1, 0.55, 0.45, 0)]
    np.testing.assert_allclose(
        reference.capped_simplex_rows(Y, 2), expected, atol=1e-15
    )


def test_projection_onto_too_much_is_refused():
    with pytest.raises(ValueError, match=r"total=3 is not in \[0, 2.0\]"):
        reference.capped_simplex((0.0, 1.0), 3)


# Sets of clusters


def test_sets_worked_by_hand():
    cost = reference.mean_cost(5, column(0, 10, 3))
    # the images are 0, 10, 3, and 5, 1.5, 6.5, and 13/3
    expected = {(0,): 25, (1,): 25, (2,): 4}
    expected |= {(0, 1): 0, (0, 2): 12.25, (1, 2): 2.25, (0, 1, 2): 4 / 9}
    assert [*expected] == reference.subsets(3, max_size=3)
    for members, value in expected.items():
        assert cost(members) == pytest.approx(value, abs=1e-15)
    assert reference.best_set(cost, 3, max_size=1) == (2,)
    assert reference.best_set(cost, 3, max_size=2) == (0, 1)
    # the next nearest of 25, 25, 4 is cluster 0, which raises 4 to 12.25
    assert reference.grown_set(cost, [25, 25, 4]) == (2,)
    # from 0, cluster 1 brings the cost to nothing
    assert reference.greedy_set(cost, 3, max_size=3) == (0, 1)


def test_sums_of_centers_worked_by_hand():
    cost = reference.sum_cost(np.array([4, 1]), np.array([[1, 1], [3, 0], [9, 9]]))
    # off by 3, 0; by 1, 1; by 5, 8; and the first two add up to the row
    assert [cost((j,)) for j in range(3)] == [9, 2, 89]
    assert cost((0, 1)) == 0
    assert reference.best_set(cost, 3, max_size=3) == (0, 1)


def test_greedy_sets_gain_and_then_swap():
    costs = dict.fromkeys(reference.subsets(4, max_size=4), 9)
    costs |= {(0, 1): 6, (0, 2): 6, (0, 3): 6}
    costs |= {(0, 1, 2): 5, (0, 1, 3): 4, (0, 2, 3): 3, (1, 2, 3): 1}
    # every start gains cluster 0 (or 1, if it is 0) and then a third, for 4 or 3; what
    # costs 1 is found only by a swap for cluster 0
    assert reference.greedy_set(costs.get, 4, max_size=4) == (1, 2, 3)
    # pairs cannot gain a third, and of the three for 6 the first start has (0, 1)
    assert reference.greedy_set(costs.get, 4, max_size=2) == (0, 1)


def test_equal_sets_go_to_the_smaller_and_then_the_first():
    costs = {(0,): 2, (1,): 2, (2,): 1, (0, 1): 1, (0, 2): 1, (1, 2): 1, (0, 1, 2): 1}
    assert reference.best_set(costs.get, 3, max_size=3) == (2,)
    costs[2,] = 5
    assert reference.best_set(costs.get, 3, max_size=3) == (0, 1)
    assert reference.grown_set(costs.get, [7, 7, 7]) == (0, 1)


def test_residuals_are_distances_to_mixes():
    # the mix is (0 + 3, 1 + 0): off by 4 - 3 and 1 - 1
    X, C = [[4, 1]], [[0, 1], [6, 0]]
    assert reference.squared_residuals(X, np.array([[1, 0.5]]), C) == 1


# The other words


def test_squared_distances_keep_their_digits_far_from_the_origin():
    X, C = np.array([[0.0, 0.0], [3.0, 1.0]]), np.array([[3.0, 4.0]])
    # 9 + 16 and 0 + 9
    np.testing.assert_array_equal(reference.squared_distances(X, C), [[25], [9]])
    far = reference.squared_distances(X + 1e9, C + 1e9)
    np.testing.assert_array_equal(far, [[25], [9]])


def test_smallest_keeps_the_first_of_equals_and_a_part_of_the_last():
    # in order: rows 1 and 3 (value 1), row 0 (value 5), row 2
    values = (5, 1, 9, 1)
    np.testing.assert_array_equal(reference.smallest(values, 1), (0, 1, 0, 0))
    np.testing.assert_array_equal(reference.smallest(values, 2.25), (0.25, 1, 0, 1))
    # weights 2, 1, 1, 0.5: 1.5 is used up by rows 1 and 3, so 0.5 of the 2 of row 0
    shares = reference.smallest(values, 2, weight=(2, 1, 1, 0.5))
    np.testing.assert_array_equal(shares, (0.25, 1, 0, 1))


def test_smallest_fills_the_mass():
    rng = np.random.default_rng(3)
    for _ in range(100):
        weight = rng.uniform(0, 2, size=20)
        mass = rng.uniform(0, weight.sum())
        shares = reference.smallest(rng.integers(0, 6, size=20), mass, weight)
        assert weight @ shares == pytest.approx(mass)
        assert np.sum((shares > 0) & (shares < 1)) <= 1


def test_means_without_weight_keep_the_fallback():
    X = column(0, 1, 5)
    weights = np.array([[1, 0, 0.5], [1, 0, 0], [0, 0, 1]])
    means = reference.weighted_means(X, weights, fallback=column(7, 8, 9))
    # (0 + 1)/2; kept; (0.5*0 + 1*5)/1.5
    np.testing.assert_allclose(means, column(0.5, 8, 10 / 3))
    means = reference.weighted_means(X, weights, column(7, 8, 9), row_weight=(1, 3, 1))
    # (0 + 3)/4; kept; as before
    np.testing.assert_allclose(means, column(0.75, 8, 10 / 3))


@pytest.mark.parametrize(
    ("share_or_count", "total", "rows"),
    [
        (3, 10, 3),
        (0.25, 10, 3),  # 2.5, half up; Python's round gives 2
        (0.24, 10, 2),
        (0.3, 90, 27),
        (0.35, 90, 32),  # 31.5, which floats see as 31.499999999999996
        (0.0, 10, 0),
        (0.04, 10, 0),
        (0.5, 2.5, 1),  # 1.25 of a total weight
    ],
)
def test_outlier_rows_are_rounded_half_up(share_or_count, total, rows):
    assert reference.n_outlier_rows(share_or_count, total) == rows


def test_draw_follows_the_capped_squared_distances():
    X = column(0, 1, 10, 11, 100)
    squared = (X[:, 0] - X[0, 0]) ** 2
    # capped at 121: 0, 1, 100, 121, 121 of 343, or 0, 0.0029, 0.2915, 0.3528, 0.3528
    capped = np.minimum(squared, 121)
    np.testing.assert_allclose(
        capped / capped.sum(), (0, 0.0029, 0.2915, 0.3528, 0.3528), atol=5e-5
    )
    drawn = [reference.draw(capped, X, u) for u in (0, 0.002, 0.003, 0.29, 0.295, 0.65)]
    assert drawn == [1, 1, 2, 2, 3, 4]
    # uncapped 1, 100, 121, 10000 of 10222: the stray row is nearly certain
    np.testing.assert_allclose(
        squared / squared.sum(), (0, 0.0001, 0.0098, 0.0118, 0.9783), atol=5e-5
    )
    assert reference.draw(squared, X, 0.022) == 4


def test_draw_goes_through_the_rows_in_order_of_the_first_column():
    X = np.array([[2.0, 0.0], [1.0, 9.0], [1.0, 3.0]])
    # in order: row 2, row 1, row 0; a cumulated weight equal to u * total is passed by
    drawn = [reference.draw((2, 1, 1), X, u) for u in (0, 0.24, 0.25, 0.49, 0.5, 0.99)]
    assert drawn == [2, 2, 1, 1, 0, 0]


def test_draw_is_the_same_row_however_the_rows_are_passed():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(15, 2)).round(1)
    weight = rng.integers(0, 4, size=15)
    shuffle = rng.permutation(15)
    repeated = np.repeat(X, weight, axis=0)
    for u in rng.uniform(size=100):
        row = X[reference.draw(weight, X, u)]
        drawn = reference.draw(weight[shuffle], X[shuffle], u)
        np.testing.assert_array_equal(X[shuffle][drawn], row)
        drawn = reference.draw(np.ones(len(repeated)), repeated, u)
        np.testing.assert_array_equal(repeated[drawn], row)


def test_draw_without_weight_is_refused():
    with pytest.raises(ValueError, match="draws no row"):
        reference.draw((0, 0), column(1, 2), 0.5)
