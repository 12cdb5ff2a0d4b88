"""Categories as features of a preparation: how they are scaled, and what they fill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rtkm.tables.categories import (
    Categories,
    feature_names,
    note_on_categories,
    shares_of,
    spread_of,
)
from rtkm.tables.fitted_preparation import Preparation
from rtkm.tables.messages import InputError, shown
from rtkm.tables.missing import medians
from rtkm.tables.scaling import Values, robust_spread

Floats = NDArray[np.float64]


def usual_cells(
    X: Floats, categories: Categories, weights: Floats | None
) -> tuple[float, ...]:
    """Return the median of each column of numbers, the most frequent category."""
    n_numbers = X.shape[1] - len(categories.names)
    modes = [
        float(np.argmax(known_shares(X[:, n_numbers + j], len(values), weights)))
        for j, values in enumerate(categories.values)
    ]
    return (*medians(X[:, :n_numbers], weights), *modes)


def with_categories(
    numbers: Preparation,
    found: Categories,
    X: Floats,
    fill: tuple[float, ...],
    weights: Floats | None,
) -> tuple[Preparation, list[str]]:
    """Add an indicator for each category, and say so.

    The indicators of a column are divided by one number, so that their variances sum to
    that of a column of numbers: to 1 where numbers are scaled, else to the mean over
    the columns of numbers, by the width of their middle nine tenths.
    """
    n = X.shape[1] - len(found.names)
    unit = mean_spread(X[:, :n], numbers, weights)
    shares = [
        known_shares(X[:, n + j], len(some), weights)
        for j, some in enumerate(found.values)
    ]
    values = dict(zip(found.names, found.values, strict=True))
    return with_indicators(numbers, values, shares, unit, fill[n:])


def with_indicators(
    numbers: Preparation,
    values: dict[str, tuple[str, ...]],
    shares: Sequence[Floats],
    unit: float,
    modes: Sequence[float],
) -> tuple[Preparation, list[str]]:
    """Add an indicator for each category, given its share; variances sum to unit².

    What stands for missing cells is an indicator, too.
    """
    names = [name for parts in values.items() for name in feature_names(*parts)]
    refuse_taken(numbers.columns, names)
    spreads = [[spread_of(of_all, unit)] * len(of_all) for of_all in shares]
    ones = [
        np.eye(len(some))[int(mode)]
        for some, mode in zip(values.values(), modes, strict=True)
    ]
    zeros = (0.0,) * len(names)
    preparation = replace(
        numbers,
        columns=(*numbers.columns, *names),
        fill=(*numbers.fill, *np.concatenate(ones).tolist()),
        center=(*numbers.center, *zeros),
        spread=(*numbers.spread, *(float(s) for some in spreads for s in some)),
        offset=(*numbers.offset, *zeros),
        categories=values,
    )
    return preparation, note_on_categories(values, shares)


def mean_spread(X: Floats, numbers: Preparation, weights: Floats | None) -> float:
    """Return the root mean square spread of columns of numbers in the matrix."""
    if numbers.scale != "none":
        return 1.0
    X = numbers.scaled(X.copy()) if numbers.log else X
    columns = [Values.of(X[:, j], weights) for j in range(X.shape[1])]
    varied = [c for c in columns if c.values.min() < c.values.max()]
    return root_mean_square(np.array([robust_spread(c, c.median()) for c in varied]))


def root_mean_square(spreads: Floats) -> float:
    """Return the root of the mean of squares; 1 where there is none, or all are 0."""
    # by the largest, as squares of very large or small numbers are none
    largest = spreads.max(initial=0.0)
    return (
        float(largest * np.sqrt(np.mean((spreads / largest) ** 2))) if largest else 1.0
    )


def known_shares(places: Floats, n_values: int, weights: Floats | None) -> Floats:
    """Return the share of each category in the cells that are there."""
    there = ~np.isnan(places)
    counted = None if weights is None else weights[there]
    return shares_of(places[there].astype(np.intp), n_values, counted)


def refuse_taken(columns: Sequence[str], names: Sequence[str]) -> None:
    """Refuse a category whose feature is called like a column or another feature."""
    counts = Counter([*columns, *names])
    taken = [name for name in names if counts[name] > 1]
    if taken:
        raise InputError(
            f"{shown(taken[0])} is the name of a category's feature and of a column or "
            "another category's feature; rename a column."
        )
