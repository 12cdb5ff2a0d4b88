"""Every clusterer is a good citizen of scikit-learn."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from conftest import CLUSTERERS
from numpy.testing import assert_allclose, assert_array_equal
from promises import WEIGHTED, assert_same_fit, squared_distances
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from rtkm import RTKM, RelaxedKMeans


# some of its tables have fewer distinct rows than the default number of clusters, some
# too few to choose a number from, and some checks ask for one cluster
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:[0-9]+ rows? (is|are) too few to choose from")
@pytest.mark.filterwarnings("ignore:overlap=0.1 has no effect at n_clusters=1")
@parametrize_with_checks(
    [cls() for cls in CLUSTERERS]
    + [RTKM(step=1.1, n_init=1), RelaxedKMeans(step=1.1, n_init=1)]
)
def test_scikit_learn_checks_pass(estimator, check, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # without it one check is skipped
    check(estimator)


def test_pickle_and_clone(model, blobs):
    fitted = model.fit(blobs)
    again = pickle.loads(pickle.dumps(fitted))
    assert_same_fit(fitted, again)
    assert_array_equal(again.predict(blobs[::-1]), fitted.predict(blobs)[::-1])
    fresh = clone(fitted)
    assert fresh.get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        fresh.predict(blobs)


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_frames_go_in_and_come_out(clusterer, blobs, library):
    X, renamed = (
        library.DataFrame(dict(zip(n, blobs.T, strict=True))) for n in ("abc", "abz")
    )
    model = clusterer(3, n_init=2, random_state=0)
    model.set_output(transform=library.__name__)
    out = model.fit(X).transform(X)
    assert type(out) is library.DataFrame
    names = [f"{clusterer.__name__.lower()}{j}" for j in range(3)]
    assert list(out.columns) == names == list(model.get_feature_names_out())
    assert_allclose(out.to_numpy() ** 2, squared_distances(model, blobs), rtol=1e-12)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="unseen at fit time:\n- z\n"):
        model.predict(renamed)


def test_fit_takes_weights_where_they_mean_repetition_and_nowhere_else(clusterer):
    takes_weights = "sample_weight" in inspect.signature(clusterer.fit).parameters
    assert takes_weights == issubclass(clusterer, WEIGHTED)


@pytest.mark.parametrize("cls", WEIGHTED)
def test_weights_are_routed_through_meta_estimators(cls, blobs):
    weights = np.linspace(0, 3, 400)
    model = cls(3, n_init=2, random_state=0)
    scaled = StandardScaler().fit_transform(blobs)
    direct = clone(model).fit(scaled, sample_weight=weights)
    with config_context(enable_metadata_routing=True):
        model.set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, clone(model))
        pipeline.fit(blobs, sample_weight=weights)
        assert_same_fit(pipeline[-1], direct)
        assert_array_equal(pipeline.predict(blobs), direct.predict(scaled))
        search = GridSearchCV(model, {"n_clusters": [3]}, cv=2)
        search.fit(scaled, sample_weight=weights)
        assert_same_fit(search.best_estimator_, direct)
    assert_array_equal(search.score(scaled), direct.score(scaled))


def test_every_method_goes_through_pipelines_and_searches(clusterer, blobs):
    model = clusterer(3, n_init=2, random_state=0)
    scaled = StandardScaler().fit_transform(blobs)
    pipeline = make_pipeline(StandardScaler(), clone(model)).fit(blobs)
    search = GridSearchCV(model, {"n_clusters": [3]}, cv=2).fit(scaled)
    assert_same_fit(pipeline[-1], search.best_estimator_)
    assert search.cv_results_["mean_test_score"][0] < 0


def test_html_shows_the_name_and_the_parameters_that_were_set(clusterer):
    page = clusterer(n_clusters=5)._repr_html_()
    assert clusterer.__name__ in page
    assert "n_clusters" in page


# one other value for each parameter that some method has
OTHER = {
    "n_clusters": 2,
    "init": "random",
    "n_init": 1,
    "max_iter": 7,
    "tol": 0.1,
    "random_state": 5,
    "verbose": 1,
    "on_step": print,
    "contamination": 0.3,
    "n_outliers": 77,
    "max_outliers": 3,
    "n_memberships": 3,
    "step": 3.0,
    "n_swaps": 1,
    "cutoff_factor": 1.2,
    "outlier_step": "published",
    "overlap": 0.7,
    "overlap_penalty": 0.05,
    "penalty": "distance",
    "fuzzifier": 1.2,
    "membership_threshold": 0.05,
    "threshold": 0.5,
    "n_rounds": 2,
}


def answers(model, X):
    methods = "predict predict_memberships score_samples decision_function transform"
    yield from ((name, getattr(model, name)(X)) for name in methods.split())
    yield from ((name, getattr(model, name)) for name in ("labels_", "assignments_"))


def test_parameters_set_after_the_fit_change_no_answer(model, blobs):
    before = dict(answers(model.fit(blobs[:300]), blobs))
    for name in model.get_params():
        changed = pickle.loads(pickle.dumps(model)).set_params(**{name: OTHER[name]})
        for method, answer in answers(changed, blobs):
            assert_array_equal(answer, before[method], err_msg=f"{name}: {method}")
