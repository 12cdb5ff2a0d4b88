"""Tables that are merely odd work; those that floats cannot handle are refused."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from promises import (
    HAS_AN_ORIGIN,
    TRIMMING,
    assert_finite,
    has_fixed_step,
    n_trimmed,
    refuses,
)
from scipy import sparse
from sklearn.base import clone

from rtkm import KMOR, RTKM

# Odd tables that work


def test_constant_columns_change_nothing(model, X):
    # where centers add up, only a column of zeros changes nothing
    constant = 0.0 if isinstance(model, HAS_AN_ORIGIN) else 7.0
    plain = clone(model).fit(X)
    wide = model.fit(np.c_[np.full(60, constant), X, np.zeros(60)])
    assert_array_equal(wide.labels_, plain.labels_)
    assert_allclose(wide.cluster_centers_[:, 1:3], plain.cluster_centers_, rtol=1e-12)
    assert_allclose(wide.cluster_centers_[:, 0], constant, rtol=1e-15)


def test_far_from_the_origin_labels_stay(model, X):
    if isinstance(model, HAS_AN_ORIGIN):
        return  # its answer is another one there
    for offset in (1e8, -1e8):
        moved = clone(model).fit(X + offset)
        assert_array_equal(moved.labels_, clone(model).fit(X).labels_)
        assert_finite(moved, X + offset)


def test_duplicates_by_the_thousand_work(model, duplicates):
    model.fit(duplicates)
    assert_finite(model, duplicates)
    if isinstance(model, TRIMMING) and not has_fixed_step(model):
        assert model.n_outliers_ == n_trimmed(model, 6040)


def test_scores_beside_inliers_on_their_centers_are_zero_or_infinite(duplicates):
    # all 6000 rows of the three places sit on the centers, so their mean cost is 0
    model = KMOR(3, max_outliers=40, random_state=0).fit(duplicates)
    assert model.mean_inlier_cost_ == 0
    assert_array_equal(model.outlier_scores_, np.repeat([0, np.inf], [6000, 40]))
    assert_array_equal(model.decision_function([[5, 1], [5, 2]]), [0, -np.inf])
    # without outliers none is called one, however far
    model = KMOR(4, init=np.unique(duplicates, axis=0)).fit(duplicates)
    assert model.mean_inlier_cost_ == model.n_outliers_ == 0
    assert model.offset_ == -np.inf
    assert_array_equal(model.decision_function([[5, 1], [5, 2]]), [np.inf, np.inf])
    assert_array_equal(model.predict([[5, 2]]), model.predict([[5, 1]]))


# Values that floats cannot handle


def advised(message):
    """The number that a message asks to divide or multiply by."""
    return float(re.search(r"by (\S+)\.$", message)[1])


@pytest.mark.parametrize("size", [1e153, 1e200, 1e300, 1e307])
def test_huge_values_are_refused_with_advice_that_works(clusterer, X, size):
    with pytest.raises(ValueError, match=r"^column 1 spans \S+, so squared") as caught:
        clusterer(2).fit(X * size)
    assert "squared distances overflow float64; divide the column by" in str(
        caught.value
    )
    scaled = X * size / advised(str(caught.value))
    plain = clusterer(2, random_state=0).fit(X)
    assert_array_equal(clusterer(2, random_state=0).fit(scaled).labels_, plain.labels_)


@pytest.mark.parametrize("value", [1e154, 1e160, -1e300, 1.7e308])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_huge_constant_columns_are_refused_with_advice_that_works(
    clusterer, X, value, form
):
    # a distance of 0 is no reason to accept what no mean can be computed of
    message = r"^column 2 holds \S+, the square of which overflows float64; subtract"
    wide = np.c_[X, np.full(60, value)]
    with pytest.raises(ValueError, match=message) as caught:
        clusterer(2).fit(form(wide))
    wide[:, 2] /= advised(str(caught.value))
    model = clusterer(2, random_state=0).fit(form(wide))
    with pytest.raises(ValueError, match=r"^column 2 spans"):
        model.predict(form(np.c_[X, np.full(60, value)]))
    model.predict(form(wide))


@pytest.mark.filterwarnings("ignore:overlap=0.1 has no effect at n_clusters=1")
def test_what_can_be_fitted_can_be_predicted(clusterer):
    for value in (1e-300, 1.0, 1e100, 1e145):
        X = np.full((20, 2), value)
        model = clusterer(1, random_state=0).fit(X)
        assert_allclose(model.cluster_centers_, [[value, value]], rtol=1e-14)
        assert_array_equal(model.predict(X), np.zeros(20))
        for method in ("transform", "score_samples", "decision_function", "explain"):
            getattr(model, method)(X)


def test_huge_values_of_both_signs_are_refused_with_advice_that_works(X):
    X = np.sign(X - 4) * 1.7e308
    with pytest.raises(ValueError, match="divide the column by") as caught:
        RTKM(2, contamination=0.1).fit(X)
    scaled = X / advised(str(caught.value))
    assert_array_equal(np.sign(scaled), np.sign(X))


@pytest.mark.parametrize("size", [1e-160, 1e-200, 1e-300])
def test_tiny_values_are_refused_with_advice_that_works(X, size):
    # squares of 1e-200 are 0: all rows would seem equal
    message = r"^column 1 spans \S+ and no column more, so squared distances vanish"
    with pytest.raises(ValueError, match=message) as caught:
        RTKM(2, contamination=0.1).fit(X * size)
    assert "in float64; multiply X by" in str(caught.value)
    scaled = X * size * advised(str(caught.value))
    plain = RTKM(2, contamination=0.1, random_state=0).fit(X)
    assert_array_equal(
        RTKM(2, contamination=0.1, random_state=0).fit(scaled).labels_, plain.labels_
    )


def test_tiny_values_beside_a_constant_column_are_refused(X):
    with pytest.raises(ValueError, match="squared distances vanish"):
        RTKM(2, contamination=0.1).fit(np.c_[np.ones(60), 1e-200 * X])


def test_columns_are_named(X):
    frame = pd.DataFrame(X * [1, 1e300], columns=["age", "mass"])
    with pytest.raises(ValueError, match=r"^column mass spans 1\.22e\+301, so squared"):
        RTKM(2, contamination=0.1).fit(frame)


def test_new_rows_too_far_away_are_refused(model, X):
    model.fit(X)
    for method in ("predict", "decision_function", "transform", "score"):
        with pytest.raises(ValueError, match=r"^column 0 spans 1e\+200, so squared"):
            getattr(model, method)([[1e200, 0.0]])


def test_tiny_new_rows_and_starts_are_fine_where_the_table_is_not_tiny():
    # the square of 1e-160 vanishes beside those of the table, as it should
    X = [[-1.0], [0.0], [1.0]]
    model = RTKM(1, contamination=0, init=[[1e-160]]).fit(X)
    assert model.objective_ == 2
    assert_array_equal(model.predict([[1e-160]]), [0])


LARGE = 2**62 + np.arange(60)


@pytest.mark.parametrize(
    "table",
    [
        LARGE[:, None],
        LARGE[:, None].tolist(),
        LARGE[:, None].astype(np.uint64),
        pd.DataFrame({"id": LARGE}),
        # a frame of several types turns into floats before anyone can look
        pd.DataFrame({"id": LARGE, "x": np.linspace(0, 1, 60)}),
    ],
    ids="int64 list uint64 frame mixed".split(),
)
def test_integers_that_floats_cannot_tell_apart_are_refused(table):
    name = "id" if isinstance(table, pd.DataFrame) else "0"
    with refuses(
        f"column {name} holds integers near 4.61e+18 that float64 cannot tell apart; "
        "subtract their smallest value first."
    ):
        RTKM(2, contamination=0.1).fit(table)


def test_sparse_integers_that_floats_cannot_tell_apart_are_refused():
    with pytest.raises(ValueError, match=r"^column 0 holds integers near 4\.61e\+18"):
        RTKM(2, contamination=0.1).fit(sparse.csr_array(LARGE[:, None]))


def test_large_integers_far_apart_are_accepted(clusterer):
    limits = np.iinfo(np.int64)
    X = np.array([limits.min, limits.min + 10**6, limits.max - 10**6, limits.max])
    model = clusterer(2, random_state=0).fit(np.repeat(X, 5)[:, None])
    assert len(set(model.predict([[float(limits.min)], [float(limits.max)]]))) == 2
    assert_finite(model, X[:, None])


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_what_rounding_makes_of_a_row_on_its_center_is_an_inlier(offset):
    # all rows sit on their centers, the one that is trimmed too: no cost is between
    X = np.repeat([[0.25], [0.75]], 3, axis=0) + offset
    model = RTKM(2, contamination=1, init=X[[0, 3]]).fit(X)
    assert model.n_outliers_ == 1
    assert_array_equal(model.predict(np.nextafter(X, np.inf)), [0, 0, 0, 1, 1, 1])
    assert_array_equal(model.predict(X + 0.01), [-1] * 6)
