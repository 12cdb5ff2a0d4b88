"""What `explain` tells: exact parts of scores, and changes that predict agrees to."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from promises import (
    KEEPS_ALL,
    MIXES,
    TRIMMING,
    n_memberships,
    squared_distances,
)
from scipy import sparse
from sklearn.exceptions import NotFittedError

import rtkm.clusterers._explain
from rtkm import KMOR, ODC, RTKM, KMeansMinusMinus, NEOKMeans, TrimmedKMeans
from rtkm.datasets import make_outlier_blobs

ANSWERS = [
    "score",
    "outlier",
    "nearest_cluster",
    "confidence",
    "discriminant_factor",
    "change_feature",
    "change_from",
    "change_to",
]


def parts_of(frame):
    return frame.filter(regex="^part_").to_numpy()


def squared_parts(model, X):
    """Squares of the differences that the score of a row comes from."""
    C = model.cluster_centers_.astype(float)
    if isinstance(model, MIXES):
        W = model.predict_memberships(X)
        W = W if type(model).__name__ == "MOC" else W / W.sum(axis=1, keepdims=True)
        return np.square(X - W @ C)
    s = n_memberships(model) if isinstance(model, TRIMMING) else 1
    nearest = np.argsort(squared_distances(model, X), axis=1, kind="stable")[:, :s]
    return np.square(X[:, None] - C[nearest]).sum(axis=1)


def mended(X, frame):
    """The outliers for which there is a change, changed; and their numbers."""
    at = np.flatnonzero(frame["change_feature"].notna())
    feature = [int(name[1:]) for name in frame["change_feature"].iloc[at]]
    X = X[at].copy()
    X[np.arange(len(at)), feature] = frame["change_to"].iloc[at]
    return X, at


def are_inliers(model, rows):
    """Whether all rows are, of which there may be none."""
    return rows.shape[0] == 0 or (model.predict(rows) >= 0).all()


# Parts


def test_parts_sum_to_the_score(model, blobs):
    frame = model.fit(blobs).explain(blobs)
    assert_array_equal(frame["score"], -model.score_samples(blobs))
    assert_allclose(parts_of(frame).sum(axis=1), frame["score"], rtol=1e-9, atol=0)
    squares = squared_parts(model, blobs)
    shares = squares / squares.sum(axis=1, keepdims=True)
    expected = shares * frame["score"].to_numpy()[:, None]
    assert_allclose(parts_of(frame), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("cls", [RTKM, TrimmedKMeans, KMeansMinusMinus, NEOKMeans])
def test_parts_of_a_squared_distance_are_squared_differences(cls, blobs):
    model = cls(3, random_state=0).fit(blobs)
    found = parts_of(model.explain(blobs))
    assert_allclose(found, squared_parts(model, blobs), rtol=1e-9)


def test_parts_of_kmor_are_in_its_unit(blobs):
    model = KMOR(3, random_state=0).fit(blobs)
    expected = squared_parts(model, blobs) / model.mean_inlier_cost_
    assert_allclose(parts_of(model.explain(blobs)), expected, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::rtkm.ScaleWarning")
def test_a_row_on_its_center_has_no_parts():
    model = TrimmedKMeans(1, contamination=1).fit([[0, 0], [0, 2], [9, 9]])
    assert_array_equal(parts_of(model.explain([[0, 1]])), [[0, 0]])


def test_parts_of_an_infinite_score_are_infinite_or_none(duplicates):
    # all inliers sit on their centers, so a score in their mean cost is infinite
    model = KMOR(3, max_outliers=40, random_state=0).fit(duplicates)
    frame = model.explain([[5, 1], [5, 2]])
    assert_array_equal(parts_of(frame), [[0, 0], [0, np.inf]])
    # nothing but the place of the center will do
    assert frame.loc[1, ["change_feature", "change_to"]].tolist() == ["x1", 1.0]


# Answers


def test_answers_are_those_of_the_model(model, blobs):
    frame = model.fit(blobs).explain(blobs)
    assert list(frame) == [*ANSWERS, "part_x0", "part_x1", "part_x2"]
    labels = model.predict(blobs)
    assert_array_equal(frame["outlier"], labels < 0)
    assert_array_equal(frame["nearest_cluster"][labels >= 0], labels[labels >= 0])
    nearest = squared_distances(model, blobs).argmin(axis=1)
    assert_array_equal(frame["nearest_cluster"][labels < 0], nearest[labels < 0])
    assert_array_equal(frame["confidence"], model.predict_confidence(blobs))
    assert_array_equal(frame["discriminant_factor"], model.discriminant_factors(blobs))
    assert list(frame["confidence"].cat.categories) == [
        "core",
        "border",
        "doubtful",
        "outlier",
    ]


# Changes


def test_a_change_makes_an_inlier(model, blobs):
    model.fit(blobs)
    rng = np.random.default_rng(0)
    X = np.concatenate(
        [blobs, rng.normal(size=(600, 3)) * rng.choice([6, 20], (600, 1))]
    )
    frame = model.explain(X)
    rows, at = mended(X, frame)
    assert are_inliers(model, rows)
    assert frame["outlier"].iloc[at].all()
    has_changed = rows != X[at]
    assert_array_equal(has_changed.sum(axis=1), 1)
    assert_array_equal(X[at][has_changed], frame["change_from"].iloc[at])
    rest = np.setdiff1d(np.arange(len(X)), at)
    assert frame[["change_from", "change_to"]].iloc[rest].isna().all(axis=None)
    if not isinstance(model, KEEPS_ALL):
        # some outliers can be mended, and some cannot
        assert 20 < len(at) < frame["outlier"].sum()


def test_no_smaller_change_makes_an_inlier(model, blobs):
    if isinstance(model, KEEPS_ALL):
        return
    model.fit(blobs)
    X = blobs[model.predict(blobs) < 0][:25]
    rows, at = mended(X, model.explain(X))
    change = np.full(len(X), 40.0)  # where there is none, far and wide
    change[at] = np.abs(rows - X[at]).sum(axis=1)
    shares = np.linspace(-1, 1, 801) * (1 - 1e-9)
    tried = np.tile(X, (len(shares), 3, 1, 1))  # (shares, feature, row, feature)
    for f in range(3):
        tried[:, f, :, f] += shares[:, None] * change
    assert (model.predict(tried.reshape(-1, 3)) < 0).all()


def test_several_memberships_are_mended_together():
    # centers 0, 2 and 9, two for each row: the cost of t is t^2 + (t - 2)^2, at most 10
    # up to t = 3, and 2 (t - 5.5)^2 + 24.5 beyond the middle, which is more
    model = RTKM(3, contamination=0.1, n_memberships=2).fit(
        np.random.default_rng(0).normal(size=(30, 1))
    )
    model.cluster_centers_, model.offset_ = np.array([[0.0], [2.0], [9.0]]), -10.0
    frame = model.explain(np.array([[4.0], [8.0], [3.0], [-5.0]]))
    assert_allclose(frame["change_to"], [3.0, 3.0, np.nan, -1.0], rtol=1e-12)
    assert_allclose(frame["part_x0"], [4**2 + 2**2, 1 + 36, 10, 25 + 49], rtol=1e-12)


def test_a_change_goes_around_a_cluster_with_a_cutoff_of_its_own():
    # mean distances 10 and 0.5 around 0 and 12: outliers begin at 20 and at 11 and 13;
    # what is nearer to 12, from 6 on, is judged by that
    model = ODC(2, random_state=0).fit(np.random.default_rng(0).normal(size=(30, 1)))
    model.cluster_centers_ = np.array([[0.0], [12.0]])
    model.mean_distances_ = np.array([10.0, 0.5])
    frame = model.explain([[8.0], [15.0], [-21.0]])
    assert frame["outlier"].all()
    assert_allclose(frame["change_to"], [6.0, 13.0, -20.0], rtol=1e-12)
    # distances in mean distances
    assert_allclose(frame["part_x0"], [8.0, 6.0, 2.1], rtol=1e-12)


def test_constant_features_are_never_to_blame(model, blobs):
    X = np.c_[np.zeros(400), blobs, np.zeros(400)]
    frame = model.fit(X).explain(X)
    assert_array_equal(frame[["part_x0", "part_x4"]], 0)
    assert not frame["change_feature"].isin(["x0", "x4"]).any()
    rows, at = mended(X, frame)
    assert are_inliers(model, rows)
    if not isinstance(model, KEEPS_ALL):
        assert len(at)


def test_a_row_off_in_a_constant_feature_is_mended_there(blobs):
    X = np.c_[np.full(400, 5.0), blobs]
    model = RTKM(3, contamination=0.1, random_state=0).fit(X)
    row = np.r_[50.0, blobs[model.labels_ >= 0][0]]
    frame = model.explain([row])
    assert frame.loc[0, "change_feature"] == "x0"
    reach = np.sqrt(-model.offset_ - model.explain([[5.0, *row[1:]]])["score"])
    assert_allclose(frame["change_to"], 5.0 + reach, rtol=1e-12)


# Kinds of tables


@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_float32_rows_have_exact_parts_and_changes(model, blobs, shift):
    X = (blobs + shift).astype(np.float32)
    frame = model.fit(X).explain(X)
    assert_array_equal(frame["score"], -model.score_samples(X))
    assert_allclose(parts_of(frame).sum(axis=1), frame["score"], rtol=1e-9)
    rows, at = mended(X, frame)
    assert rows.dtype == np.float32
    assert_array_equal(rows[rows != X[at]], frame["change_to"].iloc[at])
    assert are_inliers(model, rows)


def test_changes_fit_into_float32_rows_of_a_float64_model(model, blobs):
    X = blobs.astype(np.float32)
    model.fit(blobs)
    for kind in (np.asarray, sparse.csr_array):
        rows, at = mended(X, model.explain(kind(X)))
        assert are_inliers(model, kind(rows))
    if not isinstance(model, KEEPS_ALL):
        assert len(at) > 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_rows_are_explained_like_dense_ones(model, dtype):
    # three or four of 16 entries, so some rows count as very sparse and some do not
    rng, number = np.random.default_rng(3), np.arange(300)
    X = np.zeros((300, 16))
    for feature in range(3):
        X[number, 4 * (number % 3) + feature] = 8 + rng.normal(size=300)
    X[number[::10], 12 + rng.integers(4, size=30)] = 9
    X[number[::20], 0] += 12
    X = X.astype(dtype)
    model.fit(sparse.csr_array(X))
    frame, plain = model.explain(sparse.csr_array(X)), model.explain(X)
    assert_array_equal(frame["score"], -model.score_samples(sparse.csr_array(X)))
    assert_allclose(parts_of(frame).sum(axis=1), frame["score"], rtol=1e-9)
    if dtype == np.float64:
        columns = ["score", "change_from", "change_to", "part_x3"]
        assert_allclose(frame[columns], plain[columns], rtol=1e-7, atol=1e-9)
    rows, at = mended(X, frame)
    assert are_inliers(model, sparse.csr_array(rows))
    if not isinstance(model, KEEPS_ALL):
        assert len(at)


def test_names_and_index_of_a_frame_are_kept(blobs):
    # one feature is called like a column of the answer
    table = pd.DataFrame(blobs, columns=["age", "score", "weight"])
    table.index = [f"row {i}" for i in range(400)]
    model = RTKM(3, contamination=0.1, random_state=0).fit(table)
    frame, plain = (
        model.explain(table),
        RTKM(3, contamination=0.1, random_state=0).fit(blobs),
    )
    plain = plain.explain(blobs)
    assert list(frame) == [*ANSWERS, "part_age", "part_score", "part_weight"]
    assert_array_equal(frame.index, table.index)
    assert_array_equal(parts_of(frame), parts_of(plain))
    names = {"x0": "age", "x1": "score", "x2": "weight"}
    assert list(frame["change_feature"]) == [*map(names.get, plain["change_feature"])]
    assert frame["change_feature"].nunique() == 3
    for row, feature, before, after in frame.loc[
        frame["change_to"].notna(), ANSWERS[5:]
    ].itertuples():
        changed = table.loc[[row]]
        assert changed.loc[row, feature] == before
        changed.loc[row, feature] = after
        assert (model.predict(changed) >= 0).all()


def test_a_column_called_dtype_is_a_feature_like_any_other(blobs):
    table = pd.DataFrame(blobs, columns=["dtype", "index", "columns"])
    frame = TrimmedKMeans(3, random_state=0).fit(table).explain(table)
    assert list(frame)[-3:] == ["part_dtype", "part_index", "part_columns"]


def test_polars_and_lists_are_explained(blobs):
    table = pl.DataFrame(blobs, schema=["a", "b", "c"])
    model = TrimmedKMeans(3, random_state=0).fit(table)
    assert list(model.explain(table))[-3:] == ["part_a", "part_b", "part_c"]
    model = TrimmedKMeans(3, random_state=0).fit(blobs)
    pd.testing.assert_frame_equal(model.explain(blobs.tolist()), model.explain(blobs))


# Much and little


def test_the_size_of_blocks_does_not_show(model, blobs, monkeypatch):
    model.fit(blobs)
    at_once = model.explain(blobs)
    monkeypatch.setattr(rtkm.clusterers._explain, "BLOCK", 100)
    pd.testing.assert_frame_equal(model.explain(blobs), at_once)


@pytest.mark.parametrize("s", [1, 2])
def test_memory_stays_below_that_of_all_differences(s):
    X = make_outlier_blobs(40000, 16, 12, random_state=0)[0]
    model = RTKM(12, contamination=0.1, n_memberships=s, n_swaps=0, random_state=0)
    model.fit(X)
    tracemalloc.start()
    model.explain(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.size * 12 * 8 / 2


def test_one_row_is_enough(model, blobs):
    frame = model.fit(blobs).explain(blobs[:1])
    assert len(frame) == 1
    pd.testing.assert_frame_equal(frame, model.explain(blobs)[:1])


def test_pandas_is_asked_for_by_name(monkeypatch, X):
    model = TrimmedKMeans(2).fit(X)

    def find_nothing(name):
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr("rtkm._optional.import_module", find_nothing)
    message = r'^explain needs pandas; pip install "rtkm\[pandas\]"\.$'
    with pytest.raises(ImportError, match=message):
        model.explain(X)
    assert len(model.predict_confidence(X)) == 60


def test_a_model_must_be_fitted_first(clusterer, X):
    with pytest.raises(NotFittedError):
        clusterer(2).explain(X)


def test_rows_of_another_width_are_refused(X):
    with pytest.raises(ValueError, match="X has 1 features"):
        TrimmedKMeans(2).fit(X).explain(X[:, :1])
