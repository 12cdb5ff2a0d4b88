"""A saved and loaded model answers as before, to the last bit."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from conftest import CLUSTERERS, DETECTOR_MODELS, DETECTORS, MODELS
from promises import WEIGHTED, refuses
from saving import answers, assert_same_answers, bits, kept_names, reload
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import rtkm
from rtkm import CBLOF, LDOF, RTKM, ClusterDetector, FuzzyCMeans, KMeansMinusMinus
from rtkm.core.fields import NOT_SAVED, declared
from rtkm.models.container import unpack

SAVED = [*MODELS, *(d for d in DETECTOR_MODELS if not isinstance(d, LDOF))]
SAVED += [ClusterDetector(FuzzyCMeans(3, random_state=0), contamination=0.1)]


@pytest.fixture(params=SAVED, ids=str)
def estimator(request):
    """Every estimator that can be saved: an unfitted copy that tests may change."""
    return clone(request.param)


@pytest.fixture
def new_rows(blobs):
    """Rows of the same kind, and rows far from them."""
    return np.concatenate([blobs[::3] + 0.25, [[90.0, -90.0, 0.0], [0.0, 0.0, 0.0]]])


def test_every_public_estimator_is_in_the_lists_of_the_contract():
    public = {getattr(rtkm, name) for name in rtkm.__all__}
    classes = {item for item in public if isinstance(item, type)}
    estimators = {cls for cls in classes if issubclass(cls, BaseEstimator)}
    assert estimators == {*CLUSTERERS, *DETECTORS, rtkm.TableModel}


@pytest.mark.parametrize("fitted", [*MODELS, *DETECTOR_MODELS], ids=str)
def test_all_that_a_fit_leaves_is_declared(fitted, blobs):
    fitted = clone(fitted).fit(blobs)
    left = vars(fitted).keys() - fitted.get_params(deep=False).keys()
    kinds = declared(type(fitted))
    assert left <= kinds.keys()
    unset = {name for name in kinds if not hasattr(fitted, name)}
    assert unset <= {"feature_names_in_", "_sklearn_output_config"}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_answers_are_the_same_to_the_last_bit(
    estimator, dtype, blobs, new_rows, tmp_path
):
    fitted = estimator.fit(blobs.astype(dtype))
    assert_same_answers(reload(fitted, tmp_path), fitted, new_rows.astype(dtype))


def test_answers_are_the_same_after_a_fit_to_sparse_rows(
    estimator, blobs, new_rows, tmp_path
):
    if not get_tags(estimator).input_tags.sparse:
        pytest.skip("takes no sparse rows")
    fitted = estimator.fit(sparse.csr_array(np.where(blobs > 0, blobs, 0)))
    loaded = reload(fitted, tmp_path)
    assert_same_answers(loaded, fitted, new_rows)
    assert_same_answers(loaded, fitted, sparse.csr_array(new_rows))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_names_of_columns_are_kept(estimator, frame, blobs, new_rows, tmp_path):
    names = ["größe", "a\n\u2028\\\"<b>'", "\U0001f600 x" * 50]
    fitted = estimator.fit(frame(dict(zip(names, blobs.T, strict=True))))
    loaded = reload(fitted, tmp_path)
    assert loaded.feature_names_in_.tolist() == names
    assert bits(loaded.feature_names_in_) == bits(fitted.feature_names_in_)
    assert_same_answers(
        loaded, fitted, frame(dict(zip(names, new_rows.T, strict=True)))
    )
    with pytest.raises(ValueError, match="feature names should match"):
        loaded.predict(pd.DataFrame(new_rows, columns=["a", "b", "c"]))


@pytest.mark.parametrize("cls", WEIGHTED, ids=lambda cls: cls.__name__)
def test_answers_are_the_same_after_a_fit_with_weights(cls, blobs, new_rows, tmp_path):
    weights = np.random.default_rng(0).integers(0, 4, len(blobs)) / 2
    fitted = cls(4, random_state=0).fit(blobs, sample_weight=weights)
    assert_same_answers(reload(fitted, tmp_path), fitted, new_rows)


def test_attributes_about_the_model_are_kept(estimator, blobs, tmp_path):
    fitted = estimator.fit(blobs)
    loaded = reload(fitted, tmp_path)
    assert {"n_features_in_", "offset_", "n_outliers_"} <= set(kept_names(fitted))
    for name in kept_names(fitted):
        assert bits(getattr(loaded, name)) == bits(getattr(fitted, name)), name
    if isinstance(fitted, tuple(CLUSTERERS)):
        assert loaded.inertia_ == fitted.objective_
        names = loaded.get_feature_names_out().tolist()
        assert names == fitted.get_feature_names_out().tolist()


def test_parameters_are_kept(estimator, blobs, tmp_path):
    loaded = reload(estimator.fit(blobs), tmp_path)
    assert type(loaded) is type(estimator)
    assert repr(loaded) == repr(estimator)
    expected, found = estimator.get_params(), loaded.get_params()
    for name, value in expected.items():
        if not hasattr(value, "get_params"):
            assert found[name] == value, name
            assert type(found[name]) is type(value), name
    assert found.keys() == expected.keys()


def test_nothing_of_the_training_rows_is_kept(estimator, blobs, tmp_path):
    fitted = estimator.fit(blobs)
    loaded = reload(fitted, tmp_path)
    content = (tmp_path / "model.rtkm").read_bytes()
    _, arrays = unpack(content)
    assert all(len(blobs) not in array.shape for array in arrays.values())
    assert not any(
        row.tobytes() in content for row in blobs if not in_centers(row, arrays)
    )
    of_rows = [n for n, kind in declared(type(fitted)).items() if kind is NOT_SAVED]
    assert {"outlier_mask_", "outlier_scores_"} <= set(of_rows)
    for name in of_rows:
        assert hasattr(fitted, name)
        with refuses(
            f"{name} describes the training rows, of which a model file holds none; "
            "show rows to predict or score_samples, or fit again.",
            AttributeError,
        ):
            getattr(loaded, name)


def in_centers(row, arrays):
    """Whether a center is a row: that of a cluster of its own."""
    tables = [a for a in arrays.values() if a.ndim == 2]
    return any((row == other).all() for table in tables for other in table)


def test_what_is_missing_before_a_fit_is_missing_as_everywhere(estimator):
    name = type(estimator).__name__
    with refuses(f"{name!r} object has no attribute 'outlier_mask_'", AttributeError):
        _ = estimator.outlier_mask_
    with pytest.raises(NotFittedError):
        estimator.save("nowhere/at/all")


def test_a_loaded_model_can_be_fitted_copied_and_saved_again(
    estimator, blobs, new_rows, tmp_path
):
    fitted = estimator.fit(blobs)
    loaded = reload(fitted, tmp_path)
    first = (tmp_path / "model.rtkm").read_bytes()
    assert_same_answers(pickle.loads(pickle.dumps(loaded)), fitted, new_rows)
    assert_same_answers(reload(loaded, tmp_path), fitted, new_rows)
    assert (tmp_path / "model.rtkm").read_bytes() == first
    refitted = loaded.fit(blobs)
    assert bits(refitted.outlier_scores_) == bits(fitted.outlier_scores_)


IN_ANOTHER_PROCESS = """
import json, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from rtkm import load
from saving import answers, bits
folder = sys.argv[2]
X = np.load(f"{folder}/rows.npy")
found = [
    {name: repr(bits(v)) for name, v in answers(load(f"{folder}/{i}.rtkm"), X).items()}
    for i in range(int(sys.argv[3]))
]
print(json.dumps(found))
"""


@pytest.mark.slow
def test_answers_are_the_same_in_another_process(blobs, new_rows, tmp_path, request):
    np.save(tmp_path / "rows.npy", new_rows)
    expected = []
    for i, estimator in enumerate(SAVED):
        fitted = clone(estimator).fit(blobs)
        fitted.save(tmp_path / f"{i}.rtkm")
        found = answers(fitted, new_rows)
        expected.append({name: repr(bits(value)) for name, value in found.items()})
    tests = request.config.rootpath / "tests"
    program = [
        sys.executable,
        "-c",
        IN_ANOTHER_PROCESS,
        tests,
        tmp_path,
        f"{len(SAVED)}",
    ]
    done = subprocess.run(program, capture_output=True, check=True)
    assert json.loads(done.stdout) == expected


# What comes with the model


def test_answers_follow_what_was_fitted_not_what_was_set_later(
    blobs, new_rows, tmp_path
):
    fitted = RTKM(5, contamination=0.1, n_memberships=2, random_state=0).fit(blobs)
    fitted.set_params(n_clusters=2, n_memberships=1)
    loaded = reload(fitted, tmp_path)
    assert_same_answers(loaded, fitted, new_rows)
    assert loaded.predict_memberships(new_rows).shape == (len(new_rows), 5)
    assert loaded.n_clusters == 2


@pytest.mark.parametrize("kind", ["default", "pandas", "polars"])
def test_set_output_is_kept(kind, blobs, tmp_path):
    fitted = (
        RTKM(3, contamination=0.1, random_state=0).set_output(transform=kind).fit(blobs)
    )
    expected, found = fitted.transform(blobs), reload(fitted, tmp_path).transform(blobs)
    assert type(found) is type(expected)
    assert bits(np.asarray(found)) == bits(np.asarray(expected))


@pytest.mark.parametrize(
    "init",
    [
        [[0, 0, 0], [5, 5, 5]],
        ((0.1, 0.2, 0.3), (5.0, 5.0, 5.0)),
        np.array([[0.0, 0, 0], [5, 5, 5]], dtype=np.float32),
        np.array([[0, 0, 0], [5, 5, 5]], dtype=np.uint8),
        np.asfortranarray([[0.0, 1, 2], [5, 6, 7]]),
        pd.DataFrame([[0.0, 1, 2], [5, 6, 7]]),
    ],
    ids=["list", "tuples", "float32", "bytes", "fortran", "frame"],
)
def test_starting_centers_come_back_as_an_array(init, blobs, tmp_path):
    loaded = reload(
        RTKM(2, contamination=0.1, init=init, n_swaps=0).fit(blobs), tmp_path
    )
    assert isinstance(loaded.init, np.ndarray)
    assert loaded.init.tolist() == np.asarray(init).tolist()


def test_numbers_of_numpy_come_back_as_those_of_python(blobs, tmp_path):
    fitted = RTKM(np.int64(3), contamination=np.float32(0.1), verbose=np.False_ + 0)
    loaded = reload(fitted.set_params(random_state=np.uint32(7)).fit(blobs), tmp_path)
    assert loaded.get_params() == fitted.get_params()
    assert type(loaded.n_clusters) is int
    assert type(loaded.contamination) is float


def test_extra_and_versions_come_back(blobs, tmp_path):
    extra = {"scale": {"center": [0.1, -0.0]}, "ß\n": [None, True, 2**62, "x"]}
    fitted = KMeansMinusMinus(3, random_state=0).fit(blobs)
    fitted.save(tmp_path / "m", extra=extra)
    description = rtkm.describe_model(tmp_path / "m")
    assert description["extra"] == extra
    assert description["format"] == 5
    assert description["written_by"]["rtkm"] == rtkm.__version__
    assert description["model"]["method"] == "KMeansMinusMinus"
    assert description["model"]["parameters"] == fitted.get_params()
    assert description["model"]["learned"]["n_iter_"] == fitted.n_iter_
    fitted.save(tmp_path / "m")
    assert rtkm.describe_model(tmp_path / "m")["extra"] == {}


@pytest.mark.parametrize(
    "extra",
    [
        {1: "a"},
        {"a": (1, 2)},
        {"a": np.float32(1)},
        {"a": float("nan")},
        {"a": 2**63},
        {"a": {3}},
        [1],
        "text",
    ],
    ids=str,
)
def test_extra_that_json_cannot_tell_is_refused(extra, blobs, tmp_path):
    fitted = RTKM(2, contamination=0.1, random_state=0).fit(blobs)
    with refuses(
        f"the model is not saved: extra={extra!r} does not come back from JSON as it "
        "is; expected a dict of texts, finite numbers, lists and dicts by text."
    ):
        fitted.save(tmp_path / "m", extra=extra)
    assert list(tmp_path.iterdir()) == []


# What cannot be saved


@pytest.mark.parametrize("novelty", [False, True])
def test_ldof_which_needs_its_rows_says_so(novelty, blobs, tmp_path):
    with refuses(
        "the model is not saved: LDOF answers by its training rows, and no model file "
        "holds rows; keep the table and fit again, or use another method."
    ):
        LDOF(novelty=novelty).fit(blobs).save(tmp_path / "m")


def test_what_only_a_program_can_tell_is_refused(blobs, tmp_path):
    rng = np.random.RandomState(0)
    fitted = RTKM(2, contamination=0.1, random_state=rng).fit(blobs)
    with refuses(
        f"the model is not saved: random_state={rng!r} has no place in a file; call "
        "set_params(random_state=None) first, which changes no answer."
    ):
        fitted.save(tmp_path / "m")
    fitted.set_params(random_state=None, on_step=print)
    with pytest.raises(ValueError, match=r"call set_params\(on_step=None\) first"):
        fitted.save(tmp_path / "m")
    fitted.set_params(on_step=None, init=lambda X, k, random_state: X[:k])
    with pytest.raises(ValueError, match=r"set_params\(init='robust-k-means\+\+'\) fi"):
        fitted.save(tmp_path / "m")
    fitted.set_params(init="random")
    assert_same_answers(reload(fitted, tmp_path), fitted, blobs)


def test_parameters_that_are_not_allowed_are_refused_before_writing(blobs, tmp_path):
    fitted = (
        RTKM(2, contamination=0.1, random_state=0)
        .fit(blobs)
        .set_params(contamination=1.5)
    )
    with pytest.raises(ValueError, match=r"not saved: contamination=1\.5 is not valid"):
        fitted.save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_classes_of_others_are_refused(blobs, tmp_path):
    class Mine(RTKM):
        pass

    with pytest.raises(ValueError, match="not saved: Mine cannot be named in a file"):
        Mine(2, random_state=0).fit(blobs).save(tmp_path / "m")
    pipeline = make_pipeline(
        StandardScaler(), RTKM(2, contamination=0.1, random_state=0)
    )
    with pytest.raises(ValueError, match="not saved: Pipeline cannot be named in a"):
        ClusterDetector(pipeline, contamination=0.1).fit(blobs).save(tmp_path / "m")


@pytest.mark.parametrize(
    "clusterer",
    [KMeans(3, n_init=1, random_state=0), MiniBatchKMeans(3, n_init=1, random_state=0)],
    ids=str,
)
@pytest.mark.parametrize("detector", [CBLOF, ClusterDetector])
def test_of_a_clusterer_of_others_only_centers_are_kept(
    detector, clusterer, blobs, new_rows, tmp_path
):
    fitted = detector(clusterer, contamination=0.1).fit(blobs)
    loaded = reload(fitted, tmp_path)
    assert repr(loaded) == repr(fitted)
    assert_same_answers(loaded, fitted, new_rows)
    with refuses(
        "clusterer_ is no estimator of rtkm, so a model file holds its centers alone.",
        AttributeError,
    ):
        _ = loaded.clusterer_


def test_a_detector_keeps_its_clusterer(blobs, new_rows, tmp_path):
    fitted = CBLOF(RTKM(4, contamination=0.1, random_state=0)).fit(blobs)
    loaded = reload(fitted, tmp_path)
    assert_same_answers(loaded.clusterer_, fitted.clusterer_, new_rows)
    assert not hasattr(loaded.clusterer_, "labels_")
