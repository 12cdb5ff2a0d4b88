"""The kind of table, its precision and the number of threads do not matter."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from promises import MIXES, assert_same_fit
from scipy import sparse
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from rtkm import FuzzyCMeans
from rtkm.core.threads import n_threads
from rtkm.datasets import make_outlier_blobs

KINDS = {
    "fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=0)[::2],
    "list": np.ndarray.tolist,
    "csr": sparse.csr_array,
    "csr_matrix": sparse.csr_matrix,
    "csc": sparse.csc_array,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_kind_of_table_does_not_matter(model, blobs, kind):
    blobs[np.abs(blobs) < 1] = 0  # so that CSR has something to leave out
    expected, other = clone(model).fit(blobs), model.fit(kind(blobs))
    assert_array_equal(other.labels_, expected.labels_)
    assert_allclose(other.cluster_centers_, expected.cluster_centers_, atol=1e-9)
    assert_allclose(other.objective_, expected.objective_, rtol=1e-9)
    assert_array_equal(other.predict(kind(blobs)), expected.predict(blobs))
    assert_allclose(other.transform(kind(blobs)), expected.transform(blobs), atol=1e-6)


def test_float32_stays_float32_and_agrees_with_float64(model):
    X = make_outlier_blobs(2000, 4, 6, separation=1.5, random_state=3)[0]
    if isinstance(model, (*MIXES, FuzzyCMeans)):
        # they end within tol of a minimum, which decides between starts that find it
        model.set_params(n_init=1)
    single, double = clone(model).fit(X.astype(np.float32)), model.fit(X)
    assert single.cluster_centers_.dtype == np.float32
    assert single.transform(X).dtype == np.float32
    assert double.cluster_centers_.dtype == double.transform(X).dtype == np.float64
    assert np.mean(single.labels_ == double.labels_) >= 0.995
    assert np.mean(single.predict(X) == double.predict(X)) >= 0.995
    assert_allclose(single.objective_, double.objective_, rtol=1e-3)


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two processors")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_threads_do_not_change_a_bit(model, dtype):
    # 50_000 rows, 20 features and 10 clusters: enough work to be divided
    X = make_outlier_blobs(50_000, 20, 10, random_state=0)[0].astype(dtype)
    model.set_params(n_clusters=10, max_iter=4, n_init=1)
    if hasattr(model, "n_swaps"):
        model.set_params(n_swaps=2)
    fits = []
    for limit in (1, 2):
        with threadpool_limits(limit):
            assert n_threads() == limit
            fits.append(clone(model).fit(X))
    assert_same_fit(*fits)
