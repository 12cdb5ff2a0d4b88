"""As many threads as OpenMP programs would use."""

from __future__ import annotations

import subprocess
import sys

import pytest
from threadpoolctl import threadpool_limits

from rtkm.core.threads import most_threads, n_threads

COUNT = "from rtkm.core.threads import n_threads; print(n_threads())"


def count(monkeypatch, code, asked):
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    return int(done.stdout)


@pytest.mark.parametrize("asked", ["1", "3", "77"])
def test_the_environment_asks_for_threads_even_beyond_the_processors(
    asked, monkeypatch
):
    assert count(monkeypatch, COUNT, asked) == int(asked)


def test_limits_of_threadpoolctl_count_at_any_time():
    before = n_threads()
    with threadpool_limits(1):
        assert n_threads() == 1
        with threadpool_limits(2):
            assert n_threads() == min(2, most_threads())
    assert n_threads() == before


def test_a_quota_is_not_exceeded(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    code = f"import os; os.environ['LOKY_MAX_CPU_COUNT'] = '1'; {COUNT}"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert int(done.stdout) == 1


def test_openmp_is_found_before_anything_else_is_imported(monkeypatch):
    code = "from rtkm.core.threads import openmp; print(len(openmp().lib_controllers))"
    assert count(monkeypatch, code, "1") > 0
