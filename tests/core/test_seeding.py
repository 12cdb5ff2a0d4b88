"""Seeding: chances worked by hand, what draws must not notice, and the rows taken."""

from __future__ import annotations

from collections import Counter
from functools import partial

import numpy as np
import pytest
import reference
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from test_table import each_form, quarters, rows_and_table
from threadpoolctl import threadpool_limits

from rtkm.core.states import Nearest
from rtkm.core.table import Table
from rtkm.core.validation import make_table
from rtkm.seeding import (
    SEEDINGS,
    draw_candidates,
    draw_from_candidates,
    k_means_plus_plus,
    random_rows,
    robin,
    robust_k_means_parallel,
    robust_k_means_plus_plus,
)

ROBUST = [robust_k_means_plus_plus, robust_k_means_parallel]
WEIGHTED = [*ROBUST, k_means_plus_plus, random_rows]
each_robust = pytest.mark.parametrize("seeding", ROBUST)
each_weighted = pytest.mark.parametrize("seeding", WEIGHTED)
each_seeding = pytest.mark.parametrize("seeding", [*WEIGHTED, robin])

draw_once = partial(robust_k_means_plus_plus, n_local_trials=1)

FIVE = np.array([[0.0], [1.0], [10.0], [11.0], [100.0]])


class Given(np.random.RandomState):
    """Hands out given numbers, one call after the other."""

    def __init__(self, *u):
        super().__init__(0)
        self.u = iter(u)

    def random_sample(self, size=None):
        u = np.atleast_1d(next(self.u)).astype(float)
        assert len(u) == size
        return u


def midpoints(n):
    """Numbers that a uniform draw hits equally often."""
    return (np.arange(n) + 0.5) / n


def blobs(rng, *, n_outliers=0):
    """Three blobs of 60 rows, and outliers about 1000 away."""
    centers = np.repeat([[0.0, 0.0], [12.0, 0.0], [0.0, 12.0]], 60, axis=0)
    X = centers + rng.uniform(-1, 1, size=centers.shape)
    angle = rng.uniform(0, 2 * np.pi, size=n_outliers)
    return np.vstack([X, 1000 * np.column_stack([np.cos(angle), np.sin(angle)])])


# Chances


@pytest.mark.parametrize(
    ("n_outliers", "cap", "chances"),
    [
        # squared distances from 0 are 0, 1, 100, 121 and 10000, in all 10222
        (0, 10_000, (0, 0.0001, 0.0098, 0.0118, 0.9783)),
        # without the largest the largest is 121: 0, 1, 100, 121 and 121, in all 343
        (1, 121, (0, 0.0029, 0.2915, 0.3528, 0.3528)),
        # of the three smallest it is 100: 0, 1, 100, 100 and 100, in all 301
        (2, 100, (0, 0.0033, 0.3322, 0.3322, 0.3322)),
    ],
)
def test_chances_are_the_capped_squared_distances(n_outliers, cap, chances):
    table = make_table(FIVE)
    cost = np.full(5, np.inf)
    table.lower(cost, FIVE[:1])
    assert table.cut(cost, 5 - n_outliers).threshold == cap
    drawn = table.draw(Given(midpoints(100_000)), 100_000, cost, cap)
    assert_allclose(np.bincount(drawn, minlength=5) / 1e5, chances, rtol=0, atol=6e-5)
    # and so do the centers that come out at the other end
    seconds = Counter()
    for u in midpoints(500):
        rng = Given(0.1, u)
        C = draw_once(FIVE, 2, n_outliers=n_outliers, random_state=rng)
        assert C[0, 0] == 0
        seconds[C[1, 0]] += 1 / 500
    assert_allclose([seconds[x] for x in FIVE[:, 0]], chances, rtol=0, atol=0.003)


