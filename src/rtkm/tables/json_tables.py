"""Tables in JSON: records, one after the other or in an array, rows, or columns."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, islice
from typing import Any

from rtkm.tables.decoding import find_mark
from rtkm.tables.grid import Asked, Grid, find_grid, table_of
from rtkm.tables.messages import InputError, listed, shown
from rtkm.tables.sheet import Sheet
from rtkm.tables.source import Source
from rtkm.tables.typed_cells import written

BEGINNING = re.compile(r"\s*(?:\{\s*[\"}]|\[\s*[\[{\]])")
SPACE = re.compile(r"\s*")
START_BYTES = 4096
EXPECTED = 'expected records such as {"age": 31, "height": 1.76}'


def begins_json(sample: bytes) -> bool:
    """Whether a file begins with an object, or with an array of objects or rows."""
    start = sample[:START_BYTES]
    return BEGINNING.match(start.decode(encoding_of(start), "ignore")) is not None


def encoding_of(start: bytes) -> str:
    """Return the encoding, which is UTF-8 unless there is a byte-order mark."""
    return find_mark(start) or "utf-8"


def read_json(source: Source, asked: Asked) -> Sheet:
    """Read a table in JSON."""
    encoding = encoding_of(source.start(START_BYTES))
    try:
        with io.TextIOWrapper(source.open(), encoding=encoding) as text:
            return read_values(source, values_of(source.name, text), asked)
    except UnicodeDecodeError:
        raise InputError(
            f"{source.name} is JSON that is not written in {encoding}; expected utf-8."
        ) from None
    except RecursionError:
        raise InputError(
            f"{source.name} is JSON that is nested too deep; {EXPECTED}."
        ) from None


def read_values(source: Source, values: Iterator[Any], asked: Asked) -> Sheet:
    """Make a table of values: records, if there are several, or one for all."""
    name = source.name
    first = list(islice(values, 2))
    if len(first) > 1:
        columns = columns_of_records(name, chain(first, values))
        return table_of(source, "JSON lines", grid_of(columns))
    (whole,) = first
    if isinstance(whole, list) and whole and isinstance(whole[0], list):
        grid = find_grid(name, checked_rows(name, whole), asked)
        return table_of(source, "JSON", grid)
    if isinstance(whole, list):
        columns = columns_of_records(name, whole)
    else:
        columns = columns_of_object(name, whole)
    return table_of(source, "JSON", grid_of(columns))


def grid_of(columns: dict[str, list[Any]]) -> Grid:
    """Return columns by name in the words of other cells."""
    return Grid(list(columns), list(columns.values()), None, ())


# Values


def values_of(name: str, text: io.TextIOWrapper) -> Iterator[Any]:
    """Go through the values of a file, of which each line holds one, or else any."""
    decoder = json.JSONDecoder(object_pairs_hook=partial(checked_record, name))
    lines = enumerate(text, start=1)
    n, line = next((n, line) for n, line in lines if line.strip())
    try:
        first = decoder.decode(line)
    except ValueError:
        yield from values_in(name, line + text.read(), n, decoder)
        return
    yield first
    for n, line in lines:
        if line.strip():
            yield from values_in(name, line, n, decoder)


def values_in(
    name: str, text: str, n_line: int, decoder: json.JSONDecoder
) -> Iterator[Any]:
    """Go through the values of a text that begins at a line."""
    place = SPACE.match(text).end()  # type: ignore[union-attr]
    while place < len(text):
        try:
            value, place = decoder.raw_decode(text, place)
        except json.JSONDecodeError as error:
            raise InputError(
                f"{name} cannot be read as JSON ({error.msg} in line "
                f"{n_line + error.lineno - 1:,}); it may be damaged or cut short."
            ) from None
        yield value
        place = SPACE.match(text, place).end()  # type: ignore[union-attr]


def checked_record(name: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object, of which Python would keep the last of two equal names."""
    record = dict(pairs)
    if len(record) < len(pairs):
        key = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise InputError(
            f"{name} has a record with two values for {shown(key)}; rename one."
        )
    return record


# Shapes


def columns_of_records(name: str, records: Iterable[Any]) -> dict[str, list[Any]]:
    """Return the columns of records, None where one lacks a name."""
    columns: dict[str, list[Any]] = {}
    n_records = 0
    for record in records:
        if not isinstance(record, dict):
            raise InputError(
                f"{name} holds {shown(written(record) or 'null')} as item "
                f"{n_records + 1:,}; {EXPECTED}."
            )
        for key, cell in record.items():
            cells = columns.setdefault(key, [])
            if len(cells) < n_records:
                cells.extend([None] * (n_records - len(cells)))
            cells.append(cell)
        n_records += 1
    for cells in columns.values():
        cells.extend([None] * (n_records - len(cells)))
    return columns


def columns_of_object(name: str, whole: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the columns that an object names, or its one record.

    They are lists of one length, or what pandas writes for a frame: cells by the number
    of their row.
    """
    columns = list(whole.values())
    if columns and all(isinstance(cells, list) for cells in columns):
        if len(set(map(len, columns))) == 1:
            return whole
    elif columns and all(isinstance(cells, dict) for cells in columns):
        rows = list(columns[0])
        if rows == list(map(str, range(len(rows)))) and all(
            list(cells) == rows for cells in columns
        ):
            return {key: list(cells.values()) for key, cells in whole.items()}
    elif columns and not any(isinstance(cell, list | dict) for cell in columns):
        return {key: [cell] for key, cell in whole.items()}
    keys = listed(map(shown, whole), len(whole)) or "nothing in it"
    raise InputError(
        f"{name} is one object with {keys}; {EXPECTED}, in an array or one a line."
    )


def checked_rows(name: str, rows: list[Any]) -> list[Any]:
    """Refuse rows among which there is something else."""
    for n, row in enumerate(rows, start=1):
        if not isinstance(row, list):
            raise InputError(
                f"{name} holds {shown(written(row) or 'null')} as item {n:,}; expected "
                "a row as those before it."
            )
    return rows
