"""New rows that come in parts, prepared as those were that a model was fitted to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rtkm.tables.categories import check_has, note_on_unknown, unknown_among
from rtkm.tables.columns import Column, text_of
from rtkm.tables.fitted_preparation import Preparation, Prepared, finished
from rtkm.tables.messages import shown
from rtkm.tables.missing import (
    Imputed,
    Lost,
    MissingPolicy,
    by_column,
    check_policy,
    no_row_left,
    note_on_filled,
    note_on_lost_rows,
    tell_gaps,
    too_many_gaps,
    ways_for,
)
from rtkm.tables.select import ask_for, check_known
from rtkm.tables.stream_columns import StreamTable, numbered
from rtkm.tables.stream_rows import (
    CategoryReader,
    CellCounts,
    GapCounts,
    NumberReader,
    RowReader,
    category_reader,
    mark_of,
    texts_seen,
)
from rtkm.tables.streams import Stream


@dataclass(frozen=True)
class Repetition:
    """What is to be done to each part of new rows.

    Attributes
    ----------
    preparation : Preparation
        What was done to the training rows.
    reader : RowReader
        How cells become numbers.
    id : str or None
        The column that names the rows.
    has_reasons : bool
        Whether any row is left out, or has a cell filled in.
    notes : tuple of str
        What is done, in sentences.
    """

    preparation: Preparation
    reader: RowReader
    id: str | None
    has_reasons: bool
    notes: tuple[str, ...] = field(default=())

    @property
    def names(self) -> list[str]:
        """The columns of the table that are read."""
        id = [self.id] if self.id is not None else []
        return list(dict.fromkeys([*self.reader.names, *id]))

    def prepared(self, table: Any) -> Prepared:
        """Return the rows of a part, ready for a model."""
        rows = self.reader.whole(table)
        told: dict[int, str] = {}
        columns = [Column(name, "number") for name in self.reader.names]
        if rows.filled.any():
            told |= tell_gaps(rows.filled, columns, "filled in")
        if rows.lost.any():
            told |= tell_gaps(rows.lost, columns, "no number in")
        filled = rows.filled[rows.kept] if rows.filled.any() else None
        n_missing = (rows.filled | rows.lost).sum(axis=0)
        imputed = Imputed(rows.X, rows.kept, told, filled, n_missing)
        ids = None if self.id is None else table.column(self.id)
        return finished(imputed, self.preparation, ids, ())


def repeat_stream(
    preparation: Preparation,
    stream: Stream,
    *,
    id: str | None = None,
    missing: MissingPolicy | None = None,
) -> Repetition:
    """Find out how new rows are to be prepared, as `Preparation.repeat` prepares them.

    Every cell is looked at before anything is done, so that what is refused of a whole
    table is refused of one in parts, in the same words.

    Parameters
    ----------
    preparation : Preparation
        What was done to the training rows.
    stream : Stream
        The new rows.
    id : str, default=None
        The column that names the rows.
    missing : "error", "drop" or "median", or dict, default=None
        How missing values are handled; as when the model was fitted if None.

    Returns
    -------
    Repetition
        What is to be done to each part.
    """
    policy = preparation.missing if missing is None else missing
    check_policy(policy)
    if not isinstance(policy, str):
        policy = {**by_column(preparation.missing), **policy}
    table = StreamTable(stream)
    preparation._check_names(table)
    if id is not None:
        check_known(table, id, "id")
    reader, columns = make_reader(preparation, table, policy)
    notes = count_cells(stream, reader, columns)
    gaps = count_gaps(stream, reader)
    notes += notes_on_gaps(stream, gaps, columns, id)
    has_reasons = bool(gaps.n_missing.any())
    return Repetition(preparation, reader, id, has_reasons, tuple(notes))


def make_reader(
    preparation: Preparation, table: StreamTable, policy: MissingPolicy
) -> tuple[RowReader, list[Column]]:
    """Return what reads the columns that a preparation needs."""
    names = preparation.sources
    if preparation.n_unnamed:
        names = tuple(table.names[int(name[1:])] for name in names)
    n = preparation.n_numbers
    table.look_at(names)
    numbers = [ask_for(table, name) for name in names[:n]]
    is_logged = preparation.is_logged[:n].tolist()
    number_readers = tuple(
        NumberReader(
            c.name, mark_of(c), preparation.offset[j] if is_logged[j] else None
        )
        for j, c in enumerate(numbers)
    )
    categories = []
    for name, values in zip(names[n:], preparation.categories.values(), strict=True):
        check_has(table, name)
        categories.append(category_reader(table, name, values))
    columns = [*numbers, *(Column(reader.name, "text") for reader in categories)]
    ways = tuple(ways_for(policy, columns))
    fill = preparation.fill_by_source
    return RowReader(number_readers, tuple(categories), ways, fill), columns


def count_cells(stream: Stream, reader: RowReader, columns: list[Column]) -> list[str]:
    """Look at every cell, and say what counts as missing, and what is not known."""
    counts = CellCounts(len(reader.numbers))
    unknown = [Unknown(category) for category in reader.categories]
    for start, table in numbered(stream, reader.names):
        if reader.numbers:
            numbers = replace(reader, categories=())
            counts.add(reader, numbers.raw(table), start)
        for each in unknown:
            each.add(table.column(each.reader.name))
    n = len(reader.numbers)
    notes = counts.notes(columns[:n], reader.ways[:n])
    notes += counts.notes_on_logarithms(columns[:n], reader.ways[:n])
    return notes + [note for each in unknown for note in each.notes()]


class Unknown:
    """Categories in new rows that a model does not know."""

    def __init__(self, reader: CategoryReader) -> None:
        self.reader = reader
        self.n_cells = 0
        self.texts: dict[Any, str] = {}

    def add(self, cells: Any) -> None:
        """Look at the next cells."""
        codes, keys, texts = self.reader.coded(cells)
        counts = texts_seen(codes, len(texts))
        new = set(unknown_among(texts, self.reader.values))
        for key, text, n_cells in zip(keys, texts, counts, strict=True):
            if text in new:
                self.n_cells += n_cells
                self.texts.setdefault(key, text)

    def notes(self) -> list[str]:
        """Say how many there are."""
        if not self.texts:
            return []
        # numbers and dates have codes by their size
        keys = list(self.texts)
        keys = keys if self.reader.kind == "text" else sorted(keys)
        texts = [self.texts[key] for key in keys]
        return [note_on_unknown(self.reader.name, self.n_cells, texts)]


def count_gaps(stream: Stream, reader: RowReader) -> GapCounts:
    """Count missing cells, and the rows they make useless."""
    gaps = GapCounts(reader.ways)
    for start, table in numbered(stream, reader.names):
        gaps.add(reader.with_gaps(table), start)
    return gaps


def notes_on_gaps(
    stream: Stream,
    gaps: GapCounts,
    columns: list[Column],
    id: str | None,
    spared: Any = None,
    wrong: Lost | None = None,
) -> list[str]:
    """Refuse missing cells, or say what becomes of them.

    Of the rows with wrong ones, those do not count that only have them where columns
    are spared.
    """
    if gaps.first is not None:
        spared = np.zeros(len(columns), dtype=bool) if spared is None else spared
        wrong = gaps.wrong if wrong is None else wrong
        first = f"{gaps.first + 1:,}{row_name(stream, id, gaps.first)}"
        raise too_many_gaps(wrong, first, spared, columns)
    notes = []
    if gaps.lost.n_lost == stream.n_rows:
        raise no_row_left(gaps.lost.counts, columns)
    filled = gaps.of_way("median")
    if filled.any():
        notes.append(note_on_filled(filled, columns))
    if gaps.lost.n_lost:
        notes.append(note_on_lost_rows(gaps.lost, columns))
    return notes


def row_name(stream: Stream, id: str | None, row: int) -> str:
    """Return what a row is called, for a message; nothing if no column says so."""
    if id is None:
        return ""
    start = 0
    for part in stream.partitions:
        if row < start + part.n_rows:
            cell = part.read([id]).column(0)[row - start]
            return f" ({shown(text_of(cell))})"
        start += part.n_rows
    raise IndexError(row)
