"""ESP and ISP: sets and centers worked by hand, the search, and edges."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import column

from rtkm import ESP, ISP, OKM
from rtkm.clusterers._overlap import Charges, Covered, normal_equations
from rtkm.core.validation import make_table

# What every set of 0, 10 and 3 costs a row at 5: the mean of the two far ones is 5,
# that of 0 and 3 is 1.5, of 10 and 3 6.5, of all 13/3
COSTS = {
    (0,): 25,
    (1,): 25,
    (2,): 4,
    (0, 1): 0,
    (0, 2): 12.25,
    (1, 2): 2.25,
    (0, 1, 2): 4 / 9,
}
TABLE, C = make_table(column(5)), column(0, 10, 3)


def indicator(members, k=3):
    return np.isin(range(k), members)[None]


@pytest.mark.parametrize("members", COSTS)
def test_the_cost_of_every_set_worked_by_hand(members):
    cost = ESP(3)._costs(TABLE, C, indicator(members), Charges())
    assert_allclose(cost, COSTS[members], rtol=1e-14)
    # a price of 3 for every cluster beyond the first
    charges = ISP(3, overlap_penalty=3)._charges(TABLE, C)
    priced = ISP(3)._costs(TABLE, C, indicator(members), charges)
    assert_allclose(priced, COSTS[members] + 3 * (len(members) - 1), rtol=1e-14)


@pytest.mark.parametrize(
    ("model", "members", "cost"),
    [
        (ESP(3, n_memberships=1), (2,), 4),
        (ESP(3, n_memberships=2), (0, 1), 0),
        (ESP(3, n_memberships=3), (0, 1), 0),
        (ESP(3, n_memberships=9), (0, 1), 0),
        (ISP(3, overlap_penalty=0), (0, 1), 0),
        (ISP(3, overlap_penalty=3), (0, 1), 3),
        (ISP(3, overlap_penalty=5), (2,), 4),
    ],
    ids=str,
)
def test_the_cheapest_set_worked_by_hand(model, members, cost):
    charges = model._charges(TABLE, C)
    sets = model._find_sets(TABLE, C, charges)
    assert_array_equal(sets, indicator(members))
    assert model._costs(TABLE, C, sets, charges) == cost
    # growing sets from the nearest cluster stops at 4, which is why all are looked at
    grown = OKM(3)._find_sets(TABLE, C, Charges())
    assert_array_equal(grown, indicator((2,)))


SIX = column(0, 1, 4, 5, 9, 10)
SETS = np.array(
    [(1, 0, 0), (1, 0, 0), (1, 1, 0), (0, 0, 1), (0, 1, 0), (0, 1, 0)], dtype=bool
)


def test_centers_for_given_sets_worked_by_hand():
    # Rows 0, 1 and 9, 10 alone, 4 in the middle of both: 2 c1 - 1 = 2 c2 - 19 = r/2
    # with r = 4 - (c1 + c2)/2, so r = -0.8, c1 = 0.3 and c2 = 9.3; 5 has its own
    # center. What is left is 0.09 + 0.49 + 0.64 + 0 + 0.09 + 0.49 = 1.8.
    table, best = make_table(SIX), column(0.3, 9.3, 5)
    for start in (best, column(7, -3, 100)):
        state = Covered(
            C=start,
            W=SETS.astype(float),
            v=np.ones(6),
            objective=0,
            charges=Charges(),
        )
        model = ESP(3)
        assert_allclose(model._move(table, state), best, rtol=1e-13)
    assert_allclose(model._costs(table, best, SETS, Charges()).sum(), 1.8, rtol=1e-14)


def test_the_normal_equations_worked_by_hand():
    # 2 + 1/4 of a row each on the diagonal, the shared row 1/4 beside it, 1 for the
    # last; sums 0 + 1 + 4/2, 4/2 + 9 + 10 and 5
    table = make_table(SIX)
    B = SETS / SETS.sum(axis=1, keepdims=True)
    G, residual = normal_equations(table, B, np.zeros((3, 1)))
    assert_array_equal(G, [(2.25, 0.25, 0), (0.25, 2.25, 0), (0, 0, 1)])
    assert_array_equal(residual, column(3, 21, 5))
    _, residual = normal_equations(table, B, column(0.3, 9.3, 5))
    assert_allclose(residual, np.zeros((3, 1)), atol=1e-14)
    # row weights 1, 1, 4, 1, 1, 1: the shared row counts 1 instead of 1/4
    G, residual = normal_equations(table, B, np.zeros((3, 1)), [1, 1, 4, 1, 1, 1])
    assert_array_equal(G, [(3, 1, 0), (1, 3, 0), (0, 0, 1)])
    assert_array_equal(residual, column(9, 27, 5))


def test_a_whole_fit_worked_by_hand():
    # k-means from (0, 10) ends at 5/3 and 9.5: 25/9 + 4/9 + 49/9 + 1/2 = 55/6. There 4
    # is 4 - 67/12 = -19/12 from the middle of both, which is nearer than 7/3; so its
    # set is both, and the centers are those above.
    X, states = column(0, 1, 4, 9, 10), []
    model = ESP(2, init=column(0, 10), on_step=states.append).fit(X)
    assert_allclose(states[0].C.ravel(), (5 / 3, 9.5), rtol=1e-14)
    assert_allclose(model.objective_path_[0], 55 / 6, rtol=1e-14)
    assert_array_equal(states[0].W.sum(axis=1), np.ones(5))
    assert_allclose(states[1].C, states[0].C, rtol=1e-14)  # alone, they are best
    # 25/9 + 4/9 + 361/144 + 1/2
    assert_allclose(model.objective_path_[1], 29 / 9 + 361 / 144 + 0.5, rtol=1e-14)
    assert_allclose(model.objective_path_[2:], 1.8, rtol=1e-14)
    assert_allclose(model.cluster_centers_.ravel(), (0.3, 9.3), rtol=1e-13)
    assert_array_equal(model.assignments_.sum(axis=1), (1, 1, 2, 1, 1))


def test_the_automatic_price_is_a_tenth_of_the_mean_squared_distance_of_kmeans():
    # k-means has 55/6 over five rows, as above
    model = ISP(2, init=column(0, 10)).fit(column(0, 1, 4, 9, 10))
    assert_allclose(model.overlap_penalty_, 55 / 6 / 5 / 10, rtol=1e-14)
    assert_allclose(model.objective_, 1.8 + 55 / 300, rtol=1e-13)
    given = ISP(2, overlap_penalty=0.25, init=column(0, 10))
    assert given.fit(column(0, 1, 4, 9, 10)).overlap_penalty_ == 0.25


def test_the_fit_starts_from_the_best_of_several_runs_of_kmeans():
    # two bad starts lead k-means to split one of three far groups
    X = column(0, 1, 2, 100, 101, 102, 200, 201, 202)
    starts = [column(0, 1, 150), column(1, 101, 201), column(0, 150, 201)]
    given = iter(starts)
    states = []
    model = ESP(3, init=lambda *a, **b: next(given), n_init=3, n_memberships=1)
    model.set_params(on_step=states.append).fit(X)
    assert_allclose(states[0].C, column(1, 101, 201))
    assert_allclose(model.objective_, 6)


# The search


@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_no_set_is_cheaper_than_the_one_found(most):
    rng = np.random.default_rng(most)
    for _ in range(20):
        X, C = rng.normal(size=(30, 2)), rng.normal(size=(5, 2))
        table, model = make_table(X), ESP(5, n_memberships=most)
        charges = model._charges(table, C)
        found = model._costs(table, C, model._find_sets(table, C, charges), charges)
        for size in range(1, most + 1):
            for members in combinations(range(5), size):
                image = C[list(members)].mean(axis=0)
                assert np.all(found <= ((X - image) ** 2).sum(axis=1) + 1e-12)


def test_a_greedy_search_obeys_the_limit_and_never_rises():
    # 20 clusters in sets of up to 6 are 60459, more than are looked at one by one
    X = np.random.default_rng(0).normal(size=(150, 3))
    model = ESP(20, n_memberships=6, n_init=1, random_state=0).fit(X)
    sizes = model.assignments_.sum(axis=1)
    assert sizes.min() >= 1
    assert 2 <= sizes.max() <= 6
    path = model.objective_path_
    assert np.all(np.diff(path) <= 1e-12 * path[:-1])
    alone = ESP(20, n_memberships=1, n_init=1, random_state=0).fit(X)
    assert model.objective_ < alone.objective_


# Edges


@pytest.mark.parametrize("cls", [ESP, ISP])
def test_one_cluster_is_the_mean(cls):
    model = cls(1, random_state=0).fit(column(0, 1, 5))
    assert_allclose(model.cluster_centers_, [[2]], rtol=1e-15)
    assert_allclose(model.objective_, 4 + 1 + 9, rtol=1e-15)


def test_an_unused_center_stays_and_undetermined_ones_move_least():
    table = make_table(column(2, 4))
    model = ESP(3)

    def move(start, *sets):
        W = np.array(sets, dtype=float)
        state = Covered(
            C=column(*start), W=W, v=np.ones(2), objective=0, charges=Charges()
        )
        return model._move(table, state).ravel()

    assert_allclose(move((0, 0, 50), (1, 0, 0), (0, 1, 0)), (2, 4, 50), atol=1e-13)
    # both rows in the first two: only their middle, 3, is determined, and it is at 5
    assert_allclose(move((4, 6, 50), (1, 1, 0), (1, 1, 0)), (2, 4, 50), atol=1e-13)


@pytest.mark.parametrize("cls", [ESP, ISP])
def test_rows_on_their_centers_cost_nothing(cls):
    X = column(0, 0, 0, 6, 6, 6)
    model = cls(2, init=column(0, 6)).fit(X)
    assert model.objective_ == 0
    assert_array_equal(model.assignments_, np.repeat([(1, 0), (0, 1)], 3, axis=0))
    assert_array_equal(model.outlier_scores_, np.zeros(6))


def test_a_set_found_in_lost_digits_gives_way_to_the_nearest_cluster():
    # squared distances of 1e9 in single precision drown those within the blobs
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(200, 2)), [(-3e4, 0), (3e4, 0)]])
    X[:100] += 8
    model = ESP(4, random_state=0).fit(X.astype(np.float32))
    alone = model.transform(X).min(axis=1) ** 2
    assert (model.outlier_scores_ <= alone * (1 + 1e-3) + 1e-3).all()
