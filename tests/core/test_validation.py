"""What goes wrong is refused in words that help."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from promises import WEIGHTED, assert_finite, refuses
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from rtkm import (
    KMOR,
    RTKM,
    KMeansMinusMinus,
    NEOKMeans,
    RelaxedKMeans,
    TableModel,
    TrimmedKMeans,
)
from rtkm.seeding import SEEDINGS


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
    with begins(f"could not convert string to float: 'red'; {way_out} color."):
        clusterer(2).fit(pd.DataFrame({"size": X[:, 0], "color": ["red"] * 60}))
    with refuses(f"could not convert string to float: 'n/a'; {way_out} 0, 2."):
        clusterer(2).fit([["n/a", "1", "?"], ["2", "3", "4"]])


def test_the_way_to_a_table_model_stands_below_the_message():
    gaps = pd.DataFrame({"size": [1.0, np.nan, 3.0] * 9})
    words = pd.DataFrame({"size": [1.0, 2.0, 3.0] * 9, "color": "red"})
    for table, way_out in (
        (gaps, "missing='drop' leaves rows"),
        (words, "categories="),
    ):
        with pytest.raises(ValueError, match=r"NaN|float") as caught:
            RTKM(2, contamination=0).fit(table)
        (note,) = caught.value.__notes__
        assert note.startswith("rtkm.TableModel takes such tables: ")
        assert way_out in note
        TableModel(RTKM(2, contamination=0), missing="drop").fit(table)


@pytest.mark.parametrize("X", [["a", "b"], np.array(["a", "b"]), "ab", [[["a"]]]])
def test_text_that_is_no_table_is_refused(X):
    words = r"^could not convert string to float: .*; expected numbers, in a table of "
    with pytest.raises(ValueError, match=words):
        RTKM(2, contamination=0.1).fit(X)
    with pytest.raises(ValueError, match=words):
        RTKM(2, contamination=0.1).fit(np.eye(4)).predict(X)


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (10**400, ValueError),
        ({}, TypeError),
        (1j, TypeError),
        (pd.Timestamp("2020"), TypeError),
    ],
)
def test_objects_that_are_no_numbers_are_refused(value, error):
    X = np.array([[1, 2, value], [3, 4, 5]] * 3, dtype=object)
    with pytest.raises(
        error, match=r"; expected numbers, so encode or drop column 2\.$"
    ):
        RTKM(2, contamination=0.1).fit(X)


@pytest.mark.parametrize("unit", ["datetime64[D]", "timedelta64[s]"])
def test_dates_and_times_are_refused(unit):
    dates = np.arange(12).reshape(6, 2).astype(unit)
    message = f"X holds {unit}; expected numbers, so turn dates and times into days or "
    with begins(message, TypeError):
        RTKM(2, contamination=0.1).fit(dates)
    model = RTKM(2, contamination=0.1).fit(np.arange(12.0).reshape(6, 2))
    with begins(message, TypeError):
        model.predict(dates)
    frame = pd.DataFrame({"size": np.arange(6.0), "day": dates[:, 0]})
    with begins("column day holds ", TypeError):
        RTKM(2, contamination=0.1).fit(frame)
    with begins("column day holds ", TypeError):
        RTKM(2, contamination=0.1).fit(frame[["day"]])


@pytest.mark.parametrize("dtype", [np.float16, np.longdouble, bool, object, np.int8])
def test_other_kinds_of_numbers_become_floats(X, dtype):
    X = np.round(X) > 4 if dtype is bool else np.round(X)
    model = RTKM(2, contamination=0, random_state=0).fit(X.astype(dtype))
    plain = RTKM(2, contamination=0, random_state=0).fit(X.astype(float))
    assert model.cluster_centers_.dtype == np.float64
    assert_array_equal(model.labels_, plain.labels_)
    assert_array_equal(model.predict(X.astype(dtype)), plain.labels_)


def test_complex_numbers_are_refused(X):
    with begins("Complex data not supported"):
        RTKM(2, contamination=0.1).fit(X + 1j)


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


@pytest.mark.filterwarnings("ignore:overlap=0.1 has no effect at n_clusters=1")
def test_a_single_row_is_one_cluster(clusterer, X):
    with refuses("n_clusters=2 needs at least 2 rows; X has n_samples=1."):
        clusterer(2).fit(X[:1])
    # RTKM would say that it cannot choose
    given = {"contamination": 0.1} if clusterer is RTKM else {}
    for init in (*SEEDINGS, X[:1]):
        model = clusterer(1, init=init, **given).fit(X[:1])
        assert_array_equal(model.cluster_centers_, X[:1])
        assert_array_equal(model.labels_, [0])
        assert model.objective_ == 0
        assert_finite(model, X)


def test_more_clusters_than_rows_are_refused(model, X):
    with refuses("n_clusters=61 needs at least 61 rows; X has n_samples=60."):
        model.set_params(n_clusters=61).fit(X)


@pytest.mark.parametrize("cls", WEIGHTED)
def test_more_clusters_than_rows_that_count_are_refused(cls, X):
    weights = np.zeros(60)
    weights[:3] = 1
    counted = "X has n_samples=60, 3 of positive weight."
    with refuses(f"n_clusters=9 needs at least 9 rows; {counted}"):
        cls(9).fit(X, sample_weight=weights)


def test_more_clusters_than_distinct_rows_warn_and_work(model, X):
    X = np.repeat(X[:2], 50, axis=0)
    k = model.n_clusters
    message = f"n_clusters={k} exceeds the number of distinct rows, 2; some clusters"
    with pytest.warns(ConvergenceWarning, match=f"^{re.escape(message)}") as caught:
        model.fit(X)
    assert caught[0].filename == __file__
    assert_finite(model, X)
    assert_finite(model, X + 1)


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
    ("model", "asked", "n_trimmed"),
    [
        (RTKM(5, contamination=56), "contamination=56", 56),
        (RTKM(5, contamination=0.95), "contamination=0.95", 57),
        (RTKM(5, contamination=100), "contamination=100", 100),
        (TrimmedKMeans(5, contamination=0.95), "contamination=0.95", 57),
        (NEOKMeans(5, contamination=0.95), "contamination=0.95", 57),
        (KMeansMinusMinus(5, n_outliers=56), "n_outliers=56", 56),
        (KMOR(5, max_outliers=60), "max_outliers=60", 60),
        (KMOR(5, max_outliers=0.95), "max_outliers=0.95", 57),
    ],
    ids=str,
)
def test_trimming_more_than_leaves_a_row_a_cluster_is_refused(
    model, asked, n_trimmed, X
):
    with refuses(
        f"{asked} leaves {max(60 - n_trimmed, 0)} of 60 rows, too few for "
        "n_clusters=5; ask for fewer outliers or fewer clusters."
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
        "'robust-k-means++', 'robust-k-means||', 'k-means++', 'random', 'robin', an "
        "array of shape (n_clusters, n_features) or a callable."
    ):
        model.set_params(init=init).fit(X)


# Row weights


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (-np.ones(60), "^sample_weight has negative values, such as -1; expected"),
        (np.zeros(60), "^sample_weight is zero for all rows; expected some above"),
        (np.ones(5), r"^sample_weight has shape \(5,\); expected .* of the 60 rows\.$"),
        (np.ones((60, 1)), r"^sample_weight has shape \(60, 1\); expected one number"),
        (np.full(60, np.nan), "^Input sample_weight contains NaN"),
        (["a"] * 60, "^could not convert string to float: 'a'$"),
    ],
    ids="negative zero short column nan text".split(),
)
@pytest.mark.parametrize("cls", WEIGHTED)
def test_bad_weights_are_refused(cls, X, weights, message):
    with pytest.raises(ValueError, match=message):
        cls(2).fit(X, sample_weight=weights)


def test_weights_whose_sum_overflows_are_refused(X):
    with pytest.raises(ValueError, match="sample_weight"):
        RTKM(2, contamination=0.1).fit(X, sample_weight=np.full(60, 1e308))
