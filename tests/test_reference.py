"""The oracles themselves: cases worked by hand, other solvers, repeated rows."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
import reference
from scipy.optimize import minimize


def column(*values):
    return np.array(values, dtype=float)[:, None]


def last(iterations):
    *_, state = iterations
    return state


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


def random_problem(rng):
    """Blobs and stray rows, starting centers, and the number of rows to trim."""
    k, d = rng.integers(2, 5), rng.integers(1, 4)
    blobs = rng.normal(scale=5, size=(k, d))
    X = np.vstack(
        [
            blobs[rng.integers(k, size=20)] + rng.normal(size=(20, d)),
            rng.uniform(-25, 25, size=(rng.integers(1, 8), d)),
        ]
    )
    start = X[rng.choice(len(X), size=k, replace=False)]
    return X, start, int(rng.integers(1, 8))


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


# Lloyd


def test_lloyd_worked_by_hand():
    end = reference.lloyd(column(0, 1, 10, 11), column(0, 1))
    (first, first_C), (second, second_C) = end.steps
    # 1 is nearer to 1 than to 0; (1 + 10 + 11)/3 = 22/3
    np.testing.assert_array_equal(first, (0, 1, 1, 1))
    np.testing.assert_allclose(first_C, column(0, 22 / 3))
    np.testing.assert_array_equal(second, (0, 0, 1, 1))
    np.testing.assert_array_equal(second_C, column(0.5, 10.5))
    np.testing.assert_array_equal(end.labels, second)
    # four rows at distance 1/2
    assert end.objective == 1


def test_empty_clusters_keep_their_center():
    # nothing is nearest to 50
    C = column(0, 50)
    X = column(0, 1, 2)
    np.testing.assert_array_equal(reference.lloyd(X, C).C, column(1, 50))
    end = reference.concentration_steps(X, C, n_trimmed=1)
    # rows 0 and 1 are kept: at 0 they cost 0 and 1, and 2 costs 4
    np.testing.assert_array_equal(end.C, column(0.5, 50))
    state = last(reference.rtkm_iterations(X, C, 1e-3, 1, 1, n_iterations=4))
    np.testing.assert_array_equal(state.C, column(0.5, 50))


# Relaxed k-means


def test_relaxed_worked_by_hand():
    X = column(0, 0.4, 1.0, 1.4)
    states = list(reference.relaxed_iterations(X, column(0, 1), 1.1, 1, 5))
    # D - D' is the squared distance to 0 less that to 1: -1, -0.2, 1, 1.8; on two
    # clusters w = 1/2 - (D - D')/(2*1.1), clipped: 1/2 + 1/2.2 = 0.954545, 1/2 +
    # 0.2/2.2 = 0.590909, 1/2 - 1/2.2 = 0.045455, 1/2 - 1.8/2.2 < 0
    np.testing.assert_array_equal(states[0].C, column(0, 1))
    np.testing.assert_allclose(
        states[0].W[:, 0], (0.954545, 0.590909, 0.045455, 0), atol=5e-7
    )
    np.testing.assert_allclose(states[0].W.sum(axis=1), 1)
    assert states[0].objective == pytest.approx(0.492727, abs=5e-7)
    # (0.4*0.590909 + 0.045455)/1.590909 = 0.281818/1.590909 = 0.177143
    np.testing.assert_allclose(states[1].C, column(0.177143, 1.045283), atol=5e-7)
    np.testing.assert_allclose(states[1].W[:, 0], (1, 0.757602, 0, 0), atol=5e-7)
    assert states[1].objective == pytest.approx(0.297813, abs=5e-7)
    # at the means of the two pairs every row costs 0.04
    assert not np.allclose(states[3].C, column(0.2, 1.2), atol=1e-6)
    np.testing.assert_allclose(states[4].C, column(0.2, 1.2), rtol=1e-14)
    np.testing.assert_array_equal(states[4].W[:, 0], (1, 1, 0, 0))
    assert states[4].objective == pytest.approx(0.16)


def test_relaxed_depends_on_the_units():
    X, C = column(0, 0.4, 1.0, 1.4), column(0, 1)
    first = next(reference.relaxed_iterations(10 * X, 10 * C, 1.1, 1, 1))
    # D - D' = -100, -20, 100, 180: far more than twice the step
    np.testing.assert_array_equal(first.W[:, 0], (1, 1, 0, 0))
    states = reference.relaxed_iterations(0.1 * X, 0.1 * C, 1.1, 1, 535)
    before, end = islice(states, 533, None)
    assert not np.allclose(before.C, column(0.02, 0.12), rtol=1e-5)
    np.testing.assert_allclose(end.C, column(0.02, 0.12), rtol=1e-12)
    np.testing.assert_array_equal(end.W[:, 0], (1, 1, 0, 0))


def test_relaxed_overlap_worked_by_hand():
    X = column(0, 1, 2)
    end = last(reference.relaxed_iterations(X, X, 1.1, 2, 50))
    # row 1 is as near to cluster 0 as to cluster 2 and splits its second membership:
    # (0 + 0.5*1)/1.5 = 1/3, (0 + 1 + 2)/3, (0.5*1 + 2)/1.5 = 5/3;
    # rows 0 and 2 cost 1/9 + 1 each, row 1 costs 2 * 0.5 * 4/9: 20/9 + 4/9 = 8/3
    np.testing.assert_allclose(end.C, column(1 / 3, 1, 5 / 3))
    np.testing.assert_allclose(end.W, [(1, 1, 0), (0.5, 1, 0.5), (0, 1, 1)], atol=1e-12)
    assert end.objective == pytest.approx(8 / 3)


# Robust Trimmed k-means


def test_rtkm_worked_by_hand():
    X = column(0, 0.2, 1, 1.2, 5)
    states = list(reference.rtkm_iterations(X, column(0, 1), 1.1, 1, 1, 4))
    # w = 1/2 - 0.8*(D - D')/2.2 with D - D' = -1, -0.6, 1, 1.4, 9
    np.testing.assert_allclose(
        states[0].W[:, 0], (0.863636, 0.718182, 0.136364, 0, 0), atol=5e-7
    )
    np.testing.assert_allclose(
        states[0].cost, (0.136364, 0.209091, 0.136364, 0.04, 16), atol=5e-7
    )
    np.testing.assert_array_equal(states[0].v, (1, 1, 1, 1, 0))
    # before: 0.8 * 0.5 * (27.48 + 17.68); then 0.8 * 16.521818; then without row 4
    np.testing.assert_allclose(
        states[0].substeps, (18.064, 13.217455, 0.521818), atol=5e-7
    )
    # (0.2*0.718182 + 0.136364)/1.718182 = 0.28/1.718182
    np.testing.assert_allclose(states[1].C, column(0.162963, 0.929084), atol=5e-7)
    np.testing.assert_allclose(states[1].W[:, 0], (1, 0.959178, 0, 0, 0), atol=5e-7)
    assert not np.allclose(states[2].C, column(0.1, 1.1), atol=1e-6)
    # four rows at distance 0.1
    np.testing.assert_allclose(states[3].C, column(0.1, 1.1), rtol=1e-14)
    np.testing.assert_array_equal(states[3].W[:4, 0], (1, 1, 0, 0))
    np.testing.assert_array_equal(states[3].v, (1, 1, 1, 1, 0))
    assert states[3].objective == pytest.approx(0.04)


def test_rtkm_lets_trimmed_rows_back_in():
    X = column(0, 1, 2, 9)
    states = list(reference.rtkm_iterations(X, column(9), 1.1, 1, 1, 4))
    # at 9 row 0 costs most; (1 + 2 + 9)/3 = 4; there 9 costs most; (0 + 1 + 2)/3 = 1
    np.testing.assert_array_equal(states[0].v, (0, 1, 1, 1))
    np.testing.assert_array_equal(states[1].C, column(4))
    np.testing.assert_array_equal(states[1].v, (1, 1, 1, 0))
    np.testing.assert_array_equal(states[2].C, column(1))
    assert states[2].objective == 2
    np.testing.assert_array_equal(states[3].C, column(1))


def test_rtkm_overlap_worked_by_hand():
    X = column(0, 0.5, 1, 6)
    states = list(reference.rtkm_iterations(X, column(0, 0.5, 1), 1.1, 2, 1, 20))
    # row 0: 2/3 - 0.75*(0, 0.25, 1)/1.1 = (0.6667, 0.4962, -0.0152), to which
    # (2 - 1.147727)/3 = 0.284091 is added: 0.950758, 0.780303, 0.268939
    np.testing.assert_allclose(
        states[0].W[:, 0], (0.950758, 0.609848, 0.268939, 0), atol=5e-7
    )
    np.testing.assert_array_equal(states[0].v, (1, 1, 1, 0))
    # as three rows 0, 1, 2 with two memberships, at half the scale: F = (8/3)/4
    np.testing.assert_allclose(states[-1].C, column(1 / 6, 1 / 2, 5 / 6))
    np.testing.assert_allclose(states[-1].W[:, 0], (1, 0.5, 0, 0), atol=1e-12)
    np.testing.assert_array_equal(states[-1].v, (1, 1, 1, 0))
    assert states[-1].objective == pytest.approx(2 / 3)


@pytest.mark.parametrize("refresh_trimmed", [False, True])
def test_no_substep_of_rtkm_raises_the_objective(refresh_trimmed):
    rng = np.random.default_rng(5)
    for _ in range(20):
        X, C, n_trimmed = random_problem(rng)
        weight = rng.uniform(0.5, 2, size=len(X))
        n_memberships = int(rng.integers(1, len(C)))
        step = 10 ** rng.uniform(-1, 3)
        states = list(
            reference.rtkm_iterations(
                X, C, step, n_memberships, n_trimmed, 8, weight, refresh_trimmed
            )
        )
        path = np.concatenate([state.substeps for state in states])
        assert np.diff(path).max() <= 1e-12 * path[0]
        for state in states:
            np.testing.assert_allclose(state.W.sum(axis=1), n_memberships, atol=1e-9)
            assert weight @ state.v == pytest.approx(weight.sum() - n_trimmed)


def test_no_trimming_is_relaxed_kmeans():
    rng = np.random.default_rng(6)
    for _ in range(10):
        X, C, _ = random_problem(rng)
        n_memberships = int(rng.integers(1, len(C)))
        rtkm = reference.rtkm_iterations(X, C, 5.0, n_memberships, 0, 8)
        relaxed = reference.relaxed_iterations(X, C, 5.0, n_memberships, 8)
        for one, other in zip(rtkm, relaxed, strict=True):
            np.testing.assert_array_equal(one.C, other.C)
            np.testing.assert_array_equal(one.W, other.W)
            np.testing.assert_array_equal(one.v, other.v)
            assert one.objective == other.objective


# Trimmed k-means and k-means--


def test_trimmed_worked_by_hand():
    X = column(0, 1, 10, 11, 100)
    end = reference.concentration_steps(X, column(0, 1), n_trimmed=1)
    (first, first_C), (second, second_C) = end.steps
    # costs 0, 0, 81, 100; then 0, 1, (8/3)^2, (11/3)^2 = 194/9; then four times 1/4
    np.testing.assert_array_equal(first, (0, 1, 1, 1, -1))
    np.testing.assert_allclose(first_C, column(0, 22 / 3))
    np.testing.assert_array_equal(second, (0, 0, 1, 1, -1))
    np.testing.assert_array_equal(second_C, column(0.5, 10.5))
    assert end.path == pytest.approx((181, 194 / 9))
    np.testing.assert_array_equal(end.labels, second)
    np.testing.assert_array_equal(end.shares, (1, 1, 1, 1, 0))
    assert end.objective == 1


def test_trimmed_from_a_bad_start_stays_there():
    X = column(0, 1, 10, 11, 100)
    end = reference.concentration_steps(X, column(0, 100), n_trimmed=1)
    # 11 costs most at 0; (0 + 1 + 10)/3 = 11/3, and (121 + 64 + 361)/9 = 182/3
    np.testing.assert_array_equal(end.labels, (0, 0, 0, -1, 1))
    np.testing.assert_allclose(end.C, column(11 / 3, 100))
    assert end.objective == pytest.approx(182 / 3)


def test_kmeans_minus_minus_worked_by_hand():
    X = column(0, 1, 2, 10, 11, 12, 30, -20)
    end = reference.concentration_steps(X, column(0, 10), n_trimmed=2)
    # costs 0, 1, 4, 0, 1, 4, 400, 400; then 1, 0, 1, 1, 0, 1
    np.testing.assert_array_equal(end.labels, (0, 0, 0, 1, 1, 1, -1, -1))
    np.testing.assert_array_equal(end.C, column(1, 11))
    assert end.path == [10]
    assert end.objective == 4
    end = reference.concentration_steps(X, column(1, 30), n_trimmed=2)
    # 12 (121) and -20 (441) cost most at 1; (0 + 1 + 2 + 10 + 11)/5 = 4.8, and
    # 4.8^2 + 3.8^2 + 2.8^2 + 5.2^2 + 6.2^2 = 110.8
    np.testing.assert_array_equal(end.labels, (0, 0, 0, 0, 0, -1, 1, -1))
    np.testing.assert_allclose(end.C, column(4.8, 30))
    assert end.objective == pytest.approx(110.8)


def test_concentration_with_two_memberships_worked_by_hand():
    X = column(0, 1, 2, 9)
    end = reference.concentration_steps(X, column(0, 1, 2), 1, n_memberships=2)
    # costs 0+1, 0+1 (the tie of 0 and 2 goes to 0), 0+1, 49+64; clusters {0, 1},
    # {0, 1, 2}, {2} have means 0.5, 1, 2; costs 0.25+1, 0+0.25, 0+1, 49+64
    np.testing.assert_array_equal(end.W[:3], [(1, 1, 0), (1, 1, 0), (0, 1, 1)])
    np.testing.assert_array_equal(end.C, column(0.5, 1, 2))
    np.testing.assert_array_equal(end.labels, (0, 1, 2, -1))
    assert end.path == [3]
    assert end.objective == 2.5


def test_no_trimming_is_lloyd():
    rng = np.random.default_rng(7)
    for _ in range(50):
        X, C, _ = random_problem(rng)
        hard = reference.concentration_steps(X, C, n_trimmed=0)
        lloyd = reference.lloyd(X, C)
        for (labels, means), (expected, expected_means) in zip(
            hard.steps, lloyd.steps, strict=True
        ):
            np.testing.assert_array_equal(labels, expected)
            np.testing.assert_allclose(means, expected_means)
        assert hard.objective == pytest.approx(lloyd.objective)


def test_concentration_never_raises_the_objective():
    rng = np.random.default_rng(8)
    for _ in range(50):
        X, C, n_trimmed = random_problem(rng)
        weight = rng.uniform(0.5, 2, size=len(X))
        n_memberships = int(rng.integers(1, len(C)))
        end = reference.concentration_steps(X, C, n_trimmed, n_memberships, weight)
        path = np.array([*end.path, end.objective])
        assert np.diff(path).max() <= 1e-12 * path[0]
        assert weight @ end.shares == pytest.approx(weight.sum() - n_trimmed)


def count_departures(refresh_trimmed):
    """Problems of 200 in which RTKM with a tiny step leaves the concentration steps."""
    rng = np.random.default_rng(9)
    departures = 0
    for _ in range(200):
        X, C, n_trimmed = random_problem(rng)
        step = 1e-9 * X.var(axis=0).sum()
        hard = reference.concentration_steps(X, C, n_trimmed)
        states = list(
            reference.rtkm_iterations(
                X,
                C,
                step,
                n_memberships=1,
                n_trimmed=n_trimmed,
                n_iterations=len(hard.steps) + 2,
                refresh_trimmed=refresh_trimmed,
            )
        )
        # iteration 1 stays at the start, and one more shows that the end is fixed
        expected = [C, *(means for _, means in hard.steps), hard.C]
        departures += not all(
            np.allclose(state.C, means, rtol=1e-9, atol=1e-9)
            for state, means in zip(states, expected, strict=True)
        )
    return departures


def test_tiny_steps_with_refreshed_memberships_are_concentration_steps():
    assert count_departures(refresh_trimmed=True) == 0


def test_stale_memberships_of_trimmed_rows_make_a_difference():
    assert 0 < count_departures(refresh_trimmed=False) < 100


# Weights


def test_rows_of_weight_two_are_repeated_rows():
    rng = np.random.default_rng(10)
    for _ in range(10):
        X, C, n_trimmed = random_problem(rng)
        weight = rng.integers(1, 4, size=len(X))
        rows = np.repeat(np.arange(len(X)), weight)
        weighted = reference.rtkm_iterations(X, C, 5.0, 1, n_trimmed, 6, weight)
        repeated = reference.rtkm_iterations(X[rows], C, 5.0, 1, n_trimmed, 6)
        for one, other in zip(weighted, repeated, strict=True):
            np.testing.assert_allclose(one.C, other.C, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(one.W[rows], other.W, atol=1e-9)
            np.testing.assert_allclose(one.v[rows], other.v, atol=1e-9)
            np.testing.assert_allclose(one.substeps, other.substeps)

        hard = reference.concentration_steps(X, C, n_trimmed, weight=weight)
        every = reference.concentration_steps(X[rows], C, n_trimmed)
        np.testing.assert_allclose(hard.C, every.C)
        # a part kept of a row is that many of its copies, the first ones
        copies = np.bincount(rows, weights=every.shares)
        np.testing.assert_allclose(hard.shares * weight, copies, atol=1e-9)
        assert hard.objective == pytest.approx(every.objective)

        hard = reference.lloyd(X, C, weight)
        every = reference.lloyd(X[rows], C)
        np.testing.assert_array_equal(hard.labels[rows], every.labels)
        np.testing.assert_allclose(hard.C, every.C)

        weighted = last(reference.relaxed_iterations(X, C, 5.0, 1, 6, weight))
        repeated = last(reference.relaxed_iterations(X[rows], C, 5.0, 1, 6))
        np.testing.assert_allclose(weighted.C, repeated.C, rtol=1e-9, atol=1e-9)
        assert weighted.objective == pytest.approx(repeated.objective)
