"""What goes wrong is refused in words that help; what is merely odd still works."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from rtkm import RTKM, KMeansMinusMinus, RelaxedKMeans, TrimmedKMeans

NUMBERS = (
    "cluster_centers_ memberships_ outlier_scores_ inlier_weights_ objective_path_"
)


@pytest.fixture(name="X")
def two_places():
    """Sixty rows of unit variance around two places."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[:30] += 8
    return X


def assert_finite(model, X):
    """No NaN and no infinity in anything a fit leaves or answers."""
    for name in NUMBERS.split():
        assert np.isfinite(getattr(model, name)).all(), name
    assert set(model.labels_) <= set(range(-1, model.n_clusters))
    assert np.isfinite(model.transform(X)).all()
    assert np.isfinite(model.score_samples(X)).all()
    assert np.isfinite(model.score(X))
    assert not np.isnan(model.decision_function(X)).any()
    assert not np.isnan(model.offset_)


def refuses(message, error=ValueError):
    """Expect an error that says exactly this."""
    return pytest.raises(error, match=f"^{re.escape(message)}$")


def begins(message, error=ValueError):
    """Expect an error of scikit-learn's, which may go on after this."""
    return pytest.raises(error, match=f"^{re.escape(message)}")


# Values that are no numbers


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_missing_and_infinite_values_are_refused(clusterer, X, convert):
    infinite = "Input X contains infinity or a value too large for dtype('float64')."
    refusals = {np.nan: "Input X contains NaN.", np.inf: infinite, -np.inf: infinite}
    for value, message in refusals.items():
        X[3, 1] = value
        with begins(message):
            clusterer(2).fit(convert(X))


def test_text_is_refused(clusterer, X):
    way_out = "expected numbers, so encode or drop column"
    with refuses(f"could not convert string to float: 'red'; {way_out} color."):
        clusterer(2).fit(pd.DataFrame({"size": X[:, 0], "color": ["red"] * 60}))
    with refuses(f"could not convert string to float: 'n/a'; {way_out} 0, 2."):
        clusterer(2).fit([["n/a", "1", "?"], ["2", "3", "4"]])


def test_bad_rows_are_refused_by_a_fitted_model_too(model, X):
    model.fit(X)
    name = type(model).__name__
    with refuses(f"X has 1 features, but {name} is expecting 2 features as input."):
        model.predict(X[:, :1])
    X[0, 0] = np.nan
    for method in ("predict", "predict_memberships", "transform", "score_samples"):
        with begins("Input X contains NaN."):
            getattr(model, method)(X)


def test_nothing_is_answered_before_fit(clusterer, X):
    methods = (
        "predict predict_memberships transform score_samples decision_function score"
    )
    for method in methods.split():
        message = f"This {clusterer.__name__} instance is not fitted yet."
        with begins(message, NotFittedError):
            getattr(clusterer(2), method)(X)
    for name in ("memberships_", "assignments_", "inertia_"):
        with pytest.raises(AttributeError):
            getattr(clusterer(2), name)


# Too few rows


def test_tables_without_rows_or_columns_are_refused(clusterer):
    name = clusterer.__name__
    for shape, what in (((0, 2), "0 sample(s)"), ((5, 0), "0 feature(s)")):
        with refuses(
            f"Found array with {what} (shape={shape}) while a minimum of 1 is required "
            f"by {name}."
        ):
            clusterer(2).fit(np.empty(shape))


def test_a_single_row_is_one_cluster(clusterer, X):
    with refuses("n_clusters=2 needs at least 2 rows; X has n_samples=1."):
        clusterer(2).fit(X[:1])
    for init in ("robust-k-means++", "k-means++", "random", X[:1], "robin"):
        model = clusterer(1, init=init).fit(X[:1])
        assert_array_equal(model.cluster_centers_, X[:1])
        assert_array_equal(model.labels_, [0])
        assert model.objective_ == 0
        assert_finite(model, X)


