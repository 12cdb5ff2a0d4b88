"""pyarrow, which reads and writes all tables of the command line."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Later:
    """A module that is imported when it is first asked for something.

    Commands without a table do without pyarrow.
    """

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, attribute: str) -> Any:
        try:
            value = getattr(import_module(self.__name__), attribute)
        except ImportError as error:
            raise ImportError(
                'reading tables needs pyarrow; pip install "rtkm[cli]".'
            ) from error
        setattr(self, attribute, value)
        return value


pa: Any = Later("pyarrow")
pc: Any = Later("pyarrow.compute")
pa_csv: Any = Later("pyarrow.csv")
pa_parquet: Any = Later("pyarrow.parquet")
