"""CBLOF: the published example of two boundaries, weights, and any clusterer."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import DBSCAN, AffinityPropagation, KMeans, MeanShift

from rtkm import CBLOF, RTKM, TrimmedKMeans
from rtkm.datasets import make_outlier_blobs

# A: four corners and their center; B: two rows; C: one row
X = np.array(
    [[0, 0], [0, 1], [1, 0], [1, 1], [0.5, 0.5], [10, 10], [10, 11], [5, 5]],
    dtype=float,
)
CENTERS = np.array([[0.5, 0.5], [10, 10.5], [5, 5]])
THREE = KMeans(3, init=CENTERS, n_init=1)

# corners: |(.5, .5)|; B: |(9.5, 9.5)|, |(9.5, 10.5)|; C: |(4.5, 4.5)|
CORNER, B1, B2, C1 = 0.707107, 13.435029, 14.159802, 6.363961
TO_LARGE = [CORNER] * 4 + [0, B1, B2, C1]
# every row to its own center: B lies 0.5 from (10, 10.5), C on its own
TO_OWN = [CORNER] * 4 + [0, 0.5, 0.5, 0]


@pytest.mark.parametrize("boundary", ["he", "pyod"])
@pytest.mark.parametrize(("large_share", "size_ratio"), [(0.6, 5), (0.9, 2)])
def test_the_worked_example_has_one_large_cluster(boundary, large_share, size_ratio):
    # sizes 5, 2, 1: 5 >= 0.6 * 8 = 4.8, and 5 / 2 >= 2
    model = CBLOF(
        THREE, large_share=large_share, size_ratio=size_ratio, boundary=boundary
    ).fit(X)
    assert_array_equal(model.cluster_sizes_, [5, 2, 1])
    assert_array_equal(model.large_mask_, [True, False, False])
    assert_array_equal(model.cluster_centers_, CENTERS)
    assert_allclose(model.outlier_scores_, TO_LARGE, atol=1e-6)


def test_the_worked_example_weighted_by_size():
    model = CBLOF(THREE, large_share=0.6, weighted=True).fit(X)
    # 5 * 0.707107, 2 * 13.435029, 2 * 14.159802, 1 * 6.363961
    expected = [3.535534] * 4 + [0, 26.870058, 28.319605, 6.363961]
    assert_allclose(model.outlier_scores_, expected, atol=1e-6)
    # a new row counts by the size of the cluster it falls into
    assert_allclose(model.score_samples([[0.5, 1.5]]), [-5.0])


def test_without_a_boundary_he_takes_all_as_large_and_pyod_refuses():
    # 5 and 5 + 2 are below 0.9 * 8 = 7.2; 5 / 2 and 2 / 1 are below 5
    model = CBLOF(THREE).fit(X)
    assert model.large_mask_.all()
    assert_allclose(model.outlier_scores_, TO_OWN, atol=1e-6)
    message = (
        r"^boundary='pyod' finds no boundary between clusters of sizes \[5, 2, 1\] "
        r"with large_share=0.9 and size_ratio=5.0; lower one of them or use "
        r"boundary='he'\.$"
    )
    with pytest.raises(ValueError, match=message):
        CBLOF(THREE, boundary="pyod").fit(X)


@pytest.mark.parametrize(
    ("sizes", "share", "ratio", "he", "pyod"),
    [
        # ratio met at 1, share at 2, both nowhere: pyod prefers the share
        ([10, 2, 2, 1], 0.8, 5, 1, 2),
        # share met at 1, both at 2 (8 + 8 >= 8.5, 8 / 1 >= 5): pyod prefers both
        ([8, 8, 1], 0.4, 5, 1, 2),
        ([8, 8, 1], 0.5, 5, 2, 2),
        # equality counts for both tests: 9 of 10 is 0.9, 11 / 10 is 1.1
        ([9, 1], 0.9, 50, 1, 1),
        ([11, 10], 0.99, 1.1, 1, 1),
        # only the ratio, and only at the second
        ([5, 5, 1, 1], 0.95, 5, 2, 2),
        # equal sizes: the first are large
        ([4, 4, 4], 0.6, 5, 2, 2),
    ],
)
def test_the_two_boundaries(sizes, share, ratio, he, pyod):
    for boundary, count in (("he", he), ("pyod", pyod)):
        model = CBLOF(large_share=share, size_ratio=ratio, boundary=boundary)
        expected = np.arange(len(sizes)) < count
        assert_array_equal(model._large(np.array(sizes)), expected, err_msg=boundary)
    shuffled = np.array(sizes)[::-1]
    n_large = CBLOF(large_share=share, size_ratio=ratio)._large(shuffled).sum()
    assert n_large == he


def test_one_cluster_is_large():
    model = CBLOF(KMeans(1, n_init=1)).fit(X)
    assert_array_equal(model.large_mask_, [True])
    distances = np.linalg.norm(X - X.mean(axis=0), axis=1)
    assert_allclose(model.outlier_scores_, distances)
    with pytest.raises(ValueError, match=r"^boundary='pyod' finds no boundary"):
        CBLOF(KMeans(1, n_init=1), boundary="pyod").fit(X)


class GivenCenters(ClusterMixin, BaseEstimator):
    """Returns what it was given."""

    def __init__(self, centers=None):
        self.centers = centers

    def fit(self, X, y=None):
        self.cluster_centers_ = self.centers
        return self


def test_empty_clusters_are_dropped():
    centers = np.insert(CENTERS, 1, [500, 500], axis=0)
    model = CBLOF(GivenCenters(centers), large_share=0.6).fit(X)
    assert_array_equal(model.cluster_centers_, CENTERS)
    assert_allclose(model.outlier_scores_, TO_LARGE, atol=1e-6)


def test_rows_that_the_clusterer_trimmed_belong_to_their_nearest_center():
    trimmed = TrimmedKMeans(2, contamination=1, init=CENTERS[:2], n_swaps=0)
    model = CBLOF(trimmed, large_share=0.6).fit(X)
    assert model.clusterer_.labels_[-1] == -1
    # (5, 5) is 6.36 from the first center, 7.43 from the second
    assert_array_equal(model.cluster_sizes_, [6, 2])
    assert_allclose(model.outlier_scores_[-1], C1, atol=1e-6)


def test_scores_are_those_of_the_definition():
    X, _, _ = make_outlier_blobs(300, 3, 5, separation=2.0, random_state=4)
    model = CBLOF(RTKM(9, contamination=0.1, random_state=0), large_share=0.8).fit(
        X[:250]
    )
    D = np.sqrt(reference.squared_distances(X, model.cluster_centers_))
    own = D.argmin(axis=1)
    sizes = np.bincount(own[:250])
    assert_array_equal(model.cluster_sizes_, sizes)
    assert 0 < model.large_mask_.sum() < 9
    smallest_large = sizes[model.large_mask_].min()
    assert smallest_large >= sizes[~model.large_mask_].max()
    to_large = D[:, model.large_mask_].min(axis=1)
    expected = np.where(model.large_mask_[own], D[np.arange(300), own], to_large)
    assert_allclose(-model.score_samples(X), expected, rtol=1e-12)
    assert_array_equal(-model.score_samples(X)[:250], model.outlier_scores_)


@pytest.mark.parametrize(
    "clusterer",
    [
        RTKM(2, contamination=0.1),
        KMeans(2),
        MeanShift(),
        AffinityPropagation(damping=0.8, random_state=0),
    ],
    ids=str,
)
def test_any_clusterer_with_centers_will_do(clusterer):
    before = vars(clusterer).copy()
    model = CBLOF(clusterer).fit(X)
    assert type(model.clusterer_) is type(clusterer)
    assert model.clusterer_ is not clusterer
    assert vars(clusterer) == before
    assert model.cluster_sizes_.sum() == 8


@pytest.mark.parametrize(
    "clusterer",
    [DBSCAN(), GivenCenters(), GivenCenters(np.empty((0, 2)))],
    ids=["none", "None", "empty"],
)
def test_a_clusterer_without_centers_is_refused(clusterer):
    with pytest.raises(ValueError, match=r"left no cluster_centers_; expected a"):
        CBLOF(clusterer).fit(X)


def test_the_default_is_k_means_of_at_most_eight_distinct_rows():
    model = CBLOF().fit(make_outlier_blobs(100, 2, 3, random_state=0)[0])
    assert isinstance(model.clusterer_, KMeans)
    assert model.clusterer_.n_clusters == 8
    few = CBLOF().fit(np.repeat(X[:3], 5, axis=0))
    assert few.clusterer_.n_clusters == 3
    assert_allclose(few.outlier_scores_, 0, atol=1e-15)
