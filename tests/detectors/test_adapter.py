"""ClusterDetector: the clusterer's own outliers, or so many rows by its score."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import DBSCAN, KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rtkm import RTKM, ClusterDetector, KMeansMinusMinus, RelaxedKMeans, TrimmedKMeans

X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [40.0]])


@pytest.mark.parametrize(
    "clusterer",
    [
        RTKM(4, contamination=0.1, n_memberships=2, random_state=0),
        TrimmedKMeans(3, contamination=7, random_state=0),
        KMeansMinusMinus(3, n_outliers=0.05, random_state=0),
        RelaxedKMeans(3, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_auto_is_what_the_clusterer_says(clusterer, blobs):
    model = ClusterDetector(clusterer).fit(blobs[:300])
    direct = clusterer.fit(blobs[:300])
    assert_array_equal(model.outlier_mask_, direct.outlier_mask_)
    assert_array_equal(model.outlier_scores_, direct.outlier_scores_)
    assert model.offset_ == direct.offset_
    assert model.n_outliers_ == direct.n_outliers_
    assert_array_equal(model.score_samples(blobs), direct.score_samples(blobs))
    assert_array_equal(model.predict(blobs) == -1, direct.predict(blobs) == -1)


def test_a_number_marks_so_many_rows_by_the_score():
    clusterer = RTKM(2, contamination=1, random_state=0)
    model = ClusterDetector(clusterer, contamination=3).fit(X)
    # centers 1 and 11: squared distances 1, 0, 1, 1, 0, 1, 841; of the four rows at 1
    # the first two stay
    assert_allclose(model.outlier_scores_, [1, 0, 1, 1, 0, 1, 841])
    assert_array_equal(model.outlier_mask_, [0, 0, 0, 1, 0, 1, 1])
    assert_allclose(model.offset_, -1)


def test_a_clusterer_without_scores_has_distances_to_its_centers():
    centers = np.array([[1.0], [11.0]])
    clusterer = KMeans(2, init=centers, n_init=1, max_iter=1)
    model = ClusterDetector(clusterer, contamination=1).fit(X)
    # the second center is the mean of 10, 11, 12 and 40, 18.25
    assert_allclose(model.clusterer_.cluster_centers_, [[1], [18.25]])
    expected = [1, 0, 1, 8.25, 7.25, 6.25, 21.75]
    assert_allclose(model.outlier_scores_, expected)
    assert_allclose(model.offset_, -(8.25 + 21.75) / 2)
    assert_array_equal(model.predict([[-14.0], [-14.1]]), [1, -1])


def test_a_pipeline_with_scores_will_do():
    clusterer = make_pipeline(
        StandardScaler(), RTKM(2, contamination=1, random_state=0)
    )
    model = ClusterDetector(clusterer, contamination=1).fit(X)
    assert_array_equal(model.predict(X), [1, 1, 1, 1, 1, 1, -1])


def test_auto_needs_a_clusterer_with_outliers():
    message = (
        r"^contamination='auto' takes the outliers of the clusterer, and "
        r"KMeans\(n_clusters=2\) finds none; give a share or a number of rows\.$"
    )
    with pytest.raises(ValueError, match=message):
        ClusterDetector(KMeans(2)).fit(X)


def test_a_clusterer_without_scores_and_centers_is_refused():
    message = (
        r"^clusterer=DBSCAN\(\) has neither score_samples nor cluster_centers_; "
        r"expected a clusterer with one of them, such as RTKM\.$"
    )
    with pytest.raises(ValueError, match=message):
        ClusterDetector(DBSCAN(), contamination=1).fit(X)


@pytest.mark.parametrize("contamination", ["auto", 0.2, 2])
def test_the_default_is_rtkm_with_this_contamination(blobs, contamination):
    model = ClusterDetector(contamination=contamination).fit(blobs)
    k = "auto" if contamination == "auto" else 8
    expected = RTKM(k, contamination=contamination, random_state=0).fit(blobs)
    assert type(model.clusterer_) is RTKM
    assert_array_equal(model.outlier_mask_, expected.outlier_mask_)
    if contamination == "auto":
        assert model.offset_ == expected.offset_


@pytest.mark.parametrize(("n", "k"), [(1, 1), (2, 2), (8, 7), (9, 8)])
def test_the_default_has_fewer_clusters_for_few_rows(n, k):
    # of 8 rows 0.8, rounded to 1, are trimmed
    detector = ClusterDetector(contamination=0.1)
    assert detector.fit(np.arange(n)[:, None]).clusterer_.n_clusters == k
    assert detector.fit(np.ones((n, 2))).clusterer_.n_clusters == 1
