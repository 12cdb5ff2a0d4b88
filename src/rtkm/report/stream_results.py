"""What a model makes of rows that come in parts."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtkm.report.drift import count_labels
from rtkm.report.findings import OutlierRow
from rtkm.report.reasons import describe_rows
from rtkm.report.table_results import TableResults, has_labels, results_for_new
from rtkm.tables.arrow import pa
from rtkm.tables.fitted_preparation import Prepared
from rtkm.tables.stream_repeat import Repetition
from rtkm.tables.stream_schema import as_schema
from rtkm.tables.streams import Stream
from rtkm.tables.writing import REASON, answer_columns

FEWEST_TOGETHER = 1024  # rows that are judged at a time, at least
NUMBERS_OF_CELL = 6  # that work takes, for each feature and cluster of a row
NUMBERS_OF_ROW = 64  # and for what is said of it


class StreamedResults:
    """Answers for parts of new rows, and what can be summed up over them.

    Parameters
    ----------
    model : estimator
        The fitted model.
    repetition : Repetition
        How rows are prepared.
    stream : Stream
        The rows.
    n_listed : int
        How many of the farthest outliers are described.

    Attributes
    ----------
    counts : ndarray of shape (1 + n_clusters,)
        How many rows are outliers, and how many are in each cluster.
    farthest : list of OutlierRow
        The outliers of the highest scores so far.
    """

    def __init__(
        self, model: Any, repetition: Repetition, stream: Stream, n_listed: int
    ) -> None:
        self.model, self.repetition, self.stream = model, repetition, stream
        self.n_clusters = len(model.cluster_centers_) if has_labels(model) else 0
        self.counts: NDArray[np.int64] = count_labels(
            np.empty(0, np.int32), self.n_clusters
        )
        self.n_listed = n_listed
        self.farthest: list[OutlierRow] = []
        n_numbers = len(repetition.preparation.columns) + self.n_clusters
        row_bytes = 8 * (NUMBERS_OF_CELL * n_numbers + NUMBERS_OF_ROW)
        self.n_together = max(FEWEST_TOGETHER, stream.most_bytes // row_bytes)

    @property
    def names(self) -> list[str]:
        """The columns of the table that answers are made from."""
        return self.repetition.names

    @property
    def n_outliers(self) -> int:
        """The number of outliers so far."""
        return int(self.counts[0])

    @cached_property
    def schema(self) -> Any:
        """The columns of the answers."""
        preparation = self.repetition.preparation
        X = np.zeros((1, len(preparation.columns)))
        none = np.zeros(X.shape[1], dtype=np.int64)
        prepared = Prepared(X, preparation, np.ones(1, bool), {}, None, None, (), none)
        columns = answer_columns(results_for_new(self.model, prepared).columns(), None)
        fields = list(pa.table(columns).schema)
        if self.repetition.has_reasons:
            fields.append(pa.field(REASON, pa.string()))
        return pa.schema(fields)

    def answer(self, table: Any, start: int) -> Any:
        """Return answers for rows, the first of which has this number."""
        wanted = pa.schema([self.stream.schema.field(name) for name in self.names])
        rows, schema = as_schema(table, wanted), self.schema
        some = [
            self._answer(rows.slice(i, self.n_together), start + i, schema)
            for i in range(0, rows.num_rows, self.n_together)
        ]
        return pa.concat_tables(some)

    def _answer(self, rows: Any, start: int, schema: Any) -> Any:
        """Return answers for rows that are judged together."""
        prepared = self.repetition.prepared(rows)
        columns: dict[str, Any] = {}
        if prepared.kept.any():
            answers = self._judge(prepared)
            self._count(answers, start)
            columns = answer_columns(answers.columns(), prepared.kept)
        else:
            columns = {name: pa.nulls(rows.num_rows) for name in schema.names}
        if self.repetition.has_reasons:
            reasons = [prepared.reasons.get(i) for i in range(rows.num_rows)]
            columns[REASON] = pa.array(reasons, pa.string())
        return pa.table(columns).cast(schema)

    def _judge(self, prepared: Prepared) -> TableResults:
        """Return what the model makes of rows."""
        return results_for_new(self.model, prepared)

    def _count(self, answers: TableResults, start: int) -> None:
        """Add up what is said of all rows."""
        self.counts = self.counts + count_labels(answers.labels, self.n_clusters)
        found = describe_rows(answers, answers.farthest(self.n_listed))
        for entry in found:
            entry["row"] += start
        self.farthest += found
        self.farthest.sort(key=score_of, reverse=True)
        del self.farthest[self.n_listed :]
        for rank, entry in enumerate(self.farthest, start=1):
            entry["rank"] = rank


def score_of(entry: OutlierRow) -> float:
    """Return the score of an outlier, infinite where it is too large to be told."""
    return np.inf if entry["score"] is None else entry["score"]
