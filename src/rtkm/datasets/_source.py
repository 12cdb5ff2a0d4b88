"""What a table must be: its files, its shape and its content."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float64]


@dataclass(frozen=True)
class Source:
    """One of the paper's tables: where it may come from, and how to know it."""

    name: str
    files: tuple[str, ...]  # joined in this order
    n_rows: int
    n_features: int
    n_labels: int
    sha256: str
    labels_sha256: str
    openml_id: int
    # copies differ in whether the training or the test rows come first; this row of
    # such a copy is the first of ours
    other_start: int


def fingerprint(array: NDArray[np.generic]) -> str:
    """Hash the numbers: sha256 of C-ordered little-endian float64."""
    return hashlib.sha256(np.asarray(array, dtype="<f8").tobytes()).hexdigest()


def check_rows(source: Source, X: Rows, labels: Rows, origin: str) -> None:
    """Refuse a table that is not the paper's."""
    if len(X) != source.n_rows:
        raise ValueError(
            f"{origin} has {len(X)} rows; expected the {source.n_rows} of "
            f"{source.name}."
        )
    for what, array, wanted in (
        ("features", X, source.sha256),
        ("labels", labels, source.labels_sha256),
    ):
        check_content(array, wanted, f"the {what} of {source.name}", origin)


def check_content(
    array: NDArray[np.generic], wanted: str, what: str, origin: str
) -> None:
    """Refuse other numbers than those with the hash wanted."""
    found = fingerprint(array)
    if found != wanted:
        raise ValueError(
            f"{origin} has content of sha256 {found}; expected {wanted}, {what}."
        )