def test_third_center_is_drawn_by_the_distance_to_the_nearer_of_two():
    # to 0 or 11: 0, 1, 1, 0 and 89^2 = 7921, which the cap brings down to 1
    drawn = Counter()
    for u in midpoints(300):
        rng = Given(0.1, 0.5, u)  # 0.5 * 343 falls to 11, after 0, 1 and 101
        C = draw_once(FIVE, 3, n_outliers=1, random_state=rng)
        assert C[:2].ravel().tolist() == [0, 11]
        drawn[C[2, 0]] += 1
    assert drawn == {1: 100, 10: 100, 100: 100}


def test_of_several_draws_the_one_that_leaves_the_least_capped_cost_is_taken():
    # from 0 the cap is 121; 1 leaves 0 + 0 + 81 + 100 + 121, 10 leaves 0 + 1 + 0 + 1 +
    # 121, and 100 leaves 0 + 1 + 100 + 121 + 0: in this order of the draws, 10 is taken
    u = [0.002, 0.2, 0.99]
    options = {"n_outliers": 1, "n_local_trials": 3}
    C = robust_k_means_plus_plus(FIVE, 2, random_state=Given(0.1, u), **options)
    assert C.ravel().tolist() == [0, 10]
    table, cost = make_table(FIVE), FIVE[:, 0] ** 2
    gains = table.addition_changes(FIVE[[1, 2, 4]], cost, 121.0)
    assert_allclose(gains, [302 - 343, 123 - 343, 222 - 343])


def test_a_share_of_outliers_means_whole_rows_by_weight():
    def seeds(n_outliers, u):
        options = {"sample_weight": [1, 1, 1, 1, 0.5], "random_state": Given(0, u)}
        return draw_once(FIVE, 2, n_outliers=n_outliers, **options)

    for u in midpoints(20):
        # 4.5 rows: a tenth is 0.45 and rounds to none, a ninth is 0.5 and to one
        assert_array_equal(seeds(0.1, u), seeds(0, u))
        assert_array_equal(seeds(1 / 9, u), seeds(1, u))


def test_one_far_outlier_is_drawn_by_k_means_plus_plus_and_hardly_by_its_robust_twin():
    X = blobs(np.random.default_rng(0), n_outliers=1)

    def n_taken(seeding, **options):
        drawn = [seeding(X, 3, random_state=seed, **options) for seed in range(200)]
        return sum(np.abs(C).max() > 100 for C in drawn)

    assert n_taken(k_means_plus_plus) >= 195
    # a chance of one row among those of a blob or two, in each of two draws
    assert n_taken(robust_k_means_plus_plus, n_outliers=1) <= 12
    assert n_taken(robust_k_means_parallel, n_outliers=1) <= 12
    assert n_taken(random_rows) <= 12


@each_weighted
def test_equal_rows_give_equal_centers_and_a_warning(seeding):
    with pytest.warns(ConvergenceWarning, match=r"n_clusters=3 exceeds .* rows, 1;"):
        assert_array_equal(seeding(np.ones((4, 1)), 3), np.ones((3, 1)))


def test_zero_costs_fall_back_to_a_uniform_draw():
    # nine rows on the first center, so the cap is 0 and the tenth row as likely as each
    X = np.append(np.zeros(9), 1.0)[:, None]
    sources = [Given(0, u) for u in midpoints(100)]
    C = [draw_once(X, 2, n_outliers=1, random_state=r) for r in sources]
    assert np.sum(C) == 10


def test_random_rows_are_drawn_without_replacement():
    pairs = Counter()
    for u in midpoints(12):
        for v in midpoints(12):
            first, second = random_rows(FIVE[:4], 2, random_state=Given(u, v)).ravel()
            pairs[first, second] += 1
    # 4 * 3 ordered pairs, none of a row with itself, 144 / 12 times each
    assert len(pairs) == 12
    assert set(pairs.values()) == {12}
    assert all(first != second for first, second in pairs)
    for seed in range(20):
        everything = random_rows(FIVE, 5, random_state=seed)
        assert_array_equal(np.sort(everything, axis=0), FIVE)


