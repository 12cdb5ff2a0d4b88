"""Trimmed cost by number of clusters and share of outliers: the ctl-curves."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from tqdm import tqdm

from rtkm.choosing.clusters import ROWS_PER_CELL, SAMPLE_ROWS, more_centers
from rtkm.choosing.fits import trimmed_fit
from rtkm.choosing.samples import sample
from rtkm.choosing.steps import centers_for, numbers_of
from rtkm.core.params import (
    Count,
    Counts,
    RandomState,
    Rule,
    Share,
    check_value,
    is_number,
    whole_rows,
)
from rtkm.core.states import TrimmedState
from rtkm.core.table import Table
from rtkm.core.validation import check_row_count, make_table

SHARES = tuple(hundredths / 100 for hundredths in range(0, 31, 2))
# seconds after which a person wants to see that something happens
PATIENCE = 1.0

Shares = Annotated[
    Collection[float],
    Rule(
        "one or more of these",
        lambda v: (
            isinstance(v, Collection | np.ndarray)
            and not isinstance(v, str)
            and np.ndim(v) > 0
            and np.size(list(v)) > 0
            and all(is_number(share) and 0 <= share < 1 for share in v)
        ),
    ),
]


@dataclass(frozen=True, eq=False, kw_only=True)
class Curves:
    """The trimmed cost of a table by number of clusters and share of outliers.

    :func:`rtkm.curves` returns it; every parameter is an attribute, too.

    Parameters
    ----------
    n_clusters : tuple of int
        The numbers of clusters, from few to many.
    contamination : tuple of float
        The shares of outliers, from few to many.
    costs : ndarray of shape (len(n_clusters), len(contamination))
        The sum of the squared distances of the rows that are kept to their centers. It
        rises neither with the number of clusters nor with the share.

    Attributes
    ----------
    table : tuple of dict
        The same, one line for each number and share: ``n_clusters``,
        ``contamination`` and ``cost``.

    Examples
    --------
    >>> from rtkm import curves
    >>> found = curves([[0.0], [1.0], [5.0], [6.0], [90.0]], [1, 2], [0.0, 0.2])
    >>> found.costs.tolist()
    [[6081.2, 26.0], [26.0, 1.0]]
    >>> found.table[-1]
    {'n_clusters': 2, 'contamination': 0.2, 'cost': 1.0}
    """

    n_clusters: tuple[int, ...]
    contamination: tuple[float, ...]
    costs: NDArray[np.float64]

    @property
    def table(self) -> tuple[dict[str, Any], ...]:
        """One line for each number of clusters and share of outliers.

        Examples
        --------
        >>> from rtkm import curves
        >>> found = curves([[0.0], [1.0], [5.0], [6.0], [90.0]], [1, 2], [0.0, 0.2])
        >>> found.table[0]
        {'n_clusters': 1, 'contamination': 0.0, 'cost': 6081.2}
        """
        return tuple(
            {"n_clusters": k, "contamination": share, "cost": float(cost)}
            for k, costs in zip(self.n_clusters, self.costs, strict=True)
            for share, cost in zip(self.contamination, costs, strict=True)
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw a line for each number of clusters, see :func:`rtkm.plot.curves`.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        Examples
        --------
        >>> from rtkm import curves
        >>> found = curves([[0.0], [1.0], [5.0], [6.0], [90.0]], [1, 2], [0.0, 0.2])
        >>> len(found.plot().lines)
        2
        """
        from rtkm.plot import curves

        return curves(self, ax)


