"""Workbooks of LibreOffice and other OpenDocument programs, by python-calamine."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO

from rtkm._optional import import_optional
from rtkm.tables.grid import Row
from rtkm.tables.pages import Page, check_cells, shortened

CHUNK_BYTES = 2**20
ROW_END = b"</table:table-row>"
CELL = re.compile(rb"<table:(?:covered-)?table-cell\b([^>]*)>")
N_TIMES = re.compile(rb'-repeated="(\d+)"')


def ods_pages(stream: BinaryIO) -> list[Page]:
    """Return the sheets of a workbook."""
    calamine = import_optional("python_calamine", needed_by="reading ODS workbooks")
    check_extent(stream)
    stream.seek(0)
    book = calamine.CalamineWorkbook.from_filelike(stream)
    visible = calamine.SheetVisibleEnum.Visible
    return [
        Page(sheet.name, sheet.visible == visible, partial(rows_of, book, sheet.name))
        for sheet in book.sheets_metadata
    ]


def rows_of(book: Any, name: str) -> Iterator[Row]:
    """Go through the rows of a sheet, as far as they are filled."""
    for row in book.get_sheet_by_name(name).to_python(skip_empty_area=False):
        yield shortened([plain(cell) for cell in row])


def plain(cell: Any) -> Any:
    """Return a cell with numbers as they are written: all are floats to the reader."""
    if cell == "":
        return None
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell


# A cell can be written once and stand a billion times. The reader makes room for all of
# them, and ends the process if there is none; so they are counted before.


def check_extent(stream: BinaryIO) -> None:
    """Refuse sheets that reach too far; damage of the archive comes to light, too."""
    n_rows = width = 0
    for row in written_rows(stream):
        head, _, body = row.rpartition(b"<table:table-row")
        if b"<table:table " in head:
            n_rows = width = 0
        n_rows += n_times(body[: body.find(b">")])
        end = row_width(body)
        if end:
            width = max(width, end)
            check_cells(n_rows * width)


def row_width(row: bytes) -> int:
    """Return where the last cell of a row ends that is not empty."""
    place = end = 0
    for cell in CELL.finditer(row):
        attributes = cell[1]
        place += n_times(attributes)
        if b"office:" in attributes or not attributes.endswith(b"/"):
            end = place
    return end


def n_times(attributes: bytes) -> int:
    """Return how often a cell or row stands there."""
    found = N_TIMES.search(attributes)
    return int(found[1]) if found else 1


def written_rows(stream: BinaryIO) -> Iterator[bytes]:
    """Go through the rows as they are written, with what stands before each."""
    rest = b""
    with zipfile.ZipFile(stream) as archive, archive.open("content.xml") as content:
        while chunk := content.read(CHUNK_BYTES):
            *rows, rest = (rest + chunk).split(ROW_END)
            yield from rows
