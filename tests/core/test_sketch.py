"""The few points of a fit that a notebook draws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from rtkm import CBLOF, RTKM, TrimmedKMeans
from rtkm.core.sketch import MOST_POINTS, sketch_of, spread_evenly
from rtkm.core.table import Table
from rtkm.datasets import make_outlier_blobs


def sketch(X, labels, C):
    labels = np.asarray(labels, dtype=np.int32)
    return sketch_of(Table(X, None), labels < 0, labels, np.asarray(C, dtype=float))


def distances(points):
    return np.linalg.norm(points[:, None] - points[None], axis=2)


def test_two_directions_show_how_far_three_centers_are_apart():
    C = np.random.default_rng(0).normal(size=(3, 50))
    X = np.repeat(C, 20, axis=0)
    found = sketch(X, np.repeat([0, 1, 2], 20), C)
    np.testing.assert_allclose(
        distances(found.places(found.centers)), distances(C), rtol=1e-5, atol=1e-5
    )
    assert np.array_equal(found.points, found.centers[np.repeat([0, 1, 2], 20)])


def test_a_second_direction_is_where_rows_spread_about_two_centers():
    # apart by 10 in x0; about their centers rows spread by 3 in x2 and by 1 elsewhere
    rng = np.random.default_rng(0)
    labels = np.arange(400) % 2
    C = np.zeros((2, 4))
    C[1, 0] = 10
    X = C[labels] + rng.normal(size=(400, 4)) * [1, 1, 3, 1]
    found = sketch(X, labels, C)
    places = found.places(found.points)
    assert abs(np.corrcoef(places[:, 0], X[:, 0])[0, 1]) > 0.999
    assert abs(np.corrcoef(places[:, 1], X[:, 2])[0, 1]) > 0.99


@pytest.mark.parametrize("d", [1, 2])
def test_one_and_two_columns_are_kept_as_they_are(d):
    # digits that float32 has not, were the origin not taken away
    X = 1.7e9 + np.random.default_rng(0).uniform(size=(100, d))
    found = sketch(X, np.zeros(100), X[:1])
    assert found.has_features
    assert found.points.dtype == np.float32
    np.testing.assert_allclose(found.places(found.points), X, rtol=0, atol=1e-6)


@pytest.mark.parametrize("size", [1e-200, 1e150])
@pytest.mark.parametrize("k", [2, 3])
def test_size_does_not_matter(size, k):
    X = np.random.default_rng(0).normal(size=(60, 5))
    labels = np.arange(60) % k
    C = np.array([X[labels == j].mean(axis=0) for j in range(k)])
    with np.errstate(all="raise", under="ignore"):
        found = sketch(size * X, labels, size * C)
    plain = sketch(X, labels, C)
    np.testing.assert_allclose(
        found.places(found.points) / size, plain.places(plain.points), atol=1e-5
    )


def test_sparse_rows_give_the_picture_of_the_dense_ones():
    rng = np.random.default_rng(0)
    dense = rng.random((300, 40)) * (rng.random((300, 40)) < 0.1)
    labels = np.arange(300) % 2
    C = np.array([dense[labels == j].mean(axis=0) for j in range(2)])
    of_csr = sketch(sparse.csr_array(dense), labels, C)
    of_dense = sketch(dense, labels, C)
    for found in (of_csr, of_dense):
        assert found.points.shape == (300, 2)
    np.testing.assert_allclose(
        distances(of_csr.places(of_csr.points)),
        distances(of_dense.places(of_dense.points)),
        atol=1e-5,
    )


def test_of_many_rows_a_sample_is_kept_with_outliers_among_it():
    labels = np.zeros(100_000, dtype=np.int32)
    labels[[3, 50_000, 99_999]] = -1
    found = sketch(np.arange(100_000.0)[:, None], labels, [[0.0]])
    assert len(found.points) <= MOST_POINTS
    assert (found.labels < 0).sum() == 3
    inside = np.sort(found.places(found.points)[found.labels == 0, 0])
    # even: no gap is much wider than another
    assert np.diff(inside).max() < 3 * 100_000 / MOST_POINTS


def test_many_outliers_are_sampled_too():
    labels = np.where(np.arange(100_000) < 50_000, -1, 0)
    found = sketch(np.arange(100_000.0)[:, None], labels, [[0.0]])
    outliers = found.places(found.points)[found.labels < 0, 0]
    assert 300 < len(outliers) <= 400
    assert np.diff(np.sort(outliers)).max() < 3 * 50_000 / 400


@pytest.mark.parametrize("period", [2, 5, 7, 24, 500, 1000])
def test_rows_in_a_rhythm_are_all_met(period):
    seen = np.bincount(spread_evenly(1_000_000, MOST_POINTS) % period, minlength=period)
    if period < 100:
        assert seen.min() > 0.7 * len(spread_evenly(1_000_000, MOST_POINTS)) / period
    assert (seen > 0).mean() > 0.7


@pytest.mark.parametrize(
    "model", [RTKM(3, contamination=0.1, random_state=0), CBLOF()], ids=str
)
def test_a_fit_keeps_it_and_gives_the_same_again(model):
    X, _, _ = make_outlier_blobs(300, n_features=4, n_clusters=3, random_state=0)
    first, again = model.fit(X)._sketch, model.fit(X)._sketch
    for one, other in zip(first, again, strict=True):
        assert np.array_equal(one, other)
    assert (first.labels < 0).sum() == model.n_outliers_


def test_weights_do_not_matter_to_it():
    X, _, _ = make_outlier_blobs(300, n_features=4, n_clusters=3, random_state=0)
    model = TrimmedKMeans(3, contamination=0, random_state=0)
    weights = np.where(np.arange(300) % 3, 1.0, 0.0)
    assert len(model.fit(X, sample_weight=weights)._sketch.points) == 300


@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_equal_rows_have_a_picture(d):
    found = sketch(np.full((30, d), 7.0), np.zeros(30), np.full((1, d), 7.0))
    assert np.isfinite(found.points).all()


def test_centers_that_are_all_the_same_have_a_picture():
    rows = np.random.default_rng(0).normal(size=(40, 4))
    found = sketch(rows, np.zeros(40), np.zeros((2, 4)))
    assert np.isfinite(found.points).all()
    assert not found.centers.any()