def test_more_clusters_than_rows_are_refused(model, X):
    with refuses("n_clusters=61 needs at least 61 rows; X has n_samples=60."):
        model.set_params(n_clusters=61).fit(X)
    weights = np.zeros(60)
    weights[:3] = 1
    counted = "X has n_samples=60, 3 of positive weight."
    with refuses(f"n_clusters=9 needs at least 9 rows; {counted}"):
        model.set_params(n_clusters=9).fit(X, sample_weight=weights)


def test_more_clusters_than_distinct_rows_warn_and_work(model, X):
    X = np.repeat(X[:2], 50, axis=0)
    k = model.n_clusters
    message = f"n_clusters={k} exceeds the number of distinct rows, 2; some clusters"
    with pytest.warns(ConvergenceWarning, match=f"^{re.escape(message)}"):
        model.fit(X)
    assert_finite(model, X)


def test_equal_rows_warn_and_work(model):
    X = np.full((50, 2), 3.0)
    with pytest.warns(
        ConvergenceWarning, match="exceeds the number of distinct rows, 1"
    ):
        model.fit(X)
    assert_allclose(model.cluster_centers_, 3, rtol=1e-14)
    assert_allclose(model.objective_, 0, atol=1e-25)
    assert_finite(model, X)


@pytest.mark.parametrize(
    ("model", "n_trimmed"),
    [
        (RTKM(5, contamination=56), 56),
        (RTKM(5, contamination=0.95), 57),
        (RTKM(5, contamination=100), 100),
        (TrimmedKMeans(5, contamination=0.95), 57),
        (KMeansMinusMinus(5, n_outliers=56), 56),
    ],
    ids=str,
)
def test_trimming_more_than_leaves_a_row_a_cluster_is_refused(model, n_trimmed, X):
    with refuses(
        f"trimming {n_trimmed} of 60 rows leaves fewer than n_clusters=5; ask for "
        "fewer outliers or fewer clusters."
    ):
        model.fit(X)


@pytest.mark.parametrize("cls", [RTKM, RelaxedKMeans])
@pytest.mark.parametrize("step", ["auto", 1.1])
def test_memberships_must_leave_a_choice(cls, step, X):
    with refuses("n_memberships=3 needs at least 3 clusters; n_clusters is 2."):
        cls(2, n_memberships=3, step=step).fit(X)
    message = "n_memberships=2 puts every row in each of n_clusters=2, so all centers"
    with pytest.warns(UserWarning, match=f"^{message} agree; lower n_memberships.$"):
        model = cls(2, n_memberships=2, step=step, random_state=0).fit(X)
    assert_array_equal(model.memberships_, np.ones((60, 2)))
    mean = X[~model.outlier_mask_].mean(axis=0)
    assert_allclose(model.cluster_centers_, [mean, mean], rtol=1e-9)


# Starting centers


def test_starting_centers_must_fit_the_table(model, X):
    k = model.n_clusters
    for init in (X[: k + 1], X[:k, :1], lambda *_, random_state: X[: k + 1]):
        shape = np.shape(init(random_state=0) if callable(init) else init)
        wanted = f"(n_clusters, n_features) = ({k}, 2)"
        with refuses(f"init has shape {shape}; expected {wanted}."):
            model.set_params(init=init).fit(X)
    init = X[:k].copy()
    init[0, 0] = np.nan
    with refuses("Input init contains NaN."):
        model.set_params(init=init).fit(X)


def test_starting_centers_out_of_reach_are_refused(model, X):
    init = X[: model.n_clusters].copy()
    init[0, 0] = 1e200
    with pytest.raises(ValueError, match=r"squared distances overflow float64"):
        model.set_params(init=init).fit(X)


@pytest.mark.parametrize("init", ["kmeans", None, 3])
def test_unknown_starts_are_refused(model, X, init):
    with refuses(
        f"init={init!r} is not valid for {type(model).__name__}; expected one of "
        "'robust-k-means++', 'k-means++', 'random', 'robin', an array of shape "
        "(n_clusters, n_features) or a callable."
    ):
        model.set_params(init=init).fit(X)


