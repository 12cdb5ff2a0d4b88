"""What a fit found: the types of what ``rtkm fit --json`` writes.

The terminal and the page read the same. `docs/guide/findings.md` is made from these
types by ``python docs/write_findings.py``: what a class and the text beside a key say
stands there.
"""

from __future__ import annotations

import math
from typing import Annotated, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

# of the findings, for those who read --json: another number where keys change their
# meaning. The format version of model files is in models/schema.py.
FINDINGS_VERSION = 1

Number: TypeAlias = float | None  # None where there is none: JSON has no infinity
Cell: TypeAlias = Number | str  # of a table: a number, or a category
Parameter: TypeAlias = bool | int | float | str | None


def finite(value: float) -> Number:
    """Return a number as findings hold it.

    Examples
    --------
    >>> finite(np.float64(2.5)), finite(np.inf)
    (2.5, None)
    """
    value = float(value)
    return value if math.isfinite(value) else None


def finite_list(values: NDArray[np.floating]) -> list[Number]:
    """Return numbers as findings hold them."""
    return [finite(value) for value in values.tolist()]


class Source(TypedDict):
    """The table."""

    name: Annotated[str, "of the file"]
    format: Annotated[str, "such as CSV"]
    n_rows: Annotated[int, "rows that were read"]
    n_columns: Annotated[int, "columns that were read"]
    n_used: Annotated[int, "rows that the method was fitted to"]
    n_dropped: Annotated[int, "rows that were left out"]


class Method(TypedDict):
    """The method."""

    name: Annotated[str, "of its class"]
    title: Annotated[str, "what it does, in a line"]
    parameters: Annotated[dict[str, Parameter], "all of them, by name"]


class ColumnPreparation(TypedDict):
    """What became of the columns.

    `x` is fitted as `(x - center) / spread`, after taking the logarithm of `x + offset`
    of some.
    """

    columns: Annotated[list[str], "names of the features"]
    missing: Annotated[
        str | dict[str, str],
        "what became of missing cells: error, drop or median, in all columns or by "
        "name, where * stands for all others",
    ]
    fill: Annotated[list[Number], "what stands for a missing cell, by feature"]
    log: Annotated[list[str], "features of which logarithms are used"]
    offset: Annotated[list[Number], "added before taking logarithms, by feature"]
    scale: Annotated[str, "none, standard or robust"]
    center: Annotated[list[Number], "by feature"]
    spread: Annotated[list[Number], "by feature"]
    categories: Annotated[
        dict[str, list[str]],
        "the columns of categories, and the categories of each; they come last among "
        "the features, which are 1 or 0 before they are divided by the spread",
    ]


class Objective(TypedDict):
    """What was minimized."""

    value: Annotated[Number, "at the end"]
    path: Annotated[
        list[Number], "at the start, after every step and after every swap that paid"
    ]
    n_iter: Annotated[int, "steps of the last descent"]
    converged: Annotated[bool, "whether it had settled"]


class Confidence(TypedDict):
    """How many rows of a cluster belong to it, by how confident that is."""

    core: Annotated[int, "rows well within it"]
    border: Annotated[int, "rows that are not far from being outliers"]
    doubtful: Annotated[int, "rows that may well belong elsewhere"]


class Cluster(TypedDict):
    """A cluster."""

    label: Annotated[int, "from 0"]
    size: Annotated[int, "rows in it"]
    share: Annotated[float, "of the rows used"]
    center: Annotated[list[Number], "by feature"]
    spread: Annotated[list[Number], "standard deviation of its rows, by feature"]
    confidence: Annotated[
        Confidence, "rows by how confident it is that they belong to it"
    ]
    stability: Annotated[
        Number,
        "how similar it is to what fits to half of the rows find, from 0 to 1; null "
        "where rows are too few for that",
    ]


class Resampling(TypedDict):
    """Fits to half of the rows."""

    n_fits: Annotated[int, "how many"]
    n_rows: Annotated[int, "of the table or of a sample of it, each time cut in half"]
    n_changing: Annotated[
        int, "of these, rows that changed their label in more than a fifth of the fits"
    ]


