"""Starting centers: robust k-means++ and k-means||, k-means++, random rows and ROBIN.

Each function takes a table and returns ``n_clusters`` of its rows. Draws run along the
lexicographic order of the rows, by inverse distribution function on the weights: the
same rows are drawn when the table is shuffled, shifted or scaled, or when a weight of
two is written as two equal rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.neighbors import LocalOutlierFactor
from sklearn.utils import check_random_state

from rtkm.core.params import (
    Count,
    OutlierRows,
    Positive,
    Rule,
    check_value,
    whole_rows,
)
from rtkm.core.table import Table
from rtkm.core.validation import check_row_count, column_spans, make_table

__all__ = [
    "k_means_plus_plus",
    "random_rows",
    "robin",
    "robust_k_means_parallel",
    "robust_k_means_plus_plus",
]

# draws for each center among the candidates of k-means||, which are so few that it
# takes little time: the seeds cost about a twentieth less than with 2 + log(k) draws
TRIALS_AMONG_CANDIDATES = 20


def robust_k_means_plus_plus(
    X: ArrayLike,
    n_clusters: int,
    *,
    n_outliers: float = 0.1,
    sample_weight: ArrayLike | None = None,
    random_state: Any = None,
    n_local_trials: int | None = None,
) -> NDArray[Any]:
    r"""Draw starting centers that outliers can hardly catch.

    The first center is a random row; each further one is drawn with probability
    proportional to :math:`\min(D^2, \tau)`, the squared distance to the centers chosen
    so far, capped at the value :math:`\tau` that all but ``n_outliers`` rows stay
    below. Of several draws the one that leaves the least capped cost is taken. Plain
    k-means++ would take a far outlier almost surely. This is T-k-means++ [1]_ with the
    cap found anew in each round, and greedy draws as in scikit-learn's k-means++.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_samples, n_features)
        The rows.
    n_clusters : int
        How many centers to draw.
    n_outliers : int or float, default=0.1
        Rows expected to be outliers: a number of rows, or a share in [0, 1).
    sample_weight : array-like of shape (n_samples,), default=None
        A row of weight 2 counts as that row twice.
    random_state : int, RandomState or None, default=None
        Where the randomness comes from.
    n_local_trials : int or None, default=None
        Draws for each center; None makes ``2 + int(log(n_clusters))``, and 1 is
        T-k-means++ itself.

    Returns
    -------
    ndarray of shape (n_clusters, n_features)
        Rows of X.

    References
    ----------
    .. [1] A. Bhaskara, S. Vadgama, H. Xu, "Greedy sampling for approximate clustering
       in the presence of outliers", NeurIPS 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from rtkm.seeding import robust_k_means_plus_plus
    >>> X = np.r_[0:20.0, 100:120.0, 1e6][:, None]
    >>> robust_k_means_plus_plus(X, 2, n_outliers=1, random_state=0)
    array([[102.],
           [ 11.]])
    """
    check_value("n_clusters", n_clusters, Count, "robust_k_means_plus_plus")
    check_value("n_outliers", n_outliers, OutlierRows, "robust_k_means_plus_plus")
    if n_local_trials is not None:
        check_value("n_local_trials", n_local_trials, Count, "robust_k_means_plus_plus")
    table = make_table(X, sample_weight)
    n_trimmed = whole_rows(n_outliers, table.mass)
    check_row_count(table, n_clusters, n_trimmed, f"n_outliers={n_outliers!r}")
    rng = check_random_state(random_state)
    return draw_far_rows(table, n_clusters, n_trimmed, rng, n_local_trials)


def robust_k_means_parallel(
    X: ArrayLike,
    n_clusters: int,
    *,
    n_outliers: float = 0.1,
    sample_weight: ArrayLike | None = None,
    random_state: Any = None,
    n_rounds: int = 5,
    oversampling: float = 2.0,
) -> NDArray[Any]:
    r"""Draw starting centers from candidates, which are drawn many at a time.

    For many clusters, and for tables that are read from elsewhere:
    :func:`robust_k_means_plus_plus` goes through the rows once for every center, this
    once for every round. Each round draws ``oversampling * n_clusters`` candidates at
    once, with probability proportional to :math:`\min(D^2, \tau)` as there, the cap
    found anew in each round. Then every row counts for its nearest candidate, and
    robust k-means++ among the candidates, by these weights, chooses the centers. This
    is k-means|| [1]_ with capped costs.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_samples, n_features)
        The rows.
    n_clusters : int
        How many centers to draw.
    n_outliers : int or float, default=0.1
        Rows expected to be outliers: a number of rows, or a share in [0, 1).
    sample_weight : array-like of shape (n_samples,), default=None
        A row of weight 2 counts as that row twice.
    random_state : int, RandomState or None, default=None
        Where the randomness comes from.
    n_rounds : int, default=5
        How often candidates are drawn.
    oversampling : float, default=2.0
        Candidates drawn in each round, in multiples of ``n_clusters`` (the paper's l is
        their number).

    Returns
    -------
    ndarray of shape (n_clusters, n_features)
        Rows of X.

    Notes
    -----
    A round draws a fixed number of rows, possibly one twice, where in the paper each
    row is drawn by itself. Where fewer candidates than ``n_clusters`` come out, robust
    k-means++ adds rows of X. Outliers are drawn, too, and rows far from all candidates
    count as well: so the candidates of all outliers weigh no more than ``n_outliers``,
    and robust k-means++ passes over them as over the outliers themselves. Candidates
    are dense, also those of a CSR matrix.

    References
    ----------
    .. [1] B. Bahmani, B. Moseley, A. Vattani, R. Kumar, S. Vassilvitskii, "Scalable
       k-means++", Proceedings of the VLDB Endowment 5 (2012), 622-633.

    Examples
    --------
    >>> import numpy as np
    >>> from rtkm.seeding import robust_k_means_parallel
    >>> X = np.r_[0:20.0, 100:120.0, 1e6][:, None]
    >>> robust_k_means_parallel(X, 2, n_outliers=1, random_state=0)
    array([[113.],
           [ 10.]])
    """
    check_value("n_clusters", n_clusters, Count, "robust_k_means_parallel")
    check_value("n_outliers", n_outliers, OutlierRows, "robust_k_means_parallel")
    check_value("n_rounds", n_rounds, Count, "robust_k_means_parallel")
    check_value("oversampling", oversampling, Positive, "robust_k_means_parallel")
    table = make_table(X, sample_weight)
    n_trimmed = whole_rows(n_outliers, table.mass)
    check_row_count(table, n_clusters, n_trimmed, f"n_outliers={n_outliers!r}")
    rng = check_random_state(random_state)
    return draw_from_candidates(
        table, n_clusters, n_trimmed, rng, n_rounds, oversampling
    )


def k_means_plus_plus(
    X: ArrayLike,
    n_clusters: int,
    *,
    sample_weight: ArrayLike | None = None,
    random_state: Any = None,
) -> NDArray[Any]:
    """Draw starting centers with probability proportional to the squared distance.

    Right for clean data; a single far outlier is drawn almost surely [1]_.

    Parameters
    ----------
    X, n_clusters, sample_weight, random_state : shared
        As in :func:`robust_k_means_plus_plus`.

    Returns
    -------
    ndarray of shape (n_clusters, n_features)
        Rows of X.

    References
    ----------
    .. [1] D. Arthur, S. Vassilvitskii, "k-means++: the advantages of careful seeding",
       SODA 2007, 1027-1035.

    Examples
    --------
    >>> from rtkm.seeding import k_means_plus_plus
    >>> k_means_plus_plus([[0.0], [1.0], [10.0], [11.0]], 2, random_state=0)
    array([[10.],
           [ 1.]])
    """
    check_value("n_clusters", n_clusters, Count, "k_means_plus_plus")
    table = make_table(X, sample_weight)
    check_row_count(table, n_clusters)
    return draw_far_rows(table, n_clusters, 0, check_random_state(random_state), 1)


def random_rows(
    X: ArrayLike,
    n_clusters: int,
    *,
    sample_weight: ArrayLike | None = None,
    random_state: Any = None,
) -> NDArray[Any]:
    """Draw rows uniformly, without replacement.

    Parameters
    ----------
    X, n_clusters, sample_weight, random_state : shared
        As in :func:`robust_k_means_plus_plus`.

    Returns
    -------
    ndarray of shape (n_clusters, n_features)
        Rows of X.

    Examples
    --------
    >>> from rtkm.seeding import random_rows
    >>> random_rows([[0.0], [1.0], [10.0], [11.0]], 2, random_state=0)
    array([[10.],
           [11.]])
    """
    check_value("n_clusters", n_clusters, Count, "random_rows")
    table = make_table(X, sample_weight)
    check_row_count(table, n_clusters)
    return draw_rows(table, n_clusters, 0, check_random_state(random_state))


def robin(
    X: ArrayLike,
    n_clusters: int,
    *,
    n_neighbors: int = 10,
) -> NDArray[Any]:
    """Take far-apart rows from dense places; the same ones every time.

    Rows are visited by falling distance to the data mean, later to the seeds chosen so
    far, and the first whose local outlier factor is within 0.05 of 1 becomes the next
    seed [1]_; failing that the first with a factor below 1.05, failing that the row of
    smallest factor. Needs no random numbers, but neighbors of every row.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_samples, n_features)
        The rows.
    n_clusters : int
        How many centers to take.
    n_neighbors : int, default=10
        Neighbors that make up the local outlier factor.

    Returns
    -------
    ndarray of shape (n_clusters, n_features)
        Rows of X.

    References
    ----------
    .. [1] M. Al Hasan, V. Chaoji, S. Salem, M. Zaki, "Robust partitional clustering by
       outlier and density insensitive seeding", Pattern Recognition Letters 30 (2009),
       994-1002.

    Examples
    --------
    >>> import numpy as np
    >>> from rtkm.seeding import robin
    >>> X = np.r_[np.linspace(0, 1, 20), np.linspace(10, 11, 20), 100.0][:, None]
    >>> robin(X, 2).ravel().round(1)
    array([ 0.3, 10.7])
    """
    check_value("n_clusters", n_clusters, Count, "robin")
    check_value("n_neighbors", n_neighbors, Count, "robin")
    table = make_table(X)
    check_row_count(table, n_clusters)
    return take_dense_rows(table, n_clusters, n_neighbors)


def draw_far_rows(
    X: Table,
    n_clusters: int,
    n_outliers: float,
    rng: np.random.RandomState,
    n_local_trials: int | None = None,
    first: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Draw by squared distance, capped so that `n_outliers` rows gain nothing by it.

    Of several draws the one that leaves the least capped cost is taken. The first
    centers may be given.
    """
    if n_local_trials is None:  # as many as in scikit-learn
        n_local_trials = 2 + int(np.log(n_clusters))
    if first is None:
        cost = X.full(np.inf)
        centers = [X.rows(X.draw(rng))]
    else:
        cost = X.nearest(first, 1).cost
        centers = [*first[:, None]]
    while len(centers) < n_clusters:
        X.lower(cost, centers[-1])
        cap = X.cut(cost, X.mass - n_outliers).threshold
        rows = X.rows(X.draw(rng, n_local_trials, cost=cost, cap=cap))
        best = 0 if len(rows) == 1 else X.addition_changes(rows, cost, cap).argmin()
        centers.append(rows[best : best + 1])
    return np.concatenate(centers)


