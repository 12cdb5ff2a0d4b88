"""Prepared rows on the disk: cells are read and made numbers once, not in each pass."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rtkm.tables.messages import InputError
from rtkm.tables.scratch import Scratch
from rtkm.tables.stream_preparation import PreparedStream

NUMBER_BYTES = 8


@dataclass(frozen=True)
class StoredPartition:
    """Rows of a matrix in a scratch file, which any process of this machine can load.

    Attributes
    ----------
    path : Path
        The file.
    place : int
        The byte at which the rows begin.
    n_rows, n_columns : int
        How many there are.
    """

    path: Path
    place: int
    n_rows: int
    n_columns: int

    def load(self) -> NDArray[np.float64]:
        """Return the matrix, of shape (n_rows, n_columns)."""
        n_numbers = self.n_rows * self.n_columns
        try:
            X = np.fromfile(self.path, np.float64, n_numbers, offset=self.place)
        except OSError as error:
            raise self.lost(error.strerror or str(error)) from None
        if len(X) < n_numbers:
            raise self.lost("it is shorter than it was")
        return X.reshape(self.n_rows, self.n_columns)

    def lost(self, reason: str) -> InputError:
        """Return what is said of a file that is not as it was."""
        return InputError(
            f"the scratch file {self.path} cannot be read again ({reason}); run again, "
            "and let nothing remove it meanwhile."
        )


def store(prepared: PreparedStream) -> PreparedStream:
    """Write the rows of a table in parts to a scratch file, part by part.

    Parameters
    ----------
    prepared : PreparedStream
        The rows.

    Returns
    -------
    PreparedStream
        The same with parts that are loaded from the file, which goes with it.
    """
    n_columns = len(prepared.preparation.columns)
    scratch, place, parts = Scratch("the numbers of the table"), 0, []
    for part in prepared.partitions:
        X = part.load()
        with scratch.told_as_full():
            scratch.stream.write(X.data)
            scratch.stream.flush()
        parts.append(StoredPartition(scratch.path, place, len(X), n_columns))
        place += X.size * NUMBER_BYTES
    return replace(prepared, partitions=tuple(parts), scratch=scratch)
