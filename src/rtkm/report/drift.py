"""Whether new rows differ from those that a model was fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats

from rtkm.report.drift_sentences import LEVEL, sentences
from rtkm.report.findings import Number, finite
from rtkm.report.prediction_findings import (
    DriftFindings,
    FeatureChange,
    LabelChange,
    MissingChange,
    ShareChange,
)
from rtkm.report.table_results import TableResults, has_labels
from rtkm.report.units import LEAST_DISTANCE, Distribution, find_units
from rtkm.tables.fitted_preparation import Preparation, Prepared
from rtkm.tables.prepared_parts import PreparedParts
from rtkm.tables.reference import (
    Counts,
    Reference,
    known_values,
    refer_to,
    refer_to_parts,
)

Floats = NDArray[np.float64]

# the least difference of shares that is worth a word, as the difference of 2 arcsin
# of their roots (J. Cohen, "Statistical power analysis", 1988, where .2 is small): 50
# and 55 %, or 1 and 2.2 %
LEAST_SHARE_CHANGE = 0.1


@dataclass(frozen=True, eq=False)
class Drift:
    """How new rows differ from the training rows of a model.

    Shares of outliers and clusters, values of each feature, and missing values are
    compared. What differs does so by more than chance explains, the chance being 1 in
    100 for labels, features and missing values each, however many of them there are;
    and by enough to matter, as among very many rows anything is more than chance. Rows
    are taken to be independent: consecutive ones that are alike, as in time series,
    differ from others sooner.

    :meth:`TableModel.detect_drift` returns it; every parameter is an attribute, too.

    Parameters
    ----------
    n_then, n_now : int
        Training rows and new rows with a label.
    labels : list of dict
        For outliers (``label`` -1) and each cluster ``count_then``, ``share_then``,
        ``count_now``, ``share_now``, ``p_value`` and ``differs``. P-values are exact,
        and corrected for the number of labels (Holm); shares have to differ by 0.1 in
        twice the arcsine of the root: 50 and 55 %, or 1 and 2.2 %.
    features : list of dict
        For each ``feature`` its ``quartiles_then`` and ``quartiles_now``, the
        ``distance`` of its distributions (Kolmogorov and Smirnov), ``p_value`` and
        ``differs``, for which the distance has to be at least 0.1; and ``units``, the
        change of units that explains it, if one does. For a category, ``share_then``
        and ``share_now`` are the shares of rows in it. Features of fewer than 40
        training values are not compared.
    missing : list of dict
        For each ``feature``, or column of categories, the same as for labels, of rows
        without a value.

    Attributes
    ----------
    found : bool
        Whether anything differs.

    See Also
    --------
    TableModel.detect_drift : What makes it.

    Examples
    --------
    >>> import numpy as np
    >>> from rtkm import RTKM, TableModel
    >>> rng = np.random.RandomState(0)
    >>> X = rng.normal(10, 1, (300, 2))
    >>> model = TableModel(RTKM(1, contamination=0.05, random_state=0)).fit(X)
    >>> drift = model.detect_drift(rng.normal(10, 1, (100, 2)) * [1, 2.54])
    >>> drift.found
    True
    >>> [change["feature"] for change in drift.features if change["differs"]]
    ['x1']
    """

    n_then: int
    n_now: int
    labels: list[LabelChange] = field(repr=False)
    features: list[FeatureChange] = field(repr=False)
    missing: list[MissingChange] = field(repr=False)

    @property
    def found(self) -> bool:
        """Whether anything differs.

        Examples
        --------
        >>> import numpy as np
        >>> from rtkm import RTKM, TableModel
        >>> rng = np.random.RandomState(0)
        >>> X = rng.normal(10, 1, (300, 2))
        >>> model = TableModel(RTKM(1, contamination=0.05, random_state=0)).fit(X)
        >>> model.detect_drift(rng.normal(10, 1, (100, 2)) + [0, 1]).found
        True
        """
        return any(
            change["differs"]
            for change in (*self.labels, *self.features, *self.missing)
        )

    def summary(self) -> str:
        """Return what differs, in sentences.

        Returns
        -------
        str
            One finding a line.

        Examples
        --------
        >>> import numpy as np
        >>> from rtkm import RTKM, TableModel
        >>> rng = np.random.RandomState(0)
        >>> X = rng.normal(10, 1, (300, 2))
        >>> model = TableModel(RTKM(1, contamination=0.05, random_state=0)).fit(X)
        >>> drift = model.detect_drift(rng.normal(10, 1, (100, 2)))
        >>> drift.summary().partition(":")[0]
        'The new rows are like the training rows'
        """
        return "\n".join(sentences(self))

    def _repr_html_(self) -> str:
        """Return the summary, for notebooks."""
        return "".join(f"<p>{escape(line)}</p>" for line in sentences(self))


def drift_findings(drift: Drift) -> DriftFindings:
    """Return all of it as plain data."""
    return cast(DriftFindings, asdict(drift) | {"summary": sentences(drift)})


# Comparing


def find_drift(reference: Reference, answers: TableResults) -> Drift:
    """Compare new rows with the training rows of their model."""
    n_now = len(answers.labels)
    return Drift(
        reference.n_used,
        n_now,
        compare_labels(reference, answers),
        compare_features(reference, answers),
        compare_missing(reference, answers),
    )


def refer_to_fit(model: Any, prepared: Prepared | PreparedParts) -> Reference:
    """Summarize the rows that a model was fitted to.

    They are judged as new ones would be: some methods label a few of them otherwise.
    """
    if isinstance(prepared, PreparedParts):
        labels, k = model.predict(prepared.X), len(model.cluster_centers_)
        told = sum(count_labels(part, k) for part in labels.partitions())
        return refer_to_parts(prepared, np.asarray(told))
    if not has_labels(model):
        counts = count_labels(-model.outlier_mask_.astype(np.int32), 0)
    else:
        counts = count_labels(model.predict(prepared.X), len(model.cluster_centers_))
    return refer_to(prepared, counts)


def count_labels(labels: NDArray[np.int32], n_clusters: int) -> Counts:
    """Return the number of outliers, and that of the rows in each cluster.

    A detector has no clusters, and one number for all rows that are no outliers.
    """
    return np.bincount(labels + 1, minlength=1 + max(1, n_clusters)).astype(np.int64)


def compare_labels(reference: Reference, answers: TableResults) -> list[LabelChange]:
    """Compare the shares of outliers and clusters."""
    now = count_labels(answers.labels, answers.n_clusters)
    compared = 1 + answers.n_clusters
    changes = compare_shares(
        reference.label_counts[:compared],
        reference.n_used,
        now[:compared],
        len(answers.labels),
    )
    return [{"label": i - 1, **change} for i, change in enumerate(changes)]


def compare_missing(reference: Reference, answers: TableResults) -> list[MissingChange]:
    """Compare the shares of missing values."""
    prepared = answers.prepared
    names, starts = prepared.preparation.sources, prepared.preparation.starts
    changes = compare_shares(
        reference.n_missing[starts],
        reference.n_rows,
        prepared.n_missing[starts],
        len(prepared.kept),
    )
    return [
        {"feature": name, **change} for name, change in zip(names, changes, strict=True)
    ]


def compare_shares(
    then: Counts, n_then: int, now: Counts, n_now: int
) -> list[ShareChange]:
    """Compare counts of rows of several kinds in two samples.

    The test is exact: given how many rows of a kind there are in both samples together,
    so many would be new ones by chance (R. A. Fisher), twice the smaller tail.
    """
    urn = n_then + n_now, then + now, n_now
    tails = stats.hypergeom.cdf(now, *urn), stats.hypergeom.sf(now - 1, *urn)
    p_values = holm(np.minimum(1.0, 2 * np.minimum(*tails)))
    angles = 2 * np.arcsin(np.sqrt(then / n_then)) - 2 * np.arcsin(np.sqrt(now / n_now))
    differ = (p_values <= LEVEL) & (np.abs(angles) >= LEAST_SHARE_CHANGE)
    return [
        {
            "count_then": int(then[i]),
            "share_then": float(then[i] / n_then),
            "count_now": int(now[i]),
            "share_now": float(now[i] / n_now),
            "p_value": float(p_values[i]),
            "differs": bool(differ[i]),
        }
        for i in range(len(then))
    ]


def holm(p_values: Floats) -> Floats:
    """Correct p-values for their number.

    The chance that any of them is at most p, where nothing has changed, is then at most
    p (S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian
    Journal of Statistics 6 (1979), 65-70).

    Examples
    --------
    >>> holm(np.array([0.01, 0.5, 0.02]))
    array([0.03, 0.5 , 0.04])
    """
    order = np.argsort(p_values, kind="stable")
    times = np.arange(len(p_values), 0, -1)
    corrected = np.empty(len(p_values))
    corrected[order] = np.maximum.accumulate(times * p_values[order])
    return np.minimum(corrected, 1.0)


def compare_features(
    reference: Reference, answers: TableResults
) -> list[FeatureChange]:
    """Compare the distributions of the features."""
    prepared = answers.prepared
    if sparse.issparse(prepared.X):
        return []
    changes: list[FeatureChange] = []
    for j in np.flatnonzero(reference.n_values).tolist():
        now = np.sort(known_values(prepared, j))
        if len(now):
            then = Distribution.of_training(reference, j)
            changes.append(compare_feature(prepared.preparation, j, then, now))
    corrected = holm(np.array([change["p_value"] for change in changes]))
    for change, p_value in zip(changes, corrected.tolist(), strict=True):
        change["p_value"] = p_value
        is_large = change["distance"] >= LEAST_DISTANCE
        change["differs"] = p_value <= LEVEL and is_large
        if not change["differs"]:
            change["units"] = None
    return changes


def compare_feature(
    preparation: Preparation, j: int, then: Distribution, now: Floats
) -> FeatureChange:
    """Compare a feature with its sorted new values; p is not corrected yet."""
    distance = then.distance(now)
    is_category = j >= preparation.n_numbers
    quarters = (0.25, 0.5, 0.75)
    return {
        "feature": preparation.columns[j],
        "quartiles_then": in_table(preparation, [*map(then.quantile, quarters)], j),
        "quartiles_now": in_table(preparation, quartiles_of(now), j),
        "distance": distance,
        "p_value": then.p_value(distance, len(now)),
        "differs": False,
        "units": find_units(preparation, j, then, now)
        if distance >= LEAST_DISTANCE and not is_category
        else None,
        "share_then": then.share_of_ones if is_category else None,
        "share_now": float((now > 0).mean()) if is_category else None,
    }


def quartiles_of(values: Floats) -> list[float]:
    """Return the quartiles of sorted values, each one of them."""
    return values[[len(values) * i // 4 for i in (1, 2, 3)]].tolist()


def in_table(preparation: Preparation, values: Sequence[float], j: int) -> list[Number]:
    """Return numbers of a column in the units of the table."""
    return list(map(finite, preparation.in_data_units(np.array(values), j).tolist()))
