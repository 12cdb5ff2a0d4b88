"""CBLOF against PyOD's, on the same clusterings."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sample_tables import TABLES, starting_rows
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from rtkm import CBLOF

pytestmark = pytest.mark.slow

# shares of the rows in large clusters, and ratios of sizes, that ask for large clusters
# by either test, by both, and by neither
BOUNDARIES = [(0.9, 5.0), (0.75, 2.0), (0.6, 1.5), (0.5, 5.0), (0.95, 1.2)]

# what a message about it should name
NO_BOUNDARY = "large_share|size_ratio|boundary"


@pytest.fixture(autouse=True)
def one_thread():
    """Add up in one order, so that both get the same clustering to the last bit."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def pyod_scores():
    """A function that scores by PyOD, or returns None where it finds no boundary."""
    cblof = pytest.importorskip("pyod.models.cblof", reason="PyOD is not installed")

    def score(X, clusterer, share, ratio, weighted):
        model = cblof.CBLOF(
            n_clusters=clusterer.n_clusters,
            clustering_estimator=clusterer,
            alpha=share,
            beta=ratio,
            use_weights=weighted,
        )
        try:
            return model.fit(X).decision_scores_
        except ValueError as error:
            assert "valid cluster separation" in str(error)  # noqa: PT017
            return None

    return score


def k_means(X, k):
    """Return the clusterer for both, and the sizes of the clusters it finds."""
    first = KMeans(k, init=starting_rows(X, k), n_init=1).fit(X)
    # from where the first came to rest: quick, as it is fitted many times
    clusterer = KMeans(k, init=first.cluster_centers_, n_init=1)
    return clusterer, np.bincount(clusterer.fit(X).labels_)


@pytest.mark.parametrize("name", TABLES)
def test_scores_are_those_of_pyod(pyod_scores, name):
    X = TABLES[name]()
    n_compared = 0
    for k in (2, 3, 5, 8, 11):
        clusterer, sizes = k_means(X, k)
        if len(np.unique(sizes)) < k:
            continue  # which of two equal clusters is the larger is a matter of order
        for (share, ratio), weighted in product(BOUNDARIES, (False, True)):
            model = CBLOF(
                clusterer,
                large_share=share,
                size_ratio=ratio,
                boundary="pyod",
                weighted=weighted,
            )
            expected = pyod_scores(X, clusterer, share, ratio, weighted)
            if expected is None:
                with pytest.raises(ValueError, match=NO_BOUNDARY):
                    model.fit(X)
            else:
                scores = model.fit(X).outlier_scores_
                assert_allclose(scores, expected, rtol=1e-9, atol=1e-9 * expected.max())
                n_compared += 1
    assert n_compared >= 10


def test_without_a_boundary_both_refuse(pyod_scores):
    X = TABLES["iris"]()
    clusterer, sizes = k_means(X, 3)
    # the smallest has more than a tenth of the rows, so the others have less than 0.9,
    # and none is five times the next
    sizes = np.sort(sizes)
    assert sizes[0] > 0.1 * len(X)
    assert (sizes[1:] < 5 * sizes[:-1]).all()
    assert pyod_scores(X, clusterer, 0.9, 5.0, False) is None
    with pytest.raises(ValueError, match=NO_BOUNDARY):
        CBLOF(clusterer, boundary="pyod").fit(X)
