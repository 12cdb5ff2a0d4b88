"""What was chosen, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtkm.choosing.sentences import PYTHON, on_clusters, on_outliers, on_small_groups
from rtkm.choosing.tails import Tail, mixture_cutoff
from rtkm.core.columns import rowwise

# rows that are judged at a time
BLOCK = 1 << 16


class SmallGroups(NamedTuple):
    """Groups that count as outliers: rows of each, and where they are."""

    sizes: NDArray[np.float64]
    centers: NDArray[Any]


class FittedTail(NamedTuple):
    """The tail of the squared distances within clusters, for the judgment of new rows.

    A row of cluster j scores its squared distance over ``scales[j]``; the scores are
    distributed as `tail`. `masses` are the rows of the clusters; `chance` is that of an
    inlier to be flagged, `limit` the largest p-value that was, or -1 if none was.
    """

    tail: Tail
    scales: NDArray[np.float64]
    masses: NDArray[np.float64]
    chance: float
    limit: float

    def cutoff(self, chance: float | None = None) -> float:
        """Return the squared distance from which new rows are outliers."""
        wanted = self.chance if chance is None else chance
        return mixture_cutoff(self.tail, self.scales, self.masses, wanted)

    def stand_out(
        self, labels: NDArray[np.int32], costs: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Return which training rows are beyond the tail of their cluster."""
        if self.limit < 0:
            return costs < -np.inf
        # the chance of a far row may be too small for a float
        score = self.tail.score_at(max(self.limit, 1e-300)) * (1 - 1e-9)
        limits = self.scales * score
        result: NDArray[np.bool_] = rowwise(reach, costs, labels, limits=limits)
        return result