def curves(
    X: ArrayLike,
    n_clusters: Any = range(1, 9),
    contamination: Any = SHARES,
    *,
    sample_weight: ArrayLike | None = None,
    random_state: Any = None,
) -> Curves:
    """Return the trimmed cost for numbers of clusters and shares of outliers.

    Drawn as a line for each number of clusters, these are the ctl-curves of tclust
    [1]_. A number of clusters is enough where the line of the next one lies hardly
    lower, and a share of outliers where the lines stop falling steeply: from there on
    rows are trimmed that are like the rest. :func:`rtkm.choose` decides by other
    means; the curves let a person see for themselves.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_samples, n_features)
        The rows.
    n_clusters : int or several ints, default=range(1, 9)
        The numbers of clusters.
    contamination : float in [0, 1) or several, default=(0.0, 0.02, ..., 0.3)
        The shares of outliers, each rounded half up to whole rows.
    sample_weight : array-like of shape (n_samples,), default=None
        A row of weight 2 counts as that row twice.
    random_state : int, RandomState or None, default=None
        Makes the curves reproducible.

    Returns
    -------
    Curves
        The costs, as an array and as a table.

    Notes
    -----
    Costs are those of trimmed k-means. Each fit starts from the centers of its two
    neighbors, those for the share before and, with more centers drawn, those for the
    number before, and the lower end is kept; so lines neither rise nor cross.
    No swaps are tried as in a fit: a cost may be a few percent above the least one,
    mostly where there are fewer centers than clusters.

    At most 4000 rows are used, or 20 for each of the most clusters if these are more.
    Of a larger table they are drawn at random, and their costs scaled to the total
    weight of the table, so that they are comparable to ``objective_`` of a fit. A bar
    shows the progress where it takes more than a second and stderr is a terminal.

    References
    ----------
    .. [1] L. A. García-Escudero, A. Gordaliza, C. Matrán, A. Mayo-Iscar, "Exploring
       the number of groups in robust model-based clustering", Statistics and Computing
       21 (2011), 585-599.

    Examples
    --------
    >>> import numpy as np
    >>> from rtkm import curves
    >>> rng = np.random.RandomState(0)
    >>> X = np.concatenate([rng.normal(c, 1, (95, 2)) for c in (0, 20)])
    >>> X = np.concatenate([X, rng.uniform(-300, 300, (10, 2))])
    >>> found = curves(X, [1, 2, 3], [0, 0.05, 0.1], random_state=0)
    >>> bool(found.costs[1, 1] < found.costs[1, 0] / 100)  # the share of outliers
    True
    >>> bool(found.costs[1, 1] < found.costs[0, 1] / 100)  # the second cluster
    True
    """
    check_value("n_clusters", n_clusters, Count | Counts, "curves")
    check_value("contamination", contamination, Share | Shares, "curves")
    check_value("random_state", random_state, RandomState, "curves")
    return curves_for(
        make_table(X, sample_weight),
        numbers_of(n_clusters),
        np.ravel(list(contamination) if np.iterable(contamination) else contamination),
        check_random_state(random_state),
        progress=True,
    )


def curves_for(
    X: Table,
    numbers: Sequence[int],
    shares: Sequence[float] | NDArray[np.float64],
    rng: np.random.RandomState,
    *,
    progress: bool = False,
) -> Curves:
    """Return the curves of a table, for numbers and shares that have been checked."""
    numbers = sorted(set(numbers))
    shares = sorted({float(share) for share in shares})
    n_trimmed = [whole_rows(share, X.mass) for share in shares]
    check_row_count(X, numbers[-1], n_trimmed[-1], f"contamination={shares[-1]!r}")
    Z = sample(X, max(SAMPLE_ROWS, ROWS_PER_CELL * numbers[-1]), rng)
    scale = X.mass / Z.mass
    fits = each_fit(Z, numbers, [number / scale for number in n_trimmed], rng)
    with tqdm(
        fits,
        total=len(numbers) * len(shares),
        disable=None if progress else True,
        delay=PATIENCE,
        unit="fit",
    ) as bar:
        objectives = np.array([state.objective for state in bar])
    costs = scale * objectives.reshape(len(numbers), len(shares))
    for axis in 0, 1:  # descents never rise, but for rounding
        costs = np.minimum.accumulate(costs, axis=axis)
    return Curves(n_clusters=tuple(numbers), contamination=tuple(shares), costs=costs)


def each_fit(
    Z: Table,
    numbers: Sequence[int],
    n_trimmed: Sequence[float],
    rng: np.random.RandomState,
) -> Iterator[TrimmedState]:
    """Yield the fits for each number of clusters, and within these for each share."""
    fewer: list[TrimmedState] = []
    for k in numbers:
        states: list[TrimmedState] = []
        for j, trimmed in enumerate(n_trimmed):
            starts = [state.C for state in states[-1:]]
            if fewer:
                new = more_centers(Z, fewer[j], k - len(fewer[j].C), rng)
                starts.append(np.concatenate([fewer[j].C, *new]))
            elif not starts:
                starts.append(centers_for(Z, k, trimmed / Z.mass, rng))
            ends = [trimmed_fit(Z, C, trimmed) for C in starts]
            # of equal costs the first
            states.append(min(ends, key=lambda state: state.objective))
            yield states[-1]
        fewer = states
