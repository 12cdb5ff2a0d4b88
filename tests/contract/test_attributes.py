"""What a fit leaves behind agrees with itself, and with the method's formulas."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from promises import (
    CUTS_BY_SCORE,
    KEEPS_ALL,
    KEEPS_SETS,
    PARTITIONS,
    TRIMMING,
    has_fixed_step,
    n_memberships,
    n_trimmed,
    new_memberships,
    objective,
    outlier_scores,
    row_costs,
    squared_distances,
)
from sklearn.base import clone

from rtkm import ESP, ISP, KMOR, MOC, ODC, OKM, ORC, ROKM, FuzzyCMeans, NEOKMeans


def test_attributes_agree_with_each_other(model, blobs):
    model.fit(blobs)
    W, v = model.memberships_, model.inlier_weights_
    inliers = ~model.outlier_mask_
    assert model.labels_.dtype == np.int32
    assert W.dtype == v.dtype == model.outlier_scores_.dtype == np.float64
    assert model.assignments_.dtype == model.outlier_mask_.dtype == bool
    assert_array_equal(model.outlier_mask_, model.labels_ == -1)
    assert model.n_outliers_ == model.outlier_mask_.sum()
    assert_array_equal(model.assignments_.any(axis=1), inliers)
    D = np.where(model.assignments_, squared_distances(model, blobs), np.inf)
    assert_array_equal(model.labels_[inliers], D.argmin(axis=1)[inliers])
    assert 0 <= v.min() <= v.max() <= 1
    assert model.inertia_ == model.objective_ == model.objective_path_[-1]
    expected = objective(model, blobs, model.cluster_centers_, W, v)
    assert_allclose(model.objective_, expected, rtol=1e-12)
    expected = outlier_scores(model, blobs, fitted_rows=blobs)
    assert_allclose(model.outlier_scores_, expected, rtol=1e-9)
    assert model.converged_
    assert model.n_features_in_ == 3


def test_memberships_have_the_sums_they_must(model, blobs):
    model.fit(blobs)
    W, inliers = model.memberships_, ~model.outlier_mask_
    assert 0 <= W.min() <= W.max() <= 1
    if isinstance(model, (*PARTITIONS, FuzzyCMeans)):
        assert_allclose(W.sum(axis=1), n_memberships(model), rtol=0, atol=1e-9)
    if not (isinstance(model, FuzzyCMeans) or has_fixed_step(model)):
        assert set(W.ravel()) <= {0.0, 1.0}
    if isinstance(model, NEOKMeans):  # a tenth of 400 rows more than one each
        assert W.sum() == 440
    if isinstance(model, ESP):
        assert W.sum(axis=1).max() == model.n_memberships
    if isinstance(model, FuzzyCMeans):
        crisp = (W >= 1 / 3) | (W == W.max(axis=1, keepdims=True))
        assert_array_equal(model.assignments_, crisp)
    else:
        assert_array_equal(model.assignments_, (W > 1e-10) & inliers[:, None])


def test_as_many_rows_are_trimmed_as_asked_for(model, blobs):
    model.fit(blobs)
    v = model.inlier_weights_
    if isinstance(model, TRIMMING):
        assert model.n_outliers_ == n_trimmed(model, 400)
        assert_allclose(v.sum(), 400 - n_trimmed(model, 400), rtol=0, atol=1e-9)
        return
    assert_array_equal(v, ~model.outlier_mask_)
    if isinstance(model, KEEPS_ALL):
        assert model.n_outliers_ == 0
    elif isinstance(model, CUTS_BY_SCORE):
        assert 0 < model.n_outliers_ <= 40
    else:
        assert 0 < model.n_outliers_ < 400


def test_predict_repeats_the_labels_of_the_training_rows(model, blobs):
    labels = model.fit(blobs).labels_
    assert_array_equal(clone(model).fit_predict(blobs), labels)
    predicted, inliers = model.predict(blobs), labels >= 0
    if has_fixed_step(model):
        return  # it leaves rows where its last projection put them
    memberships = model.predict_memberships(blobs)
    same = np.ones(400, dtype=bool)
    if isinstance(model, KEEPS_SETS):
        same = (memberships == model.memberships_).all(axis=1)
        assert same.mean() > 0.5
    if isinstance(model, ORC):
        same = inliers  # a removed row may be nearer to the last centers than these
    assert_array_equal(predicted[same], labels[same])
    if isinstance(model, NEOKMeans):  # what is left out depends on all rows together
        assert np.all(memberships[inliers] >= model.memberships_[inliers])
    elif isinstance(model, FuzzyCMeans):
        memberships[memberships <= 1e-10] = 0
    if not isinstance(model, NEOKMeans):
        assert_array_equal(memberships[same], model.memberships_[same])


@pytest.mark.parametrize(
    "mix",
    [
        OKM(3, random_state=0),
        ROKM(3, overlap_penalty=0.5, random_state=0),
        ISP(14, random_state=0),
        MOC(14, random_state=0),
        ESP(14, n_memberships=8, random_state=0),
    ],
    ids=str,
)
def test_sets_that_no_search_finds_are_kept_because_they_are_cheaper(mix, blobs):
    mix.fit(blobs)
    last, found = mix.memberships_, mix.predict_memberships(blobs)
    differ = (last != found).any(axis=1)
    assert 0 < differ.sum() < 200
    C = mix.cluster_centers_
    dearer = row_costs(mix, blobs, C, found) - row_costs(mix, blobs, C, last)
    assert dearer[differ].min() > 0
    assert_array_equal(mix.predict(blobs)[~differ], mix.labels_[~differ])


def test_scores_offset_and_decisions_fit_together(model, blobs):
    model.fit(blobs[:300])
    scores = model.score_samples(blobs)
    assert_array_equal(scores[:300], -model.outlier_scores_)
    expected = outlier_scores(model, blobs, fitted_rows=blobs[:300])
    assert_allclose(-scores, expected, rtol=1e-9)
    assert_array_equal(model.decision_function(blobs), scores - model.offset_)
    assert_array_equal(model.predict(blobs) == -1, model.decision_function(blobs) < 0)
    kept = scores >= model.offset_
    W = model.predict_memberships(blobs)
    costs = row_costs(model, blobs, model.cluster_centers_, W)
    assert_allclose(model.score(blobs), -costs[kept].sum(), rtol=1e-9)


def test_the_offset_lies_between_inliers_and_outliers(model, blobs):
    model.fit(blobs[:300])
    inliers, scores = ~model.outlier_mask_, model.outlier_scores_
    if isinstance(model, ODC):
        assert model.offset_ == -model.cutoff_factor
        assert scores[inliers].max() <= 2 < scores[~inliers].min()
        return
    if isinstance(model, KEEPS_ALL):
        assert model.offset_ == -np.inf
        return
    last_kept = scores[inliers].max()
    first_out = scores[~inliers & (scores >= last_kept)].min()
    assert last_kept <= -model.offset_ < first_out
    assert_array_equal(model.predict(blobs[:300]) < 0, scores > -model.offset_)
    if isinstance(model, KMOR):
        wanted = np.clip(model.cutoff_factor, last_kept, first_out)
        assert_allclose(model.offset_, -wanted, rtol=1e-12)
    if isinstance(model, CUTS_BY_SCORE):
        assert last_kept < scores[~inliers].min()


def test_transform_gives_distances_to_the_centers(model, blobs):
    some = clone(model).fit_transform(blobs[:300])
    distances = model.fit(blobs[:300]).transform(blobs)
    assert_allclose(distances**2, squared_distances(model, blobs), rtol=1e-12)
    assert_array_equal(some, distances[:300])


def test_memberships_of_new_rows_follow_the_rule_of_the_method(model, blobs):
    model.fit(blobs[:300])
    found, expected = model.predict_memberships(blobs), new_memberships(model, blobs)
    if isinstance(model, FuzzyCMeans):
        assert_allclose(found, expected, rtol=1e-9)
    else:
        assert_array_equal(found, expected)
