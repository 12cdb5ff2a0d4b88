"""Words about labels, and of values alone: smallest, one_hot, means and masses."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reference import column
from scipy import sparse
from threadpoolctl import threadpool_limits

from rtkm.core.table import one_hot, smallest
from rtkm.core.validation import make_table


def plainly_smallest(values, count):
    """The first so many of a stable sort."""
    mask = np.zeros(len(values), dtype=bool)
    mask[np.argsort(values, kind="stable")[: max(count, 0)]] = True
    return mask


# Smallest


def test_smallest_worked_by_hand():
    values = np.array([5.0, 1.0, 9.0, 1.0, 5.0])
    # in order: entries 1, 3, 0, 4, 2
    for count, chosen in enumerate([[], [1], [1, 3], [0, 1, 3], [0, 1, 3, 4]]):
        assert_array_equal(np.flatnonzero(smallest(values, count)), chosen)
    assert smallest(values, 5).all()


def test_no_value_and_no_count_choose_nothing():
    assert_array_equal(smallest(np.array([3.0, 1.0]), 0), (False, False))
    assert_array_equal(smallest(np.array([3.0, 1.0]), -2), (False, False))
    assert smallest(np.empty(0), 0).shape == (0,)


@given(
    st.lists(st.sampled_from([0.0, 1.0, 2.5, 2.5000000001, 1e300, np.inf]), min_size=1),
    st.data(),
)
def test_smallest_are_the_first_of_a_stable_sort(values, data):
    values = np.array(values)
    count = data.draw(st.integers(0, len(values)))
    assert_array_equal(smallest(values, count), plainly_smallest(values, count))


@given(st.lists(st.floats(0, 1e12), min_size=1), st.data())
def test_smallest_of_any_costs(values, data):
    values = np.array(values)
    count = data.draw(st.integers(0, len(values)))
    assert_array_equal(smallest(values, count), plainly_smallest(values, count))


# Above 512 values the cut is found by histograms.
@pytest.mark.parametrize("n", [511, 512, 513, 4097, 20_000, 300_000])
@pytest.mark.parametrize("kind", ["generic", "ties", "equal", "taken", "wide"])
def test_smallest_of_many(n, kind):
    rng = np.random.default_rng(n)
    values = {
        "generic": rng.random(n),
        "ties": rng.integers(0, 7, size=n).astype(float),
        "equal": np.full(n, 3.25),
        "taken": np.where(rng.random(n) < 0.3, np.inf, rng.random(n).round(2)),
        "wide": 10.0 ** rng.uniform(-300, 300, size=n),
    }[kind]
    n_finite = int(np.isfinite(values).sum())
    for count in (0, 1, 2, n // 10, n // 2, n_finite - 1, n_finite, n):
        chosen = smallest(values, count)
        assert_array_equal(chosen, plainly_smallest(values, count))
        assert chosen.sum() == count


@pytest.mark.parametrize("n", [100, 50_000])
def test_values_that_all_tie_are_taken_from_the_front(n):
    for count in (0, 1, n // 3, n):
        assert_array_equal(smallest(np.zeros(n), count), np.arange(n) < count)


def test_any_number_of_threads_chooses_the_same():
    values = np.random.default_rng(0).integers(0, 50, size=100_000).astype(float)
    chosen = {}
    for n_threads in (1, 2, 4):
        with threadpool_limits(n_threads):
            chosen[n_threads] = smallest(values, 33_333)
    assert_array_equal(chosen[1], chosen[2])
    assert_array_equal(chosen[1], chosen[4])


# One hot


def test_one_hot_has_one_entry_for_each_label():
    labels = np.array([2, 0, 2, 1], dtype=np.int32)
    expected = [(0, 0, 1, 0), (1, 0, 0, 0), (0, 0, 1, 0), (0, 1, 0, 0)]
    hot = one_hot(labels, 4)
    assert hot.dtype == bool
    assert_array_equal(hot, expected)
    assert one_hot(labels[:0], 4).shape == (0, 4)


def test_one_hot_and_argmax_undo_each_other():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n, k = rng.integers(1, 5000), int(rng.integers(1, 20))
        labels = rng.integers(0, k, size=n)
        hot = one_hot(labels, k)
        assert_array_equal(hot.argmax(axis=1), labels)
        assert_array_equal(hot.sum(axis=1), np.ones(n))


def test_a_label_of_minus_one_is_in_no_cluster():
    assert_array_equal(one_hot(np.array([-1, 1]), 2), [(0, 0), (0, 1)])


# Means by label


def test_label_means_worked_by_hand():
    # 0 and 1 in the first, 5 dropped; 9 in the second; nobody in the third, and all of
    # the fourth dropped
    labels = np.array([0, 0, 0, 1, 3], dtype=np.int32)
    kept = np.array([True, True, False, True, False])
    means = make_table(column(0, 1, 5, 9, 4)).label_means(
        labels, kept, fallback=column(-7, -8, -9, -10)
    )
    assert_array_equal(means, column(0.5, 9, -9, -10))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", ["dense", "CSR"])
def test_label_means_are_means_of_the_kept_rows(form, weighted):
    rng = np.random.default_rng(0)
    for _ in range(50):
        n, d, k = rng.integers(1, 300), rng.integers(1, 6), int(rng.integers(1, 8))
        X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
        weights = rng.uniform(0.1, 3, size=n) if weighted else None
        labels = rng.integers(0, k, size=n).astype(np.int32)
        kept = rng.random(n) < 0.7
        fallback = rng.normal(size=(k, d))
        table = make_table(X if form == "dense" else sparse.csr_array(X), weights)
        expected = fallback.copy()
        for j in np.unique(labels[kept]):
            rows = kept & (labels == j)
            of_rows = None if weights is None else weights[rows]
            expected[j] = np.average(X[rows], axis=0, weights=of_rows)
        given = fallback.copy()
        means = table.label_means(labels, kept, fallback=given)
        assert_allclose(means, expected, rtol=1e-12, atol=1e-14)
        W = np.eye(k)[labels] * kept[:, None]
        twin = reference.weighted_means(X, W, fallback, weights)
        assert_allclose(means, twin, rtol=1e-12, atol=1e-14)
        assert_array_equal(given, fallback)  # left as it was


def test_means_of_duplicates_are_the_duplicates():
    # a sum of 3000 equal rows is rounded, its mean hardly
    X = np.repeat([(0.1, 0.7), (0.3, 1e6)], 3000, axis=0)
    labels = np.repeat([0, 1], 3000).astype(np.int32)
    means = make_table(X).label_means(labels, np.ones(6000, bool), np.zeros((2, 2)))
    assert_allclose(means, [(0.1, 0.7), (0.3, 1e6)], rtol=1e-13)


# Masses by label


def test_label_masses_worked_by_hand():
    # 1 and half of 2 in the first; nobody in the second; a quarter of 4 in the third;
    # the last row has no label
    labels = np.array([0, 0, 2, -1], dtype=np.int32)
    table = make_table(column(0, 1, 5, 9), np.array([1.0, 2.0, 4.0, 8.0]))
    masses = table.label_masses(labels, 3, np.array([1, 0.5, 0.25, 1]))
    assert_array_equal(masses, [2, 0, 1])
    assert_array_equal(table.label_masses(labels, 3), [3, 0, 4])
    assert_array_equal(table.label_masses(labels, 3, labels == 2), [0, 0, 4])
    assert_array_equal(
        make_table(column(0, 1, 5, 9)).label_masses(labels, 3), [2, 0, 1]
    )


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [1, 700, 200_000])  # a second thread helps with the last
def test_label_masses_are_rounded_once(form, weighted, n):
    rng = np.random.default_rng(n)
    k = int(rng.integers(1, 30))
    X = form(np.ones((n, 1)))
    weights = 10 ** rng.uniform(-12, 3, size=n) if weighted else None
    labels = rng.integers(-1, k, size=n).astype(np.int32)
    kept = rng.random(n) < 0.7
    order = rng.permutation(n)
    for share in (None, kept, kept * rng.integers(0, 5, size=n) / 4):
        twin = reference.label_masses(labels, k, share, weights)
        shuffled = None if share is None else share[order]
        for n_threads in (1, 2):
            with threadpool_limits(n_threads):
                table = make_table(X, weights)
                other = make_table(X, None if weights is None else weights[order])
            assert_array_equal(table.label_masses(labels, k, share), twin)
            assert_array_equal(other.label_masses(labels[order], k, shuffled), twin)


def test_label_masses_of_a_table_of_another_length_are_refused():
    table = make_table(column(0, 1, 5))
    with pytest.raises(ValueError, match="wrong length"):
        table.label_masses(np.zeros(2, np.int32), 1)
    with pytest.raises(ValueError, match="wrong length"):
        table.label_masses(np.zeros(3, np.int32), 1, np.ones(4))
