"""Every word of a table against its slow twin, in any layout and on any processor."""

from __future__ import annotations

import math
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import reference
from hypothesis import given, settings, strategies as st
from interrupting import processor_seconds_after_ctrl_c
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from threadpoolctl import threadpool_limits

from rtkm import TrimmedKMeans, _native
from rtkm.core.validation import make_table

# How a table is stored: its type, and the share of its entries that are there; below a
# quarter of them the distances of CSR rows are found in another way.
FORMS = {
    "dense": (np.float64, None),
    "dense 32": (np.float32, None),
    "CSR": (np.float64, 0.7),
    "sparse CSR": (np.float64, 0.1),
    "sparse CSR 32": (np.float32, 0.1),
}
each_form = pytest.mark.parametrize("form", FORMS)


def rows_and_table(form, rng, n, p, *, whole=True, weight=None):
    """Random rows, whole numbers so that nothing is rounded and ties abound, or not."""
    dtype, share = FORMS[form]
    X = rng.integers(-3, 4, size=(n, p)) if whole else rng.normal(size=(n, p))
    if share is not None:
        X = np.where(rng.random((n, p)) < share, X, 0)
    X = X.astype(dtype)
    return X, make_table(X if share is None else sparse.csr_array(X), weight)


def quarters(rng, n):
    """Weights that add up without rounding, some of them zero, the first not."""
    weight = rng.integers(0, 9, size=n) / 4
    weight[0] = 1.25
    return weight


def problems(form, seed, *, n_trials=60):
    """Yield whole-numbered rows, their table, centers, memberships and weights."""
    rng = np.random.default_rng(seed)
    for trial in range(n_trials):
        n, p = rng.integers(1, 100), rng.integers(1, 41)
        weight = quarters(rng, n) if trial % 2 else None
        X, table = rows_and_table(form, rng, n, p, weight=weight)
        C = rng.integers(-2, 3, size=(rng.integers(1, 10), p)).astype(X.dtype)
        s = int(rng.integers(1, min(3, len(C)) + 1))
        yield rng, X, table, C, s, weight


def shares(cut, values):
    """The share of each row that a cut keeps, and something of its boundary row."""
    assert values[cut.row] == cut.threshold
    assert 0 < cut.share <= 1
    before = (values == cut.threshold) & (np.arange(len(values)) < cut.row)
    kept = ((values < cut.threshold) | before).astype(float)
    kept[cut.row] = cut.share
    return kept


# Distances


@each_form
def test_distances_are_sums_of_squared_differences(form):
    rng = np.random.default_rng(0)
    for p in range(1, 41):  # every remainder of a tile
        n, k = rng.integers(1, 101), rng.integers(1, 10)
        X, table = rows_and_table(form, rng, n, p, whole=False)
        C = rng.normal(size=(k, p)).astype(X.dtype)
        D, expected = table.squared_distances(C), reference.squared_distances(X, C)
        assert D.dtype == X.dtype
        assert_allclose(D, expected, rtol=(p + 4) * np.finfo(X.dtype).eps)


@each_form
def test_a_row_is_at_no_distance_from_itself(form):
    X, table = rows_and_table(form, np.random.default_rng(1), 90, 40, whole=False)
    assert_array_equal(np.diag(table.squared_distances(X)), 0)


@pytest.mark.parametrize("offset", [1e6, 1e8])
@pytest.mark.parametrize("form", ["dense", "CSR", "sparse CSR"])
def test_rows_far_from_the_origin_keep_their_digits(form, offset):
    rng = np.random.default_rng(2)
    X, _ = rows_and_table(form, rng, 200, 12, whole=False)
    far = slice(0, 1) if form == "sparse CSR" else slice(None)  # or it were not sparse
    X[:, far] = rng.normal(size=X[:, far].shape) + offset
    table = make_table(X if form == "dense" else sparse.csr_array(X))
    C = X[:3] + np.array([0, 1, -2, 1, 0, 0, 2, 0, 0, 1, 0, 1])
    exact = ((X[:, None].astype(np.longdouble) - C) ** 2).sum(axis=2).astype(float)
    assert_allclose(table.squared_distances(C), exact, rtol=1e-12)
    state = table.concentrate(C, 1, 150)
    v = reference.smallest(exact.min(axis=1), 150)
    assert_allclose(state.objective, math.fsum(v * exact.min(axis=1)), rtol=1e-12)
    W = v[:, None] * np.eye(3)[exact.argmin(axis=1)]
    # half a unit in the last place is offset * eps / 2
    atol = 8 * offset * np.finfo(float).eps
    assert_allclose(state.means, reference.weighted_means(X, W, C), rtol=0, atol=atol)


