"""Why rows are outliers, in the data's own units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rtkm._optional import import_optional
from rtkm.clusterers._confidence import CONFIDENCES
from rtkm.clusterers._explain import Reasons, narrower, reasons_for
from rtkm.report.category_reasons import as_cells, category_changes
from rtkm.report.findings import Cell, Change, Number, OutlierRow, Reason, finite
from rtkm.report.table_results import (
    LEFT_OUT,
    NO_CONFIDENCE,
    Floats,
    Places,
    RowNames,
    TableResults,
)
from rtkm.tables.columns import text_of
from rtkm.tables.fitted_preparation import Preparation, Prepared

if TYPE_CHECKING:
    import pandas as pd

N_REASONS = 3
LEAST_SHARE = 0.01  # of the score; less is no reason
N_NUDGES = 40  # each twice as large as the last, from the last bit on


@dataclass(frozen=True)
class Explained:
    """What the scores of m rows come from, in the data's own units.

    Columns are those of the table: the features of one column of categories are one.

    Attributes
    ----------
    nearest : ndarray of shape (m,)
        The nearest cluster.
    parts : ndarray of shape (m, n_columns)
        What every column adds to the score.
    values, centers : ndarrays of shape (m, n_columns)
        The rows, and what they are compared with: the center of the nearest cluster,
        or what the centers of a row in several clusters make together. Categories are
        text.
    changes : TableChanges
        What would make outliers inliers.
    """

    nearest: NDArray[np.int32]
    parts: Floats
    values: NDArray[Any]
    centers: NDArray[Any]
    changes: TableChanges


class TableChanges(NamedTuple):
    """The smallest changes of one column that make outliers inliers.

    `column` is -1 where there is none; `cluster` is the one the row would then be in.
    Of a column of categories, `after` is text.
    """

    column: Places
    after: NDArray[Any]
    cluster: NDArray[np.int32]

    def cells(self, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return what would change, given all values, and to what; NaN where none."""
        before = values[np.arange(len(values)), self.column]
        has_one = self.column >= 0
        return np.where(has_one, before, np.nan), np.where(has_one, self.after, np.nan)


def explain_rows(answers: TableResults, places: Places) -> Explained:
    """Explain some rows."""
    return explained_by(
        answers.model, answers.prepared.preparation, answers.prepared.X[places]
    )[0]


def explained_by(
    model: Any, preparation: Preparation, X: Any
) -> tuple[Explained, Reasons]:
    """Explain rows, in the units of the table and of the matrix."""
    some = model._results(X)
    is_number = np.arange(len(preparation.columns)) < preparation.n_numbers
    found = reasons_for(some.X, some.rule, narrower(some.X.dtype, X), is_number)
    rows = X.toarray() if sparse.issparse(X) else X
    targets = some.rule.targets(some)
    explained = Explained(
        nearest=found.labels,
        parts=preparation.by_source(found.parts),
        values=as_cells(as_given(rows, preparation), preparation),
        centers=as_cells(as_given(targets, preparation), preparation),
        changes=changes_in_table(model, preparation, rows, found),
    )
    return explained, found


def explain_frame(model: Any, prepared: Prepared) -> pd.DataFrame:
    """Explain all rows of a table, in its own units, as a frame.

    Rows that were left out have no answer: label -3, confidence "missing".
    """
    pd = import_optional("pandas", needed_by="explain")
    explained, found = explained_by(model, prepared.preparation, prepared.X)
    before, after = explained.changes.cells(explained.values)
    frame = found._replace(
        changed=explained.changes.column,
        before=before,
        after=after,
        parts=explained.parts,
    ).frame(prepared.preparation.sources)
    if not prepared.kept.all():
        frame["confidence"] = frame["confidence"].cat.add_categories([NO_CONFIDENCE])
        frame.index = np.flatnonzero(prepared.kept)
        rows = range(len(prepared.kept))
        blanks = {
            "outlier": False,
            "nearest_cluster": LEFT_OUT,
            "confidence": NO_CONFIDENCE,
        }
        filled = {
            name: frame[name].reindex(rows, fill_value=blank)
            for name, blank in blanks.items()
        }
        frame = frame.reindex(rows).assign(**filled)
    if prepared.ids is not None:
        frame.index = pd.Index([text_of(id) for id in prepared.ids])
    return frame


def changes_in_table(
    model: Any, preparation: Preparation, rows: Floats, found: Reasons
) -> TableChanges:
    """Return the smallest change of a number, in its own units, or of a category."""
    to, cluster = in_table_units(model, preparation, rows, found)
    column = np.where(cluster < 0, -1, found.changed).astype(np.intp)
    places = np.flatnonzero(found.outliers)
    if not preparation.categories or not len(places):
        return TableChanges(column, to, cluster)
    to = to.astype(object)
    others = category_changes(model, preparation, rows[places])
    size = np.abs(found.after - found.before)[places]
    is_less = others.size < np.where(column[places] < 0, np.inf, size)
    places, others = places[is_less], others.only(is_less)
    column[places], cluster[places] = others.source, others.cluster
    names = [*preparation.categories.values()]
    for row, source, place in zip(places, others.source, others.place, strict=True):
        to[row] = names[source - preparation.n_numbers][place]
    return TableChanges(column, to, cluster)


