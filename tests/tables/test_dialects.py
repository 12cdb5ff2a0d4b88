"""Tables written at random, in dialects drawn at random, are read back equal."""

from __future__ import annotations

import csv
import io
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from numpy.testing import assert_array_equal

from rtkm.tables.messages import InputError
from rtkm.tables.preparation import prepare
from rtkm.tables.reading import read_table
from rtkm.tables.writing import write_answers

ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"]
NAMES = ["größe", "weight", "x y", "a;b", "c,d", 'say "hi"', "two\nlines", "€", "n°"]
WORDS = [
    "Anna",
    "Bo, the 2nd",
    "a;b",
    "tab\there",
    'a "b"',
    "two\nlines",
    "=cmd()",
    "é",
]


@dataclass
class Written:
    """A table, and how it is written."""

    names: list[str]
    numbers: list[list[float]]
    words: list[str]
    sep: str
    decimal: str
    encoding: str
    newline: str
    quoting: int
    has_header: bool

    def content(self) -> bytes:
        text = io.StringIO(newline="")
        writer = csv.writer(
            text,
            delimiter=self.sep,
            lineterminator=self.newline,
            quoting=self.quoting,
        )
        if self.has_header:
            writer.writerow([*self.names, "word"])
        for row, word in zip(self.numbers, self.words, strict=True):
            writer.writerow([*map(self.numeral, row), word])
        return text.getvalue().encode(self.encoding)

    def numeral(self, number: float) -> str:
        return repr(number).replace(".", self.decimal)


@st.composite
def tables(draw):
    n_columns, n_rows = draw(st.integers(1, 5)), draw(st.integers(2, 8))
    number = st.floats(-1e12, 1e12).filter(lambda x: abs(x) > 1e-9)
    sep, decimal = draw(
        st.sampled_from([(",", "."), (";", "."), (";", ","), ("\t", "."), ("\t", ",")])
    )
    row = st.lists(number, min_size=n_columns, max_size=n_columns)
    return Written(
        names=draw(st.permutations(NAMES))[:n_columns],
        numbers=draw(st.lists(row, min_size=n_rows, max_size=n_rows)),
        words=draw(st.lists(st.sampled_from(WORDS), min_size=n_rows, max_size=n_rows)),
        sep=sep,
        decimal=decimal,
        encoding=draw(st.sampled_from(ENCODINGS)),
        newline=draw(st.sampled_from(["\n", "\r\n"])),
        quoting=draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
        has_header=draw(st.booleans()),
    )


@pytest.fixture(scope="module")
def folder():
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def read(folder, content, **options):
    file = folder / "data.csv"
    file.write_bytes(content)
    return read_table(file, **options)


@settings(deadline=None)
@given(table=tables())
def test_tables_are_read_back_equal_in_a_dialect_that_is_told(folder, table):
    sheet = read(
        folder,
        table.content(),
        sep=table.sep,
        decimal=table.decimal,
        encoding=table.encoding,
        header=table.has_header,
    )
    check_equal(sheet, table)


@settings(deadline=None)
@given(table=tables())
def test_tables_are_read_back_equal_in_a_dialect_that_is_found(folder, table):
    # 1,234 alone, and 1;5 or 1,5;2 in quotes, can be meant in several ways
    decimals = [repr(x).partition(".")[2] for row in table.numbers for x in row]
    assume(any(len(d) > 0 and len(d) != 3 and "e" not in d for d in decimals))
    assume(table.encoding not in ("utf-16-le", "utf-16-be") or table.has_header)
    sheet = read(folder, table.content())
    assert sheet.dialect is not None
    assert sheet.dialect.separator == table.sep
    check_equal(sheet, table)


def check_equal(sheet, table):
    n_columns = len(table.names)
    if table.has_header:
        assert sheet.names == [*table.names, "word"]
    columns = sheet.names[:n_columns]
    prepared = prepare(sheet, columns=columns, scale="none")
    assert_array_equal(prepared.X, table.numbers)
    assert sheet.columns.column(n_columns).to_pylist() == table.words


@settings(deadline=None)
@given(table=tables(), data=st.data())
def test_answers_are_written_so_that_they_are_read_back(folder, table, data):
    sheet = read(
        folder,
        table.content(),
        sep=table.sep,
        decimal=table.decimal,
        encoding=table.encoding,
        header=table.has_header,
    )
    n_rows = sheet.n_rows
    scores = data.draw(st.lists(st.floats(-1e9, 1e9), min_size=n_rows, max_size=n_rows))
    out = folder / "out.txt"  # which keeps the separator
    write_answers(out, sheet, {"score": np.array(scores)})
    again = read_table(
        out, sep=table.sep, decimal=table.decimal, encoding=table.encoding, header=True
    )
    assert again.names == [*sheet.names, "score"]
    assert_array_equal(again.columns.column("score").to_numpy(), scores)
    assert again.columns.drop_columns("score").equals(sheet.columns)


@settings(deadline=None, max_examples=200)
@given(
    content=st.binary(max_size=300) | st.text("0123456789.,;\t \"\n'ab-", max_size=200)
)
def test_whatever_comes_gives_numbers_or_a_message(folder, content):
    content = content.encode() if isinstance(content, str) else content
    message = message_about(folder, content)
    assert message.endswith((".", "?"))
    assert "\n" not in message


def message_about(folder, content):
    """Return the message that a table ends in, or else what was read, checked."""
    try:
        sheet = read(folder, content)
        prepared = prepare(sheet, missing="median")
    except InputError as error:
        return str(error)
    assert np.isfinite(prepared.X).all()
    write_answers(folder / "out.csv", sheet, {"label": np.arange(sheet.n_rows)})
    return sheet.summary()
