"""From bytes to text."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from rtkm.tables.encoding_guess import foreign_cells, guess_encoding, is_damaged_utf8
from rtkm.tables.messages import InputError, shown
from rtkm.tables.source import Source

BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# codecs that Python calls text encodings, but that no file is written in
NOT_FOR_FILES = {
    *("idna", "punycode", "undefined", "charmap"),
    *("unicode-escape", "unicode_escape", "raw-unicode-escape", "raw_unicode_escape"),
}
NO_TABLE = "is not a table; expected text, a workbook, JSON, Parquet, Arrow or .npy."
CONTROLS = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")


@dataclass(frozen=True)
class Encoding:
    """An encoding, and how far it is a guess.

    Attributes
    ----------
    name : str
        As Python knows it.
    doubt : "", "guessed" or "uncertain"
        Empty where it was given, or where the bytes leave no doubt.
    """

    name: str
    doubt: str = ""


def find_encoding(name: str, sample: bytes, is_whole: bool) -> Encoding:
    """Find the encoding; bytes that are no text at all are refused."""
    mark = find_mark(sample)
    if mark:
        return Encoding(mark)
    if b"\x00" in sample:
        return Encoding(find_wide_encoding(name, sample))
    if can_decode(sample, "utf-8"):
        return Encoding("utf-8")
    # a cut would leave half a letter
    return judge(name, [sample if is_whole else up_to_last_line(sample)])


def find_mark(sample: bytes) -> str:
    """Return the encoding that a byte-order mark tells, if there is one."""
    for mark, encoding in BYTE_ORDER_MARKS:
        if sample.startswith(mark):
            return encoding
    return ""


def judge(name: str, parts: Iterable[bytes]) -> Encoding:
    """Guess the encoding of bytes that are not UTF-8."""
    cells = foreign_cells(parts)
    if is_damaged_utf8(cells):
        raise InputError(
            f"{name} is utf-8 except for a few bytes; fix them, or say with "
            "--encoding how to read it."
        )
    guess = guess_encoding(cells)
    return Encoding(guess.encoding, "guessed" if guess.is_reliable else "uncertain")


def judge_all(source: Source) -> Encoding:
    """Guess the encoding by all of a table, of which the start tells too little."""
    with source.open() as stream:
        return judge(source.name, whole_lines(stream))


def whole_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Return a stream in large parts that end with a line, where there are lines."""
    rest = b""
    while chunk := stream.read(2**20):
        part = up_to_last_line(rest + chunk)
        rest = (rest + chunk)[len(part) :]
        yield part
    yield rest


def up_to_last_line(part: bytes) -> bytes:
    """Leave out what follows the last end of a line, if there is one."""
    end = max(part.rfind(b"\n"), part.rfind(b"\r")) + 1
    return part[:end] if end else part


def check_encoding(given: str, sample: bytes) -> Encoding:
    """Refuse what is no text encoding; a byte-order mark tells details."""
    expected = "expected utf-8, utf-16, cp1252 or another that Python knows."
    try:
        codec = codecs.lookup(given)
    except (LookupError, ValueError):
        raise InputError(
            f"--encoding {shown(given)} is not known; {expected}"
        ) from None
    if codec.name in NOT_FOR_FILES or not is_for_text(given):
        raise InputError(
            f"--encoding {shown(given)} is not an encoding of text files; {expected}"
        )
    mark = find_mark(sample)
    is_family = mark and codec.name.startswith(mark.removesuffix("-sig"))
    return Encoding(mark if is_family else normal_name(codec, given))


def is_for_text(encoding: str) -> bool:
    """Whether a codec makes text of bytes, which Python will not do by others."""
    try:
        "".encode(encoding)
    except LookupError:
        return False
    return True


def normal_name(codec: codecs.CodecInfo, given: str) -> str:
    """Return one name for UTF-8, which is read faster than others."""
    return codec.name if codec.name in ("utf-8", "utf-8-sig") else given


def find_wide_encoding(name: str, sample: bytes) -> str:
    """Recognize UTF-16 without a mark: every other byte of plain text is zero."""
    for encoding, zeros, letters in (
        ("utf-16-le", sample[1::2], sample[::2]),
        ("utf-16-be", sample[::2], sample[1::2]),
    ):
        if zeros.count(0) > 0.7 * len(zeros) and letters.count(0) == 0:
            return encoding
    raise InputError(f"{name} {NO_TABLE}")


def can_decode(sample: bytes, encoding: str) -> bool:
    """Whether the bytes are text in the encoding, but for a cut at the end."""
    try:
        codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return False
    return True


def decode_start(name: str, sample: bytes, encoding: str, is_whole: bool) -> str:
    """Decode the sample, and refuse what is no text."""
    text = codecs.getincrementaldecoder(encoding)().decode(sample, is_whole)
    if len(CONTROLS.findall(text)) > len(text) / 1000:
        raise InputError(f"{name} {NO_TABLE}")
    return text
