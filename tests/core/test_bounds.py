"""Bounds save distances and change nothing else: fits with and without end alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from rtkm import RTKM, KMeansMinusMinus, RelaxedKMeans, TrimmedKMeans
from rtkm.core.table import Table


def blobs(rng, n, p, k):
    return 3 * rng.normal(size=(k, p))[rng.integers(k, size=n)] + rng.normal(
        size=(n, p)
    )


TABLES = {
    "overlapping blobs": lambda rng, n, p, k: blobs(rng, n, p, k) / 3,
    "blobs far apart": lambda rng, n, p, k: 20 * blobs(rng, n, p, k),
    "ties": lambda rng, n, p, k: rng.integers(0, 3, size=(n, p)).astype(float),
    "duplicates": lambda rng, n, p, k: np.repeat(blobs(rng, n // 6, p, k), 6, axis=0),
    "far from the origin": lambda rng, n, p, k: blobs(rng, n, p, k) + 1e7,
    "equidistant centers": lambda rng, n, p, k: rng.choice([-1.0, 1.0], size=(n, p)),
    "one far outlier": lambda rng, n, p, k: np.vstack(
        [blobs(rng, n, p, k), np.full((1, p), 1e9)]
    ),
    # so tight that costs have to be summed row by row
    "clumps far apart": lambda rng, n, p, k: (
        1e6 * rng.normal(size=(k, p))[rng.integers(k, size=n)] + rng.normal(size=(n, p))
    ),
    "tiny units": lambda rng, n, p, k: 1e-120 * blobs(rng, n, p, k),
    "huge units": lambda rng, n, p, k: 1e120 * blobs(rng, n, p, k),
}


def bounds_of(state, table):
    """Return the upper and lower bounds in the units of the rows."""
    native = state.native
    bounds = native.cost_upper, native.own_upper, native.other_lower
    return np.array(bounds, dtype=float) * table.unit


def problems(kind, n_problems, dtype):
    for seed in range(n_problems):
        rng = np.random.default_rng([seed, len(kind)])
        n, p, k = rng.integers(40, 400), rng.integers(1, 20), rng.integers(1, 13)
        X = TABLES[kind](rng, n, p, k)
        yield seed, rng, np.ascontiguousarray(X, dtype=dtype), int(k)


def fitted(model, X):
    model.fit(X)
    return {
        "labels": model.labels_,
        "outliers": model.outlier_mask_,
        "centers": model.cluster_centers_,
        "scores": model.outlier_scores_,
        "path": model.objective_path_,
        "n_iter": model.n_iter_,
    }


def models(k, seed, rng):
    s = int(rng.integers(1, max(k, 2)))
    shared = {"random_state": seed}
    yield TrimmedKMeans(k, contamination=0.1, n_swaps=4, **shared)
    yield KMeansMinusMinus(k, n_outliers=0, n_init=1, **shared)
    yield RTKM(k, contamination=0.05, n_memberships=s, n_swaps=4, **shared)
    yield RelaxedKMeans(k, n_memberships=s, n_init=1, **shared)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.filterwarnings("ignore:.*distinct:UserWarning")
def test_fits_with_and_without_bounds_are_the_same(kind, dtype, monkeypatch):
    if dtype == np.float32 and "units" in kind:
        pytest.skip("float32 has no such numbers")
    for seed, rng, X, k in problems(kind, 8, dtype):
        for model in models(k, seed, rng):
            bounded = fitted(model, X)
            with monkeypatch.context() as patch:
                patch.setattr(Table, "uses_bounds", False)
                plain = fitted(model, X)
            for name, value in bounded.items():
                assert_array_equal(value, plain[name], err_msg=f"{model}: {name}")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", TABLES)
def test_every_pass_with_bounds_is_the_pass_without(kind, dtype, monkeypatch):
    if dtype == np.float32 and "units" in kind:
        pytest.skip("float32 has no such numbers")
    n_saved = 0
    for seed, rng, X, k in problems(kind, 20, dtype):
        if seed == 0:  # enough for several parts, and for a sample of the rows
            X = np.concatenate([X] * (5000 // len(X) + 1))[rng.permutation(5000)]
        weights = rng.integers(0, 3, size=len(X)) / 2 if seed % 2 else None
        table, s = Table(X, weights), int(rng.integers(1, k + 1))
        mass = table.mass - rng.integers(len(X) // 4)
        state = table.concentrate(X[rng.integers(len(X), size=k)], s, mass)
        for _ in range(8):
            # now and then a center jumps, as in a swap
            C = state.means.copy()
            if rng.random() < 0.3:
                C[rng.integers(k)] = X[rng.integers(len(X))]
            followed = table.concentrate(C, s, mass, last=state)
            with monkeypatch.context() as patch:
                patch.setattr(Table, "uses_bounds", False)
                plain = table.concentrate(C, s, mass, last=state)
            nearest = table.nearest(C, s)
            assert_array_equal(np.sort(followed.clusters), np.sort(nearest.labels))
            assert_array_equal(np.sort(plain.clusters), np.sort(nearest.labels))
            for name in ("kept", "means", "objective", "moments", "n_changed", "cut"):
                one, other = getattr(followed.native, name), getattr(plain.native, name)
                assert_array_equal(one, other, err_msg=name)
            cost_upper, own_upper, other_lower = bounds_of(followed, table)
            assert (cost_upper >= np.sqrt(nearest.cost)).all()
            assert (own_upper >= np.sqrt(nearest.squared[:, -1])).all()
            assert (other_lower <= np.sqrt(nearest.spare)).all()
            n_saved += (followed.native.other_lower < plain.native.other_lower).sum()
            state = replace(followed, n_iter=0)
    assert n_saved > 0  # or no row rested, and nothing was tested


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", TABLES)
def test_sums_by_differences_are_the_sums(kind, dtype):
    if dtype == np.float32 and "units" in kind:
        pytest.skip("float32 has no such numbers")
    for _, rng, X, k in problems(kind, 6, dtype):
        table, mass = Table(X, None), float(len(X) - rng.integers(len(X) // 4))
        state = table.concentrate(X[rng.integers(len(X), size=k)], 1, mass)
        for _ in range(100):  # centers that jump carry rows to and fro
            C = state.means.copy()
            C[rng.integers(k)] = X[rng.integers(len(X))]
            state = table.concentrate(C, 1, mass, last=state)
        afresh = table.concentrate(C, 1, mass)
        assert_array_equal(state.means, afresh.means)
        assert_array_equal(state.kept, afresh.kept)
        assert_allclose(state.objective, afresh.objective, rtol=1e-13)


def test_the_cost_of_tight_clumps_does_not_depend_on_which_center_was_nearer(
    monkeypatch,
):
    # rows rest with the three centers of their clump, whose order changes
    rng = np.random.default_rng(0)
    middles = 1e6 * rng.normal(size=(3, 5))
    X = middles[rng.integers(3, size=8)] + rng.normal(size=(8, 5))
    C = np.repeat(middles, 3, axis=0) + rng.normal(size=(9, 5))
    table, start = Table(X, None), C
    last = table.concentrate(C, 3, 8.0)
    for _ in range(200):  # few rows, or their sum rounds it away
        C = start + 0.3 * rng.normal(size=C.shape)
        followed = table.concentrate(C, 3, 8.0, last=last)
        with monkeypatch.context() as patch:
            patch.setattr(Table, "uses_bounds", False)
            plain = table.concentrate(C, 3, 8.0, last=last)
        assert followed.n_changed == 0
        assert followed.objective == plain.objective
        last = followed


def test_the_mean_of_equal_rows_is_the_row():
    rng = np.random.default_rng(11)
    for _ in range(300):
        few, many = rng.normal(size=(2, 3)) * 10.0 ** rng.integers(-2, 3, size=(2, 1))
        X = np.concatenate([np.tile(few, (7, 1)), np.tile(many, (30, 1))])
        C = np.stack([few, many])
        state = Table(X, None).concentrate(C, 1, 37.0)
        assert_array_equal(state.means, C)
        assert state.objective == 0
