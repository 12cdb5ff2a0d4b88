"""Why rows are outliers, in the data's own units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtkm._confidence import CONFIDENCES
from rtkm.cli.answers import Answers, Floats, Places, RowNames, frame_for
from rtkm.cli.preparing import Preparation, Prepared

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


def explain_rows(answers: Answers, places: Places) -> Explained:
    """Explain some rows."""
    prepared, model = answers.prepared, answers.model
    preparation = prepared.preparation
    rows = prepared.X[places]
    frame = model.explain(frame_for(model, prepared, rows))
    parts = frame.iloc[:, -rows.shape[1] :]
    features = {name.removeprefix("part_"): j for j, name in enumerate(parts.columns)}
    changed = np.array([features.get(name, -1) for name in frame["change_feature"]])
    targets = model._targets(model._admit_new(frame_for(model, prepared, rows)))
    to, joined = mend(answers, rows, changed, frame["change_to"].to_numpy())
    return Explained(
        nearest=frame["nearest_cluster"].to_numpy(),
        parts=parts.to_numpy(),
        values=as_given(rows, preparation),
        centers=as_given(targets, preparation),
        changed=np.where(joined < 0, -1, changed).astype(np.intp),
        to=to,
        joined=joined,
    )


def mend(
    answers: Answers, rows: Floats, changed: Places, to: Floats
) -> tuple[Floats, NDArray[np.int32]]:
    """Return the changes in the data's units, and the clusters that they lead to.

    What is an inlier in scaled units may not be one after going to and fro, for want of
    a last bit; then the change goes on by as much.
    """
    preparation = answers.prepared.preparation
    units, middles = np.array(preparation.spread), np.array(preparation.center)
    labels = np.full(len(rows), np.int32(-1))
    found = to * units[changed] + middles[changed]
    left = np.flatnonzero(changed >= 0)
    own = rows[np.arange(len(rows)), changed]
    onward = np.sign(to - own)
    for nudge in range(N_NUDGES):
        if not len(left):
            break
        j = changed[left]
        new = rows[left]
        new[np.arange(len(left)), j] = (found[left] - middles[j]) / units[j]
        labels[left] = answers.model.predict(
            frame_for(answers.model, answers.prepared, new)
        )
        left = left[labels[left] < 0]
        size = np.maximum(np.abs(found[left]), units[changed[left]])
        found[left] += onward[left] * 2.0**nudge * np.spacing(size)
    return found, labels


def as_given(rows: Floats, preparation: Preparation) -> Floats:
    """Put rows into the data's units, without the digits that scaling has changed."""
    if preparation.scale == "none":
        return rows
    values = preparation.in_data_units(rows)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        units = 10.0 ** (np.floor(np.log10(np.abs(values))) - 14)
        rounded = np.round(values / units) * units
    return np.where(np.isfinite(rounded), rounded, values)


def describe_rows(
    answers: Answers, places: Places, explained: Explained | None = None
) -> list[dict[str, Any]]:
    """Return what is known of some rows, as it stands in the findings."""
    names = RowNames(answers.prepared)
    described = [
        {
            "row": names.number(place),
            "id": names.id(place),
            "score": answers.scores[place],
            "nearest": None,
            "confidence": None,
            "reasons": [],
            "filled": filled_features(answers.prepared, place),
            "change": None,
        }
        for place in places.tolist()
    ]
    if answers.ranks is None or not len(places):
        return described
    explained = explained or explain_rows(answers, places)
    features = answers.prepared.preparation.columns
    words = CONFIDENCES[answers.ranks[places]].tolist()
    for i, entry in enumerate(described):
        entry |= {
            "nearest": int(explained.nearest[i]),
            "confidence": words[i],
            "reasons": largest_parts(explained, i, features),
            "change": change(explained, i, features),
        }
    return described


def filled_features(prepared: Prepared, place: int) -> list[str]:
    """Return the features of a row that stand for missing cells."""
    if prepared.filled is None:
        return []
    places = np.flatnonzero(prepared.filled[place]).tolist()
    return [prepared.preparation.columns[j] for j in places]


def largest_parts(
    explained: Explained, i: int, features: tuple[str, ...]
) -> list[dict[str, Any]]:
    """Return the features that add most to the score of a row."""
    parts = explained.parts[i]
    total = parts.sum()
    if not 0 < total < np.inf:
        return []
    top = np.argsort(-parts, kind="stable")[:N_REASONS]
    return [
        {
            "feature": features[j],
            "share": parts[j] / total,
            "value": explained.values[i, j],
            "center": explained.centers[i, j],
        }
        for j in top.tolist()
        if parts[j] >= LEAST_SHARE * total
    ]


def change(
    explained: Explained, i: int, features: tuple[str, ...]
) -> dict[str, Any] | None:
    """Return the smallest change of one feature that would make a row an inlier."""
    j = int(explained.changed[i])
    if j < 0:
        return None
    return {
        "feature": features[j],
        "from": explained.values[i, j],
        "to": explained.to[i],
        "cluster": int(explained.joined[i]),
    }
