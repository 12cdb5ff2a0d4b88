"""Workbooks of Excel and of LibreOffice, sheet by sheet."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import replace
from typing import BinaryIO, NamedTuple

from rtkm.tables.damage import told_as_damage
from rtkm.tables.excel import excel_pages
from rtkm.tables.grid import Asked, Row, count_cells, find_grid, table_of
from rtkm.tables.messages import InputError, listed, nearest, shown
from rtkm.tables.ods import ods_pages
from rtkm.tables.packing import LARGEST_RATIO, is_inflated
from rtkm.tables.pages import Page, check_cells
from rtkm.tables.sheet import Sheet
from rtkm.tables.source import Source

ODS = b"application/vnd.oasis.opendocument.spreadsheet"


class Kind(NamedTuple):
    """A kind of workbook, and what lists its sheets."""

    name: str
    pages: Callable[[BinaryIO], list[Page]]


def is_zip(sample: bytes) -> bool:
    """Whether a file begins as zip archives do, empty ones among them."""
    return sample.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def read_workbook(source: Source, asked: Asked) -> Sheet:
    """Read a sheet of a workbook: the one of that name, or the first with cells."""
    with source.in_memory().open() as stream:
        kind = kind_of(source.name, stream)
        with warnings.catch_warnings(), told_as_damage(source.name, kind.name):
            # of what a reader leaves out, such as validation and styles
            warnings.simplefilter("ignore")
            pages = kind.pages(stream)
            page = choose_page(source.name, pages, asked.sheet)
            rows = all_rows(page)
            others = [p.name for p in pages if p is not page and any_cell(p)]
    name = f"sheet {shown(page.name)} of {source.name}"
    hint = f"--sheet NAME reads another: {listed(map(shown, others), len(others))}."
    try:
        grid = find_grid(name, rows, asked)
        found = table_of(source, kind.name, grid, name)
    except InputError as error:
        if not others:
            raise
        raise InputError(f"{str(error).rstrip('.')}; {hint}") from None
    if asked.sheet is not None or not others:
        return found
    return replace(found, notes=(f"Read {name}; {hint}", *found.notes))


def old_workbook(source: Source) -> str:
    """Return what a file is that is kept as old Excel kept all, and what to do."""
    with source.open() as stream:
        is_sealed = "EncryptedPackage".encode("utf-16-le") in stream.read()
    if is_sealed:
        return "an Excel workbook protected by a password; save it without one"
    return "an old Excel workbook (xls); save it as .xlsx, or the sheet as CSV"


# Which workbook


def kind_of(name: str, stream: BinaryIO) -> Kind:
    """Return the kind of a workbook, and refuse other zip archives."""
    with told_as_damage(name, "a workbook"), zipfile.ZipFile(stream) as archive:
        entries = archive.infolist()
        mimetype, manifest = (
            start_of(archive, entry) for entry in ("mimetype", "META-INF/manifest.xml")
        )
    if any(entry.flag_bits & 1 for entry in entries) or b":encryption-data" in manifest:
        raise InputError(f"{name} is protected by a password; save it without one.")
    n_bytes = sum(entry.file_size for entry in entries)
    if is_inflated(n_bytes, stream.seek(0, io.SEEK_END)):
        raise InputError(
            f"{name} unpacks to more than {LARGEST_RATIO} times its size, which hardly "
            "any table does; save the sheet as CSV if it is one."
        )
    names = [entry.filename for entry in entries]
    if mimetype.startswith(ODS):
        return Kind("ODS", ods_pages)
    if "xl/workbook.bin" in names:
        raise InputError(f"{name} is a binary Excel workbook (xlsb); save it as .xlsx.")
    if "[Content_Types].xml" in names and any(n.startswith("xl/") for n in names):
        return Kind("Excel", excel_pages)
    content = listed(map(shown, names), len(names), most=3) or "nothing"
    raise InputError(
        f"{name} is a zip archive of {content}, not a workbook; unpack it first."
    )


def start_of(archive: zipfile.ZipFile, entry: str) -> bytes:
    """Return how an entry of an archive begins, nothing where there is none."""
    try:
        with archive.open(entry) as stream:
            return stream.read(2**20)
    except KeyError:
        return b""


# Which sheet


def choose_page(name: str, pages: list[Page], wanted: str | None) -> Page:
    """Return the sheet that is asked for, or the first with cells, shown ones first."""
    names = [page.name for page in pages]
    if wanted is None:
        by_sight = sorted(pages, key=lambda page: not page.is_visible)
        page = next(filter(any_cell, by_sight), None)
        if page is None:
            raise InputError(f"{name} has no sheet with cells; expected a table.")
        return page
    if wanted not in names:
        raise InputError(
            f"--sheet {shown(wanted)}: {name} has no such sheet; "
            f"{nearest(wanted, names)}"
        )
    page = pages[names.index(wanted)]
    if not any_cell(page):
        raise InputError(
            f"--sheet {shown(wanted)} of {name} is empty; expected a table."
        )
    return page


def any_cell(page: Page) -> bool:
    """Whether a sheet has a cell that is not empty."""
    return any(map(count_cells, page.rows()))


def all_rows(page: Page) -> list[Row]:
    """Return the rows of a sheet, as long as there is room for them."""
    rows: list[Row] = []
    n_cells = 0
    for row in page.rows():
        n_cells += len(row)
        check_cells(n_cells)
        rows.append(row)
    return rows
