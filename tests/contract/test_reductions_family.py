"""How the family collapses into k-means and itself, and what it may not break."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
import reference
import reference_family
from numpy.testing import assert_allclose, assert_array_equal
from reference_family import random_problem
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from rtkm import (
    ESP,
    ISP,
    KMOR,
    MOC,
    ODC,
    OKM,
    ORC,
    ROKM,
    FuzzyCMeans,
    KMeansMinusMinus,
    NEOKMeans,
)
from rtkm.clusterers._overlap import Charges
from rtkm.core.validation import make_table


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Threads cost k-means more than they give on tables so small."""
    with threadpool_limits(1):
        yield


def watched(cls, X, start, **parameters):
    """Fit from the centers given; return the model and the states on its way."""
    states = []
    model = cls(len(start), init=start, on_step=states.append, **parameters)
    return model.fit(X), states


def assert_same_descent(states, others):
    """Same centers, memberships and objective, bit for bit."""
    assert len(states) == len(others)
    for one, other in zip(states, others, strict=True):
        for name in ("C", "W", "v", "objective"):
            assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


# Reductions


@cache
def lloyd_problems():
    """Return problems where k-means empties no cluster, and what it makes of them.

    Of an empty cluster scikit-learn moves the center, and we keep it.
    """
    found = []
    for seed in range(150):
        _, X, start = random_problem(seed)
        steps = reference.lloyd(X, start).steps
        if all(len(np.unique(labels)) == len(start) for labels, _ in steps):
            lloyd = KMeans(len(start), init=start, n_init=1, algorithm="lloyd", tol=0)
            found.append((X, start, lloyd.fit(X)))
    assert len(found) >= 100
    return found


