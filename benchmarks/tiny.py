"""The least objective of tiny tables, from all partitions of their rows."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np


@cache
def partitions(n: int, k: int, n_trimmed: int) -> np.ndarray:
    """Return all labelings of n rows: a number below k, or k for rows that are trimmed.

    Numbers come up in order, so that no partition comes twice.
    """
    found = []
    for labels in product(range(k + 1), repeat=n):
        if labels.count(k) != n_trimmed:
            continue
        kept = [label for label in labels if label < k]
        firsts = list(dict.fromkeys(kept))
        if firsts == list(range(len(firsts))):
            found.append(labels)
    return np.array(found, dtype=np.int8)


def least_objective(X: np.ndarray, k: int, n_trimmed: int, n_memberships: int) -> float:
    """Return the least cost of any partition, for 1 or k - 1 memberships.

    With k - 1 memberships a row is in all clusters but one.
    """
    X = X - X.mean(axis=0)
    labels = partitions(len(X), k, n_trimmed)
    total = np.zeros(len(labels))
    for j in range(k):
        member = labels == j if n_memberships == 1 else (labels != j) & (labels != k)
        mass = member.sum(axis=1)
        sums = member @ X
        squares = member @ np.square(X).sum(axis=1)
        total += squares - np.square(sums).sum(axis=1) / np.maximum(mass, 1)
    return max(0.0, float(total.min()))


def draw_tiny(rng: np.random.Generator) -> tuple[np.ndarray, int, int]:
    """Draw a tiny table, a number of clusters and a number of outliers."""
    n, d, k = (
        int(rng.integers(4, 10)),
        int(rng.choice([1, 2, 5])),
        int(rng.integers(1, 4)),
    )
    kind = rng.integers(4)
    X = rng.normal(size=(n, d))
    if kind == 1:
        X = X + 6 * rng.integers(k, size=n)[:, None]
    elif kind == 2:
        X = np.round(X * 2)
    elif kind == 3:
        X = X * rng.exponential(size=(n, 1)) ** 2
    return X, k, int(rng.integers(0, max(1, n - k - 1)))
