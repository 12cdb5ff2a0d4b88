"""The oracles of the methods: cases worked by hand, identities, repeated rows."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
import reference
from reference import column


def last(iterations):
    *_, state = iterations
    return state


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
