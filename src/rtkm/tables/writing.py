"""The rows as they came, with the answers beside them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from rtkm._files import replacing
from rtkm._streams import failure_of, is_closed, output_below
from rtkm.tables.arrow import pa, pa_csv, pa_parquet
from rtkm.tables.columns import text_of
from rtkm.tables.copying import copy_with
from rtkm.tables.dialects import Dialect
from rtkm.tables.formats import PARQUET_ENDINGS
from rtkm.tables.messages import InputError, shown
from rtkm.tables.packing import packing_for
from rtkm.tables.sheet import Sheet, unique_names

TEXT_ENDINGS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
STANDARD_OUTPUT = "-"
REASON = "reason"


class Named(Protocol):
    """Something with columns."""

    @property
    def names(self) -> list[str]:
        """The names of the columns."""


def membership_columns(memberships: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Name the columns of memberships by the labels of their clusters."""
    return {
        f"membership_{label}": np.ascontiguousarray(memberships[:, label])
        for label in range(memberships.shape[1])
    }


def write_answers(
    path: str | os.PathLike[str],
    sheet: Sheet,
    answers: Mapping[str, NDArray[Any]],
    *,
    kept: NDArray[np.bool_] | None = None,
    reasons: Mapping[int, str] | None = None,
) -> list[str]:
    """Write the rows of a sheet, in their order, with answers in further columns.

    The ending decides: Parquet, or text, compressed if ``.gz``, ``.zst``, ``.bz2`` or
    ``.xz`` follows. A text table comes back as text cell by cell as it was, to the last
    quote, in its own separator, decimal mark and encoding (but for tabs, which are for
    ``.tsv`` alone): also a cell such as ``=cmd()``, which a spreadsheet may run. It was
    in the user's file before; to change it would be to change the data. We add nothing
    of the kind: answers are numbers, words of ours and names of columns.

    Parameters
    ----------
    path : path
        Where to; what is there is replaced once all is written.
    sheet : Sheet
        The rows.
    answers : mapping of arrays
        Answers for the rows that are kept, by the name of their column.
    kept : ndarray of bool, default=None
        The rows that have answers; None is all.
    reasons : mapping, default=None
        Why others have none, by row; if any, a column ``reason`` says so.

    Returns
    -------
    list of str
        What the user should know, in sentences.

    Raises
    ------
    InputError
        If the file cannot be written; what was there before is still there.
    """
    path = Path(path)
    check_output(path, sheet)
    table, notes = answer_table(sheet, answers, kept, reasons or {})
    with writing_beside(path) as stream:
        write_beside(stream, path, sheet, table)
    return notes


def write_beside(stream: BinaryIO, path: Path, sheet: Sheet, answers: Any) -> None:
    """Write rows and answers in the format that the ending of a path names."""
    with packed(path, stream) as stream:
        write_format(stream, ending_of(path), sheet, answers)


@contextmanager
def packed(path: Path, stream: BinaryIO) -> Iterator[BinaryIO]:
    """Compress what goes to a file whose name says so."""
    packing = packing_for(path)
    if packing is None:
        yield stream
    else:
        with packing.pack(stream) as within:
            yield within


def write_format(stream: BinaryIO, ending: str, sheet: Sheet, answers: Any) -> None:
    """Write rows and answers in the format of an ending."""
    if ending in PARQUET_ENDINGS:
        write_parquet(stream, sheet, answers)
    elif sheet.dialect is None:
        write_csv(stream, sheet, answers, TEXT_ENDINGS[ending])
    else:
        separator = separator_for(ending, sheet.dialect)
        copy_with(stream, sheet, sheet.dialect, answers, separator)


def separator_for(ending: str, dialect: Dialect) -> str:
    """Return the separator of the table, unless programs would not expect it."""
    is_odd = ending == ".csv" and dialect.separator == "\t"
    return TEXT_ENDINGS[ending] if is_odd or ending == ".tsv" else dialect.separator


