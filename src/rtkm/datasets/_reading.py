"""Strict readers of the file formats the tables come in."""

from __future__ import annotations

import re
from io import BytesIO
from math import isfinite
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rtkm.datasets._source import Rows, Source, check_rows

DATA = re.compile(r"@data$", re.I)
# the name, perhaps in quotes, and the kind
ATTRIBUTE = re.compile(
    r"""@attribute\s+(?:'[^']*'|"[^"]*"|[^\s{]+)\s*(?:\s(?:numeric|real|integer)$|({).*}$)""",
    re.I,
)


def read_files(source: Source, files: list[Path]) -> tuple[Rows, Rows]:
    """Read a table from the files it is published in, and check it."""
    parts = [split_columns(source, _text(file), str(file)) for file in files]
    X, labels = (np.concatenate(blocks) for blocks in zip(*parts, strict=True))
    check_rows(source, X, labels, " and ".join(map(str, files)))
    return X, labels


def split_columns(source: Source, text: str, origin: str) -> tuple[Rows, Rows]:
    """Parse a file into features and labels, as many of each as wanted."""
    if text.lstrip().startswith(("@", "%")):
        values, is_label = _arff(text, origin)
    else:
        n_columns = source.n_features + source.n_labels
        values = _numbers(
            list(enumerate(text.splitlines(), 1)), n_columns, None, origin
        )
        is_label = np.arange(n_columns) >= source.n_features
    found = (int((~is_label).sum()), int(is_label.sum()))
    if found != (source.n_features, source.n_labels):
        raise ValueError(
            f"{origin} has {found[0]} features and {found[1]} labels; expected the "
            f"{source.n_features} and {source.n_labels} of {source.name}."
        )
    return values[:, ~is_label].copy("C"), values[:, is_label].copy("C")


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{file} is not text; expected a table of numbers.") from None


def _arff(text: str, origin: str) -> tuple[Rows, NDArray[np.bool_]]:
    """Read numbers and which columns are labels: those that list their values."""
    lines = [(i, line.strip()) for i, line in enumerate(text.splitlines(), 1)]
    lines = [(i, line) for i, line in lines if line and not line.startswith("%")]
    start = next((at for at, (_, line) in enumerate(lines) if DATA.match(line)), None)
    if start is None:
        raise ValueError(f"{origin} has no line @data; expected a whole ARFF file.")
    is_label = []
    for number, line in lines[:start]:
        attribute = ATTRIBUTE.match(line)
        if attribute:
            is_label.append(attribute[1] == "{")
        elif not line.lower().startswith("@relation"):
            raise ValueError(
                f"{origin} is damaged: line {number} is {_short(line)}; expected an "
                "attribute that is numeric or lists its values."
            )
    # OpenML writes labels as words
    rows = [(i, line.replace("FALSE", "0").replace("TRUE", "1")) for i, line in lines]
    values = _numbers(rows[start + 1 :], len(is_label), ",", origin)
    return values, np.array(is_label)


def _numbers(
    lines: list[tuple[int, str]], n_columns: int, delimiter: str | None, origin: str
) -> Rows:
    """Parse numbered lines of numbers; blank ones do not count."""
    rows = [(number, line) for number, line in lines if line.strip()]
    if not rows:
        raise ValueError(f"{origin} has no rows; expected a table of numbers.")
    try:
        values = np.loadtxt(
            [line for _, line in rows], delimiter=delimiter, comments=None, ndmin=2
        )
        if values.shape[1] == n_columns and np.isfinite(values).all():
            return values
    except ValueError:
        pass
    raise ValueError(_damage(rows, n_columns, delimiter, origin))


def _damage(
    rows: list[tuple[int, str]], n_columns: int, delimiter: str | None, origin: str
) -> str:
    """Name the first line that is not a row of finite numbers."""
    for number, line in rows:
        cells = line.split(delimiter)
        if len(cells) != n_columns:
            return (
                f"{origin} is damaged: line {number} has {len(cells)} values; expected "
                f"{n_columns}."
            )
        for cell in cells:
            if not _is_number(cell):
                return (
                    f"{origin} is damaged: line {number} holds {_short(cell)}; "
                    "expected a number."
                )
    return f"{origin} is damaged; expected {n_columns} numbers on each line."


def _is_number(cell: str) -> bool:
    try:
        return isfinite(float(cell))
    except ValueError:
        return False


def _short(text: str) -> str:
    return repr(text if len(text) <= 20 else text[:20] + "...")


def read_array(file: Path, shape: tuple[int, ...]) -> Rows:
    """Read an array that NumPy saved; one that needs unpickling is refused."""
    content = file.read_bytes()
    try:
        array = np.lib.format.read_array(BytesIO(content), allow_pickle=False)
        array = np.asarray(array, dtype=np.float64)
    except Exception as error:  # headers can be damaged in many ways
        raise ValueError(
            f"{file} is damaged; expected an array of shape {shape} in NumPy's format."
        ) from error
    if array.shape != shape:
        raise ValueError(f"{file} has shape {array.shape}; expected {shape}.")
    return array
