"""What every detector promises, whichever method it is."""

from __future__ import annotations

import os
import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import reference
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone, is_outlier_detector
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from rtkm import CBLOF, CBOD, LDOF, RTKM, ClusterDetector, TrimmedKMeans
from rtkm.datasets import make_outlier_blobs

FITTED = "outlier_scores_ outlier_mask_ n_outliers_ offset_".split()


def assert_same_fit(a, b):
    for name in FITTED:
        assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


def judges_new_rows(model):
    """LDOF does so, by its own choice, only with novelty=True."""
    return hasattr(model, "predict")


def for_new_rows(model):
    return model.set_params(novelty=True) if isinstance(model, LDOF) else model


def uses_k_means(model):
    return isinstance(getattr(model, "clusterer", None), KMeans)


def n_expected(model, n_rows):
    """The outliers asked for, if the detector is told their number."""
    share = getattr(model, "contamination", None)
    if share is None or share == "auto":
        return None
    return reference.n_outlier_rows(share, n_rows)


# scikit-learn's own checks


def expected_failures(estimator):
    """Return the checks that want outliers in blobs where RTKM finds none."""
    if repr(estimator) != "ClusterDetector()":
        return {}
    names = "check_outliers_train", "check_outliers_fit_predict"
    return dict.fromkeys(names, "no row of these blobs stands out")


