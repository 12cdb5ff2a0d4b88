"""Text tables hold the records and cells of Python's strict reader, or are refused.

Files are drawn at random, with quotes, line ends, marks, NULs and separators where they
belong and where they do not, and read in parts so small that all may stand at an edge.
``RTKM_FUZZ_FILES`` says how many the slow test draws.
"""

from __future__ import annotations

import csv
import io
import os
import random
from dataclasses import dataclass

import pytest

from rtkm.tables.messages import InputError
from rtkm.tables.numerals import MISSING
from rtkm.tables.reading import read_table

N_EVERYDAY = 800
N_SLOW = int(os.environ.get("RTKM_FUZZ_FILES", "5000"))
ENCODINGS = ["utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252", "cp932"]
SPECIAL = ['"', '"', "'", ",", ";", "\t", "\n", "\r", "\r\n", " ", "\0", "\ufeff"]


@dataclass
class Drawn:
    """A file, and the dialect that it was meant to be in."""

    text: str
    sep: str
    quote: str
    encoding: str
    header: bool

    def content(self) -> bytes:
        return self.text.encode(self.encoding, errors="ignore")


def draw_file(rng: random.Random) -> Drawn:
    sep = rng.choice([",", ",", ";", "\t", "|", " "])
    quote = rng.choice(['"', '"', '"', "'"])
    ends = rng.choice([["\n"], ["\r\n"], ["\r"], ["\n", "\r\n", "\r", "\n\n"]])
    n_columns, n_records = rng.randint(1, 4), rng.choice([1, 2, 3, 5, 9, 30])
    parts = []
    for _ in range(n_records):
        width = n_columns if rng.random() < 0.98 else rng.randint(0, 5)
        parts += [sep.join(draw_cell(rng, sep, quote) for _ in range(width))]
        parts += [rng.choice(ends)]
    text = "".join(parts if rng.random() < 0.7 else parts[:-1])
    while rng.random() < 0.3:  # a slip: something added, or left out
        place = rng.randint(0, len(text))
        text = text[:place] + rng.choice([*SPECIAL, ""]) + text[place + 1 :]
    return Drawn(text, sep, quote, rng.choice(ENCODINGS), rng.random() < 0.5)


def draw_cell(rng: random.Random, sep: str, quote: str) -> str:
    kind = rng.random()
    if kind < 0.3:
        return rng.choice(["", "1", "-2.5", "1e5", "NA", "007", " 3"])
    word = "".join(rng.choices(["a", "b", "7", " ", "é", "表"], k=rng.randint(0, 9)))
    if kind < 0.6:
        return word
    if kind < 0.7:
        return word + rng.choice(["", "x"]) + quote + rng.choice(["", word])
    inside = [word, sep, "\n", "\r\n", "\r", 2 * quote, "x" * 50]
    return quote + "".join(rng.choices(inside, k=rng.randint(0, 3))) + quote


def quote_never_ended(text: str, sep: str, quote: str) -> int | None:
    """Return the line where a quote opens that does not end as it should, if any does.

    The rules of the strict reader, one character after the other.
    """
    edges = {sep, "\r", "\n", ""}
    line, opened, is_open, i = 1, 0, False, 0
    while i < len(text):
        before, char, after = text[i - 1 : i] if i else "", text[i], text[i + 1 : i + 2]
        line += char == "\n" or (char == "\r" and after != "\n")
        if char == quote and not is_open:
            is_open, opened = before in edges, line
        elif char == quote and after == quote:
            i += 1
        elif char == quote and after in edges:
            is_open = False
        elif char == quote:
            return opened
        i += 1
    return opened if is_open else None


def strict_records(text: str, sep: str, quote: str) -> list[list[str]]:
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=sep, quotechar=quote, strict=True)
    return [record for record in reader if record]


def check_told(file, drawn: Drawn) -> None:
    """Read a file in the dialect that it is meant to be in."""
    text = drawn.content().decode(drawn.encoding)
    if drawn.encoding in ("utf-8", "utf-16-le"):  # a mark is no part of a cell
        text = text.removeprefix("\ufeff")
    fault = quote_never_ended(text, drawn.sep, drawn.quote)
    try:
        sheet = read_table(
            file,
            sep=drawn.sep,
            quote=drawn.quote,
            decimal=".",
            encoding=drawn.encoding,
            header=drawn.header,
        )
    except InputError as error:
        check_refusal(str(error), text, drawn, fault)
        return
    assert fault is None
    assert "\0" not in text
    check_equal(sheet, strict_records(text, drawn.sep, drawn.quote))


def check_refusal(message: str, text: str, drawn: Drawn, fault: int | None) -> None:
    """Check that there was a reason, and that a quote is named by its line."""
    if "quoted cell" in message:
        assert f"in line {fault} that does not end" in message
        with pytest.raises(csv.Error):
            strict_records(text, drawn.sep, drawn.quote)
    elif fault is None and "\0" not in text:
        widths = {len(r) for r in strict_records(text, drawn.sep, drawn.quote)}
        n_records = len(strict_records(text, drawn.sep, drawn.quote))
        has_no_rows = n_records <= drawn.header
        begins_like_another = text.startswith(("[[", '{"', "[{"))
        assert len(widths) > 1 or has_no_rows or begins_like_another, message


def check_found(file, drawn: Drawn) -> None:
    """Read a file in the dialect that is found, which may not be the one meant."""
    try:
        sheet = read_table(file)
    except InputError:
        return
    dialect = sheet.dialect
    text = drawn.content().decode(dialect.encoding)
    lines = io.StringIO(text, newline="").readlines()
    text = "".join(lines[dialect.n_skipped :])
    check_equal(sheet, strict_records(text, dialect.separator, dialect.quote))


def check_equal(sheet, records: list[list[str]]) -> None:
    """Compare all cells, and names but for spaces around them."""
    if sheet.dialect.has_header:
        names, *records = records
        assert [name.strip() for name in names] == [
            name.strip() for name in sheet.dialect.names
        ]
    assert sheet.n_rows == len(records)
    for j, column in enumerate(sheet.columns.columns):
        for cell, record in zip(column.to_pylist(), records, strict=True):
            assert is_same(cell, record[j], sheet.decimal), (cell, record[j])


def is_same(value: object, cell: str, decimal: str) -> bool:
    if value is None:
        return cell in MISSING
    if isinstance(value, str):
        return value == cell
    return value == float(cell.replace(decimal, "."))


def check_files(seeds, tmp_path, monkeypatch) -> None:
    file = tmp_path / "data.csv"
    for seed in seeds:
        rng = random.Random(seed)
        drawn = draw_file(rng)
        monkeypatch.setattr("rtkm.tables.text.BLOCK_BYTES", rng.choice([16, 2**22]))
        monkeypatch.setattr(
            "rtkm.tables.text_stream.CHUNK_BYTES", rng.choice([1, 7, 999])
        )
        monkeypatch.setattr(
            "rtkm.tables.reading.SAMPLE_BYTES", rng.choice([1500, 2**20])
        )
        file.write_bytes(drawn.content())
        try:
            check_told(file, drawn)
            check_found(file, drawn)
        except Exception as error:
            error.add_note(f"seed {seed}: {drawn}")
            raise


def test_drawn_files_are_read_as_by_the_strict_reader_or_refused(tmp_path, monkeypatch):
    check_files(range(N_EVERYDAY), tmp_path, monkeypatch)


@pytest.mark.slow
def test_many_files_are_read_as_by_the_strict_reader_or_refused(tmp_path, monkeypatch):
    check_files(range(10**6, 10**6 + N_SLOW), tmp_path, monkeypatch)