def test_random_rows_repeat_a_row_as_often_as_its_weight_says():
    weight = [2, 1, 0, 0.5, 1]
    counts = Counter()
    for seed in range(300):
        C = random_rows(FIVE, 4, sample_weight=weight, random_state=seed)
        drawn = Counter(C.ravel())
        assert drawn[0.0] <= 2
        assert drawn[10.0] == 0
        assert max(drawn[1.0], drawn[11.0], drawn[100.0]) <= 1
        counts += drawn
    assert counts[0.0] > counts[1.0] > counts[11.0]


# What a draw must not notice


@each_seeding
def test_shuffling_shifting_and_scaling_by_powers_of_two_draw_the_same_rows(seeding):
    rng = np.random.default_rng(1)
    # binary fractions short enough that the shift does not round them
    X = np.round(blobs(rng, n_outliers=5) * 2.0**40) / 2.0**40
    for seed in range(15):
        options = {} if seeding is robin else {"random_state": seed}
        C = seeding(X, 4, **options)
        assert_array_equal(seeding(rng.permutation(X), 4, **options), C)
        for scale in (2.0**-30, 0.5, 2.0**40):
            assert_array_equal(seeding(X * scale, 4, **options), C * scale)
        assert_array_equal(seeding(X + 1024, 4, **options), C + 1024)
        assert_array_equal(seeding(sparse.csr_array(X), 4, **options), C)
        assert_array_equal(seeding(np.asfortranarray(X), 4, **options), C)


@each_weighted
def test_weights_draw_as_repetitions_do(seeding):
    rng = np.random.default_rng(2)
    X = blobs(rng, n_outliers=5)
    counts = rng.integers(0, 4, size=len(X))
    shuffled = rng.permutation(np.repeat(X, counts, axis=0))
    for seed in range(40):
        weighted = seeding(X, 4, sample_weight=counts, random_state=seed)
        assert_array_equal(weighted, seeding(shuffled, 4, random_state=seed))


@each_weighted
def test_rows_without_weight_are_not_drawn(seeding):
    weight = [0, 1, 1, 2, 0]
    for seed in range(30):
        C = seeding(FIVE, 3, sample_weight=weight, random_state=seed)
        assert set(C.ravel()) <= {1, 10, 11}


@each_seeding
def test_centers_are_rows_of_the_dtype_given_and_the_rows_stay(seeding):
    X = blobs(np.random.default_rng(3)).astype(np.float32)
    before = X.copy()
    C = seeding(X, 5)
    assert (C.dtype, C.shape) == (np.float32, (5, 2))
    assert all((X == c).all(axis=1).any() for c in C)
    assert_array_equal(X, before)


@each_weighted
def test_same_seed_draws_the_same_rows_and_others_do_not(seeding):
    X = blobs(np.random.default_rng(4))
    drawn = {seeding(X, 3, random_state=seed).tobytes() for seed in range(10)}
    again = {seeding(X, 3, random_state=seed).tobytes() for seed in range(10)}
    assert drawn == again
    assert len(drawn) == 10


def test_one_and_two_threads_draw_the_same_rows():
    rng = np.random.default_rng(7)
    # rows are summed by 1024, and a second thread needs as many of such sums
    X, cost = rng.random((1_100_000, 1)), rng.random(1_100_000)
    with threadpool_limits(1):
        alone = make_table(X).draw(np.random.RandomState(0), 1000, cost)
    with threadpool_limits(2):
        together = make_table(X).draw(np.random.RandomState(0), 1000, cost)
    assert_array_equal(together, alone)


