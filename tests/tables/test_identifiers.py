"""Columns that name or number rows, or hold labels, and those that only look so."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from rtkm.tables.frames import as_table
from rtkm.tables.identifiers import counts_some_rows, find_row_names
from rtkm.tables.preparation import prepare

N = 60
RNG = np.random.default_rng(0)
MEASURED = RNG.normal(size=N)
WITH_GAPS = np.sort(RNG.choice(np.arange(1, 100), N, replace=False))
SHUFFLED = RNG.permutation(np.arange(500, 500 + 3 * N, 3))
CLASSES = np.arange(N) % 3


def chosen(given, **options):
    """Return the columns used, and all notes, the same for all kinds of tables."""
    columns = {**given, "x": MEASURED}
    found = [
        prepare(as_table(table), **options)
        for table in (pd.DataFrame(columns), pa.table(columns))
    ]
    assert found[0].preparation == found[1].preparation
    assert found[0].notes == found[1].notes
    return found[0].preparation.columns, " ".join(found[0].notes)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("n", WITH_GAPS),
        ("n", WITH_GAPS.astype(float)),
        ("n", WITH_GAPS - 1),
        ("Sample Number", SHUFFLED),
        ("sampleNo", SHUFFLED),
        ("Sample code number", SHUFFLED),
        ("index", SHUFFLED),
        ("Unnamed: 0", SHUFFLED),
        ("PATIENT_NR", np.r_[SHUFFLED[:-4], SHUFFLED[:4]]),
        (
            "Sample Number",
            np.r_[1 : N // 2 + 1, 1 : N // 3, 1 : N - N // 2 - N // 3 + 2],
        ),
        ("record no.", np.where(SHUFFLED == 500, np.nan, SHUFFLED)),
    ],
)
def test_numbers_of_rows_are_left_out_and_named(name, values):
    used, notes = chosen({name: values})
    assert used == ("x",)
    assert f"Left out identifiers: '{name}' (such as" in notes
    assert "Name them in columns= to use them." in notes
    options = {"columns": [name], "missing": "drop"}
    assert chosen({name: values}, **options)[0] == (name,)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        # a year, with a gap, and a count, of which no two are the same
        ("year", np.r_[1950:1980, 1981:2011]),
        ("count", SHUFFLED),
        ("number of samples", SHUFFLED),
        ("patients", SHUFFLED),
        # measurements that were sorted
        ("price", np.sort(SHUFFLED)),
        ("age", np.sort(CLASSES + np.arange(N) // 2)),
        ("weight", np.sort(np.abs(MEASURED))),
        ("dose", np.arange(N) * 2),
        ("minutes", np.cumsum(np.r_[0, RNG.integers(1, 9, N - 1)])),
        ("temperature", 20 + WITH_GAPS),
        ("change", WITH_GAPS - 50),
        # called as numbers of rows are, which they are not
        ("index", CLASSES),
        ("room number", CLASSES),
        ("index", 20 + 5 * np.abs(MEASURED)),
        ("case number", np.arange(N) // 4),
        ("heat index", SHUFFLED),
        ("code", SHUFFLED),
    ],
)
def test_measurements_are_used(name, values):
    assert chosen({name: values})[0] == (name, "x")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("class", CLASSES),
        ("Class", CLASSES.astype(float)),
        ("LABEL", CLASSES),
        ("target", CLASSES == 1),
        ("species", np.where(CLASSES == 1, np.nan, CLASSES)),
        ("ground_truth", CLASSES),
    ],
)
def test_labels_are_left_out_and_named(name, values):
    used, notes = chosen({name: values})
    assert used == ("x",)
    assert f"Left out labels to compare with: '{name}' (such as '" in notes
    options = {"columns": [name], "missing": "drop"}
    assert chosen({name: values}, **options)[0] == (name,)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("target", SHUFFLED),
        ("class", MEASURED),
        ("pclass", CLASSES),
        ("class size", CLASSES),
        ("group", CLASSES),
        ("y", CLASSES),
    ],
)
def test_what_is_called_otherwise_or_measured_is_no_label(name, values):
    assert chosen({name: values})[0] == (name, "x")


def test_few_rows_are_numbered_by_accident():
    assert not counts_some_rows(np.array([1.0, 2, 4, 5, 7]))
    assert counts_some_rows(np.array([1.0, 2, 4, 5, 7, 8, 9, 12, 13, 14]))


# Text that names rows

NAMES = [f"state {i}" for i in range(N)]


def test_text_that_differs_in_all_rows_names_them():
    table = pd.DataFrame({"kind": "a", "state": NAMES, "x": MEASURED})
    table.index += 7
    prepared = prepare(as_table(table))
    assert prepared.preparation.id == "state"
    assert prepared.ids[3] == "state 3"
    assert "Row names are from 'state' (id= for another column)." in prepared.notes
    assert prepare(as_table(table), id="kind").preparation.id == "kind"
    assert prepare(as_table(table), drop=["state"]).ids is None
    assert prepare(as_table(table), columns=["x"]).preparation.id == "state"


@pytest.mark.parametrize(
    "cells",
    [
        [*NAMES[:-1], NAMES[0]],
        [*NAMES[:-1], None],
        [*NAMES[:-1], " "],
        [f"a long remark, number {i}, about one of the rows" for i in range(N)],
        [f"2024-01-{i % 30}" for i in range(N)],
        [f"{i}" for i in range(N)],
        list(range(N)),
    ],
    ids=["repeated", "missing", "blank", "long", "dates", "digits", "numbers"],
)
def test_other_columns_name_no_rows(cells):
    for table in (pd.DataFrame({"a": cells}), pa.table({"a": cells})):
        assert find_row_names(as_table(table), ()) is None


def test_repeated_text_beyond_a_glance_names_no_rows():
    cells = [f"row {i}" for i in range(5000)]
    cells[3] = cells[1]
    assert find_row_names(as_table(pa.table({"a": cells})), ()) is None


def test_text_of_few_rows_differs_by_accident():
    assert find_row_names(as_table(pa.table({"a": NAMES[:9]})), ()) is None
