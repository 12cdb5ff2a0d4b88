"""ONNX graphs answer as the models do that they were made of."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import rtkm
from rtkm._registry import METHODS, all_classes
from rtkm.datasets import make_outlier_blobs

pytest.importorskip("onnx", reason="onnx is not installed")
runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

OTHERS = {"OKM", "ROKM", "MOC", "ESP", "ISP", "LDOF", "CBOD", "ClusterDetector"}


def run(model, X):
    graph = rtkm.to_onnx(model).SerializeToString()
    return runtime.InferenceSession(graph).run(None, {"X": X})


def assert_same(model, X):
    label, score = run(model, X)
    wanted = model.score_samples(X)
    digits = 1e-6 if X.dtype == np.float32 else 1e-12
    np.testing.assert_allclose(score, wanted, rtol=digits, atol=0)
    is_at_cut = np.isclose(wanted, model.offset_, rtol=digits, atol=0)
    np.testing.assert_array_equal(label[~is_at_cut], model.predict(X)[~is_at_cut])


def blobs(n_features=4, dtype=np.float64, n=400):
    return make_outlier_blobs(n, n_features=n_features, n_clusters=4, random_state=0)[
        0
    ].astype(dtype)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", sorted(METHODS.keys() - OTHERS))
@pytest.mark.parametrize("n_features", [1, 4, 300])
def test_answers_are_those_of_the_model(name, dtype, n_features):
    X = blobs(n_features, np.float64 if name == "TableModel" else dtype)
    model = all_classes()[name]()
    known = model.get_params()
    # at a fuzzifier of 2, centers of wide tables coincide
    given = {"n_clusters": 4, "n_memberships": 2, "fuzzifier": 1.1, "random_state": 0}
    model.set_params(**{key: value for key, value in given.items() if key in known})
    model.fit(X)
    new = np.random.default_rng(1).normal(scale=20, size=(500, n_features))
    assert_same(model, np.vstack([X, new.astype(X.dtype)]))
    # training rows keep their side of the cut, also those that define it
    label, _ = run(model, X)
    np.testing.assert_array_equal(label, model.predict(X))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", sorted(OTHERS))
def test_methods_that_look_at_more_than_centers_are_refused(name):
    model = all_classes()[name]().fit(blobs(n=60))
    with pytest.raises(TypeError, match=f"{name} cannot be written as ONNX"):
        rtkm.to_onnx(model)


def test_nothing_is_an_outlier_without_a_cut():
    X = blobs()
    model = rtkm.TrimmedKMeans(4, contamination=0, random_state=0).fit(X)
    assert model.offset_ == -np.inf
    label, _ = run(model, X * 1e6)
    assert label.min() == 0


def test_a_cluster_without_width_scores_nothing():
    X = np.repeat([[0.0, 0.0], [9.0, 9.0]], 5, axis=0)
    model = rtkm.ODC(2, random_state=0).fit(X)
    assert (model.mean_distances_ == 0).all()
    _, score = run(model, X + 1)
    assert (score == 0).all()


def test_weights_of_clusters_count():
    X = blobs()
    assert_same(rtkm.CBLOF(weighted=True).fit(X), X)


def test_missing_values_have_no_score():
    X = blobs()
    model = rtkm.RTKM(4, contamination=0.1, random_state=0).fit(X)
    X[2, 1] = np.nan
    label, score = run(model, X)
    assert label[2] == -3
    assert np.isnan(score[2])
    assert np.isfinite(np.delete(score, 2)).all()


@pytest.mark.parametrize("missing", ["median", "drop", {"b": "median", "*": "drop"}])
@pytest.mark.parametrize("scale", ["none", "robust"])
@pytest.mark.parametrize("log", [(), ["c"]])
def test_a_table_model_takes_numbers_as_they_are(missing, scale, log):
    frame = pd.DataFrame(blobs(3), columns=list("abc"))
    frame["a"] *= 1000
    frame["c"] = np.exp(frame["c"] / 10).round(1)
    frame.loc[3, "b"] = frame.loc[5, "a"] = np.nan
    model = rtkm.TableModel(
        rtkm.RTKM(4, contamination=0.1, random_state=0),
        missing=missing,
        scale=scale,
        log=log,
    ).fit(frame)
    new = frame.copy()
    new.loc[7, "c"], new.loc[8, "b"], new.loc[9, "c"] = -1.0, np.inf, 0.0
    columns = list(model.preparation_.columns)
    label, score = run(model, new[columns].to_numpy())
    np.testing.assert_array_equal(label, model.predict(new))
    np.testing.assert_allclose(score, model.score_samples(new), rtol=1e-11)


def test_categories_are_refused():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 9.0] * 5, "b": list("xyxy") * 5})
    model = rtkm.TableModel(rtkm.RTKM(2, random_state=0), categories=["b"]).fit(frame)
    with pytest.raises(TypeError, match="with categories cannot be written as ONNX"):
        rtkm.to_onnx(model)


def test_a_model_has_to_be_fitted():
    with pytest.raises(NotFittedError):
        rtkm.to_onnx(rtkm.RTKM(2))


def test_the_graph_says_who_wrote_it():
    model = rtkm.to_onnx(rtkm.RTKM(2, random_state=0).fit(blobs()))
    assert (model.producer_name, model.producer_version) == ("rtkm", rtkm.__version__)