def test_names_stand_for_the_functions():
    X = blobs(np.random.default_rng(5), n_outliers=4)
    expected = {
        "robust-k-means++": robust_k_means_plus_plus(
            X, 3, n_outliers=4, random_state=7
        ),
        "robust-k-means||": robust_k_means_parallel(X, 3, n_outliers=4, random_state=7),
        "k-means++": k_means_plus_plus(X, 3, random_state=7),
        "random": random_rows(X, 3, random_state=7),
        "robin": robin(X, 3),
    }
    assert list(SEEDINGS) == list(expected)
    for name, C in expected.items():
        named = SEEDINGS[name](make_table(X), 3, 4, np.random.RandomState(7))
        assert_array_equal(named, C)


# Candidates in rounds


def test_one_round_worked_by_hand():
    # from 0 the cap is 121, and chances 0, 1, 100, 121 and 121 of 343: 0.002 falls to
    # 1, 0.2 to 10 and 0.99 to 100
    rng = Given(0.1, [0.002, 0.2, 0.99])
    candidates, labels = draw_candidates(make_table(FIVE), 1, rng, 1, 3)
    assert candidates.ravel().tolist() == [0, 1, 10, 100]
    assert labels.tolist() == [0, 1, 2, 2, 3]


def slow_candidates(X, weight, n_outliers, u):
    """Candidates by the definition, u for the first one and for those of each round."""
    numbers = [reference.draw(weight, X, u[0][0])]
    for some in u[1:]:
        cost = reference.squared_distances(X, X[numbers]).min(axis=1)
        by_cost = np.argsort(cost, kind="stable")
        reached = np.cumsum(weight[by_cost]) >= weight.sum() - n_outliers
        cap = cost[by_cost[reached.argmax()]]
        if cap == 0:
            break
        chances = weight * np.minimum(cost, cap)
        numbers += [reference.draw(chances, X, ui) for ui in some]
    D = reference.squared_distances(X, X[numbers])
    return X[numbers], D.argmin(axis=1)


@each_form
def test_candidates_follow_the_definition(form):
    rng = np.random.default_rng(17)
    for n, n_outliers in ((7, 1.0), (60, 0.0), (60, 5.25), (400, 40.0)):
        weight = quarters(rng, n) + 0.25
        X, table = rows_and_table(form, rng, n, 3, weight=weight)
        u = [rng.random(size) for size in (1, 4, 4, 4)]
        expected, nearest = slow_candidates(X, weight, n_outliers, u)
        candidates, labels = draw_candidates(table, n_outliers, Given(*u), 3, 4)
        assert_array_equal(candidates, expected)
        assert labels.dtype == np.int32
        assert_array_equal(labels, nearest)


class Column(np.lib.mixins.NDArrayOperatorsMixin):
    """Values of rows that are elsewhere: to be computed with, and not to be had."""

    __array__ = None

    def __init__(self, values):
        self.values = values

    def __array_ufunc__(self, ufunc, method, *inputs):
        return Column(getattr(ufunc, method)(*map(values_of, inputs)))

    def __array_function__(self, function, types, arguments, options):
        assert function is np.where
        return Column(np.where(*map(values_of, arguments)))

    def __getitem__(self, key):
        return Column(self.values[key])


def values_of(column):
    return column.values if isinstance(column, Column) else column


class Elsewhere(Table):
    """A table whose words give and take columns."""

    def nearest(self, C, n_memberships):
        return Nearest(*map(Column, super().nearest(C, n_memberships)))

    def cut(self, values, mass):
        return super().cut(values.values, mass)

    def draw(self, rng, size=1, cost=None, cap=np.inf):
        return super().draw(rng, size, values_of(cost), cap)

    def label_masses(self, labels, n_labels, kept=None):
        return super().label_masses(labels.values, n_labels, kept)


def test_rows_that_are_elsewhere_give_the_same_centers():
    X = blobs(np.random.default_rng(21), n_outliers=9)
    for seed in range(10):
        drawn = [
            draw_from_candidates(table(X, None), 5, 9, np.random.RandomState(seed))
            for table in (Table, Elsewhere)
        ]
        assert_array_equal(*drawn)


