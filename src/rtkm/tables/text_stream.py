"""A text table on its way to pyarrow: decoded, and its quotes checked."""

from __future__ import annotations

import codecs
import re
from collections.abc import Generator, Iterator
from itertools import islice
from threading import Lock
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from rtkm.tables.dialects import Dialect
from rtkm.tables.messages import InputError
from rtkm.tables.source import Source

CHUNK_BYTES = 2**20  # fits a cache
LINE_END = re.compile(rb"\r\n|\r|\n")


class TextStream:
    """The records of a text table as UTF-8, refused where their quotes are wrong.

    pyarrow makes one cell of all that follows a quote that never closes, joins a closed
    quote with the text behind it, and overlooks line ends near a NUL. Without these, it
    finds the records and cells that Python's `csv` reader, which is strict, finds.

    Parameters
    ----------
    source : Source
        The bytes.
    dialect : Dialect
        How they are written.
    """

    closed = False  # asked by pyarrow
    n_read = 0  # bytes that it was given so far

    def __init__(self, source: Source, dialect: Dialect) -> None:
        self._records = checked_chunks(source, dialect)
        # pyarrow drops one mark, which may else be part of the first cell
        self._start = codecs.BOM_UTF8
        # pyarrow reads ahead in a thread of its own, even while it gives up
        self._lock = Lock()

    def read(self, n_bytes: int) -> bytes:
        """Return at least `n_bytes`, or what is left."""
        with self._lock:
            parts, self._start = [self._start], b""
            n_missing = n_bytes - len(parts[0])
            # pyarrow drops a newline at the start of a block if a carriage return ended
            # the last one, even within quotes
            while n_missing > 0 or parts[-1].endswith(b"\r"):
                chunk = next(self._records, b"")
                if not chunk:
                    break
                parts.append(chunk)
                n_missing -= len(chunk)
            self.n_read += sum(map(len, parts))
            return b"".join(parts)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._records.close()
            self.closed = True


def check_records(source: Source, dialect: Dialect) -> None:
    """Refuse a table whose quotes are wrong."""
    for _ in checked_chunks(source, dialect):
        pass


def checked_chunks(source: Source, dialect: Dialect) -> Generator[bytes, None, None]:
    """Return the bytes of records as UTF-8, each part once it is checked."""
    quotes = QuoteScan(dialect.separator, dialect.quote)
    try:
        chunk = b""
        for chunk in record_chunks(source, dialect):
            quotes.scan(chunk)
            yield chunk
        quotes.finish()
        if not chunk.endswith((b"\r", b"\n")):
            yield b"\n"  # without which pyarrow does not see a header alone
    except NulError as fault:
        raise InputError(
            f"{source.name} has a NUL character in line "
            f"{line_at(source, dialect, fault.place)}, which is not text; remove it, "
            "or say with --encoding how the table is written."
        ) from None
    except QuoteError as fault:
        raise InputError(
            f"{source.name} has a quoted cell in line "
            f"{line_at(source, dialect, fault.place)} that does not end as it should; "
            f"close it with {dialect.quote} (--quote for another mark)."
        ) from None


def record_chunks(source: Source, dialect: Dialect) -> Iterator[bytes]:
    """Return the bytes of records, the lines above them left out, as UTF-8."""
    with source.open() as stream:
        chunks = utf8_chunks(stream, dialect.encoding)
        yield from without_lines(chunks, dialect.n_skipped)


def utf8_chunks(stream: BinaryIO, encoding: str) -> Iterator[bytes]:
    """Decode a stream, and return what it holds as UTF-8."""
    is_utf8 = encoding in ("utf-8", "utf-8-sig")
    start = b""
    if encoding == "utf-8-sig":
        start = stream.read(len(codecs.BOM_UTF8)).removeprefix(codecs.BOM_UTF8)
    decoder = codecs.getincrementaldecoder("utf-8" if is_utf8 else encoding)()
    is_pending = not is_utf8  # whether bytes of an unfinished letter may wait
    while chunk := start + stream.read(CHUNK_BYTES):
        start = b""
        if is_pending or not chunk.isascii():
            text = decoder.decode(chunk)
            is_pending = not is_utf8 or bool(decoder.getstate()[0])
            chunk = chunk if is_utf8 else text.encode()
        if chunk:
            yield chunk
    if rest := decoder.decode(b"", True):
        yield rest.encode()


