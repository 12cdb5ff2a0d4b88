"""Many methods on one table, from the same starting centers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from tqdm import tqdm

from rtkm._optional import import_optional
from rtkm._registry import METHODS, find_class
from rtkm.compare.basis import agreements, recommend
from rtkm.compare.run import Record, Starts, copy_of, one_line, run, run_trivial
from rtkm.core.params import Count, Nothing, RandomState, Tally, check_value
from rtkm.core.table import Table
from rtkm.core.validation import make_table, validate_centers
from rtkm.metrics._input import check_same_rows, memberships
from rtkm.seeding import Init

if TYPE_CHECKING:
    import pandas as pd

TRIVIAL = "(every row in every cluster)"

COLUMNS = [
    "method",
    "start",
    "objective",
    "n_clusters",
    "n_outliers",
    "n_standing_out",
    "cardinality",
    "stability",
    "agreement",
    "average_f1",
    "average_f1_micro",
    "average_f1_best",
    "omega",
    "overlapping_nmi",
    "ari",
    "ari_coverage",
    "outlier_me",
    "outlier_roc_auc",
    "outlier_average_precision",
    "seconds",
    "n_iter",
    "converged",
    "warnings",
    "error",
]
ALWAYS = {"start", "seconds"}  # there even if empty
# whole numbers stay whole where some are missing
TYPES = dict.fromkeys(
    ["start", "n_clusters", "n_outliers", "n_iter", "n_standing_out"], "Int64"
)
TYPES |= {"seconds": "float64", "converged": "boolean"}


def compare(
    X: ArrayLike,
    methods: Iterable[Any] | Mapping[str, Any],
    truth: ArrayLike | None = None,
    *,
    n_clusters: int | None = None,
    init: Any = "k-means++",
    n_starts: int = 1,
    n_resamples: int = 5,
    random_state: Any = None,
    progress: bool = True,
) -> pd.DataFrame:
    """Fit several methods to one table and put the results side by side.

    All clusterers start from the same centers, so that differences are those of the
    methods. A method that fails becomes a row that says why.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_samples, n_features)
        The rows.
    methods : iterable or mapping
        Estimators, or names of this library's, such as ``"KMOR"``; copies of them are
        fitted. In the frame they go by the keys of a mapping; otherwise by their class,
        or with their parameters where a class comes twice. Those of scikit-learn take
        part as far as they have the same attributes.
    truth : array-like of shape (n_samples,) or (n_samples, K), default=None
        Known labels, -1 for outliers, or memberships of 0 and 1, as in
        :mod:`rtkm.metrics`. Adds the metrics, and a last row for the trivial answer
        that every row is in every cluster.
    n_clusters : int, default=None
        Number of clusters of all methods that have this parameter; None leaves each its
        own.
    init : str, array of shape (n_clusters, n_features), callable or None
        Where centers start, as in :class:`RTKM`; replaces the ``init`` of the methods.
        Robust seeding expects 10 % of outliers. The default is ``"k-means++"``.
        None leaves each method its own seeding, and the best of its own starts.
    n_starts : int, default=1
        Sets of starting centers; each method runs from each. An array and ``"robin"``
        are but one set. Methods without ``init`` run once.
    n_resamples : int, default=5
        Fits to half of the rows, at most 20,000, that each stability is measured by, if
        there is no truth; 0 leaves it out. They cost about four times what the
        fits do, of 100,000 rows less than once.
    random_state : int, RandomState or None, default=None
        Makes the starts repeatable, and methods whose own ``random_state`` is None.
    progress : bool, default=True
        Shows a progress bar where stderr is a terminal.

    Returns
    -------
    pandas.DataFrame
        A row for each method and start: ``method``, ``start``, ``objective`` (of the
        method: to be compared between its starts only), ``n_clusters`` (not empty),
        ``n_outliers``, ``n_standing_out`` (however many were trimmed),
        ``cardinality``, ``stability`` and ``agreement`` or metrics, ``seconds`` of the
        fit, ``n_iter``, ``converged``, ``warnings`` and ``error``. What does not apply
        is missing, and a column that applies to no row is left out. Without a truth
        ``frame.attrs["recommendation"]`` has the ``method`` to take, or None where
        nothing speaks for one, and the ``reason`` in a sentence.

    See Also
    --------
    rtkm.metrics : What the scores mean.

    Notes
    -----
    ``stability`` is the mean share of fits to half of the rows in which a row keeps its
    label (:func:`stability`), and ``agreement`` the mean omega index with the other
    methods from the same start, which for labels is the adjusted Rand index.

    The most stable method is recommended; where others are stable alike, the one that
    agrees most with all; none if several are alike in both, or no method is stable.

    ``average_f1`` matches clusters one to one; ``average_f1_micro`` counts memberships,
    and ``average_f1_best`` uses ``matching="best"``. ``ari`` is that of the rows which
    are inliers on both sides, a share of ``ari_coverage``; it needs clusters without
    overlap. Scores of outliers need some in the truth.

    Examples
    --------
    >>> import rtkm
    >>> X, truth, _ = rtkm.datasets.make_outlier_blobs(300, random_state=0)
    >>> frame = rtkm.compare(X, ["RTKM", "KMOR", "OKM"], truth, n_clusters=3,
    ...                      random_state=0)
    >>> frame[["method", "n_outliers", "cardinality", "average_f1"]].round(2)
                             method  n_outliers  cardinality  average_f1
    0                          RTKM          34         0.89        0.98
    1                          KMOR          30         0.90        0.61
    2                           OKM           0         1.43        0.31
    3  (every row in every cluster)           0         3.00        0.34

    Alternation can be stuck where it began; swaps, which RTKM has, lead out:

    >>> frame = rtkm.compare(X, ["KMOR"], n_clusters=3, n_starts=3, random_state=0)
    >>> frame[["method", "start", "objective", "n_outliers", "converged"]].round(1)
      method  start  objective  n_outliers  converged
    0   KMOR      0    22681.4          30       True
    1   KMOR      1      834.6          30       True
    2   KMOR      2      834.6          30       True
    """
    pd = import_optional("pandas", needed_by="compare")
    check_value("n_clusters", n_clusters, Count | Nothing, "compare")
    check_value("n_starts", n_starts, Count, "compare")
    check_value("n_resamples", n_resamples, Tally, "compare")
    check_value("random_state", random_state, RandomState, "compare")
    check_value("init", init, Init | Nothing, "compare")
    table = make_table(X)
    T = None if truth is None else validate_truth(truth, table)
    seeds = draw_seeds(random_state, n_starts)
    starts = Starts(table, validate_init(init, table), n_clusters, seeds)
    tasks = [
        (name, estimator, start)
        for name, estimator in named(methods, n_clusters)
        for start in starts.numbers(estimator)
    ]
    records, answers = [], []
    with tqdm(tasks, disable=None if progress else True, unit="fit") as bar:
        for name, estimator, start in bar:
            bar.set_description(name)
            record, answer = run(estimator, X, T, starts, start, n_resamples)
            records.append({"method": name} | record)
            answers.append(answer)
    if T is None:
        add_agreements(records, answers)
    else:
        records.append({"method": TRIVIAL} | run_trivial(T))
    frame = pd.DataFrame(records, columns=COLUMNS)
    frame = frame[[c for c in frame if c in ALWAYS or frame[c].notna().any()]]
    frame = frame.astype({c: kind for c, kind in TYPES.items() if c in frame})
    if T is None:
        frame.attrs["recommendation"] = recommend(frame)._asdict()
    return frame


def add_agreements(
    records: list[Record], answers: list[NDArray[np.bool_] | None]
) -> None:
    """Say of each run how far it agrees with the others from the same start."""
    # methods without starts of ours are held against the first
    starts = [record["start"] or 0 for record in records]
    for start in set(starts):
        places = [i for i, other in enumerate(starts) if other == start]
        found = agreements([answers[i] for i in places])
        for i, agreement in zip(places, found, strict=True):
            records[i]["agreement"] = agreement


def validate_truth(truth: ArrayLike, table: Table) -> NDArray[np.bool_]:
    """Turn the truth into memberships of the rows."""
    T = memberships(truth, "truth")
    check_same_rows(truth=T, X=range(table.n_rows))
    return T


def validate_init(init: Any, table: Table) -> Any:
    """Check starting centers if they are given; their number is the methods' affair."""
    if init is None or isinstance(init, str) or callable(init):
        return init
    n_given = next(iter(np.shape(init)), 0)
    return validate_centers(SimpleNamespace(n_clusters=n_given), init, table)


