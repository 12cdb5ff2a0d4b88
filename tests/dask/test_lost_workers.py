"""Workers that die, come and go change nothing but the time."""

from __future__ import annotations

import contextlib
import os
import signal
from threading import Timer

import numpy as np
import pytest

import rtkm

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

import rtkm.dask  # noqa: E402
from rtkm.dask.engine import DaskEngine  # noqa: E402

# when a worker is killed, as a share of all rounds: from reading and seeding over
# descent and swaps to publishing
MOMENTS = [0.0, 0.12, 0.3, 0.5, 0.7, 0.99]


@pytest.fixture
def client():
    """Two processes of their own for each test: dying ones are slow to come back."""
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 20}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def table():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(20_000, 3)) + 7 * rng.randint(0, 3, size=(20_000, 1))
    X[:300] *= 20
    return X


PARAMS = {"n_clusters": 3, "contamination": 0.02, "random_state": 0, "n_swaps": 3}


@pytest.fixture(scope="module")
def plain(table):
    return rtkm.TrimmedKMeans(**PARAMS).fit(table)


def assert_same(model, plain):
    assert model.objective_ == plain.objective_
    assert np.array_equal(model.cluster_centers_, plain.cluster_centers_)
    assert np.array_equal(model.labels_.compute(), plain.labels_)


def what_is_left(client):
    def count():
        from rtkm.dask.worker import MEMORY

        return len(MEMORY.parts), len(MEMORY.known)

    return set(client.run(count).values())


def in_round(monkeypatch, wanted, act):
    """Act once, before a round; return the words of all rounds."""
    ask, words = DaskEngine._ask, []

    def watched(self, word, numbers, text, n_tries):
        words.append(word)
        if len(words) - 1 == wanted:
            act()
        return ask(self, word, numbers, text, n_tries)

    monkeypatch.setattr(DaskEngine, "_ask", watched)
    return words


@pytest.fixture(scope="module")
def n_rounds(table, plain):
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
        pytest.MonkeyPatch.context() as patch,
    ):
        words = in_round(patch, None, None)
        rows = da.from_array(table, chunks=(4000, 3))
        assert_same(rtkm.dask.TrimmedKMeans(client=client, **PARAMS).fit(rows), plain)
    assert {"checked", "gathered", "look", "word"} <= set(words)
    return len(words)


def kill_one(client):
    """Kill a worker; its nanny starts another one, unless it was just being started."""
    known = client.cluster.scheduler.workers
    nannies = client.cluster.workers.values()
    pids = [nanny.pid for nanny in nannies if nanny.worker_address in known]
    with contextlib.suppress(ProcessLookupError):
        os.kill(pids[0], signal.SIGKILL)


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_worker_that_is_killed_changes_no_bit(
    client, table, plain, n_rounds, monkeypatch, moment
):
    killed = []

    def kill_soon():
        # while the round is under way, or before it
        Timer(0.02 * (moment > 0.2), lambda: killed.append(kill_one(client))).start()

    in_round(monkeypatch, int(moment * n_rounds), kill_soon)
    rows = da.from_array(table, chunks=(4000, 3))
    model = rtkm.dask.TrimmedKMeans(client=client, **PARAMS).fit(rows)
    monkeypatch.undo()
    assert killed
    assert_same(model, plain)
    assert what_is_left(client) <= {(0, 0)}


def test_workers_come_and_go(client, table, plain, n_rounds, monkeypatch):
    assert n_rounds > 40
    cluster = client.cluster
    in_round(monkeypatch, 20, lambda: cluster.scale(3))
    rows = da.from_array(table, chunks=(4000, 3))
    assert_same(rtkm.dask.TrimmedKMeans(client=client, **PARAMS).fit(rows), plain)
    monkeypatch.undo()
    in_round(monkeypatch, 40, lambda: cluster.scale(1))
    assert_same(rtkm.dask.TrimmedKMeans(client=client, **PARAMS).fit(rows), plain)
    assert what_is_left(client) <= {(0, 0)}


def test_a_chunk_that_cannot_be_read_again_is_named(
    client, table, tmp_path, monkeypatch
):
    marks = str(tmp_path)

    def read(block, block_id):
        mark = os.path.join(marks, str(block_id[0]))
        if os.path.exists(mark):
            raise OSError("the disk is gone")
        open(mark, "w").close()
        return block

    rows = da.from_array(table, chunks=(4000, 3))
    rows = rows.map_blocks(read, dtype=float, name="rows-on-disk")
    in_round(monkeypatch, 30, lambda: kill_one(client))
    with pytest.raises(RuntimeError) as caught:
        rtkm.dask.TrimmedKMeans(client=client, **PARAMS).fit(rows)
    told = str(caught.value)
    assert told.startswith("partition ")
    assert "(chunk ('rows-on-disk" in told
    assert told.endswith("cannot be read: OSError: the disk is gone")
    assert what_is_left(client) <= {(0, 0)}


def test_a_chunk_that_kills_workers_is_named(client, table):
    def read(block, block_id):
        if block_id[0] == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    rows = da.from_array(table[:100], chunks=(30, 3))
    rows = rows.map_blocks(read, dtype=float, name="rows-too-large")
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        pytest.raises(RuntimeError) as caught,
    ):
        rtkm.dask.TrimmedKMeans(2, client=client).fit(rows)
    told = str(caught.value)
    assert "(chunk ('rows-too-large" in told
    assert "cannot be computed: workers died of it again and again" in told
    assert caught.value.__suppress_context__
