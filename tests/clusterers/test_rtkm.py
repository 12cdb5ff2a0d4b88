"""RTKM: the paper's iteration to the letter, and the exact solver behind "auto"."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from numpy.testing import assert_allclose, assert_array_equal
from reference import column
from sklearn.exceptions import ConvergenceWarning

from rtkm import RTKM, TrimmedKMeans
from rtkm.datasets import make_outlier_blobs


def watched_fit(X, start, weights=None, **parameters):
    """Fit from the centers given; return the model and the state of every iteration."""
    states = []
    model = RTKM(len(start), init=start, on_step=states.append, **parameters)
    return model.fit(X, sample_weight=weights), states


def objective(X, C, W, v, weights=1.0):
    return (weights * v * (W * reference.squared_distances(X, C)).sum(axis=1)).sum()


def objectives_after_substeps(X, states, n_memberships, kept, weights=None):
    """F after the centers, the memberships and the inlier weights of each iteration."""
    weights = np.ones(len(X)) if weights is None else weights
    W = np.full(states[0].W.shape, n_memberships / states[0].W.shape[1])
    v = np.full(len(X), kept / weights.sum())
    for state in states:
        yield objective(X, state.C, W, v, weights)
        yield objective(X, state.C, state.W, v, weights)
        yield objective(X, state.C, state.W, state.v, weights)
        W, v = state.W, state.v


# Cases worked by hand


def test_one_outlier_worked_by_hand():
    X = column(0, 0.2, 1, 1.2, 5)
    model, states = watched_fit(X, column(0, 1), contamination=0.2, step=1.1)
    first, second = states[:2]
    # Two entries with sum 1: w_0 = 1/2 + 0.8 (D_1 - D_0) / (2 * 1.1), between 0 and 1.
    # D_1 - D_0 is 1, 0.6, -1, -1.4 and -9.
    assert_array_equal(first.C, column(0, 1))
    expected = 0.5 + 0.8 * np.array([1, 0.6, -1]) / 2.2  # 0.863636, 0.718182, 0.136364
    assert_allclose(first.W[:, 0], [*expected, 0, 0], atol=1e-15)
    # costs 0.136364 * 1, 0.718182 * 0.04 + 0.281818 * 0.64, 0.136364 * 1, 0.04 and 16:
    # v - cost / 1.1 falls by less than 0.2 for the first four, and by 14.5 for the last
    assert_array_equal(first.v, (1, 1, 1, 1, 0))
    substeps = list(objectives_after_substeps(X, states, 1, 4))
    assert_allclose(substeps[:3], (18.064, 13.217455, 0.521818), atol=5e-7)
    # (0.718182 * 0.2 + 0.136364) / 1.718182 and (0.281818 * 0.2 + 0.863636 + 1.2) /
    # 2.281818: the outlier has no say any more
    assert_allclose(second.C.ravel(), (0.162963, 0.929084), atol=5e-7)
    assert_allclose(second.W[:, 0], (1, 0.959178, 0, 0, 0), atol=5e-7)
    limit = states[3]
    assert limit.n_iter == 4
    assert_array_equal(limit.W[:4, 0], (1, 1, 0, 0))
    assert_allclose(limit.C.ravel(), (0.1, 1.1), rtol=1e-15)
    assert_allclose(limit.objective, 0.04, rtol=1e-14)
    assert model.converged_
    assert_array_equal(model.labels_, (0, 0, 1, 1, -1))
    assert_array_equal(model.inlier_weights_, (1, 1, 1, 1, 0))


@pytest.mark.parametrize("step", [1.1, "auto"])
def test_trimmed_rows_come_back_when_the_center_moves(step):
    X = column(0, 1, 2, 9)
    model, states = watched_fit(X, [[9.0]], contamination=0.25, step=step, n_swaps=0)
    # at 9 the farthest row is 0; (1 + 2 + 9) / 3 = 4 makes 9 the farthest, with 25
    # against 16; (0 + 1 + 2) / 3 = 1 leaves 1 + 0 + 1
    assert_array_equal([state.C.item() for state in states[:3]], (9, 4, 1))
    assert_array_equal(states[0].v, (0, 1, 1, 1))
    assert_array_equal(states[1].v, (1, 1, 1, 0))
    assert model.objective_ == 2
    assert_array_equal(model.labels_, (0, 0, 0, -1))


def test_two_memberships_and_an_outlier_worked_by_hand():
    X = column(0, 0.5, 1, 6)
    start = column(0, 0.5, 1)
    options = {"contamination": 0.25, "n_memberships": 2, "step": 1.1}
    model, states = watched_fit(X, start, **options)
    # W0 = 2/3, v0 = 3/4. Row 1: D = (0, 1/4, 1), 2/3 - (3/4) D / 1.1 = 0.666667,
    # 0.496212, -0.015152; the sum 1.147727 is short of 2 by 0.852273, 0.284091 each
    assert_allclose(states[0].W[:, 0], (0.950758, 0.609848, 0.268939, 0), atol=5e-7)
    assert_array_equal(states[0].v, (1, 1, 1, 0))
    # by symmetry the middle row keeps half of each outer center, which are at a third
    # of the way: (1 * 0 + 0.5 * 0.5) / 1.5 = 1/6
    assert_allclose(model.cluster_centers_.ravel(), (1 / 6, 1 / 2, 5 / 6), atol=1e-5)
    assert_allclose(model.memberships_[:, 0], (1, 0.5, 0, 0), atol=1e-5)
    # 2 (1/36 + 1/4) + (2 * 0.5 / 9 + 0) = 5/9 + 1/9
    assert_allclose(model.objective_, 2 / 3, rtol=1e-6)
    assert_array_equal(model.assignments_[1], (True, True, True))
    assert_array_equal(model.outlier_mask_, (False, False, False, True))


# The paper's iteration


def random_problem(seed):
    """A small table and everything that can be chosen about its fit."""
    rng = np.random.default_rng(seed)
    k, d, n = rng.integers(2, 6), rng.integers(1, 5), rng.integers(12, 30)
    X = rng.normal(size=(n, d)) + 3 * rng.normal(size=(k, d))[rng.integers(k, size=n)]
    X[rng.integers(n, size=3)] += rng.normal(scale=10, size=(3, d))
    start = X[rng.choice(n, size=k, replace=False)]
    choices = (None, rng.uniform(0.2, 3, size=n), rng.integers(0, 4, size=n))
    weights = choices[seed % 3]
    parameters = {
        "contamination": float(rng.uniform(0, 0.4)),
        "n_memberships": int(rng.integers(1, min(4, k))) if k > 2 else 1,
        "step": float(rng.choice([0.05, 0.5, 1.1, 5, 40, 300])),
        "max_iter": 12,
    }
    return X, start, weights, parameters


@pytest.mark.filterwarnings("ignore::rtkm.ScaleWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("part", range(8))
def test_every_iteration_equals_the_oracle_and_no_substep_rises(part):
    for seed in range(40 * part, 40 * part + 40):
        X, start, weights, parameters = random_problem(seed)
        model, states = watched_fit(X, start, weights, **parameters)
        mass = len(X) if weights is None else weights.sum()
        n_trimmed = reference.n_outlier_rows(parameters["contamination"], mass)
        s, step = parameters["n_memberships"], parameters["step"]
        expected = reference.rtkm_iterations(
            X, start, step, s, n_trimmed, len(states), weights
        )
        # the threshold need not be unique for rows that have no weight in its equation
        real = slice(None) if weights is None else weights > 0
        for state, iteration in zip(states, expected, strict=True):
            assert_allclose(state.C, iteration.C, rtol=0, atol=1e-9)
            assert_allclose(state.W[real], iteration.W[real], rtol=0, atol=1e-9)
            assert_allclose(state.v[real], iteration.v[real], rtol=0, atol=1e-9)
            assert_allclose(state.objective, iteration.objective, rtol=1e-9, atol=1e-9)
        kept = mass - n_trimmed
        path = np.fromiter(
            objectives_after_substeps(X, states, s, kept, weights), float
        )
        assert np.all(np.diff(path) <= 1e-10 * path[0])
        assert_allclose(path[2::3], model.objective_path_, rtol=1e-9, atol=1e-9)


def test_trimmed_rows_keep_their_memberships_under_a_fixed_step():
    # At C0 the far row is nearer to (0, 8) than to (10, 6), and it is trimmed at once.
    # The centers go on to (0, 0) and (10, 10), so the other one is nearer in the end:
    # the paper's rule does not notice, the exact solver and predict do.
    X = np.array([[-1.0, 0], [1, 0], [9, 10], [11, 10], [5, 1000]])
    options = {"contamination": 1, "init": [[0.0, 8], [10, 6]]}
    frozen = RTKM(2, step=1.1, **options).fit(X)
    fresh = RTKM(2, n_swaps=0, **options).fit(X)
    assert_array_equal(frozen.memberships_[4], (1, 0))
    assert_array_equal(fresh.memberships_[4], (0, 1))
    for model in (frozen, fresh):
        assert_array_equal(model.cluster_centers_, [[0, 0], [10, 10]])
        assert_array_equal(model.labels_, (0, 0, 1, 1, -1))
        assert model.objective_ == 4
        assert_array_equal(model.predict_memberships(X[4:]), [[0, 1]])


def test_a_row_is_an_outlier_unless_it_is_kept_whole_under_a_fixed_step():
    # rows at -1 and 1 are alike, so to trim one row each of them loses a half, and the
    # paper flags both
    X, weights = column(-1, 0, 1), np.array([1.0, 2.0, 1.0])
    model = RTKM(1, init=[[0.0]], contamination=1, step=1.1)
    model.fit(X, sample_weight=weights)
    assert_allclose(model.inlier_weights_, (0.5, 1, 0.5), rtol=1e-12)
    assert_array_equal(model.labels_, (-1, 0, -1))
    assert model.n_outliers_ == 2
    assert_allclose(model.objective_, 1, rtol=1e-12)


def test_a_fixed_step_goes_on_while_inlier_weights_move():
    # costs 1.21 against 1 with a step of 50 take 0.0042 of two rows' weights at a time,
    # and a ten millionth of the objective: 240 times, though the centers never move
    X = np.repeat(column(-1.1, -1, 1, 1.1), [1, 5000, 5000, 1], axis=0)
    model = RTKM(1, init=[[0.0]], contamination=2, step=50, max_iter=1000).fit(X)
    assert model.n_iter_ >= 200
    assert_array_equal(model.outlier_mask_, np.abs(X.ravel()) > 1)
    assert_allclose(model.objective_, 10_000, rtol=1e-12)


def test_a_single_iteration_is_not_said_to_fall_by_nothing():
    X = column(0, 0.2, 1, 1.2, 5)
    model = RTKM(2, init=X[:2], contamination=1, step=1.1, max_iter=1)
    with pytest.warns(ConvergenceWarning, match="stopped at max_iter=1") as caught:
        model.fit(X)
    assert "falling by 0e+00" not in str(caught[0].message)


# The exact solver


@pytest.mark.filterwarnings("ignore::rtkm.ScaleWarning")
def test_auto_agrees_with_the_oracle_for_several_memberships():
    for seed in range(100):
        X, start, weights, parameters = random_problem(seed)
        s = parameters["n_memberships"]
        mass = len(X) if weights is None else weights.sum()
        n_trimmed = reference.n_outlier_rows(parameters["contamination"], mass)
        model, states = watched_fit(
            X, start, weights, contamination=n_trimmed, n_memberships=s, n_swaps=0
        )
        end = reference.concentration_steps(X, start, n_trimmed, s, weights)
        # rows without weight are neither kept nor trimmed
        real = slice(None) if weights is None else weights > 0
        assert_array_equal(model.labels_[real], end.labels[real])
        assert_array_equal(model.memberships_, end.W)
        assert_allclose(model.cluster_centers_, end.C, atol=1e-9)
        assert_allclose(model.inlier_weights_[real], end.shares[real], atol=1e-9)
        assert_allclose(model.objective_, end.objective, rtol=1e-9, atol=1e-9)
        path = [state.objective for state in states][: len(end.path)]
        assert_allclose(path, end.path, rtol=1e-9, atol=1e-9)


def test_auto_never_ends_above_a_fixed_step_from_the_same_start():
    for seed in range(20):
        X, _, _ = make_outlier_blobs(150, 2, 4, separation=1.0, random_state=seed)
        options = {"init": X[:4], "random_state": seed, "max_iter": 3000}
        relaxed = RTKM(4, step=1.1, **options).fit(X)
        exact = RTKM(4, **options).fit(X)
        assert exact.objective_ <= relaxed.objective_ * (1 + 1e-9)


@pytest.mark.parametrize("n_memberships", [1, 2])
def test_swaps_lower_the_objective_and_more_swaps_mostly_lower_it_further(
    n_memberships,
):
    X, _, _ = make_outlier_blobs(300, 3, 6, separation=1.0, random_state=5)
    options = {"n_memberships": n_memberships, "init": "random", "n_init": 1}
    objectives = np.array(
        [
            [
                RTKM(6, n_swaps=n_swaps, random_state=seed, **options).fit(X).objective_
                for n_swaps in (0, 3, 10, 40)
            ]
            for seed in range(8)
        ]
    )
    # each swap that is kept lowers it; where the next one leads is a matter of chance
    assert (objectives[:, 1:] <= objectives[:, :1] * (1 + 1e-9)).all()
    assert (np.diff(objectives.mean(axis=0)) <= 0).all()


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_swaps_reach_what_the_true_centers_lead_to(unit):
    for seed, k in enumerate((3, 8, 14)):
        X, _, centers = make_outlier_blobs(
            700, 5, k, separation=2.0, far_clump=True, scale=unit, random_state=seed
        )
        from_truth = TrimmedKMeans(k, init=centers, n_swaps=0).fit(X)
        found = RTKM(k, contamination=0.1, random_state=seed).fit(X)
        assert found.objective_ <= 1.01 * from_truth.objective_


def test_a_clump_that_holds_a_center_for_each_membership_is_left():
    # to lose one of its four centers pays nothing while the others are there
    n, n_outliers, d, k, s = 600, 30, 6, 8, 4
    for seed in range(5):
        rng = np.random.default_rng(seed)
        core = 3 * rng.normal(size=(k, d))[rng.integers(k, size=n)]
        clump = np.full((n_outliers, d), 12.0)
        X = np.vstack([core, clump]) + rng.normal(size=(n + n_outliers, d))
        start = np.vstack([X[rng.choice(n, k - s, replace=False)], X[n : n + s]])
        model = RTKM(
            k,
            contamination=n_outliers + 5,
            n_memberships=s,
            init=start,
            random_state=seed,
        ).fit(X)
        assert model.outlier_mask_[n:].all()
