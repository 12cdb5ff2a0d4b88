"""A file of JSON and arrays, in the safetensors format, with a checksum at its end.

The length of the header in 8 bytes, little-endian; the header, which is JSON; the bytes
of the arrays, one after the other, little-endian and row by row. The header says of
each array its type, its shape and where it begins and ends, counted from the end of the
header; our own JSON is a text in it, ``__metadata__.rtkm``. The last array, ``sha256``,
is the SHA-256 of all bytes before it.

Nothing here is compressed and nothing can run, so a file takes memory in proportion to
its bytes, whatever it claims.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]

TYPES = {"F64": "<f8", "I64": "<i8", "F32": "<f4", "BOOL": "|b1", "U8": "|u1"}
MOST_HEADER_BYTES = 2**24
# no file of ours begins otherwise
OPENING = '{"__metadata__":{"rtkm":"'
CHECKSUM = "sha256"
CHECKSUM_BYTES = 32


def pack(metadata: dict[str, Any], arrays: Arrays) -> bytes:
    """Return the file."""
    code = {np.dtype(name): key for key, name in TYPES.items()}
    # the widest first, so that each begins at a multiple of its own width
    names = sorted(arrays, key=lambda name: -arrays[name].dtype.itemsize)
    header: dict[str, Any] = {"__metadata__": {"rtkm": dump(metadata)}}
    end = 0
    for name in names:
        array = arrays[name]
        begin, end = end, end + array.nbytes
        header[name] = entry(code[array.dtype], array.shape, begin, end)
    header[CHECKSUM] = entry("U8", (CHECKSUM_BYTES,), end, end + CHECKSUM_BYTES)
    text = dump(header).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > MOST_HEADER_BYTES:
        raise ValueError(
            f"names and extra take {len(text)} bytes; expected at most "
            f"{MOST_HEADER_BYTES}, so shorten them."
        )
    parts = [len(text).to_bytes(8, "little"), text]
    parts += [
        arrays[name].astype(TYPES[header[name]["dtype"]]).tobytes() for name in names
    ]
    content = b"".join(parts)
    return content + hashlib.sha256(content).digest()


def entry(dtype: str, shape: tuple[int, ...], begin: int, end: int) -> dict[str, Any]:
    """Return what the header says of an array."""
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


def dump(value: Any) -> str:
    """Write JSON without spaces."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def header_length(start: bytes | bytearray, size: int) -> int:
    """Return how long the header is, from the first bytes of a file of some size."""
    length = int.from_bytes(start[:8], "little")
    is_ours = start[8 : 8 + len(OPENING)] == OPENING.encode()
    if not is_ours or length > MOST_HEADER_BYTES:
        raise ValueError(
            "it does not begin as a model; expected what save or rtkm fit --model "
            "wrote."
        )
    if length > size - 8 - CHECKSUM_BYTES:
        raise ValueError("it is cut short; save again.")
    return length


def unpack(content: bytes | bytearray) -> tuple[dict[str, Any], Arrays]:
    """Return the JSON and the arrays of a file, or say what is wrong with it.

    The arrays share the memory of the content, so that it is not needed twice.
    """
    length = header_length(content, len(content))
    whole = memoryview(content)
    if hashlib.sha256(whole[:-CHECKSUM_BYTES]).digest() != whole[-CHECKSUM_BYTES:]:
        raise ValueError(
            "its checksum does not match, so it is damaged or cut short; save again."
        )
    header = parse(bytes(whole[8 : 8 + length]))
    metadata = header.pop("__metadata__")  # the opening has shown that it is there
    if len(metadata) > 1:
        raise ValueError("it has a second description.")
    return parse(metadata["rtkm"]), read_arrays(header, whole[8 + length :])


def read_arrays(header: dict[str, Any], data: memoryview) -> Arrays:
    """Return the arrays, which follow each other without a gap, but the checksum."""
    arrays: Arrays = {}
    begin = 0
    for name, place in header.items():
        dtype, shape, end = check_entry(name, place, begin, len(data))
        flat = np.frombuffer(data[begin:end], dtype)
        if dtype == np.bool_ and flat.view(np.uint8).max() > 1:
            raise ValueError(f"array {name!r} holds flags that are neither 0 nor 1.")
        # in the order of bytes of this machine, and where it can read them at once:
        # those of our own files are
        native = flat.reshape(shape).astype(dtype.newbyteorder("="), copy=False)
        arrays[name] = np.require(native, requirements="A")
        begin = end
    if begin != len(data) or list(header)[-1:] != [CHECKSUM]:
        raise ValueError("its arrays do not end with the checksum.")
    del arrays[CHECKSUM]
    return arrays


def check_entry(
    name: str, place: Any, begin: int, n_bytes: int
) -> tuple[np.dtype[Any], list[int], int]:
    """Return type, shape and end of an array; all that it claims must fit the file."""
    if not isinstance(place, dict) or place.keys() != entry("", (), 0, 0).keys():
        raise ValueError(f"array {name!r} is not described as it should be.")
    code, shape, offsets = place["dtype"], place["shape"], place["data_offsets"]
    if not (isinstance(code, str) and code in TYPES):
        raise ValueError(f"array {name!r} has an unknown type.")
    if not (is_whole(shape) and len(shape) in (1, 2) and min(shape) >= 1):
        raise ValueError(f"array {name!r} has no shape of one or two positive sides.")
    dtype = np.dtype(TYPES[code])
    end = begin + math.prod(shape) * dtype.itemsize
    if not (is_whole(offsets) and offsets == [begin, end] and end <= n_bytes):
        raise ValueError(f"array {name!r} does not fit the file.")
    return dtype, shape, end


def is_whole(values: Any) -> bool:
    """Whether the value is a list of whole numbers, none a bool."""
    return isinstance(values, list) and all(type(v) is int for v in values)


# JSON of unknown origin


def parse(text: str | bytes) -> dict[str, Any]:
    """Read a JSON object; one that a program may misread is refused."""
    try:
        value = json.loads(
            text,
            object_pairs_hook=without_repetition,
            parse_int=whole_number,
            parse_float=finite_number,
            parse_constant=refuse_constant,
        )
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError("its description is not JSON.") from error
    if not isinstance(value, dict):
        raise ValueError("its description is not a JSON object.")
    return value


def without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs as a dictionary, in which each name has but one meaning."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name comes twice in its description.")
    return found


def whole_number(text: str) -> int:
    """Return a whole number that 64 bits hold."""
    if len(text) > 20 or not -(2**63) <= int(text) < 2**63:
        raise ValueError(f"{text[:20]}... is too large a number.")
    return int(text)


def finite_number(text: str) -> float:
    """Return a number that a float holds."""
    if not math.isfinite(float(text)):
        raise ValueError(f"{text[:20]} is too large a number.")
    return float(text)


def refuse_constant(text: str) -> NoReturn:
    """Refuse NaN and Infinity, which are not JSON."""
    raise ValueError(f"{text} is not a number.")
