"""How a table begins, and which of its columns are no features."""

from __future__ import annotations

from typing import Any

from rtkm.report.findings import FirstRows
from rtkm.tables.columns import text_of
from rtkm.tables.fitted_preparation import Preparation
from rtkm.tables.identifiers import as_chosen
from rtkm.tables.select import KIND_NAMES
from rtkm.tables.sheet import AnyTable

N_ROWS = 5
MOST_COLUMNS = 40
HOLDS = {
    **KIND_NAMES,
    "number": "numbers",
    "truth": "true or false",
    "empty": "nothing",
}


def first_rows(sheet: AnyTable, preparation: Preparation) -> FirstRows:
    """Return the first rows of a table, as text."""
    shown = sheet.names[:MOST_COLUMNS]
    columns = [first_cells(sheet.cells(name), sheet.n_rows) for name in shown]
    features = set(preparation.sources)
    return {
        "columns": list(shown),
        "rows": [list(row) for row in zip(*columns, strict=True)],
        "left_out": [
            {"column": name, "holds": HOLDS[as_chosen(sheet.look(name)).kind]}
            for name in sheet.names
            if name not in features
        ],
    }


def first_cells(cells: Any, n_rows: int) -> list[str | None]:
    """Return the first cells of a column as text, None where there is nothing."""
    by_place = getattr(cells, "iloc", cells)  # pandas goes by its index
    return [text_of(by_place[row]) for row in range(min(N_ROWS, n_rows))]
