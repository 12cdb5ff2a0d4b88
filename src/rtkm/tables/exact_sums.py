"""Sums of numbers without rounding, so that neither order nor parts matter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MANTISSA = 53  # bits
HALF = 27  # of them: sums of so many halves as there are in a block are exact
LEAST = 1073  # numbers are whole multiples of 2 ** -(LEAST + MANTISSA)
N_EXPONENTS = LEAST + 1025
BLOCK = 2**24  # numbers
LARGEST = 2**1024


@dataclass(frozen=True)
class ExactSum:
    """A sum of numbers as a whole number of the smallest unit.

    Attributes
    ----------
    units : int
        The sum.
    n : int
        How many numbers it is of.
    is_finite : bool
        Whether all of them were.
    """

    units: int = 0
    n: int = 0
    is_finite: bool = True

    @classmethod
    def of(cls, values: Floats) -> ExactSum:
        """Return the sum of some numbers.

        Examples
        --------
        >>> ExactSum.of(np.array([1e100, 1.0, -1e100])).mean() * 3
        1.0
        """
        if not np.isfinite(values).all():
            return cls(0, len(values), False)
        blocks = (values[i : i + BLOCK] for i in range(0, len(values), BLOCK))
        return cls(sum(map(units_of, blocks)), len(values))

    def and_of(self, more: ExactSum) -> ExactSum:
        """Return the sum of these numbers and of more."""
        return ExactSum(
            self.units + more.units, self.n + more.n, self.is_finite and more.is_finite
        )

    def mean(self) -> float:
        """Return the mean, correctly rounded; infinite if a number or the sum is."""
        unit = 1 << (LEAST + MANTISSA)
        # numbers whose sum is none are too large to compute with
        if not self.is_finite or abs(self.units) >= LARGEST * unit:
            return np.inf
        # the quotient of whole numbers is rounded once
        return self.units / (self.n * unit)


def units_of(values: Floats) -> int:
    """Return the sum of finite numbers in the smallest unit."""
    mantissas, exponents = np.frexp(values)
    wholes = (mantissas * 2.0**MANTISSA).astype(np.int64)
    places = exponents + LEAST
    high = np.bincount(places, wholes >> HALF, N_EXPONENTS)
    low = np.bincount(places, wholes & (2**HALF - 1), N_EXPONENTS)
    some = np.flatnonzero((high != 0) | (low != 0)).tolist()
    return sum(((int(high[i]) << HALF) + int(low[i])) << i for i in some)
