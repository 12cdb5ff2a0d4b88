"""How sure the answers of a fitted clusterer are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtkm.clusterers._rule import Floats, RowResults

CONFIDENCES = np.array(["core", "border", "doubtful", "outlier"])
CORE, BORDER, DOUBTFUL, OUTLIER = range(4)

# odds, as logarithms: those of another label that make the label doubtful, as in
# tclust, and those of a row at the cut that put an inlier on the border
DOUBTFUL_ODDS = float(np.log(1 / 10))
BORDER_ODDS = float(np.log(1 / 2))


class Confidence(NamedTuple):
    """The odds against labels, and how sure they are as places in CONFIDENCES."""

    factors: Floats
    ranks: NDArray[np.int8]


def confidence_of(rows: RowResults) -> Confidence:
    """Return how sure the labels of rows are."""
    rule, clusters, outliers = rows.rule, rows.clusters, rows.outliers
    beyond = rows.nearest.cost - rule.squared_cutoffs()[clusters]
    ahead = np.where(outliers, beyond, rule.margins(rows))
    unit = 2 * rule.variances()[clusters]
    # by rounding, or where sets are not searched through, another may be better
    factors = 0.0 - ratio(np.maximum(ahead, 0.0), unit)
    ranks = np.where(outliers, OUTLIER, CORE).astype(np.int8)
    near_the_cut = ratio(beyond, unit) > BORDER_ODDS
    # on its center a row is in the core, even if nothing else is an inlier
    near_the_cut &= rows.nearest.cost > 0
    is_new = rows.scores > rule.largest_kept
    ranks[~outliers & (near_the_cut | is_new)] = BORDER
    ranks[factors > DOUBTFUL_ODDS] = DOUBTFUL
    return Confidence(factors, ranks)


def ratio(differences: Floats, units: Floats) -> Floats:
    """Divide; without a unit no difference is small, but for none at all."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotients = differences / units
    return np.where(differences == 0, 0.0, quotients)
