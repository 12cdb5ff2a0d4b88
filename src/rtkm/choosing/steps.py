"""The two steps of a choice: how many clusters, then which rows are outliers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from rtkm._number_text import percent
from rtkm.choosing.choice import Choice, FittedTail, SmallGroups
from rtkm.choosing.clusters import (
    PER_HALF,
    ROWS_PER_CELL,
    SAMPLE_ROWS,
    Trial,
    find_gaps,
    group_means,
    plateau,
    try_cells,
)
from rtkm.choosing.fits import trimmed_fit
from rtkm.choosing.outliers import (
    LEAST_ROWS,
    TAIL_ROWS,
    choose_outliers,
    fit_tail,
    flag_rows,
    flags_of_all,
    refitting,
)
from rtkm.choosing.rounding import columns_of_few_values, spread_rounded
from rtkm.choosing.samples import sample
from rtkm.choosing.sentences import on_columns
from rtkm.core.params import (
    Auto,
    Count,
    Counts,
    OutlierRows,
    RandomState,
    Rule,
    UpToOne,
    check_value,
    is_number,
    whole_rows,
)
from rtkm.core.table import Table
from rtkm.core.validation import check_row_count, make_table
from rtkm.seeding import draw_far_rows

# the most clusters to look for
MAX_CLUSTERS = 40
# the share that is trimmed while nothing is known of outliers
START = 0.1
# total weight below which a choice is uncertain
FEW_ROWS = 150
# a group within these multiples of the least size of a cluster could be counted the
# other way
DOUBTFUL = 0.4, 1.6
# share of flagged rows above which a choice is doubtful
MANY = 0.15
# share of the typical group below which groups are specks, and not even small groups
SPECK = 0.1

Level = Annotated[
    float, Rule("a number in (0, 1)", lambda v: is_number(v, above=0) and v < 1)
]
# how numbers are chosen: names and types of the parameters
CHOOSING = {"max_clusters": Count, "min_cluster": UpToOne, "false_alarms": Level}


class Found(NamedTuple):
    """What the first step found."""

    n_clusters: int
    C: NDArray[Any]
    n_separate: int | None = None
    alternatives: tuple[int, ...] = ()
    small_groups: SmallGroups | None = None
    trials: tuple[Trial, ...] = ()
    pairs: tuple[dict[str, Any], ...] = ()


class Settled(NamedTuple):
    """What the second step found, or took as given."""

    n_outliers: int
    C: NDArray[Any]
    fitted_tail: FittedTail | None
    share_path: tuple[float, ...] = ()
    heavy_tails: bool = False
    warnings: tuple[str, ...] = ()


def choose(
    X: ArrayLike,
    n_clusters: Any = "auto",
    contamination: Any = "auto",
    *,
    max_clusters: int = MAX_CLUSTERS,
    min_cluster: float = 0.25,
    false_alarms: float = 0.15,
    sample_weight: ArrayLike | None = None,
    random_state: Any = None,
) -> Choice:
    """Choose the number of clusters and of outliers of a table.

    Two groups are two clusters if clearly fewer rows lie between them than around
    either; groups far smaller than the rest count as outliers. Rows farther out than
    the shape of their cluster explains are outliers, cut so that about one flag in
    seven is a false alarm, and none if they look like mere heavy tails.

    Clusters that touch count as one: the number is that of groups with a gap between
    them, and 1 says that there is none. Columns count by their units, as in a fit.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_samples, n_features)
        The rows.
    n_clusters : "auto", int or several ints, default="auto"
        The number of clusters, if it is known, or numbers to choose from.
    contamination : "auto", float in [0, 1) or int, default="auto"
        The share of outliers or their number, if it is known.
    max_clusters : int, default=40
        The most clusters to look for.
    min_cluster : float in (0, 1], default=0.25
        Groups smaller than this share of the median group count as outliers. Specks,
        smaller than a tenth of a typical group, do not count for the median.
    false_alarms : float in (0, 1), default=0.15
        Share of false alarms to expect among the rows that are flagged.
    sample_weight : array-like of shape (n_samples,), default=None
        A row of weight 2 counts as that row twice.
    random_state : int, RandomState or None, default=None
        Makes the choice reproducible.

    Returns
    -------
    Choice
        The numbers, other likely numbers, and what they were chosen by.

    Notes
    -----
    Cells of trimmed k-means that are not apart make up a group, as in UniForCE [1]_ and
    dip-means [2]_; the number of groups that most numbers of cells agree on is chosen.
    Whether two cells are apart is counted along the line between their centers, which
    are found in one half of the rows, in the other half. At most 4000 rows are used,
    all of it is done twice, and numbers that only one of the two runs finds are
    alternatives. Values of columns that repeat in most rows, such as grades, counts or
    0 and 1, are spread at random over what was rounded away first.

    Squared distances within clusters are held against a chi-square distribution whose
    degrees of freedom fit the inner rows, as in reweighting after the MCD [3]_; the cut
    is that of Benjamini and Hochberg [4]_. Long clusters are measured in their own
    covariance. The tail is fitted to at most 20,000 rows.

    References
    ----------
    .. [1] G. Vardakas, I. Papakostas, A. Likas, "UniForCE: the unimodality forest
       method for clustering and estimation of the number of clusters" (2023).
    .. [2] A. Kalogeratos, A. Likas, "Dip-means: an incremental clustering method for
       estimating the number of clusters", NIPS 2012.
    .. [3] P. J. Rousseeuw, K. Van Driessen, "A fast algorithm for the minimum
       covariance determinant estimator", Technometrics 41 (1999), 212-223.
    .. [4] Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate", Journal of
       the Royal Statistical Society B 57 (1995), 289-300.

    Examples
    --------
    >>> import numpy as np
    >>> from rtkm import choose
    >>> rng = np.random.RandomState(0)
    >>> X = np.concatenate([rng.normal(c, 1, (80, 2)) for c in (0, 9, 18)])
    >>> print(choose(X, random_state=0).summary())
    3 clusters with gaps between them; no other number is likely.
    No row stands out.
    """
    check_choice(n_clusters, contamination, max_clusters, min_cluster, false_alarms)
    check_value("random_state", random_state, RandomState, "choose")
    return choose_for(
        make_table(X, sample_weight),
        n_clusters,
        contamination,
        max_clusters=max_clusters,
        min_cluster=min_cluster,
        false_alarms=false_alarms,
        rng=check_random_state(random_state),
        names=getattr(X, "columns", None),
    )


def check_choice(
    n_clusters: Any,
    contamination: Any,
    max_clusters: Any,
    min_cluster: Any,
    false_alarms: Any,
    owner: str = "choose",
) -> None:
    """Refuse parameters that mean nothing, before any array is seen."""
    check_value("n_clusters", n_clusters, Auto | Count | Counts, owner)
    check_value("contamination", contamination, Auto | OutlierRows, owner)
    given = max_clusters, min_cluster, false_alarms
    for (name, hint), value in zip(CHOOSING.items(), given, strict=True):
        check_value(name, value, hint, owner)


def choose_for(
    X: Table,
    n_clusters: Any = "auto",
    contamination: Any = "auto",
    *,
    max_clusters: int = MAX_CLUSTERS,
    min_cluster: float = 0.25,
    false_alarms: float = 0.15,
    least: int = 1,
    rng: np.random.RandomState,
    names: Any = None,
) -> Choice:
    """Choose for a table whose parameters have been checked.

    The number of clusters is at `least` so many, unless it is given; `names` are those
    of the columns, for warnings.
    """
    numbers = numbers_of(n_clusters)
    if not numbers and least > 1:
        most = min(max_clusters, int(X.counts.sum()))
        numbers = list(range(least, max(least, most) + 1))
    knows_share = not isinstance(contamination, str)
    n_trimmed = whole_rows(contamination, X.mass) if knows_share else 0
    given_k = numbers[0] if len(numbers) == 1 else 1
    check_row_count(X, given_k, n_trimmed, f"contamination={contamination!r}")
    check_row_count(X, max(numbers, default=1))
    share = n_trimmed / X.mass if knows_share else START
    # enough rows for as many clusters as are given
    Z = sample(X, max(SAMPLE_ROWS, ROWS_PER_CELL * given_k), rng)
    rounded = columns_of_few_values(Z)
    Y = Z if is_whole(Z, X) else sample(X, TAIL_ROWS, rng)
    Z, Y = (spread_rounded(table, rounded, rng) for table in (Z, Y))
    if X.mass < LEAST_ROWS:
        k = min(numbers, default=1)
        found = Found(k, centers_for(Z, k, share, rng))
    else:
        found = find_clusters(Z, share, max_clusters, min_cluster, numbers, rng)
    if knows_share or X.mass < LEAST_ROWS:
        settled = take_outliers(Y, found.C, n_trimmed, X.mass, false_alarms)
    else:
        settled = find_outliers(X, Y, found.C, false_alarms)
    return Choice(
        n_clusters=found.n_clusters,
        n_outliers=settled.n_outliers,
        n_rows=X.mass,
        init=settled.C,
        n_separate=found.n_separate,
        alternatives=found.alternatives,
        small_groups=found.small_groups or no_groups(X),
        heavy_tails=settled.heavy_tails,
        warnings=(*warnings_of(X, rounded, names), *settled.warnings),
        table=tuple(line_of(trial) for trial in found.trials),
        pairs=found.pairs,
        share_path=settled.share_path,
        fitted_tail=settled.fitted_tail,
        given=("n_clusters",) * (len(numbers) == 1) + ("contamination",) * knows_share,
    )


def is_whole(Z: Table, X: Table) -> bool:
    """Whether a sample is all of a table, and not rows drawn from it."""
    return Z.mass == X.mass


def take_outliers(
    Y: Table, C: NDArray[Any], n_trimmed: int, mass: float, false_alarms: float
) -> Settled:
    """Take as many outliers as were asked for."""
    share = n_trimmed / mass
    C = trimmed_fit(Y, C, share * Y.mass).C
    return Settled(n_trimmed, C, tail_at(Y, C, share, false_alarms))


def tail_at(
    Y: Table, C: NDArray[Any], share: float, false_alarms: float
) -> FittedTail | None:
    """Return the tail of the squared distances to some centers."""
    nearest, state = Y.nearest(C, 1), Y.concentrate(C, 1, Y.mass * (1 - share))
    return fit_tail(Y, C, nearest.labels[:, 0], nearest.cost, state.v, false_alarms)


def find_outliers(X: Table, Y: Table, C: NDArray[Any], false_alarms: float) -> Settled:
    """Find outliers from a sample, and count them in the whole table."""
    outliers = choose_outliers(Y, C, false_alarms, START)
    flags = outliers.flags
    if not is_whole(Y, X):
        flags = flags_of_all(X, outliers, false_alarms)
    warnings = []
    if flags.mass > MANY * X.mass:
        warnings.append(
            f"{percent(flags.mass / X.mass)} of the rows stand out, more than is usual "
            "for outliers; look at them before you leave them out."
        )
        shapes, twice = outliers.shapes, 2 * START
        score, fit = refitting(Y, shapes), outliers.fit_tail
        other = flag_rows(Y, C, score, fit, twice, false_alarms)
        if abs(other.share - flags.share) > 0.02:
            warnings.append(
                "How many there are is uncertain: the search for their share, started "
                f"from 20 % instead of 10 %, ends at {percent(other.share)} instead of "
                f"{percent(flags.share)}."
            )
    # enough rows must be left for the clusters
    most = max(0, int(X.mass - len(C)))
    return Settled(
        min(int(np.floor(flags.mass + 0.5)), most),
        flags.C,
        tail_at(Y, flags.C, flags.share, false_alarms),
        flags.path,
        outliers.heavy_tails,
        tuple(warnings),
    )


def numbers_of(n_clusters: Any) -> list[int]:
    """Return the numbers of clusters to choose from; none if all are."""
    if isinstance(n_clusters, str):
        return []
    several: Iterable[Any] = n_clusters if np.iterable(n_clusters) else [n_clusters]
    return sorted({int(number) for number in several})


def centers_for(
    Z: Table, k: int, share: float, rng: np.random.RandomState
) -> NDArray[Any]:
    """Return the centers of trimmed k-means with swaps."""
    n_trimmed = min(share * Z.mass, max(0.0, Z.mass - k))
    C = Z.mean if k == 1 else draw_far_rows(Z, k, n_trimmed, rng)
    n_swaps = "auto" if k > 1 else 0
    return trimmed_fit(Z, C, n_trimmed, n_swaps=n_swaps, rng=rng).C


def find_clusters(
    Z: Table,
    share: float,
    max_clusters: int,
    min_cluster: float,
    numbers: list[int],
    rng: np.random.RandomState,
) -> Found:
    """Choose the number of clusters, of all or of some numbers."""
    most = max(numbers) + 3 if numbers else max_clusters
    # twice, from other halves and other new cells: what chance decides differs
    runs = [try_cells(Z, share, most, rng) for _ in range(2)]
    trials = sorted((t for run in runs for t in run), key=lambda t: t.n_cells)
    n_groups = plateau(trials)
    trial = next(t for t in trials if t.n_groups[0] == n_groups)
    sizes, means = group_means(Z, trial, n_groups)
    relative = sizes / typical_size(sizes)
    is_cluster = relative >= min_cluster
    k = int(is_cluster.sum())
    likely = likely_numbers(runs, n_groups, relative, min_cluster)
    if numbers:
        likely = [number for number in likely if number in numbers]
        # of equally near numbers the smaller
        likely = likely or [min(numbers, key=lambda number: abs(number - k))]
    if likely[0] > k:
        # asked for, groups that would be too small are clusters, the largest first
        is_cluster = largest(sizes, likely[0])
    if likely[0] != is_cluster.sum():
        C = centers_for(Z, likely[0], share, rng)
        return Found(likely[0], C, k, tuple(likely[1:]), None, tuple(trials))
    small = SmallGroups(sizes[~is_cluster], means[~is_cluster])
    numbered = np.where(is_cluster, np.cumsum(is_cluster) - 1, -1)
    clusters = np.where(trial.groups < 0, -1, numbered[trial.groups])
    pairs = pairs_of(trial, clusters)
    C = np.ascontiguousarray(means[is_cluster])
    return Found(likely[0], C, k, tuple(likely[1:]), small, tuple(trials), pairs)


def typical_size(sizes: NDArray[np.float64]) -> float:
    """Return the median size of the groups, but for specks.

    These are far smaller than the group that half of all rows are in groups as large
    as: clumps of outliers may outnumber the clusters.
    """
    falling = np.sort(sizes)[::-1]
    of_median_row = falling[np.searchsorted(np.cumsum(falling), falling.sum() / 2)]
    return float(np.median(sizes[sizes >= SPECK * of_median_row]))


def largest(sizes: NDArray[np.float64], count: int) -> NDArray[np.bool_]:
    """Return which of some groups are the largest, of equal ones the first."""
    mask = np.zeros(len(sizes), dtype=bool)
    mask[np.argsort(-sizes, kind="stable")[:count]] = True
    return mask


def likely_numbers(
    runs: list[list[Trial]],
    n_groups: int,
    relative: NDArray[np.float64],
    min_cluster: float,
) -> list[int]:
    """Return the numbers of clusters that could be meant, the likeliest first.

    `relative` are the sizes of the groups over the typical one.
    """
    is_cluster = relative >= min_cluster
    k = int(is_cluster.sum())
    low, high = (times * min_cluster for times in DOUBTFUL)
    trials = [trial for run in runs for trial in run]
    plateaus = [plateau(trials, 1), plateau(trials, 2), *map(plateau, runs)]
    likely = [k, *(k + number - n_groups for number in plateaus)]
    likely += [k + 1] * int(((relative >= low) & ~is_cluster).any())
    likely += [k - 1] * int(((relative < high) & is_cluster).any())
    return [number for number in dict.fromkeys(likely) if number >= 1]


def pairs_of(trial: Trial, clusters: NDArray[np.intp]) -> tuple[dict[str, Any], ...]:
    """Return what lies between each pair of clusters, the weakest pair first."""
    gaps, pairs = find_gaps(trial.counts), []
    chance = gaps.chance
    cells = [np.flatnonzero(clusters == c) for c in range(clusters.max() + 1)]
    for b in range(len(cells)):
        for a in range(b):
            between = chance[cells[a][:, None], cells[b]]
            weakest = divmod(int(between.argmax()), len(cells[b]))
            i, j = cells[a][weakest[0]], cells[b][weakest[1]]
            pairs.append((float(chance[i, j]), a, b, i, j))
    pairs.sort()
    lines = [
        {
            "clusters": (a, b),
            "between": float(gaps.between[i, j]),
            "around": (float(gaps.around[i, j]), float(gaps.around[j, i])),
            "chance": value,
            "apart": True,
        }
        for value, a, b, i, j in pairs[::-1]
    ]
    if lines:
        *_, i, j = pairs[-1]
        lines[0]["histogram"] = [
            *trial.counts[i, j, ::-1].tolist(),
            *trial.counts[j, i].tolist(),
        ]
        lines[0]["bin_width"] = 0.5 / PER_HALF  # of the distance of the centers
    return tuple(lines)


def line_of(trial: Trial) -> dict[str, Any]:
    """Return what one number of cells shows, as plain numbers."""
    n_groups, n_lax, n_strict = trial.n_groups
    return {
        "n_cells": trial.n_cells,
        "n_groups": n_groups,
        "n_groups_lax": n_lax,
        "n_groups_strict": n_strict,
        "cost": float(trial.state.objective),
        "stability": float(trial.stability),
    }


def no_groups(X: Table) -> SmallGroups:
    """Return an empty set of small groups."""
    return SmallGroups(np.empty(0), np.empty((0, X.n_features), X.dtype))


def warnings_of(X: Table, rounded: NDArray[np.intp], names: Any) -> list[str]:
    """Return what is known to make a choice uncertain."""
    if X.mass < LEAST_ROWS:
        weight = f"{X.mass:g}"
        rows = "row is" if weight == "1" else "rows are"
        return [
            f"{weight} {rows} too few to choose from; at least {LEAST_ROWS} show "
            "clusters and outliers, so none were looked for."
        ]
    warnings = []
    if X.mass < FEW_ROWS:
        warnings.append(
            f"{X.mass:g} rows are few: below {FEW_ROWS}, gaps and tails are uncertain."
        )
    if len(rounded):
        warnings.append(
            f"Values repeat in most rows of {on_columns(rounded, names)}; to look for "
            "gaps, they were spread at random within their rounding."
        )
    return warnings
