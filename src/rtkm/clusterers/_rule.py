"""How a fitted model judges rows, and what it makes of some of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtkm.core.states import DUST, Nearest
from rtkm.core.table import Table
from rtkm.core.threshold import is_outlier

Floats = NDArray[np.float64]


class Chosen(NamedTuple):
    """The set of clusters of each row, (n, k), and what it costs."""

    sets: NDArray[np.bool_]
    costs: Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedRule:
    """The rule for new rows: nearest centers, and a cut between scores.

    A method whose rule differs returns a subclass of its own from ``_rule``. Answers
    are asked of :class:`RowResults`, which holds what several of them need.

    Attributes
    ----------
    centers : ndarray of shape (k, d)
        The fitted centers.
    n_nearest : int
        Nearest centers that make up the cost of a row.
    cut : float
        Rows of a higher outlier score are outliers.
    variance : float
        Variance of a feature in a cluster.
    largest_kept : float
        The largest outlier score of an inlier of the fit.
    """

    centers: NDArray[Any]
    n_nearest: int
    cut: float
    variance: float
    largest_kept: float

    def clusters(self, rows: RowResults) -> NDArray[np.int32]:
        """Return the nearest cluster of each row, of outliers too."""
        return rows.nearest.labels[:, 0]

    def scores(self, rows: RowResults) -> Floats:
        """Return the outlier scores."""
        return rows.nearest.cost

    def costs(self, rows: RowResults) -> Floats:
        """Return what rows would add to the objective."""
        return rows.nearest.cost

    def choose(self, rows: RowResults) -> Chosen:
        """Return the set of clusters of each row, and what it costs."""
        sets = np.zeros((rows.X.n_rows, len(self.centers)), dtype=bool)
        np.put_along_axis(sets, rows.nearest.labels.astype(np.intp), True, axis=1)
        return Chosen(sets, rows.nearest.cost)

    def memberships(self, rows: RowResults) -> Floats:
        """Return the membership weights, (n, k)."""
        return rows.chosen.sets.astype(np.float64)

    def assignments(self, memberships: Floats) -> NDArray[np.bool_]:
        """Return the clusters that membership weights stand for."""
        return memberships > DUST

    def is_outlier(self, scores: Floats) -> NDArray[np.bool_]:
        """Return which scores are those of outliers."""
        return is_outlier(scores, self.cut)

    # Reasons and odds

    def targets(self, rows: RowResults) -> Floats:
        """Return what each row is compared with, (n, d): the mean of its centers."""
        return self.centers.astype(np.float64)[rows.nearest.labels].mean(axis=1)

    def parts(self, rows: RowResults) -> Floats:
        """Return what features add to the squared distance of each row, (n, d)."""
        values, C = rows.dense, self.centers.astype(np.float64)
        return sum(np.square(values - C[labels]) for labels in rows.nearest.labels.T)

    def margins(self, rows: RowResults) -> Floats:
        """Return what the second-best assignment costs rows more than the best."""
        return rows.nearest.spare - rows.nearest.squared[:, -1]

    def second_best(self, rows: RowResults) -> NDArray[np.bool_]:
        """Return the clusters of the second-best assignment of each row, (n, k)."""
        near = rows.X.nearest(self.centers, self.n_nearest + 1).labels.astype(np.intp)
        sets = np.zeros((rows.X.n_rows, len(self.centers)), dtype=bool)
        np.put_along_axis(sets, np.delete(near, self.n_nearest - 1, axis=1), True, 1)
        return sets

    def times_as_far(self, rows: RowResults) -> Floats:
        """Return how many times as far the next center is as the last of a row's own.

        It is NaN where more than two centers decide.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.sqrt(rows.nearest.spare / rows.nearest.squared[:, -1])

    def squared_cutoffs(self) -> Floats:
        """Return the largest squared distance of an inlier, by its nearest cluster."""
        return np.full(len(self.centers), self.cut)

    def variances(self) -> Floats:
        """Return the variance of a feature in each cluster."""
        return np.full(len(self.centers), self.variance)


class RowResults:
    """What a model makes of rows; each answer is computed once, when asked for."""

    def __init__(self, X: Table, rule: FittedRule) -> None:
        self.X, self.rule = X, rule

    @cached_property
    def nearest(self) -> Nearest:
        """The nearest centers of each row."""
        return self.X.nearest(self.rule.centers, self.rule.n_nearest)

    @cached_property
    def squared_distances(self) -> NDArray[Any]:
        """The squared distances to all centers, (n, k)."""
        return self.X.squared_distances(self.rule.centers)

    @cached_property
    def chosen(self) -> Chosen:
        """The set of clusters of each row."""
        return self.rule.choose(self)

    @property
    def dense(self) -> Floats:
        """The rows, with the digits that differences need."""
        return self.X.rows(np.arange(self.X.n_rows)).astype(np.float64)

    @cached_property
    def clusters(self) -> NDArray[np.int32]:
        """The nearest cluster of each row, of outliers too."""
        return self.rule.clusters(self)

    @cached_property
    def scores(self) -> Floats:
        """The outlier scores."""
        return self.rule.scores(self)

    @cached_property
    def costs(self) -> Floats:
        """What rows would add to the objective."""
        return self.rule.costs(self)

    @cached_property
    def outliers(self) -> NDArray[np.bool_]:
        """Whether rows are outliers."""
        return self.rule.is_outlier(self.scores)

    @property
    def labels(self) -> NDArray[np.int32]:
        """The nearest cluster of each row, -1 for outliers."""
        return np.where(self.outliers, np.int32(-1), self.clusters)

    @property
    def memberships(self) -> Floats:
        """The membership weights, (n, k)."""
        return self.rule.memberships(self)

    def made_by(self, function: Callable[[RowResults], Any]) -> Any:
        """Return what a function makes of the answers."""
        return function(self)


class PartitionedResults:
    """What a model makes of rows in partitions: columns, named as in `RowResults`."""

    def __init__(self, X: Any, rule: FittedRule) -> None:
        self.X, self.rule = X, rule

    def __getattr__(self, name: str) -> Any:
        return self.made_by(attrgetter(name))

    def made_by(self, function: Callable[[RowResults], Any]) -> Any:
        """Return what a function makes of the answers."""
        return self.X.each_row(made_of_rows, self.rule, function)


def made_of_rows(
    X: Table, rule: FittedRule, function: Callable[[RowResults], Any]
) -> Any:
    """Return what a function makes of the answers for some rows."""
    return function(RowResults(X, rule))
