"""Callbacks of scikit-learn, which has them since version 1.9, see every step."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from promises import assert_same_fit, with_rounds
from sklearn.base import clone

from rtkm import RTKM, TrimmedKMeans

pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")


class Listener:
    """A callback that writes down what it hears, and may end a start or the fit."""

    def __init__(self, last_step=None, last_start=None):
        self.heard, self.estimators = [], []
        self.last_step, self.last_start = last_step, last_start

    def setup(self, estimator, context):
        self.heard.append("setup")

    def teardown(self, estimator, context):
        self.heard.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.heard.append(f"begin {context.task_name} {context.task_id}")

    def on_fit_task_end(self, estimator, context, *, X, fitted_estimator):
        self.heard.append(f"end {context.task_name} {context.task_id}")
        self.estimators.append((context.task_name, X, fitted_estimator))
        if context.task_name == "step":
            return context.task_id == self.last_step
        return context.task_id == self.last_start

    def of(self, event):
        return [line for line in self.heard if line.startswith(event)]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_that_is_listened_to_is_the_same_fit(model, blobs):
    listener = Listener()
    alone = clone(with_rounds(model)).fit(blobs)
    told = clone(model).set_callbacks(listener).fit(blobs)
    assert_same_fit(alone, told)
    assert listener.heard[:3] == ["setup", "begin fit 0", "begin start 0"]
    assert listener.heard[-2:] == ["end fit 0", "teardown"]
    n_starts = len(listener.of("begin start"))
    assert listener.of("end start") == [f"end start {i}" for i in range(n_starts)]
    assert len(listener.of("begin step")) == len(listener.of("end step")) > 0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_steps_are_those_that_on_step_sees(model, blobs):
    listener, states = Listener(), []
    model.set_params(n_init=1, on_step=states.append)
    model.set_callbacks(listener).fit(blobs)
    assert len(listener.of("end step")) == len(states)
    found = [at for name, _, at in listener.estimators if name == "step"]
    for state, estimator in zip(states, found, strict=True):
        assert estimator.objective_ == state.objective
        centers = estimator.cluster_centers_.tolist()
        assert sorted(centers) == sorted(state.C.tolist())
        assert estimator.predict(blobs).shape == (400,)
    name, X, last = listener.estimators[-1]
    assert name == "fit"
    assert_array_equal(X, blobs)
    assert_array_equal(last.labels_, model.labels_)


def test_the_rows_that_a_callback_is_shown_cannot_be_changed(blobs):
    listener = Listener()
    TrimmedKMeans(3, random_state=0).set_callbacks(listener).fit(blobs)
    X = listener.estimators[0][1]
    with pytest.raises(ValueError, match="read-only"):
        X[0, 0] = 1.0


def test_a_callback_ends_a_start(blobs):
    listener = Listener(last_step=1)
    model = TrimmedKMeans(3, n_init=3, contamination=0.1, n_swaps=0, random_state=0)
    model.set_callbacks(listener).fit(blobs)
    steps = ["step 0", "step 1"]
    assert listener.of("end step") == [f"end {step}" for step in 3 * steps]
    assert not model.converged_
    assert (model.predict(blobs) >= -1).all()


def test_a_callback_ends_the_fit(blobs):
    listener = Listener(last_start=1)
    RTKM(3, contamination=0.1, n_init=5, random_state=0).set_callbacks(listener).fit(
        blobs
    )
    assert listener.of("end start") == ["end start 0", "end start 1"]
    assert listener.heard[-2:] == ["end fit 0", "teardown"]


def test_what_a_callback_raises_ends_the_fit_and_leaves_nothing_behind(blobs):
    class Broken(Listener):
        def on_fit_task_begin(self, estimator, context):
            super().on_fit_task_begin(estimator, context)
            if context.task_name == "step":
                raise ZeroDivisionError

    listener = Broken()
    model = TrimmedKMeans(3, random_state=0).set_callbacks(listener)
    before = set(vars(model))
    with pytest.raises(ZeroDivisionError):
        model.fit(blobs)
    assert listener.heard[-1] == "teardown"
    assert set(vars(model)) - before <= {"n_features_in_"}


def test_clones_have_the_callbacks_and_setting_none_takes_them_away(blobs):
    listener = Listener()
    model = clone(TrimmedKMeans(3, random_state=0).set_callbacks(listener))
    model.fit(blobs)
    assert listener.of("end fit")
    listener.heard.clear()
    model.set_callbacks().fit(blobs)
    assert listener.heard == []


def test_a_grid_search_hands_its_callbacks_down(blobs):
    from sklearn.model_selection import GridSearchCV

    class Wide(Listener):
        max_propagation_depth = None

    listener = Wide()
    grid = {"n_clusters": [2, 3]}
    model = TrimmedKMeans(n_init=1, random_state=0)
    search = GridSearchCV(model, grid, cv=2).set_callbacks(listener).fit(blobs)
    assert listener.of("begin step")
    alone = GridSearchCV(model, grid, cv=2).fit(blobs)
    assert_array_equal(
        search.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"]
    )


def test_models_with_callbacks_are_pickled_and_saved_as_others(blobs, tmp_path):
    model = TrimmedKMeans(3, random_state=0).fit(blobs)
    model.save(tmp_path / "without.rtkm")
    model.set_callbacks(Listener()).fit(blobs)
    model.save(tmp_path / "with.rtkm")
    files = [tmp_path / f"{name}.rtkm" for name in ("with", "without")]
    assert files[0].read_bytes() == files[1].read_bytes()
    again = pickle.loads(pickle.dumps(TrimmedKMeans(3, random_state=0).fit(blobs)))
    assert_array_equal(again.fit(blobs).labels_, model.labels_)


def test_without_callbacks_nothing_is_made_for_them(blobs, monkeypatch):
    def fail(*args, **options):
        raise AssertionError

    monkeypatch.setattr(TrimmedKMeans, "_init_callback_context", fail)
    assert np.isfinite(TrimmedKMeans(3, random_state=0).fit(blobs).objective_)
