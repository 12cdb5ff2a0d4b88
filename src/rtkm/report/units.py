"""Columns that have come in other units: inches for millimeters, °F for °C."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rtkm.report.prediction_findings import UnitChange
from rtkm.tables.fitted_preparation import Preparation
from rtkm.tables.reference import Reference

Floats = NDArray[np.float64]

# the least difference between distributions, as Kolmogorov and Smirnov measure it,
# that is worth a word: a tenth of the rows lies elsewhere
LEAST_DISTANCE = 0.1
# values this many times as large, or as small, may be in other units: a mile has 1.6 km
LEAST_FACTOR = 1.5
REJECTED = 0.05  # p-value from which on values do not have a distribution
ROUNDING = 1e-9  # of converted values, relative to the largest quantile

# units that differ by their zero point, which a factor alone cannot find
CONVERSIONS: tuple[UnitChange, ...] = (
    {"conversion": "°C to °F", "factor": 1.8, "offset": 32.0},
    {"conversion": "°F to °C", "factor": 1 / 1.8, "offset": -32 / 1.8},
    {"conversion": "°C to K", "factor": 1.0, "offset": 273.15},
    {"conversion": "K to °C", "factor": 1.0, "offset": -273.15},
)


class Distribution(NamedTuple):
    """Shares of n values below, and at most at, each of some of their quantiles."""

    n: int
    quantiles: Floats
    below: Floats
    up_to: Floats

    @classmethod
    def of_training(cls, reference: Reference, j: int) -> Distribution:
        """Return that of a column, in units of the matrix."""
        n = int(reference.n_values[j])
        below, up_to = reference.below[j] / n, reference.up_to[j] / n
        return cls(n, reference.quantiles[j], below, up_to)

    def distance(self, values: Floats, rounding: float = 0.0) -> float:
        """Return the largest difference of a share from that of other, sorted values.

        It is what Kolmogorov and Smirnov measure, at the quantiles alone.
        """
        now_below = np.searchsorted(values, self.quantiles - rounding, "left")
        now_up_to = np.searchsorted(values, self.quantiles + rounding, "right")
        gaps = (
            now_below / len(values) - self.below,
            now_up_to / len(values) - self.up_to,
        )
        return float(np.abs(gaps).max())

    def p_value(self, distance: float, n: int) -> float:
        """Return the chance of such a distance from n values of the same distribution.

        It is an upper bound: there are fewer places to differ at than Kolmogorov's
        distribution allows for.
        """
        return float(special.kolmogorov(distance * np.sqrt(self.n * n / (self.n + n))))

    @property
    def share_of_ones(self) -> float:
        """Return the share of rows in a category, of which other rows have a 0."""
        is_zero = self.quantiles[0] == 0
        return float(1 - (self.up_to if is_zero else self.below)[0])

    def quantile(self, share: float) -> float:
        """Return a quantile, as near as those that are kept come."""
        return float(self.quantiles[np.abs(self.up_to - share).argmin()])


def find_units(
    preparation: Preparation, j: int, then: Distribution, now: Floats
) -> UnitChange | None:
    """Return the change of units that explains how a column has changed, if one does.

    Values of `then` and the sorted ones of `now` are in units of the matrix.
    """
    old = then._replace(quantiles=preparation.in_data_units(then.quantiles, j))
    new = preparation.in_data_units(now, j)
    for units in CONVERSIONS:
        if explains(units, old, new):
            return units
    factor = common_factor(old, new)
    if not 1 / LEAST_FACTOR < factor < LEAST_FACTOR:
        scaled: UnitChange = {"conversion": None, "factor": factor, "offset": 0.0}
        # a column may have moved as a whole, which is no change of units
        moved = np.median(new) - old.quantile(0.5)
        shift: UnitChange = {"conversion": None, "factor": 1.0, "offset": float(moved)}
        if explains(scaled, old, new) and not explains(shift, old, new):
            return scaled
    return None


def common_factor(old: Distribution, new: Floats) -> float:
    """Return what quantiles were multiplied by, if all were: a median of the ratios.

    Those of large quantiles count for more. It is 1 where there is none to tell.
    """
    places = np.minimum((old.up_to * len(new)).astype(int), len(new) - 1)
    weights = np.abs(old.quantiles)
    used = weights > 0
    if not used.any():
        return 1.0
    ratios = new[places][used] / old.quantiles[used]
    order = np.argsort(ratios)
    heavier = np.cumsum(weights[used][order])
    factor = float(ratios[order][np.searchsorted(heavier, heavier[-1] / 2)])
    return factor if np.isfinite(factor) and factor > 0 else 1.0


def explains(units: UnitChange, old: Distribution, new: Floats) -> bool:
    """Whether new values, put back into the units of old, are distributed as they."""
    rounding = ROUNDING * float(np.abs(old.quantiles).max())
    distance = old.distance((new - units["offset"]) / units["factor"], rounding)
    return distance < LEAST_DISTANCE or old.p_value(distance, len(new)) > REJECTED
