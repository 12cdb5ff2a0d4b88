"""Rows in partitions: where they come from, and what is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from cut_tables import in_cuts
from numpy.testing import assert_array_equal
from scipy import sparse

from rtkm import KMOR, RTKM, Partitions, TrimmedKMeans
from rtkm.core import sources
from rtkm.core.columns import Column
from rtkm.datasets import make_outlier_blobs

X = make_outlier_blobs(900, n_features=3, random_state=0)[0]


@pytest.fixture
def mapped(tmp_path):
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    return np.load(tmp_path / "X.npy", mmap_mode="r")


def test_a_memory_map_is_read_from_its_file(mapped):
    rows = Partitions.of_array(mapped, n_partitions=4)
    assert rows.shape == (900, 3)
    assert rows.dtype == np.float32
    for source in rows.sources:
        again = pickle.loads(pickle.dumps(source))
        assert_array_equal(again.load(), source.load())
    assert_array_equal(np.concatenate([s.load() for s in rows.sources]), mapped)
    model = RTKM(random_state=0).fit(rows)
    assert model.cluster_centers_.dtype == np.float32
    whole = RTKM(random_state=0).fit(np.asarray(mapped))
    assert_array_equal(model.labels_, whole.labels_)


def test_a_map_in_columns_and_one_of_integers_are_read_as_arrays(tmp_path):
    other = np.memmap(tmp_path / "c.dat", np.int32, "w+", shape=(60, 2), order="F")
    other[:] = np.arange(120).reshape(60, 2)
    rows = Partitions.of_array(other, n_partitions=3)
    assert rows.dtype == np.float64
    labels = TrimmedKMeans(2, random_state=0).fit(rows).labels_
    whole = TrimmedKMeans(2, random_state=0).fit(np.asarray(other, np.float64))
    assert_array_equal(labels, whole.labels_)


def test_only_maps_that_are_too_large_are_cut_unasked(mapped, monkeypatch):
    assert sources.in_partitions(mapped) is None
    assert sources.in_partitions(np.asarray(mapped)) is None
    monkeypatch.setattr(sources, "available_memory", lambda: 100_000)
    labels = TrimmedKMeans(2, random_state=0).fit(mapped).labels_
    assert isinstance(labels, Column)


def test_the_memory_says_how_many_partitions_there_are():
    few = Partitions.of_array(X, memory="1GB")
    many = Partitions.of_array(X, memory=20_000)
    assert len(few.sources) == 1
    assert len(many.sources) > 20
    assert sum(source.n_rows for source in many.sources) == 900


@pytest.mark.parametrize("memory", ["1", "lots", "-3GB"])
def test_a_memory_that_is_none(memory):
    with pytest.raises(ValueError, match="memory="):
        Partitions.of_array(X, memory=memory)


def test_names_of_columns_become_those_of_features():
    rows = Partitions(in_cuts(X, [0, 5, 900]).sources, 3, names=["a", "b", "c"])
    model = TrimmedKMeans(2, random_state=0).fit(rows)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert not hasattr(model.fit(X), "feature_names_in_")


def test_methods_that_need_all_rows_say_so():
    rows = Partitions.of_array(X, n_partitions=3)
    with pytest.raises(TypeError, match="KMOR does not run on rows in"):
        KMOR(3).fit(rows)
    with pytest.raises(TypeError, match="does not run on rows in"):
        RTKM(3, step=1.1).fit(rows)
    for init in ("robin", lambda X, k, random_state: X[:k]):
        with pytest.raises(TypeError, match="needs all rows in memory"):
            RTKM(3, init=init).fit(rows)


def test_a_partition_that_no_fit_can_use_is_named():
    broken = X.copy()
    broken[500, 1] = np.nan
    with pytest.raises(ValueError, match=r"partition 2 .*contains NaN"):
        TrimmedKMeans(2).fit(in_cuts(broken, [0, 300, 400, 900]))
    narrow = in_cuts(X, [0, 400, 900])
    with pytest.raises(ValueError, match=r"expected .400, 4"):
        TrimmedKMeans(2).fit(Partitions(narrow.sources, 4))
    with pytest.raises(ValueError, match="0 sample"):
        TrimmedKMeans(2).fit(Partitions([], 4))


def test_values_whose_squares_overflow_are_refused_as_in_memory():
    with pytest.raises(ValueError, match="overflow") as of_memory:
        TrimmedKMeans(2).fit(X * 1e160)
    with pytest.raises(ValueError, match="overflow") as of_partitions:
        TrimmedKMeans(2).fit(in_cuts(X * 1e160, [0, 300, 900]))
    assert str(of_partitions.value) == str(of_memory.value)


class Unsteady:
    """Rows that are another number, or gone, the second time."""

    def __init__(self, X, then):
        self.X, self.then, self.n_rows = X, then, len(X)

    def load(self):
        now, self.X = self.X, self.then
        if now is None:
            raise OSError("no such file")
        return now


@pytest.mark.parametrize(
    ("then", "said"),
    [
        (None, "partition 1 cannot be read: no such file"),
        (X[:5], "partition 1 has 5 rows, and had 800; it must not change"),
    ],
)
def test_rows_that_cannot_be_read_again(then, said):
    steady = in_cuts(X, [0, 100]).sources[0]
    rows = Partitions([steady, Unsteady(X[100:], then)], 3, memory=2)
    with pytest.raises((OSError, ValueError), match=said):
        TrimmedKMeans(2, random_state=0).fit(rows)


def test_sparse_rows():
    rng = np.random.RandomState(0)
    S = sparse.csr_array(np.where(rng.rand(400, 9) < 0.3, rng.rand(400, 9), 0.0))
    rows = in_cuts(S, [0, 100, 400])
    a, b = (TrimmedKMeans(3, random_state=0).fit(of) for of in (S, rows))
    assert_array_equal(a.labels_, b.labels_)
    assert_array_equal(a.predict(S), b.predict(rows))


ANSWERS = (
    "predict",
    "predict_memberships",
    "transform",
    "score_samples",
    "decision_function",
    "discriminant_factors",
    "predict_confidence",
)


@pytest.mark.parametrize("n_memberships", [1, 2])
def test_answers_for_rows_in_partitions(n_memberships):
    model = RTKM(4, contamination=0.1, n_memberships=n_memberships, random_state=0)
    model.fit(X)
    rows = in_cuts(X, [0, 1, 400, 900])
    for method in ANSWERS:
        column = getattr(model, method)(rows)
        assert isinstance(column, Column)
        assert_array_equal(np.asarray(column), getattr(model, method)(X))
    assert model.score(rows) == model.score(X)
    with pytest.raises(ValueError, match="expecting 3 features"):
        model.predict(in_cuts(X[:, :2].copy(), [0, 900]))


def test_what_a_fit_found_for_each_row():
    a = RTKM(4, contamination=0.1, random_state=0).fit(X)
    b = RTKM(4, contamination=0.1, random_state=0).fit(in_cuts(X, [0, 300, 900]))
    for name in ("memberships_", "assignments_", "labels_", "inlier_weights_"):
        assert isinstance(getattr(b, name), Column)
        assert_array_equal(np.asarray(getattr(b, name)), getattr(a, name))
    assert a.summary() == b.summary()
    again = pickle.loads(pickle.dumps(b))
    assert_array_equal(again.labels_, a.labels_)
    assert isinstance(again.labels_, np.ndarray)
