"""The paper's tables: what the method, as described, gives on them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from paper_scores import WBC_F1, WBC_ME

from rtkm import RTKM, KMeansMinusMinus, TrimmedKMeans
from rtkm.datasets import load_wbc
from rtkm.metrics import average_f1, outlier_me


@pytest.fixture(scope="module")
def wbc():
    return load_wbc(return_X_y=True)


def scores(y, labels):
    return average_f1(-y, labels), outlier_me(y == 1, labels == -1)


# Breast Cancer Wisconsin: one cluster, and every start gives the same answer

SHARES = np.linspace(0.25, 0.45, 10)


@pytest.mark.parametrize("init", ["random", "robust-k-means++"])
def test_wbc_scores_over_the_ten_shares_from_any_start(wbc, init):
    X, y = wbc
    for share, f1, me in zip(SHARES, WBC_F1, WBC_ME, strict=True):
        for seed in range(20):
            model = RTKM(1, contamination=float(share), init=init, random_state=seed)
            found = scores(y, model.fit_predict(X))
            assert_array_equal(np.round(found, 4), (f1, me))


@pytest.mark.parametrize(
    ("n_trimmed", "counts", "f1", "me"),
    [
        # int(0.34 * 699), as in the published program
        (237, (447, 226, 11, 15), 0.958673, 0.066714),
        # 0.34 * 699 = 237.66 rounded, as in the paper
        (238, (446, 226, 12, 15), 0.957126, 0.067531),
    ],
)
def test_wbc_counts_at_a_third_trimmed(wbc, n_trimmed, counts, f1, me):
    X, y = wbc
    labels = TrimmedKMeans(1, contamination=n_trimmed, random_state=0).fit_predict(X)
    out, malignant = labels == -1, y == 1
    found = [~out & ~malignant, out & malignant, out & ~malignant, ~out & malignant]
    assert tuple(int(rows.sum()) for rows in found) == counts
    assert_allclose(scores(y, labels), (f1, me), rtol=0, atol=5e-7)


def test_wbc_share_is_rounded_to_the_nearest_row(wbc):
    assert RTKM(1, contamination=0.34, random_state=0).fit(wbc[0]).n_outliers_ == 238


def test_wbc_ends_the_same_from_every_row(wbc):
    X, _ = wbc
    expected = TrimmedKMeans(1, contamination=237, random_state=0).fit(X)
    assert expected.objective_ == pytest.approx(4059.0173, abs=5e-5)
    for row in range(699):
        start = X[row : row + 1]
        model = KMeansMinusMinus(1, n_outliers=237, init=start).fit(X)
        assert_array_equal(model.labels_, expected.labels_)
        if row % 7 == 0:  # a hundred starts of the paper's own iteration
            relaxed = RTKM(1, contamination=237, init=start, step=1.1).fit(X)
            assert_array_equal(relaxed.labels_, expected.labels_)
            assert_allclose(relaxed.objective_, expected.objective_, rtol=1e-9)


def test_wbc_published_grid_by_truncated_counts(wbc):
    X, y = wbc
    f1 = (0.882, 0.904, 0.924, 0.942, 0.960, 0.961, 0.951, 0.936, 0.912, 0.891)
    me = (0.282, 0.224, 0.170, 0.117, 0.066, 0.049, 0.065, 0.092, 0.127, 0.159)
    found = [
        scores(y, KMeansMinusMinus(1, n_outliers=int(share * 699)).fit_predict(X))
        for share in SHARES
    ]
    assert_allclose(found, np.transpose([f1, me]), rtol=0, atol=5.1e-4)  # as printed


# Yeast with 150 rows of noise, every row in four clusters


@pytest.mark.slow
def test_yeast_noise_is_found_from_every_start(data_file):
    X = np.load(data_file("yeast_noise/data_yeast_noise.npy")).T
    noise = np.load(data_file("yeast_noise/labels_yeast_noise.npy"))[:, 14] == 1
    assert noise.sum() == 150
    for seed in range(20):
        model = RTKM(14, contamination=0.06, n_memberships=4, random_state=seed).fit(X)
        assert model.n_outliers_ == 154  # 0.06 * 2567 = 154.02
        assert outlier_me(noise, model.outlier_mask_) <= 0.03
        assert model.objective_ <= 8400
        assert_array_equal(model.assignments_.sum(axis=1), 4 * ~model.outlier_mask_)


# Shuttle, without its class column

BEST_KNOWN = {
    0.00: 6.99697e8,
    0.01: 3.12085e7,
    0.03: 2.62713e7,
    0.05: 2.31516e7,
    0.07: 2.09241e7,
    0.10: 1.83542e7,
}


@pytest.fixture(scope="module")
def shuttle(data_file):
    return np.loadtxt(data_file("shuttle.trn"))[:, :9]


@pytest.mark.slow
@pytest.mark.parametrize("share", BEST_KNOWN)
def test_shuttle_reaches_the_best_objective_known_from_every_start(shuttle, share):
    for seed in range(5):
        model = RTKM(3, contamination=share, random_state=seed).fit(shuttle)
        assert model.n_outliers_ == round(43_500 * share)
        assert model.objective_ <= BEST_KNOWN[share] * (1 + 1e-5)
