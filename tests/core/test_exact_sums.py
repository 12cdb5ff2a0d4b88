"""Sums over rows are rounded once: the order of the rows does not show in any word.

So neither does where a table is cut into parts. Rows keep their places where the table
takes its origin from them, as that is what sums are measured from.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from rtkm.core.states import Memberships
from rtkm.core.table import cut_of, exact_sum
from rtkm.core.validation import make_table

N = 3000  # several parts
FORMS = ["float64", "float32", "CSR"]
forms = pytest.mark.parametrize("form", FORMS)
weighings = pytest.mark.parametrize("weighing", ["plain", "fractional"])


def hostile_rows(rng, n, p):
    """Rows over twelve orders of magnitude, many of them twice."""
    X = 10.0 ** rng.uniform(-6, 6, size=(n, 1)) * rng.normal(size=(n, p))
    X[: n // 3] = X[n // 3 : 2 * (n // 3)]
    return X


def clustered_rows(rng, n, p, k):
    C = 10 * rng.normal(size=(k, p))
    X = C[rng.integers(k, size=n)] + rng.normal(size=(n, p))
    return X / 3


def fractional_weights(rng, n):
    return rng.choice([1 / 3, 0.1, 0.7, 2.9, 1e-9, 1e6 / 7], size=n)


def in_form(X, form):
    if form == "CSR":
        return sparse.csr_array(np.where(np.abs(X) > np.median(np.abs(X)), X, 0))
    return X.astype(form)


def other_order(rng, n):
    """Another order, in which the rows that the origin is taken from stay in place."""
    n_asked = min(n, 33)
    asked = np.arange(n_asked) * (n // n_asked)
    others = np.setdiff1d(np.arange(n), asked)
    order = np.arange(n)
    order[others] = rng.permutation(others)
    return order


class Pair:
    """A table, and the same one in another order."""

    def __init__(self, X, form, weighing):
        rng = np.random.default_rng(1)
        n = X.shape[0]
        self.order = other_order(rng, n)
        self.weights = None
        if weighing == "fractional":
            self.weights = fractional_weights(rng, n)
        elif weighing == "thirds":
            self.weights = rng.choice([1 / 3, 0.1, 0.7, 2.9], size=n)
        X = in_form(X, form)
        shuffled = None if self.weights is None else self.weights[self.order]
        self.tables = make_table(X, self.weights), make_table(X[self.order], shuffled)
        self.w = np.ones(n) if self.weights is None else self.weights

    def of_both(self, word):
        """Return what a word says of both, given the numbers of the rows."""
        first, second = self.tables
        return word(first, np.arange(first.n_rows)), word(second, self.order)

    def assert_same(self, word):
        for a, b in zip(*self.of_both(word), strict=True):
            assert_array_equal(a, b)


def column_sums(terms):
    return np.array([math.fsum(column) for column in terms.T])


# What swaps would change


def some_nearest(table, C, s):
    return table.nearest(np.ascontiguousarray(C, dtype=table.dtype), s)


@pytest.mark.parametrize("s", [1, 2])
@forms
@weighings
def test_changes_by_swaps(form, weighing, s):
    rng = np.random.default_rng(0)
    X = clustered_rows(rng, N, 5, 6) * 10.0 ** rng.uniform(-6, 6, size=(N, 1))
    pair = Pair(X, form, weighing)
    table = pair.tables[0]
    C, candidates = table.rows(np.arange(0, 60, 10)), table.rows(np.arange(5, 400, 40))
    cap = float(np.quantile(some_nearest(table, C, s).cost, 0.9))

    def changes(table, _):
        return (table.swap_changes(candidates, table.nearest(C, s), len(C), cap),)

    pair.assert_same(changes)


@forms
def test_changes_by_swaps_are_sums_that_are_rounded_once(form):
    rng = np.random.default_rng(1)
    X = clustered_rows(rng, N, 4, 5) * 10.0 ** rng.uniform(-6, 6, size=(N, 1))
    pair = Pair(X, form, "fractional")
    table, w = pair.tables[0], pair.w
    C, candidates = table.rows(np.arange(0, 50, 10)), table.rows(np.arange(3, 90, 20))
    k, nearest = len(C), table.nearest(C, 1)
    cost, spare, labels = nearest.cost, nearest.spare, nearest.labels[:, 0]
    cap = float(np.quantile(cost, 0.9))
    found = table.sums("swap_changes", candidates, *nearest, cap, k)[0]
    loss = np.minimum(spare, cap) - np.minimum(cost, cap)
    D = table.squared_distances(candidates).astype(np.float64)
    for c, dx in enumerate(D.T):
        met = np.minimum(np.minimum(dx, cost), cap)
        assert found[c, k] == math.fsum(w * (met - np.minimum(cost, cap)))
        without = np.minimum(np.minimum(dx, spare), cap)
        terms = w * ((without - met) - loss)
        for j in range(k):
            assert found[c, j] == math.fsum(terms[labels == j])
    for j in range(k):
        assert found[-1, j] == math.fsum((w * loss)[labels == j])


@forms
@weighings
def test_changes_by_additional_centers(form, weighing):
    rng = np.random.default_rng(2)
    pair = Pair(hostile_rows(rng, N, 3), form, weighing)
    C = pair.tables[0].rows(np.array([5]))
    rows = pair.tables[0].rows(np.arange(7, 90, 20))
    costs = some_nearest(pair.tables[0], C, 1).cost
    cap = float(np.quantile(costs, 0.8))
    pair.assert_same(lambda X, of: (X.addition_changes(rows, costs[of], cap),))


# What it costs to lose a center, and to split clusters


@forms
@weighings
@pytest.mark.parametrize("p", [3, 8, 13])
def test_losses(form, weighing, p):
    rng = np.random.default_rng(p)
    X = clustered_rows(rng, N, p, 6) * 10.0 ** rng.uniform(-3, 3, size=(N, 1))
    pair = Pair(X, form, weighing)
    C = pair.tables[0].rows(np.arange(0, 60, 10))
    cap = float(np.quantile(some_nearest(pair.tables[0], C, 1).cost, 0.9))
    pair.assert_same(lambda X, _: (X.losses(C, cap),))


@forms
@weighings
@pytest.mark.parametrize("p", [1, 3, 8, 13])
def test_halves_of_clusters(form, weighing, p):
    rng = np.random.default_rng(p)
    X = clustered_rows(rng, N, p, 6) * 10.0 ** rng.uniform(-6, 6, size=(N, 1))
    pair = Pair(X, form, weighing)
    table, w = pair.tables[0], pair.w
    C = table.rows(np.arange(0, 60, 10))
    nearest = some_nearest(table, C, 1)
    labels, cap = nearest.labels[:, 0], float(np.quantile(nearest.cost, 0.9))
    halves = np.repeat(C, 2, axis=0) * np.tile([[1.01], [0.99]], (6, 1))
    halves = halves.astype(table.dtype)

    def halved(X, of):
        return X.split_step(halves, np.ascontiguousarray(labels[of]), cap)

    pair.assert_same(halved)
    _, masses, costs = halved(table, np.arange(N))
    D = table.squared_distances(halves).astype(np.float64)
    first, second = D[np.arange(N), 2 * labels], D[np.arange(N), 2 * labels + 1]
    cost, half = np.minimum(first, second), 2 * labels + (second < first)
    for j in range(6):
        terms = w * np.minimum(cost, cap)
        assert costs[j] == math.fsum(terms[labels == j])
    for h in range(12):
        assert masses[h] == math.fsum(w[(half == h) & (cost <= cap)])


# Weighted sums and means


@forms
@weighings
@pytest.mark.parametrize("p", [1, 3, 8, 13])
def test_weighted_sums(form, weighing, p):
    rng = np.random.default_rng(p)
    pair = Pair(hostile_rows(rng, N, p), form, weighing)
    table = pair.tables[0]
    W = rng.choice([0.0, 1 / 3, 0.1, 1.0], size=(N, 4))
    pair.assert_same(lambda X, of: X.weighted_sums(W[of]))
    sums, masses = table.weighted_sums(W)
    dense = table.rows(np.arange(N)).astype(np.float64)
    for j in range(4):
        part = pair.w * W[:, j]
        assert masses[j] == math.fsum(part)
        assert_array_equal(sums[j], column_sums(part[:, None] * dense))


@forms
@weighings
def test_the_mean_row_and_the_scale(form, weighing):
    pair = Pair(hostile_rows(np.random.default_rng(0), N, 6), form, weighing)
    pair.assert_same(lambda X, _: (X.mean, X.squared_scale))


# Steps of the methods that trim


def steps(table, C, share, s=1, n_steps=4):
    states = [table.concentrate(C, s, share * table.mass)]
    for _ in range(n_steps - 1):
        last = states[-1]
        states.append(table.concentrate(last.means, s, last.kept_mass, last))
    return states


def outcomes(state):
    return (
        state.means,
        state.objective,
        state.cut.threshold,
        state.cut.share,
        state.n_changed,
    )


@pytest.mark.parametrize("s", [1, 2])
@pytest.mark.parametrize("weighing", ["plain", "thirds"])
@forms
def test_concentration_steps(form, weighing, s):
    pair = Pair(clustered_rows(np.random.default_rng(3), N, 5, 6), form, weighing)
    C = pair.tables[0].rows(np.arange(0, 600, 100))
    for share in (0.9, 1.0):
        found = pair.of_both(lambda X, _, share=share: steps(X, C, share, s))
        for a, b in zip(*found, strict=True):
            for x, y in zip(outcomes(a), outcomes(b), strict=True):
                assert_array_equal(x, y)
            assert_array_equal(a.kept[pair.order], b.kept)


@weighings
def test_costs_that_are_summed_row_by_row(weighing):
    rng = np.random.default_rng(4)
    at = rng.integers(5, size=N)
    spread = 10.0 ** rng.uniform(-6, -1, size=(N, 1))
    X = 1e8 * np.arange(5.0)[at][:, None] + spread * rng.normal(size=(N, 3))
    pair = Pair(X, "float64", weighing)
    C = np.repeat(1e8 * np.arange(5.0)[:, None], 3, axis=1)
    pair.assert_same(lambda X, _: (X.concentrate(C, 1, X.mass).objective,))
    table = pair.tables[0]
    costs = table.nearest(C, 1).cost
    assert table.concentrate(C, 1, table.mass).objective == math.fsum(pair.w * costs)


# Masses


def plainly_cut(values, weights, mass):
    """Where exact sums, each rounded, first reach the mass; and what is kept there."""
    below = Fraction(0)
    for i in np.argsort(values, kind="stable"):
        weight = Fraction(weights[i])
        if float(below + weight) >= mass:
            return values[i], i, float((Fraction(mass) - below) / weight)
        below += weight
    raise AssertionError("there is not so much")


@pytest.mark.parametrize("n", [300, N, 30_000])
def test_cuts_of_weighted_rows(n):
    rng = np.random.default_rng(n)
    for share in (0.05, 0.5, 1 / 3, 0.95, 0.999):
        values = rng.permutation(n) / 7.0
        weights = rng.choice([1 / 3, 0.1, 0.7, 1e6 / 7], size=n)
        mass = share * exact_sum(weights)
        cut = cut_of(values, weights, mass)
        threshold, row, kept = plainly_cut(values, weights, mass)
        assert (cut.threshold, cut.row) == (threshold, row)
        assert_allclose(cut.share, min(max(kept, 0.0), 1.0), rtol=1e-9, atol=1e-9)
        order = rng.permutation(n)
        again = cut_of(values[order], weights[order], mass)
        assert again._replace(row=order[again.row]) == cut


def test_a_whole_number_of_tenths_is_cut_between_two_rows():
    # 0.1 is a little more than a tenth; so are ten of them, but by less than a digit
    values = np.arange(1000.0)
    for n_kept in range(10, 1000, 10):
        cut = cut_of(values, np.full(1000, 0.1), n_kept / 10)
        assert (cut.row, cut.share) == (n_kept - 1, pytest.approx(1, abs=1e-12))


def test_the_total_weight_is_rounded_once():
    rng = np.random.default_rng(0)
    for n in (10, 1000, 50_000):
        weights = fractional_weights(rng, n) * 10.0 ** rng.uniform(-6, 6, size=n)
        table = make_table(np.zeros((n, 1)), weights)
        assert table.mass == math.fsum(weights)
        assert exact_sum(weights[::-1]) == table.mass


@weighings
def test_totals_are_rounded_once(weighing):
    rng = np.random.default_rng(1)
    for n in (10, 1000, 50_000):
        values = 10.0 ** rng.uniform(-6, 6, size=n) * rng.normal(size=n)
        pair = Pair(np.zeros((n, 1)), "float64", weighing)
        pair.assert_same(lambda X, of, values=values: (X.total(values[of]),))
        weighted = zip(pair.w, values, strict=True)
        exactly = sum(Fraction(weight) * Fraction(value) for weight, value in weighted)
        assert pair.tables[0].total(values) == float(exactly)
        mask = values > 0
        assert pair.tables[0].total(mask) == math.fsum(pair.w[mask])


def test_totals_that_overflow_are_infinite():
    table = make_table(np.zeros((3, 1)))
    assert table.total(np.array([1e308, 1e308, 1.0])) == np.inf
    assert table.total(np.array([np.inf, 1.0, 2.0])) == np.inf


@pytest.mark.parametrize("s", [1, 2])
def test_masses_of_clusters_are_rounded_once(s):
    X = make_table(np.zeros((N, 1)))
    rng = np.random.default_rng(s)
    clusters = np.stack([rng.permutation(7)[:s] for _ in range(N)]).astype(np.int32)
    clusters[::5] = -1  # share themselves
    n_sharing = int((clusters[:, 0] < 0).sum())
    shares = rng.dirichlet(np.ones(7), size=n_sharing)
    shares *= rng.random(shares.shape) < 0.5
    kept = fractional_weights(rng, N) * 10.0 ** rng.uniform(-6, 6, size=N)
    whole = Memberships(clusters[clusters[:, 0] >= 0], sparse.csr_array((0, 7)))
    of_whole = kept[clusters[:, 0] >= 0]
    for j, mass in enumerate(whole.masses(X, of_whole)):
        assert mass == math.fsum(of_whole[(whole.clusters == j).any(axis=1)])
    sharing = Memberships(clusters[clusters[:, 0] < 0], sparse.csr_array(shares))
    of_sharing = kept[clusters[:, 0] < 0]
    for j, mass in enumerate(sharing.masses(X, of_sharing)):
        assert mass == math.fsum(of_sharing * shares[:, j])
    both = Memberships(clusters, sparse.csr_array(shares))
    assert_array_equal(
        both.masses(X, kept), whole.masses(X, of_whole) + sharing.masses(X, of_sharing)
    )


class GivenNumbers:
    """A source of randomness that is none."""

    def __init__(self, *numbers):
        self.numbers = np.array(numbers)

    def random_sample(self, size):
        return self.numbers[:size]


def test_draws_go_by_sums_that_are_rounded_once():
    rng = np.random.default_rng(0)
    X = np.arange(float(N))[:, None]
    for _ in range(20):
        # a number that hides the others from a plain sum of doubles, and then leaves
        cost = np.ones(N)
        cost[rng.integers(10)] = 2.0**53
        ends = np.cumsum([int(c) for c in cost], dtype=object)
        total = float(ends[-1])
        u = 1 - 2.0**-53 * np.arange(1, 200, 3)
        drawn = make_table(X).draw(GivenNumbers(*u), len(u), cost=cost)
        for number, row in zip(u, drawn, strict=True):
            target = number * total
            assert row == next(i for i, end in enumerate(ends) if float(end) > target)


# Proximal steps


def proximal_steps(table, C, s, share, step, n_steps=4):
    mass = share * table.mass
    states = [table.proximal_step(C, s, mass, step)]
    for _ in range(n_steps - 1):
        last = states[-1]
        states.append(table.proximal_step(last.means, s, mass, step, last))
    return states


# few sums, many, and more than registers hold
@pytest.mark.parametrize(("p", "k"), [(3, 5), (7, 4), (37, 30), (130, 9)])
@pytest.mark.parametrize("s", [1, 2])
@forms
@weighings
def test_proximal_steps(form, weighing, s, p, k):
    rng = np.random.default_rng(p)
    pair = Pair(clustered_rows(rng, N, p, k), form, weighing)
    C = pair.tables[0].rows(np.arange(k) * 7)
    size = float(20 * p)

    def all_steps(X, _):
        return proximal_steps(X, C, s, 0.9, size)

    n_sharing = 0
    for a, b in zip(*pair.of_both(all_steps), strict=True):
        n_sharing += int((a.clusters[:, 0] < 0).sum())
        assert_array_equal(a.means, b.means)
        assert_array_equal(a.v[pair.order], b.v)
        assert_array_equal(a.W[pair.order], b.W)
        assert a.objective == b.objective
        assert a.native.threshold == b.native.threshold
    assert n_sharing > N


@weighings
def test_projections(weighing):
    rng = np.random.default_rng(0)
    pair = Pair(np.zeros((N, 1)), "float64", weighing)
    z = rng.uniform(-1, 2, size=N)
    for share in (0.1, 1 / 3, 0.9):
        mass = share * pair.tables[0].mass
        a, b = pair.of_both(lambda X, of, mass=mass: X.project(z[of], mass))
        assert_array_equal(a[pair.order], b)
