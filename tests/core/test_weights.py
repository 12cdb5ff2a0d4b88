"""Row weights where a careless sum would show."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from rtkm import RTKM, TrimmedKMeans
from rtkm.seeding import robust_k_means_plus_plus


@pytest.mark.parametrize("weight", [1e-4, 1e4])
def test_a_common_weight_changes_no_step_of_the_published_iteration(blobs, weight):
    def fit(sample_weight):
        model = RTKM(3, contamination=0, step=5.0, init=blobs[:3], max_iter=9999)
        return model.fit(blobs, sample_weight=sample_weight)

    plain, weighted = fit(None), fit(np.full(len(blobs), weight))
    assert weighted.n_iter_ == plain.n_iter_
    assert_array_equal(weighted.labels_, plain.labels_)


def test_no_contamination_flags_no_row_however_weights_differ(blobs):
    rng = np.random.default_rng(0)
    for seed in range(20):
        weights = 10.0 ** rng.uniform(-13, 2, size=len(blobs))
        model = RTKM(3, contamination=0, step=5.0, n_init=1, max_iter=3)
        model.set_params(random_state=seed)
        with pytest.warns(UserWarning, match="stopped at max_iter"):
            model.fit(blobs, sample_weight=weights)
        assert model.n_outliers_ == 0


def test_robin_starts_from_no_row_without_weight(blobs):
    far = blobs[:20] + 500
    X = np.r_[blobs, far]
    weights = np.r_[np.ones(len(blobs)), np.zeros(20)]
    seen = []
    model = TrimmedKMeans(3, init="robin", n_swaps=0, on_step=seen.append)
    model.fit(X, sample_weight=weights)
    assert seen[0].C.max() < 400
    seen.clear()
    model.fit(blobs)
    alone = seen[0].C
    seen.clear()
    model.fit(X, sample_weight=weights)
    assert_array_equal(seen[0].C, alone)


def test_many_light_rows_may_lose_a_few_of_their_mass(blobs):
    # 400 rows of weight 0.02 make 8 rows in all; 3 trimmed leave 5 for 6 clusters
    model = RTKM(6, contamination=3, random_state=0)
    model.fit(blobs, sample_weight=np.full(400, 0.02))
    assert model.inlier_weights_.sum() == pytest.approx(250)


def test_a_seeding_function_of_ours_may_be_the_start(blobs):
    model = RTKM(
        3,
        contamination=0.1,
        init=robust_k_means_plus_plus,
        random_state=0,
        n_swaps=0,
        n_init=1,
    )
    named = RTKM(
        3,
        contamination=0.1,
        init="robust-k-means++",
        random_state=0,
        n_swaps=0,
        n_init=1,
    )
    assert_array_equal(model.fit(blobs).labels_, named.fit(blobs).labels_)