def check_output(path: Path, sheet: object = None) -> None:
    """Refuse a name that nothing can be written to, best before any work."""
    ending = ending_of(path)
    if ending not in (*TEXT_ENDINGS, *PARQUET_ENDINGS):
        raise InputError(
            f"--output {path} ends in {shown(path.suffix)}; expected .csv, .tsv or "
            ".parquet."
        )
    if path.is_dir():
        raise InputError(f"--output {path} is a folder; expected the name of a file.")
    if not path.parent.is_dir():
        raise InputError(f"--output {path}: there is no folder {path.parent}.")


def ending_of(path: Path) -> str:
    """Return the ending that tells the format; what flows out is text."""
    if str(path) == STANDARD_OUTPUT:
        return ".csv"
    return (path if packing_for(path) is None else path.with_suffix("")).suffix.lower()


def answer_table(
    sheet: Sheet,
    answers: Mapping[str, NDArray[Any]],
    kept: NDArray[np.bool_] | None,
    reasons: Mapping[int, str],
) -> tuple[Any, list[str]]:
    """Return the answers for all rows, nothing where a row was dropped, and notes."""
    columns = answer_columns(answers, kept)
    if reasons:
        columns[REASON] = pa.array([reasons.get(i) for i in range(sheet.n_rows)])
    return with_free_names(pa.table(columns), sheet)


def answer_columns(
    answers: Mapping[str, NDArray[Any]], kept: NDArray[np.bool_] | None
) -> dict[str, Any]:
    """Return the columns of answers, for all rows; what is not known is left empty."""
    columns = {
        name: pa.array(map(text_of, values), pa.string())
        if values.dtype == object
        else pa.array(values, from_pandas=True)
        for name, values in answers.items()
    }
    if kept is not None and not kept.all():
        places = pa.array(np.cumsum(kept) - 1, mask=~kept)
        columns = {name: values.take(places) for name, values in columns.items()}
    return columns


def with_free_names(table: Any, sheet: Named) -> tuple[Any, list[str]]:
    """Rename answers whose name a column of the sheet has."""
    names, _ = unique_names([*sheet.names, *table.column_names])
    names = names[len(sheet.names) :]
    notes = [
        f"The table has a column {shown(old)}; the answer is in {shown(new)}."
        for old, new in zip(table.column_names, names, strict=True)
        if old != new
    ]
    return table.rename_columns(names), notes


def beside(sheet: Sheet, answers: Any) -> Any:
    """Return the columns of both."""
    columns = [*sheet.columns.columns, *answers.columns]
    return pa.table(columns, names=[*sheet.names, *answers.column_names])


def write_parquet(stream: BinaryIO, sheet: Sheet, answers: Any) -> None:
    """Write rows and answers as Parquet."""
    pa_parquet.write_table(beside(sheet, answers), stream)


def write_csv(stream: BinaryIO, sheet: Sheet, answers: Any, sep: str) -> None:
    """Write rows that were no text as text, all words in quotes."""
    try:
        pa_csv.write_csv(
            beside(sheet, answers), stream, pa_csv.WriteOptions(delimiter=sep)
        )
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise no_text(sheet.name, error) from None


def no_text(name: str, error: Exception) -> InputError:
    """Return what is said of columns that cannot be written as text."""
    return InputError(
        f"{name} has columns that no text table can hold "
        f"({str(error).splitlines()[0]}); write .parquet instead."
    )


@contextmanager
def writing_beside(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that takes its place only when all is written, or standard output."""
    with told_as_input(path):
        if os.fspath(path) == STANDARD_OUTPUT:
            check_standard_output()
            yield sys.stdout.buffer
            failure = failure_of(output_below(sys.stdout))
            if failure is not None:
                raise InputError(f"standard output cannot be written ({failure}).")
            return
        with replacing(path) as stream:
            yield stream


@contextmanager
def told_as_input(path: str | os.PathLike[str] | None = None) -> Iterator[None]:
    """Say of a file, or the one that an error names, that it cannot be written."""
    try:
        yield
    except OSError as error:
        name = error.filename if path is None else path
        reason = error.strerror or error
        raise InputError(f"{name} cannot be written ({reason}).") from None


def check_standard_output() -> None:
    """Refuse to write answers where they would be lost."""
    if is_closed(sys.stdout):
        raise InputError("standard output is closed; name a file instead of -.")
