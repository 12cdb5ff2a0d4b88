"""Whole fits against plain twins, on random tables without ties."""

from __future__ import annotations

import numpy as np
import pytest
import reference_family
from numpy.testing import assert_allclose, assert_array_equal
from reference_family import random_problem
from threadpoolctl import threadpool_limits

from rtkm import ESP, ISP, KMOR, MOC, ODC, OKM, ORC, ROKM, FuzzyCMeans, NEOKMeans


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Threads cost k-means more than they give on tables so small."""
    with threadpool_limits(1):
        yield


def assert_same_fit(model, fit):
    """Same rows in the same clusters, same outliers, centers and objective."""
    assert model.converged_
    assert_allclose(model.cluster_centers_, fit.C, rtol=1e-8, atol=1e-8)
    assert_array_equal(model.outlier_mask_, ~fit.inliers)
    inliers = fit.inliers
    assert_allclose(model.memberships_[inliers], fit.W[inliers], rtol=0, atol=1e-8)
    assert_allclose(model.objective_, fit.objective, rtol=1e-9, atol=1e-12)
    if fit.path:
        path, more = np.split(model.objective_path_, [len(fit.path)])
        assert_allclose(path, fit.path, rtol=1e-9, atol=1e-12)
        # one step more where the nearest cluster of an outlier has changed
        assert_allclose(more, fit.objective, rtol=1e-9)


def assert_nearest_labels(model, X):
    """Labels are the nearest of a row's clusters; some tie but for rounding."""
    D = reference_family.squared_distances(X, model.cluster_centers_)
    D = np.where(model.memberships_ > 0, D, np.inf)
    assert_array_equal(model.labels_ == -1, model.outlier_mask_)
    kept = np.flatnonzero(~model.outlier_mask_)
    own = D[kept, model.labels_[kept]]
    assert_allclose(own, D[kept].min(axis=1), rtol=1e-14, atol=1e-300)


@pytest.mark.parametrize("outlier_step", ["exact", "published"])
def test_kmor(outlier_step):
    n_with_outliers = 0
    for seed in range(200):
        rng, X, start = random_problem(seed)
        n0, gamma = int(rng.integers(0, len(X) // 3)), rng.choice([0, 0.5, 1, 3, 9])
        model = KMOR(
            len(start),
            max_outliers=n0,
            cutoff_factor=gamma,
            outlier_step=outlier_step,
            init=start,
        ).fit(X)
        if outlier_step == "exact":
            fit = reference_family.kmor_exact(X, start, n0, gamma)
        else:
            fit, _ = reference_family.kmor_published(X, start, n0, gamma)
        assert_same_fit(model, fit)
        assert_array_equal(model.labels_, fit.labels)
        n_with_outliers += model.n_outliers_ > 0
    assert n_with_outliers >= 100


def test_odc():
    n_with_outliers = 0
    for seed in range(200):
        rng, X, start = random_problem(seed)
        p = rng.uniform(1.2, 3)
        model = ODC(len(start), cutoff_factor=p, init=start).fit(X)
        fit, _ = reference_family.odc(X, start, p)
        assert_same_fit(model, fit)
        assert_array_equal(model.labels_, fit.labels)
        n_with_outliers += model.n_outliers_ > 0
    assert n_with_outliers >= 100


def test_neo():
    n_with_outliers = 0
    for seed in range(200):
        rng, X, start = random_problem(seed)
        n, k = len(X), len(start)
        n_left_out = int(rng.integers(0, n // 4))
        n_extra = int(rng.integers(-n_left_out, (k - 1) * n // 2))
        model = NEOKMeans(
            k, overlap=n_extra / n, contamination=n_left_out, init=start
        ).fit(X)
        assert_same_fit(model, reference_family.neo(X, start, n_extra, n_left_out))
        assert_nearest_labels(model, X)
        n_with_outliers += model.n_outliers_ > 0
    assert n_with_outliers >= 30


@pytest.mark.parametrize(
    ("penalty", "price"),
    [("none", 0.0), ("size", 1.0), ("size", -0.5), ("size", 2.0), ("distance", 0.2)],
)
def test_okm(penalty, price):
    n_overlapping = 0
    for seed in range(60):
        _, X, start = random_problem(seed)
        if penalty == "none":
            model = OKM(len(start), init=start)
        else:
            model = ROKM(len(start), overlap_penalty=price, penalty=penalty, init=start)
        how = {"none": {}, "size": {"exponent": price}, "distance": {"distance": price}}
        model.set_params(max_iter=10_000).fit(X)
        assert_same_fit(model, reference_family.okm(X, start, **how[penalty]))
        assert_nearest_labels(model, X)
        n_overlapping += (model.memberships_.sum(axis=1) > 1).any()
    assert n_overlapping >= 30


@pytest.mark.parametrize("price", [None, 0.0, 0.5, 5.0])
def test_esp_and_isp(price):
    n_overlapping = 0
    for seed in range(100):
        _, X, start = random_problem(seed)
        k = len(start)
        if price is None:
            most = 1 + seed % k
            model = ESP(k, n_memberships=most, init=start).fit(X)
            fit = reference_family.sparse_overlap(X, start, most)
        else:
            model = ISP(k, overlap_penalty=price, init=start).fit(X)
            fit = reference_family.sparse_overlap(X, start, k, price)
        assert_same_fit(model, fit)
        assert_nearest_labels(model, X)
        n_overlapping += (model.memberships_.sum(axis=1) > 1).any()
    assert n_overlapping >= 50


def test_moc():
    n_overlapping = 0
    for seed in range(150):
        _, X, start = random_problem(seed)
        model = MOC(len(start), init=start).fit(X)
        assert_same_fit(model, reference_family.moc(X, start))
        assert_nearest_labels(model, X)
        n_overlapping += (model.memberships_.sum(axis=1) > 1).any()
    assert n_overlapping >= 75


def test_fuzzy():
    for seed in range(100):
        rng, X, start = random_problem(seed)
        m = rng.choice([1.1, 1.5, 2.0, 3.0])
        model = FuzzyCMeans(len(start), fuzzifier=m, init=start, max_iter=10_000)
        fit = reference_family.fuzzy(X, start, m)
        assert_same_fit(model.fit(X), fit)
        assert_array_equal(model.labels_, fit.labels)
        assert_allclose(
            model.partition_coefficient_, (fit.W**2).sum(axis=1).mean(), rtol=1e-9
        )


def test_orc():
    for seed in range(100):
        rng, X, start = random_problem(seed)
        threshold, n_rounds = rng.uniform(0.6, 1), int(rng.integers(0, 4))
        model = ORC(len(start), threshold=threshold, n_rounds=n_rounds, init=start).fit(
            X
        )
        fit, removal_round = reference_family.orc(X, start, threshold, n_rounds)
        assert_same_fit(model, fit)
        assert_array_equal(model.labels_, fit.labels)
        assert_array_equal(model.removal_round_, removal_round)