def draw_from_candidates(
    X: Table,
    n_clusters: int,
    n_outliers: float,
    rng: np.random.RandomState,
    n_rounds: int = 5,
    oversampling: float = 2.0,
) -> NDArray[Any]:
    """Draw candidates in a few rounds, and centers among them by the rows near each."""
    candidates, labels = draw_candidates(
        X, n_outliers, rng, n_rounds, max(1, round(oversampling * n_clusters))
    )
    masses = X.label_masses(labels, len(candidates))
    few = Table(candidates[masses > 0], masses[masses > 0])
    centers = draw_far_rows(few, n_clusters, n_outliers, rng, TRIALS_AMONG_CANDIDATES)
    # a candidate comes again where there are no others, or the others weigh no more
    # than the outliers: then the table has better rows
    first_alike = Table(centers, None).nearest(centers, 1).labels[:, 0]
    is_new = first_alike == np.arange(n_clusters)
    if is_new.all():
        return centers
    return draw_far_rows(X, n_clusters, n_outliers, rng, first=centers[is_new])


def draw_candidates(
    X: Table,
    n_outliers: float,
    rng: np.random.RandomState,
    n_rounds: int,
    n_draws: int,
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Draw rows as `draw_far_rows` does, many at once.

    Returns them, and the number of the nearest for each row of the table.
    """
    candidates = X.rows(X.draw(rng))
    nearest = X.nearest(candidates, 1)
    labels, cost = nearest.labels[:, 0], nearest.cost
    for _ in range(n_rounds):
        cap = X.cut(cost, X.mass - n_outliers).threshold
        if cap == 0:  # all but the outliers are candidates
            break
        drawn = X.rows(X.draw(rng, n_draws, cost=cost, cap=cap))
        nearest = X.nearest(drawn, 1)
        is_closer = nearest.cost < cost
        labels = np.where(is_closer, nearest.labels[:, 0] + len(candidates), labels)
        cost = np.where(is_closer, nearest.cost, cost)
        candidates = np.concatenate([candidates, drawn])
    return candidates, labels


def draw_rows(
    X: Table, n_clusters: int, n_outliers: float, rng: np.random.RandomState
) -> NDArray[Any]:
    """Draw uniformly; a drawn row loses one of its repetitions."""
    share_left = X.full(1.0)
    numbers = []
    for _ in range(n_clusters):
        row = int(X.draw(rng, cost=share_left)[0])
        weight = 1.0 if X.weights is None else X.weights[row]
        share_left[row] = max(0.0, share_left[row] - 1 / weight)
        numbers.append(row)
    return X.rows(np.array(numbers))


def take_dense_rows(X: Table, n_clusters: int, n_neighbors: int = 10) -> NDArray[Any]:
    """Take seeds as ROBIN does; rows without weight are not looked at."""
    if X.weights is not None and not X.weights.all():
        counts = X.weights > 0
        X = Table(X.X[counts], X.weights[counts])
    factors = local_outlier_factors(X, n_neighbors)
    cost = np.full(X.n_rows, np.inf)
    X.lower(cost, X.mean)
    taken: list[int] = []
    while len(taken) < n_clusters:
        # ties go by the order of the rows, not by where they stand in the table
        farthest_first = X.order[np.argsort(-cost[X.order], kind="stable")]
        farthest_first = farthest_first[~np.isin(farthest_first, taken)]
        ordered = factors[farthest_first]
        wishes = np.abs(ordered - 1) < 0.05, ordered < 1.05, ordered == ordered.min()
        granted = next(rows for rows in wishes if rows.any())
        taken.append(int(farthest_first[granted.argmax()]))
        if len(taken) == 1:
            cost[:] = np.inf
        X.lower(cost, X.rows(np.array(taken[-1:])))
    return X.rows(np.array(taken))


def local_outlier_factors(X: Table, n_neighbors: int) -> NDArray[np.float64]:
    """Return the factors, which do not depend on the units of the table."""
    if X.n_rows == 1:
        return np.ones(1)
    spans = column_spans(X.X)
    varies = spans > 0
    if not varies.any():
        return np.ones(X.n_rows)
    # scikit-learn adds a constant to distances: bring them to the same size first
    scale = X.dtype.type(2.0 ** np.round(np.log2(spans.max())))
    lof = LocalOutlierFactor(n_neighbors=min(n_neighbors, X.n_rows - 1))
    rows = X.X if varies.all() else X.X[:, varies]
    return -lof.fit(rows / scale).negative_outlier_factor_


Seeding = Callable[[Table, int, float, np.random.RandomState], NDArray[Any]]

SEEDINGS: dict[str, Seeding] = {
    "robust-k-means++": draw_far_rows,
    "robust-k-means||": draw_from_candidates,
    "k-means++": lambda X, k, _, rng: draw_far_rows(X, k, 0, rng, 1),
    "random": draw_rows,
    "robin": lambda X, k, *_: take_dense_rows(X, k),
}

Init = Annotated[
    Any,
    Rule(
        f"one of {', '.join(map(repr, SEEDINGS))}, an array of shape (n_clusters, "
        "n_features) or a callable",
        lambda v: (
            v in SEEDINGS if isinstance(v, str) else np.iterable(v) or callable(v)
        ),
    ),
]
