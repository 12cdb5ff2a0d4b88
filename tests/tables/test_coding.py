"""Columns as codes."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from rtkm.tables.coding import code, has_more_than
from rtkm.tables.columns import Column
from rtkm.tables.frames import as_table


def coded(cells):
    table = as_table(pd.DataFrame({"a": cells}))
    return code(table, table.look("a"))


def texts(found):
    return [found.text(place) for place in range(found.n_values)]


def test_text_is_the_same_whatever_the_spaces_around_it():
    found = coded(["USA", " Japan", "USA ", "", "NA", None, "Japan"])
    assert found.codes.tolist() == [0, 1, 0, -1, -1, -1, 1]
    assert texts(found) == ["USA", "Japan"]


def test_text_in_a_list_has_the_same_codes():
    cells = ["USA", " Japan", "USA ", "", "NA", None, "Japan"]
    found = code(None, Column("a", "text", raw=cells))
    assert found.codes.tolist() == [0, 1, 0, -1, -1, -1, 1]
    assert texts(found) == ["USA", "Japan"]


def test_numbers_go_by_their_size():
    found = coded([2.5, -1.0, np.nan, 2.5, 10.0])
    assert found.codes.tolist() == [1, 0, -1, 1, 2]
    assert texts(found) == ["-1", "2.5", "10"]


def test_truth_is_shown_as_such():
    assert texts(coded([True, False, True])) == ["False", "True"]


@pytest.mark.parametrize(
    "cells",
    [
        ["31.12.1999", "1.1.2020", "15.6.2005"],
        ["12/31/99", "1/1/20", "6/15/05"],
        ["31/12/1999", "1/1/2020", "15/6/2005"],
        ["1999-12-31", "2020-1-1", "2005-06-15"],
        [
            datetime.date(1999, 12, 31),
            datetime.date(2020, 1, 1),
            datetime.date(2005, 6, 15),
        ],
        pd.to_datetime(["1999-12-31", "2020-01-01", "2005-06-15"]),
        pd.to_datetime(["1999-12-31", "2020-01-01", "2005-06-15"]).tz_localize("UTC"),
    ],
    ids=str,
)
def test_dates_go_by_time(cells):
    found = coded([*cells, None])
    assert found.kind == "date"
    assert found.codes.tolist() == [0, 2, 1, -1]
    assert found.text(0).startswith(str(cells[0]).removesuffix(" 00:00:00"))


@pytest.mark.parametrize(
    "cells",
    [["1/2/2020", "3/4/2020", "5/6/2020"], ["13/2/2020", "3/14/2020", "5/6/2020"]],
    ids=["either", "neither"],
)
def test_dates_that_can_be_read_two_ways_have_no_order(cells):
    assert coded(cells) is None


def test_dates_with_points_have_the_day_first():
    assert coded(["1.2.2020", "2.1.2020", "3.3.2020"]).codes.tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    ("kind", "unit"),
    [
        (pa.date32(), 1),
        (pa.date64(), 86_400_000),
        (pa.timestamp("ns", "UTC"), 1),
        (pa.time32("s"), 1),
        (pa.time64("us"), 1),
        (pa.duration("s"), 1),
    ],
    ids=str,
)
def test_all_kinds_of_time_have_an_order(kind, unit):
    cells = pa.array([5 * unit, 2 * unit, None, 5 * unit], kind)
    for values in (cells, cells.dictionary_encode()):
        table = as_table(pa.table({"a": values}))
        assert code(table, table.look("a")).codes.tolist() == [1, 0, -1, 1]


def test_intervals_have_no_order():
    table = as_table(
        pa.table({"a": pa.array([(1, 0, 0), (0, 30, 0)], pa.month_day_nano_interval())})
    )
    assert code(table, table.look("a")) is None


def test_cells_of_other_types_have_no_codes():
    assert coded([[1], [2]]) is None
    assert coded([None, None]) is None


def test_many_texts_are_seen_at_a_glance():
    cells = [f"text {i}" for i in range(5000)]
    assert has_more_than(200, Column("a", "text", raw=cells))
    assert not has_more_than(200, Column("a", "text", raw=cells[:100] * 50))
    assert not has_more_than(2, Column("a", "number", numbers=np.arange(9.0)))