# Row weights


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (-np.ones(60), "Negative values in data passed to `sample_weight`"),
        # scikit-learn's words, or ours where its version does not look
        (np.zeros(60), "at least one non-zero number|sums to 0; expected a positive"),
        (np.ones(5), r"^sample_weight.shape == \(5,\), expected \(60,\)!$"),
        (np.full(60, np.nan), "^Input sample_weight contains NaN"),
        (["a"] * 60, "^could not convert string to float: 'a'$"),
    ],
    ids="negative zero short nan text".split(),
)
def test_bad_weights_are_refused(clusterer, X, weights, message):
    with pytest.raises(ValueError, match=message):
        clusterer(2).fit(X, sample_weight=weights)


def test_weights_whose_sum_overflows_are_refused(X):
    with pytest.raises(ValueError, match="sample_weight"):
        RTKM(2).fit(X, sample_weight=np.full(60, 1e308))


# Odd tables that work


def test_constant_columns_change_nothing(model, X):
    plain = clone(model).fit(X)
    wide = model.fit(np.c_[np.full(60, 7.0), X, np.zeros(60)])
    assert_array_equal(wide.labels_, plain.labels_)
    assert_allclose(wide.cluster_centers_[:, 1:3], plain.cluster_centers_, rtol=1e-12)
    assert_allclose(wide.cluster_centers_[:, 0], 7, rtol=1e-15)


def test_far_from_the_origin_labels_stay(model, X):
    for offset in (1e8, -1e8):
        moved = clone(model).fit(X + offset)
        assert_array_equal(moved.labels_, clone(model).fit(X).labels_)
        assert_finite(moved, X + offset)


def test_duplicates_by_the_thousand_work(model, duplicates):
    model.fit(duplicates)
    assert_finite(model, duplicates)
    if getattr(model, "step", "auto") == "auto":
        share = getattr(model, "contamination", getattr(model, "n_outliers", 0))
        assert model.n_outliers_ == int(share * 6040)


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


def test_huge_values_of_both_signs_are_refused_with_advice_that_works(X):
    X = np.sign(X - 4) * 1.7e308
    with pytest.raises(ValueError, match="divide the column by") as caught:
        RTKM(2).fit(X)
    scaled = X / advised(str(caught.value))
    assert_array_equal(np.sign(scaled), np.sign(X))


@pytest.mark.parametrize("size", [1e-160, 1e-200, 1e-300])
def test_tiny_values_are_refused_with_advice_that_works(X, size):
    # squares of 1e-200 are 0: all rows would seem equal
    message = r"^column 1 spans \S+ and no column more, so squared distances vanish"
    with pytest.raises(ValueError, match=message) as caught:
        RTKM(2).fit(X * size)
    assert "in float64; multiply X by" in str(caught.value)
    scaled = X * size * advised(str(caught.value))
    plain = RTKM(2, random_state=0).fit(X)
    assert_array_equal(RTKM(2, random_state=0).fit(scaled).labels_, plain.labels_)


def test_tiny_values_beside_a_constant_column_are_refused(X):
    with pytest.raises(ValueError, match="squared distances vanish"):
        RTKM(2).fit(np.c_[np.ones(60), 1e-200 * X])


def test_columns_are_named(X):
    frame = pd.DataFrame(X * [1, 1e300], columns=["age", "mass"])
    with pytest.raises(ValueError, match=r"^column mass spans 1\.22e\+301, so squared"):
        RTKM(2).fit(frame)


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
        RTKM(2).fit(table)


def test_sparse_integers_that_floats_cannot_tell_apart_are_refused():
    with pytest.raises(ValueError, match=r"^column 0 holds integers near 4\.61e\+18"):
        RTKM(2).fit(sparse.csr_array(LARGE[:, None]))


def test_large_integers_far_apart_are_accepted(clusterer):
    limits = np.iinfo(np.int64)
    X = np.array([limits.min, limits.min + 10**6, limits.max - 10**6, limits.max])
    model = clusterer(2, random_state=0).fit(np.repeat(X, 5)[:, None])
    assert len(set(model.predict([[float(limits.min)], [float(limits.max)]]))) == 2
    assert_finite(model, X[:, None])