@each_robust
@pytest.mark.parametrize("form", [np.asarray, np.float32, sparse.csr_array])
def test_as_many_clusters_as_rows_take_all_rows(seeding, form):
    rng = np.random.default_rng(18)
    for n in (1, 2, 5, 40):
        # most draws fall to the few rows that are far from everything
        X = rng.normal(size=(n, 2)) * 10.0 ** rng.integers(-3, 4, size=(n, 1))
        X = form(X)
        for seed in range(10):
            C = seeding(X, n, n_outliers=0, random_state=seed)
            rows = X.toarray() if sparse.issparse(X) else X
            assert_array_equal(np.unique(C, axis=0), np.unique(rows, axis=0))


def test_few_candidates_are_filled_up_with_other_rows():
    X = blobs(np.random.default_rng(19))
    options = {"n_outliers": 0, "n_rounds": 1, "oversampling": 0.1}
    for seed in range(10):
        # one row, and a single candidate
        C = robust_k_means_parallel(X, 9, random_state=seed, **options)
        assert len(np.unique(C, axis=0)) == 9


def test_candidates_of_most_rows_leave_clusters_for_others():
    # two candidates stand for all but the outliers, and then no other is worth anything
    # among them, though there are 60 different rows
    X = np.concatenate([np.linspace(0, 1, 30), np.linspace(100, 101, 30)])
    X = np.append(X, [1e3, -1e3, 2e3, -2e3])[:, None]
    options = {"n_outliers": 4, "n_rounds": 1, "oversampling": 0.5}
    for seed in range(50):
        C = robust_k_means_parallel(X, 8, random_state=seed, **options)
        assert len(np.unique(C)) == 8


@each_robust
def test_most_rows_alike_are_drawn_again_and_others_as_often_as_they_come(seeding):
    X = np.r_[np.zeros(500), np.ones(450), np.linspace(5, 6, 50)][:, None]
    n_others = 0
    for seed in range(20):
        C = seeding(X, 4, n_outliers=100, random_state=seed)
        assert {0, 1} <= set(C.ravel())
        n_others += (C > 1).sum()
    assert n_others <= 10


def trimmed_cost(X, C, n_outliers):
    cost = np.sort(make_table(X).nearest(C, 1).cost)
    return cost[: len(cost) - n_outliers].sum()


