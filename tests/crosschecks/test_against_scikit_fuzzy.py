"""Fuzzy c-means against scikit-fuzzy's, from the same start."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference import squared_distances
from sample_tables import TABLES, starting_rows
from sklearn.exceptions import ConvergenceWarning

from rtkm import FuzzyCMeans

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cmeans():
    """A function that takes so many steps of scikit-fuzzy from given centers."""
    cluster = pytest.importorskip(
        "skfuzzy.cluster", reason="scikit-fuzzy is not installed"
    )

    def run(X, C, fuzzifier, n_steps):
        closeness = squared_distances(X, C) ** (-1 / (fuzzifier - 1))
        start = closeness / closeness.sum(axis=1, keepdims=True)
        # with error=0 it never stops early
        centers, U, _, distances, objectives, *_ = cluster.cmeans(
            X.T, len(C), fuzzifier, error=0, maxiter=n_steps, init=start.T
        )
        assert len(objectives) == n_steps
        # the last of its objectives is that of the memberships before the last step
        return centers, U.T, (U**fuzzifier * distances**2).sum()

    return run


# the digits blur into one cluster, which is theirs and ours
@pytest.mark.filterwarnings("ignore:.*about the same share in all clusters")
@pytest.mark.parametrize("fuzzifier", [1.5, 2.0, 3.0])
@pytest.mark.parametrize("name", TABLES)
def test_every_descent_is_that_of_scikit_fuzzy(cmeans, name, fuzzifier):
    X = TABLES[name]()
    # halfway to the mean: scikit-fuzzy cannot start from a center that is a row
    start = (starting_rows(X, 3) + X.mean(axis=0)) / 2
    for max_iter in (1, 5, 1000):  # the last until rounding ends the descent
        model = FuzzyCMeans(
            3, fuzzifier=fuzzifier, init=start, max_iter=max_iter, tol=0
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X)
        centers, U, objective = cmeans(X, start, fuzzifier, model.n_iter_)
        scale = np.abs(X - X.mean(axis=0)).max()
        assert_allclose(model.cluster_centers_, centers, rtol=0, atol=1e-11 * scale)
        # memberships below 1e-10 are put to zero
        assert_allclose(model.memberships_, U, rtol=0, atol=1.1e-10)
        assert_allclose(model.objective_, objective, rtol=1e-11)