@pytest.mark.parametrize(
    ("cls", "parameters", "unit"),
    [
        (KMOR, {"max_outliers": 0}, 1),
        (KMOR, {"max_outliers": 0, "outlier_step": "published"}, 1),
        (KMOR, {"max_outliers": 5, "cutoff_factor": 1e12}, 1),
        (NEOKMeans, {"overlap": 0, "contamination": 0}, 1),
        (ESP, {"n_memberships": 1}, 1),
        (ISP, {"overlap_penalty": 1e12}, 1),
        (ROKM, {"overlap_penalty": 100, "tol": 0}, 1),
        # the distance to the only center counts once as residual and 1e9 times more
        (ROKM, {"overlap_penalty": 1e9, "penalty": "distance", "tol": 0}, 1 + 1e9),
        (ORC, {"threshold": 1.0}, 1),
        (ORC, {"n_rounds": 0}, 1),
        (ODC, {"cutoff_factor": 1e12}, 1),
        (FuzzyCMeans, {"fuzzifier": 1 + 1e-9, "tol": 0}, 1),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_without_outliers_and_overlap_all_are_lloyd(cls, parameters, unit):
    for X, start, lloyd in lloyd_problems():
        model = cls(len(start), init=start, **parameters).fit(X)
        assert_array_equal(model.labels_, lloyd.labels_)
        assert_array_equal(model.assignments_, np.eye(len(start))[lloyd.labels_])
        assert_allclose(model.cluster_centers_, lloyd.cluster_centers_, atol=1e-7)
        assert_allclose(model.objective_, unit * lloyd.inertia_, rtol=1e-8)


def test_fuzzy_memberships_fall_to_those_of_lloyd():
    # from the same start, the farther from 1 the farther away on average
    shifts = {fuzzifier: [] for fuzzifier in (1.3, 1.1, 1.01)}
    for X, start, lloyd in lloyd_problems()[:60]:
        for fuzzifier, of_all in shifts.items():
            options = {"fuzzifier": fuzzifier, "max_iter": 5000}
            model = FuzzyCMeans(len(start), init=lloyd.cluster_centers_, **options)
            shift = model.fit(X).cluster_centers_ - lloyd.cluster_centers_
            of_all.append(np.linalg.norm(shift) / np.linalg.norm(X))
    medians = [float(np.median(of_all)) for of_all in shifts.values()]
    assert medians == sorted(medians, reverse=True)
    assert medians[-1] < 1e-4 < medians[0]


def test_kmor_whose_outliers_are_free_is_kmeans_minus_minus():
    for seed in range(200):
        rng, X, start = random_problem(seed)
        n0 = int(rng.integers(0, len(X) // 4))
        kmor, states = watched(KMOR, X, start, max_outliers=n0, cutoff_factor=0)
        minus, others = watched(KMeansMinusMinus, X, start, n_outliers=n0)
        assert kmor.n_outliers_ == n0
        assert_array_equal(kmor.labels_, minus.labels_)
        for one, other in zip(states, others, strict=True):
            assert_array_equal(one.v, other.v)
            assert_array_equal(one.W, other.W)
            assert_allclose(one.C, other.C, rtol=1e-13, atol=1e-13)
            assert_allclose(one.objective, other.objective, rtol=1e-14)


def test_neo_with_as_many_rows_less_as_outliers_is_kmeans_minus_minus():
    for seed in range(200):
        rng, X, start = random_problem(seed)
        n, left_out = len(X), int(rng.integers(0, len(X) // 4))
        options = {"overlap": -left_out / n, "contamination": left_out}
        neo, states = watched(NEOKMeans, X, start, **options)
        # which starts from the means of labels
        nearest = reference_family.nearest_sets(reference.squared_distances(X, start))
        start = reference_family.means(X, nearest, start)
        minus, others = watched(KMeansMinusMinus, X, start, n_outliers=left_out)
        assert neo.n_outliers_ == left_out
        assert_array_equal(neo.labels_, minus.labels_)
        assert_allclose(neo.cluster_centers_, minus.cluster_centers_, atol=1e-9)
        for one, other in zip(states, others, strict=False):
            assert_allclose(one.objective, other.objective, rtol=1e-9)


@pytest.mark.parametrize("penalty", ["size", "distance"])
def test_overlaps_at_no_price_are_those_of_okm_to_the_bit(penalty):
    for seed in range(60):
        _, X, start = random_problem(seed)
        _, states = watched(OKM, X, start, max_iter=2000)
        options = {"overlap_penalty": 0, "penalty": penalty, "max_iter": 2000}
        _, others = watched(ROKM, X, start, **options)
        assert_same_descent(states, others)


def test_no_price_is_no_limit_to_the_bit():
    for seed in range(100):
        _, X, start = random_problem(seed)
        _, states = watched(ESP, X, start, n_memberships=len(start))
        _, others = watched(ISP, X, start, overlap_penalty=0)
        assert_same_descent(states, others)


def test_the_more_clusters_a_row_may_have_the_less_it_costs():
    n_gains = 0
    for seed in range(200):
        _, X, C = random_problem(seed)
        table = make_table(X)

        def costs(model, most, table=table, C=C):
            charges = Charges(most=most)
            sets = model._find_sets(table, C, charges)
            assert 1 <= sets.sum(axis=1).min() <= sets.sum(axis=1).max() <= most
            return model._costs(table, C, sets, charges)

        k = len(C)
        by_limit = [costs(ESP(k), most) for most in range(1, k + 1)]
        for fewer, more in pairwise(by_limit):
            assert np.all(more <= fewer + 1e-9)
            n_gains += np.any(more < fewer - 1e-9)
        # and growing a set finds no cheaper one
        assert np.all(by_limit[-1] <= costs(OKM(k), k) + 1e-9)
    assert n_gains >= 200


# Descent


@pytest.mark.parametrize(
    ("cls", "parameters"),
    [
        (KMOR, {"max_outliers": 0.2, "cutoff_factor": 0.5}),
        (KMOR, {"max_outliers": 0.2, "cutoff_factor": 3}),
        (NEOKMeans, {"overlap": 0.3, "contamination": 0.1}),
        (NEOKMeans, {"overlap": -0.05, "contamination": 0.1}),
        (OKM, {}),
        (ROKM, {"overlap_penalty": 1}),
        (ROKM, {"overlap_penalty": -1}),
        (ROKM, {"overlap_penalty": 0.3, "penalty": "distance"}),
        (ESP, {"n_memberships": 2}),
        (ISP, {"overlap_penalty": 0.5}),
        (ISP, {}),
        (MOC, {}),
        (FuzzyCMeans, {"fuzzifier": 1.2}),
        (FuzzyCMeans, {"fuzzifier": 2}),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_the_objective_never_rises(cls, parameters):
    n_steps = 0
    for seed in range(1000, 1200):
        _, X, start = random_problem(seed)
        model = cls(len(start), init=start, max_iter=5000, **parameters).fit(X)
        path = model.objective_path_
        assert np.all(np.diff(path) <= 1e-12 * path[:-1])
        n_steps += len(path) - 1
    assert n_steps >= 400


# Feasibility, after every step


def grid_problem(seed):
    """Rows that repeat, with ties everywhere and rows on the starting centers."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(40, 2)).astype(float)
    places = np.unique(X, axis=0)
    return rng, X, places[rng.choice(len(places), size=3, replace=False)]


def problems(n_problems):
    """Yield generic and degenerate problems in turn."""
    for seed in range(n_problems):
        yield (random_problem, grid_problem)[seed % 2](seed)


def test_neo_places_all_its_memberships_and_leaves_out_no_more_than_allowed():
    for rng, X, start in problems(200):
        n, k = len(X), len(start)
        left_out = int(rng.integers(0, n // 4))
        extra = int(rng.integers(-left_out, (k - 1) * n // 2))
        options = {"overlap": extra / n, "contamination": left_out}
        model, states = watched(NEOKMeans, X, start, **options)
        for state in states:
            assert set(np.unique(state.W)) <= {0.0, 1.0}
            assert state.W.sum() == n + extra
            empty = ~state.W.any(axis=1)
            assert empty.sum() <= left_out
            assert_array_equal(state.v, ~empty)
        assert_array_equal(model.outlier_mask_, ~model.assignments_.any(axis=1))


@pytest.mark.parametrize("outlier_step", ["exact", "published"])
def test_kmor_has_no_more_outliers_than_allowed_and_the_price_it_says(outlier_step):
    for rng, X, start in problems(200):
        n0, gamma = int(rng.integers(0, 10)), float(rng.choice([0, 1, 3]))
        options = {"max_outliers": n0, "cutoff_factor": gamma}
        model, states = watched(KMOR, X, start, outlier_step=outlier_step, **options)
        for state in states:
            cost = reference.squared_distances(X, state.C).min(axis=1)
            assert (~state.kept).sum() <= n0
            price = reference_family.kmor_price(cost, ~state.kept, gamma)
            assert_allclose(state.objective, price, rtol=1e-12, atol=1e-12)
            # the outliers are the costliest rows
            assert cost[state.kept].max() <= cost[~state.kept].min(initial=np.inf)
        assert model.n_outliers_ == (model.labels_ == -1).sum() <= n0


@pytest.mark.parametrize("cls", [OKM, ROKM, ESP, ISP, MOC])
def test_every_row_has_a_set_of_clusters_and_no_larger_than_allowed(cls):
    for rng, X, start in problems(100):
        options, most = {}, len(start)
        if cls is ESP:
            most = options["n_memberships"] = int(rng.integers(1, len(start) + 1))
        model, states = watched(cls, X, start, max_iter=5000, **options)
        for state in states:
            assert set(np.unique(state.W)) <= {0.0, 1.0}
            sizes = state.W.sum(axis=1)
            assert 1 <= sizes.min() <= sizes.max() <= most
            assert np.isfinite(state.C).all()
        assert model.n_outliers_ == 0
        assert np.take_along_axis(
            model.assignments_, model.labels_[:, None].astype(int), axis=1
        ).all()


@pytest.mark.parametrize("fuzzifier", [1.01, 2, 8])
def test_fuzzy_shares_sum_to_one(fuzzifier):
    for _, X, start in problems(100):
        options = {"fuzzifier": fuzzifier, "max_iter": 5000}
        _, states = watched(FuzzyCMeans, X, start, **options)
        for state in states:
            assert_allclose(state.W.sum(axis=1), 1, rtol=0, atol=1e-14)
            assert state.W.min() >= 0
            assert np.isfinite(state.C).all()


def test_orc_removes_a_row_in_every_round_below_threshold_one():
    n_rounds = n_ended = 0
    for rng, X, start in problems(100):
        threshold = float(rng.uniform(0.3, 0.999))
        model, states = watched(ORC, X, start, threshold=threshold, n_rounds=4)
        counts = [state.kept.sum() for state in states]
        removed = -np.diff(counts)
        # the last round may be refused: too few rows would be left, or all on centers
        assert np.all(removed[:-1] >= 1)
        n_rounds += (removed >= 1).sum()
        n_ended += removed[-1] == 0
        assert counts[-1] >= len(start)
        assert_array_equal(
            [(model.removal_round_ == i + 1).sum() for i in range(len(removed))],
            removed,
        )
    assert n_rounds > 200
    assert n_ended > 0


def test_odc_keeps_rows_within_the_cutoff_and_never_none():
    for rng, X, start in problems(200):
        p = float(rng.uniform(1.1, 3))
        model, states = watched(ODC, X, start, cutoff_factor=p)
        for state in states:
            D = reference.squared_distances(X, state.C)
            distance, scale = np.sqrt(D.min(axis=1)), state.scales[D.argmin(axis=1)]
            far = (distance > p * scale) & (scale > 0)
            assert_array_equal(state.kept, ~far)
            assert state.kept.any()
        assert model.converged_
