"""What every clusterer promises, whichever method it is."""

from __future__ import annotations

import os
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import reference
from conftest import CLUSTERERS
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from rtkm import RTKM, RelaxedKMeans
from rtkm._table import n_threads
from rtkm.datasets import make_outlier_blobs

FITTED = (
    "cluster_centers_ labels_ memberships_ assignments_ outlier_mask_ outlier_scores_ "
    "inlier_weights_ objective_ objective_path_ offset_ n_iter_ n_outliers_"
).split()


def has_fixed_step(model):
    return getattr(model, "step", "auto") != "auto"


def n_memberships(model):
    return getattr(model, "n_memberships", 1)


def n_trimmed(model, mass):
    share = getattr(model, "contamination", getattr(model, "n_outliers", 0))
    return reference.n_outlier_rows(share, mass)


def squared_distances(model, X):
    return reference.squared_distances(X, model.cluster_centers_)


def assert_same_fit(a, b):
    for name in FITTED:
        assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


# scikit-learn's own checks


# some of its tables have fewer distinct rows than the default number of clusters
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [cls() for cls in CLUSTERERS]
    + [RTKM(step=1.1, n_init=1), RelaxedKMeans(step=1.1, n_init=1)]
)
def test_scikit_learn_checks_pass(estimator, check, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # without it one check is skipped
    check(estimator)


# Fitted attributes


def test_attributes_agree_with_each_other(model, blobs):
    model.fit(blobs)
    D = squared_distances(model, blobs)
    W, v = model.memberships_, model.inlier_weights_
    inliers = ~model.outlier_mask_
    assert model.labels_.dtype == np.int32
    assert_array_equal(model.outlier_mask_, model.labels_ == -1)
    assert model.n_outliers_ == model.outlier_mask_.sum() == n_trimmed(model, 400)
    assert_array_equal(model.assignments_, (W > 1e-10) & inliers[:, None])
    assert_allclose(W.sum(axis=1), n_memberships(model), rtol=0, atol=1e-9)
    nearest_of_its_own = np.where(model.assignments_, D, np.inf).argmin(axis=1)
    assert_array_equal(model.labels_[inliers], nearest_of_its_own[inliers])
    assert 0 <= v.min() <= v.max() <= 1
    assert_allclose(v.sum(), 400 - n_trimmed(model, 400), rtol=0, atol=1e-9)
    assert_allclose(model.objective_, v @ (W * D).sum(axis=1), rtol=1e-12)
    assert model.inertia_ == model.objective_ == model.objective_path_[-1]
    cost = np.sort(D, axis=1)[:, : n_memberships(model)].sum(axis=1)
    assert_allclose(model.outlier_scores_, cost, rtol=1e-12)
    assert model.converged_
    assert model.n_features_in_ == 3


def test_predict_repeats_the_labels_of_the_training_rows(model, blobs):
    labels = model.fit(blobs).labels_
    assert_array_equal(clone(model).fit_predict(blobs), labels)
    # a fixed step leaves rows where its last projection put them
    if not has_fixed_step(model):
        assert_array_equal(model.predict(blobs), labels)
        assert_array_equal(model.predict_memberships(blobs), model.memberships_)


def test_scores_offset_and_decisions_fit_together(model, blobs):
    model.fit(blobs[:300])
    scores = model.score_samples(blobs)
    assert_array_equal(scores[:300], -model.outlier_scores_)
    assert_array_equal(model.decision_function(blobs), scores - model.offset_)
    assert_array_equal(model.predict(blobs) == -1, model.decision_function(blobs) < 0)
    kept = scores >= model.offset_
    assert_allclose(model.score(blobs), scores[kept].sum(), rtol=1e-12)
    if n_trimmed(model, 300) == 0:
        assert model.offset_ == -np.inf
    else:
        last_kept = model.outlier_scores_[~model.outlier_mask_].max()
        first_out = model.outlier_scores_[model.outlier_mask_].min()
        assert last_kept < first_out
        assert_allclose(model.offset_, -(last_kept + first_out) / 2, rtol=1e-12)


def test_transform_gives_distances_to_the_centers(model, blobs):
    some = clone(model).fit_transform(blobs[:300])
    distances = model.fit(blobs[:300]).transform(blobs)
    assert_allclose(distances**2, squared_distances(model, blobs), rtol=1e-12)
    assert_array_equal(some, distances[:300])


def test_memberships_of_new_rows_are_their_nearest_centers(model, blobs):
    model.fit(blobs[:300])
    order = np.argsort(squared_distances(model, blobs), axis=1)
    expected = np.zeros(order.shape)
    np.put_along_axis(expected, order[:, : n_memberships(model)], 1.0, axis=1)
    assert_array_equal(model.predict_memberships(blobs), expected)


# Starts, and the same answer for the same question


@pytest.mark.parametrize("init", ["robust-k-means++", "k-means++", "random", "robin"])
def test_same_seed_gives_the_same_answer(model, blobs, init):
    model.set_params(init=init)
    assert_same_fit(clone(model).fit(blobs), clone(model).fit(blobs))
    rng = np.random.RandomState(0)
    first = clone(model).set_params(random_state=rng).fit(blobs)
    assert_same_fit(first, model.fit(blobs))


def test_what_the_caller_owns_stays_as_it_is(model, blobs):
    init, weights = blobs[: model.n_clusters].copy(), np.linspace(0.5, 2, 400)
    owned = [blobs, init, weights]
    copies = [array.copy() for array in owned]
    parameters = model.set_params(init=init).get_params()
    model.fit(blobs, sample_weight=weights)
    model.cluster_centers_[:] = 0
    for array, copy in zip(owned, copies, strict=True):
        assert_array_equal(array, copy)
    assert all(model.get_params()[name] is parameters[name] for name in parameters)


def test_init_may_be_an_array_or_a_callable(model, blobs):
    start = blobs[10 : 10 + model.n_clusters]
    calls = []

    def choose(X, n_clusters, random_state):
        calls.append((X.shape, n_clusters, type(random_state)))
        return start.tolist()

    first_centers = []
    model.set_params(on_step=lambda state: first_centers.append(state.C), n_init=1)
    by_array = clone(model).set_params(init=start).fit(blobs)
    assert_array_equal(first_centers[0], start)
    assert_same_fit(by_array, model.set_params(init=choose).fit(blobs))
    assert calls == [((400, 3), model.n_clusters, np.random.RandomState)]


@pytest.mark.parametrize("n_init", [1, 4, "auto"])
def test_the_best_of_n_init_starts_is_kept(model, blobs, n_init):
    objectives = []

    def watch(state):
        if state.n_iter == has_fixed_step(model):  # a fixed step starts with its first
            objectives.append(None)
        objectives[-1] = state.objective

    model.set_params(init="random", n_init=n_init, on_step=watch).fit(blobs)
    swaps = getattr(model, "n_swaps", 0) != 0 and not has_fixed_step(model)
    expected = (1 if swaps else 10) if n_init == "auto" else n_init
    assert len(objectives) == expected
    assert_allclose(model.objective_, min(objectives), rtol=1e-8)


@pytest.mark.parametrize("init", [np.eye(3), "robin"], ids=["array", "robin"])
def test_starts_that_never_differ_run_once(model, blobs, init):
    states = []
    model.set_params(init=init, n_clusters=3, n_init=5, on_step=states.append)
    model.fit(blobs)
    assert [s.n_iter for s in states].count(int(has_fixed_step(model))) == 1


# A good citizen of scikit-learn


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
    model = clusterer(3, random_state=0).set_output(transform=library.__name__)
    out = model.fit(X).transform(X)
    assert type(out) is library.DataFrame
    names = [f"{clusterer.__name__.lower()}{j}" for j in range(3)]
    assert list(out.columns) == names == list(model.get_feature_names_out())
    assert_allclose(out.to_numpy() ** 2, squared_distances(model, blobs), rtol=1e-12)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="unseen at fit time:\n- z\n"):
        model.predict(renamed)


