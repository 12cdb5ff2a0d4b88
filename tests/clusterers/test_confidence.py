"""How sure a label is: the odds of the second-best answer, and what they are called."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from promises import (
    ESP,
    HAS_AN_ORIGIN,
    MIXES,
    TRIMMING,
    WEIGHTED,
    n_memberships,
    new_memberships,
    row_costs,
    squared_distances,
)
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from rtkm import KMOR, ODC, RTKM, RelaxedKMeans, TrimmedKMeans


def margins(model, X):
    """What the second-best assignment costs more, from the rule of each method."""
    if isinstance(model, MIXES):
        return margins_of_sets(model, X)
    s = n_memberships(model) if isinstance(model, TRIMMING) else 1
    D = np.sort(squared_distances(model, X), axis=1)
    return D[:, s] - D[:, s - 1]


def margins_of_sets(model, X):
    """Costs of all sets that differ in one cluster, or by an exchange, less the own."""
    C, own = model.cluster_centers_, new_memberships(model, X)
    most = model.n_memberships if isinstance(model, ESP) else len(C)
    second = np.full(len(X), np.inf)
    for other in itertools.product([0.0, 1.0], repeat=len(C)):
        if not 1 <= sum(other) <= most:
            continue
        others = np.tile(other, (len(X), 1))
        joins, leaves = (others > own).sum(axis=1), (others < own).sum(axis=1)
        is_near = (joins <= 1) & (leaves <= 1) & (joins + leaves > 0)
        costs = np.where(is_near, row_costs(model, X, C, others), np.inf)
        second = np.minimum(second, costs)
    return np.maximum(second - row_costs(model, X, C, own), 0.0)


def variances(model, X, fitted_rows):
    """The mean squared distance of the inliers by feature, in each row's cluster."""
    n_features, labels = X.shape[1], squared_distances(model, X).argmin(axis=1)
    if isinstance(model, ODC):
        return model.mean_distances_[labels] ** 2 / n_features
    cost = -model.score_samples(fitted_rows)
    if isinstance(model, KMOR):
        cost = squared_distances(model, fitted_rows).min(axis=1)
    s = n_memberships(model) if isinstance(model, TRIMMING) else 1
    v = model.inlier_weights_
    return np.full(len(X), v @ cost / v.sum() / (s * n_features))


def beyond_the_cut(model, X):
    """By how much rows are beyond the squared distance at which outliers begin."""
    D = squared_distances(model, X)
    s = n_memberships(model) if isinstance(model, TRIMMING) else 1
    cost = np.sort(D, axis=1)[:, :s].sum(axis=1)
    if isinstance(model, ODC):
        cutoff = model.cutoff_factor * model.mean_distances_
        return cost - (cutoff**2)[D.argmin(axis=1)]
    unit = model.mean_inlier_cost_ if isinstance(model, KMOR) else 1.0
    return cost + model.offset_ * unit


def test_factors_are_those_of_the_formula(model, blobs):
    model.fit(blobs)
    ahead = np.where(
        model.predict(blobs) < 0, beyond_the_cut(model, blobs), margins(model, blobs)
    )
    expected = -ahead / (2 * variances(model, blobs, blobs))
    found = model.discriminant_factors(blobs)
    assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
    assert (found <= 0).all()


def test_classes_are_those_of_the_odds(model, blobs):
    model.fit(blobs)
    # moved bit by bit, some come close to the cut
    X = np.concatenate([blobs + shift for shift in np.linspace(0, 3, 12)])
    is_out = model.predict(X) < 0
    odds = beyond_the_cut(model, X) / (2 * variances(model, X, blobs))
    at_the_cut = np.exp(np.minimum(odds, 0.0))
    # nothing farther out than all inliers of the fit is at the core
    is_new = -model.score_samples(X) > model.outlier_scores_[~model.outlier_mask_].max()
    expected = np.where(is_new | (at_the_cut > 0.5), "border", "core").astype("<U8")
    expected[is_out] = "outlier"
    expected[np.exp(model.discriminant_factors(X)) > 0.1] = "doubtful"
    assert_array_equal(model.predict_confidence(X), expected)
    names = {"core", "doubtful"} | ({"border", "outlier"} if is_out.any() else set())
    assert set(expected) >= names


