"""A model of a table in parts is the model of the table in memory, to the last bit."""

from __future__ import annotations

import gc
import pickle
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

from rtkm import (
    KMOR,
    RTKM,
    KMeansMinusMinus,
    RelaxedKMeans,
    TableModel,
    TrimmedKMeans,
    load,
)
from rtkm.models.files import as_bytes
from rtkm.tables.frames import as_table
from rtkm.tables.messages import InputError
from rtkm.tables.streams import Stream, open_stream

OF_ROWS = (
    "labels_",
    "outlier_mask_",
    "outlier_scores_",
    "inlier_weights_",
    "memberships_",
    "assignments_",
    "kept_mask_",
)


class Slice:
    """Some rows of a table in memory, as a part of a stream."""

    def __init__(self, table):
        self.table, self.n_rows = table, table.num_rows

    def read(self, columns=None):
        return self.table if columns is None else self.table.select(columns)


def cut(table, places, memory=2**40):
    """A stream of a table that is cut at some places."""
    ends = [0, *sorted({*places} & {*range(1, len(table))}), len(table)]
    parts = tuple(Slice(table.slice(a, b - a)) for a, b in pairwise(ends))
    return Stream("the table", table.schema, (), (parts,), memory)


def random_table(rng, n_rows, gaps=0.0):
    """Some clusters and outliers, text, ids and categories, and cells without."""
    d, k = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    centers = rng.uniform(-20, 20, (k, d))
    X = centers[rng.integers(0, k, n_rows)] + rng.normal(size=(n_rows, d))
    far = rng.random(n_rows) < 0.03
    X[far] = rng.uniform(-60, 60, (far.sum(), d))
    X *= 10.0 ** rng.integers(-2, 3, d)
    if rng.random() < 0.5:
        X = X.round(1)
    mask = rng.random(X.shape) < gaps
    columns = {f"x{j}": pa.array(X[:, j], mask=mask[:, j]) for j in range(d)}
    columns["who"] = [f"p-{i:04}" for i in range(n_rows)]
    columns["size"] = rng.lognormal(0, 2, n_rows)
    columns["color"] = rng.choice(["red", "blue", "green"], n_rows, p=[0.6, 0.3, 0.1])
    return pa.table(columns)


def random_options(rng):
    return {
        "missing": str(rng.choice(["drop", "median"])),
        "scale": str(rng.choice(["auto", "none", "standard", "robust"])),
        "log": [(), "auto", ["size"]][rng.integers(3)],
        "categories": [(), ["color"]][rng.integers(2)],
        "id": [None, "who"][rng.integers(2)],
    }


def random_estimator(rng):
    k, n_outliers = int(rng.integers(1, 5)), int(rng.integers(0, 9))
    return [
        None,
        RTKM(random_state=1),
        RTKM(k, contamination=n_outliers, random_state=1),
        RTKM(2, n_memberships=2, contamination=0.05, random_state=1),
        TrimmedKMeans(k, contamination=0.05, random_state=1),
        KMeansMinusMinus(k, n_outliers=n_outliers, random_state=1),
        RelaxedKMeans(k, random_state=1),
    ][rng.integers(7)]


def check_equal(fitted, whole):
    """Check that two models are the same, and know the same of their rows."""
    assert as_bytes(fitted, {}) == as_bytes(whole, {})
    for name in OF_ROWS:
        one, other = np.asarray(getattr(fitted, name)), getattr(whole, name)
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes(), name
    assert fitted.summary() == whole.summary()


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.filterwarnings("ignore")
def test_parts_and_memory_give_the_same_model(seed):
    rng = np.random.default_rng(seed)
    n_rows = int(rng.choice([40, 200, 900]))
    table = random_table(rng, n_rows, gaps=rng.choice([0, 0.02, 0.2]))
    options, estimator = random_options(rng), random_estimator(rng)
    places = rng.integers(0, n_rows, rng.integers(0, 12)).tolist()
    memory = int(rng.choice([2**14, 2**40]))
    whole = TableModel(estimator, **options).fit(table)
    model = TableModel(estimator, **options)
    model.fit_prepared(model.prepare_parts(cut(table, places, memory)))
    check_equal(model, whole)
    if memory == 2**40:  # repeated rows are not counted in less
        assert model.notes_ == whole.notes_


