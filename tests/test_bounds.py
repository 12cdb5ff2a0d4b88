"""Bounds save distances and change nothing else: fits with and without end alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from rtkm import RTKM, KMeansMinusMinus, RelaxedKMeans, TrimmedKMeans
from rtkm._table import Table


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
    "tiny units": lambda rng, n, p, k: 1e-120 * blobs(rng, n, p, k),
    "huge units": lambda rng, n, p, k: 1e120 * blobs(rng, n, p, k),
}


def problems(kind, n_problems, dtype):
    for seed in range(n_problems):
        rng = np.random.default_rng([seed, len(kind)])
        n, p, k = rng.integers(40, 400), rng.integers(1, 20), rng.integers(1, 9)
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
def test_every_pass_with_bounds_is_the_pass_without(kind, dtype):
    if dtype == np.float32 and "units" in kind:
        pytest.skip("float32 has no such numbers")
    n_saved = 0
    for _, rng, X, k in problems(kind, 20, dtype):
        table, s = Table(X, None), int(rng.integers(1, k + 1))
        mass = float(len(X) - rng.integers(len(X) // 4))
        state = table.concentrate(X[rng.integers(len(X), size=k)], s, mass)
        for _ in range(8):
            # now and then a center jumps, as in a swap
            C = state.means.copy()
            if rng.random() < 0.3:
                C[rng.integers(k)] = X[rng.integers(len(X))]
            followed = table.concentrate(C, s, mass, last=state)
            plain = table.concentrate(C, s, mass)
            assert_array_equal(followed.nearest.labels, plain.nearest.labels)
            assert_array_equal(followed.nearest.squared, plain.nearest.squared)
            assert_array_equal(followed.nearest.cost, plain.nearest.cost)
            assert_array_equal(followed.kept, plain.kept)
            assert (followed.nearest.spare <= plain.nearest.spare).all()
            n_saved += (followed.nearest.spare < plain.nearest.spare).sum()
            state = replace(followed, n_iter=0)
    assert n_saved > 0  # or nothing was followed, and nothing tested
