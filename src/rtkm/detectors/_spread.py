"""How far rows are spread: scales of columns, and distances on average."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from rtkm.core.table import Table, column_ends

SAMPLED_ROWS, BLOCK_ENTRIES = 1000, 2**22  # so many distances at a time are 32 MB


def scales(X: Table) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and standard deviation of each column, 0 for a constant one."""
    low, high = column_ends(X.X)
    mean = X.X.mean(axis=0, dtype=np.float64)
    std = X.X.std(axis=0, dtype=np.float64)
    std[(low == high) | (std < np.finfo(X.dtype).tiny)] = 0
    return np.where(low == high, low, mean), std


def usual_radius(Z: Table) -> float:
    """Return a radius a bit below the mean distance of two rows."""
    rows = Z.X
    if Z.n_rows > SAMPLED_ROWS:
        sample = np.random.RandomState(0).choice(Z.n_rows, SAMPLED_ROWS, replace=False)
        rows = rows[np.sort(sample)]
    distances = pdist(rows) if len(rows) > 1 else np.zeros(1)
    mean = float(distances.mean())
    below = max(mean - float(distances.std()) / 2, float(np.quantile(distances, 0.05)))
    # mostly equal rows leave the mean, all equal ones any number
    return below or mean or 1.0


def mean_distances(
    rows: NDArray[Any], C: NDArray[Any], shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the mean distance of each row to the centers, which count by shares."""
    means = np.empty(len(rows))
    step = max(BLOCK_ENTRIES // len(C), 1)
    for first in range(0, len(rows), step):
        block = Table(rows[first : first + step], None)
        distances = np.sqrt(block.squared_distances(C))
        means[first : first + step] = (distances * shares).sum(axis=1)
    return means
