"""What moving the table about must not change."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from promises import HAS_AN_ORIGIN, has_fixed_step
from sklearn.base import clone

from rtkm import ISP, KMOR, MOC, ODC


def refit(model, X, t=1.0, **parameters):
    """Fit a table in units t times as large."""
    other = clone(model).set_params(**parameters)
    if has_fixed_step(model):
        other.set_params(step=model.step * t**2)  # a fixed step has units of its own
    return other.fit(X)


@pytest.mark.parametrize("t", [1e-6, 1e6, 2.0**-40])
def test_units_do_not_matter(model, blobs, t):
    fit, scaled = refit(model, blobs), refit(model, t * blobs, t)
    assert_array_equal(scaled.labels_, fit.labels_)
    assert_array_equal(scaled.assignments_, fit.assignments_)
    assert_allclose(scaled.cluster_centers_, t * fit.cluster_centers_, atol=1e-9 * t)
    assert_allclose(scaled.objective_, t**2 * fit.objective_, rtol=1e-9)
    assert_allclose(scaled.objective_path_, t**2 * fit.objective_path_, rtol=1e-9)
    # scores are squared distances, or have no unit
    unit = 1 if isinstance(model, (KMOR, ODC)) else t**2
    atol = 1e-9 * unit
    assert_allclose(scaled.outlier_scores_, unit * fit.outlier_scores_, atol=atol)


def test_a_price_given_as_a_number_has_units(blobs):
    def sets(X, overlap_penalty):
        model = ISP(3, overlap_penalty=overlap_penalty, init=X[:3])
        return model.fit(X).assignments_

    assert_array_equal(sets(10 * blobs, 100.0), sets(blobs, 1.0))
    assert sets(10 * blobs, 1.0).sum() > sets(blobs, 1.0).sum()


@pytest.mark.parametrize("offset", [1e4, -1e8, np.array([0.0, 1e6, -1e5])])
def test_the_origin_does_not_matter(model, blobs, offset):
    if isinstance(model, HAS_AN_ORIGIN):
        return  # see below
    fit, moved = refit(model, blobs), refit(model, blobs + offset)
    assert_array_equal(moved.labels_, fit.labels_)
    assert_allclose(moved.cluster_centers_ - offset, fit.cluster_centers_, atol=1e-6)
    assert_allclose(moved.objective_, fit.objective_, rtol=1e-6)


def test_the_origin_matters_where_centers_add_up(blobs):
    fit, moved = (MOC(3, init=X[:3]).fit(X) for X in (blobs, blobs + 5))
    assert moved.objective_ != pytest.approx(fit.objective_, rel=1e-3)


@pytest.mark.parametrize("init", ["given", "random"])
def test_shuffled_rows_get_shuffled_answers(model, blobs, init):
    order = np.random.default_rng(0).permutation(400)
    options = {"init": blobs[: model.n_clusters] if init == "given" else init}
    fit = refit(model, blobs, **options)
    shuffled = refit(model, blobs[order], **options)
    assert_array_equal(shuffled.labels_, fit.labels_[order])
    assert_array_equal(shuffled.assignments_, fit.assignments_[order])
    assert_allclose(shuffled.inlier_weights_, fit.inlier_weights_[order], atol=1e-9)
    assert_allclose(shuffled.cluster_centers_, fit.cluster_centers_, atol=1e-9)
