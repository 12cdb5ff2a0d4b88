"""The fused proximal step against the words, and without what saves it time."""

from __future__ import annotations

import numpy as np
import pytest
from interrupting import processor_seconds_after_ctrl_c
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from test_table import FORMS, each_form, quarters, rows_and_table, run_python
from threadpoolctl import threadpool_limits

from rtkm import RTKM, RelaxedKMeans, _native
from rtkm.core.table import Table, proximal_step_in_words
from rtkm.core.validation import make_table

# from where every row jumps to a vertex to where none leaves its start for long
STEPS = (1e-3, 0.1, 3.0, 30.0, 1e3, 1e5)


def iterations(table, C, s, mass, step, n_iter):
    """Yield the states of the first iterations, each with the one before."""
    last, state = None, table.proximal_step(C, s, mass, step)
    for _ in range(n_iter):
        yield last, state
        last, state = state, table.proximal_step(state.means, s, mass, step, last=state)


def problems(form, seed, n_trials):
    """Yield tables, some of whole numbers and full of ties, and how to relax them."""
    rng = np.random.default_rng(seed)
    for trial in range(n_trials):
        n, p, k = rng.integers(9, 150), rng.integers(1, 12), rng.integers(1, 9)
        weight = quarters(rng, n) if trial % 2 else None
        whole = trial % 3 > 0
        X, table = rows_and_table(form, rng, n, p, whole=whole, weight=weight)
        C = X[rng.choice(n, size=k, replace=False)] + X.dtype.type(trial % 2 / 2)
        s = int(rng.integers(1, min(4, k) + 1))
        share = rng.choice([0.0, 0.1, 0.5])
        yield X, table, C, s, (1 - share) * table.mass, STEPS[trial // 3 % 6], weight


def previous_weights(last, table, s, mass, k):
    if last is None:
        n = table.n_rows
        return np.full((n, k), s / k), np.full(n, mass / table.mass)
    return last.W, last.v


@each_form
def test_every_step_is_the_words_composed(form):
    rtol = 1e-9 if FORMS[form][0] == np.float64 else 1e-5
    fractional = {step: [] for step in STEPS}
    for _, table, C, s, mass, step, weight in problems(form, 1, n_trials=60):
        for last, state in iterations(table, C, s, mass, step, n_iter=7):
            W, v = previous_weights(last, table, s, mass, len(C))
            new, means = proximal_step_in_words(table, state.C, s, mass, step, last)
            assert_allclose(state.W, new.W, rtol=0, atol=1e-9)
            # the threshold may be any for rows that have no weight in its equation
            real = slice(None) if weight is None else weight > 0
            assert_allclose(state.v[real], new.v[real], rtol=0, atol=1e-9)
            # the distances of float32 rows have fewer digits than their sums
            assert_allclose(state.objective, new.objective, rtol=rtol, atol=1e-9)
            assert_allclose(state.means, means, rtol=rtol, atol=rtol)
            moved = max(np.abs(state.W - W).max(), np.abs(state.v - v).max())
            assert_allclose(state.change, moved, rtol=0, atol=1e-12)
            fractional[step].append(np.mean(state.clusters[:, 0] < 0))
    # the steps do what they are there for, though equal centers share rows for ever
    assert np.mean(fractional[1e-3]) < np.mean(fractional[1e5]) - 0.1


@pytest.mark.parametrize("form", ["dense", "dense 32"])
@pytest.mark.parametrize("n_clusters", [17, 600])
def test_many_wide_centers_get_the_means_of_the_words(form, n_clusters):
    # with this many sums rows add to their own centers alone; 63 features take all
    # widths of registers, and of 600 centers one row has parts in more than fit at once
    rng = np.random.default_rng(7)
    weight = quarters(rng, 900)
    X, table = rows_and_table(form, rng, 900, 63, whole=False, weight=weight)
    tol = 1e-9 if FORMS[form][0] == np.float64 else 1e-5
    for step in (30.0, 1e5):  # most rows are shared by few of the centers, then by all
        C, mass = X[:n_clusters], 0.8 * table.mass
        for last, state in iterations(table, C, 1, mass, step, n_iter=3):
            _, means = proximal_step_in_words(table, state.C, 1, mass, step, last)
            assert (state.clusters < 0).mean() > 0.2
            assert_allclose(state.means, means, rtol=tol, atol=tol)


def test_rows_far_apart_on_a_tiny_step_keep_the_digits_that_matter():
    # distances of 1e16 and 1e16 + 4 differ by 4 steps, and those of equal rows by
    # nothing: the first is a vertex, and the ties stay shared or where they were
    X = np.array([[1e8, 0.0], [-1e8, 0.0], [1e8, 0.0]])
    C = np.array([[0.0, 0.0], [0.0, 2.0]])
    table = make_table(X)
    first = table.proximal_step(C, 1, 3.0, 1.0)
    assert_array_equal(first.W, [[1, 0], [1, 0], [1, 0]])
    C = np.array([[0.0, 1.0], [0.0, -1.0]])
    assert_array_equal(table.proximal_step(C, 1, 3.0, 1e-300).W, np.full((3, 2), 0.5))
    assert_array_equal(table.proximal_step(C, 1, 3.0, 1e-300, last=first).W, first.W)


def test_a_row_without_inlier_weight_keeps_its_memberships_to_the_last_bit():
    rng = np.random.default_rng(2)
    for step in (1.0, 30.0, 1e3):
        X = rng.normal(size=(300, 3)) * np.linspace(1, 5, 300)[:, None]
        table = make_table(X)
        n_kept = 0
        for last, state in iterations(table, X[:4], 2, 200.0, step, n_iter=40):
            if last is not None:
                gone = last.v == 0
                assert_array_equal(state.W[gone], last.W[gone])
                n_kept += gone.sum()
        assert n_kept > 100


# The state


@pytest.mark.parametrize("s", [1, 3])
@pytest.mark.parametrize("form", ["dense", "sparse CSR 32"])
def test_memberships_and_labels_are_those_of_the_dense_weights(form, s):
    rng = np.random.default_rng(3)
    X, table = rows_and_table(form, rng, 5000, 12, whole=False)
    for step in (0.1, 3.0, 1e3):
        for _, state in iterations(table, X[:6], s, 4000.0, step, n_iter=3):
            W = state.W
            kept = np.where(W > 1e-10, W, 0)
            assert_array_equal(state.compact_memberships().toarray(), kept)
            D = np.where(kept > 0, table.squared_distances(state.C), np.inf)
            assert_array_equal(state.labels(table), D.argmin(axis=1))
            assert_allclose(W.sum(axis=1), s, rtol=0, atol=1e-9)


def test_a_state_stays_what_it_was_when_others_follow():
    X = np.random.default_rng(4).normal(size=(500, 3))
    table = make_table(X)
    seen = []
    for _, state in iterations(table, X[:3], 1, 400.0, 5.0, n_iter=6):
        seen.append((state, state.W, state.v.copy(), state.C.copy()))
    for state, W, v, C in seen:
        assert_array_equal(state.W, W)
        assert_array_equal(state.v, v)
        assert_array_equal(state.C, C)


# What saves time, and nothing else


def same_rows(kind, rng):
    """Tables in which bounds are put to the test."""
    n, p, k = 1500, 3, 8
    X = rng.normal(size=(n, p)) + 4 * rng.normal(size=(k, p))[rng.integers(k, size=n)]
    if kind == "ties":
        X = X.round()
    elif kind == "duplicates":
        X = X[rng.integers(40, size=n)]
    elif kind == "equidistant":
        X = np.abs(X).round() * rng.choice([-1.0, 1.0], size=(n, p))
    elif kind == "far away":
        X += 1e7
    return X.astype(np.float32) if kind == "float32" else X


def run_to_rest(X, s, share, step, weight):
    table = make_table(X, weight)
    mass = (1 - share) * table.mass
    C = np.ascontiguousarray(X[:: len(X) // 8][:8])
    return [state for _, state in iterations(table, C, s, mass, step, n_iter=25)]


@pytest.mark.parametrize(
    "kind", ["generic", "ties", "duplicates", "equidistant", "far away", "float32"]
)
def test_bounds_change_nothing_but_the_time(kind, monkeypatch):
    rng = np.random.default_rng(5)
    n_bounded = n_frozen = 0
    for trial in range(18):
        X = same_rows(kind, rng)
        weight = rng.random(len(X)) if trial % 2 else None
        case = (
            X,
            1 + trial // 2 % 3,
            (0.0, 0.1, 0.3)[trial % 3],
            STEPS[trial // 3],
            weight,
        )
        bounded = run_to_rest(*case)
        monkeypatch.setattr(Table, "uses_bounds", False)
        plain = run_to_rest(*case)
        monkeypatch.undo()
        for one, other in zip(bounded, plain, strict=True):
            for name in ("C", "v", "W", "means"):
                assert_array_equal(getattr(one, name), getattr(other, name))
            in_order = [np.sort(state.clusters, axis=1) for state in (one, other)]
            assert_array_equal(*in_order)
            assert one.objective == other.objective
            assert one.change == other.change
            table = make_table(X)
            D = np.sqrt(table.squared_distances(one.C).astype(np.float64)) / table.unit
            others = np.where(one.W == 0, D, np.inf).min(axis=1)
            own = np.where(one.W == 1, D, 0)
            for state in (one, other):
                is_frozen = state.native.status == 2
                moves = (one.clusters[:, 0] >= 0) & ~is_frozen
                assert np.all(state.native.other_lower[moves] <= others[moves])
                assert np.all(state.native.own_upper[moves] >= own.max(axis=1)[moves])
                root = np.sqrt(np.square(own).sum(axis=1))
                assert np.all(state.native.cost_upper[is_frozen] <= root[is_frozen])
                n_frozen += is_frozen.sum()
            n_bounded += np.any(one.native.other_lower < other.native.other_lower)
    assert n_bounded > 50  # or they were not in use
    assert n_frozen > 10_000


@pytest.mark.parametrize("step", [0.1, 3.0, 300.0])
def test_a_wrong_guess_of_the_threshold_changes_nothing(step):
    rng = np.random.default_rng(6)
    for trial in range(20):
        weight = quarters(rng, 400) if trial % 2 else None
        X, table = rows_and_table("dense", rng, 400, 3, whole=False, weight=weight)
        mass = 0.8 * table.mass
        *_, (_, last) = iterations(table, X[:4], 1, mass, step, n_iter=3 + trial)
        # it is guessed from the last, so that a change of the mass makes it wrong
        for share in (0.01, 0.3, 0.75, 0.8, 0.85, 0.99, 1.0):
            case = 1, share * table.mass, step, last
            again = table.proximal_step(last.means, *case)
            # nothing is expected of centers that are not the last means
            state = table.proximal_step(last.means.copy(), *case)
            assert_array_equal(again.W, state.W)
            assert_allclose(again.v, state.v, rtol=0, atol=1e-11)
            assert_allclose(again.objective, state.objective, rtol=1e-12)
            assert_allclose(again.means, state.means, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("sample", ["that tells", "that misleads"])
def test_the_threshold_is_found_whatever_a_sample_tells(sample):
    rng = np.random.default_rng(9)
    X = rng.normal(size=(9000, 2))
    if sample == "that misleads":  # it has the first half of every 32 rows
        X[np.arange(9000) % 32 < 16] *= 100
    table, C, mass = make_table(X), X[16:19].copy(), 4000.0
    state = table.proximal_step(C, 1, mass, 3.0)
    new, _ = proximal_step_in_words(table, C, 1, mass, 3.0)
    assert_allclose(state.W, new.W, rtol=0, atol=1e-9)
    assert_allclose(state.v, new.v, rtol=0, atol=1e-9)
    D = table.squared_distances(C)
    kept = np.sort(D.min(axis=1).argsort(kind="stable")[:4000])
    assert_array_equal(np.flatnonzero(table.concentrate(C, 1, mass).kept), kept)


def large_answers(step, s, n_threads):
    """A few steps on a table with work enough for several threads."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(80_000, 16))
    with threadpool_limits(n_threads):
        table = make_table(X, rng.random(80_000))
        mass = 0.9 * table.mass
        *_, (_, state) = iterations(table, X[:9].copy(), s, mass, step, n_iter=5)
    return state


@pytest.mark.parametrize(("step", "s"), [(0.1, 1), (10.0, 2), (1e4, 1)])
def test_one_and_two_threads_agree_bitwise(step, s):
    alone, together = (large_answers(step, s, n) for n in (1, 2))
    for name in (
        "C",
        "clusters",
        "v",
        "W",
        "means",
        "objective",
        "change",
    ):
        one, other = (np.asarray(getattr(x, name)) for x in (alone, together))
        assert one.tobytes() == other.tobytes(), name
    assert alone.native.threshold == together.native.threshold


def kernel_answers():
    """Answers on every form of a small table, for a comparison between processes."""
    rng = np.random.default_rng(8)
    for form in FORMS:
        X, table = rows_and_table(form, rng, 333, 13, whole=False)
        for step in (1.0, 100.0):
            *_, (_, state) = iterations(table, X[:7].copy(), 2, 300.0, step, n_iter=3)
            for name in ("W", "v", "means", "objective"):
                yield f"{form}, {step}: {name}", np.asarray(getattr(state, name))


def test_kernels_for_all_processors_agree_with_those_for_this_one(tmp_path):
    if _native.instruction_set() == "baseline":
        pytest.skip("this processor, or this build, has the baseline kernels only")
    code = """if True:
        import sys, numpy as np, rtkm._native, test_proximal_step
        assert rtkm._native.instruction_set() == "baseline"
        np.savez(sys.argv[1], **dict(test_proximal_step.kernel_answers()))
    """
    run_python(code, str(tmp_path / "answers.npz"), RTKM_INSTRUCTIONS="baseline")
    baseline = dict(np.load(tmp_path / "answers.npz"))
    for name, value in kernel_answers():
        rtol = 1e-4 if "32" in name else 1e-10
        atol = rtol * np.abs(value).max()
        assert_allclose(value, baseline[name], rtol=rtol, atol=atol, err_msg=name)


def test_ctrl_c_ends_a_long_step_at_once():
    seconds = processor_seconds_after_ctrl_c("""
        import numpy as np, rtkm
        def init(X, n_clusters, random_state):
            press_soon()
            return X[:n_clusters]
        def work():
            X = np.random.default_rng(0).normal(size=(400_000, 16))
            rtkm.RTKM(20_000, contamination=0.1, init=init, step=1.1).fit(X)
    """)
    assert seconds < 2


# The estimators


@pytest.mark.parametrize("cls", [RTKM, RelaxedKMeans])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_sparse_table_is_relaxed_like_a_dense_one(cls, dtype):
    rng = np.random.default_rng(9)
    X = (rng.normal(size=(200, 6)) * (rng.random((200, 6)) < 0.4)).astype(dtype)
    options = {"step": 2.0, "n_memberships": 2, "init": X[:4], "max_iter": 5000}
    dense = cls(4, **options).fit(X)
    thin = cls(4, **options).fit(sparse.csr_array(X))
    tol = 1e-7 if dtype == np.float64 else 1e-3
    assert_allclose(thin.memberships_, dense.memberships_, atol=tol)
    assert_allclose(thin.objective_, dense.objective_, rtol=tol)
