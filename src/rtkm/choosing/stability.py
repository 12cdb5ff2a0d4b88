"""How well clusters come back in fits to half of the rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, sparse
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from tqdm import tqdm

from rtkm._number_text import counted
from rtkm.choosing.curves import PATIENCE
from rtkm.choosing.samples import halves, sample
from rtkm.core.params import Count, RandomState, check_value, is_integer, whole_rows
from rtkm.core.table import Table
from rtkm.core.validation import make_table

# the most rows that halves are drawn from
MOST_ROWS = 20_000
# rows whose clusters are looked up at a time
BLOCK = 1 << 16
# a cluster below this similarity, and a row that keeps its label less often, are unsure
SURE_CLUSTER, SURE_ROW = 0.75, 0.8


@dataclass(frozen=True, eq=False, kw_only=True)
class Stability:
    """How well clusters, labels and outliers came back in fits to half of the rows.

    :func:`rtkm.stability` returns it; every parameter is an attribute, too.

    Parameters
    ----------
    clusters : ndarray of shape (n_clusters,)
        The similarity of each cluster to the most similar one of another fit, mean over
        the fits: rows in both over rows in either, from 0 to 1. Below .6 a cluster is
        hardly there, above .85 it is there for sure [1]_.
    labels : ndarray of shape (n_samples,)
        In what share of the fits the row was in the twin of its cluster, or an outlier
        again. Twins are paired one to one, the most similar in all.
    sides : ndarray of shape (n_samples,)
        In what share of the fits the row was on its side of the cut: an outlier again,
        or an inlier again.
    n_resamples : int
        Number of fits.

    Attributes
    ----------
    unsure_clusters : list of int
        The clusters of a similarity below .75.
    unsure_rows : ndarray of int
        The rows that kept their label in less than 80 % of the fits.

    References
    ----------
    .. [1] C. Hennig, "Cluster-wise assessment of cluster stability", Computational
       Statistics & Data Analysis 52 (2007), 258-271.

    Examples
    --------
    >>> from rtkm import TrimmedKMeans, stability
    >>> X = [[0.0], [1.0], [2.0], [3.0], [50.0], [51.0], [52.0], [53.0]]
    >>> model = TrimmedKMeans(2, contamination=0, random_state=0).fit(X)
    >>> found = stability(model, X, random_state=0)
    >>> found.clusters, found.sides.min()
    (array([1., 1.]), np.float64(1.0))
    >>> print(found.summary())
    In 20 fits to half of the rows all clusters came back (similarity at least 1.00).
    No row changed its label in more than 20% of the fits.
    """

    clusters: NDArray[np.float64]
    labels: NDArray[np.float64]
    sides: NDArray[np.float64]
    n_resamples: int

    @property
    def unsure_clusters(self) -> list[int]:
        """The clusters of a similarity below .75.

        Examples
        --------
        >>> import numpy as np
        >>> from rtkm import TrimmedKMeans, stability
        >>> rng = np.random.RandomState(0)
        >>> X = np.concatenate([rng.normal(c, 1, (100, 2)) for c in (0, 20)])
        >>> model = TrimmedKMeans(3, contamination=0, random_state=0).fit(X)
        >>> found = stability(model, X, random_state=0)  # of one cluster too many
        >>> found.unsure_clusters
        [1, 2]
        """
        return np.flatnonzero(self.clusters < SURE_CLUSTER).tolist()

    @property
    def unsure_rows(self) -> NDArray[np.intp]:
        """The rows that kept their label in less than 80 % of the fits.

        Examples
        --------
        >>> import numpy as np
        >>> from rtkm import TrimmedKMeans, stability
        >>> rng = np.random.RandomState(0)
        >>> X = np.concatenate([rng.normal(c, 1, (100, 2)) for c in (0, 20)])
        >>> model = TrimmedKMeans(3, contamination=0, random_state=0).fit(X)
        >>> found = stability(model, X, random_state=0)  # of one cluster too many
        >>> len(found.unsure_rows) > 20
        True
        """
        return np.flatnonzero(self.labels < SURE_ROW)

    def summary(self) -> str:
        """Return what came back and what did not, in sentences.

        Returns
        -------
        str
            A line on the clusters and one on the rows.

        Examples
        --------
        >>> from rtkm import TrimmedKMeans, stability
        >>> X = [[0.0], [1.0], [2.0], [3.0], [50.0], [51.0], [52.0], [53.0]]
        >>> model = TrimmedKMeans(2, contamination=0, random_state=0).fit(X)
        >>> found = stability(model, X, random_state=0)
        >>> print(found.summary().splitlines()[1])
        No row changed its label in more than 20% of the fits.
        """
        fits = f"In {counted(self.n_resamples, 'fit')} to half of the rows"
        unsure = self.unsure_clusters
        if unsure:
            each = ", ".join(f"{j} ({self.clusters[j]:.2f})" for j in unsure)
            line = f"{fits} these clusters came back in part only (similarity): {each}."
        else:
            least = f"similarity at least {self.clusters.min():.2f}"
            line = f"{fits} all clusters came back ({least})."
        n_rows = len(self.unsure_rows)
        who = counted(n_rows, "row") if n_rows else "No row"
        whose = "their" if n_rows > 1 else "its"
        share = f"more than {1 - SURE_ROW:.0%} of the fits"
        return f"{line}\n{who} changed {whose} label in {share}."


def stability(
    model: Any,
    X: ArrayLike,
    n_resamples: int = 20,
    *,
    sample_weight: ArrayLike | None = None,
    random_state: Any = None,
) -> Stability:
    """Return how well the clusters of a fit come back in fits to half of its rows.

    Each time half of the rows are drawn and a copy of the model is fitted to them, with
    as many clusters and the same share of outliers, or outliers chosen anew where they
    were chosen. All rows then get labels by it, which are held against those of the
    model.

    Parameters
    ----------
    model : clusterer or TableModel
        A fitted model.
    X : array-like or CSR matrix of shape (n_samples, n_features)
        The rows it was fitted to; for a TableModel, the table.
    n_resamples : int, default=20
        Number of fits.
    sample_weight : array-like of shape (n_samples,), default=None
        What rows count for, as in the fit.
    random_state : int, RandomState or None, default=None
        Makes it reproducible.

    Returns
    -------
    Stability
        By cluster and by row.

    See Also
    --------
    choose : How sure the number of clusters is.

    Notes
    -----
    A cluster can be stable without a gap around it: k-means cuts an even cloud alike
    each time. And a stable cluster that is cut off by chance is still no group. It is
    instability that tells.

    Of a larger table 20,000 rows are drawn at random for each fit, and halved. A
    bar shows the progress where it takes more than a second and stderr is a terminal.

    Examples
    --------
    >>> import numpy as np
    >>> from rtkm import RTKM, stability
    >>> rng = np.random.RandomState(0)
    >>> X = np.concatenate([rng.normal(c, 1, (100, 2)) for c in (0, 20)])
    >>> three = RTKM(3, contamination=0, random_state=0).fit(X)  # one too many
    >>> stability(three, X, random_state=0).unsure_clusters
    [1, 2]
    """
    check_value("n_resamples", n_resamples, Count, "stability")
    check_value("random_state", random_state, RandomState, "stability")
    check_is_fitted(model)
    rows, kept = X, None
    if hasattr(model, "preparation_"):
        prepared = model._prepare_new(X)
        model, rows, kept = model.estimator_, prepared.X, prepared.kept
        if sample_weight is not None:
            sample_weight = np.asarray(sample_weight)[kept]
    if not hasattr(model, "_rule"):
        raise ValueError(
            f"{type(model).__name__} has no clusters; expected a clusterer, such as "
            "RTKM."
        )
    table = model._validate_new(rows)  # by names, where it knows them
    found = stability_of(
        without_names(model),
        make_table(table.X, sample_weight),
        n_resamples,
        check_random_state(random_state),
        progress=True,
    )
    if kept is None or kept.all():
        return found
    labels, sides = (np.full(len(kept), np.nan) for _ in range(2))
    labels[kept], sides[kept] = found.labels, found.sides
    return Stability(
        clusters=found.clusters, labels=labels, sides=sides, n_resamples=n_resamples
    )


def without_names(model: Any) -> Any:
    """Return a copy of a fitted model that takes rows without names."""
    nameless = copy(model)
    vars(nameless).pop("feature_names_in_", None)
    return nameless


def stability_of(
    model: Any,
    X: Table,
    n_resamples: int,
    rng: np.random.RandomState,
    *,
    progress: bool = False,
) -> Stability:
    """Return the stability of a clusterer for the table it was fitted to."""
    n_clusters = len(model.cluster_centers_)
    if not can_halve(model, X):
        raise ValueError(
            f"{X.mass:g} rows are too few to fit {n_clusters} clusters to half of them."
        )
    before = labeled(model, X)
    similarity = np.zeros(n_clusters)
    labels, sides = np.zeros(X.n_rows), np.zeros(X.n_rows)
    fits = tqdm(
        each_fit(model, X, n_resamples, rng),
        total=n_resamples,
        disable=None if progress else True,
        delay=PATIENCE,
        unit="fit",
    )
    for fit in fits:
        after = labeled(fit, X)
        similar = similarities(before.sets, after.sets, X)
        similarity += similar.max(axis=1)
        # one to one: clusters that have become one are not both there again
        twins = optimize.linear_sum_assignment(similar, maximize=True)[1]
        was_outlier, is_outlier = before.labels < 0, after.labels < 0
        sides += was_outlier == is_outlier
        labels += np.where(
            was_outlier, is_outlier, twins[before.labels] == after.labels
        )
    return Stability(
        clusters=similarity / n_resamples,
        labels=labels / n_resamples,
        sides=sides / n_resamples,
        n_resamples=n_resamples,
    )


def can_halve(model: Any, X: Table) -> bool:
    """Whether half of the rows are enough for as many clusters and outliers."""
    asked = getattr(model, model._outliers_by, 0)
    n_outliers = 0 if isinstance(asked, str) else whole_rows(asked, X.mass)
    return (X.mass - n_outliers) // 2 - 1 >= len(model.cluster_centers_)


def each_fit(
    model: Any, X: Table, n_resamples: int, rng: np.random.RandomState
) -> Iterator[Any]:
    """Yield copies of a model, each fitted to half of the rows."""
    whole = sample(X, MOST_ROWS, rng)
    for _ in range(n_resamples):
        half = halves(whole, rng)[0]
        other = clone(model).set_params(**numbers_for(model, X, half))
        if "random_state" in other.get_params():
            other.set_params(random_state=rng.randint(2**31 - 1))
        weights = {} if half.weights is None else {"sample_weight": half.weights}
        with warnings.catch_warnings():
            # what there is to warn of was said of the fit to all rows
            warnings.simplefilter("ignore")
            other.fit(half.X, **weights)
        yield other
        if X.mass > MOST_ROWS:
            whole = sample(X, MOST_ROWS, rng)


def numbers_for(model: Any, X: Table, half: Table) -> dict[str, Any]:
    """Return as many clusters as a fit has, and half as many outliers as it asked for.

    A share stays what it is, and outliers that were chosen are chosen again.
    """
    n_clusters = len(model.cluster_centers_)
    numbers: dict[str, Any] = {"n_clusters": n_clusters, "verbose": 0, "on_step": None}
    name = model._outliers_by
    asked = getattr(model, name, 0)
    if is_integer(asked, 1):
        numbers[name] = whole_rows(asked / X.mass, half.mass)
    return numbers


# Labels and sets


@dataclass(frozen=True)
class Labeled:
    """The label of each row, and the clusters it is in."""

    labels: NDArray[np.int32]
    sets: sparse.csr_array


def labeled(model: Any, X: Table) -> Labeled:
    """Return what a model makes of rows, a block of them at a time."""
    labels, sets = [], []
    rule = model._rule()
    for first in range(0, X.n_rows, BLOCK):
        rows = model._results(X.X[first : first + BLOCK])
        is_in = rule.assignments(rows.memberships) & ~rows.outliers[:, None]
        labels.append(rows.labels)
        sets.append(sparse.csr_array(is_in.astype(np.float64)))
    return Labeled(np.concatenate(labels), sparse.vstack(sets, format="csr"))


def similarities(
    before: sparse.csr_array, after: sparse.csr_array, X: Table
) -> NDArray[np.float64]:
    """Return the Jaccard similarities: rows in both clusters over rows in either."""
    weights = np.ones(X.n_rows) if X.weights is None else X.weights
    weighted = before.T.multiply(weights).tocsr()
    both = (weighted @ after).toarray()
    either = (before.T @ weights)[:, None] + after.T @ weights - both
    return np.divide(both, either, out=np.zeros_like(both), where=either > 0)
