"""Fuzzy c-means: a case worked by hand, rows on centers, and extreme fuzzifiers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import column

from rtkm import FuzzyCMeans
from rtkm.clusterers.fuzzy import shares
from rtkm.core.validation import make_table


def test_three_rows_worked_by_hand():
    states = []
    model = FuzzyCMeans(2, init=column(0.5, 4), tol=0, on_step=states.append)
    model.fit(column(0, 1, 4))
    # Squared distances 1/4 and 16, 1/4 and 9, 12.25 and 0: shares 16 and 1/4 of 16.25,
    # 9 and 1/4 of 9.25, 0 and 1. Rows cost D1 D2 / (D1 + D2): 4/16.25 + 2.25/9.25.
    U = [(64 / 65, 1 / 65), (36 / 37, 1 / 37), (0, 1)]
    assert_allclose(states[0].W, U, rtol=1e-14)
    assert_allclose(U[0][0], 0.984615, atol=5e-7)
    assert_allclose(U[1][0], 0.972973, atol=5e-7)
    assert_allclose(states[0].objective, 4 / 16.25 + 2.25 / 9.25, rtol=1e-14)
    assert_allclose(states[0].objective, 0.489397, atol=5e-7)
    # means under squared shares; the first row adds nothing, since it is 0
    c1 = (36 / 37) ** 2 / ((64 / 65) ** 2 + (36 / 37) ** 2)
    c2 = (1 / 37**2 + 4) / (1 / 65**2 + 1 / 37**2 + 1)
    assert_allclose(states[1].C.ravel(), (c1, c2), rtol=1e-14)
    assert_allclose((c1, c2), (0.494053, 3.996865), atol=5e-7)
    # there, with the shares as they were and with new ones
    D = (column(0, 1, 4) - np.array([c1, c2])) ** 2
    assert_allclose((np.square(U) * D).sum(), 0.489319, atol=5e-7)
    assert_allclose(states[1].objective, 0.489313, atol=5e-7)
    assert_allclose(states[1].W.sum(axis=1), 1, rtol=1e-15)
    # the limit
    assert_allclose(model.cluster_centers_.ravel(), (0.493481, 3.996787), atol=5e-7)
    assert_allclose(model.objective_, 0.489313, atol=5e-7)
    assert_array_equal(model.labels_, (0, 0, 1))
    assert_allclose(
        model.partition_coefficient_, np.square(model.memberships_).sum() / 3
    )


def test_the_limit_is_a_fixed_point():
    X = column(0, 1, 4)
    model = FuzzyCMeans(2, init=column(0.5, 4), tol=0).fit(X)
    weights = model.memberships_**2
    means = weights.T @ X / weights.sum(axis=0)[:, None]
    # J is flat there: right to 1e-16 of itself, centers are right to 1e-8
    assert_allclose(model.cluster_centers_, means, rtol=1e-7)


@pytest.mark.parametrize(
    ("fuzzifier", "expected"),
    [
        # squared distances 1 and 4: odds 4**(1/(m - 1))
        (2, (4 / 5, 1 / 5)),
        (1.5, (16 / 17, 1 / 17)),
        (3, (2 / 3, 1 / 3)),
        (1.001, (1, 0)),  # odds of 4**1000
        (1 + 1e-9, (1, 0)),
        (1e9, (0.5, 0.5)),
    ],
)
def test_shares_worked_by_hand(fuzzifier, expected):
    assert_allclose(shares(np.array([(1.0, 4.0)]), fuzzifier), [expected], atol=1e-9)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1.0, 1e150, 1e300])
def test_no_unit_carries_shares_out_of_range(scale):
    D = scale * np.array([(1.0, 4.0), (4.0, 4.0)])
    for fuzzifier, odds in ((2, 4), (1.1, 4.0**10), (9, 4 ** (1 / 8))):
        expected = [(odds / (1 + odds), 1 / (1 + odds)), (0.5, 0.5)]
        assert_allclose(shares(D, fuzzifier), expected, rtol=1e-12)


@pytest.mark.parametrize("fuzzifier", [1.01, 2, 5])
def test_a_row_on_centers_belongs_to_these_alone_in_equal_shares(fuzzifier):
    D = np.array([(0, 1, 2), (0, 0, 2), (0, 0, 0), (3, 0, 1)], dtype=float)
    expected = [(1, 0, 0), (0.5, 0.5, 0), (1 / 3, 1 / 3, 1 / 3), (0, 1, 0)]
    assert_array_equal(shares(D, fuzzifier), expected)


def test_centers_that_coincide_share_their_rows():
    # the first two start at one place and stay together
    X = column(0, 0, 0, 8, 8)
    model = FuzzyCMeans(3, init=column(0, 0, 8))
    with pytest.warns(UserWarning, match="exceeds the number of distinct rows"):
        model.fit(X)
    halves = [(0.5, 0.5, 0)] * 3 + [(0, 0, 1)] * 2
    assert_array_equal(model.memberships_, halves)
    assert_array_equal(model.labels_, (0, 0, 0, 2, 2))
    assert_array_equal(model.cluster_centers_, column(0, 0, 8))
    assert model.objective_ == 0
    assert_array_equal(model.predict_memberships(X), halves)


def test_a_center_without_shares_stays():
    # every row sits on one of the first two, so the third has nothing
    X = column(0, 0, 8, 8)
    model = FuzzyCMeans(3, init=column(0, 8, 20))
    state = model._step(make_table(X), model._start(make_table(X), column(0, 8, 20)))
    assert_array_equal(state.C, column(0, 8, 20))
    assert not np.isnan(state.W).any()


def test_one_cluster_is_the_mean():
    model = FuzzyCMeans(1, init=column(9)).fit(column(0, 1, 5))
    assert_allclose(model.cluster_centers_, [[2]], rtol=1e-15)
    assert_array_equal(model.memberships_, np.ones((3, 1)))
    assert_allclose(model.objective_, 4 + 1 + 9, rtol=1e-15)


def test_large_fuzzifiers_blur_everything_and_say_so():
    X = np.random.default_rng(0).normal(size=(50, 3))
    model = FuzzyCMeans(3, fuzzifier=50, init=X[:3] + 0.5)
    with pytest.warns(UserWarning, match="about the same share in all clusters"):
        model.fit(X)
    assert_allclose(model.memberships_, 1 / 3, atol=0.02)
    assert model.partition_coefficient_ == pytest.approx(1 / 3, rel=1e-3)


def test_many_dimensions_blur_everything_too():
    X = np.random.default_rng(0).normal(size=(60, 200))
    with pytest.warns(UserWarning, match="at fuzzifier=2.0 every row has about"):
        model = FuzzyCMeans(3, random_state=0, max_iter=3000).fit(X)
    assert_allclose(model.cluster_centers_, np.tile(X.mean(axis=0), (3, 1)), atol=0.05)


def test_assignments_are_shares_from_the_threshold_on_and_always_the_largest():
    # at (0, 3): shares of 0 are 1 and 0, of 1 4/5 and 1/5, of 1.5 a half each
    X = column(0, 1, 1.5, 3)
    model = FuzzyCMeans(2, init=column(0, 3), max_iter=1)
    for threshold in (0.1, 0.3, 0.75, 1.0):
        model.set_params(membership_threshold=threshold)
        with pytest.warns(UserWarning, match="stopped at max_iter=1"):
            U = model.fit(X).memberships_
        expected = (threshold <= U) | (np.arange(2) == U.argmax(axis=1)[:, None])
        assert_array_equal(model.assignments_, expected)
    model.set_params(membership_threshold=None)
    with pytest.warns(UserWarning, match="stopped at max_iter=1"):
        model.fit(X)
    assert_array_equal(
        model.assignments_, (U >= 0.5) | (np.arange(2) == U.argmax(axis=1)[:, None])
    )
    assert model.assignments_.any(axis=1).all()


def test_a_weight_is_a_number_of_repetitions():
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(30, 2)), rng.integers(0, 4, size=30)
    options = {"init": X[:3], "max_iter": 5000}
    weighted = FuzzyCMeans(3, **options).fit(X, sample_weight=weights)
    repeated = FuzzyCMeans(3, **options).fit(np.repeat(X, weights, axis=0))
    assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, atol=1e-9)
    assert_allclose(weighted.objective_path_, repeated.objective_path_, rtol=1e-9)
    assert weighted.partition_coefficient_ == pytest.approx(
        repeated.partition_coefficient_
    )
