"""From bytes to text."""

from __future__ import annotations

import codecs
import re

from rtkm.cli.messages import InputError

BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
SINGLE_BYTE = "cp1252"  # Latin-1, and what Windows puts in its gaps
# five bytes that mean nothing in cp1252 are letters or controls in its relatives
LAST_RESORT = "latin-1"
CONTROLS = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")


def find_encoding(name: str, sample: bytes) -> str:
    """Find the encoding; bytes that are no text at all are refused."""
    for mark, encoding in BYTE_ORDER_MARKS:
        if sample.startswith(mark):
            return encoding
    if b"\x00" in sample:
        return find_wide_encoding(name, sample)
    if can_decode(sample, "utf-8"):
        return "utf-8"
    return SINGLE_BYTE if can_decode(sample, SINGLE_BYTE) else LAST_RESORT


def find_wide_encoding(name: str, sample: bytes) -> str:
    """Recognize UTF-16 without a mark: every other byte of plain text is zero."""
    for encoding, zeros, letters in (
        ("utf-16-le", sample[1::2], sample[::2]),
        ("utf-16-be", sample[::2], sample[1::2]),
    ):
        if zeros.count(0) > 0.7 * len(zeros) and letters.count(0) == 0:
            return encoding
    raise InputError(f"{name} is not a table; expected text, Parquet, Arrow or .npy.")


def can_decode(sample: bytes, encoding: str) -> bool:
    """Whether the bytes are text in the encoding, but for a cut at the end."""
    try:
        codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return False
    return True


def decode_start(name: str, sample: bytes, encoding: str, is_whole: bool) -> str:
    """Decode the sample, and refuse what is no text."""
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(sample, is_whole)
    except LookupError:
        raise InputError(
            f"--encoding {encoding!r} is not known; expected utf-8, utf-16, cp1252 or "
            "another that Python knows."
        ) from None
    except UnicodeError:
        raise InputError(
            f"{name} is not written in {encoding}; leave out --encoding to have it "
            "found."
        ) from None
    if len(CONTROLS.findall(text)) > len(text) / 1000:
        raise InputError(
            f"{name} is not a table; expected text, Parquet, Arrow or .npy."
        )
    return text