@each_form
def test_lower_takes_the_smaller_cost_in_place(form):
    for rng, X, table, C, _, _ in problems(form, seed=3):
        cost = rng.choice([0.0, 3.0, 20.0, np.inf], size=len(X))
        expected = np.minimum(cost, reference.squared_distances(X, C[:1])[:, 0])
        table.lower(cost, C[:1])
        assert_array_equal(cost, expected)


def test_fortran_order_is_read_as_the_same_rows():
    X = np.random.default_rng(4).normal(size=(20, 5))
    D = make_table(np.asfortranarray(X)).squared_distances(X)
    assert_array_equal(D, make_table(X).squared_distances(X))


# Assignment, means and sums


@each_form
def test_nearest_breaks_ties_by_number_and_tells_the_spare(form):
    for _, X, table, C, _, _ in problems(form, seed=5):
        D = reference.squared_distances(X, C)
        order = np.argsort(D, axis=1, kind="stable")
        ranked = np.column_stack([np.sort(D, axis=1), np.full(len(X), np.inf)])
        for s in range(1, len(C) + 1):
            nearest = table.nearest(C, s)
            assert_array_equal(nearest.labels, order[:, :s])
            assert_array_equal(nearest.squared, ranked[:, :s])
            assert_array_equal(nearest.cost, ranked[:, :s].sum(axis=1))
            assert_array_equal(nearest.spare, ranked[:, s])


@each_form
def test_weighted_means_agree_and_empty_columns_keep_the_fallback(form):
    for rng, X, table, C, _, weight in problems(form, seed=6):
        W = rng.random((len(X), len(C))) * (rng.random((len(X), len(C))) < 0.7)
        W[:, -1] = 0
        means = table.weighted_means(W, fallback=C)
        assert means.dtype == X.dtype
        assert_array_equal(means[-1], C[-1])
        expected = reference.weighted_means(X, W, C, weight)
        assert_allclose(means, expected, atol=1e-12 if X.dtype == np.float64 else 1e-6)


@each_form
def test_other_words_count_a_row_by_its_weight(form):
    rng = np.random.default_rng(7)
    weight, z, Z = quarters(rng, 40), rng.normal(size=40), rng.normal(size=(40, 6))
    X, table = rows_and_table(form, rng, 40, 4, weight=weight)
    assert table.mass == math.fsum(weight)
    assert table.total(np.arange(40.0)) == math.fsum(weight * np.arange(40))
    v, W = table.project(z, 9.5), table.project_rows(Z[:, ::2], 2)
    assert_allclose(v, reference.capped_simplex(z, 9.5, weight), atol=1e-12)
    assert_allclose(W, reference.capped_simplex_rows(Z[:, ::2], 2), atol=1e-12)
    assert_array_equal(table.rows(np.array([5, 2, 5])), X[[5, 2, 5]])


# The cut


@settings(max_examples=500, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 6)), min_size=1, max_size=20),
    st.integers(1, 60),
    st.booleans(),
)
def test_cut_keeps_the_smallest_values_and_the_lowest_rows(entries, part, is_weighted):
    values, weight = np.array(entries).T / np.array([[2.0], [4.0]])
    values[::2] *= -1  # so zeros have either sign, which makes none the smaller
    weight[-1] = 0.75
    weight = weight if is_weighted else None
    table = make_table(values[:, None], weight)
    mass = part / 60 * table.mass
    kept = shares(table.cut(values, mass), values)
    assert_allclose(kept, reference.smallest(values, mass, weight), atol=1e-11)


