"""OKM and ROKM: cases worked by hand, the nearest-first search, and edges."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import column

from rtkm import OKM, ROKM
from rtkm.core.validation import make_table

BETWEEN = [(1, 0), (1, 0), (1, 1), (0, 1), (0, 1)]
APART = [(1, 0), (1, 0), (1, 0), (0, 1), (0, 1)]


def descent(X, cls=OKM, start=(0, 10), **parameters):
    """Fit to the last digit; return the model and its states."""
    states = []
    start = column(*start)
    model = cls(len(start), init=start, tol=0, on_step=states.append, **parameters)
    return model.fit(X), states


def test_a_row_in_the_middle_worked_by_hand():
    model, states = descent(column(0, 1, 5, 9, 10))
    # At (0, 10) the middle of both is 5: J = 0 + 1 + 0 + 1 + 0 = 2. A row in two
    # clusters weighs 1/4 and pulls with z = 2 * 5 - the other center:
    # c1 = (0 + 1 + 0/4) / 2.25 = 4/9, c2 = (9 + 10 + (10 - 4/9)/4) / 2.25 = 770/81.
    assert_array_equal(states[0].W, BETWEEN)
    assert states[0].objective == 2
    assert_allclose(states[1].C.ravel(), (4 / 9, 770 / 81), rtol=1e-15)
    assert_array_equal(states[1].W, BETWEEN)
    # 16/81 + 25/81, (5 - 403/81)**2 = (2/81)**2, (41/81)**2 + (40/81)**2
    J = (81 * (16 + 25) + 4 + 41**2 + 40**2) / 81**2
    assert_allclose(states[1].objective, J, rtol=1e-14)
    assert_allclose(J, 1.006859, atol=5e-7)
    # the limit has 5 midway: four rows at 1/2
    assert_allclose(model.cluster_centers_.ravel(), (0.5, 9.5), atol=1e-7)
    assert_allclose(model.objective_, 1, rtol=1e-14)
    assert_array_equal(model.labels_[[0, 1, 3, 4]], (0, 0, 1, 1))


FIVE = column(0, 1, 4, 9, 10)


def test_a_row_off_the_middle_worked_by_hand():
    model, states = descent(FIVE)
    # J = 0 + 1 + (4 - 5)**2 + 1 + 0 = 3; c1 = (0 + 1 + (8 - 10)/4) / 2.25 = 2/9,
    # c2 = (9 + 10 + (8 - 2/9)/4) / 2.25 = 754/81
    assert states[0].objective == 3
    assert_allclose(states[1].C.ravel(), (2 / 9, 754 / 81), rtol=1e-15)
    # 4/81 + 49/81, 4 less the mean 386/81 is -62/81, 25/81 and 56/81 around c2
    J = (81 * (4 + 49) + 62**2 + 25**2 + 56**2) / 81**2
    assert_allclose(states[1].objective, J, rtol=1e-14)
    assert_allclose(J, 1.813443, atol=5e-7)
    # With r = 4 - (c1 + c2)/2, both derivatives vanish at 2 c1 - 1 = 2 c2 - 19 = r/2,
    # so r = -4/5 and J = 0.09 + 0.49 + 0.64 + 0.09 + 0.49.
    assert_allclose(model.cluster_centers_.ravel(), (0.3, 9.3), atol=1e-7)
    assert_allclose(model.objective_, 1.8, rtol=1e-14)
    assert_array_equal(model.assignments_, BETWEEN)
    scores = (0.09, 0.49, 0.64, 0.09, 0.49)
    assert_allclose(model.outlier_scores_, scores, atol=1e-7)


# ROKM. Near the minimum J is flat: where J is right to 1e-14, centers are to 1e-7.


@pytest.mark.parametrize(
    ("price", "sets", "centers", "J"),
    [
        # With r = 4 - (c1 + c2)/2, now 2 c1 - 1 = 2 c2 - 19 = 2**(price - 1) r, so
        # r = -4 / (4 + 2**price).
        # r = -2/3: rows at 1/6, 5/6, 1/6, 5/6, and 2 * 4/9
        (1, BETWEEN, (1 / 6, 55 / 6), 7 / 3),
        # r = -1/2: rows at 0, 1, 0, 1, and 4 * 1/4
        (2, BETWEEN, (0, 9), 3),
        # at (0, 10) the two clusters cost 2**4 * 1, as much as the first alone, which
        # is kept: 5/3, 2/3, 7/3 around 5/3 and twice 1/2
        (4, APART, (5 / 3, 9.5), 55 / 6),
    ],
)
def test_a_price_on_size_worked_by_hand(price, sets, centers, J):
    model, _ = descent(FIVE, ROKM, overlap_penalty=price)
    assert_array_equal(model.assignments_, sets)
    assert_allclose(model.cluster_centers_.ravel(), centers, atol=1e-7)
    assert_allclose(model.objective_, J, rtol=1e-13)


@pytest.mark.parametrize(
    ("price", "sets", "centers", "J"),
    [
        # The derivatives vanish where 2 (1 + price) (2 c1 - 1) - r - price (4 - c1) and
        # the same with 2 c2 - 19 and 4 - c2 do.
        # 4.5 c1 = 2.6 + r and 4.5 c2 = 42.2 + r: r = -0.8. 1.1 (0.16 + 0.36 + 0.04 +
        # 0.64) + 0.64 + 0.05 (12.96 + 27.04)
        (0.1, BETWEEN, (0.4, 9.2), 3.96),
        # 9 c1 = 8 + r and 9 c2 = 80 + r: r = -0.8. 2 (0.64 + 0.04 + 0.04 + 1.44) + 0.64
        # + 0.5 (10.24 + 23.04)
        (1, BETWEEN, (0.8, 8.8), 21.6),
        # at (0, 10): 16 + 2 * 16 alone, 1 + 16 + 36 together; three times k-means
        (2, APART, (5 / 3, 9.5), 3 * 55 / 6),
    ],
)
def test_a_price_on_distance_worked_by_hand(price, sets, centers, J):
    model, _ = descent(FIVE, ROKM, overlap_penalty=price, penalty="distance")
    assert_array_equal(model.assignments_, sets)
    assert_allclose(model.cluster_centers_.ravel(), centers, atol=1e-7)
    assert_allclose(model.objective_, J, rtol=1e-13)


def test_the_larger_the_price_the_fewer_the_overlaps():
    X = np.random.default_rng(0).normal(size=(60, 2))
    table, C = make_table(X), X[:4].copy()

    def n_memberships(price, penalty):
        model = ROKM(4, overlap_penalty=price, penalty=penalty)
        return model._start(table, C).W.sum()

    by_size = [n_memberships(price, "size") for price in (-4, -1, 0, 1, 2, 50)]
    by_distance = [n_memberships(price, "distance") for price in (0, 0.1, 1, 1e6)]
    for counts in (by_size, by_distance):
        assert counts == sorted(counts, reverse=True)
        assert counts[0] > counts[-1] == 60
    assert OKM(4)._start(table, C).W.sum() == by_size[2] == by_distance[0]


# The search


def test_the_search_stops_at_the_first_cluster_that_does_not_help():
    # 3 is nearest to 5, at 4; with the next nearest, the first of 0 and 10, the middle
    # is 1.5, at 12.25. Both far ones together would be at 0, but are not tried.
    table, C = make_table(column(5)), column(0, 10, 3)
    state = OKM(3)._start(table, C)
    assert_array_equal(state.W, [(0, 0, 1)])
    assert state.objective == 4


def test_equally_near_clusters_are_each_tried_once():
    # -3 and 3 are equally near to 0, and so are -4 and 4: the first two have their
    # middle at 0, and no further one helps
    table = make_table(column(0))
    state = OKM(4)._start(table, column(4, 3, -3, -4))
    assert_array_equal(state.W, [(0, 1, 1, 0)])
    assert state.objective == 0


def test_a_row_keeps_its_last_set_where_that_is_cheaper():
    # grown at (0, 10, 3), 5 is in the last cluster at 4; the first two are at 0
    table, C = make_table(column(5)), column(0, 10, 3)
    model = OKM(3)
    charges = model._charges(table, C)
    for last, cost, expected in (
        ((True, True, False), 0, (True, True, False)),
        ((True, False, True), 4, (False, False, True)),  # the last at 12.25
    ):
        sets, costs = model._choose(table, C, charges, np.array([last]))
        assert_array_equal(sets, [expected])
        assert_array_equal(costs, [cost])


# Edges


@pytest.mark.parametrize("penalty", ["size", "distance"])
def test_an_empty_cluster_keeps_its_center(penalty):
    start = (0.5, 10.5, 1000)
    X = column(0, 1, 10, 11)
    model, _ = descent(X, ROKM, start, penalty=penalty)
    assert_array_equal(model.cluster_centers_, column(*start))
    assert_array_equal(model.labels_, (0, 0, 1, 1))
    assert model.objective_ == (1 if penalty == "size" else 2)


def test_one_cluster_is_the_mean():
    model, _ = descent(column(0, 1, 5), start=(7,))
    assert_array_equal(model.cluster_centers_, [[2]])
    assert model.objective_ == 4 + 1 + 9


@pytest.mark.parametrize("cls", [OKM, ROKM])
def test_rows_on_their_centers_cost_nothing(cls):
    X = column(0, 0, 0, 6, 6, 6)
    model, _ = descent(X, cls, (0, 6))
    assert model.objective_ == 0
    assert_array_equal(model.assignments_, np.repeat([(1, 0), (0, 1)], 3, axis=0))
    assert_array_equal(model.outlier_scores_, np.zeros(6))


def test_a_center_on_top_of_another_gets_no_row():
    # the mean of both is the first again, which is no gain; so it stays where it is
    # until the first has moved away to the mean
    _, states = descent(column(0, 1, 2), start=(0, 0))
    assert_array_equal(states[0].W, [(1, 0), (1, 0), (1, 0)])
    assert_array_equal(states[1].C, column(1, 0))
    # 0 is in the second at 0, 1 in the first at 0, and 2 in the first at 1
    assert_array_equal(states[1].W, [(0, 1), (1, 0), (1, 0)])


def test_a_price_below_zero_on_distance_is_refused():
    with pytest.raises(ValueError, match="overlap_penalty=-1 is not valid for ROKM"):
        ROKM(2, overlap_penalty=-1, penalty="distance").fit(FIVE)
    ROKM(2, overlap_penalty=-1, init=column(0, 10)).fit(FIVE)


def test_sets_too_dear_for_a_float_are_no_second_answer(blobs):
    dear, too_dear = (
        ROKM(3, overlap_penalty=penalty, random_state=0).fit(blobs)
        for penalty in (500.0, 1e300)
    )
    factors = too_dear.discriminant_factors(blobs)
    assert_array_equal(factors, dear.discriminant_factors(blobs))
    assert np.isfinite(factors).all()