class Contrast(TypedDict):
    """A feature that tells clusters apart."""

    feature: Annotated[str, "its name"]
    apart: Annotated[
        Number,
        "how far the centers reach, in mean spreads within clusters; null where "
        "clusters have no spread",
    ]


class Reason(TypedDict):
    """A feature that makes a row an outlier."""

    feature: Annotated[str, "its name"]
    share: Annotated[float, "of the squared distance"]
    value: Annotated[Cell, "of the row; text of a category"]
    center: Annotated[
        Cell, "what the value is compared with; of categories the most frequent one"
    ]


# a key that is a word of Python cannot be written as a field
ChangeFrom = TypedDict("ChangeFrom", {"from": Annotated[Cell, "what it is"]})


class Change(ChangeFrom):
    """The smallest change of one feature that would make an outlier an inlier."""

    feature: Annotated[str, "its name"]
    to: Annotated[Cell, "what it would have to be"]
    cluster: Annotated[int, "where the row would then be"]


class OutlierRow(TypedDict):
    """An outlier."""

    row: Annotated[int, "its place in the table, from 1"]
    id: Annotated[str | None, "what the user calls it"]
    score: Annotated[Number, "how far out it is"]
    times_cutoff: Annotated[
        Number, "the score in multiples of the cut-off; null where there is none"
    ]
    rank: Annotated[
        int | None, "place among all outliers, the largest score first; null of others"
    ]
    nearest: Annotated[int | None, "the nearest cluster; null for detectors"]
    confidence: Annotated[
        str | None, "outlier, or doubtful for one that is nearly an inlier"
    ]
    reasons: Annotated[list[Reason], "at most three, the largest first"]
    filled: Annotated[list[str], "features whose cells were missing"]
    change: Annotated[Change | None, "null where no change of one feature is enough"]


class SkewedFeature(TypedDict):
    """A very skewed feature that most outliers are due to.

    Skewness compares the quantiles at 5 and 95 % with the median: 0 where both are as
    far from it, 1 where all that is far is above.
    """

    feature: Annotated[str, "its name"]
    share: Annotated[
        float, "of the outliers, those of whose score it is the largest part"
    ]
    skewness: Annotated[float, "of its values"]
    log_skewness: Annotated[float, "of their logarithms"]


class ListedOutliers(TypedDict):
    """Outliers, of which some are listed."""

    count: Annotated[int, "all of them"]
    rows: Annotated[list[OutlierRow], "those of the highest scores, at most 1,000"]


class Outliers(ListedOutliers):
    """The outliers."""

    share: Annotated[float, "of the rows used"]
    cutoff: Annotated[
        Number, "the score beyond which a row is one; null where no row ever is"
    ]
    decided_by: Annotated[
        str,
        "what says how many there are: asked (a number that was given), default (that "
        "of the method), choice (the rows that stand out), limit (the most that a "
        "method may find) or rule (of the method)",
    ]
    standing_out: Annotated[
        int | None,
        "how many of them are farther out than the shape of their cluster explains; "
        "null where nobody looked",
    ]
    also_standing_out: Annotated[int | None, "other rows that are so far out"]
    due_to_skewness: Annotated[
        SkewedFeature | None,
        "null where no feature is so skewed, or logarithms are used",
    ]


class RowBetween(TypedDict):
    """An inlier that may as well be in another cluster."""

    row: Annotated[int, "its place in the table, from 1"]
    id: Annotated[str | None, "what the user calls it"]
    clusters: Annotated[list[int], "that it is in"]
    second: Annotated[list[int], "that it would be in by the second-best answer"]
    times_as_likely: Annotated[
        Number,
        "how likely that answer is, 1 being as likely as the first: from 0.1 to 1, "
        "with normal clusters that are as wide as those found",
    ]
    times_as_far: Annotated[
        Number,
        "how many times as far its next center is as its own, from 1; null where sets "
        "of centers are compared",
    ]


