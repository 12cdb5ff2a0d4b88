"""Warnings point at the line that the user wrote."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rtkm import CBLOF, RTKM, ClusterDetector, FuzzyCMeans, NEOKMeans, metrics, seeding

X = np.random.default_rng(0).normal(size=(60, 2))
TWO_PLACES = np.repeat([[0.0, 0.0], [9.0, 1.0]], 4, axis=0)


def interrupt(state):
    raise KeyboardInterrupt


# one for each place that warns: what is fitted, and to which table
CASES = {
    "cut_off": (RTKM(2, contamination=0.1, max_iter=1, step=1.1, random_state=0), X),
    "in_all_clusters": (RTKM(2, contamination=0.1, n_memberships=2, random_state=0), X),
    "too_many_clusters": (RTKM(3, contamination=0, random_state=0), TWO_PLACES),
    "no_overlap": (NEOKMeans(1, contamination=0.0, random_state=0), X),
    "blurred": (FuzzyCMeans(2, fuzzifier=50.0, random_state=0), X),
    "interrupted": (
        RTKM(2, contamination=0.1, verbose=1, on_step=interrupt, random_state=0),
        X,
    ),
}

# each on a line of its own, which is the one to point at
CALLS = {
    "fit": lambda model, X: model.fit(X),
    "fit_predict": lambda model, X: model.fit_predict(X),
    "fit_transform": lambda model, X: model.fit_transform(X),
    "set_output": lambda model, X: model.set_output(transform="pandas").fit_transform(
        X
    ),
    "pipeline": lambda model, X: make_pipeline(StandardScaler(), model).fit(X),
    "pipeline_predict": lambda model, X: make_pipeline(model).fit_predict(X),
    "search": lambda model, X: cross_val_score(model, X, cv=2),
    "detector": lambda model, X: ClusterDetector(model).fit(X),
    "detector_predict": lambda model, X: ClusterDetector(model).fit_predict(X),
    "factors": lambda model, X: CBLOF(model).fit_predict(X),
}
OTHERS = {
    "metric": lambda: metrics.outlier_me([False], [False]),
    "seeds": lambda: seeding.k_means_plus_plus(TWO_PLACES, 3, random_state=0),
}


def places_of_warnings(call, *arguments):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*arguments)
    return {(warning.filename, warning.lineno) for warning in caught}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_fit_warns_at_the_line_that_asked_for_it(call, case):
    model, rows = case
    here = (__file__, call.__code__.co_firstlineno)
    assert places_of_warnings(call, clone(model), rows) == {here}


@pytest.mark.parametrize("call", OTHERS.values(), ids=OTHERS)
def test_functions_warn_at_the_line_that_called_them(call):
    assert places_of_warnings(call) == {(__file__, call.__code__.co_firstlineno)}


def test_a_subclass_of_the_user_is_a_line_of_theirs():
    class Mine(RTKM):
        def fit(self, X, y=None):
            return super().fit(X)

    model = Mine(**CASES["cut_off"][0].get_params())
    line = Mine.fit.__code__.co_firstlineno + 1
    assert places_of_warnings(model.fit, X) == {(__file__, line)}