def draw_seeds(random_state: Any, n_starts: int) -> list[list[int]]:
    """Draw the two seeds of every start."""
    rng = check_random_state(random_state)
    return rng.randint(2**31 - 1, size=(n_starts, 2)).tolist()


def named(
    methods: Iterable[Any] | Mapping[str, Any], n_clusters: int | None
) -> list[tuple[str, Any]]:
    """Return estimators with the names they go by."""
    alone = isinstance(methods, str) or hasattr(methods, "fit")
    if alone or not isinstance(methods, Iterable):
        raise TypeError(
            f"methods={methods!r} is not valid for compare; expected several, such as "
            "['RTKM', 'KMOR'], or a mapping from names."
        )
    if isinstance(methods, Mapping):
        pairs = [(str(name), find(method)) for name, method in methods.items()]
    else:
        estimators = [find(method) for method in methods]
        names = [type(each).__name__ for each in estimators]
        pairs = [
            (name if names.count(name) == 1 else in_full(each, n_clusters), each)
            for name, each in zip(names, estimators, strict=True)
        ]
    if not pairs:
        raise ValueError("methods is empty; expected at least one estimator or name.")
    name, count = Counter(name for name, _ in pairs).most_common(1)[0]
    if count > 1:
        raise ValueError(
            f"methods has {name} {count} times; leave one, or pass a mapping from "
            "names of your own."
        )
    return pairs


def find(method: Any) -> Any:
    """Return the estimator that is meant."""
    if isinstance(method, str) and method in METHODS:
        return find_class(method)()
    if isinstance(method, type) or not hasattr(method, "fit"):
        raise ValueError(
            f"methods has {method!r}; expected an estimator, such as RTKM(), or one of "
            f"the names {', '.join(METHODS)}."
        )
    return method


def in_full(estimator: Any, n_clusters: int | None) -> str:
    """Write an estimator with the parameters that are not its defaults."""
    with suppress(Exception):  # its row will tell
        return one_line(repr(copy_of(estimator, n_clusters)))
    return type(estimator).__name__