def reach(
    costs: NDArray[np.float64],
    labels: NDArray[np.int32],
    *,
    limits: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Return which costs reach the limit of their cluster."""
    beyond = np.empty(len(costs), dtype=bool)
    for first in range(0, len(costs), BLOCK):
        rows = slice(first, first + BLOCK)
        beyond[rows] = costs[rows] >= limits[labels[rows]]
    return beyond


@dataclass(frozen=True, eq=False, kw_only=True)
class Choice:
    """The number of clusters and of outliers of a table, and how sure that is.

    Two groups are two clusters if clearly fewer rows lie between them than around
    either; groups far smaller than the rest count as outliers. Rows farther out than
    the shape of their cluster explains are outliers, cut so that about one flag in
    seven is a false alarm, and none if they look like mere heavy tails.

    :func:`rtkm.choose` returns it; every parameter is an attribute, too.

    Parameters
    ----------
    n_clusters : int
        The number of clusters.
    n_outliers : int
        The number of outliers, in rows.
    n_rows : float
        The total weight of the table.
    init : ndarray of shape (n_clusters, n_features)
        Centers to start a fit from.
    n_separate : int or None
        Number of groups with gaps between them that are large enough for clusters; None
        where the rows are too few to tell. It differs from ``n_clusters`` where that
        was given, or was to be one of certain numbers.
    alternatives : tuple of int
        Other numbers of clusters that could be meant, the likeliest first.
    small_groups : SmallGroups
        ``sizes`` and ``centers`` of groups too small to be clusters.
    heavy_tails : bool
        Whether heavy tails explain the rows that lie far out.
    warnings : tuple of str
        What to know before relying on the choice.
    table : tuple of dict
        For each number of cells tried, in two runs: the groups they make (``n_groups``,
        and at a laxer and a stricter level), their trimmed ``cost``, and their
        ``stability``, the share of rows that two halves of the table give the same
        cell.
    pairs : tuple of dict
        For each pair of clusters, the weakest first: rows ``between`` them and
        ``around`` either, the ``chance`` of so few between were there no gap, and
        whether they are ``apart``; for the weakest a ``histogram`` along the line
        between two of their cells, from beyond one center to beyond the other.
    share_path : tuple of float
        How the share of outliers settled.
    fitted_tail : FittedTail or None
        The tail of distances within clusters; none where they do not spread.
    given : tuple of str
        The parameters that were known, and not chosen.

    Attributes
    ----------
    contamination : float
        The outliers as a share of all rows.
    is_sure : bool
        Whether gaps show this very number of clusters, and no other one could be meant.
    params : dict
        The numbers as parameters of :class:`rtkm.RTKM`.

    Examples
    --------
    >>> import numpy as np
    >>> from rtkm import RTKM, choose
    >>> rng = np.random.RandomState(0)
    >>> X = np.concatenate([rng.normal(0, 1, (99, 2)), rng.normal(9, 1, (99, 2))])
    >>> choice = choose(np.concatenate([X, [[30.0, -30.0], [-40.0, 9.0]]]))
    >>> choice.n_clusters, choice.n_outliers, choice.is_sure
    (2, 2, True)
    >>> RTKM(**choice.params)
    RTKM(contamination=2, n_clusters=2)
    """

    n_clusters: int
    n_outliers: int
    n_rows: float
    init: NDArray[Any]
    n_separate: int | None = None
    alternatives: tuple[int, ...] = ()
    small_groups: SmallGroups
    heavy_tails: bool = False
    warnings: tuple[str, ...] = ()
    table: tuple[dict[str, Any], ...] = field(default=(), repr=False)
    pairs: tuple[dict[str, Any], ...] = field(default=(), repr=False)
    share_path: tuple[float, ...] = ()
    fitted_tail: FittedTail | None = field(default=None, repr=False)
    given: tuple[str, ...] = ()

    @property
    def params(self) -> dict[str, Any]:
        """Parameters of :class:`rtkm.RTKM`, as in ``RTKM(**choice.params)``.

        Examples
        --------
        >>> from rtkm import choose
        >>> from rtkm.datasets import make_outlier_blobs
        >>> X, labels, centers = make_outlier_blobs(200, random_state=0)
        >>> choice = choose(X, random_state=0)
        >>> choice.params
        {'n_clusters': 3, 'contamination': 22}
        """
        return {"n_clusters": self.n_clusters, "contamination": self.n_outliers}

    @property
    def is_sure(self) -> bool:
        """Whether gaps show this number of clusters, and no other could be meant.

        Examples
        --------
        >>> from rtkm import choose
        >>> from rtkm.datasets import make_outlier_blobs
        >>> X, labels, centers = make_outlier_blobs(200, random_state=0)
        >>> choice = choose(X, random_state=0)
        >>> choice.is_sure
        True
        """
        return self.n_clusters == self.n_separate and not self.alternatives

    @property
    def contamination(self) -> float:
        """The outliers as a share of all rows.

        Examples
        --------
        >>> from rtkm import choose
        >>> from rtkm.datasets import make_outlier_blobs
        >>> X, labels, centers = make_outlier_blobs(200, random_state=0)
        >>> choice = choose(X, random_state=0)
        >>> choice.contamination
        0.11
        """
        return self.n_outliers / self.n_rows

    def summary(self) -> str:
        """Return what was chosen, in sentences.

        Returns
        -------
        str
            One finding a line.

        Examples
        --------
        >>> from rtkm import choose
        >>> from rtkm.datasets import make_outlier_blobs
        >>> X, labels, centers = make_outlier_blobs(200, random_state=0)
        >>> choice = choose(X, random_state=0)
        >>> print(choice.summary())
        3 clusters with gaps between them; no other number is likely.
        22 rows (11 %) stand out from the rest.
        """
        lines = [
            *on_clusters(self, PYTHON),
            *on_outliers(self),
            *on_small_groups(self, PYTHON),
        ]
        return "\n".join([*lines, *self.warnings])

    def plot(self) -> Any:
        """Draw what decided, see :mod:`rtkm.plot`.

        Returns
        -------
        matplotlib.figure.Figure
            Groups by number of cells, and rows between the two nearest clusters.

        Examples
        --------
        >>> from rtkm import choose
        >>> from rtkm.datasets import make_outlier_blobs
        >>> X, labels, centers = make_outlier_blobs(200, random_state=0)
        >>> choice = choose(X, random_state=0)
        >>> len(choice.plot().axes)
        2
        """
        from rtkm.plot import choice

        return choice(self)

    def _repr_html_(self) -> str:
        """Return the summary and what was tried, for notebooks."""
        lines = [f"<p>{escape(line)}</p>" for line in self.summary().splitlines()]
        return "".join([*lines, html_table(self.table)])


# what a person reads of each trial, and how it is written
COLUMNS = {
    "n_cells": ("cells", "d"),
    "n_groups": ("groups", "d"),
    "cost": ("trimmed cost", ".4g"),
    "stability": ("stability", ".0%"),
}


def html_table(trials: tuple[dict[str, Any], ...]) -> str:
    """Return the trials as a table, nothing if there are none."""
    if not trials:
        return ""
    head = "".join(f"<th>{name}</th>" for name, _ in COLUMNS.values())
    lines = (
        "".join(f"<td>{trial[key]:{form}}</td>" for key, (_, form) in COLUMNS.items())
        for trial in trials
    )
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
