"""Tables larger than the memory that is left to a process."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux"),
]

# most goes to samples that grow with the root of the rows: four times is not shown
N_COLUMNS, N_ROWS, HEADROOM = 8, 4_000_000, 100_000_000
START = """
import resource, sys
import numpy as np
from rtkm import RTKM, Partitions

def used():
    status = open("/proc/self/status").read().split()
    return int(status[status.index("VmData:") + 1]) * 1024

def limit(headroom):
    # what is imported and started anyhow is there
    RTKM(random_state=0).fit(np.random.default_rng(0).normal(size=(3000, 8)))
    most = used() + headroom
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
"""


def some_rows(seed, n_rows):
    """Rows of four clusters, and few outliers."""
    centers = np.random.default_rng(9).uniform(-30, 30, (4, N_COLUMNS))
    rng = np.random.default_rng(seed)
    X = centers[rng.integers(0, 4, n_rows)] + rng.standard_normal((n_rows, N_COLUMNS))
    far = rng.random(n_rows) < 0.005
    X[far] = rng.uniform(-90, 90, (far.sum(), N_COLUMNS))
    return X


def run(code, *arguments):
    """Run Python in a process that keeps little of what it has freed."""
    least = {"MALLOC_MMAP_THRESHOLD_": "65536", "ARROW_DEFAULT_MEMORY_POOL": "system"}
    threads = dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "ARROW_IO_THREADS"), "2"
    )
    found = subprocess.run(
        [sys.executable, "-c", START + code, *map(str, arguments)],
        env={**os.environ, **least, **threads},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert found.returncode == 0, found.stderr[-2000:]
    return found.stdout


def test_a_map_of_twice_the_memory_and_more_is_chosen_for_fitted_and_judged(tmp_path):
    path, n_each = tmp_path / "rows.dat", 100_000
    X = np.memmap(path, np.float64, "w+", shape=(N_ROWS, N_COLUMNS))
    assert X.nbytes > 2.5 * HEADROOM
    for i in range(N_ROWS // n_each):
        X[i * n_each : (i + 1) * n_each] = some_rows(i, n_each)
    X.flush()
    told = run(
        """
limit(int(sys.argv[2]))
X = np.memmap(sys.argv[1], np.float64, "r", shape=(int(sys.argv[3]), 8))
rows = Partitions.of_array(X, memory="24MiB")
model = RTKM(n_swaps=0, random_state=0).fit(rows)
counts = np.zeros(model.n_clusters_ + 1, int)
for labels in model.predict(rows).partitions():
    counts += np.bincount(labels + 1, minlength=len(counts))
print(model.n_clusters_, counts[0], counts.sum())
""",
        path,
        HEADROOM,
        N_ROWS,
    )
    n_clusters, n_outliers, n_rows = map(int, told.split())
    assert (n_clusters, n_rows) == (4, N_ROWS)
    assert 0.004 < n_outliers / N_ROWS < 0.006
