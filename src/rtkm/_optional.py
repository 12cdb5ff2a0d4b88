"""Packages that only some answers need."""

from __future__ import annotations

from typing import Any


def import_pandas(needed_by: str) -> Any:
    """Return pandas, or say how to get it."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            f'{needed_by} needs pandas; pip install "rtkm[cli]".'
        ) from error
    return pandas