def test_weights_are_routed_through_meta_estimators(clusterer, blobs):
    weights = np.linspace(0, 3, 400)
    model = clusterer(3, random_state=0)
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


def test_html_shows_the_name_and_the_parameters_that_were_set(clusterer):
    page = clusterer(n_clusters=5)._repr_html_()
    assert clusterer.__name__ in page
    assert "n_clusters" in page


# Watching a fit


def test_on_step_sees_feasible_states(model, blobs):
    states = []
    model.set_params(n_init=1, on_step=states.append).fit(blobs)
    k, kept = model.n_clusters, 400 - n_trimmed(model, 400)
    for state in states:
        assert state.C.shape == (k, 3)
        assert state.W.shape == (400, k)
        assert_allclose(state.W.sum(axis=1), n_memberships(model), rtol=0, atol=1e-9)
        assert_allclose(state.v.sum(), kept, rtol=0, atol=1e-9)
        for weights in (state.W, state.v):
            assert 0 <= weights.min() <= weights.max() <= 1
        cost = (state.W * reference.squared_distances(blobs, state.C)).sum(axis=1)
        assert_allclose(state.objective, state.v @ cost, rtol=1e-12)
    if model._n_swaps() == 0:  # a swap is not watched before it pays
        assert_array_equal([state.objective for state in states], model.objective_path_)
    assert_array_equal(states[-1].C, model.cluster_centers_)