class Between(TypedDict):
    """Inliers between clusters: `n_doubtful` says how many there are."""

    times_as_likely: Annotated[
        Number, "median of all these rows of how likely the second-best answer is"
    ]
    rows: Annotated[list[RowBetween], "the most doubtful first, at most 1,000"]


class Category(TypedDict):
    """A category that a group has more of than all rows, or fewer."""

    column: Annotated[str, "its name"]
    category: Annotated[str | None, "the cell; null for missing cells"]
    count: Annotated[int, "rows of the group that hold it"]
    share: Annotated[float, "of the group"]
    share_of_all: Annotated[float, "of all rows used"]
    chance: Annotated[
        float, "of such a difference by chance, corrected for the tests of the column"
    ]


class Shift(TypedDict):
    """Dates or numbers of a group that lie elsewhere than those of other rows."""

    column: Annotated[str, "its name"]
    larger: Annotated[
        float,
        "how often a row of the group has a later date, or a larger number, than a row "
        "outside of it; ties count half",
    ]
    farther: Annotated[
        float,
        "how often its rank is farther from the middle; small where the group has a "
        "stretch of the middle for itself",
    ]
    quartiles: Annotated[
        list[str], "what a quarter, half and three quarters of the group do not exceed"
    ]
    quartiles_of_all: Annotated[list[str], "the same of all rows used"]
    chance: Annotated[
        float, "of such a difference by chance, corrected for the tests of the column"
    ]


class DescribedGroup(TypedDict):
    """A cluster, or the outliers, and how it differs in columns that were left out."""

    label: Annotated[int, "of the cluster, -1 for the outliers"]
    size: Annotated[int, "rows in it"]
    categories: Annotated[list[Category], "the largest difference first"]
    shifts: Annotated[list[Shift], "the largest difference first"]


class LeftOut(TypedDict):
    """Columns that were not used, and the clusters and outliers that differ in them.

    Tested is, for each column and group, whether its cells differ from those of the
    other rows more than in rows drawn at random. That is valid because these columns
    had no part in the clustering, and as long as rows are independent of each other;
    but a column that repeats one that was used tells nothing new. Categories are
    compared by Fisher's exact test, on both sides; dates and numbers with more than 12
    values by the rank-sum test of Wilcoxon, Mann and Whitney, of their order and of how
    far they are from the middle. The smallest p-value of a column in a group is
    multiplied by the number of its tests; of all these, Benjamini and Hochberg's
    procedure tells the ones apart from chance, of which 5 % are expected to be false.
    Told is then what matters, too: 20 points between the shares in the group and in all
    rows, or twice the share and 5 points more, or dates and numbers that are larger, or
    farther from the middle, in 70 % of the pairs of a row in the group and one outside.
    Fewer of a category are told only where there is none of which there are more. Rows
    are counted, whatever their weights.
    """

    tested: Annotated[list[str], "columns that were compared"]
    untested: Annotated[
        list[str],
        "others: names and numbers of rows, text with more than 200 different cells "
        "or fewer than 3 rows each, and constants; all, where groups are too small",
    ]
    groups: Annotated[
        list[DescribedGroup], "those that differ, by label, the outliers last"
    ]


class SmallGroup(TypedDict):
    """Rows alike, too few to be a cluster."""

    size: Annotated[float, "rows of it in the sample that was looked at"]
    center: Annotated[list[Number], "by feature"]


class Trial(TypedDict):
    """What so many cells show: cells without a gap between them are one group."""

    n_cells: Annotated[int, "cells that the rows were cut into"]
    n_groups: Annotated[int, "groups that they make"]
    n_groups_lax: Annotated[int, "groups if smaller gaps count"]
    n_groups_strict: Annotated[int, "groups if only larger gaps count"]
    cost: Annotated[Number, "trimmed cost of the cells"]
    stability: Annotated[float, "share of rows that two halves give the same cell"]


