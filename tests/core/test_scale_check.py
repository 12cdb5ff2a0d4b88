"""A column that decides alone is named, and nothing else is."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from rtkm import KMOR, RTKM, ScaleWarning, TableModel, TrimmedKMeans

METHODS = [
    RTKM(2, contamination=0.05, random_state=0),
    RTKM(2, contamination=0.05, step=1.1, random_state=0),
    TrimmedKMeans(2, contamination=0.05, random_state=0),
]
FORMS = {
    "array": np.asarray,
    "float32": lambda X: X.astype(np.float32),
    "CSR": sparse.csr_array,
}


def table(share, n=200, offset=0.0):
    """Return three columns, the second of which holds a share of the variance."""
    X = np.random.default_rng(0).normal(size=(n, 3))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    X[:, 1] *= np.sqrt(2 * share / (1 - share))
    return X + offset


def warned(model, X, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, **options)
    return [str(w.message) for w in caught if w.category is ScaleWarning]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("model", METHODS, ids=str)
def test_a_column_that_decides_alone_is_named_once(model, form):
    (message,) = warned(model, FORMS[form](table(0.999)))
    assert message.startswith("column 1 holds 99.")
    assert "StandardScaler" in message
    assert "TableModel" in message


@pytest.mark.parametrize("form", FORMS)
def test_other_tables_get_no_warning(form):
    model = RTKM(2, contamination=0, random_state=0)
    assert warned(model, FORMS[form](table(0.94))) == []
    assert len(warned(model, FORMS[form](table(0.96)))) == 1


def test_only_the_rows_kept_count():
    X = table(0.34)
    X[:10, 1] = 1e6
    assert warned(RTKM(2, contamination=10, random_state=0), X) == []
    assert len(warned(RTKM(2, contamination=0, random_state=0), X)) == 1


def test_weights_count():
    X = table(0.34)
    X[0, 1] = 1e3
    weights = np.ones(len(X))
    weights[0] = 0
    model = RTKM(2, contamination=0, random_state=0)
    assert len(warned(model, X)) == 1
    assert warned(model, X, sample_weight=weights) == []


@pytest.mark.parametrize("offset", [0.0, 1e6, -1e60])
def test_columns_that_do_not_vary_are_no_others(offset):
    model = RTKM(2, contamination=0, random_state=0)
    few = np.random.default_rng(0).normal(size=(100, 2))
    constant = np.full((100, 2), 0.1 + offset)
    assert warned(model, few[:, :1]) == []
    for form in (
        FORMS.values() if abs(offset) < 1e30 else (np.asarray, sparse.csr_array)
    ):
        assert warned(model, form(np.hstack([few[:, :1], constant]))) == []
        assert warned(model, form(np.hstack([few, constant]))) == []
    assert warned(model, np.full((100, 2), 0.1)) == []


def test_a_large_table_is_looked_at_as_a_whole_where_it_is_close():
    model = RTKM(2, contamination=0, n_swaps=0, random_state=0)
    assert warned(model, table(0.94, n=20_000)) == []
    assert len(warned(model, table(0.96, n=20_000))) == 1


def test_columns_go_by_their_names():
    frame = pd.DataFrame(table(0.99), columns=["a", "income", "b"])
    (message,) = warned(RTKM(2, contamination=0.1, random_state=0), frame)
    assert message.startswith("column income holds")


def test_neither_table_models_nor_other_methods_warn():
    X = table(0.999)
    for model in (
        TableModel(RTKM(2, contamination=0.1)),
        TableModel(RTKM(2, contamination=0.1), scale="none"),
        KMOR(2),
    ):
        assert warned(model, X) == []


def test_the_line_of_the_caller_is_shown():
    with pytest.warns(ScaleWarning) as caught:
        RTKM(2, contamination=0.1, random_state=0).fit_predict(table(0.99))
    assert caught[0].filename == __file__
