"""A model is loaded in little more memory than it takes."""

from __future__ import annotations

import hashlib
import json
import pickle
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import rtkm
from rtkm import RTKM
from rtkm.models.container import pack, unpack

MB = 10**6
STATUS = Path("/proc/self/status")


def most_allowed(size):
    return 1.2 * size + 10 * MB


def many_centers(n_clusters, dtype=np.float64, **parameters):
    """Make a model of many centers, which need not be fitted for that."""
    model = RTKM(2, contamination=0, random_state=0).fit(np.eye(4, dtype=dtype))
    rng = np.random.default_rng(0)
    model.cluster_centers_ = rng.normal(size=(n_clusters, 1000)).astype(dtype)
    model.cluster_sizes_ = np.ones(n_clusters, dtype=np.int64)
    model.n_features_in_ = 1000
    return model.set_params(n_clusters=n_clusters, **parameters)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("with_init", [False, True])
def test_loading_takes_little_more_than_the_file(tmp_path, dtype, with_init):
    init = np.zeros((2000, 1000)) if with_init else "random"
    model = many_centers(2000, dtype, init=init)
    model.save(tmp_path / "m.rtkm")
    tracemalloc.start()
    try:
        loaded = rtkm.load(tmp_path / "m.rtkm")
        now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    size = (tmp_path / "m.rtkm").stat().st_size
    assert size <= now <= peak <= most_allowed(size)
    assert_array_equal(loaded.cluster_centers_, model.cluster_centers_)


MEASURE = r"""
import pathlib, re, sys
import rtkm

def kilobytes(name):
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(rf"{name}:\s*(\d+) kB", status)[1])

rtkm.load(sys.argv[1])  # what is imported when it is needed is there now
before = kilobytes("VmRSS")
model = rtkm.load(sys.argv[2])
print(1024 * (kilobytes("VmHWM") - before))
"""


@pytest.mark.skipif(not STATUS.exists(), reason="only Linux tells the peak")
def test_a_process_that_loads_grows_by_little_more_than_the_file(tmp_path):
    many_centers(1).save(tmp_path / "small.rtkm")
    many_centers(12_500).save(tmp_path / "large.rtkm")
    size = (tmp_path / "large.rtkm").stat().st_size
    assert size > 100 * MB
    files = [tmp_path / "small.rtkm", tmp_path / "large.rtkm"]
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *files],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    grown = int(done.stdout)
    assert 0.9 * size < grown < most_allowed(size)


def test_what_is_loaded_is_its_own(tmp_path):
    model = many_centers(3)
    model.save(tmp_path / "m.rtkm")
    loaded = rtkm.load(tmp_path / "m.rtkm")
    (tmp_path / "m.rtkm").write_bytes(b"")
    assert_array_equal(loaded.cluster_centers_, model.cluster_centers_)
    assert loaded.cluster_centers_.flags.writeable
    assert loaded.cluster_centers_.flags.aligned
    loaded.cluster_centers_[0] = 7.0
    again = pickle.loads(pickle.dumps(loaded))
    assert_array_equal(again.cluster_centers_, loaded.cluster_centers_)
    assert len(pickle.dumps(loaded)) < 2 * model.cluster_centers_.nbytes


def test_arrays_at_odd_places_are_moved_to_even_ones():
    content = pack({}, {"flags": np.array([True, False, True]), "x": np.arange(4.0)})
    begin = 8 + int.from_bytes(content[:8], "little")
    x, flags = content[begin : begin + 32], content[begin + 32 : begin + 35]
    # the same arrays, the narrow one first
    header = json.loads(content[8:begin])
    header["flags"]["data_offsets"], header["x"]["data_offsets"] = [0, 3], [3, 35]
    names = ["__metadata__", "flags", "x", "sha256"]
    text = json.dumps({name: header[name] for name in names}, separators=(",", ":"))
    body = len(text).to_bytes(8, "little") + text.encode() + flags + x
    arrays = unpack(body + hashlib.sha256(body).digest())[1]
    assert arrays["x"].flags.aligned
    assert_array_equal(arrays["x"], np.arange(4.0))
