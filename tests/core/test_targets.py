"""Moves to targets and to rows: which center goes where, and when it is hopeless."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from numpy.testing import assert_allclose, assert_array_equal

from rtkm import RTKM, TrimmedKMeans
from rtkm.core import swaps
from rtkm.core.moves import Moves
from rtkm.core.targets import Targets, split_clusters, survey_targets
from rtkm.core.validation import make_table
from rtkm.datasets import make_outlier_blobs


def wide_blobs(seed, n_features=256, k=12, n=900):
    """Clusters in so many columns that no single row draws the rows of its cluster."""
    rng = np.random.default_rng(seed)
    C = rng.normal(size=(k, n_features)) * 9 / np.sqrt(2 * n_features)
    labels = rng.integers(k, size=n)
    X = C[labels] + rng.normal(size=(n, n_features))
    return np.concatenate([X, rng.uniform(-6, 6, (40, n_features))]), C


def survey(table, state):
    return survey_targets(table, state, np.random.RandomState(0))


def test_the_cheapest_center_goes_to_the_cluster_that_gains_most():
    # two centers in the rows around 0, and one for those around 50 and 60
    X = reference.column(-1, -0.5, 0.5, 1, 49, 50, 51, 59, 60, 61)
    table, C = make_table(X), reference.column(-0.75, 0.75, 55)
    state = table.concentrate(C, 1, 10.0)
    targets = survey(table, state)
    assert not targets.are_hopeless
    moved = next(targets.moves())
    assert sorted(moved.ravel()) in ([-0.75, 50, 60], [0.75, 50, 60])
    # 3 * 2 * 5^2 for the six rows around 55
    assert targets.gains[2] == pytest.approx(150)
    # the slot of the cluster that was split keeps one of its halves
    assert moved[2, 0] > 40


def test_clear_clusters_leave_no_hope():
    X, _, C = make_outlier_blobs(900, 3, 5, separation=20, random_state=0)
    table = make_table(X)
    state = table.concentrate(C, 1, 0.9 * len(X))
    for _ in range(20):
        state = table.concentrate(state.means, 1, 0.9 * len(X), last=state)
    assert survey(table, state).are_hopeless


def test_each_center_and_cluster_has_two_tries():
    k = 4
    rng = np.random.default_rng(0)
    targets = Targets(
        rng.normal(size=(k, 2)),
        rng.random(k),
        rng.normal(size=(k, 2, 2)),
        np.empty((0, 2)),
        rng.random(k),
    )
    tries = list(targets.moves())
    lost, split = np.zeros(k, int), np.zeros(k, int)
    for moved in tries:
        places = np.flatnonzero((moved != targets.C).any(axis=1))
        assert len(places) == 2
        # the first half of the cluster that is split takes its slot
        (of,) = (j for j in places if (moved[j] == targets.halves[j, 0]).all())
        split[of] += 1
        lost[places[places != of][0]] += 1
    assert lost.max() == split.max() == 2
    assert len(tries) >= 2 * (k - 1)
    change = targets.losses[:, None] - targets.gains
    np.fill_diagonal(change, np.inf)
    lost, split = np.unravel_index(change.argmin(), change.shape)
    assert_array_equal(tries[0][[split, lost]], targets.halves[split])


def test_a_center_may_go_to_a_group_of_trimmed_rows():
    # two centers share the rows around 0, and those around 50 are trimmed
    X = reference.column(-1, -0.5, -0.2, 0.2, 0.5, 1, 49, 50, 51, 200)
    table, C = make_table(X), reference.column(-0.75, 0.75)
    state = table.concentrate(C, 1, 6.0)
    cap = 0.55**2  # the cost of -0.2 and 0.2
    # a drawn row and the next, half of the four: 49 and 50 are .25 from their mean,
    # 50 lies in the middle of the three, and 200 is far from all
    gains = {49.5: 2 * (cap - 0.25), 50.0: cap, 50.5: 2 * (cap - 0.25), 125.5: 0.0}
    seen = {}
    for seed in range(20):
        targets = survey_targets(table, state, np.random.RandomState(seed))
        seen.update(zip(targets.groups[:, 0], targets.gains[2:], strict=True))
        moved = {float(C.max()) for C in targets.moves()}
        assert targets.groups[targets.gains[2:].argmax(), 0] in moved
    assert seen == pytest.approx(gains)


@pytest.mark.parametrize("share", [0.1, 0.15])
def test_clusters_that_could_be_trimmed_whole_get_their_centers(share):
    rng = np.random.default_rng(5)
    k, n_features = 20, 256
    C = rng.normal(size=(k, n_features)) * 20 / np.sqrt(2 * n_features)
    X = C[rng.integers(k, size=1500)] + rng.normal(size=(1500, n_features))
    least = TrimmedKMeans(k, contamination=share, init=C, n_swaps=0).fit(X).objective_
    for seed in range(3):
        found = RTKM(k, contamination=share, random_state=seed).fit(X)
        assert found.objective_ <= 1.0005 * least


def test_the_heavier_half_comes_first():
    X = reference.column(*[0.0] * 9, *[10.0] * 4)
    table, C = make_table(X), reference.column(3, 99)
    nearest = table.nearest(C, 1)
    for seed in range(5):
        rng = np.random.RandomState(seed)
        halves, _ = split_clusters(table, C, nearest, np.inf, rng)
        assert_allclose(halves[0].ravel(), [0, 10])


@pytest.mark.parametrize(("n_swaps", "n_tries"), [("auto", 5), (20, 20)])
def test_few_swaps_are_tried_where_none_has_hope(monkeypatch, n_swaps, n_tries):
    X, _, C = make_outlier_blobs(900, 3, 5, separation=20, random_state=0)
    tried = []
    decided = swaps.is_decided

    def is_decided(trial, **given):
        if len(trial.path) == 1:
            tried.append(trial)
        return decided(trial, **given)

    monkeypatch.setattr(swaps, "is_decided", is_decided)
    RTKM(5, contamination=0.1, init=C, n_swaps=n_swaps, random_state=0).fit(X)
    assert len(tried) == n_tries


def moves_of(X, k, kept):
    table = make_table(X)
    state = table.concentrate(table.rows(np.arange(k)), 1, kept)
    return Moves(table, state, np.random.RandomState(0))


def test_every_other_row_move_takes_the_next_cheapest_center(monkeypatch):
    moves = moves_of(np.random.default_rng(0).normal(size=(300, 2)), 6, 300.0)
    changes = np.arange(6.0)[None, :]  # the cost of losing each
    candidates = [(np.zeros((1, 2)), changes)] * 6
    monkeypatch.setattr(moves, "_candidates", lambda: iter(candidates))
    moved = [(C != moves.state.C).any(axis=1) for C in moves.to_rows()]
    assert [int(np.flatnonzero(m)[0]) for m in moved] == [0, 1, 0, 2, 0, 3]


def test_rows_and_targets_are_moved_to_in_turn_and_rows_alone_in_the_end(monkeypatch):
    moves = moves_of(np.random.default_rng(0).normal(size=(300, 2)), 6, 300.0)
    rows, targets = (f"row {i}" for i in range(9)), (f"target {i}" for i in range(2))
    monkeypatch.setattr(moves, "to_rows", lambda: rows)
    monkeypatch.setattr(moves, "to_targets", lambda: targets)
    found = [move for move, _ in zip(moves.in_turn(), range(7), strict=False)]
    expected = ["row 0", "target 0", "row 1", "target 1", "row 2", "row 3", "row 4"]
    assert found == expected


@pytest.mark.parametrize("n_features", [2, 300])
def test_two_clusters_in_one_are_halved_whatever_row_is_drawn(n_features):
    rng = np.random.default_rng(1)
    middle = np.zeros((1, n_features))
    middle[0, 0] = 5.0
    rows = rng.normal(size=(200, n_features))
    X = np.concatenate([rows[:100] + middle, rows[100:] - middle])
    table, C = make_table(X), np.array([[0.0] * n_features, [99.0] * n_features])
    nearest = table.nearest(C, 1)
    for seed in range(10):
        halves, gains = split_clusters(
            table, C, nearest, np.inf, np.random.RandomState(seed)
        )
        assert_allclose(np.sort(halves[0, :, 0]), [-5, 5], atol=0.5)
        assert gains[0] > 0.9 * 200 * 25
        assert gains[1] == -np.inf  # no row is there to be drawn


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_minimum_is_found_in_many_columns(seed, dtype):
    X, C = wide_blobs(seed)
    X = X.astype(dtype)
    options = {"contamination": 40, "random_state": seed}
    found = RTKM(len(C), **options).fit(X)
    true = TrimmedKMeans(len(C), init=C, n_swaps=0, **options).fit(X)
    assert found.objective_ <= 1.001 * true.objective_


def test_an_objective_of_nothing_ends_the_search(monkeypatch):
    def never(*arguments, **options):
        raise AssertionError("nothing is lower than nothing")

    monkeypatch.setattr(swaps, "find_swap", never)
    X = np.repeat(np.arange(4.0), 30)[:, None]
    model = RTKM(4, contamination=0, init=X[[0, 30, 60, 90]], random_state=0).fit(X)
    assert model.objective_ == 0