def test_a_case_by_hand():
    # inliers 0, 1, 4, 5 around 0.5 and 4.5: variance 1/4; 8 has a cost of 12.25, so the
    # cut is at (0.25 + 12.25) / 2 = 6.25. At -1.5: 4 - 36 = -32, twice the variance is
    # 1/2. At 2.4: 3.61 - 4.41 = -0.8. At 8: 6.25 - 12.25 = -6. At 7.1: 6.25 - 6.76.
    # No inlier is as far out as -1.5
    model = TrimmedKMeans(2, contamination=1, random_state=0)
    model.fit([[0.0], [1.0], [4.0], [5.0], [8.0]])
    rows = [[0.1], [2.4], [8.0], [7.1], [-1.5]]
    assert_allclose(
        model.discriminant_factors(rows), [-38.4, -1.6, -12, -1.02, -64], rtol=1e-12
    )
    assert_array_equal(
        model.predict_confidence(rows),
        ["core", "doubtful", "outlier", "doubtful", "border"],
    )


def test_a_row_between_two_centers_is_as_good_in_either():
    model = RelaxedKMeans(2, init=[[0.0], [4.0]]).fit([[-1.0], [1.0], [3.0], [5.0]])
    (factor,) = model.discriminant_factors([[2.0]])
    assert factor == 0
    assert not np.signbit(factor)


def test_without_a_second_answer_a_label_is_sure(X):
    with pytest.warns(UserWarning, match="all centers agree"):
        everywhere = RTKM(3, n_memberships=3, contamination=0).fit(X)
    for model in (RelaxedKMeans(1).fit(X), everywhere):
        assert_array_equal(model.discriminant_factors(X), -np.inf)
        assert_array_equal(model.predict_confidence(X), "core")


@pytest.mark.parametrize(
    "model", [TrimmedKMeans(3, contamination=40), KMOR(3, max_outliers=40)], ids=str
)
def test_where_inliers_sit_on_their_centers_any_difference_is_clear(model, duplicates):
    model.set_params(random_state=0).fit(duplicates)
    rows = [[0, 0], [5, 1], [50, 50]]
    assert_array_equal(model.discriminant_factors(rows), -np.inf)
    assert_array_equal(model.predict_confidence(rows), ["core", "core", "outlier"])


def test_a_cluster_on_its_center_flags_nothing_and_is_sure(X):
    model = ODC(2, init=[[0, 0], [8, 8]]).fit(np.repeat([[0, 0], [8, 8]], 30, axis=0))
    assert_array_equal(model.mean_distances_, 0)
    assert_array_equal(model.predict_confidence([[1, 0], [90, 0]]), ["core", "core"])
    assert model.discriminant_factors([[4, 4]]) == 0


def test_units_do_not_matter(model, blobs):
    if hasattr(model, "step") and model.step != "auto":
        model.set_params(step="auto")  # a fixed step has units
    shift = 0.0 if isinstance(model, HAS_AN_ORIGIN) else 50.0
    plain, other = clone(model).fit(blobs), model.fit(1024 * blobs + shift)
    expected = plain.discriminant_factors(blobs)
    found = other.discriminant_factors(1024 * blobs + shift)
    assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("cls", WEIGHTED)
def test_a_row_of_weight_two_is_that_row_twice(cls, blobs):
    weights = np.arange(400) % 3
    start = blobs[[1, 100, 200]]
    model = cls(3, init=start, random_state=0)
    weighted = clone(model).fit(blobs, sample_weight=weights)
    repeated = clone(model).fit(np.repeat(blobs, weights, axis=0))
    assert_allclose(
        weighted.discriminant_factors(blobs),
        repeated.discriminant_factors(blobs),
        rtol=1e-8,
        atol=1e-10,
    )


def test_sparse_rows_are_judged_like_dense_ones(model, blobs):
    blobs[np.abs(blobs) < 1] = 0
    model.fit(blobs)
    rows = sparse.csr_array(blobs)
    assert_array_equal(model.predict_confidence(rows), model.predict_confidence(blobs))


def test_a_model_must_be_fitted_first(clusterer, X):
    for method in ("discriminant_factors", "predict_confidence"):
        with pytest.raises(NotFittedError):
            getattr(clusterer(2), method)(X)
