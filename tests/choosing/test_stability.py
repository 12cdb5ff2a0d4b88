"""How well clusters come back in fits to half of the rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import CLUSTERERS
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import rtkm
from rtkm import CBLOF, RTKM, KMeansMinusMinus, TableModel, TrimmedKMeans, stability
from rtkm.choosing.stability import each_fit, similarities
from rtkm.core.validation import make_table


def two_blobs_and_far_rows(seed=0):
    rng = np.random.RandomState(seed)
    X = np.concatenate([rng.normal(c, 1, (80, 2)) for c in (0, 20)])
    return np.concatenate([X, rng.uniform(100, 900, (8, 2))])


def test_similarities_by_hand():
    before = sparse.csr_array(np.array([[1, 0], [1, 0], [0, 1], [0, 1], [0, 0.0]]))
    after = sparse.csr_array(np.array([[0, 1], [0, 1], [0, 1], [1, 0], [1, 0.0]]))
    X = make_table(np.zeros((5, 1)))
    # {0, 1} is in {0, 1, 2}, and {2, 3} has a row of each
    assert_allclose(similarities(before, after, X), [[0, 2 / 3], [1 / 3, 1 / 4]])
    weighted = make_table(np.zeros((5, 1)), [1, 1, 3, 1, 0.0])
    assert_allclose(similarities(before, after, weighted), [[0, 2 / 5], [1 / 4, 3 / 6]])


@pytest.mark.parametrize("method", CLUSTERERS)
def test_clear_clusters_come_back(method):
    X = two_blobs_and_far_rows()[:160]
    model = method(2, random_state=0).fit(X)
    found = stability(model, X, 5, random_state=0)
    assert found.clusters.shape == (2,)
    assert found.labels.shape == found.sides.shape == (160,)
    assert found.clusters.min() > 0.75
    assert not found.unsure_clusters
    for values in (found.clusters, found.labels, found.sides):
        assert values.min() >= 0
        assert values.max() <= 1


def test_a_cluster_too_many_does_not_come_back():
    X = two_blobs_and_far_rows()
    model = RTKM(3, contamination=8, random_state=0).fit(X)
    found = stability(model, X, random_state=0)
    # which of the two groups is cut in two is a matter of chance
    assert len(found.unsure_clusters) >= 2
    assert len(found.unsure_rows) > 20
    assert "in part only" in found.summary()


def test_rows_of_clusters_that_become_one_do_not_all_keep_their_label():
    X = np.array([*[0.0] * 30, 5.0, 9.0])[:, None]
    model = KMeansMinusMinus(3, n_outliers=0, random_state=0).fit(X)
    found = stability(model, X, random_state=0)
    # a half has at most two of the three, but for one fit in four
    assert found.labels[-2:].sum() < 1.9
    assert len(found.unsure_rows) > 0


def test_names_of_columns_are_checked_and_not_warned_of():
    X = pd.DataFrame(two_blobs_and_far_rows(), columns=["a", "b"])
    model = RTKM(2, contamination=8, random_state=0).fit(X)
    found = stability(model, X, 3, random_state=0)
    assert found.clusters.min() > 0.9
    with pytest.raises(ValueError, match="feature names"):
        stability(model, X[["b", "a"]], 3)


def test_far_rows_stay_outside_and_rows_inside_stay_inside():
    X = two_blobs_and_far_rows()
    found = stability(RTKM(random_state=0).fit(X), X, random_state=0)
    assert_array_equal(found.sides[-8:], 1)
    # rows near the rim of so small a cluster may be flagged in one half or another
    from_center = np.minimum(abs(X), abs(X - 20)).max(axis=1)
    assert_array_equal(found.sides[from_center < 1], 1)
    assert found.sides[from_center < 2].mean() > 0.98
    assert_array_equal(found.labels[-8:], found.sides[-8:])
    assert (found.labels <= found.sides).all()


@pytest.mark.parametrize(
    "model",
    [
        RTKM(2, contamination=8, random_state=0),
        RTKM(2, contamination=0.05, random_state=0),
        RTKM(random_state=0),
        KMeansMinusMinus(2, n_outliers=8, random_state=0),
    ],
)
def test_halves_keep_the_numbers_of_the_fit(model):
    X = two_blobs_and_far_rows()
    model.fit(X)
    fits = list(each_fit(model, make_table(X), 3, np.random.RandomState(0)))
    for fit in fits:
        assert len(fit.cluster_centers_) == 2
        assert len(fit.labels_) == 84
        if model.get_params().get("contamination") != "auto":
            assert abs(fit.n_outliers_ - model.n_outliers_ / 2) <= 0.5
    # drawn anew each time
    assert not np.array_equal(fits[0].cluster_centers_, fits[1].cluster_centers_)


def test_it_is_reproducible_and_does_not_touch_the_model():
    X = two_blobs_and_far_rows()
    model = RTKM(3, contamination=0.1, random_state=0).fit(X)
    centers, labels = model.cluster_centers_.copy(), model.labels_.copy()
    first, second = (stability(model, X, 4, random_state=7) for _ in range(2))
    assert_array_equal(first.clusters, second.clusters)
    assert_array_equal(first.labels, second.labels)
    assert_array_equal(model.cluster_centers_, centers)
    assert_array_equal(model.labels_, labels)
    assert model.n_clusters == 3


def test_whole_weights_are_repetitions():
    rng = np.random.RandomState(0)
    X, weights = two_blobs_and_far_rows(), rng.randint(1, 4, 168)
    repeated = np.repeat(X, weights, axis=0)
    model = TrimmedKMeans(2, contamination=0.05, random_state=0)
    model.fit(X, sample_weight=weights)
    one = stability(model, X, 4, sample_weight=weights, random_state=0)
    other = stability(model, repeated, 4, random_state=0)
    assert_allclose(one.clusters, other.clusters)
    assert_array_equal(np.repeat(one.labels, weights), other.labels)


def test_the_order_of_rows_and_csr_do_not_matter():
    X = two_blobs_and_far_rows()
    model = RTKM(3, contamination=0.05, random_state=0).fit(X)
    order = np.random.RandomState(1).permutation(len(X))
    found = stability(model, X, 4, random_state=0)
    shuffled = stability(model, X[order], 4, random_state=0)
    assert_array_equal(found.labels[order], shuffled.labels)
    in_csr = stability(model, sparse.csr_array(X), 4, random_state=0)
    assert_allclose(found.clusters, in_csr.clusters)


def test_rows_beyond_the_most_are_labeled_too(monkeypatch):
    monkeypatch.setattr("rtkm.choosing.stability.MOST_ROWS", 50)
    monkeypatch.setattr("rtkm.choosing.stability.BLOCK", 30)
    X = two_blobs_and_far_rows()[:160]
    model = TrimmedKMeans(2, contamination=0, random_state=0).fit(X)
    (fit,) = each_fit(model, make_table(X), 1, np.random.RandomState(0))
    assert len(fit.labels_) == 25
    found = stability(model, X, 3, random_state=0)
    assert_array_equal(found.labels, np.ones(160))


def test_tables_and_models_from_files(tmp_path):
    X = two_blobs_and_far_rows()
    X[3, 1] = np.nan
    model = TableModel(RTKM(2, contamination=8, random_state=0), missing="drop").fit(X)
    model.save(tmp_path / "model.rtkm")
    found = stability(model, X, 3, random_state=0)
    loaded = stability(rtkm.load(tmp_path / "model.rtkm"), X, 3, random_state=0)
    assert np.isnan(found.labels[3])
    assert np.isfinite(np.delete(found.labels, 3)).all()
    assert_array_equal(found.labels, loaded.labels)
    assert 3 not in found.unsure_rows


def test_what_cannot_be_done_is_said():
    X = [[0.0], [1.0], [5.0], [6.0], [9.0]]
    model = TrimmedKMeans(3, contamination=0, random_state=0).fit(X)
    with pytest.raises(ValueError, match="5 rows are too few to fit 3 clusters"):
        stability(model, X)
    with pytest.raises(ValueError, match="n_resamples"):
        stability(model, X, 0)
    detector = CBLOF().fit(two_blobs_and_far_rows())
    with pytest.raises(ValueError, match="CBLOF has no clusters"):
        stability(detector, X)
