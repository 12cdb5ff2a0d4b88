"""pyarrow, which reads and writes all tables of the command line."""

from __future__ import annotations

from typing import Any

from rtkm._optional import import_optional


class Later:
    """A module that is imported when it is first asked for something.

    Commands without a table do without pyarrow.
    """

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, attribute: str) -> Any:
        module = import_optional(self.__name__, needed_by="reading tables")
        value = getattr(module, attribute)
        setattr(self, attribute, value)
        return value


pa: Any = Later("pyarrow")
pc: Any = Later("pyarrow.compute")
pa_csv: Any = Later("pyarrow.csv")
pa_parquet: Any = Later("pyarrow.parquet")