def write_parts(folder, table, ends=(100, 101, 250)):
    folder.mkdir(exist_ok=True)
    for i, (a, b) in enumerate(pairwise([0, *ends, len(table)])):
        pq.write_table(table.slice(a, b - a), folder / f"part-{i}.parquet")
    return folder


@pytest.fixture
def table():
    return random_table(np.random.default_rng(3), 400, gaps=0.05)


@pytest.fixture
def folder(tmp_path, table):
    return write_parts(tmp_path / "data", table)


def test_folders_globs_lists_and_datasets_are_read_in_parts(folder, table):
    whole = TableModel(missing="drop").fit(table)
    paths = sorted(folder.iterdir())
    sources = folder, str(folder / "*.parquet"), paths, [*map(str, paths)]
    for source in (*sources, ds.dataset(folder)):
        model = TableModel(missing="drop").fit(source, memory="16MiB")
        check_equal(model, whole)
        assert not isinstance(model.labels_, np.ndarray)


def test_one_file_is_read_in_parts_if_it_needs_more_than_the_memory(tmp_path):
    n_rows = 200_000
    X = (
        np.random.default_rng(0).normal(size=(n_rows, 3))
        + 9 * (np.arange(n_rows) % 2)[:, None]
    )
    path = tmp_path / "a.csv"
    pa_csv.write_csv(pa.table({f"x{j}": X[:, j] for j in range(3)}), path)
    estimator = RTKM(2, contamination=0.01, n_swaps=0, random_state=0)
    whole = TableModel(estimator).fit(path)
    assert isinstance(whole.labels_, np.ndarray)
    model = TableModel(estimator).fit(path, memory="16MiB")
    assert not isinstance(model.labels_, np.ndarray)
    assert len(model.labels_._table.engine.n_rows) > 4
    check_equal(model, whole)


def test_what_rows_have_comes_part_by_part(folder, table):
    whole = TableModel(missing="drop").fit(table)
    model = TableModel(missing="drop").fit(folder)
    assert not whole.kept_mask_.all()
    for name in OF_ROWS:
        lazy, all_at_once = getattr(model, name), getattr(whole, name)
        assert lazy.shape == all_at_once.shape
        assert len(lazy) == len(table)
        parts = [*lazy.partitions()]
        assert len(parts) == 4
        assert_array_equal(np.concatenate(parts), all_at_once)
    rows = [399, 0, -1, 120, 120]
    assert_array_equal(model.labels_[rows], whole.labels_[rows])
    assert model.labels_[7] == whole.labels_[7]
    assert_array_equal(model.labels_ == -3, ~whole.kept_mask_)
    with pytest.raises(IndexError, match="row numbers must be"):
        model.labels_[400]


def test_models_are_saved_pickled_and_predict(folder, table, tmp_path):
    whole = TableModel(missing="median").fit(table)
    model = TableModel(missing="median").fit(folder)
    model.save(tmp_path / "m.rtkm")
    for again in (load(tmp_path / "m.rtkm"), pickle.loads(pickle.dumps(model)), model):
        assert_array_equal(again.predict(table), whole.predict(table))
        assert not again.detect_drift(table).found
    assert_array_equal(pickle.loads(pickle.dumps(model)).labels_, whole.labels_)


