"""Workbooks to read in tests."""

from __future__ import annotations

import datetime
import zipfile
from xml.sax.saxutils import escape

import openpyxl

MIMETYPE = "application/vnd.oasis.opendocument.spreadsheet"
NAMESPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "table", "text")
)
MANIFEST = (
    '<?xml version="1.0" encoding="UTF-8"?><manifest:manifest xmlns:manifest='
    '"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
    f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{MIMETYPE}"/>'
    '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type='
    '"text/xml">{}</manifest:file-entry></manifest:manifest>'
)
SEAL = "<manifest:encryption-data/>"
# what LibreOffice writes below and beside every table
EMPTY_CELLS = '<table:table-cell table:number-columns-repeated="16384"/>'
EMPTY_ROWS = (
    '<table:table-row table:number-rows-repeated="1048000">'
    f"{EMPTY_CELLS}</table:table-row>"
)


def write_xlsx(path, sheets, hidden=()):
    """Write sheets of rows, by name."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        sheet.sheet_state = "hidden" if name in hidden else "visible"
        for row in rows:
            sheet.append(row)
    book.save(path)


def write_ods(path, sheets, sealed=False):
    """Write sheets of rows, by name, or of XML where they are text."""
    tables = "".join(
        f'<table:table table:name="{escape(name)}">'
        f"{rows if isinstance(rows, str) else ods_rows(rows)}</table:table>"
        for name, rows in sheets.items()
    )
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {NAMESPACES}>'
        f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body>"
        "</office:document-content>"
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", MIMETYPE, zipfile.ZIP_STORED)
        archive.writestr("content.xml", content)
        archive.writestr("META-INF/manifest.xml", MANIFEST.format(SEAL * sealed))


def ods_rows(rows):
    """Write rows as LibreOffice does, with much emptiness around them."""
    lines = (
        f"<table:table-row>{''.join(map(ods_cell, row))}{EMPTY_CELLS}</table:table-row>"
        for row in rows
    )
    return "".join(lines) + EMPTY_ROWS


def ods_cell(value):
    """Write a cell."""
    if value is None:
        return "<table:table-cell/>"
    if isinstance(value, bool):
        attributes = f'value-type="boolean" office:boolean-value="{str(value).lower()}"'
    elif isinstance(value, datetime.date):
        attributes = f'value-type="date" office:date-value="{value.isoformat()}"'
    elif isinstance(value, int | float):
        attributes = f'value-type="float" office:value="{value!r}"'
    else:
        attributes = 'value-type="string"'
    return (
        f"<table:table-cell office:{attributes}><text:p>{escape(str(value))}</text:p>"
        "</table:table-cell>"
    )
