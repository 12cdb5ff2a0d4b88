"""The packaged table and the generated problems."""

import hashlib
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans

from rtkm import RTKM
from rtkm.datasets import load_wbc, make_clouds, make_outlier_blobs
from rtkm.metrics import average_f1, outlier_me

WBC_SHA256 = "aea8224e7c8a560032ede15684076231585e0b4309abb2fe1e99f2f6e32ce411"


def test_wbc_has_the_published_content():
    X, y = load_wbc(return_X_y=True)
    assert X.shape == (699, 9)
    assert X.dtype == np.float64
    assert hashlib.sha256(X.astype("<f8").tobytes()).hexdigest() == WBC_SHA256
    assert_array_equal(np.bincount(y), [458, 241])


def test_wbc_trimmed_mean_recovers_the_published_scores():
    # features and target belong together: 237 rows trimmed around one center give 447
    # inliers and 226 outliers right, and a sum of squares of 4059.0173
    X, y = load_wbc(return_X_y=True)
    center = X.mean(axis=0)
    for _ in range(50):
        cost = ((X - center) ** 2).sum(axis=1)
        order = np.argsort(cost, kind="stable")
        center = X[order[:462]].mean(axis=0)
    labels = np.zeros(699, dtype=int)
    labels[order[462:]] = -1
    assert cost[order[:462]].sum() == pytest.approx(4059.0173, abs=1e-4)
    assert average_f1(-y, labels) == pytest.approx(0.958673, abs=1e-6)
    assert outlier_me(y == 1, labels == -1) == pytest.approx(0.066714, abs=1e-6)


def test_wbc_missing_values_are_filled_as_asked():
    wbc = load_wbc(missing=float("nan"))
    gaps = np.isnan(wbc.data)
    assert gaps.sum() == gaps[:, wbc.feature_names.index("bare_nuclei")].sum() == 16
    assert (load_wbc().data[gaps] == 0).all()
    assert (load_wbc(missing=1).data[gaps] == 1).all()


def test_wbc_bunch_names_columns_classes_and_source():
    wbc = load_wbc()
    assert wbc.feature_names[::8] == ["clump_thickness", "mitoses"]
    assert wbc.target_names == ["benign", "malignant"]
    for credit in ("William H. Wolberg", "UCI", "CC BY 4.0", "10.24432/C5HP4Z"):
        assert credit in wbc.DESCR


def test_wbc_frame_holds_the_same_numbers():
    pytest.importorskip("pandas")
    wbc = load_wbc()
    X, y = load_wbc(return_X_y=True, as_frame=True)
    assert list(X.columns) == wbc.feature_names
    assert_array_equal(X.to_numpy(), wbc.data)
    assert_array_equal(y.to_numpy(), wbc.target)
    frame = load_wbc(as_frame=True).frame
    assert list(frame.columns) == [*wbc.feature_names, "class"]
    assert_array_equal(frame["class"].to_numpy(), wbc.target)


def test_wbc_frame_without_pandas_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="as_frame=True needs pandas; pip install"):
        load_wbc(as_frame=True)


@pytest.mark.parametrize(
    ("n_samples", "contamination", "n_outliers"),
    [(1000, 0.1, 100), (25, 0.1, 3), (24, 0.1, 2), (50, 0.29, 15), (10, 0.0, 0)],
)
def test_outliers_are_rounded_half_up(n_samples, contamination, n_outliers):
    # 25 * .1 = 2.5 -> 3; 24 * .1 = 2.4 -> 2; 50 * .29 = 14.499999999999998 -> 15
    X, labels, _ = make_outlier_blobs(n_samples, contamination=contamination)
    assert X.shape == (n_samples, 2)
    assert (labels == -1).sum() == n_outliers


def test_every_cluster_has_a_row():
    _, labels, _ = make_outlier_blobs(10, n_clusters=9, random_state=0)
    assert_array_equal(np.sort(labels), np.arange(-1, 9))


