"""Columns behave like the arrays that they stand for."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from cut_tables import as_table
from numpy.testing import assert_array_equal
from sklearn.base import clone

from rtkm import Partitions, TrimmedKMeans
from rtkm.core.columns import Column, look_up
from rtkm.core.table import Table


@pytest.fixture
def pair():
    """A table in memory, and the same in partitions."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(50, 3))
    weights = rng.choice([0.0, 0.5, 1 / 3], size=50)
    return Table(X, weights), as_table(X, [0, 7, 8, 30, 50], weights)


C = np.eye(3)

EXPRESSIONS = [
    lambda X, near: near.cost,
    lambda X, near: near.labels,
    lambda X, near: near.labels[:, 0],
    lambda X, near: X.nearest(C, 1).labels.reshape(-1),
    lambda X, near: near.cost > 1,
    lambda X, near: ~(near.cost > 1) & X.counts,
    lambda X, near: np.where(near.cost > 1, near.spare, 0.0),
    lambda X, near: np.where(near.cost > 1, np.int32(-1), near.labels[:, 0]),
    lambda X, near: X.weights * np.minimum(near.cost, 0.7),
    lambda X, near: (near.cost > 1).astype(np.float64),
    lambda X, near: near.squared.sum(axis=1),
    lambda X, near: (near.labels == 1).any(axis=1),
    lambda X, near: near.labels == np.arange(2),
    lambda X, near: near.cost[:, None] * near.squared,
    lambda X, near: look_up(np.array([5.0, 6.0, 7.0]), near.labels),
    lambda X, near: X.full(np.inf),
    lambda X, near: -near.cost,
    lambda X, near: np.sqrt(X.squared_distances(C)),
]


@pytest.mark.parametrize("number", range(len(EXPRESSIONS)))
def test_what_is_made_of_columns(pair, number):
    array, column = (EXPRESSIONS[number](X, X.nearest(C, 2)) for X in pair)
    assert isinstance(column, Column)
    assert column.shape == array.shape
    assert (column.dtype, column.ndim) == (array.dtype, array.ndim)
    assert_array_equal(np.asarray(column), array)
    assert_array_equal(np.concatenate(list(column.partitions())), array)


SUMMARIES = [
    lambda cost: cost.max(),
    lambda cost: cost.min(initial=np.inf, where=cost > 0.5),
    lambda cost: cost.max(initial=0.0, where=cost > 1e9),
    lambda cost: cost.argmin(),
    lambda cost: np.where(cost > 0.5, cost, np.inf).argmin(),
    lambda cost: np.where(cost > 1e9, cost, -np.inf).argmax(),
    lambda cost: (cost > 0.5).sum(),
    lambda cost: (cost > 0.5).any(),
    lambda cost: (cost > 1e9).any(),
    lambda cost: (cost > 0).all(),
    lambda cost: cost[3],
    lambda cost: cost[-1],
    lambda cost: cost[[40, 2, 2, 7]],
    lambda cost: cost[:9],
    lambda cost: cost[cost > 0.5],
    lambda cost: np.median(cost),
    lambda cost: len(cost),
    lambda cost: list(cost),
    lambda cost: cost.tolist(),
    lambda cost: np.bincount((cost > 0.5).astype(np.int64)),
]


@pytest.mark.parametrize("number", range(len(SUMMARIES)))
def test_what_is_told_of_a_column(pair, number):
    array, column = (SUMMARIES[number](X.nearest(C, 1).cost) for X in pair)
    assert not isinstance(column, Column)
    assert_array_equal(column, array)


def test_ties_of_the_smallest_go_to_the_first_row(pair):
    X = pair[1]
    assert X.full(1.0).argmin() == 0
    assert X.full(1.0).argmax() == 0


def test_columns_change_as_arrays_do(pair):
    changed = []
    for X in pair:
        cost = X.full(np.inf)
        for row in (3, 20, 41):
            X.lower(cost, X.rows(np.array([row])))
        cost[cost > 2] = 9.0
        cost[7] = -1.0
        np.subtract(10.0, cost, out=cost)
        changed.append(np.asarray(cost))
    assert_array_equal(*changed)


def test_what_is_lowered_without_what_was_before_starts_from_all_centers(pair):
    X = pair[1]
    cost = X.full(np.inf)
    for row in (3, 20, 41):
        X.lower(cost, X.rows(np.array([row])))
        for part in X.engine.parts:
            part.forget(None)
    expected = pair[0].full(np.inf)
    for row in (3, 20, 41):
        pair[0].lower(expected, pair[0].rows(np.array([row])))
    assert_array_equal(np.asarray(cost), expected)


def test_a_copy_is_of_its_own(pair):
    cost = pair[1].nearest(C, 1).cost
    copy = cost.copy()
    copy[0] = 5.0
    assert cost[0] != 5.0
    assert copy[0] == 5.0


def test_whoever_reads_a_pickled_column_gets_an_array(pair):
    cost = pair[1].nearest(C, 1).cost
    assert_array_equal(pickle.loads(pickle.dumps(cost)), np.asarray(cost))


def test_rows_that_are_not_there(pair):
    with pytest.raises(IndexError, match="from -50 to 49"):
        pair[1].nearest(C, 1).cost[50]


def test_partitions_forget_what_nobody_can_ask_for(pair):
    X = pair[1]
    cost = X.nearest(C, 1).cost
    assert cost.max() > 0
    part = X.engine.parts[0]
    assert part._remembered
    del cost
    X.full(1.0).max()
    assert not part._remembered


def test_no_more_is_remembered_than_there_is_room_for(pair):
    X = pair[1]
    for part in X.engine.parts:
        part.forget(None)
        part.room.limit = 0
    near = X.nearest(C, 1)
    assert_array_equal(np.asarray(near.cost), pair[0].nearest(C, 1).cost)
    assert not any(part._remembered for part in X.engine.parts)
    assert X.engine.parts[0].room.used == 0


def test_every_step_is_shown_and_cannot_be_changed():
    X = np.random.default_rng(0).normal(size=(200, 2))
    seen = []

    def watch(state):
        state.v[0] = 0.5  # of a copy
        seen.append(state.objective)

    model = TrimmedKMeans(3, contamination=5, random_state=0, on_step=watch)
    labels = np.asarray(model.fit(Partitions.of_array(X, n_partitions=3)).labels_)
    whole = clone(model).set_params(on_step=None).fit(X)
    assert seen[0] == whole.objective_path_[0]
    assert_array_equal(labels, whole.labels_)
    assert len(seen) > 1
