"""The loop: when it ends, what it records, what it shows."""

from __future__ import annotations

import numpy as np
import pytest

from rtkm._descent import Relaxed, Run, State, descend


def state_of(objective, W=0.5, v=1.0, C=0.0, n_iter=0, kind=State, **more):
    return kind(
        C=np.array([[C]]),
        W=np.array([[W]]),
        v=np.array([v]),
        objective=objective,
        n_iter=n_iter,
        **more,
    )


def relaxed_state(objective, **more):
    return state_of(objective, kind=Relaxed, squared_scale=1.0, **more)


def halve(state):
    return state_of(state.objective / 2)


def test_the_path_holds_the_start_and_every_step():
    run = descend(halve, Run(state_of(16.0)), max_iter=3)
    assert run.path == [16.0, 8.0, 4.0, 2.0]
    assert run.state.n_iter == 3
    assert not run.converged
    assert run.how_it_ended == "with the objective still falling by 5e-01 of itself"


def test_a_start_that_counts_as_an_iteration_leaves_one_step_less():
    run = descend(halve, Run(state_of(16.0, n_iter=1)), max_iter=3)
    assert run.path == [16.0, 8.0, 4.0]


def test_the_descent_ends_when_the_objective_falls_by_no_more_than_the_tolerance():
    def step(state):
        return state_of(1 + (state.objective - 1) / 10)

    # excess over 1: 1, 0.1, 0.01, 0.001; the fall from 1.01 is 0.009 < 0.01 * 1.01
    run = descend(step, Run(state_of(2.0)), max_iter=100, tol=0.01)
    assert run.converged
    assert run.path == pytest.approx([2.0, 1.1, 1.01, 1.001])


def test_the_descent_can_be_told_when_enough_is_reached():
    run = descend(
        halve, Run(state_of(16.0)), max_iter=9, until=lambda run: run.path[-1] < 5
    )
    assert run.path == [16.0, 8.0, 4.0]


def test_every_step_is_shown():
    seen = []
    descend(halve, Run(state_of(8.0)), max_iter=2, watch=seen.append)
    assert [(s.n_iter, s.objective) for s in seen] == [(1, 4.0), (2, 2.0)]


def test_an_interrupted_run_still_holds_its_last_state():
    def step(state):
        if state.n_iter == 2:
            raise KeyboardInterrupt
        return halve(state)

    run = Run(state_of(16.0))
    with pytest.raises(KeyboardInterrupt):
        descend(step, run, max_iter=9)
    assert run.state.objective == 4.0


@pytest.mark.parametrize("moved", [{"W": 0.6}, {"v": 0.9}, {"C": 1e-3}])
def test_small_proximal_steps_settle_only_when_weights_and_centers_rest(moved):
    # the objective alone says 1.0 -> 1.0; each of the weights and centers objects
    last = relaxed_state(1.0)
    assert relaxed_state(1.0).settled(last, tol=1e-6)
    assert not relaxed_state(1.0, **moved).settled(last, tol=1e-6)
