"""How the methods collapse into one another, and what no method may break."""

from __future__ import annotations

import math

import numpy as np
import pytest
import reference
from conftest import MODELS
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from rtkm import (
    KMOR,
    MOC,
    ODC,
    ORC,
    RTKM,
    KMeansMinusMinus,
    RelaxedKMeans,
    TrimmedKMeans,
)
from rtkm.clusterers._base import WeightedClusterer

# which models promise what
TRIMMING = (RTKM, RelaxedKMeans, TrimmedKMeans, KMeansMinusMinus)
EXACT_COUNTS = [model for model in MODELS if isinstance(model, TRIMMING)]
WEIGHTED = [model for model in MODELS if isinstance(model, WeightedClusterer)]
# sums of activities count from the origin
WITHOUT_ORIGIN = [model for model in MODELS if not isinstance(model, MOC)]
DESCENDING = [
    model
    for model in MODELS
    if not isinstance(model, ORC | ODC)
    and not (isinstance(model, KMOR) and model.outlier_step == "published")
]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Threads cost k-means more than they give on tables so small."""
    with threadpool_limits(1):
        yield


def random_problem(seed):
    """Blobs and stray rows, starting centers, rows to trim, and row weights."""
    rng = np.random.default_rng(seed)
    k, d = rng.integers(2, 6), rng.integers(1, 5)
    middles = rng.normal(scale=4, size=(k, d))
    X = np.vstack(
        [
            middles[rng.integers(k, size=40)] + rng.normal(size=(40, d)),
            rng.uniform(-20, 20, size=(rng.integers(1, 10), d)),
        ]
    )
    X = X[rng.permutation(len(X))]
    start = X[rng.choice(len(X), size=k, replace=False)]
    weights = rng.uniform(0.2, 3, size=len(X))
    return X, start, int(rng.integers(1, 10)), weights


def watched(cls, start, **parameters):
    """Return an estimator that starts at the centers given, and the states it sees."""
    states = []
    model = cls(len(start), init=start, on_step=states.append, **parameters)
    return model, states


def assert_same_descent(states, others):
    """Same centers, memberships, inlier weights and objective, bit for bit."""
    assert len(states) == len(others)
    for one, other in zip(states, others, strict=True):
        for name in ("C", "W", "v", "objective", "n_iter"):
            assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


# Reductions


LLOYD = [
    (RTKM, {"contamination": 0, "n_swaps": 0}),
    (TrimmedKMeans, {"contamination": 0, "n_swaps": 0}),
    (KMeansMinusMinus, {"n_outliers": 0}),
    (RelaxedKMeans, {"step": "auto"}),
]


def test_without_trimming_and_overlap_all_are_lloyd():
    n_compared = 0
    for seed in range(150):
        X, start, _, weights = random_problem(seed)
        weights = weights if seed % 2 else None
        # where a cluster empties, scikit-learn moves its center and we keep it
        steps = reference.lloyd(X, start, weights).steps
        if any(len(np.unique(labels)) < len(start) for labels, _ in steps):
            continue
        lloyd = KMeans(len(start), init=start, n_init=1, algorithm="lloyd", tol=0)
        lloyd.fit(X, sample_weight=weights)
        for cls, parameters in LLOYD:
            model = cls(len(start), init=start, **parameters)
            model.fit(X, sample_weight=weights)
            assert_array_equal(model.labels_, lloyd.labels_)
            assert_allclose(model.cluster_centers_, lloyd.cluster_centers_, atol=1e-9)
            assert_allclose(model.objective_, lloyd.inertia_, rtol=1e-9)
        n_compared += 1
    assert n_compared >= 100


@pytest.mark.parametrize("step", [0.3, 1.1, 30.0])
def test_rtkm_without_contamination_is_relaxed_kmeans_to_the_bit(step):
    for seed in range(100):
        X, start, _, weights = random_problem(seed)
        weights = [None, weights][seed % 2]
        options = {"step": step, "n_memberships": 1 + seed % (len(start) - 1)}
        options |= {"max_iter": 2000, "tol": 1e-4}
        relaxed, expected = watched(RelaxedKMeans, start, **options)
        rtkm, states = watched(RTKM, start, contamination=0, **options)
        relaxed.fit(X, sample_weight=weights)
        rtkm.fit(X, sample_weight=weights)
        assert_same_descent(states, expected)
        assert_array_equal(rtkm.labels_, relaxed.labels_)
        assert rtkm.offset_ == relaxed.offset_ == -np.inf


def test_exact_rtkm_trimmed_kmeans_and_kmeans_minus_minus_are_one():
    for seed in range(200):
        X, start, n_trimmed, weights = random_problem(seed)
        weights = weights if seed % 2 else None
        rtkm, states = watched(RTKM, start, contamination=n_trimmed, n_swaps=0)
        trimmed, same = watched(
            TrimmedKMeans, start, contamination=n_trimmed, n_swaps=0
        )
        minus, again = watched(KMeansMinusMinus, start, n_outliers=n_trimmed)
        for model in (rtkm, trimmed, minus):
            model.fit(X, sample_weight=weights)
        assert_same_descent(states, same)
        assert_same_descent(states, again)
        # and all of them are the alternation of assigning, trimming and averaging
        end = reference.concentration_steps(X, start, n_trimmed, weight=weights)
        assert_array_equal(rtkm.labels_, end.labels)
        assert_allclose(rtkm.cluster_centers_, end.C, atol=1e-9)
        assert_allclose(rtkm.inlier_weights_, end.shares, atol=1e-9)
        assert_allclose(rtkm.objective_, end.objective, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::rtkm.ScaleWarning")
def test_a_vanishing_step_with_fresh_memberships_is_the_exact_solver():
    n_compared = 0
    for seed in range(100):
        X, start, n_trimmed, _ = random_problem(seed)
        model, states = watched(RTKM, start, contamination=n_trimmed, n_swaps=0)
        model.fit(X)
        relaxation = reference.rtkm_iterations(
            X, start, 1e-9, 1, n_trimmed, len(states), refresh_trimmed=True
        )
        for state, expected in zip(states, relaxation, strict=True):
            assert_allclose(state.C, expected.C, atol=1e-9)
            last_kept, first_out = np.sort(expected.cost)[-n_trimmed - 1 :][:2]
            if first_out - last_kept < 1e-6:
                break  # two rows that share a center: a projection keeps half of each
            assert_allclose(state.objective, expected.objective, rtol=1e-9)
        else:
            n_compared += 1
    assert n_compared >= 95


@pytest.mark.filterwarnings("ignore::rtkm.ScaleWarning")
def test_a_relaxed_fit_at_a_vertex_has_the_objective_of_trimmed_kmeans():
    n_vertices = 0
    for seed in range(150):
        X, start, n_trimmed, _ = random_problem(seed)
        options = {"contamination": n_trimmed, "step": 1.1, "max_iter": 5000}
        model = RTKM(len(start), init=start, **options).fit(X)
        if not set(np.append(model.memberships_, model.inlier_weights_)) <= {0.0, 1.0}:
            continue
        n_vertices += 1
        kept = np.flatnonzero(model.labels_ >= 0)
        assert len(kept) == len(X) - n_trimmed
        D = reference.squared_distances(X, model.cluster_centers_)
        expected = math.fsum(D[kept, model.labels_[kept]])
        assert_allclose(model.objective_, expected, rtol=1e-13)
        centers = [X[model.labels_ == j].mean(axis=0) for j in set(model.labels_[kept])]
        filled = sorted(set(model.labels_[kept]))
        assert_allclose(model.cluster_centers_[filled], centers, atol=1e-9)
    assert n_vertices >= 100


# Feasibility


@pytest.mark.parametrize("model", EXACT_COUNTS, ids=str)
def test_exactly_as_many_rows_are_trimmed_as_asked_for(model):
    # a grid has ties everywhere, and its own rows as centers have rows on top of them
    name = next((n for n in ("contamination", "n_outliers") if hasattr(model, n)), None)
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 4, size=(60, 2)).astype(float)
        start = np.unique(X, axis=0)[: model.n_clusters]
        fit = clone(model).set_params(init=start, max_iter=5000)
        n_trimmed = 0
        if name:
            n_trimmed = int(rng.integers(0, 20))
            fit.set_params(**{name: n_trimmed})
        fit.fit(X)
        v = fit.inlier_weights_
        assert_allclose(v.sum(), 60 - n_trimmed, rtol=0, atol=1e-9)
        s = getattr(model, "n_memberships", 1)
        assert_allclose(fit.memberships_.sum(axis=1), s, rtol=0, atol=1e-9)
        if getattr(model, "step", "auto") == "auto":
            assert fit.n_outliers_ == (fit.labels_ == -1).sum() == n_trimmed
            assert set(v) <= {0.0, 1.0}
        else:  # the paper's rule flags all that are not kept whole
            assert fit.n_outliers_ == (v < 1 - 1e-10).sum() >= n_trimmed


def test_thousands_of_duplicates_are_trimmed_to_the_row(duplicates):
    for n_trimmed in (0, 1, 39, 40, 41, 500):
        model = TrimmedKMeans(4, contamination=n_trimmed, random_state=0).fit(
            duplicates
        )
        assert model.n_outliers_ == n_trimmed
        assert model.objective_ == 0
        # all costs are 0, and of equal rows the last ones go
        assert_array_equal(
            np.flatnonzero(model.outlier_mask_), range(6040 - n_trimmed, 6040)
        )


def test_duplicates_beyond_the_clusters_cost_what_they_must(duplicates):
    # The far place takes one center, (-3, 4) another, and 1000 rows at (0, 0) share the
    # third with 2000 at (5, 1). Theirs are the largest costs, so 15 of the 1000 are
    # trimmed, the last ones: 985 * 2000 / 2985 times the squared distance of 26.
    model = TrimmedKMeans(3, contamination=15, random_state=0).fit(duplicates)
    assert_allclose(model.objective_, 985 * 2000 / 2985 * 26, rtol=1e-12)
    assert_array_equal(np.flatnonzero(model.outlier_mask_), range(985, 1000))


# Descent


@pytest.mark.parametrize("model", DESCENDING, ids=str)
def test_objective_never_rises(model, blobs):
    model = clone(model)
    for seed in range(10):
        model.set_params(init="random", n_init=1, random_state=seed, max_iter=1000)
        path = model.fit(blobs).objective_path_
        assert len(path) > 2
        assert np.all(np.diff(path) <= 1e-12 * path[:-1])
