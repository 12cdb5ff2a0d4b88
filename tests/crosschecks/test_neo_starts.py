"""NEO-k-means from the paper's saved starts, against a slow twin of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import column, squared_distances

from rtkm import NEOKMeans

pytestmark = pytest.mark.slow


def slow_neo(X, C, n_extra, n_outliers):
    """Alternate means and the cheapest memberships until the objective rests."""
    n, k = len(X), len(C)
    U = np.eye(k, dtype=bool)[squared_distances(X, C).argmin(axis=1)]
    last = math.inf
    while True:
        C = np.array(
            [X[U[:, j]].mean(axis=0) if U[:, j].any() else C[j] for j in range(k)]
        )
        D = squared_distances(X, C)
        # every row but the farthest in its nearest cluster ...
        U = np.zeros((n, k), dtype=bool)
        for i in sorted(range(n), key=lambda i: D[i].min())[: n - n_outliers]:
            U[i, D[i].argmin()] = True
        # ... then the cheapest of all memberships that are left
        left = np.argsort(np.where(U, np.inf, D), axis=None, kind="stable")
        U.flat[left[: n_extra + n_outliers]] = True
        objective = math.fsum(D[U])
        if objective >= last:
            return U, objective
        last = objective


def test_slow_neo_worked_by_hand():
    X = column(0, 1, 4, 7, 8, 30)
    # nearest to 1 are 0, 1, 4; the means are 5/3 and 15, then 4 and 7.5, then 3 and
    # 19/3: there 0, 1, 4, 7 cost 9 + 4 + 1 + 16 = 30 in the first cluster, and 4, 7, 8
    # cost (49 + 4 + 25)/9 in the second
    U, objective = slow_neo(X, column(1, 10), n_extra=1, n_outliers=1)
    assert_array_equal(U, [(1, 0), (1, 0), (1, 1), (1, 1), (0, 1), (0, 0)])
    assert objective == pytest.approx(30 + 78 / 9)


def features(file, n_features):
    """The first columns of an ARFF table."""
    with open(file) as lines:
        for line in lines:
            if line.strip().lower() == "@data":
                return np.loadtxt(lines, delimiter=",", usecols=range(n_features))
    raise ValueError(f"no data in {file}")


def compare(X, starts, overlap):
    for number, start in enumerate(np.moveaxis(starts, 2, 0)):
        model = NEOKMeans(
            len(start), overlap=overlap, contamination=0, init=start, max_iter=1000
        ).fit(X)
        U, objective = slow_neo(X, start, overlap * len(X), 0)
        print(f"start {number}: objective {model.objective_!r}, slowly {objective!r}")
        assert_allclose(model.objective_, objective, rtol=1e-9)
        assert_array_equal(model.memberships_, U)


def test_neo_on_yeast_from_the_saved_starts(data_file):
    X = features(data_file("yeast/yeast.arff"), 103)
    starts = np.load(data_file("yeast/yeast_centers.npy"))
    assert (X.shape, starts.shape) == ((2417, 103), (14, 103, 5))
    compare(X, starts, overlap=3)


def test_neo_on_scene_from_the_saved_starts(data_file):
    parts = [
        features(data_file(f"scene/scene-{p}.arff"), 294) for p in ("train", "test")
    ]
    X = np.concatenate(parts)
    starts = np.load(data_file("scene/scene_centers.npy"))
    assert (X.shape, starts.shape) == ((2407, 294), (6, 294, 5))
    compare(X, starts, overlap=1)