def test_scratch_files_go_with_the_model(folder, tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("RTKM_SCRATCH", str(scratch))
    model = TableModel(missing="drop").fit(folder)
    assert len([*scratch.iterdir()]) == 2  # numbers, and which rows were kept
    labels = model.labels_
    expected = np.asarray(labels)
    del model
    assert_array_equal(labels, expected)  # which keep their rows
    del labels
    gc.collect()
    assert not [*scratch.iterdir()]


def test_nothing_is_left_where_a_fit_fails(folder, tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("RTKM_SCRATCH", str(scratch))
    with pytest.raises(ValueError, match="needs at least"):
        TableModel(RTKM(5000), missing="drop").fit(folder)
    with pytest.raises(InputError, match="95 missing values"):
        TableModel().fit(folder)
    gc.collect()
    assert not [*scratch.iterdir()]


def test_what_needs_all_rows_is_refused_by_name(folder):
    with pytest.raises(
        TypeError, match="KMOR does not run on a table that is read in p"
    ):
        TableModel(KMOR(2)).fit(folder)
    with pytest.raises(TypeError, match=r"step=1.1 does not run on rows in partitions"):
        TableModel(RTKM(2, step=1.1)).fit(folder)
    with pytest.raises(InputError, match="sample_weight= is not taken"):
        TableModel(missing="drop").fit(folder, sample_weight="size")
    with pytest.raises(TypeError, match="fit_transform needs all rows in memory"):
        TableModel(missing="drop").fit_transform(folder)
    with pytest.raises(
        InputError, match="memory='2GB' is for files, and list is in mem"
    ):
        TableModel().fit([[1.0], [2.0]], memory="2GB")


def test_files_that_differ_are_named(folder):
    pq.write_table(pa.table({"z": [1.0]}), folder / "part-9.parquet")
    with pytest.raises(
        InputError, match=r"part-0.parquet.*part-9.parquet|part-9.*part-0"
    ):
        TableModel().fit(folder)


def test_a_sample_tells_of_long_tables_what_it_tells_in_memory(monkeypatch, table):
    monkeypatch.setattr("rtkm.tables.reference.MOST_ROWS", 150)
    for missing in ("drop", "median"):
        whole = TableModel(missing=missing).fit(table)
        model = TableModel(missing=missing)
        stream = cut(table, [10, 20, 300], memory=2**12)  # a column at a time
        check_equal(model.fit_prepared(model.prepare_parts(stream)), whole)


# Datasets for an estimator


def test_estimators_take_datasets_of_numbers(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3)) + 9 * (np.arange(900) % 3)[:, None]
    for dtype in (np.float32, np.float64):
        rows = X.astype(dtype)
        table = pa.table({f"x{j}": rows[:, j] for j in range(3)})
        folder = write_parts(tmp_path / dtype.__name__, table)
        estimator = RTKM(3, contamination=0.02, random_state=0)
        model = estimator.fit(ds.dataset(folder))
        assert [*model.feature_names_in_] == ["x0", "x1", "x2"]
        assert model.cluster_centers_.dtype == dtype
        labels, scores = np.asarray(model.labels_), np.asarray(model.outlier_scores_)
        found = np.asarray(model.predict(ds.dataset(folder)))
        whole = estimator.fit(table.to_pandas())
        assert_array_equal(labels, whole.labels_)
        assert_array_equal(scores, whole.outlier_scores_)
        assert_array_equal(found, whole.predict(table.to_pandas()))


def test_datasets_of_text_or_with_gaps_are_refused(tmp_path):
    pq.write_table(
        pa.table({"x": [1.0, 2.0], "who": ["a", "b"]}), tmp_path / "a.parquet"
    )
    with pytest.raises(TypeError, match="column 'who' of the dataset holds string"):
        RTKM(1).fit(ds.dataset(tmp_path))
    pq.write_table(pa.table({"x": [1.0, None]}), tmp_path / "a.parquet")
    with pytest.raises(
        ValueError, match="partition 0 cannot be used: Input contains NaN"
    ):
        RTKM(1).fit(ds.dataset(tmp_path))
    with pytest.raises(TypeError, match="KMOR does not run on rows in partitions"):
        KMOR(1).fit(ds.dataset(tmp_path))


def test_streams_of_text_tables_are_read_as_they_are_in_memory(tmp_path, table):
    paths = []
    for i, (a, b) in enumerate(pairwise([0, 150, 400])):
        paths.append(tmp_path / f"{i}.csv")
        pa_csv.write_csv(table.slice(a, b - a), paths[-1])
    pa_csv.write_csv(table, tmp_path / "all.csv")
    whole = TableModel(missing="drop").fit(tmp_path / "all.csv")
    check_equal(TableModel(missing="drop").fit(paths), whole)
    with open_stream(paths) as stream:
        assert stream.n_rows == as_table(tmp_path / "all.csv").n_rows