def test_blobs_have_the_stated_centers_sizes_and_spreads():
    X, labels, centers = make_outlier_blobs(
        100_000, n_features=16, n_clusters=100, separation=3.0, random_state=0
    )
    # 3 * 4 / sqrt(16) = 3, from 1600 draws: standard error 3 / sqrt(3200) = .05
    assert centers.std() == pytest.approx(3, abs=0.2)
    rows = [X[labels == label] for label in range(100)]
    means = np.array([each.mean(axis=0) for each in rows])
    assert_allclose(means, centers, atol=0.5)
    spreads = np.array([(r - c).std() for r, c in zip(rows, centers, strict=True)])
    # uniform on [.6, 1.4]: mean 1, standard deviation .8 / sqrt(12) = .23
    assert spreads.min() > 0.58
    assert spreads.max() < 1.42
    assert spreads.std() == pytest.approx(0.23, abs=0.05)
    # Dirichlet(5) shares vary by about 1 / sqrt(5) = .45 of their mean
    sizes = np.bincount(labels[labels >= 0])
    assert sizes.std() / sizes.mean() == pytest.approx(0.45, abs=0.1)


def test_outliers_fill_the_widened_box():
    X, labels, _ = make_outlier_blobs(20_000, contamination=0.5, random_state=0)
    clean, outliers = X[labels >= 0], X[labels == -1]
    low, high = clean.min(axis=0), clean.max(axis=0)
    place = (outliers - low) / (high - low)  # uniform on [-.6, 1.6]
    assert_allclose(place.min(axis=0), -0.6, atol=0.01)
    assert_allclose(place.max(axis=0), 1.6, atol=0.01)
    assert place.min() >= -0.6
    assert place.max() <= 1.6
    assert_allclose(place.mean(axis=0), 0.5, atol=0.03)


def test_far_clump_holds_a_third_of_the_outliers():
    X, labels, _ = make_outlier_blobs(900, far_clump=True, random_state=0)
    clean, outliers = X[labels >= 0], X[labels == -1]
    low, high = clean.min(axis=0), clean.max(axis=0)
    clump = outliers[(outliers > high + 1.1 * (high - low)).all(axis=1)]
    assert len(outliers) == 90
    assert len(clump) == 30
    assert_allclose(clump.mean(axis=0), high + 1.6 * (high - low), atol=0.1)
    assert_allclose(clump.std(axis=0), 0.1, atol=0.04)


def test_rows_are_shuffled():
    _, labels, _ = make_outlier_blobs(random_state=0)
    # sorted labels change 3 times; shuffled ones about 700 times in 1000
    assert (np.diff(labels) != 0).sum() > 500


def test_scale_multiplies_rows_and_centers():
    X, labels, centers = make_outlier_blobs(random_state=0)
    scaled = make_outlier_blobs(random_state=0, scale=1024.0)
    assert_array_equal(scaled[0], 1024 * X)
    assert_array_equal(scaled[1], labels)
    assert_array_equal(scaled[2], 1024 * centers)


def test_random_state_alone_decides_the_problem():
    first = make_outlier_blobs(random_state=3)[0]
    np.random.seed(0)
    before = np.random.get_state()[1].copy()
    assert_array_equal(make_outlier_blobs(random_state=3)[0], first)
    rng = np.random.RandomState(3)
    assert_array_equal(make_outlier_blobs(random_state=rng)[0], first)
    assert not np.array_equal(make_outlier_blobs(random_state=rng)[0], first)
    assert_array_equal(np.random.get_state()[1], before)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        *(
            (
                {name: value},
                f"{name}={value!r} is not valid for make_outlier_blobs; expected a "
                "whole number of at least 1.",
            )
            for name in ("n_samples", "n_features", "n_clusters")
            for value in (0, 2.5)
        ),
        *(
            (
                {"contamination": value},
                f"contamination={value!r} is not valid for make_outlier_blobs; "
                "expected a number in [0, 1).",
            )
            for value in (-0.1, 1.0, float("nan"))
        ),
        *(
            (
                {name: value},
                f"{name}={value!r} is not valid for make_outlier_blobs; expected a "
                "positive number.",
            )
            for name in ("separation", "scale")
            for value in (0, -1.0, float("inf"))
        ),
        (
            {"n_samples": 4, "n_clusters": 3, "contamination": 0.5},
            "n_clusters=3 needs at least 3 rows that are not outliers; n_samples=4 and "
            "contamination=0.5 leave 2.",
        ),
    ],
)
def test_make_outlier_blobs_refuses(params, message):
    with pytest.raises(ValueError, match=r"expected|leave") as caught:
        make_outlier_blobs(**params)
    assert str(caught.value) == message


