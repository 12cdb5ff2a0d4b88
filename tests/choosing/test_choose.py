"""Choices on tables with known answers, in any order, unit, weight and format."""

from __future__ import annotations

import json
import warnings
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from threadpoolctl import threadpool_limits

from rtkm import RTKM, choose
from rtkm.choosing import choose_for
from rtkm.choosing.clusters import Trial, group_means
from rtkm.choosing.outliers import find_shapes
from rtkm.choosing.steps import tail_at
from rtkm.core.validation import make_table


def blobs(seed, n_each=120, k=3, d=2, gap=9.0, n_outliers=0):
    """Round clusters along a diagonal, and rows far away from it."""
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(k, n_each, d))
    X += gap * np.arange(k)[:, None, None] / np.sqrt(d)
    far = rng.normal(size=(n_outliers, d))
    far *= rng.uniform(60, 90, (n_outliers, 1)) / np.linalg.norm(far, axis=1)[:, None]
    return rng.permutation(np.concatenate([X.reshape(-1, d), far]))


def assert_same(a, b, scale=1.0, shift=0.0):
    assert (a.n_clusters, a.n_outliers) == (b.n_clusters, b.n_outliers)
    assert a.alternatives == b.alternatives
    assert a.heavy_tails == b.heavy_tails
    assert [t["n_groups"] for t in a.table] == [t["n_groups"] for t in b.table]
    assert_allclose(a.init * scale + shift, b.init, rtol=1e-6, atol=1e-6 * scale)


# Known answers


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("n_outliers", [0, 12])
def test_separate_clusters_and_far_rows_are_found(k, n_outliers):
    for seed in range(3):
        X = blobs(seed, k=k, d=4, n_outliers=n_outliers)
        choice = choose(X, random_state=seed)
        assert choice.n_clusters == k
        assert n_outliers <= choice.n_outliers <= 1.4 * n_outliers + 2
        found = RTKM(**choice.params, random_state=0).fit(X)
        assert (np.linalg.norm(X[~found.outlier_mask_], axis=1) < 50).all()


@pytest.mark.parametrize("draw", ["normal", "uniform"])
def test_one_cloud_is_one_cluster_without_outliers(draw):
    for seed in range(3):
        X = getattr(np.random.RandomState(seed), draw)(size=(700, 2))
        choice = choose(X, random_state=0)
        assert choice.n_clusters == 1
        assert choice.contamination <= 0.01
        assert "No separate groups" in choice.summary()


def test_clusters_in_many_columns_are_found():
    # a row is farther from the rows of its group than from the mean of all
    rng = np.random.RandomState(0)
    X = np.concatenate([rng.normal(c, 1, size=(150, 256)) for c in (0, 1)])
    assert choose(X, random_state=0).n_clusters == 2


def test_heavy_tails_are_no_outliers():
    rng = np.random.RandomState(1)
    X = rng.normal(size=(900, 3)) / np.sqrt(rng.chisquare(3, size=(900, 1)) / 3)
    choice = choose(X, random_state=0)
    assert choice.heavy_tails
    assert choice.contamination <= 0.01
    assert "heavy tails" in choice.summary()


def test_a_small_group_counts_as_outliers_and_is_named():
    rng = np.random.RandomState(2)
    clump = rng.normal([30, 30], 0.3, size=(25, 2))
    X = np.concatenate([blobs(0, n_each=200), clump])
    choice = choose(X, random_state=0)
    assert choice.n_clusters == 3
    assert choice.n_outliers >= 25
    assert choice.small_groups.sizes.tolist() == [25]
    assert_allclose(choice.small_groups.centers, [[30, 30]], atol=0.5)
    assert "25 rows alike" in choice.summary()
    assert choose(X, min_cluster=0.05, random_state=0).n_clusters == 4


