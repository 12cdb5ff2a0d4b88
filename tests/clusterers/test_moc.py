"""MOC: a case worked by hand, what the sum model implies, and edges."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import column

from rtkm import MOC
from rtkm.clusterers._overlap import Charges, Covered
from rtkm.core.validation import make_table

FIVE = np.array([(1, 0), (0, 2), (1, 2), (1.1, 0), (0, 1.9)])
M = np.array([(1, 0), (0, 1), (1, 1), (1, 0), (0, 1)])
A = np.array([(1.0375, 0.0125), (-0.0125, 1.9625)])
LOSSES = (0.0015625, 0.0015625, 0.00125, 0.0040625, 0.0040625)


def test_activities_and_losses_worked_by_hand():
    # M'M = (3 1; 1 3) with inverse (3 -1; -1 3)/8, and M'X = (3.1 2; 1 5.9):
    # (9.3 - 1, 6 - 5.9)/8 and (-3.1 + 3, -2 + 17.7)/8.
    table, model = make_table(FIVE), MOC(2)
    for start in (np.zeros((2, 2)), FIVE[:2]):
        state = Covered(
            C=start, W=M.astype(float), v=np.ones(5), objective=0, charges=Charges()
        )
        assert_allclose(model._move(table, state), A, rtol=1e-12)
    # 0.0375**2 + 0.0125**2, the same, 0.025**2 + 0.025**2, 0.0625**2 + 0.0125**2, same
    assert_allclose(model._costs(table, A, M > 0, Charges()), LOSSES, rtol=1e-12)
    # and no other sets are better there
    assert_array_equal(model._find_sets(table, A, Charges()), M)


def test_a_whole_fit_worked_by_hand():
    states = []
    model = MOC(2, init=[(1, 0), (0, 2)], on_step=states.append).fit(FIVE)
    # k-means has rows 1 and 4 at (1.05, 0), the others at (1/3, 5.9/3), and costs
    # 2 * 0.05**2, then 1/9 + 4/9 + 1/9 and (1 + 1 + 4)/900. With these vectors the
    # third row is nearer to their sum, at (23/60)**2 + (1/30)**2, than to the second,
    # at 4/9 + 1/900. Least squares then gives what is above.
    assert_allclose(states[0].C, [(1.05, 0), (1 / 3, 5.9 / 3)], atol=1e-15)
    J = 0.005 + 6 / 9 + 6 / 900
    assert_allclose(model.objective_path_[0], J, rtol=1e-12)
    J += (23 / 60) ** 2 - 4 / 9
    assert_allclose(model.objective_path_[1], J, rtol=1e-12)
    assert_allclose(model.objective_path_[2:], 0.0125, rtol=1e-12)
    assert_array_equal(model.assignments_, M)
    assert_allclose(model.cluster_centers_, A, rtol=1e-11)
    assert_allclose(model.outlier_scores_, LOSSES, rtol=1e-10)
    # three of five rows in each: 2 * (3 log 0.6 + 2 log 0.4) = -6.730117
    assert_allclose(model.shares_, (0.6, 0.6), rtol=1e-15)
    bernoulli = 2 * (3 * np.log(0.6) + 2 * np.log(0.4))
    assert bernoulli == pytest.approx(-6.730117, abs=5e-7)
    assert model.log_likelihood_ == pytest.approx(bernoulli - 0.0125, rel=1e-12)


def test_a_cluster_of_all_rows_says_nothing_of_them():
    # 1 log 1 + 0 log 0 = 0
    model = MOC(1, random_state=0).fit(column(0, 1, 5))
    assert_allclose(model.cluster_centers_, [[2]], rtol=1e-15)
    assert model.shares_ == 1
    assert model.log_likelihood_ == -model.objective_
    assert_allclose(model.objective_, 4 + 1 + 9, rtol=1e-15)


def test_no_set_is_cheaper_than_the_one_found():
    rng = np.random.default_rng(0)
    for _ in range(50):
        X, C = rng.normal(size=(30, 2)), rng.normal(size=(5, 2))
        table, model = make_table(X), MOC(5)
        sets = model._find_sets(table, C, Charges())
        assert sets.any(axis=1).all()
        found = model._costs(table, C, sets, Charges())
        for size in range(1, 6):
            for members in combinations(range(5), size):
                image = C[list(members)].sum(axis=0)
                assert np.all(found <= ((X - image) ** 2).sum(axis=1) + 1e-12)


def test_a_row_of_zeros_still_gets_the_set_nearest_to_nothing():
    # the empty set would explain it, and is not allowed
    sets = MOC(2)._find_sets(make_table(column(0)), column(3, -1), Charges())
    assert_array_equal(sets, [(False, True)])
    sets = MOC(3)._find_sets(make_table(column(0)), column(3, -1, -3), Charges())
    assert_array_equal(sets, [(True, False, True)])


def test_zero_means_something():
    # moved away from the origin, no row is the sum of two others any more
    start = np.array([(1.0, 0), (0, 2)])
    moved = MOC(2, init=start + 100).fit(FIVE + 100)
    assert_array_equal(moved.assignments_.sum(axis=1), np.ones(5))


def test_a_greedy_search_never_rises():
    # 2**13 - 1 sets are more than are looked at one by one
    rng = np.random.default_rng(0)
    activities = rng.normal(size=(13, 20)) * 3
    members = rng.random((200, 13)) < 0.2
    X = members @ activities + 0.1 * rng.normal(size=(200, 20))
    model = MOC(13, random_state=0, n_init=2).fit(X)
    path = model.objective_path_
    assert np.all(np.diff(path) <= 1e-12 * path[:-1])
    assert model.objective_ < 0.5 * path[0]
    assert model.assignments_.any(axis=1).all()


def test_rows_on_their_centers_cost_nothing():
    X = column(3, 3, 3, 7, 7, 7)
    model = MOC(2, init=column(3, 7)).fit(X)
    assert_allclose(model.objective_, 0, atol=1e-28)
    assert_array_equal(model.assignments_, np.repeat([(1, 0), (0, 1)], 3, axis=0))


def test_more_clusters_than_sets_can_be_written_for_are_refused():
    X = np.random.default_rng(0).normal(size=(80, 2))
    with pytest.raises(ValueError, match="n_clusters=65 is not valid for MOC"):
        MOC(65).fit(X)