class Pair(TypedDict):
    """What lies between two clusters."""

    clusters: Annotated[
        list[int], "their labels; without a fit, in the order they were found"
    ]
    between: Annotated[float, "rows between them, where they are fewest"]
    around: Annotated[list[float], "rows around the center of each"]
    chance: Annotated[float, "of so few between them, were there no gap"]
    histogram: Annotated[
        list[float] | None,
        "rows along the line through the two centers, the middle between them in the "
        "middle; null but for the first pair",
    ]
    bin_width: Annotated[
        Number, "of the histogram, the distance of the centers being 1"
    ]


class TrimmedCosts(TypedDict):
    """What rows cost that are kept, by clusters and outliers: ctl-curves."""

    n_clusters: Annotated[list[int], "numbers of clusters"]
    contamination: Annotated[list[float], "shares of outliers"]
    costs: Annotated[list[list[Number]], "for each number, by share"]


class ChoiceFindings(TypedDict):
    """Numbers that were chosen, and why."""

    given: Annotated[list[str], "which of n_clusters and contamination were not chosen"]
    n_clusters: Annotated[int, "clusters"]
    n_separate: Annotated[
        int | None,
        "groups with gaps between them, but for small ones; null where not looked for",
    ]
    alternatives: Annotated[list[int], "other numbers that could be meant"]
    is_sure: Annotated[bool, "whether gaps show this number, and no other is likely"]
    n_outliers: Annotated[int, "rows"]
    contamination: Annotated[float, "the same as a share"]
    heavy_tails: Annotated[bool, "whether heavy tails explain rows that lie far out"]
    small_groups: Annotated[list[SmallGroup], "that count as outliers"]
    warnings: Annotated[list[str], "what makes the choice uncertain"]
    on_clusters: Annotated[list[str], "in sentences, how many clusters there are"]
    summary: Annotated[list[str], "all of it in sentences"]
    trials: Annotated[list[Trial], "for more and more cells"]
    pairs: Annotated[
        list[Pair],
        "of clusters, the weakest first; none where the method found other clusters",
    ]
    share_path: Annotated[list[float], "how the share of outliers settled"]
    curves: Annotated[
        TrimmedCosts | None, "what other numbers would cost; null for very few rows"
    ]


class SortedScores(TypedDict):
    """Scores of rows, the largest first: the first 100, and fewer and fewer below."""

    n_rows: Annotated[int, "all rows with a score"]
    rank: Annotated[list[int], "place of the row in that order, from 1"]
    score: Annotated[list[float], "how far out it is"]
    outlier: Annotated[list[bool], "whether it is an outlier"]
    stands_out: Annotated[
        list[bool] | None,
        "whether it is farther out than the shape of its cluster explains; null where "
        "nobody looked",
    ]


class Overlap(TypedDict):
    """Rows in several clusters."""

    several: Annotated[int, "rows in more than one cluster"]
    matrix: Annotated[list[list[int]], "rows that any two clusters have in common"]


class Loading(TypedDict):
    """What a feature adds to a direction."""

    feature: Annotated[str, "its name"]
    weight: Annotated[float, "from -1 to 1"]


class Direction(TypedDict):
    """A feature, of one or two; or a principal direction of the inliers."""

    feature: Annotated[
        str | None, "what is drawn, in its own units; null for a principal direction"
    ]
    share: Annotated[Number, "of the variance"]
    loadings: Annotated[list[Loading], "at most three, the largest first"]


class Points(TypedDict):
    """The rows that are drawn: at most 5,000, each list with an entry for each."""

    x: Annotated[list[Number], "along the first direction"]
    y: Annotated[list[Number], "along the second one"]
    label: Annotated[list[int], "cluster, -1 for outliers; 0 for others of detectors"]
    row: Annotated[list[int], "place in the table, from 1"]
    id: Annotated[list[str | None] | None, "what the user calls them"]


class Extent(TypedDict):
    """The range of an axis, so that a few rows far out do not flatten the rest."""

    low: Annotated[Number, "where it begins"]
    high: Annotated[Number, "where it ends"]
    plain_low: Annotated[Number, "below it, the scale is logarithmic"]
    plain_high: Annotated[Number, "above it, the scale is logarithmic"]


