"""From a table that comes in parts to matrices of numbers, as `prepare` makes one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rtkm.tables.arrow import pa
from rtkm.tables.categories import check_few, most_frequent
from rtkm.tables.category_features import with_indicators
from rtkm.tables.columns import FEWEST_COUNTED, Column, glanced_rows, is_string
from rtkm.tables.fitted_preparation import Preparation
from rtkm.tables.identifiers import are_names
from rtkm.tables.logarithms import Log
from rtkm.tables.messages import InputError, shown
from rtkm.tables.missing import (
    Lost,
    MissingPolicy,
    are_mostly_empty,
    check_policy,
    count_lost,
    enough_there,
    ways_for,
)
from rtkm.tables.partitions import Partition
from rtkm.tables.preparation import (
    check_choice,
    check_names_known,
    refuse_two_uses,
)
from rtkm.tables.repeats import hashes_of, tell_repeats
from rtkm.tables.scaling import SCALES, Scale
from rtkm.tables.scratch import Scratch
from rtkm.tables.select import (
    check_known,
    check_logged,
    choose,
    choose_named,
    note_used,
)
from rtkm.tables.stream_columns import StreamTable, numbered
from rtkm.tables.stream_numbers import KEY_BYTES, count_different, keys_of_text
from rtkm.tables.stream_ranks import medians_of
from rtkm.tables.stream_repeat import notes_on_gaps
from rtkm.tables.stream_rows import (
    CellCounts,
    GapCounts,
    NumberReader,
    RowReader,
    WholeRows,
    category_reader,
    mark_of,
    texts_seen,
)
from rtkm.tables.stream_spreads import (
    RowsInParts,
    find_stream_units,
    mean_spread_in,
)
from rtkm.tables.streams import Stream

Floats = NDArray[np.float64]

SHARE_OF_WORK = 1 / 4  # of the memory: numbers that are gathered, or all if they fit
MOST_COUNTED = 1_000_000  # different values of a column of categories


class MatrixPartition(Protocol):
    """Rows of a matrix, which any process can load, again and again."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""

    def load(self) -> Floats:
        """Return the matrix."""


@dataclass(frozen=True)
class PreparedPartition:
    """Rows of a table as a matrix, made whenever somebody asks for it, by any process.

    Attributes
    ----------
    partition : Partition
        The rows of the table.
    reader : RowReader
        How cells become numbers.
    preparation : Preparation
        What is done to these.
    n_rows : int
        How many rows are kept.
    """

    partition: Partition
    reader: RowReader
    preparation: Preparation
    n_rows: int

    def load(self) -> Floats:
        """Return the matrix, of shape (n_rows, n_features)."""
        return self.whole().X

    def whole(self) -> WholeRows:
        """Return the matrix, and which rows and cells of the table it is made of."""
        rows = self.reader.whole(self.partition.read(self.reader.names))
        X = self.preparation.scaled(self.preparation.features(rows.X))
        return replace(rows, X=np.ascontiguousarray(X))


@dataclass(frozen=True)
class PreparedStream:
    """A table in parts, ready for a model.

    Attributes
    ----------
    preparation : Preparation
        What is done to the rows.
    partitions : tuple of PreparedPartition
        The rows that are kept, in parts; a part may have none.
    notes : tuple of str
        What was done, in sentences.
    n_missing : ndarray of shape (n_sources,)
        Missing values of each column that is used.
    scratch : Scratch or None
        What the parts are in, if they are stored; it goes with this.
    """

    preparation: Preparation
    partitions: tuple[MatrixPartition, ...]
    notes: tuple[str, ...]
    n_missing: NDArray[np.int64]
    scratch: Scratch | None = None


