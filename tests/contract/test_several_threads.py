"""Threads of one program may fit and ask at once, with the same bits as alone."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import rtkm
from rtkm.datasets import make_outlier_blobs

N_THREADS = 4
X = make_outlier_blobs(2000, n_features=4, n_clusters=4, random_state=0)[0]


def fit(seed):
    model = rtkm.RTKM(4, contamination=0.05, random_state=seed).fit(X)
    return model.cluster_centers_.tobytes(), model.labels_.tobytes()


def test_fits_do_not_disturb_each_other():
    seeds = range(3 * N_THREADS)
    alone = [fit(seed) for seed in seeds]
    with ThreadPoolExecutor(N_THREADS) as threads:
        assert list(threads.map(fit, seeds)) == alone


def test_a_model_can_be_asked_by_several_threads():
    model = rtkm.RTKM(4, contamination=0.05, random_state=0).fit(X)
    parts = np.array_split(X, 10 * N_THREADS)
    alone = [model.score_samples(part).tobytes() for part in parts]
    with ThreadPoolExecutor(N_THREADS) as threads:
        answers = threads.map(lambda part: model.score_samples(part).tobytes(), parts)
        assert list(answers) == alone


@pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"),
    reason="this Python has a global lock",
)
def test_the_core_does_without_a_global_lock():
    """Python warns of a module that does not say so, and takes the lock again."""
    code = "import rtkm._native, sys; sys.exit(sys._is_gil_enabled())"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
