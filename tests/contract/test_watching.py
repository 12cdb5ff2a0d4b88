"""A fit may be watched, stopped early and interrupted."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from promises import (
    TRIMMING,
    n_memberships,
    n_trimmed,
    objective,
    with_rounds,
)
from sklearn.exceptions import ConvergenceWarning

from rtkm import ORC, RTKM, FuzzyCMeans


def test_on_step_sees_feasible_states(model, blobs):
    states = []
    with_rounds(model).set_params(n_init=1, on_step=states.append).fit(blobs)
    for state in states:
        assert state.C.shape == (model.n_clusters, 3)
        assert state.W.shape == (400, model.n_clusters)
        for weights in (state.W, state.v):
            assert 0 <= weights.min() <= weights.max() <= 1
        assert np.all((state.W.sum(axis=1) > 0) | (state.v == 0))
        expected = objective(model, blobs, state.C, state.W, state.v)
        assert_allclose(state.objective, expected, rtol=1e-12)
    if model._n_swaps() == 0:  # a swap is not watched before it pays
        assert_array_equal([state.objective for state in states], model.objective_path_)
    # the search has an order of its own
    assert sorted(states[-1].C.tolist()) == sorted(model.cluster_centers_.tolist())
    assert states[-1].n_iter == model.n_iter_


def test_on_step_sees_the_sums_of_trimming_and_fuzzy_methods(model, blobs):
    if not isinstance(model, (*TRIMMING, FuzzyCMeans)):
        return  # memberships of the others have no sum of their own
    states = []
    model.set_params(n_init=1, on_step=states.append).fit(blobs)
    kept = 400 - n_trimmed(model, 400)
    for state in states:
        assert_allclose(state.W.sum(axis=1), n_memberships(model), rtol=0, atol=1e-9)
        assert_allclose(state.v.sum(), kept, rtol=0, atol=1e-9)


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


def start_badly(model, X):
    """Start at neighbors, from where it is a long way."""
    model.set_params(init=X[np.argsort(X[:, 0])][: model.n_clusters])
    return with_rounds(model)


def test_stopping_early_warns(model, blobs):
    if isinstance(model, ORC):
        pytest.skip("ORC makes as many rounds as it is told")
    if hasattr(model, "n_swaps"):
        model.set_params(n_swaps=0)  # a swap may end at rest all the same
    message = f"^{type(model).__name__} stopped at max_iter=2 with the objective still"
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        start_badly(model, blobs).set_params(max_iter=2).fit(blobs)
    assert caught[0].filename == __file__
    assert not model.converged_
    assert model.n_iter_ == 2


def interrupt_at(n_iter):
    def on_step(state):
        if state.n_iter == n_iter:
            raise KeyboardInterrupt

    return on_step


def test_ctrl_c_raises_when_nobody_watches(model, blobs):
    with pytest.raises(KeyboardInterrupt):
        with_rounds(model).set_params(on_step=interrupt_at(2)).fit(blobs)
    assert not hasattr(model, "labels_")


def test_ctrl_c_keeps_the_best_state_when_verbose(model, blobs):
    start_badly(model, blobs).set_params(on_step=interrupt_at(2), verbose=1)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(blobs)
    assert f"{type(model).__name__} was interrupted" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert model.n_iter_ == 2
    assert not model.converged_
    W, v = model.memberships_, model.inlier_weights_
    expected = objective(model, blobs, model.cluster_centers_, W, v)
    assert_allclose(model.objective_, expected, rtol=1e-12)


def test_ctrl_c_is_not_reported_as_reaching_max_iter(blobs):
    model = RTKM(
        3, contamination=0.1, init=blobs[:3], on_step=interrupt_at(2), verbose=1
    )
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(blobs)
    assert [w for w in caught if "max_iter" in str(w.message)] == []