@pytest.mark.filterwarnings("ignore:[0-9]+ rows? (is|are) too few to choose from")
@parametrize_with_checks(
    [
        CBLOF(),
        CBLOF(TrimmedKMeans(2, random_state=0), weighted=True),
        LDOF(),
        LDOF(novelty=True),
        CBOD(),
        ClusterDetector(),
        ClusterDetector(contamination=0.1),
        ClusterDetector(KMeans(2, n_init=1, random_state=0), contamination=0.1),
    ],
    expected_failed_checks=expected_failures,
)
# two clusters are too many for a table of one row or of equal ones
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_checks_pass(estimator, check, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # without it one check is skipped
    check(estimator)


def test_every_class_is_a_detector(detector_class):
    assert is_outlier_detector(detector_class())


# Fitted attributes


def test_attributes_agree_with_each_other(detector, blobs):
    detector.fit(blobs)
    assert detector.outlier_scores_.dtype == np.float64
    assert detector.outlier_scores_.shape == (400,)
    assert detector.outlier_mask_.dtype == bool
    assert detector.n_outliers_ == detector.outlier_mask_.sum()
    assert detector.n_features_in_ == 3
    if n_expected(detector, 400) is not None:
        assert detector.n_outliers_ == n_expected(detector, 400)
    assert 0 < detector.n_outliers_ < 400
    last_kept = detector.outlier_scores_[~detector.outlier_mask_].max()
    first_out = detector.outlier_scores_[detector.outlier_mask_].min()
    assert last_kept < -detector.offset_ < first_out
    # CBOD cuts between clusters, and a clusterer by itself
    if n_expected(detector, 400) is not None:
        assert_allclose(detector.offset_, -(last_kept + first_out) / 2, rtol=1e-12)


def test_fit_predict_says_who_the_outliers_are(detector, blobs):
    if not hasattr(detector, "fit_predict"):
        pytest.skip("LDOF with novelty=True has no fit_predict, as in scikit-learn")
    answer = clone(detector).fit_predict(blobs)
    detector.fit(blobs)
    assert_array_equal(answer, np.where(detector.outlier_mask_, -1, 1))
    if judges_new_rows(detector):
        assert_array_equal(detector.predict(blobs), answer)
        assert_array_equal(detector.score_samples(blobs), -detector.outlier_scores_)


def test_scores_offset_and_decisions_fit_together(detector, blobs):
    for_new_rows(detector).fit(blobs[:300])
    scores = detector.score_samples(blobs)
    assert scores.dtype == np.float64
    assert_array_equal(detector.decision_function(blobs), scores - detector.offset_)
    outlying = detector.decision_function(blobs) < 0
    assert_array_equal(detector.predict(blobs), np.where(outlying, -1, 1))


def test_a_row_far_away_is_an_outlier(detector, blobs):
    for_new_rows(detector).fit(blobs)
    assert_array_equal(detector.predict(blobs.max(axis=0) * [[1e3], [-1e3]]), [-1, -1])


# The same answer for the same question


def test_the_same_table_gives_the_same_fit(detector, blobs):
    before = blobs.copy()
    assert_same_fit(clone(detector).fit(blobs), detector.fit(blobs))
    assert_array_equal(blobs, before)


def test_the_order_of_the_rows_does_not_matter(detector, blobs):
    if isinstance(detector, CBOD):
        pytest.skip("clusters of CBOD grow in the order of the rows")
    if isinstance(getattr(detector, "clusterer", None), KMeans):
        pytest.skip("scikit-learn's k-means++ draws by the number of the row")
    order = np.random.default_rng(0).permutation(400)
    shuffled = clone(detector).fit(blobs[order])
    detector.fit(blobs)
    scores = detector.outlier_scores_[order]
    assert_allclose(shuffled.outlier_scores_, scores, rtol=1e-7, atol=1e-9)
    assert_array_equal(shuffled.outlier_mask_, detector.outlier_mask_[order])


def test_pickle_and_clone(detector, blobs):
    fitted = for_new_rows(detector).fit(blobs)
    again = pickle.loads(pickle.dumps(fitted))
    assert_same_fit(fitted, again)
    assert_array_equal(again.score_samples(blobs), fitted.score_samples(blobs))
    fresh = clone(fitted)
    assert str(fresh) == str(fitted)
    with pytest.raises(NotFittedError):
        fresh.predict(blobs)


def test_parameters_set_after_the_fit_change_no_answer(detector, blobs):
    for_new_rows(detector).fit(blobs)
    scores = detector.score_samples(blobs)
    changes = {
        "clusterer": RTKM(2, contamination=0.1),
        "weighted": True,
        "large_share": 0.1,
        "n_neighbors": 3,
        "radius": 5.0,
        "contamination": 0.4,
    }
    known = {k: v for k, v in changes.items() if k in detector.get_params()}
    detector.set_params(**known)
    assert_array_equal(detector.score_samples(blobs), scores)


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two processors")
def test_threads_do_not_change_a_bit(detector):
    if uses_k_means(detector):
        pytest.skip("scikit-learn's k-means adds up in the order threads come in")
    X = make_outlier_blobs(6000, 8, 5, random_state=0)[0]
    fits = []
    for limit in (1, 2):
        with threadpool_limits(limit):
            fits.append(clone(detector).fit(X))
    assert_same_fit(*fits)


# How many


@pytest.mark.parametrize("contamination", [0, 0.0, 3, 0.1, 0.0125])
def test_exactly_as_many_outliers_as_asked_for(detector_class, blobs, contamination):
    if detector_class is CBOD:
        pytest.skip("CBOD is told a share of the rows at least")
    model = for_new_rows(detector_class(contamination=contamination)).fit(blobs)
    # 0.0125 * 400 is 5
    expected = {0: 0, 3: 3, 0.1: 40, 0.0125: 5}[contamination]
    assert model.n_outliers_ == expected
    if expected == 0:
        assert model.offset_ == -np.inf
        assert_array_equal(model.predict(blobs), 1)


def test_ties_at_the_cut_keep_the_first_rows(detector_class):
    if detector_class is CBOD:
        pytest.skip("CBOD marks whole clusters")
    model = detector_class(contamination=4)
    if detector_class is LDOF:
        model.set_params(n_neighbors=2)
    model.fit(np.ones((10, 2)))
    assert_array_equal(model.outlier_mask_, [False] * 6 + [True] * 4)


@pytest.mark.parametrize(("contamination", "asked"), [(30, 30), (31, 31), (0.99, 30)])
def test_no_detector_makes_outliers_of_all(detector_class, blobs, contamination, asked):
    if detector_class is CBOD:
        pytest.skip("CBOD always leaves a cluster")
    message = (
        f"contamination={contamination!r} asks for {asked} outliers; X has "
        "n_samples=30, so ask for fewer."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        detector_class(contamination=contamination).fit(blobs[:30])


# Parameters


SHARE = "a share in [0, 1) or a number of rows, 0 or more (write 1 for one row)"
CLUSTERER = "None or a clusterer, such as RTKM(n_clusters=5)"
OPEN_SHARE = "a number above 0 and below 1"


@pytest.mark.parametrize(
    ("model", "parameter", "wanted"),
    [
        *((CBLOF(size_ratio=v), "size_ratio", "a number above 1") for v in (1, 0, -2)),
        (CBLOF(size_ratio="5"), "size_ratio", "a number above 1"),
        *((CBLOF(large_share=v), "large_share", OPEN_SHARE) for v in (0, 1, 1.5, -0.1)),
        (CBLOF(large_share=np.nan), "large_share", OPEN_SHARE),
        (CBLOF(boundary="elki"), "boundary", "'he' or 'pyod'"),
        (CBLOF(boundary=None), "boundary", "'he' or 'pyod'"),
        (CBLOF(weighted="yes"), "weighted", "True or False"),
        *((CBLOF(v), "clusterer", CLUSTERER) for v in (8, "KMeans", StandardScaler())),
        (CBLOF(KMeans), "clusterer", CLUSTERER),
        (ClusterDetector(LDOF()), "clusterer", CLUSTERER),
        (ClusterDetector([RTKM()]), "clusterer", CLUSTERER),
        (ClusterDetector(contamination="all"), "contamination", f"'auto' or {SHARE}"),
        *((LDOF(contamination=v), "contamination", SHARE) for v in (1.0, -1, "auto")),
        (CBLOF(contamination=-0.1), "contamination", SHARE),
        *(
            (LDOF(n_neighbors=v), "n_neighbors", "'auto' or an integer of at least 2")
            for v in (1, 0, 2.0, None, True)
        ),
        (LDOF(novelty=1), "novelty", "True or False"),
        *(
            (CBOD(radius=v), "radius", "'auto' or a positive number")
            for v in (0, -1.0, np.inf, "big", None)
        ),
        *(
            (CBOD(min_outlier_share=v), "min_outlier_share", OPEN_SHARE)
            for v in (0, 1, 2.5, "auto")
        ),
    ],
    ids=str,
)
def test_bad_parameters_are_refused_by_name(model, parameter, wanted, blobs):
    value, owner = getattr(model, parameter), type(model).__name__
    message = f"{parameter}={value!r} is not valid for {owner}; expected {wanted}."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        model.fit(blobs)
    assert not hasattr(model, "n_features_in_")


# Kinds of tables


KINDS = {
    "fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=0)[::2],
    "list": np.ndarray.tolist,
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_kind_of_table_does_not_matter(detector, blobs, kind):
    for_new_rows(detector)
    if sparse.issparse(kind(blobs)) and not get_tags(detector).input_tags.sparse:
        with pytest.raises(TypeError, match="Sparse data was passed"):
            detector.fit(kind(blobs))
        return
    blobs[np.abs(blobs) < 1] = 0  # so that CSR has something to leave out
    expected, other = clone(detector).fit(blobs), detector.fit(kind(blobs))
    assert_allclose(other.outlier_scores_, expected.outlier_scores_, atol=1e-6)
    assert_array_equal(other.outlier_mask_, expected.outlier_mask_)
    assert_array_equal(other.predict(kind(blobs)), expected.predict(blobs))


def test_float32_agrees_with_float64(detector):
    X = make_outlier_blobs(1000, 3, 5, random_state=3)[0]
    for_new_rows(detector)
    single, double = clone(detector).fit(X.astype(np.float32)), detector.fit(X)
    assert np.mean(single.outlier_mask_ == double.outlier_mask_) >= 0.99
    assert np.mean(single.predict(X) == double.predict(X)) >= 0.99
    assert single.score_samples(X).dtype == np.float64
    for name in ("cluster_centers_", "_rows", "_ends"):
        if hasattr(single, name):
            assert getattr(single, name).dtype == np.float32


def test_frames_are_known_by_their_columns(detector, blobs):
    X, renamed = (
        pd.DataFrame(dict(zip(n, blobs.T, strict=True))) for n in ("abc", "abz")
    )
    model = for_new_rows(detector).fit(X)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert_array_equal(model.predict(X), clone(model).fit(blobs).predict(blobs))
    with pytest.raises(ValueError, match="unseen at fit time:\n- z\n"):
        model.predict(renamed)


def test_a_pipeline_scales_first(detector, blobs):
    X = blobs * [1, 1000, 0.001]
    model = for_new_rows(detector)
    pipeline = make_pipeline(StandardScaler(), clone(model)).fit(X)
    scaled = StandardScaler().fit_transform(X)
    direct = model.fit(scaled)
    assert_array_equal(pipeline.predict(X), direct.predict(scaled))
    assert_array_equal(pipeline.score_samples(X), direct.score_samples(scaled))


def test_rows_far_from_the_origin_keep_their_digits(detector):
    # whole numbers, so that nothing is lost by the shift itself
    X = (make_outlier_blobs(300, 3, 4, random_state=0)[0] * 100).round()
    expected = clone(detector).fit(X)
    shifted = detector.fit(X + 2.0**30)
    assert_allclose(shifted.outlier_scores_, expected.outlier_scores_, rtol=1e-6)
    assert_array_equal(shifted.outlier_mask_, expected.outlier_mask_)


def test_duplicates_leave_no_nan(detector_class, duplicates):
    model = for_new_rows(detector_class()).fit(duplicates[::4])
    assert not np.isnan(model.outlier_scores_).any()
    assert not np.isnan(model.decision_function(duplicates[::40])).any()
    assert not np.isnan(model.offset_)


@pytest.mark.parametrize("n_rows", [1, 2, 5])
def test_few_and_equal_rows_work_with_the_defaults(detector_class, n_rows):
    if detector_class is LDOF:
        pytest.skip("LDOF of coinciding rows is 1, and needs three of them")
    # a clusterer would say that it cannot choose
    given = {"contamination": 0.1} if detector_class is ClusterDetector else {}
    model = detector_class(**given).fit(np.full((n_rows, 2), 0.3))
    assert_allclose(model.outlier_scores_, 0, atol=1e-15)
    assert model.n_outliers_ == (n_rows == 5 and detector_class is not CBOD)


def test_bad_rows_are_refused(detector, blobs):
    for_new_rows(detector).fit(blobs)
    name = type(detector).__name__
    with pytest.raises(ValueError, match=f"X has 2 features, but {name} is expecting"):
        detector.predict(blobs[:, :2])
    blobs[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"^Input X contains NaN\."):
        detector.score_samples(blobs)
    with pytest.raises(ValueError, match=r"^Input X contains NaN\."):
        detector.fit(blobs)
    blobs[0, 0] = 1e200
    for method in (detector.fit, detector.predict):
        with pytest.raises(ValueError, match=r"^column 0 spans 1e\+200, so squared"):
            method(blobs)