def test_pairs_and_table_say_why():
    choice = choose(blobs(3), random_state=0)
    assert [pair["clusters"] for pair in choice.pairs] != []
    assert len(choice.pairs) == 3
    chances = [pair["chance"] for pair in choice.pairs]
    assert chances == sorted(chances, reverse=True)
    weakest = choice.pairs[0]
    assert weakest["between"] < min(weakest["around"])
    assert len(weakest["histogram"]) == 60
    assert choice.table[0]["n_cells"] == choice.table[0]["n_groups"] == 1
    assert all(0 <= line["stability"] <= 1 for line in choice.table)


# What is given


def test_a_given_number_of_clusters_is_kept():
    X = blobs(4, k=3, n_outliers=10)
    for k in 1, 2, 5:
        choice = choose(X, k, random_state=0)
        assert choice.n_clusters == len(choice.init) == k
        assert choice.n_separate == 3
        assert not choice.is_sure
        assert f"{k} cluster" in choice.summary()
        assert "as you asked; gaps were found between 3 groups." in choice.summary()
    choice = choose(X, 3, random_state=0)
    assert choice.n_outliers >= 10
    assert choice.is_sure


def test_small_groups_are_clusters_where_as_many_are_asked_for():
    rng = np.random.RandomState(0)
    small = rng.normal(40, 0.5, (20, 2))
    X = np.concatenate([blobs(0, n_each=200, k=3), small])
    choice = choose(X, random_state=0)
    assert choice.n_clusters == 3
    assert_allclose(choice.small_groups.centers, [[40, 40]], atol=1)
    assert choice.n_outliers >= 20
    for numbers in 4, [2, 4], [4, 9]:
        choice = choose(X, numbers, random_state=0)
        assert choice.n_clusters == 4
        assert choice.n_outliers < 10
        assert abs(choice.init - 40).max(axis=1).min() < 1
        found = RTKM(numbers, random_state=0).fit(X)
        assert np.bincount(found.labels_ + 1)[1:].tolist()[-1] == 20


@pytest.mark.parametrize("n_each", [13, 300])
def test_no_gaps_are_claimed_for_numbers_that_none_were_found_for(n_each):
    X = np.random.RandomState(0).normal(size=(n_each, 2))
    choice = choose(X, [3, 4], random_state=0)
    assert choice.n_clusters == 3
    assert not choice.is_sure
    assert "with gaps" not in choice.summary()


def test_many_clumps_do_not_make_clusters_of_themselves():
    rng = np.random.RandomState(0)
    clumps = [rng.normal(c, 0.2, (14, 2)) for c in ([60, 0], [0, 60], [-60, 0])]
    X = np.concatenate([blobs(0, n_each=500, k=2), *clumps])
    choice = choose(X, random_state=0)
    assert choice.n_clusters == 2
    assert choice.n_outliers >= 42


@pytest.mark.parametrize("weight", [1, 5, 20, 1000])
def test_equal_weights_of_any_size_flag_the_same_rows(weight):
    X = blobs(0, n_each=240, k=2, n_outliers=20)
    choice = choose(X, sample_weight=np.full(len(X), weight), random_state=0)
    assert 0.038 <= choice.contamination <= 0.06


@pytest.mark.parametrize("seed", range(3))
def test_many_clusters_are_counted(seed):
    rng = np.random.RandomState(seed)
    C = 12.0 * np.array([(i, j) for i in range(6) for j in range(6)])[:33]
    X = C[rng.randint(33, size=2500)] + rng.normal(size=(2500, 2))
    choice = choose(X, random_state=seed)
    assert choice.n_clusters == 33
    assert choice.n_outliers < 25


@pytest.mark.parametrize("seed", range(3))
def test_rows_of_a_wide_cluster_beside_a_narrow_one_do_not_stand_out(seed):
    rng = np.random.RandomState(seed)
    wide, narrow = rng.normal(size=(600, 2)), rng.normal(size=(400, 2))
    X = np.concatenate([6 * wide, 0.3 * narrow + [20, 0]])
    choice = choose(X, random_state=seed)
    assert choice.n_clusters == 2
    assert choice.n_outliers <= 10


