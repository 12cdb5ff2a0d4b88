"""A bar while a table is read, on a terminal and if it takes long."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm

BAR_AFTER = 1.0  # seconds


@contextmanager
def progress(
    what: str, total: int | None, unit: str, *, is_quiet: bool = False
) -> Iterator[Callable[[int], None]]:
    """Show a bar; yields what is to be told how much is done by now."""
    with tqdm(
        desc=what,
        total=total,
        unit=unit,
        unit_scale=True,
        delay=BAR_AFTER,
        leave=False,
        file=sys.stderr,
        disable=is_quiet or not sys.stderr.isatty(),
        dynamic_ncols=True,
    ) as bar:

        def show(n_done: int) -> None:
            most = n_done if total is None else min(n_done, total)
            bar.update(max(most - bar.n, 0))

        yield show
