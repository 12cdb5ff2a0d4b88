"""Relaxed k-means: cases worked by hand and every iteration against the oracle."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from numpy.testing import assert_allclose, assert_array_equal
from reference import column

from rtkm import RelaxedKMeans


def watched_fit(X, start, weights=None, **parameters):
    """Fit from the centers given; return the model and the state of every iteration."""
    states = []
    model = RelaxedKMeans(len(start), init=start, on_step=states.append, **parameters)
    return model.fit(X, sample_weight=weights), states


FOUR = column(0, 0.4, 1.0, 1.4)


def test_two_clusters_worked_by_hand():
    model, states = watched_fit(FOUR, column(0, 1), step=1.1)
    first, second = states[:2]
    # two entries with sum 1: w_0 = 1/2 + (D_1 - D_0) / (2 * 1.1), between 0 and 1;
    # D_1 - D_0 is 1, 0.36 - 0.16 = 0.2, -1 and 0.16 - 1.96 = -1.8
    assert_array_equal(first.C, column(0, 1))  # no center moves in the first iteration
    expected = 0.5 + np.array([1, 0.2, -1]) / 2.2  # 0.954545, 0.590909, 0.045455
    assert_allclose(first.W[:, 0], [*expected, 0], atol=1e-15)
    # 0.045455 * 1 + (0.590909 * 0.16 + 0.409091 * 0.36) + 0.045455 * 1 + 0.16
    assert_allclose(first.objective, 0.492727, atol=5e-7)
    # (0.590909 * 0.4 + 0.045455) / 1.590909 and (0.163636 + 0.954545 + 1.4) / 2.409091
    assert_allclose(second.C.ravel(), (0.177143, 1.045283), atol=5e-7)
    assert_allclose(second.W[:, 0], (1, 0.757602, 0, 0), atol=5e-7)
    assert_allclose(second.objective, 0.297813, atol=5e-7)
    assert all(state.W[1, 0] < 1 for state in states[:3])
    limit = states[4]
    assert limit.n_iter == 5
    assert_array_equal(limit.W[:, 0], (1, 1, 0, 0))
    assert_allclose(limit.C.ravel(), (0.2, 1.2), rtol=1e-14)
    assert_allclose(limit.objective, 0.16, rtol=1e-14)  # four rows at distance 0.2
    assert model.converged_
    assert_array_equal(model.labels_, (0, 0, 1, 1))
    assert_array_equal(model.inlier_weights_, np.ones(4))


def test_large_units_make_it_plain_kmeans():
    # ten times the data, a hundred times the distances: 20 / 2.2 is far beyond 1/2
    _, states = watched_fit(10 * FOUR, column(0, 10), step=1.1)
    for state in states:
        assert set(state.W.ravel()) == {0.0, 1.0}
    assert_array_equal(states[0].W[:, 0], (1, 1, 0, 0))
    assert_allclose(states[1].C.ravel(), (2, 12), rtol=1e-15)


def test_small_units_make_it_crawl():
    # a tenth of the data: the same limit, a hundredth of the objective, 535 iterations
    model, states = watched_fit(0.1 * FOUR, column(0, 0.1), step=1.1, max_iter=1000)
    there = [np.allclose(state.C.ravel(), (0.02, 0.12), rtol=1e-9) for state in states]
    assert states[there.index(True)].n_iter == 535
    assert_array_equal(states[534].W[:, 0], (1, 1, 0, 0))
    assert_allclose(model.objective_, 0.0016, rtol=1e-12)


def test_two_memberships_keep_a_genuine_tie():
    # the row at 1 is as near to 1/3 as to 5/3, so it stays half in each outer cluster:
    # (1 * 0 + 0.5 * 1) / 1.5 = 1/3; F = 2 (1/9 + 1) + 2 * 0.5 * 4/9 = 24/9
    X = column(0, 1, 2)
    model, _ = watched_fit(X, X.copy(), n_memberships=2, step=1.1)
    assert_allclose(model.cluster_centers_.ravel(), (1 / 3, 1, 5 / 3), atol=1e-6)
    assert_allclose(model.memberships_[:, 0], (1, 0.5, 0), atol=1e-6)
    assert_allclose(model.objective_, 8 / 3, rtol=1e-6)
    assert_array_equal(model.assignments_[1], (True, True, True))
    assert_array_equal(model.labels_, (0, 1, 2))
    # and the fixed point is one: from there nothing moves
    start = column(1 / 3, 1, 5 / 3)
    again, states = watched_fit(X, start, n_memberships=2, step=1e-3)
    assert_allclose(again.cluster_centers_, start, rtol=1e-12)
    assert_allclose(states[0].W[1], (0.5, 1, 0.5), atol=1e-9)


def random_problem(seed):
    rng = np.random.default_rng(seed)
    k, d, n = rng.integers(2, 6), rng.integers(1, 5), rng.integers(10, 40)
    X = rng.normal(size=(n, d)) + 3 * rng.normal(size=(k, d))[rng.integers(k, size=n)]
    start = X[rng.choice(n, size=k, replace=False)]
    choices = (None, rng.uniform(0.2, 3, size=n), rng.integers(0, 4, size=n))
    n_memberships = int(rng.integers(1, k))
    return (
        X,
        start,
        choices[seed % 3],
        n_memberships,
        float(rng.choice([0.05, 1.1, 7, 60])),
    )


def objective(X, C, W, weights):
    weights = np.ones(len(X)) if weights is None else weights
    return weights @ (W * reference.squared_distances(X, C)).sum(axis=1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("part", range(3))
def test_every_iteration_equals_the_oracle_and_no_substep_rises(part):
    for seed in range(40 * part, 40 * part + 40):
        X, start, weights, s, step = random_problem(seed)
        options = {"n_memberships": s, "step": step, "max_iter": 12}
        model, states = watched_fit(X, start, weights, **options)
        expected = reference.relaxed_iterations(X, start, step, s, len(states), weights)
        W = np.full((len(X), len(start)), s / len(start))
        substeps = []
        for state, iteration in zip(states, expected, strict=True):
            assert_allclose(state.C, iteration.C, rtol=0, atol=1e-9)
            assert_allclose(state.W, iteration.W, rtol=0, atol=1e-9)
            assert_allclose(state.objective, iteration.objective, rtol=1e-9, atol=1e-9)
            assert_array_equal(state.v, np.ones(len(X)))
            substeps += [objective(X, state.C, w, weights) for w in (W, state.W)]
            W = state.W
        assert np.all(np.diff(substeps) <= 1e-10 * substeps[0])
        assert_allclose(substeps[1::2], model.objective_path_, rtol=1e-9, atol=1e-9)


def test_one_membership_ends_where_lloyd_rests():
    for seed in range(50):
        X, start, _, _, _ = random_problem(seed)
        model, _ = watched_fit(X, start, step=1.1, max_iter=5000)
        if set(model.memberships_.ravel()) <= {0.0, 1.0}:
            again = reference.lloyd(X, model.cluster_centers_)
            assert_allclose(again.objective, model.objective_, rtol=1e-9)


@pytest.mark.parametrize("step", ["auto", 1.1])
def test_one_cluster_is_the_mean(step):
    X = column(0, 1, 5)
    model = RelaxedKMeans(1, step=step, init=[[4.0]]).fit(X)
    assert_allclose(model.cluster_centers_, 2, rtol=1e-15)
    assert_allclose(model.objective_, 4 + 1 + 9, rtol=1e-15)
    assert_array_equal(model.memberships_, np.ones((3, 1)))


@pytest.mark.parametrize("step", ["auto", 1.1])
def test_an_empty_cluster_keeps_its_center(step):
    X, start = 10 * FOUR, column(2, 12, 500)
    model, _ = watched_fit(X, start, step=step)
    assert_allclose(model.cluster_centers_, start, rtol=1e-15)
    assert_array_equal(model.labels_, (0, 0, 1, 1))
    assert_allclose(model.objective_, 16, rtol=1e-14)