def test_equal_rows_say_nothing_of_the_tail():
    rng = np.random.RandomState(0)
    X = np.concatenate([np.zeros((150, 3)), rng.normal(12, 1, (600, 3))])
    X = np.concatenate([X, rng.uniform(-60, 60, (20, 3))])
    choice = choose(X, random_state=0)
    assert choice.n_clusters == 2
    assert 15 <= choice.n_outliers <= 35


# Rounded columns


@pytest.mark.parametrize("seed", range(3))
def test_outliers_among_grades_are_counted(seed):
    rng = np.random.RandomState(seed)
    kinds = rng.randint(3, size=700)
    grades = np.round(rng.normal(size=(700, 3)) + 5 * kinds[:, None])
    X = np.concatenate([grades, rng.normal(size=(700, 2))], axis=1)
    assert choose(X, random_state=seed).contamination <= 0.01
    far = rng.uniform(-12, 22, (35, 5))
    choice = choose(np.concatenate([X, far]), random_state=seed)
    assert choice.n_clusters == 3
    assert 25 <= choice.n_outliers <= 60


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("n_features", "step"), [(1, 1.0), (2, 1.0), (2, 0.5)], ids=str
)
def test_one_rounded_cloud_is_one_cluster(n_features, step, seed):
    rng = np.random.RandomState(seed)
    X = step * np.round(rng.normal(size=(1000, n_features)) / step)
    choice = choose(X, random_state=seed)
    assert choice.n_clusters == 1
    assert any("within their rounding" in warning for warning in choice.warnings)


@pytest.mark.parametrize("seed", range(3))
def test_clusters_of_yes_and_no_are_found(seed):
    rng = np.random.RandomState(seed)
    patterns = np.repeat(np.eye(3), 8, axis=1)  # three blocks of eight columns
    kinds = rng.randint(3, size=600)
    X = (rng.uniform(size=(600, 24)) < np.where(patterns[kinds] > 0, 0.93, 0.07)) * 1.0
    assert choose(X, random_state=seed).n_clusters == 3


def test_rounded_rows_count_by_their_weights():
    rng = np.random.RandomState(1)
    X = np.round(np.concatenate([rng.normal(c, 1, (150, 2)) for c in (0, 9)]))
    weight = rng.randint(0, 4, size=len(X))
    weighted = choose(X, sample_weight=weight, random_state=0)
    repeated = choose(np.repeat(X, weight, axis=0), random_state=0)
    assert_same(weighted, repeated)
    assert weighted.n_clusters == 2


def test_the_warning_names_the_columns():
    X = pd.DataFrame({"size": np.linspace(0, 3, 60), "grade": np.arange(60) % 3})
    (warning,) = (w for w in choose(X, random_state=0).warnings if "repeat" in w)
    assert "column 'grade'" in warning
    model = RTKM(random_state=0).fit(X)
    assert warning in model.choice_.warnings


def test_one_of_several_numbers_is_chosen():
    X = blobs(5, k=3)
    assert choose(X, range(2, 6), random_state=0).n_clusters == 3
    assert choose(X, [2, 7], random_state=0).n_clusters == 2
    assert choose(X, np.array([4, 9]), random_state=0).n_clusters == 4
    assert len(choose(X, [4, 9], random_state=0).init) == 4


