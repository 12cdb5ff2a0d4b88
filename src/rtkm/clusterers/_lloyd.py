"""Lloyd's k-means, which is scikit-learn's, as a start."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from rtkm.clusterers._base import PrototypeClusterer
from rtkm.core.table import Table
from rtkm.core.threads import openmp


def lloyd(rows: Any, C: NDArray[Any], max_iter: int) -> KMeans:
    """Return k-means run from the centers until no row moves."""
    # several threads would add up in the order in which they finish
    one_thread = openmp().limit(limits=1)
    with warnings.catch_warnings(), one_thread:
        # too few distinct rows were reported when the rows were validated
        warnings.simplefilter("ignore", ConvergenceWarning)
        return KMeans(len(C), init=C, n_init=1, max_iter=max_iter, tol=0).fit(rows)


def best_lloyd(rows: Any, starts: Iterable[NDArray[Any]], max_iter: int) -> KMeans:
    """Return the best k-means from any of the starts; ties keep the earliest."""
    fits = [lloyd(rows, C, max_iter) for C in starts]
    return min(fits, key=lambda fit: float(fit.inertia_))


class StartsFromKMeans(PrototypeClusterer):
    """Base of the clusterers that start from the best of `n_init` k-means runs.

    Parameters
    ----------
    n_init : "auto" or int, default="auto"
        Number of runs of k-means, the best of which the fit starts from. ``"auto"`` is
        1 where the starting centers are fixed, and 10 otherwise.
    """

    def _starting_centers(
        self, X: Table
    ) -> Iterator[tuple[NDArray[Any], np.random.RandomState]]:
        starts, rngs = zip(*super()._starting_centers(X), strict=True)
        C = best_lloyd(X.X, starts, self.max_iter).cluster_centers_
        yield np.ascontiguousarray(C, dtype=X.dtype), rngs[0]
