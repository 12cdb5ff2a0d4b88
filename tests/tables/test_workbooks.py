"""Workbooks: which sheet, where the table is, what its cells are, and damage."""

from __future__ import annotations

import datetime
import io
import sys
import zipfile
from types import SimpleNamespace

import pytest
from workbook_files import write_ods, write_xlsx

from rtkm.tables.messages import InputError
from rtkm.tables.preparation import prepare
from rtkm.tables.reading import read_table

WRITERS = {"Excel": write_xlsx, "ODS": write_ods}
both = pytest.mark.parametrize("kind", WRITERS)

NUMBERS = [["a", "b"], [1, 2.5], [3, 0.5], [4, 1.5]]
DAY, NOON = datetime.date(2024, 3, 1), datetime.datetime(2024, 3, 1, 12)


def written(tmp_path, kind, sheets):
    file = tmp_path / "book"
    WRITERS[kind](file, sheets)
    return file


def message_of(file, **options):
    with pytest.raises(InputError) as caught:
        read_table(file, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@both
def test_a_sheet_is_the_table_of_its_csv(tmp_path, monkeypatch, kind):
    csv = tmp_path / "data.csv"
    csv.write_text("\n".join(",".join(map(str, row)) for row in NUMBERS))
    file = written(tmp_path, kind, {"Data": NUMBERS})
    sheet = read_table(file)
    assert sheet.columns == read_table(csv).columns
    assert sheet.notes == ()
    assert sheet.summary() == (
        f"Read 3 rows of 2 columns from sheet 'Data' of {file} ({kind}, with a header)."
    )
    stdin = SimpleNamespace(buffer=io.BytesIO(file.read_bytes()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert read_table("-").columns == sheet.columns


# Which sheet


@both
def test_the_first_sheet_with_cells_is_read_and_others_are_named(tmp_path, kind):
    sheets = {"Blank": [], "Data": NUMBERS, "More": [["c"], [1], [2]]}
    file = written(tmp_path, kind, sheets)
    sheet = read_table(file)
    assert sheet.names == ["a", "b"]
    assert sheet.notes == (
        f"Read sheet 'Data' of {file}; --sheet NAME reads another: 'More'.",
    )
    assert read_table(file, sheet="More").columns.to_pydict() == {"c": [1, 2]}
    assert read_table(file, sheet="More").notes == ()
    assert message_of(file, sheet="Mroe") == (
        f"--sheet 'Mroe': {file} has no such sheet; did you mean 'More'?"
    )
    assert message_of(file, sheet="Blank") == (
        f"--sheet 'Blank' of {file} is empty; expected a table."
    )


def test_hidden_sheets_come_last(tmp_path):
    write_xlsx(tmp_path / "a", {"Lists": [["z"], [1]], "Data": NUMBERS}, ["Lists"])
    assert read_table(tmp_path / "a").names == ["a", "b"]
    write_xlsx(tmp_path / "a", {"Lists": [["z"], [1]], "Data": []}, ["Lists"])
    assert read_table(tmp_path / "a").names == ["z"]


@both
def test_a_workbook_without_cells_is_refused(tmp_path, kind):
    file = written(tmp_path, kind, {"A": [], "B": []})
    assert message_of(file) == f"{file} has no sheet with cells; expected a table."
    file = written(tmp_path, kind, {"A": [["a", "b"]]})
    assert "has 2 columns but no rows" in message_of(file)


@both
def test_a_first_sheet_that_is_no_table_names_the_others(tmp_path, kind):
    file = written(tmp_path, kind, {"Notes": [["see Data"]], "Data": NUMBERS})
    assert message_of(file) == (
        f"sheet 'Notes' of {file} has 1 column but no rows; expected a table of "
        "numbers; --sheet NAME reads another: 'Data'."
    )


def test_other_formats_have_no_sheets(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("x\n1\n")
    expected = f"--sheet 'Data': {file} is CSV and has no sheets."
    assert message_of(file, sheet="Data") == expected


# Where the table is


@both
@pytest.mark.parametrize(
    ("above", "note"),
    [
        ([["Sales"], []], "Left out 1 row above the table: 'Sales'."),
        ([["Sales", 2024], ["by", "Ann"]], "Left out 2 rows above the table: 'Sales', "
         "'2024', 'by' and 1 more."),
        ([[None, None, "2024"]], "Left out 1 row above the table: '2024'."),
    ],
)  # fmt: skip
def test_titles_are_left_out(tmp_path, kind, above, note):
    table = [["a", "b", "c", "d", "e"], *([i, 1, 2, 3, 4.5] for i in (5, 7))]
    sheet = read_table(written(tmp_path, kind, {"Data": [*above, *table]}))
    assert sheet.names == ["a", "b", "c", "d", "e"]
    assert sheet.notes == (note,)
    assert sheet.cells("a").to_pylist() == [5, 7]


@both
def test_no_row_of_data_is_taken_for_a_title(tmp_path, kind):
    rows = [[1, None, None], [2, None, None], [3, 4.5, 5], [4, 5.5, 6], [6, 1.5, 2]]
    file = written(tmp_path, kind, {"Data": rows})
    assert read_table(file, header=False).n_rows == 5
    rows = [[None, "x", "y"], ["r1", 1, 2], ["r2", 3, None], ["r3", None, 1]]
    sheet = read_table(written(tmp_path, kind, {"Data": rows}))
    assert sheet.names == ["column_1", "x", "y"]
    assert sheet.n_rows == 3


@both
def test_empty_rows_and_columns_are_left_out(tmp_path, kind):
    rows = [[], [None, "a", None, "b", ""], [], [None, 1, None, 2, None], [], [None, 3]]
    file = written(tmp_path, kind, {"Data": [*rows, [None, " "][:1], []]})
    assert read_table(file).columns.to_pydict() == {"a": [1, 3], "b": [2, None]}


@both
def test_header_and_rows_to_skip_can_be_said(tmp_path, kind):
    rows = [[9, 9], [2019, 2020], [1.5, 2.5], [3.5, 0.25]]
    file = written(tmp_path, kind, {"Data": rows})
    assert read_table(file, header=False).n_rows == 4
    sheet = read_table(file, header=True, skip=1)
    assert sheet.names == ["2019", "2020"]
    assert sheet.n_rows == 2


# What cells are


@both
def test_cells_keep_their_types(tmp_path, kind):
    rows = [
        ["whole", "number", "truth", "day", "moment", "code", "stored", "word", "gap"],
        [1, 0.5, True, DAY, NOON, "007", "1,5", "x", 1],
        [2, 1, False, DAY, NOON, "011", "2,5", "y", None],
    ]
    sheet = read_table(written(tmp_path, kind, {"Data": rows}))
    kinds = {name: sheet.look(name).kind for name in sheet.names}
    assert kinds == {
        **dict.fromkeys(["whole", "number", "stored", "gap"], "number"),
        **dict.fromkeys(["day", "moment"], "date"),
        **{"truth": "truth", "code": "identifier", "word": "text"},
    }
    assert sheet.look("stored").floats().tolist() == [1.5, 2.5]
    assert str(sheet.cells("whole").type) == "int64"
    assert sheet.cells("moment").to_pylist() == [NOON, NOON]


@both
def test_mixed_columns_are_those_of_text_tables(tmp_path, kind):
    cells = [*range(2, 40), "n/a", "12 %"]
    rows = [["x", "y"], *([cell, i * i] for i, cell in enumerate(cells))]
    sheet = read_table(written(tmp_path, kind, {"Data": rows}))
    assert sheet.look("x").kind == "number"
    floats = sheet.look("x").floats()
    assert floats[:38].tolist() == list(range(2, 40))
    assert floats[39] == 12


@both
def test_errors_of_formulas_are_missing_and_counted(tmp_path, kind):
    rows = [["a", "b"], [1, "#DIV/0!"], [2, 0.5], ["#N/A", 2.5], [5, "#DIV/0!"]]
    sheet = read_table(written(tmp_path, kind, {"Data": rows}))
    assert sheet.notes == (
        "3 cells with an error (#N/A, #DIV/0!) count as missing: 1 in 'a', 2 in 'b'.",
    )
    assert sheet.columns.to_pydict() == {
        "a": [1, 2, None, 5],
        "b": [None, 0.5, 2.5, None],
    }
    assert prepare(sheet, missing="drop").kept.tolist() == [False, True, False, False]


# Damage


@both
def test_damaged_and_cut_workbooks_are_refused(tmp_path, kind):
    file = written(tmp_path, kind, {"Data": NUMBERS})
    whole = file.read_bytes()
    for n_kept in range(5, len(whole), max(len(whole) // 40, 1)):
        file.write_bytes(whole[:n_kept])
        assert "damaged or cut short" in message_of(file)
    name = "content.xml" if kind == "ODS" else "xl/worksheets/sheet1.xml"
    place = whole.index(name.encode()) + len(name) + 20
    file.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
    assert message_of(file).startswith(f"{file} cannot be read as {kind} (")


def test_other_archives_are_named(tmp_path):
    file = tmp_path / "data.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.csv", "x\n1\n")
    assert message_of(file) == (
        f"{file} is a zip archive of 'a.csv', not a workbook; unpack it first."
    )
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("xl/workbook.bin", "")
    assert message_of(file) == (
        f"{file} is a binary Excel workbook (xlsb); save it as .xlsx."
    )


def test_passwords_are_told(tmp_path):
    file = tmp_path / "book"
    sealed = b"\xd0\xcf\x11\xe0" + bytes(1000) + "EncryptedPackage".encode("utf-16-le")
    file.write_bytes(sealed)
    assert message_of(file) == (
        f"{file} is an Excel workbook protected by a password; save it without one."
    )
    file.write_bytes(sealed[:1000])
    assert message_of(file) == (
        f"{file} is an old Excel workbook (xls); save it as .xlsx, or the sheet as CSV."
    )
    write_ods(file, {"Data": NUMBERS}, sealed=True)
    assert (
        message_of(file) == f"{file} is protected by a password; save it without one."
    )


def test_workbooks_that_grow_beyond_measure_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("rtkm.tables.packing.HARMLESS_BYTES", 2**16)
    file = tmp_path / "book"
    write_ods(file, {"Data": [["a"], *([1.5] for _ in range(10**5))]})
    assert message_of(file) == (
        f"{file} unpacks to more than 100 times its size, which hardly any table does; "
        "save the sheet as CSV if it is one."
    )


def test_one_cell_that_stands_a_billion_times_is_refused(tmp_path):
    cell = (
        '<table:table-cell table:number-columns-repeated="16384" '
        'office:value-type="float" office:value="1"/>'
    )
    row = f'<table:table-row table:number-rows-repeated="1048576">{cell}'
    write_ods(tmp_path / "a", {"Data": f"{row}</table:table-row>"})
    assert "more than 134,217,728 cells" in message_of(tmp_path / "a")


def test_cells_far_out_are_refused_if_there_is_no_room(tmp_path, monkeypatch):
    monkeypatch.setattr("rtkm.tables.pages.MOST_CELLS", 1000)
    far = [[None] * 300 + [1]]
    write_xlsx(tmp_path / "a", {"Data": NUMBERS + far * 2})
    assert read_table(tmp_path / "a").n_rows == 5
    write_xlsx(tmp_path / "a", {"Data": NUMBERS + far * 4})
    assert "more than 1,000 cells, empty ones" in message_of(tmp_path / "a")