def test_a_given_share_is_kept():
    X = blobs(6, k=2)
    for contamination, n_outliers in (0.05, 12), (7, 7), (0, 0):
        choice = choose(X, contamination=contamination, random_state=0)
        assert (choice.n_clusters, choice.n_outliers) == (2, n_outliers)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(
            ("n_clusters", v)
            for v in ([], 0, 1.5, "many", [2, 0], None, True, [2, "a"])
        ),
        *(("contamination", v) for v in (1.0, -0.1, "some", None)),
        *(("max_clusters", v) for v in (0, 1.5, "auto")),
        *(("min_cluster", v) for v in (0, 1.5, None)),
        *(("false_alarms", v) for v in (0, 1, None)),
        ("random_state", "seed"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(name, value):
    with pytest.raises(ValueError, match=f"{name}=.* is not valid for choose"):
        choose(np.eye(30), **{name: value})


def test_more_clusters_than_rows_are_refused():
    with pytest.raises(ValueError, match="needs at least 31 rows"):
        choose(np.eye(30), [2, 31])
    with pytest.raises(ValueError, match="leaves 0 of 30 rows"):
        choose(np.eye(30), contamination=30)


@pytest.mark.parametrize("n", [1, 2, 19])
def test_few_rows_are_one_cluster_with_a_warning(n):
    choice = choose(np.random.RandomState(0).normal(size=(n, 3)), random_state=0)
    assert (choice.n_clusters, choice.n_outliers) == (1, 0)
    assert "too few" in choice.warnings[0]


# The same table in other words


@pytest.mark.parametrize("seed", range(6))
def test_order_unit_origin_and_format_do_not_matter(seed):
    rng = np.random.RandomState(seed)
    k, d = rng.randint(1, 5), rng.choice([1, 2, 7])
    X = blobs(seed, n_each=rng.randint(50, 150), k=k, d=d, gap=7, n_outliers=8)
    choice = choose(X, random_state=seed)
    assert_same(choice, choose(X, random_state=seed))
    assert_same(choice, choose(X[rng.permutation(len(X))], random_state=seed))
    assert_same(choice, choose(8 * X, random_state=seed), scale=8)
    assert_same(choice, choose(X + 37.0, random_state=seed), shift=37)
    assert_same(choice, choose(sparse.csr_array(X), random_state=seed))
    assert_same(choice, choose(X.astype(np.float32), random_state=seed))


@pytest.mark.parametrize("seed", range(4))
def test_weights_are_repetitions(seed):
    rng = np.random.RandomState(seed)
    X = blobs(seed, n_each=60, k=2, d=3, n_outliers=5)
    weight = rng.randint(0, 4, size=len(X))
    weighted = choose(X, sample_weight=weight, random_state=0)
    repeated = choose(np.repeat(X, weight, axis=0), random_state=0)
    assert_same(weighted, repeated)


def long_and_round(seed):
    """A long cluster and a round one, in whole numbers, and rows anywhere."""
    rng = np.random.RandomState(seed)
    long = rng.normal(size=(200, 4)) * [9, 1.5, 1.5, 1.5]
    ball = rng.normal(size=(200, 4)) * 2 + [0, 40, 0, 0]
    anywhere = rng.uniform(-40, 60, size=(30, 4))
    return np.round(np.concatenate([long, ball, anywhere]))


@pytest.mark.parametrize("seed", range(4))
def test_the_unit_of_long_and_round_clusters_does_not_matter(seed):
    X = long_and_round(seed)
    T = make_table(X)
    C = np.array([[0.0, 0, 0, 0], [0, 40, 0, 0]])
    assert list(find_shapes(T, C)) == [0]  # long clusters are measured in another way
    choice = choose(X, random_state=seed)
    for unit in 2.0**-9, 2.0**9:
        other = choose(unit * X, random_state=seed)
        assert_same(choice, other, scale=unit)
        assert other.share_path == choice.share_path


def test_a_row_kept_in_part_counts_in_part_for_its_group():
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    table = make_table(X, [1, 1, 2, 1, 1, 2])
    # the rows at 2 and 12 cost most, and half of the latter is trimmed
    state = table.concentrate(np.array([[0.5], [10.5]]), 1, 7.0)
    groups = np.array([0, 1])
    trial = Trial((2,), groups, state, stability=1.0, counts=np.zeros((2, 2, 1)))
    sizes, means = group_means(table, trial, 2)
    assert_array_equal(sizes, [4, 3])
    assert_array_equal(means, [[5 / 4], [11]])


def test_a_sample_of_a_large_table_falls_alike():
    rng = np.random.RandomState(0)
    X = blobs(0, n_each=10_000, k=3, n_outliers=9)
    weight = rng.randint(0, 3, size=len(X))
    weighted = choose(X, sample_weight=weight, random_state=0)
    order = rng.permutation(len(X))
    repeated = choose(np.repeat(X[order], weight[order], axis=0), random_state=0)
    assert_same(weighted, repeated)
    assert weighted.n_clusters == 3
    far = (np.linalg.norm(X, axis=1) > 55).astype(int) @ weight
    assert far <= weighted.n_outliers <= 2 * far + 2


def test_the_number_of_threads_does_not_matter():
    X = blobs(7, n_each=9000, k=2, d=8)
    with threadpool_limits(1):
        alone = choose(X, random_state=0)
    with threadpool_limits(2):
        together = choose(X, random_state=0)
    assert alone.init.tobytes() == together.init.tobytes()
    assert alone.table == together.table


# Odd tables


def odd_tables():
    rng = np.random.RandomState(0)
    huge = rng.normal(size=(120, 3))
    huge[5, 1] = 1e18
    yield "all rows equal", np.full((50, 3), 7.0)
    yield "two values", np.repeat([[0.0, 1.0], [5.0, 5.0]], 40, axis=0)
    yield "nearly all equal", np.r_[np.ones((60, 2)), rng.normal(size=(5, 2))]
    yield "one column", rng.normal(size=(60, 1))
    yield "more columns than rows", rng.normal(size=(30, 90))
    yield "a constant column", np.c_[rng.normal(size=(80, 2)), np.full(80, 1e9)]
    yield "one huge number", huge
    yield "whole numbers", rng.randint(0, 3, size=(90, 2)).astype(float)
    yield "repeated rows", np.repeat(rng.normal(size=(12, 2)), 9, axis=0)
    yield "large numbers", 1e140 * rng.normal(size=(60, 2))
    yield "no spread but two rows", np.r_[np.zeros((98, 2)), [[1, 0], [0, 9.0]]]


@pytest.mark.parametrize(("name", "X"), list(odd_tables()))
def test_odd_tables_have_an_answer(name, X):
    for n_clusters in "auto", 1, 2, min(len(X), 25):
        for contamination in "auto", 0.1:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "n_clusters=.* exceeds")
                choice = choose(X, n_clusters, contamination, random_state=0)
            assert 1 <= choice.n_clusters <= len(X)
            assert 0 <= choice.n_outliers < len(X)
            assert np.isfinite(choice.init).all()
            assert choice.summary()


