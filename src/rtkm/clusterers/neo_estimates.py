"""How much overlap and how many outliers to ask NEO-k-means for."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from rtkm.clusterers._lloyd import best_lloyd
from rtkm.core.params import (
    Count,
    Flag,
    Number,
    RandomState,
    Rule,
    check_value,
    is_name,
)
from rtkm.core.table import one_hot
from rtkm.core.validation import check_row_count, make_table
from rtkm.seeding import SEEDINGS

Strategy = Annotated[
    Literal["radius", "share"], Rule("'radius' or 'share'", is_name("radius", "share"))
]


class NEOParameters(NamedTuple):
    """What to give to :class:`rtkm.NEOKMeans`."""

    overlap: float
    contamination: float


def estimate_neo_parameters(
    X: ArrayLike,
    n_clusters: int = 8,
    *,
    strategy: Literal["radius", "share"] = "radius",
    overlap_deviations: float = 1.0,
    outlier_deviations: float = 6.0,
    as_published: bool = False,
    n_init: int = 10,
    max_iter: int = 300,
    random_state: Any = None,
) -> NEOParameters:
    r"""Suggest ``overlap`` and ``contamination`` for :class:`NEOKMeans` from k-means.

    Outliers are rows farther from their center than the mean distance plus
    ``outlier_deviations`` standard deviations. Overlaps are counted by one of the two
    strategies of [1]_:

    - ``"radius"``: a row also belongs to a cluster if it is no farther from its center
      than the mean distance of that cluster's own rows plus ``overlap_deviations``
      standard deviations;
    - ``"share"``: it does if its distance is less than a share 1 / (k + 1) of the sum
      of its distances from all k centers.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_samples, n_features)
        The rows.
    n_clusters : int, default=8
        Number of clusters.
    strategy : {"radius", "share"}, default="radius"
        How overlaps are counted.
    overlap_deviations : float, default=1.0
        For ``"radius"`` (delta for alpha in [1]_): from -1, hardly any overlap, to 3.5.
    outlier_deviations : float, default=6.0
        The larger, the fewer outliers (delta for beta in [1]_); 3 is the alternative.
    as_published : bool, default=False
        For ``"share"``, count a row's own cluster too, as the published program does:
        then well separated clusters give an overlap of 1, every row in two.
    n_init, max_iter, random_state : shared
        As in :class:`sklearn.cluster.KMeans`.

    Returns
    -------
    NEOParameters
        A named tuple of ``overlap`` (memberships per row beyond the first) and
        ``contamination`` (a share of the rows).

    See Also
    --------
    NEOKMeans : What the values are for.

    References
    ----------
    .. [1] J. J. Whang, I. S. Dhillon, D. F. Gleich, "Non-exhaustive, overlapping
       k-means", SDM 2015, 936-944.

    Examples
    --------
    >>> from rtkm import NEOKMeans, estimate_neo_parameters
    >>> X = [[0.0], [2.0], [4.0], [6.0], [8.0], [10.0]]
    >>> found = estimate_neo_parameters(X, 2, overlap_deviations=2.5, random_state=0)
    >>> round(found.overlap, 3), found.contamination
    (0.333, 0.0)
    >>> model = NEOKMeans(2, **found._asdict(), random_state=0).fit(X)
    >>> model.assignments_.sum(axis=1)
    array([1, 1, 2, 2, 1, 1])
    """
    for name, value, rule in (
        ("n_clusters", n_clusters, Count),
        ("strategy", strategy, Strategy),
        ("overlap_deviations", overlap_deviations, Number),
        ("outlier_deviations", outlier_deviations, Number),
        ("as_published", as_published, Flag),
        ("n_init", n_init, Count),
        ("max_iter", max_iter, Count),
        ("random_state", random_state, RandomState),
    ):
        check_value(name, value, rule, "estimate_neo_parameters")
    table = make_table(X)
    check_row_count(table, n_clusters)
    rng = check_random_state(random_state)
    seeds = (SEEDINGS["k-means++"](table, n_clusters, 0, rng) for _ in range(n_init))
    C = best_lloyd(table.X, seeds, max_iter).cluster_centers_
    d = np.sqrt(table.squared_distances(np.ascontiguousarray(C, dtype=table.dtype)))
    if strategy == "radius":
        overlap = overlap_by_radius(d, overlap_deviations)
    else:
        overlap = overlap_by_share(d, as_published)
    return NEOParameters(overlap, outlier_share(d, outlier_deviations))


def outlier_share(d: NDArray[Any], deviations: float) -> float:
    """Return the share of rows much farther from their center than the others."""
    own = d.min(axis=1)
    return float((own > own.mean() + deviations * deviation(own)).mean())


def overlap_by_radius(d: NDArray[Any], deviations: float) -> float:
    """Count the rows of other clusters within the radius of each cluster, per row."""
    member = one_hot(d.argmin(axis=1), d.shape[1])
    n_within = 0
    for own, distances in zip(member.T, d.T, strict=True):
        if own.any():
            radius = distances[own].mean() + deviations * deviation(distances[own])
            n_within += int((distances[~own] <= radius).sum())
    return n_within / len(d)


def overlap_by_share(d: NDArray[Any], as_published: bool) -> float:
    """Count the clusters of which a row is nearer than a small share, per row."""
    n_near = int((d * (d.shape[1] + 1) < d.sum(axis=1, keepdims=True)).sum())
    return n_near / len(d) if as_published else max(0.0, n_near / len(d) - 1)


def deviation(values: NDArray[Any]) -> float:
    """Return the sample standard deviation, 0 for a single value."""
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0