class Beyond(TypedDict):
    """Rows that an axis does not reach."""

    low: Annotated[int, "below where it begins"]
    high: Annotated[int, "above where it ends"]


class Scatter(TypedDict):
    """Rows by one or two features, or in directions where inliers differ most."""

    directions: Annotated[list[Direction], "two, or one of a single feature"]
    axes: Annotated[list[Extent], "by direction, for all rows"]
    beyond: Annotated[list[Beyond], "all rows outside of the picture, by direction"]
    n_rows: Annotated[int, "of which the points are a sample"]
    points: Annotated[
        Points, "a sample of the inliers, and one of the outliers with the farthest 20"
    ]
    centers: Annotated[list[list[Number]], "of the clusters, along the directions"]


class Histogram(TypedDict):
    """How the values of a feature are distributed."""

    feature: Annotated[str, "its name"]
    axis: Annotated[Extent, "that its bins are drawn along, where they are as wide"]
    edges: Annotated[list[Number], "of the bins"]
    counts: Annotated[
        dict[str, list[int]],
        "rows in each bin, by label: -1 for outliers, 0 for others of detectors",
    ]
    beyond: Annotated[Beyond, "rows outside of all bins"]


class Distributions(TypedDict):
    """Histograms of the features that tell clusters apart."""

    n_features: Annotated[int, "all features"]
    features: Annotated[list[Histogram], "those among the contrasts, in their order"]


class OtherColumn(TypedDict):
    """A column that is no feature."""

    column: Annotated[str, "its name"]
    holds: Annotated[str, "numbers, text, dates, identifiers, or nothing"]


class FirstRows(TypedDict):
    """How the table begins."""

    columns: Annotated[list[str], "the first 40, features or not"]
    rows: Annotated[list[list[str | None]], "five rows, cell by cell as text"]
    left_out: Annotated[list[OtherColumn], "all columns that are no features"]


class Findings(TypedDict):
    """What a fit found."""

    format: Annotated[int, "1; another number where keys changed their meaning"]
    versions: Annotated[dict[str, str], "of the packages, to repeat it with"]
    command: Annotated[str, "to repeat it with"]
    source: Annotated[Source, "the table"]
    notes: Annotated[
        list[str],
        "what was done to the table and what the fit warned of, in sentences",
    ]
    summary: Annotated[list[str], "what was found, in sentences"]
    method: Annotated[Method, "what was fitted"]
    choice: Annotated[
        ChoiceFindings | None, "what was chosen; null if all numbers were given"
    ]
    features: Annotated[
        list[str], "the columns that were used; the order of all lists by feature"
    ]
    preparation: Annotated[ColumnPreparation, "how the columns were prepared"]
    seconds: Annotated[
        dict[str, float], "to read, prepare, choose, fit, resample and explain"
    ]
    objective: Annotated[Objective | None, "what was minimized; null for detectors"]
    clusters: Annotated[list[Cluster], "in the order of labels; empty for detectors"]
    resampling: Annotated[
        Resampling | None,
        "whether clusters come back; null for detectors and for too few rows",
    ]
    n_doubtful: Annotated[int, "inliers that may as well be in another cluster"]
    between: Annotated[Between | None, "those inliers; null where there is none"]
    contrasts: Annotated[
        list[Contrast], "at most 40 features, those that tell clusters apart most first"
    ]
    outliers: Annotated[Outliers, "how many, from where on, and which"]
    left_out: Annotated[LeftOut, "how groups differ in columns that were not used"]
    sorted_scores: Annotated[
        SortedScores | None, "what is drawn of the scores; null where all are equal"
    ]
    overlap: Annotated[Overlap | None, "null where no row is in several clusters"]
    scatter: Annotated[
        Scatter | None, "what is drawn of the rows; null with fewer than two inside"
    ]
    distributions: Annotated[Distributions, "histograms by feature and cluster"]
    first_rows: Annotated[FirstRows, "the table as it was given"]
