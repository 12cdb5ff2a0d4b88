"""Lloyd's k-means, which is scikit-learn's, as a start."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.parallel import _get_threadpool_controller

from rtkm._base import PrototypeClusterer
from rtkm._table import Table


def lloyd(rows: Any, C: NDArray[Any], max_iter: int) -> KMeans:
    """Return k-means run from the centers until no row moves.

    It runs in one thread: scikit-learn's threads add their sums in the order in which
    they finish, which would show in the last digits.
    """
    one_thread = _get_threadpool_controller().limit(limits=1, user_api="openmp")
    with one_thread, warnings.catch_warnings():
        # too few distinct rows were reported at the door
        warnings.simplefilter("ignore", ConvergenceWarning)
        return KMeans(len(C), init=C, n_init=1, max_iter=max_iter, tol=0).fit(rows)


class StartsFromKMeans(PrototypeClusterer):
    """Base of the clusterers that start from the best of `n_init` k-means runs."""

    def _starting_centers(
        self, X: Table
    ) -> Iterator[tuple[NDArray[Any], np.random.RandomState]]:
        starts = [
            (lloyd(X.X, C, self.max_iter), rng)
            for C, rng in super()._starting_centers(X)
        ]
        best, rng = min(starts, key=lambda start: float(start[0].inertia_))
        yield np.ascontiguousarray(best.cluster_centers_, dtype=X.dtype), rng
