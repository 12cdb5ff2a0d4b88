"""The vocabulary of sets: which clusters a row is given, by what a set costs.

A non-empty set A of s clusters costs row i ::

    linear[s] * (sum of L[i, j] over A) + pair[s] * (sum of P[j, l] over its pairs)
        + fixed[s]

The squared distance to the mean of the set's centers is of this form, with squared
distances to the centers for L and between them for P, linear = 1/s and pair = -1/s^2;
so is that to their sum.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtkm import _native
from rtkm.core.threads import n_threads

# a row's sets are compared one by one up to this number of them
MOST_SUBSETS = 5000


class Prices(NamedTuple):
    """What sets cost by their size, 0 to k; the entries of size 0 are not used."""

    linear: NDArray[np.float64]
    pair: NDArray[np.float64]
    fixed: NDArray[np.float64]


def count_subsets(k: int, max_size: int) -> int:
    """Return the number of non-empty sets of at most max_size of k clusters."""
    return sum(math.comb(k, size) for size in range(1, max_size + 1))


def grow_sets(L: NDArray[Any], P: NDArray[Any], prices: Prices) -> NDArray[np.bool_]:
    """Give rows their nearest cluster, and the next nearest while the cost falls."""
    L, P = _floats(L), _floats(P)
    return _native.grow_sets(L, P, *prices, n_threads()).view(np.bool_)


def search_sets(
    L: NDArray[Any], P: NDArray[Any], prices: Prices, max_size: int
) -> NDArray[np.bool_]:
    """Give rows their cheapest set; of too many, the best a greedy search finds."""
    is_modest = count_subsets(len(P), max_size) <= MOST_SUBSETS
    search = _native.best_sets if is_modest else _native.greedy_sets
    L, P = _floats(L), _floats(P)
    return search(L, P, *prices, max_size, n_threads()).view(np.bool_)


def _floats(array: NDArray[Any]) -> NDArray[np.float64]:
    return np.ascontiguousarray(array, dtype=np.float64)