@pytest.mark.parametrize(
    ("far", "share"),
    [("ring", 0.05), ("ring", 0.3), ("clump", 0.05), ("huge", 0.05), ("huge", 0.3)],
)
def test_candidates_of_outliers_become_no_centers(far, share):
    rng = np.random.default_rng(20)
    k, n = 10, 3000
    n_outliers = int(share * n)
    places = 30 * rng.normal(size=(k, 3))
    X = places[rng.integers(k, size=n)] + rng.normal(size=(n, 3))
    directions = rng.normal(size=(n_outliers, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    X[:n_outliers] = {
        "ring": 500 * directions,
        "clump": 500 + directions,
        "huge": 10 ** rng.uniform(3, 9, size=(n_outliers, 1)) * directions,
    }[far]
    costs = {seeding: [] for seeding in ROBUST}
    n_far = 0
    for seed in range(15):
        for seeding, of_it in costs.items():
            C = seeding(X, k, n_outliers=n_outliers, random_state=seed)
            of_it.append(trimmed_cost(X, C, n_outliers))
        n_far += (np.linalg.norm(C, axis=1) > 300).sum()
    ours = np.median(costs[robust_k_means_parallel])
    assert ours <= np.median(costs[robust_k_means_plus_plus])
    assert n_far <= 0.05 * 15 * k


# ROBIN


def outlier_factors(X, n_neighbors):
    """Local outlier factors from all distances (Breunig and others, 2000)."""
    D = np.sqrt(reference.squared_distances(X, X))
    np.fill_diagonal(D, np.inf)
    neighbors = np.argsort(D, axis=1)[:, :n_neighbors]
    reach = D[np.arange(len(X)), neighbors[:, -1]]
    near = np.take_along_axis(D, neighbors, axis=1)
    density = 1 / np.maximum(near, reach[neighbors]).mean(axis=1)
    return density[neighbors].mean(axis=1) / density


def slow_robin(X, n_clusters, n_neighbors=10):
    factors = outlier_factors(X, n_neighbors)
    seeds, targets = [], X.mean(axis=0, keepdims=True)
    for _ in range(n_clusters):
        distance = reference.squared_distances(X, targets).min(axis=1)
        order = [i for i in np.argsort(-distance) if i not in seeds]
        dense = [i for i in order if abs(factors[i] - 1) < 0.05]
        dense = dense or [i for i in order if factors[i] < 1.05]
        seeds.append((dense or [min(order, key=lambda i: factors[i])])[0])
        targets = X[seeds]
    return X[seeds]


@pytest.mark.parametrize("n_neighbors", [1, 3, 10])
def test_robin_visits_far_rows_first_and_takes_the_dense_ones(n_neighbors):
    rng = np.random.default_rng(6)
    for _ in range(25):
        X = rng.normal(size=(rng.integers(12, 60), 2)) * 10 ** rng.uniform(-2, 2)
        expected = slow_robin(X, 5, n_neighbors)
        for _ in range(2):  # the same rows every time
            assert_array_equal(robin(X, 5, n_neighbors=n_neighbors), expected)


def test_robin_takes_one_row_of_every_blob_and_no_outlier():
    for seed in range(10):
        C = robin(blobs(np.random.default_rng(seed), n_outliers=6), 3)
        blob = np.argmin(reference.squared_distances(C, [[0, 0], [12, 0], [0, 12]]), 1)
        assert np.abs(C).max() < 14
        assert sorted(blob) == [0, 1, 2]


@pytest.mark.parametrize("value", [0.0, 5.0, -1e100])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, np.float32])
def test_robin_takes_any_row_of_a_constant_table(value, form):
    X = form(np.full((20, 2), max(value, -1e15) if form is np.float32 else value))
    with pytest.warns(ConvergenceWarning, match="exceeds the number of distinct rows"):
        centers = robin(X, 2)
    assert_array_equal(centers, make_table(X).rows(np.arange(2)))


def test_robin_looks_past_constant_columns():
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[:30] += 20
    for value in (7.0, 1e100):
        wide = robin(np.c_[np.full(60, value), X], 2)
        assert_array_equal(wide[:, 1:], robin(X, 2))


def test_robin_takes_the_only_row():
    assert_array_equal(robin([[3.0, 4.0]], 1), [[3, 4]])


# Errors


@pytest.mark.parametrize("n_clusters", [0, -1, 2.5, "2", None, True])
def test_numbers_of_clusters_that_make_no_sense_are_refused(n_clusters):
    for seeding in (*WEIGHTED, robin):
        with pytest.raises(ValueError, match=f"n_clusters={n_clusters!r}"):
            seeding(FIVE, n_clusters)


@each_robust
@pytest.mark.parametrize("n_outliers", [-1, 1.0, 2.5, "2", None])
def test_numbers_of_outliers_that_make_no_sense_are_refused(seeding, n_outliers):
    with pytest.raises(ValueError, match=f"n_outliers={n_outliers!r}"):
        seeding(FIVE, 2, n_outliers=n_outliers)


@each_robust
def test_more_outliers_than_the_clusters_leave_are_refused(seeding):
    with pytest.raises(ValueError, match="n_outliers=4 leaves 1 of 5 rows, too few"):
        seeding(FIVE, 2, n_outliers=4)


@pytest.mark.parametrize(
    "options", [{"n_rounds": 0}, {"n_rounds": 1.5}, {"oversampling": 0.0}]
)
def test_no_candidates_are_refused(options):
    (name, value), *_ = options.items()
    with pytest.raises(ValueError, match=f"{name}={value!r}"):
        robust_k_means_parallel(FIVE, 2, **options)