@pytest.mark.parametrize("seed", range(5))
def test_clouds_show_how_outliers_mislead_k_means(seed):
    X, labels = make_clouds(random_state=seed)
    assert_array_equal(np.unique(labels, return_counts=True)[1], [2, 20, 20, 20])
    found = KMeans(3, n_init=20, random_state=0).fit(X)
    left, right = found.labels_[-2:]
    assert_array_equal(found.cluster_centers_[right], [40, 0])  # alone
    assert (found.labels_[labels == 0] == left).all()
    # the outlier drags the center of its cloud by a 21st of its distance
    dragged = found.cluster_centers_[left] - X[labels == 0].mean(axis=0)
    assert_allclose(dragged, (X[-2] - X[labels == 0].mean(axis=0)) / 21)
    assert len(set(found.labels_[labels > 0])) == 1  # the others share a center
    # a row between two clouds may go either way, but each cloud has its center
    robust = RTKM(3, contamination=2, random_state=0).fit(X)
    assert_array_equal(robust.outlier_mask_, labels == -1)
    means = np.array([X[labels == cloud].mean(axis=0) for cloud in range(3)])
    distances = np.linalg.norm(means[:, None] - robust.cluster_centers_, axis=2)
    assert set(distances.argmin(axis=1)) == {0, 1, 2}
    assert distances.min(axis=1).max() < 0.5


def test_clouds_are_where_and_as_wide_as_asked():
    centers = [[0.0, 0.0, 1.0], [50.0, 0.0, 0.0]]
    X, labels = make_clouds(10_000, centers, outliers=[], spread=2.0, random_state=1)
    assert X.shape == (20_000, 3)
    assert (labels >= 0).all()
    for cloud, center in enumerate(centers):
        rows = X[labels == cloud]  # standard error of a mean 2 / sqrt(10 000) = .02
        assert_allclose(rows.mean(axis=0), center, atol=0.1)
        assert_allclose(rows.std(axis=0), 2, atol=0.1)
    again = make_clouds(10_000, centers, outliers=[], spread=2.0, random_state=1)[0]
    assert_array_equal(again, X)
    assert not np.array_equal(make_clouds(random_state=2)[0], make_clouds()[0])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"n_samples": 0},
            "n_samples=0 is not valid for make_clouds; expected a whole number of at "
            "least 1.",
        ),
        (
            {"spread": -1},
            "spread=-1 is not valid for make_clouds; expected a positive number.",
        ),
        (
            {"centers": [1.0, 2.0]},
            "centers has shape (2,); expected finite numbers of shape (n_clusters, "
            "n_features).",
        ),
        (
            {"centers": [[1.0, np.nan]]},
            "centers has shape (1, 2); expected finite numbers of shape (n_clusters, "
            "n_features).",
        ),
        (
            {"outliers": [[1.0]]},
            "outliers has shape (1, 1); expected finite numbers of shape (n_outliers, "
            "2).",
        ),
    ],
)
def test_make_clouds_refuses(params, message):
    with pytest.raises(ValueError, match="expected") as caught:
        make_clouds(**params)
    assert str(caught.value) == message