def test_one_huge_number_is_the_outlier():
    X = dict(odd_tables())["one huge number"]
    choice = choose(X, random_state=0)
    assert (choice.n_clusters, choice.n_outliers) == (1, 1)


# What a choice holds


def test_nothing_is_kept_for_each_row():
    n = 997
    choice = choose(blobs(8, n_each=n // 2, k=2)[:n], random_state=0)
    for field in fields(choice):
        value = getattr(choice, field.name)
        parts = value if isinstance(value, tuple) else (value,)
        assert all(np.size(part) < 200 for part in parts), field.name
    json.dumps([choice.table, choice.pairs, choice.share_path, choice.warnings])


def test_a_table_that_was_validated_is_chosen_for_alike():
    X = blobs(9, n_outliers=6)
    inner = choose_for(make_table(X), rng=np.random.RandomState(3))
    assert_same(inner, choose(X, random_state=3))


def test_new_rows_are_judged_by_the_tail():
    X = blobs(10, n_each=400, k=2, d=3, n_outliers=10)
    cutoff = choose(X, random_state=0).fitted_tail.cutoff()
    # between 3 and 7 standard deviations, wherever the outliers are
    assert 9 < cutoff < 49
    table, C = make_table(X), RTKM(2, contamination=10, random_state=0).fit(X)
    tail = tail_at(table, C.cluster_centers_, 10 / len(X), 0.15)
    assert 9 < tail.cutoff() < 49
    assert tail.cutoff(1e-9) > tail.cutoff(1e-3)
    assert_array_equal(np.sort(tail.masses), [400, 400])
    assert tail_at(make_table(np.ones((40, 2))), np.ones((1, 2)), 0.0, 0.15) is None
