"""Whether a group of rows is like rows drawn at random, in one column.

Of a category, the test is Fisher's exact one, that is the hypergeometric distribution;
of dates and numbers, the rank-sum test of Wilcoxon, Mann and Whitney, once of the
values and once of how far their ranks are from the middle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rtkm.report.table_results import Floats, Places
from rtkm.tables.coding import NO_CODE

Counts: TypeAlias = NDArray[np.intp]


def count(codes: Counts, n_codes: int) -> Counts:
    """Count codes; the last place is of those that are missing."""
    return np.roll(np.bincount(codes + 1, minlength=n_codes), -1)


def count_chances(counts: Counts, sizes: Counts, totals: Counts, n_rows: int) -> Floats:
    """Return p-values of counts, of groups in lines, where they are drawn at random.

    Both sides count: it is twice the smaller one of the two tails.
    """
    sizes = sizes[:, None]
    above = upper_tail(counts, sizes, totals, n_rows)
    below = upper_tail(sizes - counts, sizes, n_rows - totals, n_rows)
    return np.minimum(1.0, 2.0 * np.minimum(above, below))


def upper_tail(counts: Counts, sizes: Counts, totals: Counts, n_rows: int) -> Floats:
    """Return the chance of so many or more, of `totals` in `sizes` of all rows.

    The hypergeometric distribution is log-concave, so its terms fall at least as fast
    as a geometric series that begins with the first two; its sum, which is returned, is
    no less than the chance, and near it where it is small, for tables of any size.
    """
    left = n_rows - totals - sizes + counts
    chances = np.exp(
        log_choices(totals, counts)
        + log_choices(n_rows - totals, sizes - counts)
        - log_choices(n_rows, sizes)
    )
    ratio = (totals - counts) * (sizes - counts) / ((counts + 1) * (left + 1.0))
    falls = ratio < 1
    return np.where(falls, chances / np.where(falls, 1 - ratio, 1), 1.0)


def log_choices(n: Counts | int, k: Counts) -> Floats:
    """Return the logarithm of the number of ways to choose k of n."""
    n = np.asarray(n, float)
    logs: Floats = (
        special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    )
    return logs


def rank_sums(codes: Counts, groups: Sequence[Places]) -> tuple[Floats, Floats]:
    """Return how often rows of groups are larger than others, and p-values of that.

    The normal distribution stands for that of the sum of ranks; as the tails of the
    sum are lighter, it errs on the side of chance.
    """
    there, ranks = codes != NO_CODE, np.append(mid_ranks(codes), 0.0)
    ties = np.bincount(codes[there]).astype(float)
    n = ties.sum()
    sizes = np.array([there[rows].sum() for rows in groups], float)
    sums = np.array([ranks[codes[rows]].sum() for rows in groups])
    pairs = sizes * (n - sizes)
    has_pairs = pairs > 0
    pairs[~has_pairs] = 1.0
    larger = np.where(has_pairs, (sums - sizes * (sizes + 1) / 2) / pairs, 0.5)
    tied = (ties**3 - ties).sum() / (n * max(n - 1, 1))
    error = np.sqrt(np.maximum(n + 1 - tied, 1) / (12 * pairs))
    beyond = np.maximum(np.abs(larger - 0.5) - 0.5 / pairs, 0)
    return larger, 2 * special.ndtr(-beyond / error)


def mid_ranks(codes: Counts) -> Floats:
    """Return the mean rank of the rows of each code."""
    ties = np.bincount(codes[codes != NO_CODE])
    ranks: Floats = np.cumsum(ties) - (ties - 1) / 2
    return ranks


def from_middle(codes: Counts) -> Counts:
    """Return codes that are larger the farther ranks are from the middle one."""
    ranks = mid_ranks(codes)
    middle = ((codes != NO_CODE).sum() + 1) / 2
    new = np.unique(np.abs(ranks - middle), return_inverse=True)[1]
    return np.append(new, NO_CODE)[codes]
