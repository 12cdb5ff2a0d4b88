"""Categories in reasons: what a row has in words, and which other one it would need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtkm._number_text import percent
from rtkm.tables.fitted_preparation import Preparation

Floats = NDArray[np.float64]

UNSEEN = "(none of the model's)"
WHOLE = 1 - 1e-9  # a share that has lost no more than digits to scaling


class CategoryChanges(NamedTuple):
    """The smallest change of a category for each of some rows.

    `source` is the column, or -1 where no other category makes the row an inlier;
    `size` is how far the row moves, in units of the matrix.
    """

    source: NDArray[np.intp]
    place: NDArray[np.intp]
    size: Floats
    cluster: NDArray[np.int32]

    def only(self, some: NDArray[np.bool_]) -> CategoryChanges:
        """Return the changes of some of the rows."""
        return CategoryChanges(
            self.source[some], self.place[some], self.size[some], self.cluster[some]
        )


def blocks_of(preparation: Preparation) -> Iterator[tuple[int, slice, tuple[str, ...]]]:
    """Return the place, the features and the categories of each such column."""
    first = preparation.n_numbers
    for j, values in enumerate(preparation.categories.values()):
        start = int(preparation.starts[first + j])
        yield first + j, slice(start, start + len(values)), values


def as_cells(values: Floats, preparation: Preparation) -> NDArray[Any]:
    """Return rows or centers with one cell a column, and categories in words.

    A center has the share of its most frequent category beside it.
    """
    if not preparation.categories:
        return values
    cells = values[:, preparation.starts].astype(object)
    for source, features, names in blocks_of(preparation):
        shares = values[:, features]
        most = shares.argmax(axis=1)
        cells[:, source] = [
            in_words(names[place], share)
            for place, share in zip(most, shares.max(axis=1), strict=True)
        ]
    return cells


def in_words(name: str, share: float) -> str:
    """Return a category, with its share if it is not that of all."""
    if share <= 0:
        return UNSEEN
    return name if share >= WHOLE else f"{name} ({percent(share)})"


def category_changes(
    model: Any, preparation: Preparation, rows: Floats
) -> CategoryChanges:
    """Try all other categories of rows, one column at a time.

    Of those as far away, the most frequent one counts.
    """
    n = len(rows)
    best = CategoryChanges(
        source=np.full(n, -1),
        place=np.full(n, -1),
        size=np.full(n, np.inf),
        cluster=np.full(n, -1, np.int32),
    )
    spread = np.array(preparation.spread)
    for source, features, names in blocks_of(preparation):
        for place in range(len(names)):
            new = rows.copy()
            new[:, features] = 0.0
            j = features.start + place
            new[:, j] = 1 / spread[j]
            size = np.sqrt(np.square(new - rows).sum(axis=1))
            cluster = model.predict(new)
            better = (cluster >= 0) & (size > 0) & (size < best.size)
            best.source[better], best.place[better] = source, place
            best.size[better], best.cluster[better] = size[better], cluster[better]
    return best
