"""Fits on a cluster of threads are those in memory, to the last bit."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import rtkm

distributed = pytest.importorskip("distributed")
delayed = pytest.importorskip("dask").delayed
da = pytest.importorskip("dask.array")
pytestmark = pytest.mark.filterwarnings("ignore")

import rtkm.dask  # noqa: E402
from rtkm.dask.worker import MEMORY  # noqa: E402

PER_ROW = ("labels_", "outlier_scores_", "outlier_mask_", "inlier_weights_")
METHODS = ("RTKM", "TrimmedKMeans", "KMeansMinusMinus", "RelaxedKMeans")


@pytest.fixture(scope="module")
def client():
    options = {"processes": False, "dashboard_address": None}
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=2, **options
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    assert not MEMORY.parts
    assert not MEMORY.known
    if MEMORY._room is not None:
        assert MEMORY.room.used == 0


def rows_of(rng, n=None):
    """Return a random table that has ties and duplicates more often than not."""
    n, d = n or rng.randint(30, 400), rng.randint(1, 5)
    X = rng.normal(size=(n, d)) + 6 * rng.randint(0, 3, size=(n, 1))
    X[: n // 20] *= 9
    if rng.rand() < 0.5:
        X = np.round(X)
    return X.astype(rng.choice([np.float32, np.float64]))


def chunks_of(rng, n):
    """Return random lengths, some of them 0 or 1, that add up to n."""
    ends = np.sort(rng.randint(0, n + 1, size=rng.randint(1, 6)))
    return tuple(np.diff([0, *ends, n]).tolist())


def assert_same(model, plain):
    assert model.objective_ == plain.objective_
    assert model.offset_ == plain.offset_
    assert np.array_equal(model.cluster_centers_, plain.cluster_centers_)
    assert np.array_equal(model.objective_path_, plain.objective_path_)
    for name in (*PER_ROW, "memberships_", "assignments_"):
        found, wanted = getattr(model, name), getattr(plain, name)
        assert isinstance(found, da.Array)
        assert found.dtype == wanted.dtype
        assert found.shape == wanted.shape
        assert np.array_equal(found.compute(), wanted), name


@pytest.mark.parametrize("seed", range(8))
def test_the_answer_is_that_in_memory(client, seed):
    rng = np.random.RandomState(seed)
    X = rows_of(rng)
    name = METHODS[seed % 4]
    params = {"random_state": seed}
    if name != "RTKM" or seed > 3:
        params["n_clusters"] = 3
    if name in ("RTKM", "RelaxedKMeans") and seed > 3:
        params["n_memberships"] = 2
    if name in ("RTKM", "TrimmedKMeans"):
        params["n_swaps"] = 4
    weights = rng.randint(0, 8, size=len(X)) / 4 if seed % 2 else None
    chunks = chunks_of(rng, len(X))
    rows = da.from_array(X, chunks=(chunks, X.shape[1]))
    if seed == 2 and X.shape[1] > 1:
        rows = rows.rechunk({1: 1})
    plain = getattr(rtkm, name)(**params)
    model = getattr(rtkm.dask, name)(client=client, **params)
    if weights is None:
        assert_same(model.fit(rows), plain.fit(X))
    else:
        given = da.from_array(weights, chunks=37) if seed % 4 == 1 else weights
        model.fit(rows, sample_weight=given)
        assert_same(model, plain.fit(X, sample_weight=weights))
    assert model.labels_.chunks[0] == rows.chunks[0]


def test_csr_blocks(client):
    rng = np.random.RandomState(0)
    X = sparse.random_array((200, 6), density=0.3, format="csr", random_state=0)
    X = sparse.csr_array(X)
    blocks = [
        da.from_delayed(
            delayed(sparse.csr_matrix(X[i : i + 50])),
            (50, 6),
            meta=sparse.csr_matrix((0, 6)),
        )
        for i in range(0, 200, 50)
    ]
    rows = da.concatenate(blocks)
    weights = rng.rand(200)
    model = rtkm.dask.TrimmedKMeans(3, random_state=0, n_swaps=2)
    plain = rtkm.TrimmedKMeans(3, random_state=0, n_swaps=2)
    model.fit(rows, sample_weight=weights)
    assert_same(model, plain.fit(X, sample_weight=weights))


def test_frames_keep_names_and_unknown_lengths(client):
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    X = rows_of(np.random.RandomState(1), n=120)
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])])
    frame["count"] = np.arange(len(X)) % 7
    rows = dd.from_pandas(frame, npartitions=3)
    params = {"n_clusters": 3, "random_state": 0, "n_swaps": 2}
    model = rtkm.dask.RTKM(contamination=0.1, **params).fit(rows)
    plain = rtkm.RTKM(contamination=0.1, **params).fit(frame)
    assert_same(model, plain)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert np.array_equal(model.predict(rows).compute(), plain.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(rows.rename(columns={"count": "other"}))
    text = frame.assign(word="a")
    with pytest.raises(ValueError, match="columns word hold no numbers"):
        model.fit(dd.from_pandas(text, npartitions=2))


def test_rows_whose_number_is_not_known(client):
    X = rows_of(np.random.RandomState(2), n=150)
    rows = da.from_array(X, chunks=(40, X.shape[1]))
    kept = rows[rows[:, 0] < 4]
    model = rtkm.dask.TrimmedKMeans(2, random_state=0, n_swaps=2).fit(kept)
    plain = rtkm.TrimmedKMeans(2, random_state=0, n_swaps=2).fit(X[X[:, 0] < 4])
    assert_same(model, plain)


def test_answers_for_collections_are_lazy(client):
    X = rows_of(np.random.RandomState(3), n=130)
    rows = da.from_array(X, chunks=((0, 50, 80), X.shape[1]))
    model = rtkm.dask.RTKM(3, contamination=5, random_state=0, n_swaps=0).fit(rows)
    plain = model.to_local()
    for name in (
        "predict",
        "predict_memberships",
        "transform",
        "score_samples",
        "decision_function",
        "discriminant_factors",
        "predict_confidence",
    ):
        lazy = getattr(model, name)(rows)
        assert isinstance(lazy, da.Array)
        wanted = getattr(plain, name)(X)
        assert (lazy.shape, lazy.dtype) == (wanted.shape, wanted.dtype)
        assert np.array_equal(lazy.compute(), wanted)
        assert np.array_equal(getattr(model, name)(X), wanted)
    assert model.score(rows) == pytest.approx(plain.score(X), rel=1e-12)


def test_a_plain_estimator_takes_collections(client):
    X = rows_of(np.random.RandomState(4), n=140)
    rows = da.from_array(X, chunks=(60, X.shape[1]))
    model = rtkm.RTKM(3, contamination=5, random_state=0, n_swaps=0)
    plain = clone(model).fit(X)
    model.fit(rows)
    assert np.array_equal(np.asarray(model.labels_), plain.labels_)
    assert model.objective_ == plain.objective_
    with pytest.raises(TypeError, match="KMOR does not run on rows in partitions"):
        rtkm.KMOR(2).fit(rows)


def test_without_a_cluster_a_fit_runs_in_this_process():
    X = rows_of(np.random.RandomState(5), n=140)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distributed, "get_client", no_client)
        rows = da.from_array(X, chunks=(60, X.shape[1]))
        model = rtkm.dask.RTKM(3, contamination=5, random_state=0, n_swaps=2).fit(rows)
        plain = rtkm.RTKM(3, contamination=5, random_state=0, n_swaps=2).fit(X)
        assert np.array_equal(model.labels_.compute(scheduler="threads"), plain.labels_)
        assert model.objective_ == plain.objective_


def no_client():
    raise ValueError("No clients found")


def test_clones_and_pickles(client):
    X = rows_of(np.random.RandomState(6), n=100)
    model = rtkm.dask.TrimmedKMeans(2, client=client, random_state=0, n_swaps=0)
    twin = clone(model)
    assert twin.client is client
    assert twin.get_params() == model.get_params()
    model.fit(da.from_array(X, chunks=(30, X.shape[1])))
    again = pickle.loads(pickle.dumps(model))
    assert again.client is None
    assert np.array_equal(again.predict(X), model.predict(X))
    local = model.to_local()
    assert type(local) is rtkm.TrimmedKMeans
    assert not hasattr(local, "labels_")
    assert local.n_outliers_ == model.n_outliers_


def test_models_are_saved_as_plain_ones(client, tmp_path):
    X = rows_of(np.random.RandomState(7), n=100)
    rows = da.from_array(X, chunks=(30, X.shape[1]))
    model = rtkm.dask.TrimmedKMeans(2, random_state=0, n_swaps=0).fit(rows)
    model.save(tmp_path / "model.rtkm")
    loaded = rtkm.load(tmp_path / "model.rtkm")
    assert np.array_equal(loaded.predict(X), model.predict(rows).compute())


@pytest.mark.parametrize("name", METHODS)
def test_parameters_and_documentation_are_those_of_the_plain_class(name):
    ours, plain = getattr(rtkm.dask, name), getattr(rtkm, name)
    assert ours().get_params().items() - {("client", None)} == set(
        plain().get_params().items()
    )
    assert "client : distributed.Client" in ours.__doc__
    assert "dask array of shape (n_samples,)" in ours.__doc__
    for parameter in plain().get_params():
        assert f"\n{parameter} : " in ours.__doc__


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(99), "sample_weight has shape"),
        (-np.ones(100), "sample_weight has negative values"),
        (np.zeros(100), "sample_weight"),
    ],
)
def test_weights_that_are_refused(client, weights, message):
    rows = da.from_array(np.arange(200.0).reshape(100, 2), chunks=30)
    model = rtkm.dask.TrimmedKMeans(2)
    for given in (weights, da.from_array(weights, chunks=25)):
        with pytest.raises(ValueError, match=message):
            model.fit(rows, sample_weight=given)


def test_a_missing_value_names_its_partition(client):
    X = np.arange(200.0).reshape(100, 2)
    X[70, 1] = np.nan
    with pytest.raises(ValueError, match=r"partition 2 cannot be used: .*NaN"):
        rtkm.dask.TrimmedKMeans(2).fit(da.from_array(X, chunks=(30, 2)))


def test_a_chunk_that_cannot_be_read_is_named(client):
    def read(block, block_id):
        if block_id[0] == 2:
            raise OSError("the disk is gone")
        return block

    rows = da.from_array(np.arange(200.0).reshape(100, 2), chunks=(30, 2))
    rows = rows.map_blocks(read, dtype=float, name="rows-on-disk")
    with pytest.raises(RuntimeError) as caught:
        rtkm.dask.TrimmedKMeans(2).fit(rows)
    told = str(caught.value)
    assert told.startswith("partition 2 (chunk ('rows-on-disk")
    assert told.endswith(", 2)) cannot be read: OSError: the disk is gone")


def test_an_interrupted_fit_leaves_nothing(client):
    def stop(state):
        raise KeyboardInterrupt

    rows = da.from_array(np.arange(200.0).reshape(100, 2), chunks=(30, 2))
    with pytest.raises(KeyboardInterrupt):
        rtkm.dask.TrimmedKMeans(2, on_step=stop).fit(rows)
