"""A fixed step has units: what a fit makes of weights that have not settled."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from rtkm import RTKM, RelaxedKMeans
from rtkm.datasets import make_outlier_blobs


def small_units(scale, dtype=np.float64):
    X = make_outlier_blobs(300, 2, 3, random_state=0)[0]
    return ((X - X.mean(axis=0)) / X.std(axis=0) * scale).astype(dtype)


def fit_with_warning(model, X, **fit_options):
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, **fit_options)
    assert len(caught) == 1
    return str(caught[0].message)


def assert_attributes_agree(model, X):
    assert model.n_outliers_ == model.outlier_mask_.sum()
    assert_array_equal(model.labels_ == -1, model.outlier_mask_)
    assert_array_equal(model.assignments_.any(axis=1), ~model.outlier_mask_)
    assert (model.predict(X) == -1).sum() == model.n_outliers_
    assert_array_equal(model.predict(X) == -1, -model.outlier_scores_ < model.offset_)
    assert not model.converged_


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scale", [1e-2, 1e-3, 1e-4, 1e-6, 1e-9])
def test_in_small_units_no_more_outliers_than_asked_for(scale, dtype, form):
    X = form(small_units(scale, dtype))
    model = RTKM(3, contamination=0.1, step=1.1, random_state=0)
    message = fit_with_warning(model, X)
    assert re.search(r"rows kept or shared in part; use step='auto'", message)
    assert model.n_outliers_ == 30
    assert_attributes_agree(model, X)
    # those that cost most, while the weights have only begun to move
    assert model.outlier_scores_[model.outlier_mask_].mean() > 3 * np.median(
        model.outlier_scores_
    )


def test_the_warning_says_below_what_a_step_settles():
    X = small_units(1e-3)
    message = fit_with_warning(RTKM(3, contamination=0.1, step=1.1, random_state=0), X)
    assert message.startswith("RTKM stopped at max_iter=300 with the objective still")
    squared_distance = float(re.search(r"here about (\S+),", message)[1])
    model = RTKM(3, contamination=0.1, step=squared_distance / 100, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X)
    assert model.converged_
    assert model.n_outliers_ == 30


def test_weights_that_hardly_move_have_stalled_and_not_settled():
    model = RTKM(3, contamination=0.1, step=1.1, random_state=0)
    message = fit_with_warning(model, small_units(1e-5))
    assert re.match(
        r"RTKM stalled after \d+ iterations, leaving 300 of 300 rows", message
    )
    assert model.n_iter_ < model.max_iter


def test_a_heavy_row_counts_as_often_as_it_weighs():
    X, weights = small_units(1e-3), np.ones(300)
    weights[:100], weights[100] = 0.5, 0.0
    model = RTKM(3, contamination=20, step=1.1, random_state=0)
    fit_with_warning(model, X, sample_weight=weights)
    mass = weights[model.outlier_mask_].sum()
    assert 20 <= mass < 21
    assert not model.converged_


def test_rows_alike_are_outliers_together():
    # four rows at the same place: to trim one is to trim them all
    X = np.r_[np.linspace(-1, 1, 20), [3, 3, 3, 3]][:, None] * 1e-3
    model = RTKM(1, contamination=1, step=1.1, init=[[0.0]])
    fit_with_warning(model, X)
    assert_array_equal(np.flatnonzero(model.outlier_mask_), [20, 21, 22, 23])
    assert_array_equal(model.predict(X), model.labels_)


def test_without_trimming_there_are_no_outliers():
    X = small_units(1e-2)
    model = RelaxedKMeans(3, step=1.1, random_state=0)
    message = fit_with_warning(model, X)
    assert "rows kept or shared in part; use step='auto'" in message
    assert model.n_outliers_ == 0
    assert (model.labels_ >= 0).all()
    assert (model.predict(X) >= 0).all()
