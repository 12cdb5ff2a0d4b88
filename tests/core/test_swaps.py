"""Swaps hold no more than they need."""

import weakref

import numpy as np

from rtkm.core import swaps
from rtkm.core.descent import Run, descend
from rtkm.core.table import Table


def test_trials_run_beside_neither_nearest_centers_nor_failed_trials(monkeypatch):
    rng = np.random.RandomState(0)
    X = Table(rng.standard_normal((400, 2)), None)
    start = X.concentrate(X.rows(np.arange(4)), 1, 360)
    run = Run(start)
    descend(lambda last: X.concentrate(last.means, 1, 360, last=last), run, max_iter=99)

    found, trials = [], []
    nearest = X.nearest

    def watched_nearest(C, n_memberships):
        answer = nearest(C, n_memberships)
        found.append(weakref.ref(answer.cost))
        return answer

    def step(last):
        assert not any(cost() is not None for cost in found)
        assert sum(state() is not None for state in trials) <= 1
        state = X.concentrate(last.means, 1, 360, last=last)
        trials.append(weakref.ref(state))
        return state

    monkeypatch.setattr(X, "nearest", watched_nearest)
    # so that nothing pays, and all kinds of moves are tried
    monkeypatch.setattr(X, "goal_below", lambda state: 0.0)
    monkeypatch.setattr(swaps, "is_decided", lambda trial, **_: len(trial.path) > 2)
    limits = {"n_tries": 12, "n_hopeless_tries": 12, "n_steps": 5}
    tried = swaps.find_swap(X, run.state, step, **limits, rng=rng)
    assert tried == (12, None)
    assert len(found) > 3
    assert len(trials) >= 24


def test_a_state_that_is_only_read_lets_go_of_what_steps_need():
    X = Table(np.random.RandomState(0).standard_normal((60, 2)), None)
    C, order = X.rows(np.arange(3)), np.array([2, 0, 1])
    hard = X.concentrate(C, 1, 54)
    assert hard.renumbered(order).native is None

    soft = X.proximal_step(C, 1, 54, step=5.0)
    soft = X.proximal_step(soft.means, 1, 54, 5.0, last=soft)
    read = soft.renumbered(order)
    assert len(read.shares) > 0
    np.testing.assert_array_equal(read.W, soft.W[:, order])
    np.testing.assert_array_equal(read.v, soft.v)
    pass_ = weakref.ref(soft.v.base)
    del soft
    assert pass_() is None