def test_robin_refuses_to_look_at_no_neighbor():
    with pytest.raises(ValueError, match="n_neighbors=0"):
        robin(FIVE, 2, n_neighbors=0)


@each_seeding
def test_more_clusters_than_rows_are_refused(seeding):
    message = r"^n_clusters=6 needs at least 6 rows; X has n_samples=5\.$"
    with pytest.raises(ValueError, match=message):
        seeding(FIVE, 6)


@each_weighted
def test_more_clusters_than_rows_with_weight_are_refused(seeding):
    message = "n_clusters=3 needs .* n_samples=5, 2 of positive weight"
    with pytest.raises(ValueError, match=message):
        seeding(FIVE, 3, sample_weight=[1, 0, 0, 0, 2])
    with pytest.raises(ValueError, match=r"^sample_weight is zero for all rows"):
        seeding(FIVE, 3, sample_weight=np.zeros(5))
    with pytest.raises(ValueError, match=r"^sample_weight has negative values"):
        seeding(FIVE, 3, sample_weight=[1, 1, 1, 1, -1])


@each_seeding
def test_tables_that_are_none_are_refused(seeding):
    with pytest.raises(ValueError, match="contains NaN"):
        seeding([[1.0], [np.nan]], 1)
    with pytest.raises(ValueError, match="Expected 2D array"):
        seeding([1.0, 2.0], 1)


# Order and draws


@each_form
def test_order_is_lexicographic_with_ties_by_row(form):
    rng = np.random.default_rng(14)
    for p in (1, 2, 7):
        stored = rows_and_table(form, rng, 300, p)[1].X.copy()
        entries = stored.data if "CSR" in form else stored
        entries[rng.random(entries.shape) < 0.2] = -0.0  # no other than 0.0
        X = stored.toarray() if "CSR" in form else stored
        assert_array_equal(make_table(stored).order, np.lexsort(X.T[::-1]))


@each_form
def test_distinct_rows_with_weight_are_counted(form):
    rng = np.random.default_rng(15)
    for weight in (quarters(rng, 1), quarters(rng, 10), quarters(rng, 300)):
        X, table = rows_and_table(form, rng, len(weight), 2, weight=weight)
        n_distinct = len(np.unique(X[weight > 0], axis=0))
        assert table.count_distinct(1000) == n_distinct
        assert table.count_distinct(n_distinct) == n_distinct
        assert table.count_distinct(1) == 1


@each_form
@pytest.mark.parametrize("n", [1, 50, 3000])  # a draw walks one block of 1024 rows
def test_draws_follow_the_reference(form, n):
    rng = np.random.default_rng(16)
    weight = quarters(rng, n)
    X, table = rows_and_table(form, rng, n, 2, weight=weight)
    cost = rng.integers(0, 5, size=n).astype(float)
    cost[0] = 4.0
    for chances, given_cost, cap in (
        (weight, None, np.inf),
        (weight * cost, cost, np.inf),
        (weight * np.minimum(cost, 1.5), cost, 1.5),
        (weight, np.zeros(n), np.inf),  # no chance for any row: by weight alone
    ):
        drawn = table.draw(np.random.RandomState(0), 6, given_cost, cap)
        u = np.random.RandomState(0).random_sample(6)
        assert drawn.tolist() == [reference.draw(chances, X, ui) for ui in u]


def test_draws_at_the_edges_take_rows_that_have_a_chance():
    table = make_table(np.array([[3.0], [1.0], [0.0], [2.0], [4.0]]))
    cost = np.array([1.0, 2.0, 0.0, 1.0, 0.0])  # in order: 0, 2, 1, 1, 0 quarters
    u = (0.0, 0.4999, 0.5, 0.7499, 0.75, 1 - 2.0**-53)
    assert table.draw(Given(u), len(u), cost).tolist() == [1, 1, 3, 3, 0, 0]