def prepare_stream(
    stream: Stream,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    id: str | None = None,
    missing: MissingPolicy = "error",
    scale: Scale = "auto",
    log: Log = (),
    categories: Sequence[str] = (),
    weights: object = None,
) -> PreparedStream:
    """Choose columns, treat missing values and scale, with few rows at a time.

    The preparation is the one that `prepare` makes of the whole table, to the last bit,
    and so are the parts of the matrix. It takes some passes over the rows: fewer if
    their numbers fit in a quarter of the memory that the stream may take.

    Parameters
    ----------
    stream : Stream
        The table.
    columns, drop, id, missing, scale, log, categories : optional
        As in `prepare`.
    weights : None
        Weights of rows are not taken from a table in parts.

    Returns
    -------
    PreparedStream
        The parts, and all that is needed to go back.

    Raises
    ------
    InputError
        If there is nothing to compute with, with what to do about it.
    """
    check_policy(missing)
    check_choice("scale", scale, SCALES)
    if weights is not None:
        raise InputError(
            "sample_weight= is not taken for a table that is read in parts; repeat "
            "rows instead, or read the table without a limit of memory."
        )
    table = StreamTable(stream)
    check_names_known(table, drop, id, missing)
    logged = () if isinstance(log, str) else log
    refuse_two_uses(categories, drop=drop, id=id, log=logged)
    unused = {*drop, id, *categories}
    numbers, notes = find_numbers(table, columns, unused, drop, missing, categories)
    check_logged(table, logged, [column.name for column in numbers])
    found = {name: count_categories(table, name) for name in dict.fromkeys(categories)}
    reader = reader_of(table, numbers, found, missing)
    if id is None:
        id, told = choose_stream_id(table, [*reader.names, *filter(None, unused)])
        notes += told
    plan = Plan(stream, reader, [*numbers, *(Column(n, "text") for n in found)], id)
    plan, gaps = plan.check_gaps(notes, are_named=columns is not None)
    plan = plan.filled()
    rows = plan.rows()
    notes += note_on_stream_repeats(rows, stream.memory)
    preparation, told = find_all_units(plan, rows, found, log=log, scale=scale)
    preparation = replace(preparation, missing=missing, id=id or "")
    return PreparedStream(
        preparation, plan.prepared(preparation), (*notes, *told), gaps.n_missing
    )


# Columns


def find_numbers(
    table: StreamTable,
    columns: Sequence[str] | None,
    unused: set[str | None],
    drop: Sequence[str],
    missing: MissingPolicy,
    categories: Sequence[str],
) -> tuple[list[Column], list[str]]:
    """Return the columns of numbers, and say what is left out, or counts as missing."""
    may_be_none = bool(categories)
    if columns is None:
        table.look_at([name for name in table.names if name not in unused])
        chosen, notes = choose(table, unused, may_be_none=may_be_none)
    else:
        table.look_at(columns)
        out = [*drop, *categories]
        chosen = choose_named(table, columns, out, may_be_none=may_be_none)
        notes = []
    ways = ways_for(missing, chosen)
    counts, n_missing = CellCounts(len(chosen)), np.zeros(len(chosen), np.int64)
    reader = reader_of(table, chosen, {}, missing)
    if chosen:
        for start, part in numbered(table.stream, reader.names):
            X = reader.raw(part)
            counts.add(reader, X, start)
            n_missing += (~np.isfinite(X)).sum(axis=0)
    notes += counts.notes(chosen, ways)
    if columns is not None or not chosen:
        return chosen, notes
    kept, told = enough_there(n_missing, table.n_rows, chosen, missing)
    chosen = [chosen[j] for j in kept]
    return chosen, [note_used(chosen), *notes, *told]


def reader_of(
    table: StreamTable,
    numbers: Sequence[Column],
    categories: Mapping[str, tuple[str, ...]],
    missing: MissingPolicy,
) -> RowReader:
    """Return what reads columns of numbers, and of categories with their values."""
    readers = tuple(
        category_reader(table, name, values) for name, values in categories.items()
    )
    columns = [*numbers, *(Column(reader.name, "text") for reader in readers)]
    return RowReader(
        tuple(NumberReader(column.name, mark_of(column)) for column in numbers),
        readers,
        tuple(ways_for(missing, columns)),
    )


