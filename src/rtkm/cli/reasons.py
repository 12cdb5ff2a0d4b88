"""Why rows are outliers, in the data's own units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtkm._confidence import CONFIDENCES
from rtkm.cli.answers import Answers, Floats, Places, RowNames, frame_for
from rtkm.cli.preparing import Prepared

N_REASONS = 3
LEAST_SHARE = 0.01  # of the score; less is no reason


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
        The rows, and the centers of their nearest clusters.
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
    n_features = rows.shape[1]
    parts = frame.iloc[:, -n_features:]
    features = {name.removeprefix("part_"): j for j, name in enumerate(parts.columns)}
    changed = np.array([features.get(name, -1) for name in frame["change_feature"]])
    changed = changed.astype(np.intp)
    nearest = frame["nearest_cluster"].to_numpy()
    to = frame["change_to"].to_numpy()
    units, middles = np.array(preparation.spread), np.array(preparation.center)
    return Explained(
        nearest=nearest,
        parts=parts.to_numpy(),
        values=as_given(preparation.in_data_units(rows)),
        centers=as_given(preparation.in_data_units(model.cluster_centers_))[nearest],
        changed=changed,
        to=to * units[changed] + middles[changed],
        joined=labels_after(answers, rows, changed, to),
    )


def labels_after(
    answers: Answers, rows: Floats, changed: Places, to: Floats
) -> NDArray[np.int32]:
    """Return the clusters of rows after the change that makes them inliers."""
    labels = np.full(len(rows), np.int32(-1))
    mended = np.flatnonzero(changed >= 0)
    if len(mended):
        rows = rows[mended]
        rows[np.arange(len(mended)), changed[mended]] = to[mended]
        model = answers.model
        labels[mended] = model.predict(frame_for(model, answers.prepared, rows))
    return labels


def as_given(values: Floats) -> Floats:
    """Take off the last digits, which scaling to and fro has changed."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        exponents = np.floor(np.log10(np.abs(values)))
        units = 10.0 ** (exponents - 12)
        rounded = np.round(values / units) * units
    return np.where(np.isfinite(rounded), rounded, values)


def describe_rows(answers: Answers, places: Places) -> list[dict[str, Any]]:
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
    explained = explain_rows(answers, places)
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
