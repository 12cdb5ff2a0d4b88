"""Numbers from sheets: scaling, missing cells, and the same for new rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from rtkm.tables.frames import as_table
from rtkm.tables.messages import InputError
from rtkm.tables.preparation import prepare
from rtkm.tables.reading import read_table


def sheet_of(tmp_path, text, name="data.csv"):
    file = tmp_path / name
    file.write_text(text)
    return read_table(file)


def frame(tmp_path, columns):
    file = tmp_path / "data.parquet"
    pyarrow.parquet.write_table(pa.table(columns), file)
    return read_table(file)


# Scaling

# medians 3 and 300; the middle nine tenths from 1.2 to 4.8 and from 120 to 8080, which
# is more than five times the median deviation of y, 1.4826 * 100
WIDE = "x,y\n1,100\n2,200\n3,300\n4,400\n5,10000\n"


def test_robust_scaling_by_hand(tmp_path):
    prepared = prepare(sheet_of(tmp_path, WIDE))
    away = np.array([[-2, -200], [-1, -100], [0, 0], [1, 100], [2, 9700]])
    assert_allclose(prepared.X, away / [3.6 * 0.30398, 5 * 148.26], rtol=1e-14)
    assert prepared.preparation.scale == "robust"
    assert prepared.notes[-1] == (
        "Columns are scaled, by median and middle nine tenths: 'y' spreads 100 times "
        "as widely as 'x' and would decide alone (scale='none' to leave them as they "
        "are)."
    )


def test_standard_scaling_by_hand(tmp_path):
    prepared = prepare(sheet_of(tmp_path, "x,y\n1,7\n3,7\n"), scale="standard")
    # mean 2, standard deviation 1; a constant column is only moved
    assert_array_equal(prepared.X, [[-1, 0], [1, 0]])
    assert prepared.notes[-1] == "The same in every row: 'y'."


@pytest.mark.parametrize(("factor", "scale"), [(10, "none"), (10.5, "robust")])
def test_units_differ_widely_beyond_ten(tmp_path, factor, scale):
    rows = "".join(f"{x},{x * factor}\n" for x in (0, 1, 2, 4, 8))
    assert prepare(sheet_of(tmp_path, "x,y\n" + rows)).preparation.scale == scale


def test_clusters_that_are_apart_do_not_make_units_differ(tmp_path):
    rng = np.random.default_rng(0)
    modes = np.repeat([0, 10, 20], 100) + 0.3 * rng.normal(size=300)
    noise = 0.3 * rng.normal(size=300)
    rows = "".join(f"{x:.3f},{y:.3f}\n" for x, y in zip(modes, noise, strict=True))
    assert prepare(sheet_of(tmp_path, "x,y\n" + rows)).preparation.scale == "none"


def test_outliers_do_not_make_units_differ(tmp_path):
    rows = "".join(f"{x},{x % 7}\n" for x in range(20, 0, -1))
    sheet = sheet_of(tmp_path, "x,y\n" + rows + "1e9,3\n")
    assert prepare(sheet).preparation.scale == "none"


def test_scaling_told_is_done(tmp_path):
    prepared = prepare(sheet_of(tmp_path, WIDE), scale="none")
    assert_array_equal(prepared.X[-1], [5, 10000])
    assert prepared.preparation.center == (0, 0)
    assert prepare(sheet_of(tmp_path, "x\n1\n2\n"), scale="robust").X[1] > 0


@pytest.mark.parametrize(
    ("values", "spread"),
    [
        # two numbers: a jump of 1 counts the same, however rare it is
        ([0, 0, 0, 1, 1], 0.7413),
        ([0, 0, 0, 0, 1], 0.7413),
        ([0] * 97 + [1], 0.7413),
        # no middle: the median of the jumps 2, 4 and 90
        ([0] * 97 + [2, 4, 90], 4 * 0.7413),
        ([3, 3, 3, 3, 3], 1.0),
        # the mean of these is not quite 0.1, and their standard deviation not 0
        ([0.1, 0.1, 0.1], 1.0),
    ],
)
def test_columns_mostly_of_one_value_have_a_spread(tmp_path, values, spread):
    sheet = frame(tmp_path, {"x": values})
    assert_allclose(prepare(sheet, scale="robust").preparation.spread, [spread])


# Missing cells

GAPS = "name,x,y\na,1,2\nb,NA,\nc,5,-\nd,3,4\n"


def test_dropped_rows_keep_their_place_and_reason(tmp_path):
    prepared = prepare(sheet_of(tmp_path, GAPS), missing="drop", scale="none")
    assert_array_equal(prepared.X, [[1, 2], [3, 4]])
    assert prepared.kept.tolist() == [True, False, False, True]
    assert prepared.reasons == {1: "no number in 'x', 'y'", 2: "no number in 'y'"}
    assert prepared.notes == (
        "Used 2 columns: 'x', 'y'.",
        "Left out text: 'name' (such as 'a').",
        "Left out 2 rows with missing values: 1 in 'x', 2 in 'y'. That is 50 % of all "
        "rows; missing='median' would fill in 3 cells instead, and without 'y' 1 row "
        "would be left out.",
    )


def test_reasons_tell_rows_apart(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    X[rng.random(X.shape) < 0.1] = np.nan
    np.save(tmp_path / "a.npy", X)
    prepared = prepare(read_table(tmp_path / "a.npy"), missing="drop")
    for row, gaps in enumerate(np.isnan(X)):
        named = [f"'column_{j + 1}'" for j in np.flatnonzero(gaps)[:5]]
        reason = prepared.reasons.get(row, "no number in ")
        assert reason.split(" and ")[0] == "no number in " + ", ".join(named)


def test_missing_cells_of_unused_columns_do_no_harm(tmp_path):
    prepared = prepare(sheet_of(tmp_path, GAPS), columns=["x"], missing="median")
    assert_array_equal(prepared.X, [[1], [3], [5], [3]])
    sheet = sheet_of(tmp_path, "x,y\n1,\n2,3\n")
    assert_array_equal(prepare(sheet, drop=["y"]).X, [[1], [2]])


def test_the_id_column_names_rows_and_is_not_used(tmp_path):
    prepared = prepare(sheet_of(tmp_path, "k,x\n5,1\n3,2\n"), id="k")
    assert prepared.preparation.columns == ("x",)
    assert prepared.ids.to_pylist() == [5, 3]


# Other types


def test_types_of_parquet_are_known(tmp_path):
    sheet = frame(
        tmp_path,
        {
            "float": pa.array([1.5, 2.5], pa.float32()),
            "half": pa.array(np.array([1.5, 2.5], dtype=np.float16)),
            "decimal": pa.array([1, 2], pa.decimal128(10, 2)),
            "category": pa.array(["1", "2"]).dictionary_encode(),
            "list": [[1], [2]],
            "when": pa.array([1, 2], pa.timestamp("us")),
            "nothing": pa.nulls(2),
            "long": pa.array(["1,5", "2,5"], pa.large_string()),
        },
    )
    prepared = prepare(sheet, scale="none")
    columns = ("float", "half", "decimal", "category", "long")
    assert prepared.preparation.columns == columns
    assert_array_equal(prepared.X[1], [2.5, 2.5, 2, 2, 2.5])
    assert prepared.notes[1:] == (
        "Left out dates: 'when' (such as '1970-01-01 00:00:00.000001').",
        "Left out values of other types: 'list' (such as 'list<element: int64>').",
        "Left out empty columns: 'nothing'.",
    )


def test_all_formats_read_alike(tmp_path):
    X = np.array([[1.5, -2], [3, 4e-300]])
    table = pa.table({"column_1": X[:, 0], "column_2": X[:, 1]})
    np.save(tmp_path / "npy", X)
    np.save(tmp_path / "fortran", np.asfortranarray(X))
    np.save(tmp_path / "swapped", X.astype(">f8"))
    np.save(tmp_path / "fields", X.ravel().view("f8,f8"))
    pyarrow.parquet.write_table(table, tmp_path / "parquet.npy")
    pyarrow.feather.write_feather(table, tmp_path / "feather.npy")
    with pa.ipc.new_stream(tmp_path / "stream.npy", table.schema) as stream:
        stream.write_table(table)
    np.savetxt(tmp_path / "text.npy", X, delimiter=";", fmt="%.17g")
    files = list(tmp_path.glob("*.npy"))
    assert len(files) == 8
    for file in files:
        assert_array_equal(prepare(read_table(file), scale="none").X, X)


# New rows


def test_new_rows_are_prepared_as_the_first(tmp_path):
    first = prepare(sheet_of(tmp_path, WIDE), missing="median")
    preparation = first.preparation
    again = preparation.repeat(sheet_of(tmp_path, WIDE))
    assert_array_equal(again.X, first.X)
    # other order, other columns beside, a missing cell
    text = "name;y;x\na;100,0;NA\nb;NA;5,0\n"
    new = preparation.repeat(sheet_of(tmp_path, text, "new.csv"), id="name")
    assert_allclose(preparation.in_data_units(new.X), [[3, 100], [5, 300]], rtol=1e-14)
    assert new.ids.to_pylist() == ["a", "b"]
    dropped = preparation.repeat(sheet_of(tmp_path, "x,y\n1,NA\n2,3\n"), missing="drop")
    assert dropped.kept.tolist() == [False, True]
    assert_allclose(preparation.in_data_units(dropped.X), [[2, 3]], rtol=1e-12)


@pytest.mark.parametrize("log", [(), ("x",)])
def test_zeros_come_back_as_zeros(log):
    rng = np.random.default_rng(0)
    counts = np.where(rng.random(50) < 0.3, 0.0, rng.exponential(9.1, 50))
    table = as_table(pd.DataFrame({"x": counts}))
    for scale in ("standard", "robust"):
        prepared = prepare(table, scale=scale, log=log)
        again = prepared.preparation.in_data_units(prepared.X)[:, 0]
        assert_array_equal(again == 0, counts == 0)
        assert_allclose(again, counts, rtol=1e-12)


def test_new_rows_without_the_columns_are_refused(tmp_path):
    preparation = prepare(sheet_of(tmp_path, "height,y\n1,2\n3,4\n")).preparation
    file = tmp_path / "new.csv"
    with pytest.raises(InputError) as caught:
        preparation.repeat(sheet_of(tmp_path, "hight,y\n1,2\n", "new.csv"))
    assert str(caught.value) == (
        f"{file} has no column 'height', which the model needs; did you mean 'hight'?"
    )
    with pytest.raises(
        InputError, match="column 'y' holds text, such as 'a' in row 1; expected"
    ):
        preparation.repeat(sheet_of(tmp_path, "height,y\n1,a\n", "new.csv"))
    with pytest.raises(InputError, match=r"1 missing value \(NaN\): 1 in 'y'"):
        preparation.repeat(sheet_of(tmp_path, "height,y\n1,\n2,3\n", "new.csv"))


def test_many_new_columns_are_found(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(3, 5_000))
    sheet = read_table(tmp_path / "a.npy")
    prepared = prepare(sheet)
    assert_array_equal(prepared.preparation.repeat(sheet).X, np.eye(3, 5_000))