def test_verbose_prints_every_step_and_silence_is_the_default(model, blobs, capsys):
    model.fit(blobs)
    assert capsys.readouterr() == ("", "")
    steps = []
    model.set_params(verbose=1, on_step=steps.append).fit(blobs)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(steps) > 1
    for line, state in zip(lines, steps, strict=True):
        name = type(model).__name__
        assert line == f"{name}: step {state.n_iter}, objective {state.objective:.9g}"


def test_stopping_early_warns(model, blobs):
    if hasattr(model, "n_swaps"):
        model.set_params(n_swaps=0)  # a swap may end at rest all the same
    start = blobs[np.argsort(blobs[:, 0])][: model.n_clusters]
    with pytest.warns(ConvergenceWarning, match="stopped at max_iter=2 with the"):
        model.set_params(init=start, max_iter=2).fit(blobs)
    assert not model.converged_
    assert model.n_iter_ == 2


def interrupt_at(n_iter):
    def on_step(state):
        if state.n_iter == n_iter:
            raise KeyboardInterrupt

    return on_step


def test_ctrl_c_raises_when_nobody_watches(model, blobs):
    with pytest.raises(KeyboardInterrupt):
        model.set_params(on_step=interrupt_at(2)).fit(blobs)
    assert not hasattr(model, "labels_")


def test_ctrl_c_keeps_the_best_state_when_verbose(model, blobs):
    start = blobs[np.argsort(blobs[:, 0])][: model.n_clusters]
    model.set_params(init=start, on_step=interrupt_at(2), verbose=1)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(blobs)
    assert f"{type(model).__name__} was interrupted" in str(caught[0].message)
    assert model.n_iter_ == 2
    assert not model.converged_
    cost = (model.memberships_ * squared_distances(model, blobs)).sum(axis=1)
    assert_allclose(model.objective_, model.inlier_weights_ @ cost, rtol=1e-12)


def test_ctrl_c_is_not_reported_as_reaching_max_iter(blobs):
    model = RTKM(3, init=blobs[:3], on_step=interrupt_at(2), verbose=1)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(blobs)
    assert [w for w in caught if "max_iter" in str(w.message)] == []


def test_parameters_set_after_the_fit_change_no_answer(blobs):
    model = RTKM(4, n_memberships=2, random_state=0).fit(blobs)
    scores = model.score_samples(blobs)
    model.set_params(n_memberships=1)
    assert_array_equal(model.score_samples(blobs), scores)
    assert_array_equal(model.predict_memberships(blobs).sum(axis=1), 2)


# Kinds of tables


KINDS = {
    "fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=0)[::2],
    "list": np.ndarray.tolist,
    "csr": sparse.csr_array,
    "csr_matrix": sparse.csr_matrix,
    "csc": sparse.csc_array,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_kind_of_table_does_not_matter(model, blobs, kind):
    blobs[np.abs(blobs) < 1] = 0  # so that CSR has something to leave out
    expected, other = clone(model).fit(blobs), model.fit(kind(blobs))
    assert_array_equal(other.labels_, expected.labels_)
    assert_allclose(other.cluster_centers_, expected.cluster_centers_, atol=1e-9)
    assert_allclose(other.objective_, expected.objective_, rtol=1e-9)
    assert_array_equal(other.predict(kind(blobs)), expected.predict(blobs))
    assert_allclose(other.transform(kind(blobs)), expected.transform(blobs), atol=1e-6)


def test_float32_stays_float32_and_agrees_with_float64(model):
    X = make_outlier_blobs(2000, 4, 6, separation=1.5, random_state=3)[0]
    single, double = clone(model).fit(X.astype(np.float32)), model.fit(X)
    assert single.cluster_centers_.dtype == np.float32
    assert single.transform(X).dtype == np.float32
    assert double.cluster_centers_.dtype == double.transform(X).dtype == np.float64
    assert np.mean(single.labels_ == double.labels_) >= 0.995
    assert np.mean(single.predict(X) == double.predict(X)) >= 0.995
    assert_allclose(single.objective_, double.objective_, rtol=1e-3)


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two processors")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_threads_do_not_change_a_bit(model, dtype):
    # 50_000 rows, 8 features and 25 clusters: enough work to be divided
    X = make_outlier_blobs(50_000, 8, 25, random_state=0)[0].astype(dtype)
    model.set_params(n_clusters=25, max_iter=4, n_init=1)
    if hasattr(model, "n_swaps"):
        model.set_params(n_swaps=2)
    fits = []
    for limit in (1, 2):
        with threadpool_limits(limit):
            assert n_threads() == limit
            fits.append(clone(model).fit(X))
    assert_same_fit(*fits)
