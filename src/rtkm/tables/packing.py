"""Compressed tables: told by their first bytes, unpacked while they are read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from rtkm.tables.arrow import pa
from rtkm.tables.messages import InputError

# A table that shrinks to less than a hundredth says next to nothing; below this size
# it does no harm.
HARMLESS_BYTES = 2**28
LARGEST_RATIO = 100

# what damaged bytes make the unpackers raise; MemoryError is for impossible windows
DAMAGE = (OSError, EOFError, ValueError, MemoryError, zlib.error, lzma.LZMAError)


class Packing(NamedTuple):
    """A way to compress a file."""

    name: str
    ending: str
    magic: re.Pattern[bytes]
    unpack: Callable[[BinaryIO], Any]
    pack: Callable[[BinaryIO], Any]


def unpack_zstd(stream: BinaryIO) -> Any:
    """Return what a stream holds, frame by frame."""
    return pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), "zstd")


def pack_gzip(stream: BinaryIO) -> Any:
    """Return a stream that compresses; without a time, so that runs give one file."""
    return gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0)


def pack_zstd(stream: BinaryIO) -> Any:
    """Return a stream that compresses."""
    return pa.CompressedOutputStream(pa.PythonFile(KeptOpen(stream), mode="w"), "zstd")


class KeptOpen:
    """A stream to write to that is not closed by who writes to it, as pyarrow does."""

    closed = False

    def __init__(self, stream: BinaryIO) -> None:
        self.write, self.flush = stream.write, stream.flush

    def close(self) -> None:
        """Leave it open."""
        self.flush()


PACKINGS = (
    Packing("gzip", ".gz", re.compile(rb"\x1f\x8b"), gzip.open, pack_gzip),
    Packing("zstd", ".zst", re.compile(rb"\x28\xb5\x2f\xfd"), unpack_zstd, pack_zstd),
    Packing(
        "bzip2",
        ".bz2",
        re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"),
        bz2.open,
        lambda stream: bz2.open(stream, "wb"),
    ),
    Packing(
        "xz",
        ".xz",
        re.compile(rb"\xfd7zXZ\x00"),
        lzma.open,
        lambda stream: lzma.open(stream, "wb"),
    ),
)


def packing_of(start: bytes) -> Packing | None:
    """Return how a file is compressed that begins so, if it is."""
    return next((p for p in PACKINGS if p.magic.match(start)), None)


def packing_for(path: Path) -> Packing | None:
    """Return how a file is to be compressed whose name ends so, if it is."""
    return next((p for p in PACKINGS if p.ending == path.suffix.lower()), None)


def is_inflated(n_bytes: int, n_packed: int) -> bool:
    """Whether so few bytes cannot well have become so many of a table."""
    return n_bytes > max(HARMLESS_BYTES, LARGEST_RATIO * n_packed)


class Unpacked(io.RawIOBase):
    """What a compressed file holds, as a stream.

    It stops where a file grows beyond what a table would, and says in words of its own
    what is wrong with a damaged one.
    """

    def __init__(self, name: str, packing: Packing, packed: BinaryIO) -> None:
        super().__init__()
        self._name, self._packing, self._packed = name, packing, packed
        self._n_packed = packed.seek(0, io.SEEK_END)
        packed.seek(0)
        self._n_bytes = 0
        self._stream = packing.unpack(packed)

    def readable(self) -> bool:
        """Return that it can be read, as buffers ask."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some of the bytes into a buffer."""
        try:
            part = self._stream.read(len(buffer))
        except DAMAGE as error:
            reason = str(error).rstrip(".") or type(error).__name__
            raise InputError(
                f"{self._name} cannot be unpacked by {self._packing.name} ({reason}); "
                "it may be damaged or cut short."
            ) from None
        self._n_bytes += len(part)
        if is_inflated(self._n_bytes, self._n_packed):
            raise InputError(
                f"{self._name} unpacks to more than {LARGEST_RATIO} times its size, "
                "which hardly any table does; unpack it yourself if it is one."
            )
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        """Close the file, too."""
        if not self.closed:
            self._stream.close()
            self._packed.close()
        super().close()
