"""What a model makes of new rows, as plain data: what ``rtkm predict --json`` writes.

As for a fit, the page reads the same, and `docs/guide/findings.md` is made from these
types.
"""

from __future__ import annotations

from typing import Annotated, TypedDict

from rtkm.report.findings import (
    Cluster,
    ColumnPreparation,
    Distributions,
    ListedOutliers,
    Method,
    Number,
    Scatter,
    Source,
)


class ShareChange(TypedDict):
    """How many rows are of a kind, among the training rows and among the new ones."""

    count_then: Annotated[int, "training rows"]
    share_then: Annotated[float, "of the training rows"]
    count_now: Annotated[int, "new rows"]
    share_now: Annotated[float, "of the new rows"]
    p_value: Annotated[
        float,
        "the chance of shares that differ as much where nothing has changed, corrected "
        "for how many are compared",
    ]
    differs: Annotated[
        bool, "whether chance is no explanation, and the difference not a small one"
    ]


class LabelChange(ShareChange):
    """Rows of a cluster, or outliers, then and now."""

    label: Annotated[int, "of the cluster; -1 for outliers"]


class MissingChange(ShareChange):
    """Rows without a value of a feature, then and now."""

    feature: Annotated[str, "its name"]


class UnitChange(TypedDict):
    """New values look as if they were `factor` times what they were, plus `offset`."""

    conversion: Annotated[str | None, "such as °C to °F; null where only a factor"]
    factor: Annotated[float, "1 where only the zero point has moved"]
    offset: Annotated[float, "0 where only a factor"]


class FeatureChange(TypedDict):
    """How a feature is distributed, then and now."""

    feature: Annotated[str, "its name"]
    quartiles_then: Annotated[list[Number], "at 25, 50 and 75 %, training rows"]
    quartiles_now: Annotated[list[Number], "the same of the new rows"]
    distance: Annotated[
        float,
        "the largest difference between the shares of rows up to any value "
        "(Kolmogorov and Smirnov), from 0 to 1",
    ]
    p_value: Annotated[
        float,
        "the chance of a distance as large where nothing has changed, corrected for "
        "the number of features",
    ]
    differs: Annotated[
        bool, "whether chance is no explanation, and the distance not a small one"
    ]
    units: Annotated[
        UnitChange | None, "null where it does not look like a change of units"
    ]
    share_then: Annotated[
        float | None, "of the training rows in this category; null of numbers"
    ]
    share_now: Annotated[float | None, "the same of the new rows"]


class DriftFindings(TypedDict):
    """How new rows differ from the training rows."""

    n_then: Annotated[int, "training rows with a label"]
    n_now: Annotated[int, "new rows with a label"]
    labels: Annotated[
        list[LabelChange], "outliers, then each cluster; a detector has outliers only"
    ]
    features: Annotated[
        list[FeatureChange], "those of whose training values quantiles are kept"
    ]
    missing: Annotated[list[MissingChange], "by feature"]
    summary: Annotated[list[str], "what differs, in sentences"]


class PredictionOutliers(ListedOutliers):
    """The outliers among new rows."""

    share: Annotated[float, "of the new rows that were judged"]
    cutoff: Annotated[
        Number, "the score beyond which a row is one; null where no row ever is"
    ]
    decided_by: Annotated[str, "rule: that of the model"]


class PredictionFindings(TypedDict):
    """What a model makes of new rows, as ``rtkm predict --json`` writes it."""

    format: Annotated[int, "1; another number where keys changed their meaning"]
    versions: Annotated[dict[str, str], "of the packages, to repeat it with"]
    command: Annotated[str, "to repeat it with"]
    model: Annotated[str, "name of the model file"]
    source: Annotated[Source, "the table of new rows"]
    notes: Annotated[list[str], "what was done to the table, in sentences"]
    summary: Annotated[list[str], "what was found, in sentences"]
    method: Annotated[Method, "what was fitted"]
    features: Annotated[
        list[str], "the columns that were used; the order of all lists by feature"
    ]
    preparation: Annotated[
        ColumnPreparation, "how the columns were prepared, as the training rows were"
    ]
    seconds: Annotated[dict[str, float], "to read, predict, compare and explain"]
    clusters: Annotated[
        list[Cluster],
        "new rows by cluster, by their first where they are in several; centers are "
        "those of the model; empty for detectors",
    ]
    n_doubtful: Annotated[int, "inliers that may as well be in another cluster"]
    outliers: Annotated[PredictionOutliers, "how many, and which"]
    drift: Annotated[
        DriftFindings | None,
        "what differs from the training rows; null for models without a summary of "
        "them, as those of before version 0.2",
    ]
    scatter: Annotated[
        Scatter | None, "what is drawn of the rows; null with fewer than two inside"
    ]
    distributions: Annotated[Distributions, "histograms by feature and cluster"]
