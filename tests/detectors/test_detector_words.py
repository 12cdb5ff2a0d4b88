"""The words that only detectors use, against their slow twins."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import reference
from interrupting import processor_seconds_after_ctrl_c
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from rtkm.core.threshold import halfway
from rtkm.core.validation import make_table
from rtkm.detectors import _neighbors
from rtkm.detectors._base import mark_largest
from rtkm.detectors._neighbors import make_tree, nearest_rows, other_neighbors

FORMS = {
    "dense": lambda X: X,
    "dense 32": lambda X: X.astype(np.float32),
    "CSR": sparse.csr_array,
    "CSR 32": lambda X: sparse.csr_array(X.astype(np.float32)),
}


def gappy(rng, n, p):
    """Whole numbers, half of them 0: nothing is rounded, and ties abound."""
    return rng.integers(-3, 4, size=(n, p)) * rng.integers(0, 2, size=(n, p)) * 1.0


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_mean_pair_distances_are_those_of_the_twin(form):
    rng = np.random.default_rng(0)
    for p in (1, 2, 7, 8, 9, 40):
        X = gappy(rng, 50, p)
        lines = np.array([rng.choice(50, 6, replace=False) for _ in range(30)])
        expected = [reference.mean_pair_distance(X[line]) for line in lines]
        found = make_table(form(X)).mean_pair_distances(lines)
        # the roots of float32 tables are taken in float64
        assert_allclose(found, expected, rtol=1e-14)


def test_pairs_far_from_the_origin_keep_their_digits():
    X = np.random.default_rng(1).integers(0, 2**10, size=(30, 9)) / 2**10
    lines = np.arange(30).reshape(6, 5)
    near, far = make_table(X), make_table(X + 2.0**20)
    assert_array_equal(far.mean_pair_distances(lines), near.mean_pair_distances(lines))


def test_threads_change_no_pair_distance():
    rng = np.random.default_rng(2)
    X, lines = rng.normal(size=(3000, 9)), rng.integers(0, 3000, size=(20_000, 12))
    answers = []
    for limit in (1, 2):
        with threadpool_limits(limit):
            answers.append(make_table(X).mean_pair_distances(lines))
    assert_array_equal(*answers)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_leaders_are_those_of_the_twin(dtype):
    rng = np.random.default_rng(3)
    for trial in range(40):
        n, p = rng.integers(1, 120), rng.integers(1, 12)
        X = rng.normal(size=(n, p)).astype(dtype)
        radius = 10 ** rng.uniform(-1, 1)
        labels, members = reference.leaders(X.astype(np.float64), radius)
        found, centers, sizes = make_table(X).leaders(radius)
        assert_array_equal(found, labels, err_msg=str(trial))
        assert_array_equal(sizes, [len(rows) for rows in members])
        means = [X[rows].mean(axis=0, dtype=np.float64) for rows in members]
        rtol = 1e-12 if dtype == np.float64 else 1e-5
        assert_allclose(centers, means, rtol=rtol, atol=rtol)


def test_equal_rows_share_a_leader_however_small_the_radius():
    # 0.1 + 0.1 + 0.1 is not 3 * 0.1, so a plain running mean would move away
    X = np.tile([[0.1, 0.7], [0.3, 1 / 3]], (50, 1))
    labels, centers, sizes = make_table(X).leaders(1e-200)
    assert_array_equal(labels, [0, 1] * 50)
    assert_array_equal(centers, X[:2])
    assert_array_equal(sizes, [50, 50])


def test_a_row_at_the_radius_joins_and_equally_near_leaders_go_by_number():
    # 0 and 4 are leaders; 2 is 2 from both and joins the first, which moves to 1;
    # 3 is 2 from 1 but 1 from 4
    labels, centers, sizes = make_table(reference.column(0, 4, 2, 3)).leaders(2.0)
    assert_array_equal(labels, [0, 1, 0, 1])
    assert_array_equal(centers, [[1.0], [3.5]])
    assert_array_equal(sizes, [2, 2])


def kernel_answers():
    rng = np.random.default_rng(5)
    X, lines = rng.normal(size=(400, 13)), rng.integers(0, 400, size=(90, 7))
    for dtype in (np.float64, np.float32):
        table = make_table(X.astype(dtype))
        yield table.mean_pair_distances(lines)
        yield table.leaders(3.0)[1].astype(np.float64)
    yield make_table(sparse.csr_array(X)).mean_pair_distances(lines)


def test_other_instructions_give_the_same_answers(tmp_path):
    code = (
        "import sys, numpy, test_detector_words as words\n"
        "numpy.savez(sys.argv[1], *words.kernel_answers())"
    )
    here = os.path.dirname(__file__)
    path = os.pathsep.join([here, os.path.dirname(here), *sys.path])
    subprocess.run(
        [sys.executable, "-c", code, tmp_path / "answers.npz"],
        env=os.environ | {"RTKM_INSTRUCTIONS": "baseline", "PYTHONPATH": path},
        check=True,
        timeout=600,
    )
    baseline = np.load(tmp_path / "answers.npz").values()
    for found, expected in zip(kernel_answers(), baseline, strict=True):
        assert_allclose(found, expected, rtol=2e-6, atol=2e-6)


def test_leaders_need_dense_rows():
    with pytest.raises(ValueError, match=r"^leaders need dense rows$"):
        make_table(sparse.csr_array(np.eye(3))).leaders(1.0)


def test_ctrl_c_ends_a_long_pass_of_leaders_at_once():
    seconds = processor_seconds_after_ctrl_c("""
        import numpy as np
        from rtkm.core.validation import make_table
        def work():
            rows = np.random.default_rng(0).normal(size=(200_000, 16))
            table = make_table(rows)
            press_soon()
            table.leaders(1e-9)  # so that every row is one
    """)
    assert seconds < 2


# Neighbors


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("p", [2, 3, 20])
def test_neighbors_are_those_of_the_twin_ties_and_duplicates_included(
    form, p, monkeypatch
):
    monkeypatch.setattr(_neighbors, "BLOCK_ROWS", 16)  # so that blocks are merged
    rng = np.random.default_rng(p)
    for k in (2, 5, 17):
        X, new = gappy(rng, 60, p), gappy(rng, 10, p)
        table = make_table(form(X))
        tree = make_tree(table)
        numbers, distances = other_neighbors(table, k, tree)
        for i in range(60):
            expected = reference.nearest_rows(X[i], X, k, own=i)
            assert_allclose(distances[i], np.linalg.norm(X[expected] - X[i], axis=1))
            if distances[i].any():  # else all are equal to the row, and any will do
                assert sorted(numbers[i]) == sorted(expected)
            assert i not in numbers[i]
        numbers, _ = nearest_rows(make_table(form(new)), table, k, tree)
        for x, found in zip(new, numbers, strict=True):
            if (X[found] != x).any():
                assert sorted(found) == sorted(reference.nearest_rows(x, X, k))


def test_few_dense_features_use_a_tree_and_the_answer_does_not_show_it():
    X = np.random.default_rng(4).normal(size=(500, 3))
    table = make_table(X)
    tree = make_tree(table)
    assert isinstance(tree, NearestNeighbors)
    assert make_tree(make_table(sparse.csr_array(X))) is None
    assert make_tree(make_table(np.zeros((5, 30)))) is None
    by_tree, plain = other_neighbors(table, 9, tree), other_neighbors(table, 9, None)
    assert_array_equal(by_tree[0], plain[0])
    assert_allclose(by_tree[1], plain[1], rtol=1e-14)


def test_all_rows_but_one_can_be_neighbors():
    table = make_table(reference.column(0, 1, 3))
    for tree in (make_tree(table), None):
        numbers, distances = other_neighbors(table, 2, tree)
        assert_array_equal(numbers, [[1, 2], [0, 2], [1, 0]])
        assert_array_equal(distances, [[1, 3], [1, 2], [2, 3]])


# The cut


@pytest.mark.parametrize(
    ("factors", "count", "outliers", "cut"),
    [
        ([1, 5, 3], 1, [1], 4),
        ([1, 5, 3], 0, [], np.inf),
        ([2, 2, 2, 1], 2, [1, 2], 2),  # ties keep the first
        ([1, np.inf, 0], 1, [1], 1),  # nothing lies halfway to infinity
        ([np.inf, 1, np.inf], 1, [2], np.inf),
        ([np.inf, 1, np.inf], 2, [0, 2], 1),
    ],
)
def test_the_largest_factors_are_marked(factors, count, outliers, cut):
    mask, found = mark_largest(np.array(factors, dtype=float), count)
    assert_array_equal(np.flatnonzero(mask), outliers)
    assert found == cut


def test_the_cut_between_neighboring_floats_keeps_the_lower():
    above = np.nextafter(1.0, 2)
    assert halfway(1.0, above) == 1.0
    assert halfway(1e308, 1.7e308) == pytest.approx(1.35e308)
