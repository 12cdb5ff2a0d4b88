"""How much memory there is."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rtkm._memory import available_memory, bytes_of, cgroup_memory


@pytest.mark.parametrize(
    "memory", ["", "2 apples", "-1GB", "GB", "1kb", "1e9", "16 M i"]
)
def test_what_is_no_size_is_refused(memory):
    with pytest.raises(ValueError, match="memory="):
        bytes_of(memory)


def test_units_are_those_of_people():
    assert bytes_of("1.5 GB") == bytes_of("1500m") == 1_500_000_000
    assert bytes_of("1GiB") == 2**30


def test_some_memory_is_available():
    assert 2**24 < available_memory() < 2**50


def test_a_container_leaves_what_it_has_not_used(tmp_path):
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    (inner / "memory.max").write_text("max\n")
    (tmp_path / "outer" / "memory.max").write_text("1000\n")
    (tmp_path / "outer" / "memory.current").write_text("400\n")
    assert list(cgroup_memory(tmp_path, "outer/inner")) == [600]


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
@pytest.mark.parametrize("limit", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_limits_of_the_process_count(limit):
    code = (
        "import resource as r; from rtkm._memory import available_memory as a\n"
        f"r.setrlimit(r.{limit}, (2**31, 2**31)); print(a())"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True
    )
    assert 0 < int(found.stdout) < 2**31
