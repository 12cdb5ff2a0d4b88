"""Where a fit starts, how often, and the same answer for the same question."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from promises import (
    STARTS_FROM_KMEANS,
    WEIGHTED,
    assert_same_fit,
    has_fixed_step,
)
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from rtkm import ISP, ODC, NEOKMeans, TrimmedKMeans
from rtkm.seeding import SEEDINGS


@pytest.mark.parametrize("init", SEEDINGS)
def test_same_seed_gives_the_same_answer(model, blobs, init):
    model.set_params(init=init)
    assert_same_fit(clone(model).fit(blobs), clone(model).fit(blobs))
    rng = np.random.RandomState(0)
    first = clone(model).set_params(random_state=rng).fit(blobs)
    assert_same_fit(first, model.fit(blobs))


def test_what_the_caller_owns_stays_as_it_is(model, blobs):
    init, weights = blobs[: model.n_clusters].copy(), np.linspace(0.5, 2, 400)
    owned = [blobs, init, weights]
    copies = [array.copy() for array in owned]
    parameters = model.set_params(init=init).get_params()
    if isinstance(model, WEIGHTED):
        model.fit(blobs, sample_weight=weights)
    else:
        model.fit(blobs)
    model.predict_memberships(blobs)
    model.cluster_centers_[:] = 0
    for array, copy in zip(owned, copies, strict=True):
        assert_array_equal(array, copy)
    assert all(model.get_params()[name] is parameters[name] for name in parameters)


def kmeans_from(start, X):
    with threadpool_limits(1):  # threads would wait for each other most of the time
        return KMeans(len(start), init=start, n_init=1, tol=0).fit(X)


def test_init_may_be_an_array_or_a_callable(model, blobs):
    start = blobs[10 : 10 + model.n_clusters]
    calls = []

    def choose(X, n_clusters, random_state):
        calls.append((X.shape, n_clusters, type(random_state)))
        return start.tolist()

    first_centers = []
    model.set_params(on_step=lambda state: first_centers.append(state.C), n_init=1)
    by_array = clone(model).set_params(init=start).fit(blobs)
    if isinstance(model, STARTS_FROM_KMEANS):
        means = kmeans_from(start, blobs).cluster_centers_
        assert_allclose(first_centers[0], means, rtol=1e-9)
    elif isinstance(model, NEOKMeans):  # it starts from labels
        nearest = KMeans(len(start), init=start, n_init=1, max_iter=1)
        labels = nearest.fit(start).predict(blobs)
        means = [blobs[labels == j].mean(axis=0) for j in range(len(start))]
        assert_allclose(first_centers[0], means, rtol=1e-9)
    else:
        assert_array_equal(first_centers[0], start)
    model.set_params(init=choose).fit(blobs)
    assert_array_equal(model.objective_path_, by_array.objective_path_)
    assert_array_equal(model.outlier_mask_, by_array.outlier_mask_)
    assert calls == [((400, 3), model.n_clusters, np.random.RandomState)]


def test_clusters_are_numbered_by_size_unless_their_centers_were_given(model, blobs):
    sizes = (model.fit(blobs).memberships_ * model.inlier_weights_[:, None]).sum(axis=0)
    assert (np.diff(sizes) <= 1e-9).all()
    order = np.random.RandomState(0).permutation(model.n_clusters)
    again = clone(model).set_params(init=model.cluster_centers_[order]).fit(blobs)
    if not isinstance(model, ISP):  # from its own centers it goes on to others
        D = cdist(again.cluster_centers_, model.cluster_centers_)
        # centers may coincide where rows have several memberships
        assert_allclose(D[range(len(D)), order], D.min(axis=1), rtol=0, atol=1e-9)


def test_equal_sizes_are_numbered_by_center():
    X = np.array([[5.0, 1], [5, 2], [5, 8], [5, 9], [1, 7], [1, 8], [0, 0]])
    for seed in range(5):
        model = TrimmedKMeans(3, contamination=1, random_state=seed).fit(X)
        assert_array_equal(model.labels_, [1, 1, 2, 2, 0, 0, -1])


def random_rows(starts):
    """A callable for `init`, and the list it notes its choices in."""

    def choose(X, n_clusters, random_state):
        starts.append(X[random_state.choice(len(X), n_clusters, replace=False)])
        return starts[-1]

    return choose


def rank(model, state):
    """What starts are compared by: ODC, which may drop rows at will, by their mean."""
    return state.objective / (state.v.sum() if isinstance(model, ODC) else 1)


@pytest.mark.parametrize("n_init", [1, 4, "auto"])
def test_the_best_of_n_init_starts_is_kept(model, blobs, n_init):
    starts, ends = [], []

    def watch(state):
        if state.n_iter == has_fixed_step(model):  # a fixed step starts with its first
            ends.append(None)
        ends[-1] = state

    model.set_params(init=random_rows(starts), n_init=n_init, on_step=watch).fit(blobs)
    swaps = getattr(model, "n_swaps", 0) != 0 and not has_fixed_step(model)
    with_swaps = 3 if getattr(model, "n_memberships", 1) > 1 else 1
    expected = (with_swaps if swaps else 10) if n_init == "auto" else n_init
    assert len(starts) == expected
    if isinstance(model, STARTS_FROM_KMEANS):
        assert len(ends) == 1
        best = min(starts, key=lambda C: kmeans_from(C, blobs).inertia_)
        alone = clone(model).set_params(on_step=None, init=best).fit(blobs)
        assert_allclose(model.objective_, alone.objective_, rtol=1e-9)
        return
    assert len(ends) == expected
    best = min(ends, key=lambda state: rank(model, state))
    assert_allclose(model.objective_, best.objective, rtol=1e-8)


@pytest.mark.parametrize("init", [np.eye(3), "robin"], ids=["array", "robin"])
def test_starts_that_never_differ_run_once(model, blobs, init):
    states = []
    model.set_params(init=init, n_clusters=3, n_init=5, on_step=states.append)
    model.fit(blobs)
    assert [s.n_iter for s in states].count(int(has_fixed_step(model))) == 1


def test_odc_compares_starts_by_the_mean():
    # from (15, 29) rows 1 and 2 are outliers: 4 + 4 = 8, over 4 inliers a mean of 2;
    # from (1, 15) row 29 is: 0.25 + 0.25 + 4 + 4 = 8.5, over 5 inliers a mean of 1.7
    X = np.array([[1.0], [2.0], [13.0], [15.0], [17.0], [29.0]])
    starts = iter([[[15.0], [29.0]], [[1.0], [15.0]]])
    model = ODC(2, init=lambda *_, random_state: next(starts), n_init=2).fit(X)
    assert_array_equal(model.labels_, [1, 1, 0, 0, 0, -1])
    assert_allclose(model.objective_, 8.5)
