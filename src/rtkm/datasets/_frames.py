"""A table in the form the caller asks for: Bunch or tuple, arrays or frames."""

from __future__ import annotations

from typing import Any

from sklearn.utils import Bunch

from rtkm._optional import import_optional


def hand_over(
    table: Bunch, columns: str | list[str], return_X_y: bool, as_frame: bool
) -> Bunch | tuple[Any, Any]:
    """Return the Bunch or `(data, target)`; frames name the target by `columns`."""
    if as_frame:
        pd = import_optional("pandas", needed_by="as_frame=True")
        table.data = pd.DataFrame(table.data, columns=table.feature_names)
        if isinstance(columns, str):
            table.target = pd.Series(table.target, name=columns)
            table.frame = table.data.assign(**{columns: table.target})
        else:
            table.target = pd.DataFrame(table.target, columns=columns)
            table.frame = pd.concat([table.data, table.target], axis=1)
    return (table.data, table.target) if return_X_y else table