def in_table_units(
    model: Any, preparation: Preparation, rows: Floats, found: Reasons
) -> tuple[Floats, NDArray[np.int32]]:
    """Return the changes in the data's units, and the clusters that they lead to.

    What is an inlier in scaled units may not be one after going to and fro, for want of
    a last bit; then the change goes on by as much.
    """
    changed, to = found.changed, found.after
    units = np.array(preparation.spread)
    labels = np.full(len(rows), np.int32(-1))
    needed = preparation.in_data_units(to, changed)
    left = np.flatnonzero(changed >= 0)
    own = rows[np.arange(len(rows)), changed]
    onward = np.sign(to - own)
    for nudge in range(N_NUDGES):
        if not len(left):
            break
        j = changed[left]
        # nobody could give a row a number without a logarithm
        too_small = preparation.is_logged[j] & (needed[left] < 0)
        needed[left[too_small]] = 0.0
        new = rows[left]
        new[np.arange(len(left)), j] = preparation.in_matrix_units(needed[left], j)
        labels[left] = model.predict(new)
        left = left[labels[left] < 0]
        size = np.maximum(np.abs(needed[left]), units[changed[left]])
        needed[left] += onward[left] * 2.0**nudge * np.spacing(size)
    return needed, labels


def as_given(rows: Floats, preparation: Preparation) -> Floats:
    """Put rows into the data's units, without the digits that scaling has changed."""
    if preparation.is_identity:
        return rows
    values = preparation.in_data_units(rows)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        units = 10.0 ** (np.floor(np.log10(np.abs(values))) - 14)
        rounded = np.round(values / units) * units
    return np.where(np.isfinite(rounded), rounded, values)


def describe_rows(
    answers: TableResults, places: Places, explained: Explained | None = None
) -> list[OutlierRow]:
    """Return what is known of some rows, as it stands in the findings."""
    names = RowNames(answers.prepared)
    ranks = ranks_among_outliers(answers, places)
    described: list[OutlierRow] = [
        {
            "row": names.number(place),
            "id": names.id(place),
            "score": finite(answers.scores[place]),
            "times_cutoff": times_cutoff(answers, place),
            "rank": rank if answers.outliers[place] else None,
            "nearest": None,
            "confidence": None,
            "reasons": [],
            "filled": filled_features(answers.prepared, place),
            "change": None,
        }
        for place, rank in zip(places.tolist(), ranks, strict=True)
    ]
    if answers.ranks is None or not len(places):
        return described
    explained = explained or explain_rows(answers, places)
    columns = answers.prepared.preparation.sources
    words = CONFIDENCES[answers.ranks[places]].tolist()
    for i, entry in enumerate(described):
        entry["nearest"] = int(explained.nearest[i])
        entry["confidence"] = words[i]
        entry["reasons"] = largest_parts(explained, i, columns)
        entry["change"] = change(explained, i, columns)
    return described


def times_cutoff(answers: TableResults, place: int) -> Number:
    """Return the score of a row in multiples of the cut-off, if there is one."""
    cut = -answers.model.offset_
    if not 0 < cut < np.inf:
        return None
    with np.errstate(over="ignore"):
        return finite(answers.scores[place] / np.float64(cut))


def ranks_among_outliers(answers: TableResults, places: Places) -> list[int]:
    """Return the places of rows among the outliers, the largest score first."""
    falling = np.sort(-answers.scores[answers.outliers])
    ranks = 1 + np.searchsorted(falling, -answers.scores[places], side="left")
    return [int(rank) for rank in ranks]


def filled_features(prepared: Prepared, place: int) -> list[str]:
    """Return the columns of a row that had missing cells which were filled in."""
    if prepared.filled is None:
        return []
    preparation = prepared.preparation
    places = np.flatnonzero(prepared.filled[place, preparation.starts]).tolist()
    return [preparation.sources[j] for j in places]


def largest_parts(
    explained: Explained, i: int, columns: tuple[str, ...]
) -> list[Reason]:
    """Return the columns that add most to the score of a row."""
    parts = explained.parts[i]
    total = parts.sum()
    if not 0 < total < np.inf:
        return []
    top = np.argsort(-parts, kind="stable")[:N_REASONS]
    return [
        {
            "feature": columns[j],
            "share": float(parts[j] / total),
            "value": cell(explained.values[i, j]),
            "center": cell(explained.centers[i, j]),
        }
        for j in top.tolist()
        if parts[j] >= LEAST_SHARE * total
    ]


def change(explained: Explained, i: int, columns: tuple[str, ...]) -> Change | None:
    """Return the smallest change of one column that would make a row an inlier."""
    changes = explained.changes
    j = int(changes.column[i])
    if j < 0:
        return None
    return {
        "feature": columns[j],
        "from": cell(explained.values[i, j]),
        "to": cell(changes.after[i]),
        "cluster": int(changes.cluster[i]),
    }


def cell(value: Any) -> Cell:
    """Return text as it is, and numbers for JSON."""
    return value if isinstance(value, str) else finite(value)
