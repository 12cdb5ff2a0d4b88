"""How far out rows of a cluster may lie: tails, and which rows are beyond them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

# shares of the inner rows between whose scores the tail is measured
LOW, MIDDLE, HIGH = 0.4, 0.5, 0.9
# degrees of freedom that are looked at
DEGREES = np.geomspace(0.05, 2e4, 160)
# of the heavy tail: from heavier than a Cauchy's to one that nobody tells from none
NUS = np.geomspace(0.5, 1e4, 64)
# variance of the logarithm of the degrees of freedom found in n rows, times n
LOG_DEGREES_VARIANCE = 12.0


class Tail(NamedTuple):
    """A distribution of scores: `scale` times chi-square, or F where `nu` is finite.

    Both are over their degrees of freedom, so that their mean is about 1.
    """

    degrees: float
    nu: float
    scale: float

    def beyond(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the chance of a row to score as much or more."""
        x = np.asarray(scores, np.float64) / self.scale
        if np.isinf(self.nu):
            return special.gammaincc(self.degrees / 2, x * (self.degrees / 2))
        return special.fdtrc(self.degrees, self.nu, x)

    def score_at(self, chance: float) -> float:
        """Return the score that a row exceeds with the given chance."""
        if np.isinf(self.nu):
            a = self.degrees / 2
            return self.scale * float(special.gammainccinv(a, chance)) / a
        # by symmetry of F, as 1 - chance has lost the digits of a small chance
        # SciPy 1.13 has 0 for the smallest; no row is as far out as that
        inverse = float(special.fdtri(self.nu, self.degrees, chance)) or 1e-150
        return self.scale / inverse


class Inner(NamedTuple):
    """What the tail is fitted to: three quantiles of the inner scores, all positive."""

    low: float
    middle: float
    high: float
    dimension: float  # effective dimension of the clusters
    mass: float


def fit_light(inner: Inner) -> Tail:
    """Fit chi-square with free degrees of freedom.

    Their logarithm is shrunk to that of the dimension, which they are for Gaussian
    clusters, but only as far as chance explains the difference: few rows tell little
    about their tail.
    """
    # the more degrees, the less spread
    spread = np.log(inner.high / inner.low)
    found = np.interp(-spread, -chi_square_spreads(), np.log(DEGREES))
    gaussian = np.log(np.clip(inner.dimension, DEGREES[0], DEGREES[-1]))
    squared = (found - gaussian) ** 2
    by_chance = LOG_DEGREES_VARIANCE / inner.mass
    trust = squared / (squared + by_chance)
    degrees = float(np.exp(gaussian + trust * (found - gaussian)))
    return Tail(degrees, np.inf, inner.middle / chi_square_quantile(MIDDLE, degrees))


def fit_heavy(inner: Inner) -> Tail:
    """Fit F(dimension, nu) where the scores spread more than chi-square's, else light.

    It is what squared distances are where rows have a multivariate t distribution.
    """
    spread = np.log(inner.high / inner.low)
    spreads = f_spreads(inner.dimension)
    if spread <= spreads[-1]:
        return fit_light(inner)
    nu = float(np.exp(np.interp(-spread, -spreads, np.log(NUS))))
    middle = float(special.fdtri(inner.dimension, nu, MIDDLE))
    return Tail(inner.dimension, nu, inner.middle / middle)


@cache
def chi_square_spreads() -> NDArray[np.float64]:
    """Return the logarithm of high over low, for all degrees of freedom."""
    a = DEGREES / 2
    return np.log(special.gammaincinv(a, HIGH) / special.gammaincinv(a, LOW))


@lru_cache(maxsize=8)
def f_spreads(dimension: float) -> NDArray[np.float64]:
    """Return the logarithm of high over low, for all heavy tails of a dimension."""
    highs, lows = (special.fdtri(dimension, NUS, q) for q in (HIGH, LOW))
    spreads: NDArray[np.float64] = np.log(highs / lows)
    return spreads


def chi_square_quantile(share: float, degrees: float) -> float:
    """Return a quantile of chi-square over its degrees of freedom."""
    return float(special.gammaincinv(degrees / 2, share)) / (degrees / 2)


def benjamini_hochberg(
    p: NDArray[np.float64],
    weight_of: Callable[[NDArray[np.bool_]], float],
    total: float,
    level: float,
    counts: NDArray[np.bool_] | bool = True,
) -> float:
    """Return the largest p-value that is flagged, or -1 if none is.

    It is the largest p that is at most `level` times the share of rows with p-values no
    larger; of the flagged rows a share of at most `level` is then expected to be false
    (Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate", Journal of the
    Royal Statistical Society B 57 (1995), 289-300). P-values above the level may be
    given as infinite; `weight_of` says what some rows weigh, of a `total`, and
    `counts` which weigh anything.
    """
    limit = level
    while True:
        # none above can be flagged, as no more rows than those up to the limit pass it
        limit = float(p.max(initial=-1.0, where=counts & (p <= limit)))
        allowed = level * weight_of(p <= limit) / total
        if limit <= allowed:
            return limit
        limit = allowed


def mixture_cutoff(
    tail: Tail,
    scales: NDArray[np.float64],
    masses: NDArray[np.float64],
    chance: float,
) -> float:
    """Return the squared distance that a row of any cluster exceeds with the chance.

    Scores are squared distances over the `scales` of the clusters, which have `masses`.
    Scores below it are those of inliers among new rows; it is 0 where all scales are.
    """
    counts = (scales > 0) & (masses > 0)
    if not counts.any():
        return 0.0
    scales, shares = scales[counts], masses[counts] / masses[counts].sum()
    score, widest = tail.score_at(chance), float(scales.max())
    scales = scales / widest

    def excess(cutoff: float) -> float:
        return float(shares @ tail.beyond(cutoff * score / scales)) - chance

    low, high = float(scales.min()), 1.0
    # at clusters of one width rounding alone decides about the sign
    if low == high or not excess(low) > 0 > excess(high):
        return widest * score
    found: float = optimize.brentq(excess, low, high, xtol=1e-300, rtol=1e-14)
    return found * widest * score
