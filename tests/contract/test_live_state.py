"""What callables are shown of a fit they can read, and not change."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import fields

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from promises import with_rounds
from scipy import sparse
from sklearn.base import clone

from rtkm import RTKM, compare

each_form = pytest.mark.parametrize("form", [np.array, sparse.csr_array])


def arrays_in(value):
    """Find all arrays in a field of a state."""
    if isinstance(value, np.ndarray):
        yield value
    elif sparse.issparse(value):
        yield from (value.data, value.indices, value.indptr)
    elif isinstance(value, tuple):
        for part in value:
            yield from arrays_in(part)
    elif type(value).__module__ == "rtkm._native":
        for name in dir(value):
            if not name.startswith("_"):
                yield from arrays_in(getattr(value, name))


def assert_same_fit(model, plain):
    for name in ("labels_", "cluster_centers_", "memberships_", "objective_path_"):
        assert_array_equal(getattr(model, name), getattr(plain, name))


@each_form
def test_a_state_can_be_read_and_not_changed(model, blobs, form):
    def scribble(state):
        arrays = [a for f in fields(state) for a in arrays_in(getattr(state, f.name))]
        assert len(arrays) >= 3
        assert not any(array.flags.writeable for array in arrays)
        with pytest.raises(ValueError, match="read-only"):
            state.C[0, 0] = 1e9
        for made_or_live in (state.W, state.v):
            with suppress(ValueError):
                made_or_live[:] = 0.5

    plain = with_rounds(clone(model)).fit(form(blobs))
    with_rounds(model).set_params(on_step=scribble).fit(form(blobs))
    assert_same_fit(model, plain)
    for mine in (model.cluster_centers_, model.inlier_weights_, model.labels_):
        assert mine.flags.writeable


@each_form
def test_init_can_read_the_table_and_not_change_it(model, blobs, form):
    X, seen = form(blobs), []

    def init(X, n_clusters, random_state):
        seen.append(X)
        for array in arrays_in(X):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 9
        return blobs[:n_clusters]

    def plainly(X, n_clusters, random_state):
        return blobs[:n_clusters]

    plain = clone(model).set_params(init=plainly, n_init=1).fit(X)
    model.set_params(init=init, n_init=1).fit(X)
    assert len(seen) == 1
    assert_same_fit(model, plain)
    # nor what the caller owns
    assert all(array.flags.writeable for array in arrays_in(X))
    assert_array_equal(X.toarray() if sparse.issparse(X) else X, blobs)


def test_a_table_that_init_kept_does_not_change_the_next_step(blobs):
    kept = []

    def init(X, n_clusters, random_state):
        kept.append(X)
        return X[:n_clusters]

    def on_step(state):
        with pytest.raises(ValueError, match="read-only"):
            kept[0][:] = 0

    plain = RTKM(
        3, contamination=0.1, init=lambda X, k, random_state: X[:k], random_state=0
    ).fit(blobs)
    model = RTKM(3, contamination=0.1, init=init, on_step=on_step, random_state=0).fit(
        blobs
    )
    assert_same_fit(model, plain)
    assert np.shares_memory(kept[0], blobs)  # a view, no copy


def test_starts_of_a_comparison_cannot_change_the_table(blobs):
    def init(X, n_clusters, random_state):
        with pytest.raises(ValueError, match="read-only"):
            X[:] = 0
        return X[:n_clusters]

    frame = compare(
        blobs, [RTKM(3, contamination=0.1)], np.zeros(400, dtype=int), init=init
    )
    assert (frame["error"] == "").all()
