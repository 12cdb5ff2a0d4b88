"""The loop: when it ends, what it records, what it shows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from rtkm.core.descent import Run, descend
from rtkm.core.states import (
    CyclingState,
    Memberships,
    ProximalState,
    State,
)


def state_of(objective, W=0.5, v=1.0, C=0.0, n_iter=0, kind=State, **more):
    return kind(
        C=np.array([[C]]),
        W=np.array([[W]]),
        v=np.array([v]),
        objective=objective,
        n_iter=n_iter,
        **more,
    )


def proximal_state(objective, change=0.0, C=0.0):
    return ProximalState(
        C=np.array([[C]]),
        clusters=np.zeros((1, 1), dtype=np.int32),
        v=np.ones(1),
        means=np.zeros((1, 1)),
        objective=objective,
        change=change,
        squared_scale=1.0,
        kept_mass=1.0,
        native=None,
    )


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


@pytest.mark.parametrize("moved", [{"change": 0.1}, {"C": 1e-3}])
def test_small_proximal_steps_settle_only_when_weights_and_centers_rest(moved):
    # the objective alone says 1.0 -> 1.0; each of the weights and centers objects
    last = proximal_state(1.0)
    assert proximal_state(1.0).settled(last, tol=1e-6)
    assert not proximal_state(1.0, **moved).settled(last, tol=1e-6)


# Memberships that can repeat


# Rules that may go in circles


def cycling_state(label, level, trail=()):
    """An iterate that is told by the label of its only row."""
    return CyclingState(
        C=np.zeros((9, 1)),
        clusters=np.array([[label]], dtype=np.int32),
        kept=np.ones(1, dtype=bool),
        means=np.zeros((9, 1)),
        objective=level,
        trail=trail,
    )


def wander(labels, levels):
    """Follow the labels and levels listed; return those that were visited."""
    to_come = iter(zip(labels[1:], levels[1:], strict=True))

    def step(state):
        return cycling_state(*next(to_come), trail=state.longer_trail)

    run = descend(
        step, Run(cycling_state(labels[0], levels[0])), max_iter=len(labels) - 1
    )
    visited = [*(level for _, level in run.state.trail), run.state.level]
    return run.converged, visited


def test_a_rule_that_comes_to_rest_has_a_circle_of_one():
    assert wander([3, 1, 2, 2, 2], [9.0, 5.0, 7.0, 6.0, 6.0]) == (True, [9, 5, 7, 6])


def test_a_circle_is_followed_to_its_lowest():
    # 1 -> 2 -> 3 -> 1 ...; closed at the second 1, left at the 3, which is the lowest;
    # the 0 before it is lower still, but no part of it
    labels = [0, 1, 2, 3, 1, 2, 3, 1]
    levels = [0.5, 4.0, 3.0, 2.0, 4.0, 3.0, 2.0, 4.0]
    assert wander(labels, levels) == (True, levels[:7])


def test_a_circle_whose_lowest_closes_it_is_left_at_once():
    levels = [2.0, 3.0, 2.0, 3.0]
    assert wander([1, 2, 1, 2], levels) == (True, levels[:3])


def test_a_start_that_is_lower_than_its_return_does_not_keep_a_circle_going():
    # the start is not at means, so its level does not come back
    levels = [1.0, 4.0, 3.0, 4.0, 3.0, 4.0]
    assert wander([1, 2, 1, 2, 1, 2], levels) == (True, levels[:5])


def test_rounding_does_not_keep_a_circle_going():
    levels = [5.0, 3.0, 5.0, 3.0 + 1e-15, 5.0, 3.0 + 1e-15]
    assert wander([1, 2, 1, 2, 1, 2], levels)[0]


def test_iterates_with_other_outliers_are_others():
    one, other = (
        cycling_state(1, 2.0),
        replace(cycling_state(1, 2.0), kept=np.zeros(1, bool)),
    )
    assert one.mark == cycling_state(1, 7.0).mark
    assert one.mark != other.mark


@pytest.mark.parametrize("s", [1, 2])
def test_compact_memberships_are_the_same_in_both_forms(s):
    clusters = np.array([[0, 2], [-1, -1], [2, 1], [-1, -1], [1, 0]], np.int32)[:, :s]
    shares = sparse.csr_array([[0.25, s - 0.75, 0.5], [0.0, s - 0.5, 0.5]])
    memberships = Memberships(clusters, shares)
    dense = memberships.toarray()
    np.testing.assert_array_equal(memberships.tocsr().toarray(), dense)
    np.testing.assert_array_equal(dense.sum(axis=1), s)
    assert memberships.tocsr().nnz == np.count_nonzero(dense)
