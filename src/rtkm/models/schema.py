"""What a model file says: its parts, its formats, and how old ones are read.

A file (see :mod:`rtkm.models.container`, and ``docs/guide/models.md`` for readers in
other languages) holds arrays, and JSON of this form::

    {"format": 5,
     "written_by": {"rtkm": "0.2.0", "numpy": "2.4.6", ...},
     "model": {"method": "RTKM",
               "parameters": {"n_clusters": 3, "init": "k-means++", ...},
               "learned": {"n_features_in_": 4, "feature_names_in_": ["height", ...],
                           "cluster_centers_": {"array": "model.cluster_centers_"},
                           "offset_": {"float": "-inf"}, ...}},
     "extra": {}}

A value is what JSON has for it, or the name of an array, or an infinite float, or, with
the keys of ``model``, another estimator. Whatever changes the meaning of a file takes
the next number as its ``format``:

1. The command line put the preparation of the table into ``extra``, where a model
   loaded in Python did not see it.
2. ``TableModel`` has it among what it learned.
3. ``RTKM`` has the numbers it chose, and why, among what it learned; parameters that
   are not in a file of before are what the defaults were.
4. A preparation has the column that names rows and the columns whose logarithm is
   used, and may treat missing values by column. A summary of the training rows may be
   beside it, to compare new rows with.
5. A preparation has the columns of categories, and the categories of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from rtkm._version import __version__
from rtkm.core.fields import Array, Field, Scalar, Sizes
from rtkm.core.params import Count
from rtkm.models.container import Arrays
from rtkm.tables.fitted_preparation import LISTS, Preparation, is_preparation
from rtkm.tables.reference import Reference

# the file format version: what changes the meaning of a file raises it
FORMAT_VERSION = 5
PARTS = ["extra", "model", "written_by"]


@dataclass(frozen=True)
class PreparationField(Field):
    """What was done to the table that a model was fitted to."""

    def validate(self, name: str, value: Any, sizes: Sizes) -> Preparation:
        """Return a preparation, made of what `plain_preparation` returned."""
        parts = dict(value) if isinstance(value, dict) else {}
        for key in LISTS:
            if isinstance(parts.get(key), np.ndarray):
                parts[key] = parts[key].ravel().tolist()
        if is_pairs(parts.get("missing"), str):
            parts["missing"] = dict(parts["missing"])
        if is_pairs(parts.get("categories"), list):
            parts["categories"] = dict(parts["categories"])
        if not is_preparation(parts):
            raise ValueError(f"{name} is damaged; fit the model again.")
        sizes["features"] = len(parts["columns"])
        parts["categories"] = {
            column: tuple(values) for column, values in parts["categories"].items()
        }
        fields: dict[str, Any] = {
            key: tuple(part) if isinstance(part, list) else part
            for key, part in parts.items()
        }
        return Preparation(**fields)


@dataclass(frozen=True)
class ReferenceField(Field):
    """What new rows are compared with."""

    def may_be_absent(self, others: Mapping[str, Any]) -> bool:
        """Files from before version 0.2 have none."""
        return True

    def validate(self, name: str, value: Any, sizes: Sizes) -> Reference:
        """Return a reference, made of its parts."""
        parts = {part.name for part in fields(Reference)}
        if isinstance(value, dict) and value.keys() == parts:
            held = {**sizes, "labels": None, "quantiles": None}
            for part, kind in REFERENCE_PARTS.items():
                kind.validate(f"{name}.{part}", value[part], held)
            reference = Reference(**value)
            if is_sound(reference):
                return reference
        raise ValueError(f"{name} is damaged; fit the model again.")


REFERENCE_PARTS: dict[str, Field] = {
    "n_rows": Scalar(Count),
    "label_counts": Array(("labels",), "int64", least=0),
    "n_missing": Array(("features",), "int64", least=0),
    "n_values": Array(("features",), "int64", least=0),
    "quantiles": Array(("features", "quantiles")),
    "below": Array(("features", "quantiles"), "int64", least=0),
    "up_to": Array(("features", "quantiles"), "int64", least=0),
}


def is_sound(reference: Reference) -> bool:
    """Whether counts fit each other, so that all shares are shares."""
    n_values = reference.n_values[:, None]
    below, up_to = reference.below, reference.up_to
    return bool(
        len(reference.label_counts) > 1
        and 0 < reference.n_used <= reference.n_rows
        and (reference.n_missing <= reference.n_rows).all()
        and ((below < up_to) | (n_values == 0)).all()
        and (up_to <= n_values).all()
        and (np.diff(reference.quantiles, axis=1) >= 0).all()
    )


def as_pairs(value: Any) -> Any:
    """Return values by name as pairs, as JSON objects have meanings of their own."""
    return [list(pair) for pair in value.items()] if isinstance(value, dict) else value


def is_pairs(value: Any, kind: type) -> bool:
    """Whether a value is a list of pairs of a name and a value of the type."""
    return isinstance(value, list) and all(
        isinstance(pair, list) and [type(part) for part in pair] == [str, kind]
        for pair in value
    )


def plain_preparation(preparation: Preparation) -> dict[str, Any]:
    """Return a preparation as text, numbers and arrays."""
    return {
        "columns": list(preparation.columns),
        "missing": as_pairs(preparation.missing),
        "scale": preparation.scale,
        "n_unnamed": preparation.n_unnamed,
        "id": preparation.id,
        "log": list(preparation.log),
        "categories": [
            [column, list(values)] for column, values in preparation.categories.items()
        ],
        **{key: np.array(getattr(preparation, key), dtype=float) for key in LISTS},
    }


def check_description(description: dict[str, Any]) -> None:
    """Refuse a file of another format, or with other parts."""
    found: Any = description.get("format")
    # True is an int as well
    if type(found) is not int or not 1 <= found <= FORMAT_VERSION:
        raise ValueError(
            f"it has format {found!r}; rtkm {__version__} reads formats up to "
            f"{FORMAT_VERSION}, so take the version that wrote it."
        )
    parts = [name for name, part in description.items() if isinstance(part, dict)]
    if sorted(parts) != PARTS or len(description) != 1 + len(PARTS):
        raise ValueError(f"it has other parts than format, {', '.join(PARTS)}.")


def model_in(description: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    """Return the model that a file describes, as the newest format would."""
    model = description["model"]
    if description["format"] < 3:
        model = with_old_defaults(model)
    if description["format"] < 2 and "preparation" in description["extra"]:
        model = with_preparation(model, description["extra"], arrays)
    if description["format"] < 5:
        model = with_new_parts(model)
    return model


def with_new_parts(value: Any) -> Any:
    """Return a description in which every preparation has the parts of the newest.

    It may be inside of another estimator.
    """
    if not isinstance(value, dict):
        return value
    value = {key: with_new_parts(part) for key, part in value.items()}
    preparation = value.get("preparation_")
    if isinstance(preparation, dict) and isinstance(preparation.get("columns"), list):
        offset = [0.0] * len(preparation["columns"])
        new = {"id": "", "log": [], "offset": offset, "categories": []}
        value["preparation_"] = {**new, **preparation}
    return value


def with_old_defaults(value: Any) -> Any:
    """Return a description in which every RTKM says its numbers, as it had to be told.

    It may be inside of another estimator.
    """
    if not isinstance(value, dict):
        return value
    value = {key: with_old_defaults(part) for key, part in value.items()}
    parameters = value.get("parameters")
    if value.get("method") == "RTKM" and isinstance(parameters, dict):
        value["parameters"] = {"n_clusters": 8, "contamination": 0.1, **parameters}
    return value


def with_preparation(
    model: dict[str, Any], extra: dict[str, Any], arrays: Arrays
) -> dict[str, Any]:
    """Return the table model that the first format had in two places."""
    preparation, learned = extra["preparation"], model.get("learned")
    if not isinstance(preparation, dict) or not isinstance(learned, dict):
        raise ValueError("the preparation of the model is damaged; fit it again.")
    id = extra.get("id")
    own_names = {"feature_names_in_"}  # now those of the table
    return {
        "method": "TableModel",
        "parameters": {
            "estimator": {
                "method": model.get("method"),
                "parameters": twice(model.get("parameters"), arrays),
            },
            "id": id if isinstance(id, str) else None,
            "missing": preparation.get("missing"),
            "scale": preparation.get("scale"),
        },
        "learned": {
            "preparation_": {**preparation, "n_unnamed": 0},
            "estimator_": {
                **model,
                "learned": {k: v for k, v in learned.items() if k not in own_names},
            },
        },
    }


def twice(parameters: Any, arrays: Arrays) -> Any:
    """Return parameters whose arrays have a second name, since each is taken once."""
    if not isinstance(parameters, dict):
        return parameters
    again = {}
    for name, value in parameters.items():
        place = value.get("array") if isinstance(value, dict) else None
        if isinstance(place, str) and place in arrays:
            again[name] = {"array": f"{place} again"}
            arrays[f"{place} again"] = arrays[place]
        else:
            again[name] = value
    return again
