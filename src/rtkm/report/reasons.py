"""Why rows are outliers, in the data's own units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rtkm._optional import import_optional
from rtkm.clusterers._confidence import CONFIDENCES
from rtkm.clusterers._explain import Reasons, reasons_for
from rtkm.report.findings import Change, Number, OutlierRow, Reason, finite
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

    Attributes
    ----------
    nearest : ndarray of shape (m,)
        The nearest cluster.
    parts : ndarray of shape (m, d)
        What every feature adds to the score.
    values, centers : ndarrays of shape (m, d)
        The rows, and what they are compared with: the center of the nearest cluster,
        or what the centers of a row in several clusters make together.
    changed : ndarray of shape (m,)
        The feature whose change would make an outlier an inlier, or -1.
    to : ndarray of shape (m,)
        What it would have to be.
    joined : ndarray of shape (m,)
        The cluster it would then be in, -1 where there is no such change.
    """

    nearest: NDArray[np.int32]
    parts: Floats
    values: Floats
    centers: Floats
    changed: Places
    to: Floats
    joined: NDArray[np.int32]


def explain_rows(answers: TableResults, places: Places) -> Explained:
    """Explain some rows."""
    model, preparation = answers.model, answers.prepared.preparation
    rows = answers.prepared.X[places]
    some = model._results(rows)
    found = reasons_for(some.X, some.rule, some.X.dtype)
    targets = some.rule.targets(some)
    rows = rows.toarray() if sparse.issparse(rows) else rows
    to, joined = in_table_units(model, preparation, rows, found)
    return Explained(
        nearest=found.labels,
        parts=found.parts,
        values=as_given(rows, preparation),
        centers=as_given(targets, preparation),
        changed=np.where(joined < 0, -1, found.changed).astype(np.intp),
        to=to,
        joined=joined,
    )


def explain_frame(model: Any, prepared: Prepared) -> pd.DataFrame:
    """Explain all rows of a table, in its own units, as a frame.

    Rows that were left out have no answer: label -3, confidence "missing".
    """
    pd = import_optional("pandas", needed_by="explain")
    preparation, names = prepared.preparation, prepared.preparation.columns
    found = model._reasons(prepared.X)
    rows = prepared.X.toarray() if sparse.issparse(prepared.X) else prepared.X
    to, joined = in_table_units(model, preparation, rows, found)
    changed = np.where(joined < 0, -1, found.changed)
    before = as_given(rows, preparation)[np.arange(len(rows)), changed]
    frame = found._replace(
        changed=changed,
        before=np.where(changed < 0, np.nan, before),
        after=np.where(changed < 0, np.nan, to),
    ).frame(names)
    if not prepared.kept.all():
        frame["confidence"] = frame["confidence"].cat.add_categories([NO_CONFIDENCE])
        frame.index = np.flatnonzero(prepared.kept)
        frame = frame.reindex(range(len(prepared.kept)))
        blanks = {
            "outlier": False,
            "nearest_cluster": LEFT_OUT,
            "confidence": NO_CONFIDENCE,
        }
        frame = frame.fillna(blanks)
        frame = frame.astype({"outlier": bool, "nearest_cluster": np.int32})
    if prepared.ids is not None:
        frame.index = pd.Index([text_of(id) for id in prepared.ids])
    return frame


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
    if preparation.scale == "none" and not preparation.log:
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
    features = answers.prepared.preparation.columns
    words = CONFIDENCES[answers.ranks[places]].tolist()
    for i, entry in enumerate(described):
        entry["nearest"] = int(explained.nearest[i])
        entry["confidence"] = words[i]
        entry["reasons"] = largest_parts(explained, i, features)
        entry["change"] = change(explained, i, features)
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
    """Return the features of a row that stand for missing cells."""
    if prepared.filled is None:
        return []
    places = np.flatnonzero(prepared.filled[place]).tolist()
    return [prepared.preparation.columns[j] for j in places]


def largest_parts(
    explained: Explained, i: int, features: tuple[str, ...]
) -> list[Reason]:
    """Return the features that add most to the score of a row."""
    parts = explained.parts[i]
    total = parts.sum()
    if not 0 < total < np.inf:
        return []
    top = np.argsort(-parts, kind="stable")[:N_REASONS]
    return [
        {
            "feature": features[j],
            "share": float(parts[j] / total),
            "value": finite(explained.values[i, j]),
            "center": finite(explained.centers[i, j]),
        }
        for j in top.tolist()
        if parts[j] >= LEAST_SHARE * total
    ]


def change(explained: Explained, i: int, features: tuple[str, ...]) -> Change | None:
    """Return the smallest change of one feature that would make a row an inlier."""
    j = int(explained.changed[i])
    if j < 0:
        return None
    return {
        "feature": features[j],
        "from": finite(explained.values[i, j]),
        "to": finite(explained.to[i]),
        "cluster": int(explained.joined[i]),
    }