def count_categories(table: StreamTable, name: str) -> tuple[str, ...]:
    """Return the categories of a column, the most frequent first."""
    check_known(table, name, "categories")
    reader = category_reader(table, name)
    counts: dict[Any, int] = {}
    texts: dict[Any, str] = {}
    for _, part in numbered(table.stream, [name]):
        codes, keys, shown_texts = reader.coded(part.column(0))
        seen = texts_seen(codes, len(keys))
        for key, text, n_cells in zip(keys, shown_texts, seen, strict=True):
            counts[key] = counts.get(key, 0) + n_cells
            texts.setdefault(key, text)
        if len(counts) > MOST_COUNTED:
            raise InputError(
                f"column {shown(name)} has more than {MOST_COUNTED:,} different "
                "values, too many for categories; leave it out of categories=."
            )
    check_few(len(counts), sum(counts.values()), table.look(name))
    return most_frequent(list(texts.values()), list(counts.values()))


def choose_stream_id(
    table: StreamTable, used: Sequence[str]
) -> tuple[str | None, list[str]]:
    """Return the column that names the rows where nobody said which, and say so."""
    schema, n_rows = table.stream.schema, table.n_rows
    names = [f.name for f in schema if is_string(f.type) and f.name not in used]
    if n_rows < FEWEST_COUNTED or not names:
        return None, []
    glances = glance(table.stream, names)
    for name in names:
        if are_names(glances[name]):
            keys = partial(text_keys, table.stream, name)
            memory = int(table.stream.memory * SHARE_OF_WORK)
            if count_different(keys, n_rows, memory) == n_rows:
                told = f"Row names are from {shown(name)} (id= for another column)."
                return name, [told]
    return None, []


def glance(stream: Stream, names: Sequence[str]) -> dict[str, list[str | None]]:
    """Return the cells of columns from all over the table."""
    rows = glanced_rows(stream.n_rows)
    seen: dict[str, list[str | None]] = {name: [] for name in names}
    for start, part in numbered(stream, names):
        low, high = np.searchsorted(rows, [start, start + part.num_rows])
        some = part.take(rows[low:high] - start)
        for name in names:
            seen[name] += some.column(name).to_pylist()
    return seen


def text_keys(stream: Stream, name: str) -> Iterator[Any]:
    """Yield two hashes of each cell, part by part."""
    for _, part in numbered(stream, [name]):
        for chunk in part.column(0).cast(pa.large_string()).chunks:
            yield keys_of_text(chunk)


# Rows


