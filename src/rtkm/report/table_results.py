"""What a model makes of the rows of a table, and what these rows are called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rtkm.clusterers._confidence import (
    CONFIDENCES,
    DOUBTFUL,
    OUTLIER,
    confidence_of,
)
from rtkm.core.threshold import is_outlier
from rtkm.tables.columns import text_of
from rtkm.tables.fitted_preparation import Prepared
from rtkm.tables.writing import membership_columns

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

# label and confidence of a row that was left out; -3 as in scikit-learn's HDBSCAN
LEFT_OUT = np.int32(-3)
NO_CONFIDENCE = "missing"

BLOCK = 2**14  # rows whose memberships are looked at together


@dataclass(frozen=True)
class TableResults:
    """What a model, clusterer or detector, makes of rows.

    Attributes
    ----------
    model : estimator
        The fitted model.
    prepared : Prepared
        The rows.
    labels : ndarray of shape (n,)
        Cluster of each row, -1 for outliers; a detector has 0 for all others.
    outliers, scores : ndarrays of shape (n,)
        Which rows are outliers, and how far out each is.
    ranks : ndarray of shape (n,) or None
        How sure labels are, as places in CONFIDENCES; None for detectors.
    memberships : callable
        Returns the membership weights of all rows, (n, k).
    is_fit : bool
        Whether the model was fitted to these rows.
    """

    model: Any
    prepared: Prepared
    labels: NDArray[np.int32]
    outliers: NDArray[np.bool_]
    scores: Floats
    ranks: NDArray[np.int8] | None
    memberships: Callable[[], Floats]
    is_fit: bool = False

    @property
    def standing_out(self) -> NDArray[np.bool_] | None:
        """Return which rows are farther out than clusters explain; None if unknown."""
        # rows that were not fitted to were not looked at
        return getattr(self.model, "standing_out_mask_", None) if self.is_fit else None

    @property
    def n_clusters(self) -> int:
        """Return the number of clusters; a detector has none."""
        return len(self.model.cluster_centers_) if has_labels(self.model) else 0

    def columns(self) -> dict[str, Any]:
        """Return what is written beside the rows."""
        columns: dict[str, Any] = {}
        if self.n_clusters:
            weights = self.memberships()
            weights[self.outliers] = 0.0  # they belong to none
            columns = {"label": self.labels, **membership_columns(weights)}
        columns |= {"outlier": self.outliers, "score": self.scores}
        if self.ranks is not None:
            columns["confidence"] = CONFIDENCES[self.ranks]
        return columns

    def assignments(self) -> sparse.csr_array:
        """Return which clusters the rows are in; outliers are in none."""
        n, inside = len(self.labels), ~self.outliers
        if self.is_fit:
            weights = self.model._memberships.tocsr()
        else:
            weights = sparse.csr_array(self.memberships())
        if weights.nnz == n and (np.diff(weights.indptr) == 1).all():
            rows, columns = np.flatnonzero(inside), self.labels[inside]
            return sparse.csr_array(
                (np.ones(len(rows)), (rows, columns)), weights.shape
            )
        blocks = []
        for first in range(0, n, BLOCK):
            block = slice(first, first + BLOCK)
            crisp = self.model._rule().assignments(weights[block].toarray())
            blocks.append(sparse.csr_array((crisp & inside[block, None]).astype(float)))
        return sparse.vstack(blocks, format="csr")

    def rows_called(self, name: str) -> list[int]:
        """Return all rows of an id, left out or not."""
        ids = self.prepared.ids
        if ids is None:
            return []
        return [row for row, id in enumerate(ids) if text_of(id) == name]

    def farthest(self, most: int) -> Places:
        """Return the outliers of the highest scores, those first."""
        places = np.flatnonzero(self.outliers)
        order = np.argsort(-self.scores[places], kind="stable")
        return places[order[:most]]


def has_labels(model: Any) -> bool:
    """Whether a model says which cluster rows are in; detectors do not."""
    return hasattr(model, "predict_confidence")


def results_of_fit(model: Any, prepared: Prepared) -> TableResults:
    """Return what a model made of the rows it was fitted to."""
    outliers, scores = model.outlier_mask_, model.outlier_scores_
    if not has_labels(model):
        return replace(of_detector(model, prepared, outliers, scores), is_fit=True)
    ranks = ranks_of_fit(model, prepared.X, outliers)
    labels = model.labels_
    return TableResults(
        model,
        prepared,
        labels,
        outliers,
        scores,
        ranks,
        lambda: model.memberships_,
        is_fit=True,
    )


def ranks_of_fit(model: Any, X: Any, outliers: NDArray[np.bool_]) -> NDArray[np.int8]:
    """Return how sure the labels of rows are that a model was fitted to."""
    ranks = confidence_of(model._results(X)).ranks
    # a row at the very cut may be on its other side when it comes again
    ranks[(ranks == OUTLIER) & ~outliers] = DOUBTFUL
    ranks[(ranks < DOUBTFUL) & outliers] = DOUBTFUL
    return ranks


def results_for_new(model: Any, prepared: Prepared) -> TableResults:
    """Return what a model makes of new rows."""
    rows = prepared.X
    if not has_labels(model):
        scores = -model.score_samples(rows)
        outliers = is_outlier(scores, -model.offset_)
        return of_detector(model, prepared, outliers, scores)
    found = model._results(rows)
    return TableResults(
        model,
        prepared,
        found.labels,
        found.outliers,
        found.scores,
        confidence_of(found).ranks,
        lambda: found.memberships,
    )


def of_detector(
    model: Any, prepared: Prepared, outliers: NDArray[np.bool_], scores: Floats
) -> TableResults:
    """Return the answers of a model without clusters."""
    labels = np.where(outliers, np.int32(-1), np.int32(0))
    none = np.empty((len(labels), 0))
    return TableResults(model, prepared, labels, outliers, scores, None, lambda: none)


class RowNames:
    """What rows that were kept are called in their table."""

    def __init__(self, prepared: Prepared) -> None:
        self.places = np.flatnonzero(prepared.kept)
        self.ids = prepared.ids

    def number(self, place: int) -> int:
        """Return the place of a row in the table, from 1."""
        return int(self.places[place]) + 1

    def id(self, place: int) -> str | None:
        """Return what the user calls a row, if anything."""
        if self.ids is None:
            return None
        return text_of(self.ids[int(self.places[place])])