def test_cut_of_more_than_all_weights_ends_at_the_last_row_with_weight():
    table = make_table(np.zeros((4, 1)), np.array([1.0, 2.0, 0.5, 0.0]))
    assert table.cut(np.array([1.0, 5.0, 3.0, 9.0]), 3.5 + 1e-12) == (5.0, 1, 1.0)


@pytest.mark.parametrize("kind", ["all apart", "thousands equal", "all equal", "close"])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_cut_is_exact_where_histograms_refine(kind, is_weighted):
    rng, n = np.random.default_rng(9), 15_000
    values = {
        "all apart": rng.normal(size=n),
        "thousands equal": rng.integers(-1, 2, size=n) * 1.5,
        "all equal": np.full(n, 0.1),
        "close": 1 + rng.integers(0, 9, size=n) * 2.0**-52,
    }[kind]
    weight = quarters(rng, n) if is_weighted else None
    table = make_table(values[:, None], weight)
    # the last mass fills every row up to the median, and leaves nothing for the next
    half = table.total((values <= np.median(values)).astype(float))
    for mass in (0.125, 1.0, 0.3 * table.mass, table.mass // 2 + 0.1, table.mass, half):
        kept = shares(table.cut(values, mass), values)
        assert_allclose(kept, reference.smallest(values, mass, weight), atol=1e-9)


# The fused step


@each_form
def test_concentration_is_the_step_of_the_reference(form):
    for rng, X, table, C, s, weight in problems(form, seed=10, n_trials=30):
        mass = table.mass
        for trimmed in (0, 0.25, rng.integers(0, int(mass)), rng.random() * mass):
            state = table.concentrate(C, s, mass - trimmed)
            slow = reference.concentration_steps(X, C, trimmed, s, weight, max_steps=1)
            labels, means = slow.steps[0]
            counted = np.full(len(X), True) if weight is None else weight > 0
            fast_labels = np.where(state.kept, state.labels(table), -1)
            assert_array_equal(fast_labels[counted], labels[counted])
            assert_allclose(state.objective, slow.path[0], rtol=1e-12, atol=1e-9)
            rtol = 1e-10 if X.dtype == np.float64 else 1e-6
            assert_allclose(state.means, means, rtol=rtol, atol=rtol)


@each_form
def test_concentration_is_the_words_composed(form):
    for rng, X, table, C, s, _ in problems(form, seed=11):
        mass = (0.1 + 0.9 * rng.random()) * table.mass
        state, nearest = table.concentrate(C, s, mass), table.nearest(C, s)
        cut = table.cut(nearest.cost, mass)
        assert_array_equal(np.sort(state.clusters), np.sort(nearest.labels))
        for bound, squared in (
            (state.native.cost_upper * table.unit, nearest.cost),
            (state.native.own_upper * table.unit, nearest.squared[:, -1]),
        ):
            assert (bound >= np.sqrt(squared)).all()
            assert_allclose(bound, np.sqrt(squared), rtol=2e-5, atol=1e-15)
        other_lower = state.native.other_lower * table.unit
        assert (other_lower <= np.sqrt(nearest.spare)).all()
        others = np.isfinite(nearest.spare)
        spare = np.sqrt(nearest.spare[others])
        assert_allclose(other_lower[others], spare, rtol=2e-5, atol=1e-15)
        assert_array_equal(state.cut[:2], cut[:2])
        v = shares(cut, nearest.cost)
        assert_allclose(state.v, v, atol=1e-11)
        assert_array_equal(state.kept, v > 0)
        assert_allclose(state.objective, table.total(v * nearest.cost), atol=1e-9)
        rtol = 1e-9 if X.dtype == np.float64 else 1e-6
        means = table.weighted_means(state.v[:, None] * state.W, fallback=C)
        assert_allclose(state.means, means, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("share", [0.01, 0.5, 0.9, 0.98, 1, 1.02, 1.1, 2, 100])
def test_a_wrong_guess_of_the_cut_changes_nothing(share):
    for rng, _, table, C, s, _ in problems("dense", seed=12):
        mass = (0.1 + 0.85 * rng.random()) * table.mass
        last = table.concentrate(C, s, mass)
        for _ in range(rng.integers(1, 6)):
            last = table.concentrate(last.means, s, mass, last)
        # it is guessed from the last, so that a change of the mass makes it wrong
        mass = min(share * mass, table.mass)
        again = table.concentrate(last.means, s, mass, last)
        # nothing is expected of centers that are not the last means
        unexpected = table.concentrate(last.means.copy(), s, mass, last)
        for state in (unexpected, table.concentrate(last.means, s, mass)):
            assert_array_equal(again.kept, state.kept)
            assert again.cut[:2] == state.cut[:2]
            assert_allclose(again.v, state.v, atol=1e-11)
            assert_allclose(again.objective, state.objective, rtol=1e-12, atol=1e-9)
            assert_allclose(again.means, state.means, rtol=1e-10, atol=1e-10)


STEPS = {
    "trimmed": lambda table, C, last=None: table.concentrate(C, 2, 200.0, last),
    "proximal": lambda table, C, last=None: table.proximal_step(C, 2, 200.0, 9.0, last),
}
ARRAYS = "clusters status cost_upper own_upper other_lower moments means".split()


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_arrays_of_a_pass_outlive_it_and_the_table(step):
    X, table = rows_and_table("dense", np.random.default_rng(16), 300, 4, whole=False)
    state = step(table, X[:3].copy())
    views = {name: getattr(state.native, name) for name in ARRAYS}
    views |= {"W": state.W, "v": state.v}
    copies = {name: view.copy() for name, view in views.items()}
    state = step(table, state.means, state)
    for _ in range(9):  # the memory of what died is used again
        state = step(table, state.means, state)
    del state, table
    for name, view in views.items():
        assert_array_equal(view, copies[name], err_msg=name)


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_what_a_pass_knows_cannot_be_written_to(step):
    X, table = rows_and_table("dense", np.random.default_rng(17), 300, 4, whole=False)
    state = step(table, X[:3].copy())
    for name in ARRAYS:
        assert not getattr(state.native, name).flags.writeable, name


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_a_pass_over_another_table_is_refused(step):
    rng = np.random.default_rng(18)
    X, table = rows_and_table("dense", rng, 300, 4, whole=False)
    state = step(table, X[:3].copy())
    others = {
        "rows": (X[:-1], 3),
        "features": (np.ascontiguousarray(X[:, 1:]), 3),
        "clusters": (X, 4),
        "type": (X.astype(np.float32), 3),
    }
    for name, (rows, k) in others.items():
        other = make_table(rows)
        with pytest.raises(ValueError, match="another shape or type"):
            step(other, rows[:k].copy(), state)
        assert step(other, rows[:k].copy()).means.shape == (k, rows.shape[1]), name


@each_form
def test_swap_changes_are_the_changes_of_the_capped_cost(form):
    for rng, X, table, C, s, weight in problems(form, seed=13, n_trials=30):
        weight = np.ones(len(X)) if weight is None else weight
        state = table.concentrate(C, s, (0.2 + 0.8 * rng.random()) * table.mass)
        new = X[rng.integers(len(X), size=4)] + X.dtype.type(rng.integers(2))

        def capped(C, X=X, s=s, state=state, weight=weight):
            D = np.sort(reference.squared_distances(X, C), axis=1)
            return weight @ np.minimum(D[:, :s].sum(axis=1), state.cut.threshold)

        nearest, cap = table.nearest(C, s), state.cut.threshold
        gains = table.swap_changes(new, nearest, len(C), cap)
        for c, j in np.ndindex(len(new), len(C)):
            moved = np.where(np.arange(len(C))[:, None] == j, new[c], C)
            assert gains[c, j] == pytest.approx(capped(moved) - capped(C), abs=1e-8)


@each_form
def test_losses_are_what_the_rows_of_a_center_cost_elsewhere(form):
    for rng, X, table, C, _, weight in problems(form, seed=31, n_trials=20):
        if len(C) < 2:
            continue
        cost = table.nearest(C, 1).cost
        cap = float(np.quantile(cost, rng.choice([0.5, 0.9, 1.0])))
        found = table.losses(C, cap)
        expected = reference.losses(X, C, cap, weight)
        scale = table.total(np.minimum(cost, cap)) + 1
        assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * scale)


def test_a_loss_by_hand():
    # centers 0, 10 and 20 at the means of two rows each; without 10 the row at 9 goes
    # to 0 and the row at 11 to 20, whose means become 3 and 17
    table = make_table(reference.column(-1, 1, 9, 11, 19, 21))
    C = reference.column(0, 10, 20)
    loss = table.losses(C, np.inf)
    # (-1 - 3)^2 + (1 - 3)^2 + (9 - 3)^2 for three rows that cost 1 each, twice
    assert loss[1] == pytest.approx(2 * (16 + 4 + 36 - 3))
    # at most 5 for each row: those at 9 and 11 are trimmed where they were kept for 1
    assert table.losses(C, 5.0)[1] == pytest.approx(2 * 5 - 2)


@each_form
def test_clusters_are_halved_by_a_step_of_2_means_each(form):
    for rng, X, table, C, _, weight in problems(form, seed=32, n_trials=20):
        nearest = table.nearest(C, 1)
        labels = np.where(rng.random(len(X)) < 0.9, nearest.labels[:, 0], np.int32(-1))
        halves = np.repeat(C, 2, axis=0) + rng.normal(size=(2 * len(C), C.shape[1]))
        halves = np.ascontiguousarray(halves, dtype=C.dtype)
        cap = float(np.quantile(nearest.cost, rng.choice([0.7, 1.0]))) + 1.0
        found = table.split_step(halves, labels, cap)
        expected = reference.split_step(X, halves, labels, cap, weight)
        for value, wanted in zip(found, expected, strict=True):
            assert_allclose(value, wanted, rtol=1e-4, atol=1e-4)


def test_means_do_not_follow_where_sums_by_pairs_would_be_too_many():
    # 60 * 60 * 1001 numbers
    rng = np.random.default_rng(33)
    X = rng.normal(size=(900, 1000))
    table, C = make_table(X), X[:60].copy()
    found = table.losses(C, np.inf)
    expected = reference.losses(X, C, np.inf, means_follow=False)
    assert_allclose(found, expected, rtol=1e-9)


@each_form
def test_rows_are_counted_along_the_lines_between_centers(form):
    for rng, X, table, C, _, weight in problems(form, seed=21, n_trials=12):
        cap = float(np.quantile(table.nearest(C, 1).cost, rng.choice([0.5, 1.0])))
        counts = table.count_along_lines(C, cap, 4, 6)
        expected = reference.count_along_lines(X, C, cap, 4, 6, weight)
        assert_array_equal(counts, expected)


def test_places_on_a_line_run_from_the_middle_to_the_own_center():
    # centers at 0 and 8: rows at 0, 3, 5 and 7.9 are 1, 1/4, 1/4 and 3.9/4 of the way
    # from the middle, at 4, to their own center; the row at 30 costs more than the cap
    table = make_table(reference.column(0, 3, 5, 7.9, 30))
    counts = table.count_along_lines(reference.column(0, 8), 100.0, 4, 6)
    assert counts[0, 1].tolist() == [0, 1, 0, 0, 1, 0]
    assert counts[1, 0].tolist() == [0, 1, 0, 1, 0, 0]
    assert counts[0, 0].tolist() == [2, 0, 0, 0, 0, 0]
    # equal centers have no line
    equal = table.count_along_lines(reference.column(1, 1), np.inf, 4, 6)
    assert equal[0, 0, 0] == equal.sum() == 5


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_an_objective_counts_as_lower_only_beyond_rounding(offset):
    table = make_table(np.array([[0.0], [0.1], [0.7]]) + offset)
    state = table.concentrate(table.rows(np.array([1])), 1, 3)
    goal = table.goal_below(state)
    assert goal < state.objective == pytest.approx(goal, rel=1e-8)
    # rows on their centers: nothing is lower than nothing
    assert table.goal_below(table.concentrate(table.X, 1, 3)) <= 0


# Threads, kernels, processes and signals


def large_table(form="dense"):
    """A table and centers with work enough for several threads, 80000 * 16 * 9."""
    rng = np.random.default_rng(14)
    weight = rng.random(80_000)
    _, table = rows_and_table(form, rng, 80_000, 16, whole=False, weight=weight)
    return table, 2 * rng.normal(size=(9, 16))


def answers(table, C, s=2):
    """What every pass over a table answers, as arrays by name."""
    mass = 0.9 * table.mass
    first = table.concentrate(C, s, mass)
    state = table.concentrate(first.means, s, mass, first)
    D = table.squared_distances(C)
    nearest = table.nearest(C, s)
    named = {name: getattr(state.native, name) for name in ARRAYS}
    named |= nearest._asdict() | state.cut._asdict()
    named |= {"kept": state.kept, "objective": state.objective, "D": D}
    gains = table.swap_changes(C[::2] + 1, nearest, len(C), state.cut.threshold)
    named |= {"gains": gains}
    named |= {"lines": table.count_along_lines(C, state.cut.threshold, 20, 30)}
    named |= {"losses": table.losses(C, state.cut.threshold)}
    labels = np.ascontiguousarray(nearest.labels[:, 0])
    halves = np.concatenate([C - 1, C + 1])
    named |= {"halves": table.split_step(halves, labels, np.inf)[0]}
    named |= {"weighted": table.weighted_means(1 / (1.0 + D), C)}
    return {name: np.asarray(value) for name, value in named.items()}


@pytest.mark.parametrize("form", ["dense", "CSR"])
def test_one_and_two_threads_agree_bitwise(form):
    with threadpool_limits(1):
        alone = answers(*large_table(form))
    with threadpool_limits(2):
        together = answers(*large_table(form))
    for name, value in alone.items():
        assert value.tobytes() == together[name].tobytes(), name


def kernel_answers():
    """Answers on every form of a small table, for a comparison between processes."""
    rng = np.random.default_rng(15)
    for form in FORMS:
        X, table = rows_and_table(form, rng, 333, 13, whole=False)
        centers = rng.normal(size=(7, 13)).astype(X.dtype)
        for name, value in answers(table, centers).items():
            yield f"{form}: {name}", value


def run_python(code, *arguments, **environment):
    """Run code in a process of its own that finds what this one does."""
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    environment = os.environ | {"PYTHONPATH": paths} | environment
    command = [sys.executable, "-W", "error", "-c", code, *arguments]
    return subprocess.check_output(command, env=environment, text=True, timeout=600)


def test_kernels_for_all_processors_agree_with_those_for_this_one(tmp_path):
    if _native.instruction_set() == "baseline":
        pytest.skip("this processor, or this build, has the baseline kernels only")
    code = """if True:
        import sys, numpy as np, rtkm._native, test_table
        assert rtkm._native.instruction_set() == "baseline"
        np.savez(sys.argv[1], **dict(test_table.kernel_answers()))
    """
    run_python(code, str(tmp_path / "answers.npz"), RTKM_INSTRUCTIONS="baseline")
    baseline = dict(np.load(tmp_path / "answers.npz"))
    for name, value in kernel_answers():
        rtol = 1e-5 if "32" in name else 1e-12
        atol = rtol * np.abs(value).max()
        assert_allclose(value, baseline[name], rtol=rtol, atol=atol, err_msg=name)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_a_process_forked_after_a_threaded_pass_still_fits():
    table, C = large_table()
    model = TrimmedKMeans(9, init=C, n_swaps=0, max_iter=1000).fit(table.X)
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(
        target=lambda: sender.send(model.fit(table.X).objective_), daemon=True
    )
    child.start()
    assert receiver.poll(600), "the forked process hangs"
    assert receiver.recv() == model.objective_
    child.join()


def test_ctrl_c_ends_a_long_pass_at_once():
    seconds = processor_seconds_after_ctrl_c("""
        import numpy as np, rtkm
        def init(X, n_clusters, random_state):
            press_soon()
            return X[:n_clusters]
        def work():
            X = np.random.default_rng(0).normal(size=(400_000, 16))
            rtkm.TrimmedKMeans(20_000, init=init).fit(X)
    """)
    assert seconds < 2
