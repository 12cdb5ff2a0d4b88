"""A row of weight 2 is that row twice."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import MODELS
from numpy.testing import assert_allclose, assert_array_equal
from promises import WEIGHTED, assert_finite
from sklearn.base import clone

from rtkm import FuzzyCMeans, RelaxedKMeans


@pytest.fixture(params=[m for m in MODELS if isinstance(m, WEIGHTED)], ids=str)
def model(request):
    """Each method that takes weights, and each variant of it, in turn."""
    return clone(request.param)


@pytest.mark.parametrize("init", ["robust-k-means++", "robust-k-means||", "random"])
def test_a_weight_is_a_number_of_repetitions(model, blobs, init):
    weights = np.random.default_rng(0).integers(0, 4, size=400)
    model.set_params(init=init)
    weighted = clone(model).fit(blobs, sample_weight=weights)
    repeated = model.fit(np.repeat(blobs, weights, axis=0))
    assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, atol=1e-9)
    assert_allclose(weighted.objective_, repeated.objective_, rtol=1e-9)
    # the row on the boundary may lose some of its copies: its share says how many
    number = np.repeat(np.arange(400), weights)
    kept = np.bincount(number, repeated.inlier_weights_, minlength=400)
    assert_allclose(weights * weighted.inlier_weights_, kept, atol=1e-9)
    assert_allclose(
        kept.sum(), weights.sum() - (len(number) - repeated.inlier_weights_.sum())
    )
    whole = (weighted.inlier_weights_ % 1 == 0)[number]
    assert whole.sum() >= len(number) - 3
    assert_array_equal(weighted.labels_[number][whole], repeated.labels_[whole])
    assert_allclose(weighted.memberships_[number], repeated.memberships_, atol=1e-9)
    assert_array_equal(weighted.predict(blobs), repeated.predict(blobs))


def test_rows_without_weight_are_labeled_like_new_rows(model, blobs):
    if getattr(model, "step", "auto") != "auto":
        model.set_params(step="auto")  # labels of a fixed step need not be predicted
    weights = np.random.default_rng(0).integers(0, 2, size=400)
    weighted = clone(model).fit(blobs, sample_weight=weights)
    alone = model.fit(blobs[weights > 0])
    assert_array_equal(weighted.predict(blobs), alone.predict(blobs))
    assert_array_equal(weighted.labels_, alone.predict(blobs))


@pytest.mark.parametrize("weight", [1e-4, 1e4])
@pytest.mark.parametrize(
    "untrimmed",
    [FuzzyCMeans(3), RelaxedKMeans(3), RelaxedKMeans(3, step=5.0)],
    ids=str,
)
def test_a_common_weight_only_scales_the_objective(untrimmed, blobs, weight):
    untrimmed.set_params(init=blobs[:3])
    plain = clone(untrimmed).fit(blobs)
    weighted = clone(untrimmed).fit(blobs, sample_weight=np.full(400, weight))
    assert weighted.n_iter_ == plain.n_iter_
    assert_array_equal(weighted.labels_, plain.labels_)
    assert_allclose(weighted.cluster_centers_, plain.cluster_centers_, rtol=1e-9)
    assert_allclose(weighted.objective_, weight * plain.objective_, rtol=1e-9)


def test_weights_of_very_different_size_do_no_harm(model, blobs):
    weights = 10.0 ** np.random.default_rng(0).uniform(-13, 2, size=400)
    model.set_params(max_iter=3000).fit(blobs, sample_weight=weights)
    assert_finite(model, blobs)


def test_weightless_rows_are_kept_or_not_as_their_labels_say(model, blobs):
    weights = np.random.default_rng(1).integers(0, 3, size=400)
    model.fit(blobs, sample_weight=weights)
    weightless = weights == 0
    assert_array_equal(
        model.inlier_weights_[weightless] == 0, model.outlier_mask_[weightless]
    )


def test_the_partition_coefficient_counts_weights(blobs):
    weights = np.random.default_rng(0).integers(0, 4, size=400)
    weighted = FuzzyCMeans(3, init=blobs[:3]).fit(blobs, sample_weight=weights)
    squares = np.square(weighted.memberships_).sum(axis=1)
    expected = np.average(squares, weights=weights)
    assert_allclose(weighted.partition_coefficient_, expected, rtol=1e-12)