@dataclass(frozen=True)
class Plan:
    """How rows are read, once it is known which columns are used.

    Attributes
    ----------
    stream : Stream
        The table.
    reader : RowReader
        How cells become numbers.
    columns : list of Column
        What messages call the columns.
    id : str or None
        The column that names the rows.
    kept : tuple of int
        How many rows are kept of each part.
    """

    stream: Stream
    reader: RowReader
    columns: list[Column]
    id: str | None
    kept: tuple[int, ...] = ()

    @property
    def room(self) -> int:
        """How many numbers may be gathered."""
        return int(self.stream.memory * SHARE_OF_WORK) // KEY_BYTES

    def gapped(self) -> RowsInParts:
        """Return all rows, NaN where there is no number."""
        names = self.reader.names

        def parts() -> Iterator[Floats]:
            for _, table in numbered(self.stream, names):
                yield self.reader.with_gaps(table)

        return self.kept_in_memory(parts, self.stream.n_rows)

    def rows(self) -> RowsInParts:
        """Return the rows that are kept, without gaps."""
        names = self.reader.names

        def parts() -> Iterator[Floats]:
            for _, table in numbered(self.stream, names):
                X = self.reader.whole(table).X
                if len(X):
                    yield X

        return self.kept_in_memory(parts, sum(self.kept))

    def kept_in_memory(
        self, parts: Callable[[], Iterator[Floats]], n_rows: int
    ) -> RowsInParts:
        """Return parts that are read once if all have room, each time if not."""
        n_columns = len(self.columns)
        if n_rows * n_columns <= self.room:
            once = list(parts())
            return RowsInParts(lambda: iter(once), n_rows, n_columns, self.room)
        return RowsInParts(parts, n_rows, n_columns, self.room)

    def check_gaps(
        self, notes: list[str], *, are_named: bool
    ) -> tuple[Plan, GapCounts]:
        """Refuse missing cells, or say what becomes of them, and count what is kept."""
        gaps, kept, start = GapCounts(self.reader.ways), [], 0
        for part in self.stream.partitions:
            n_before = gaps.lost.n_lost
            gaps.add(self.reader.with_gaps(part.read(self.reader.names)), start)
            kept.append(part.n_rows - (gaps.lost.n_lost - n_before))
            start += part.n_rows
        spared, wrong = None, None
        if gaps.first is not None and not are_named:
            spared = are_mostly_empty(gaps.n_missing, self.stream.n_rows)
            spared = spared & ~spared.all()
            wrong = gaps.wrong._replace(n_lost=self.count_wrong(~spared).n_lost)
        notes += notes_on_gaps(self.stream, gaps, self.columns, self.id, spared, wrong)
        return replace(self, kept=tuple(kept)), gaps

    def count_wrong(self, counted_columns: NDArray[np.bool_]) -> Lost:
        """Count the rows that missing cells of some columns make useless."""
        are_wrong = np.array(self.reader.ways) == "error"
        total = Lost(0, 0, 0, 0)
        for X in self.gapped().parts():
            total = total.and_of(count_lost(np.isnan(X) * are_wrong * counted_columns))
        return total

    def filled(self) -> Plan:
        """Return the plan with what stands for missing cells.

        That is told by all cells that are there if any are filled in, else by the rows
        that are kept.
        """
        if "median" in self.reader.ways:
            return self.filled_by(self.gapped())
        return self.filled_by(self.rows())

    def filled_by(self, rows: RowsInParts) -> Plan:
        """Return the plan with the median of each column, or its commonest category."""
        n = len(self.reader.numbers)
        picks = [partial(there_in_column, j) for j in range(n)]
        medians = medians_of(rows.parts, picks, rows.room)
        modes = [float(counts.argmax()) for counts in self.category_counts(rows)]
        return replace(self, reader=replace(self.reader, fill=(*medians, *modes)))

    def category_counts(self, rows: RowsInParts) -> list[NDArray[np.int64]]:
        """Return how many rows are in each category of each column."""
        n, readers = len(self.reader.numbers), self.reader.categories
        counts = [np.zeros(len(reader.values), np.int64) for reader in readers]
        if readers:
            for X in rows.parts():
                for j, total in enumerate(counts):
                    places = there_in_column(n + j, X).astype(np.intp)
                    total += np.bincount(places, minlength=len(total))
        return counts

    def prepared(self, preparation: Preparation) -> tuple[PreparedPartition, ...]:
        """Return the rows that are kept, in parts."""
        parts = zip(self.stream.partitions, self.kept, strict=True)
        return tuple(
            PreparedPartition(part, self.reader, preparation, n_rows)
            for part, n_rows in parts
        )


def there_in_column(j: int, X: Floats) -> Floats:
    """Return the numbers of a column that are there."""
    values = X[:, j]
    return values[~np.isnan(values)]


def note_on_stream_repeats(rows: RowsInParts, memory: int) -> list[str]:
    """Say how many rows are the same as earlier ones, if one pass can tell."""
    if rows.n_columns < 2 or rows.n_rows * KEY_BYTES > memory * SHARE_OF_WORK:
        return []

    def keys() -> Iterator[Any]:
        for X in rows.parts():
            hashes = hashes_of(X)
            yield hashes, np.zeros_like(hashes)

    n_different = count_different(keys, rows.n_rows, memory)
    return tell_repeats(rows.n_rows - n_different, rows.n_rows)


def find_all_units(
    plan: Plan,
    rows: RowsInParts,
    categories: Mapping[str, tuple[str, ...]],
    *,
    log: Log,
    scale: Scale,
) -> tuple[Preparation, list[str]]:
    """Decide on logarithms, scaling and the features of categories, and say so."""
    n, fill = len(plan.reader.numbers), plan.reader.fill
    numbers = rows
    if categories:
        numbers = replace(rows.mapped(lambda X: X[:, :n]), n_columns=n)
    units, told = find_stream_units(
        plan.columns[:n], numbers, fill[:n], log=log, scale=scale
    )
    if not categories:
        return units, told
    unit = mean_spread_in(numbers, units)
    shares = [counts / counts.sum() for counts in plan.category_counts(rows)]
    units, more = with_indicators(units, dict(categories), shares, unit, fill[n:])
    return units, [*(told if n else []), *more]
