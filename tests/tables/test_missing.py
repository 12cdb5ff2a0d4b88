"""Missing values by column, what it costs to drop rows, and rows that are repeated."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from rtkm import RTKM, TableModel, load
from rtkm.tables.frames import as_table
from rtkm.tables.messages import InputError
from rtkm.tables.preparation import prepare
from rtkm.tables.repeats import count_repeats

NAN = np.nan


def table(**columns):
    return as_table(pd.DataFrame(columns))


# ten rows: age is missing in three, cabin in six, fare in one
AGE = [NAN, NAN, NAN, 4, 5, 6, 7, 8, 9, 10.5]
CABIN = [1, NAN, NAN, NAN, NAN, NAN, NAN, 8, 9, 7]
FARE = [3, 1, 4, 1, 5, 9, 2, 6, 5, NAN]
PEOPLE = {"age": AGE, "cabin": CABIN, "fare": FARE}


def test_a_mostly_empty_column_is_left_out_and_not_most_rows():
    prepared = prepare(table(**PEOPLE), missing="drop")
    assert prepared.preparation.columns == ("age", "fare")
    assert prepared.kept.sum() == 6
    assert prepared.notes[:3] == (
        "Used 2 columns: 'age', 'fare'.",
        "Left out mostly empty columns: 'cabin' (6 of 10 cells missing). Name them in "
        "columns= or missing= to keep them.",
        "Left out 4 rows with missing values: 3 in 'age', 1 in 'fare'. That is 40 % of "
        "all rows; missing='median' would fill in 4 cells instead, and without 'age' "
        "1 row would be left out.",
    )


@pytest.mark.parametrize(
    "options",
    [
        {"missing": "drop", "columns": ["age", "cabin", "fare"]},
        {"missing": {"*": "drop", "cabin": "drop"}},
    ],
)
def test_a_mostly_empty_column_that_is_named_is_kept(options):
    prepared = prepare(table(**PEOPLE), **options)
    assert prepared.preparation.columns == ("age", "cabin", "fare")
    assert np.flatnonzero(prepared.kept).tolist() == [7, 8]


def test_a_half_empty_column_is_kept():
    half = [NAN] * 5 + [1, 2, 3, 4, 5.5]
    prepared = prepare(table(half=half, fare=[*FARE[:9], 3]), missing="drop")
    assert prepared.preparation.columns == ("half", "fare")


def test_columns_that_are_all_mostly_empty_are_kept():
    prepared = prepare(table(cabin=CABIN), missing="drop")
    assert prepared.preparation.columns == ("cabin",)


def test_missing_values_are_treated_by_column():
    missing = {"age": "median", "*": "drop"}
    prepared = prepare(table(**PEOPLE), missing=missing, scale="none")
    # the median of 4, 5, ..., 9, 10.5
    assert_array_equal(prepared.X[:, 0], [7, 7, 7, 4, 5, 6, 7, 8, 9])
    assert_array_equal(prepared.kept, [True] * 9 + [False])
    assert_array_equal(prepared.filled[:, 0], [True] * 3 + [False] * 6)
    assert prepared.reasons == {
        **dict.fromkeys(range(3), "filled in 'age'"),
        9: "no number in 'fare'",
    }
    assert "Filled in medians for missing values: 3 in 'age'." in prepared.notes
    assert "Left out 1 row with missing values: 1 in 'fare'." in prepared.notes


def test_columns_that_no_policy_names_may_miss_nothing():
    with pytest.raises(InputError, match="1 in 'fare', the first in row 10;"):
        prepare(table(age=AGE, fare=FARE), missing={"age": "median"})


def test_the_message_names_the_row_and_what_each_way_costs():
    names = [f"person {i}" for i in range(10)]
    with pytest.raises(InputError) as caught:
        prepare(table(name=names, **PEOPLE))
    assert str(caught.value) == (
        "10 missing values (NaN): 3 in 'age', 6 in 'cabin', 1 in 'fare', the first in "
        "row 1 ('person 0'); choose missing='drop' to leave out 4 of 10 rows and "
        "'cabin', mostly empty, or missing='median' to fill in 10 cells."
    )
    with pytest.raises(InputError, match="leave out 6 of 10 rows, or missing='median'"):
        prepare(table(cabin=CABIN))


def test_few_lost_rows_need_no_advice():
    ages = [1.5, *range(2, 20), NAN]
    notes = prepare(table(age=ages, x=ages[::-1]), missing="drop").notes
    assert "Left out 2 rows with missing values: 1 in 'age', 1 in 'x'." in notes


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        (
            {"agee": "drop"},
            "missing='agee': the table has no such column; did you",
        ),
        ({"age": "mean"}, "expected error, drop or median, or one of these by"),
    ],
)
def test_policies_that_say_nothing_are_refused(missing, message):
    with pytest.raises(InputError, match=message):
        prepare(table(**PEOPLE), missing=missing)


def test_a_model_keeps_what_it_does_by_column(tmp_path):
    missing = {"array": "median", "fare": "drop"}  # a word of model files, too
    rows = pd.DataFrame({"array": AGE, "fare": FARE})
    model = TableModel(RTKM(2, contamination=0), missing=missing).fit(rows)
    model.save(tmp_path / "model.rtkm")
    again = load(tmp_path / "model.rtkm")
    assert again.missing == missing
    assert again.preparation_ == model.preparation_
    assert_array_equal(again.predict(rows), model.predict(rows))
    assert again.predict(rows)[9] == -3
    prepared = again.preparation_.repeat(as_table(rows), missing={"fare": "median"})
    assert prepared.kept.all()


# Repeated rows


def test_repeated_rows_are_counted():
    prepared = prepare(table(x=[1, 2, 1, 1, 2.5], y=[3, 4, 3, 3, 4]))
    assert (
        "2 rows of 5 are the same as an earlier one in all columns used."
        in prepared.notes
    )


def test_rows_that_differ_are_not_counted():
    grid = np.stack(np.meshgrid(np.arange(300.0), np.arange(300.0)), axis=-1)
    X = grid.reshape(-1, 2)
    assert count_repeats(X) == 0
    assert count_repeats(np.vstack([X, X[::-1], X[:5]])) == len(X) + 5
    assert count_repeats(X[:, [0, 0]]) == 300 * 299


def test_numbers_that_come_twice_in_one_column_are_nothing_to_mention():
    assert not [n for n in prepare(table(x=[1, 1, 2.5])).notes if "the same as" in n]
