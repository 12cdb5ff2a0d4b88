"""Text tables of any size, converted once into a file that can be read in parts."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

from rtkm.tables.arrow import pa, pa_csv
from rtkm.tables.dialects import Dialect
from rtkm.tables.progress import progress
from rtkm.tables.scratch import Scratch
from rtkm.tables.sheet import unique_names
from rtkm.tables.source import Source
from rtkm.tables.text import (
    BLOCK_BYTES,
    LARGEST_BLOCK,
    csv_options,
    names_for,
    why_not,
)
from rtkm.tables.text_stream import TextStream, check_records

MISFIT = re.compile(r"In CSV column #(\d+).*conversion error", re.DOTALL)
VALUE = re.compile(r"invalid value '(.*)'\s*$", re.DOTALL)


def type_order() -> list[Any]:
    """Return the types that pyarrow tries for all cells of a column, in its order."""
    return [
        pa.null(),
        pa.int64(),
        pa.bool_(),
        pa.date32(),
        pa.time32("s"),
        pa.timestamp("s"),
        pa.timestamp("ns"),
        pa.timestamp("s", tz="UTC"),
        pa.timestamp("ns", tz="UTC"),
        pa.float64(),
        pa.string(),
    ]


def to_scratch(
    source: Source, dialect: Dialect, scratch: Scratch, *, is_quiet: bool = False
) -> Any:
    """Convert a text table into an Arrow file, a block at a time; return its columns.

    The types are those that `read_text` finds, though it has all cells at once: where a
    block shows that a type is too narrow, we begin again with the next one.
    """
    names, _ = unique_names(names_for(dialect))
    types = {names[j]: pa.string() for j in dialect.codes if j < len(names)}
    block = BLOCK_BYTES
    while True:
        try:
            with converting(source, is_quiet) as tell:
                return convert(source, dialect, names, types, block, scratch, tell)
        except (pa.ArrowException, OSError) as error:
            found = wider_types(error, names, types, dialect)
            if found is not None:
                types = found
                continue
            check_records(source, dialect)  # the likeliest reason is a quote
            if "straddling" not in str(error) or block >= LARGEST_BLOCK:
                raise why_not(source, dialect, error) from None
            block = min(16 * block, LARGEST_BLOCK)


def convert(
    source: Source,
    dialect: Dialect,
    names: list[str],
    types: dict[str, Any],
    block: int,
    scratch: Scratch,
    tell: Callable[[int], None],
) -> Any:
    """Read a text table with types for some columns, and those of its first block.

    What the types were is left in `types`, also if they do not fit.
    """
    read, parse, ways = csv_options(dialect, names, block)
    ways.column_types = types
    text = TextStream(source, dialect)
    with (
        pa.PythonFile(text, mode="r") as stream,
        pa_csv.open_csv(stream, read, parse, ways) as batches,
    ):
        types.update(zip(names, batches.schema.types, strict=True))
        with writing(scratch, batches.schema) as writer:
            for batch in batches:
                with scratch.told_as_full():
                    writer.write_batch(batch)
                tell(text.n_read)
        return batches.schema


@contextmanager
def writing(scratch: Scratch, schema: Any) -> Iterator[Any]:
    """Open a scratch file for batches, in the place of what was written before."""
    with ExitStack() as opened:
        with scratch.told_as_full():
            sink = opened.enter_context(pa.OSFile(str(scratch.path), "wb"))
            writer = pa.ipc.new_file(sink, schema)
        yield writer
        with scratch.told_as_full():
            writer.close()


def wider_types(
    error: Exception, names: list[str], types: dict[str, Any], dialect: Dialect
) -> dict[str, Any] | None:
    """Return the types with another one for the column that did not fit its own.

    It is the next that pyarrow would try, but at least what the cell is by itself. None
    if something else was wrong.
    """
    found = MISFIT.search(str(error))
    if found is None or int(found[1]) >= len(names):
        return None
    name, order = names[int(found[1])], type_order()
    if name not in types or types[name] == pa.string():
        return None
    cell = VALUE.search(str(error))
    places = [place_in(order, types[name]) + 1]
    if cell is not None:
        places.append(place_in(order, type_of_cell(cell[1], dialect)))
    return types | {name: order[min(max(places), len(order) - 1)]}


def place_in(order: list[Any], kind: Any) -> int:
    """Return the place of a type; one that we do not know is followed by text."""
    places = (place for place, other in enumerate(order) if other.equals(kind))
    return next(places, len(order) - 2)


def type_of_cell(cell: str, dialect: Dialect) -> Any:
    """Return the type that pyarrow would give to a column of one cell."""
    quoted = dialect.quote + cell.replace(dialect.quote, 2 * dialect.quote)
    data = f"x\n{quoted}{dialect.quote}\n".encode()
    read, parse, ways = csv_options(dialect, ["x"], BLOCK_BYTES)
    read.skip_rows_after_names = 1
    ways.column_types = {}
    table = pa_csv.read_csv(io.BytesIO(data), read, parse, ways)
    return table.column(0).type


def converting(
    source: Source, is_quiet: bool
) -> AbstractContextManager[Callable[[int], None]]:
    """Show how many bytes of a text table are read."""
    is_plain = source.path is not None and source.packing is None
    total = source.path.stat().st_size if is_plain and source.path else None
    return progress(f"converting {source.name}", total, "B", is_quiet=is_quiet)
