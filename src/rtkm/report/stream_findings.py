"""From a fit to a table in parts to its findings.

Counts, centers, spreads and the listed outliers are those of all rows, added up part by
part. What is drawn is of a sample, as are the columns that were left out; of a table of
no more rows than the sample has, all of it is what it would be in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtkm._number_text import counted
from rtkm.choosing.choice import Choice
from rtkm.clusterers._confidence import BORDER, CORE, DOUBTFUL
from rtkm.core.columns import together
from rtkm.core.lazy_rows import Feed
from rtkm.core.sources import partitioned
from rtkm.core.threshold import is_outlier
from rtkm.report.collect import (
    MOST_OUTLIERS,
    contrasts,
    find,
    members_of,
    on_ties,
    resample_table,
)
from rtkm.report.findings import Findings, OutlierRow, finite_list
from rtkm.report.first_rows import first_rows
from rtkm.report.reasons import describe_rows
from rtkm.report.stream_results import StreamedResults
from rtkm.report.summary import summarize
from rtkm.report.table_results import Floats, Places, TableResults, ranks_of_fit
from rtkm.tables.fitted_preparation import Prepared
from rtkm.tables.frames import as_table
from rtkm.tables.prepared_parts import PreparedParts

MOST_SAMPLED = 20_000  # rows that are drawn
FIRST = 5  # rows of the table that are shown

# by their names: what a fit has for each row
OF_ROWS = ("labels_", "outlier_mask_", "outlier_scores_", "memberships_")


@dataclass(frozen=True)
class PartResults(TableResults):
    """What a model made of some of the rows it was fitted to.

    Attributes
    ----------
    far : ndarray of shape (n,) or None
        Which of them stand out, if that is known.
    """

    far: NDArray[np.bool_] | None = None

    @property
    def standing_out(self) -> NDArray[np.bool_] | None:
        """Return which rows are farther out than clusters explain; None if unknown."""
        return self.far


def results_of_part(
    model: Any, prepared: Prepared, entries: tuple[NDArray[Any], ...]
) -> PartResults:
    """Return what a model made of rows, given what it has for each of them."""
    labels, outliers, scores, memberships, *far = entries
    ranks = ranks_of_fit(model, prepared.X, outliers)
    return PartResults(
        model,
        prepared,
        labels,
        outliers,
        scores,
        ranks,
        memberships.copy,
        far=far[0] if far else None,
    )


def entries_of(model: Any) -> Iterator[tuple[NDArray[Any], ...]]:
    """Yield what a fitted model has for each row, part by part."""
    far = getattr(model, "standing_out_mask_", None)
    columns = [getattr(model, name) for name in OF_ROWS]
    return together([*columns, *([] if far is None else [far])])


class FitResults(StreamedResults):
    """Answers for the rows that a model was fitted to, part by part, in their order."""

    def __init__(self, model: Any, prepared: PreparedParts) -> None:
        super().__init__(model, prepared.repetition(), prepared.stream, n_listed=0)
        self.feed = Feed(entries_of(model))

    def _judge(self, prepared: Prepared) -> TableResults:
        entries = self.feed.take(len(prepared.X))
        return results_of_part(self.model, prepared, entries)


class Summed:
    """What is counted and added up over all rows.

    Parameters
    ----------
    model : estimator
        The fitted model.
    prepared : PreparedParts
        The rows.
    """

    def __init__(self, model: Any, prepared: PreparedParts) -> None:
        self.model, self.prepared = model, prepared
        C = model.cluster_centers_
        self.origin, self.own_origin = C, prepared.preparation.in_data_units(C)
        k = len(C)
        self.sizes, self.ranks = np.zeros(k, np.int64), np.zeros((k, 3), np.int64)
        # sums and squares of each cluster: as scaled, and in the units of the table
        self.sums, self.squares, self.own_sums, self.own_squares = np.zeros(
            (4, *C.shape)
        )
        self.common = np.zeros((k, k), np.int64)
        self.n_several = self.n_outliers = self.n_doubtful = self.n_ties = 0
        self.n_far = np.zeros(2, np.int64)  # inliers and outliers that stand out
        self.knows_far = False
        self.far_scores, self.far_places = np.empty(0), np.empty(0, np.intp)

    def add(self, answers: PartResults, first: int) -> None:
        """Add a part, whose first row has this place among the kept."""
        outliers, ranks = answers.outliers, answers.ranks
        assert ranks is not None
        assignments = answers.assignments()
        for label, rows in enumerate(members_of(answers, assignments)):
            self.sizes[label] += len(rows)
            self.ranks[label] += np.bincount(ranks[rows], minlength=4)[:3]
            self._add_squares(label, answers.prepared.X[rows])
        several = np.diff(assignments.indptr) > 1
        if several.any():
            self.n_several += int(several.sum())
        self.common += (assignments.T @ assignments).toarray().astype(np.int64)
        self.n_outliers += int(outliers.sum())
        self.n_doubtful += int(((ranks == DOUBTFUL) & ~outliers).sum())
        beyond = is_outlier(answers.scores, -self.model.offset_)
        self.n_ties += int((beyond != outliers).sum())
        if answers.far is not None:
            self.knows_far = True
            self.n_far += [
                (answers.far & ~outliers).sum(),
                (answers.far & outliers).sum(),
            ]
        places = answers.farthest(MOST_OUTLIERS)
        scores = np.append(self.far_scores, answers.scores[places])
        order = np.argsort(-scores, kind="stable")[:MOST_OUTLIERS]
        self.far_scores = scores[order]
        self.far_places = np.append(self.far_places, first + places)[order]

    def _add_squares(self, label: int, X: Floats) -> None:
        """Add what the spread of a cluster is made of."""
        preparation = self.prepared.preparation
        away = X - self.origin[label]
        self.sums[label] += away.sum(axis=0)
        self.squares[label] += np.square(away).sum(axis=0)
        for j in np.flatnonzero(preparation.is_logged).tolist():
            own = preparation.in_data_units(X[:, j], j) - self.own_origin[label, j]
            self.own_sums[label, j] += own.sum()
            self.own_squares[label, j] += np.square(own).sum()

    def spreads(self) -> tuple[Floats, Floats]:
        """Return the spread of each cluster, with logarithms, and without them."""
        preparation, n = self.prepared.preparation, np.maximum(self.sizes, 1)[:, None]
        variances = self.squares / n - np.square(self.sums / n)
        scaled = np.sqrt(np.maximum(variances, 0)) * np.array(preparation.spread)
        own = np.sqrt(
            np.maximum(self.own_squares / n - np.square(self.own_sums / n), 0)
        )
        return scaled, np.where(preparation.is_logged, own, scaled)


def find_in_parts(
    model: Any,
    prepared: PreparedParts,
    *,
    command: str,
    notes: list[str],
    choice: Choice | None = None,
) -> Findings:
    """Return the findings of a fit; the caller adds the seconds it took.

    Parameters
    ----------
    model : estimator
        The fitted model.
    prepared : PreparedParts
        What it was fitted to.
    command : str
        What was asked for.
    notes : list of str
        What was said before.
    choice : Choice, default=None
        What was chosen.
    """
    sampled, summed = sample_and_sum(model, prepared)
    X = partitioned(None, prepared.X)
    try:
        stability = resample_table(model, X)
    finally:
        X.close()
    places, answers = sampled
    sheet = as_table(prepared.table(places))
    findings = find(
        answers,
        sheet,
        command=command,
        notes=[*notes, *on_ties(summed.n_ties), *on_sample(prepared, len(places))],
        choice=choice,
        stability=stability,
    )
    put_numbers(findings, prepared.kept.numbers(places))
    put_counts(findings, summed, is_sample=len(places) < prepared.n_kept)
    findings["summary"] = summarize(findings)
    return findings


def on_sample(prepared: PreparedParts, n_sampled: int) -> list[str]:
    """Say what is not of all rows."""
    if n_sampled == prepared.n_kept:
        return []
    rows = counted(n_sampled, "row")
    return [
        "The table was read in parts: counts, centers and outliers are those of all "
        f"rows; pictures, columns that were left out and rows between clusters are "
        f"those of a sample of {rows}."
    ]


def sample_and_sum(
    model: Any, prepared: PreparedParts
) -> tuple[tuple[Places, PartResults], Summed]:
    """Go through all rows once: return answers for some, and what they add up to."""
    summed, places = Summed(model, prepared), prepared.sampled(MOST_SAMPLED)
    first, taken = 0, []
    for source, entries in zip(prepared.X.sources, entries_of(model), strict=True):
        X, n_rows = source.load(), source.n_rows
        some = Prepared(
            X,
            prepared.preparation,
            np.ones(n_rows, bool),
            {},
            None,
            None,
            (),
            prepared.n_missing,
        )
        summed.add(results_of_part(model, some, entries), first)
        here = slice(*np.searchsorted(places, [first, first + n_rows]))
        rows = places[here] - first
        taken.append(tuple(column[rows] for column in entries))
        first += n_rows
    all_taken = tuple(map(np.concatenate, zip(*taken, strict=True)))
    return (places, results_of_part(model, prepared.some(places), all_taken)), summed


def put_numbers(findings: Findings, numbers: Places) -> None:
    """Give rows of a sample their numbers in the table, from 1."""
    if findings["between"] is not None:
        for entry in findings["between"]["rows"]:
            entry["row"] = int(numbers[entry["row"] - 1]) + 1
    if findings["scatter"] is not None:
        points = findings["scatter"]["points"]
        points["row"] = [int(numbers[row - 1]) + 1 for row in points["row"]]


def put_counts(findings: Findings, summed: Summed, *, is_sample: bool) -> None:
    """Put what all rows come to in the place of what a sample did."""
    prepared = summed.prepared
    stream, n_kept = prepared.stream, prepared.n_kept
    n_rows = stream.n_rows
    findings["source"] = {
        "name": stream.name,
        "format": stream.format,
        "n_rows": n_rows,
        "n_columns": len(stream.names),
        "n_used": n_kept,
        "n_dropped": n_rows - n_kept,
    }
    scaled, own = summed.spreads()
    if is_sample:
        centers = prepared.preparation.unscaled(summed.origin)
        members = [range(size) for size in summed.sizes.tolist()]
        features = list(prepared.preparation.columns)
        findings["contrasts"] = contrasts(centers, scaled, members, features)  # type: ignore[arg-type]
    for label, cluster in enumerate(findings["clusters"]):
        cluster["size"] = int(summed.sizes[label])
        cluster["share"] = cluster["size"] / n_kept
        counts = summed.ranks[label].tolist()
        cluster["confidence"] = {
            "core": counts[CORE],
            "border": counts[BORDER],
            "doubtful": counts[DOUBTFUL],
        }
        if is_sample:
            cluster["spread"] = finite_list(own[label])
    findings["n_doubtful"] = summed.n_doubtful
    findings["overlap"] = None
    if summed.n_several:
        matrix = summed.common.tolist()
        findings["overlap"] = {"several": summed.n_several, "matrix": matrix}
    outliers = findings["outliers"]
    outliers["count"] = summed.n_outliers
    outliers["share"] = summed.n_outliers / n_kept
    if summed.knows_far:
        also, far = summed.n_far.tolist()
        outliers["standing_out"], outliers["also_standing_out"] = far, also
    outliers["rows"] = farthest_rows(summed)
    head = stream.partitions[0].read().slice(0, FIRST)
    shown = first_rows(as_table(head), prepared.preparation)
    findings["first_rows"]["rows"] = shown["rows"]


def farthest_rows(summed: Summed) -> list[OutlierRow]:
    """Describe the outliers of the highest scores."""
    prepared, model = summed.prepared, summed.model
    if not len(summed.far_places):
        return []
    order = np.argsort(summed.far_places)
    places, scores = summed.far_places[order], summed.far_scores[order]
    some = prepared.some(places)
    m, all_out = len(places), np.ones(len(places), bool)
    ranks = ranks_of_fit(model, some.X, all_out)
    labels, none = np.full(m, np.int32(-1)), np.empty((m, 0))
    answers = PartResults(model, some, labels, all_out, scores, ranks, lambda: none)
    numbers = prepared.kept.numbers(places)
    described = describe_rows(answers, answers.farthest(MOST_OUTLIERS))
    for entry in described:
        entry["row"] = int(numbers[entry["row"] - 1]) + 1
    return described
