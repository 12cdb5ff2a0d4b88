"""Rows that are repeated."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rtkm._number_text import counted

# odd numbers without a pattern, so that a product keeps all bits and mixes them
MULTIPLIERS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93))


def note_on_repeats(X: NDArray[np.float64]) -> list[str]:
    """Say how many rows are the same as earlier ones.

    In a single column that is nothing to mention.
    """
    return tell_repeats(count_repeats(X) if X.shape[1] > 1 else 0, len(X))


def tell_repeats(n_repeats: int, n_rows: int) -> list[str]:
    """Say how many of the rows are repeated, if any."""
    if not n_repeats:
        return []
    verb = "is" if n_repeats == 1 else "are"
    rows = f"{counted(n_repeats, 'row')} of {n_rows:,}"
    return [f"{rows} {verb} the same as an earlier one in all columns used."]


def count_repeats(X: NDArray[np.float64]) -> int:
    """Count the rows that are the same as earlier ones, by their hashes.

    Different rows of a table of a million share one with a chance of 1 in 10 million.

    Examples
    --------
    >>> count_repeats(np.array([[1.0, 2], [0, 3], [1, 2], [-0.0, 3], [2, 1]]))
    2
    """
    hashes = np.sort(hashes_of(X))
    return int((hashes[1:] == hashes[:-1]).sum())


def hashes_of(X: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return a hash of each row."""
    hashes = np.zeros(len(X), dtype=np.uint64)
    for j in range(X.shape[1]):
        hashes ^= (X[:, j] + 0.0).view(np.uint64)  # of two zeros, too
        for multiplier in MULTIPLIERS:
            hashes *= multiplier
            hashes ^= hashes >> np.uint64(32)
    return hashes
