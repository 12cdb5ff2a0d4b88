"""Nearest rows: a tree where it helps, all distances where it does not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from rtkm.core.table import Table

# with more features a tree looks into so many leaves that all distances are faster
FEATURES_FOR_A_TREE = 6
BLOCK_ROWS = 4096

Neighbors = tuple[NDArray[np.int64], NDArray[np.float64]]  # row numbers, distances


def make_tree(X: Table) -> Any:
    """Return a search tree, or None where it would not help."""
    if sparse.issparse(X.X) or X.n_features > FEATURES_FOR_A_TREE:
        return None
    return NearestNeighbors(algorithm="kd_tree").fit(X.X)


def other_neighbors(X: Table, k: int, tree: Any) -> Neighbors:
    """Return the nearest k rows of each row of a table but itself, by its number."""
    numbers, distances = nearest_rows(X, X, k + 1, tree)
    drop = numbers == np.arange(X.n_rows)[:, None]
    # k + 1 others, equal to it, may come before a row: the last of them is too many
    drop[~drop.any(axis=1), -1] = True
    return numbers[~drop].reshape(-1, k), distances[~drop].reshape(-1, k)


def nearest_rows(X: Table, among: Table, k: int, tree: Any) -> Neighbors:
    """Return the nearest k rows of another table; ties go to the lowest number."""
    if tree is None or among.n_rows == k:
        return search_all(X, among, k)
    distances, numbers = tree.kneighbors(X.X, k + 1)
    last, spare = distances[:, k - 1], distances[:, k]
    # a tree breaks ties as it likes; where all k are the row itself none matters
    rounding = 8 * np.finfo(X.dtype).eps
    tied = np.flatnonzero((last > 0) & (spare - last <= rounding * spare))
    numbers, distances = numbers[:, :k], distances[:, :k]
    if tied.size:
        numbers[tied], distances[tied] = search_all(Table(X.X[tied], None), among, k)
    return numbers, distances


def search_all(X: Table, among: Table, k: int) -> Neighbors:
    """Return the same from all distances, a block of rows after the other."""
    numbers = np.empty((X.n_rows, 0), dtype=np.int64)
    squared = np.empty((X.n_rows, 0))
    for first in range(0, among.n_rows, BLOCK_ROWS):
        block = np.arange(first, min(first + BLOCK_ROWS, among.n_rows))
        near = X.nearest(among.rows(block), min(k, len(block)))
        numbers = np.hstack([numbers, near.labels + np.int64(first)])
        squared = np.hstack([squared, near.squared])
        # earlier blocks come first, so a stable sort breaks ties as it should
        best = np.argsort(squared, axis=1, kind="stable")[:, :k]
        numbers = np.take_along_axis(numbers, best, axis=1)
        squared = np.take_along_axis(squared, best, axis=1)
    return numbers, np.sqrt(squared)
