"""The steps of `rtkm fit` that tables in memory and in parts have in common."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rtkm.choosing.choice import Choice
from rtkm.cli.flags import SEED, in_flags, typed_fields
from rtkm.cli.terminal import Terminal
from rtkm.table_model import TableModel
from rtkm.tables.fitted_preparation import Prepared
from rtkm.tables.messages import InputError
from rtkm.tables.prepared_parts import PreparedParts


def unchosen(given: dict[str, Any], method: type) -> dict[str, Any]:
    """Seed a method, and return the parameters that need not be chosen first."""
    if any(field.name == "random_state" for field in typed_fields(method)):
        given.setdefault("random_state", SEED)
    chosen = "n_clusters", getattr(method, "_outliers_by", "contamination")
    return {name: value for name, value in given.items() if name not in chosen}


def fit(
    model: TableModel,
    prepared: Prepared | PreparedParts,
    terminal: Terminal,
    choice: Choice | None,
) -> list[str]:
    """Fit a model, with a bar where it takes long, and return what was warned of."""
    estimator, method = model.estimator, type(model.estimator)
    with (
        warnings.catch_warnings(record=True) as caught,
        terminal.progress("fitting") as on_step,
    ):
        warnings.simplefilter("always")
        if on_step and hasattr(estimator, "on_step"):
            estimator.set_params(on_step=on_step)
        try:
            model.fit_prepared(prepared, choice)
        except ValueError as error:
            raise InputError(in_flags(str(error), method)) from None
    if hasattr(estimator, "on_step"):  # a model in a file has none
        estimator.set_params(on_step=None)
        model.estimator_.set_params(on_step=None)
    texts = dict.fromkeys(str(warning.message) for warning in caught)
    told_with_choice = choice.warnings if choice else ()
    return [in_flags(text, method) for text in texts if text not in told_with_choice]


class Stopwatch:
    """Seconds that parts of the work take."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def timing(self, part: str) -> Iterator[None]:
        """Time a part."""
        start = time.perf_counter()
        yield
        self.seconds[part] = round(time.perf_counter() - start, 4)
