"""What a model keeps of its training rows: summaries, and no value of a single row."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from rtkm import RTKM, TableModel
from rtkm.tables import reference as module
from rtkm.tables.reference import FEWEST_BETWEEN, N_QUANTILES, quantiles_of


@pytest.mark.parametrize("n", [40, 41, 79, 80, 137, 999, 1000, 1234, 20_000])
@pytest.mark.parametrize("m", [1, 7, N_QUANTILES])
def test_enough_values_lie_between_quantiles(n, m):
    values = np.sort(np.random.default_rng(n).normal(size=n))
    found = quantiles_of(values, m)
    assert found.n_values == n
    assert len(found.quantiles) == m
    cuts = np.unique(found.below)
    assert np.diff([0, *cuts, n]).min() >= FEWEST_BETWEEN
    for quantile, below, up_to in zip(*found[1:], strict=True):
        assert below == (values < quantile).sum()
        assert up_to == (values <= quantile).sum()


@pytest.mark.parametrize("n", [0, 1, 39])
def test_nothing_is_kept_of_few_values(n):
    found = quantiles_of(np.arange(1.0, n + 1), 3)
    assert found.n_values == 0
    assert not found.quantiles.any()


def test_long_tables_keep_every_fiftieth():
    values = np.arange(5000.0)
    found = quantiles_of(values, N_QUANTILES)
    np.testing.assert_array_equal(found.quantiles, np.arange(100, 5000, 100))


def fitted(X, **options):
    model = RTKM(2, contamination=0.1, random_state=0)
    return TableModel(model, **options).fit(X)


def test_missing_values_are_counted_and_not_summarized():
    X = np.random.default_rng(0).normal(size=(200, 3)) * [1, 50, 1]
    X[:30, 1] = np.nan
    filled = fitted(X, missing="median").reference_
    np.testing.assert_array_equal(filled.n_missing, [0, 30, 0])
    np.testing.assert_array_equal(filled.n_values, [200, 170, 200])
    assert filled.n_rows == filled.n_used == 200
    dropped = fitted(X, missing="drop").reference_
    np.testing.assert_array_equal(dropped.n_missing, [0, 30, 0])
    np.testing.assert_array_equal(dropped.n_values, [170, 170, 170])
    assert (dropped.n_rows, dropped.n_used) == (200, 170)


def test_a_column_of_few_values_has_no_quantiles():
    X = np.random.default_rng(0).normal(size=(100, 2))
    X[20:, 1] = np.nan
    found = fitted(X, columns=["x0", "x1"], missing="median").reference_
    np.testing.assert_array_equal(found.n_values, [100, 0])


def test_labels_are_counted_as_those_of_new_rows():
    X = np.random.default_rng(0).normal(size=(300, 2))
    model = fitted(X)
    counts = np.bincount(model.predict(X) + 1)
    np.testing.assert_array_equal(model.reference_.label_counts, counts)


def test_sparse_tables_keep_counts_alone():
    X = sparse.random(100, 30, 0.3, "csr", random_state=0)
    found = fitted(X).reference_
    assert not found.n_values.any()
    assert found.n_used == 100


def test_long_tables_are_sampled(monkeypatch):
    X = np.random.default_rng(0).normal(size=(500, 2))
    monkeypatch.setattr(module, "MOST_ROWS", 200)
    found = fitted(X).reference_
    np.testing.assert_array_equal(found.n_values, [200, 200])
    assert found.n_used == 500