def without_lines(chunks: Iterator[bytes], n_lines: int) -> Iterator[bytes]:
    """Leave out the first lines."""
    if n_lines:
        head = b""
        ends: list[int] = []
        for chunk in chunks:
            head += chunk
            found = islice(LINE_END.finditer(head), n_lines)
            ends = [end.end() for end in found]
            # a carriage return at the end may be half of what ends the line
            if len(ends) == n_lines and ends[-1] < len(head):
                break
        if len(ends) == n_lines and ends[-1] < len(head):
            yield head[ends[-1] :]
    yield from chunks


class MisplacedError(Exception):
    """A byte that must not be there: its place, counted from the first record."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


class NulError(MisplacedError):
    """A NUL, which pyarrow takes for an end."""


class QuoteError(MisplacedError):
    """A quote that is never closed, or not where its cell ends."""


class QuoteScan:
    """Quotes of a table that comes in parts, held to what a strict reader takes.

    A quote opens where a cell begins; one that is open is closed by the next that is
    not doubled, behind which the cell must end. Others are characters like any.
    """

    def __init__(self, separator: str, quote: str) -> None:
        self._quote = quote.encode()
        self._is_edge = np.zeros(256, dtype=bool)
        self._is_edge[list(f"{separator}\r\n".encode())] = True
        self._n_scanned = 0
        self._tail = b""  # quotes at the end, of which the next part decides
        self._before = b"\n"
        self._is_open = False
        self._opened_at = 0

    def scan(self, data: bytes, is_last: bool = False) -> None:
        """Check the next part."""
        if b"\0" in data:
            raise NulError(self._n_scanned + len(self._tail) + data.index(b"\0"))
        data = self._tail + data
        body = data if is_last else data.rstrip(self._quote)
        self._tail = data[len(body) :]
        if self._quote in body:
            self._follow(body)
        self._n_scanned += len(body)
        self._before = body[-1:] or self._before

    def finish(self) -> None:
        """Check the end, where no quote may be open."""
        self.scan(b"", is_last=True)
        if self._is_open:
            raise QuoteError(self._opened_at)

    def _follow(self, body: bytes) -> None:
        """Go from quote to quote."""
        codes = np.frombuffer(self._before + body + b"\n", dtype=np.uint8)
        places = np.flatnonzero(codes == ord(self._quote))
        # where no quote stands within a cell, they open and close by turns
        n_quotes, first = len(places), int(self._is_open)
        follows = np.empty(n_quotes + 1, dtype=bool)  # another quote, directly
        follows[0] = follows[-1] = False
        np.equal(places[1:], places[:-1] + 1, out=follows[1:-1])
        opening, closing = slice(first, None, 2), slice(1 - first, None, 2)
        open_well = self._is_edge[codes[places[opening] - 1]]
        close_well = self._is_edge[codes[places[closing] + 1]]
        open_well |= follows[:-1][opening]
        close_well |= follows[1:][closing]
        if open_well.all() and close_well.all():
            self._is_open ^= n_quotes % 2 == 1
            opened = places[opening][~follows[:-1][opening]]
            if len(opened):
                self._opened_at = self._n_scanned + int(opened[-1]) - 1
        else:
            self._follow_each(places, codes)

    def _follow_each(self, places: NDArray[np.intp], codes: NDArray[np.uint8]) -> None:
        """Go from quote to quote, some of which are parts of cells."""
        quotes = zip(
            places.tolist(),
            self._is_edge[codes[places - 1]].tolist(),
            self._is_edge[codes[places + 1]].tolist(),
            (codes[places + 1] == ord(self._quote)).tolist(),
            strict=True,
        )
        for place, may_open, may_close, is_doubled in quotes:
            if not self._is_open:
                if may_open:
                    self._is_open = True
                    self._opened_at = self._n_scanned + place - 1
            elif is_doubled:
                next(quotes)
            elif may_close:
                self._is_open = False
            else:
                raise QuoteError(self._opened_at)


def line_at(source: Source, dialect: Dialect, place: int) -> int:
    """Return the line in which a byte of the records stands."""
    n_ends, n_left, was_half = dialect.n_skipped, place, False
    for chunk in record_chunks(source, dialect):
        part = chunk[:n_left]
        n_ends += part.count(b"\n") + part.count(b"\r") - part.count(b"\r\n")
        n_ends -= was_half and part.startswith(b"\n")
        was_half = part.endswith(b"\r")
        n_left -= len(part)
        if not n_left:
            break
    return n_ends + 1
