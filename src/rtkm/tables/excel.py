"""Workbooks of Excel, by openpyxl, which goes through them row by row."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO

from rtkm._optional import import_optional
from rtkm.tables.grid import Row
from rtkm.tables.pages import Page, shortened


def excel_pages(stream: BinaryIO) -> list[Page]:
    """Return the sheets of a workbook, those of nothing but a chart left out."""
    openpyxl = import_optional("openpyxl", needed_by="reading Excel workbooks")
    book = openpyxl.load_workbook(
        stream,
        read_only=True,
        data_only=True,  # the last result of a formula
        keep_links=False,
    )
    return [
        Page(sheet.title, sheet.sheet_state == "visible", partial(rows_of, sheet))
        for sheet in book.worksheets
    ]


def rows_of(sheet: Any) -> Iterator[Row]:
    """Go through the rows of a sheet, as far as they are filled."""
    sheet.reset_dimensions()  # some programs write wrong ones
    for row in sheet.iter_rows(values_only=True):
        yield shortened([None if cell == "" else cell for cell in row])
