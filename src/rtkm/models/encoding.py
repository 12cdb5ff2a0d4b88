"""Estimators as JSON and arrays, and back; what comes from a file is held to rules."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import BisectingKMeans, KMeans, MiniBatchKMeans

from rtkm._registry import all_classes
from rtkm._version import __version__
from rtkm.choosing.choice import Choice
from rtkm.choosing.stored import plain_choice
from rtkm.core.fields import (
    AnswersByRows,
    Field,
    Fitted,
    NotSaved,
    Savable,
    Sizes,
    declared,
)
from rtkm.core.params import check_params, is_integer
from rtkm.models.container import Arrays
from rtkm.models.schema import as_pairs, is_pairs, plain_preparation
from rtkm.tables.fitted_preparation import Preparation
from rtkm.tables.reference import Reference

# scikit-learn's clusterers that detectors take, and a file may name as a parameter
FOREIGN = {cls.__name__: cls for cls in (KMeans, MiniBatchKMeans, BisectingKMeans)}
SCALARS = (bool, np.bool_, Integral, Real, str, type(None))


def known() -> dict[str, type]:
    """Return the estimators that a file may name."""
    return all_classes() | FOREIGN


# Writing


def encode_model(model: Any, place: str, arrays: Arrays) -> dict[str, Any]:
    """Return what a file says of a fitted model; its arrays join the others."""
    refuse_rows(type(model))
    learned = {
        name: encode(model.__dict__[name], f"{place}.{name}", arrays)
        for name, kind in declared(type(model)).items()
        if name in model.__dict__ and is_kept(kind, model.__dict__[name])
    }
    return {**encode_unfitted(model, place, arrays), "learned": learned}


def is_kept(kind: Field, value: Any) -> bool:
    """Whether a file holds the value."""
    if isinstance(kind, Fitted):  # of another library, perhaps
        return isinstance(value, Savable)
    return not isinstance(kind, NotSaved)


def refuse_rows(cls: type) -> None:
    """Refuse a method whose model is its rows."""
    if any(isinstance(kind, AnswersByRows) for kind in declared(cls).values()):
        raise ValueError(
            f"{cls.__name__} answers by its training rows, and no model file holds "
            "rows; keep the table and fit again, or use another method."
        )


def encode_unfitted(estimator: Any, place: str, arrays: Arrays) -> dict[str, Any]:
    """Return what a file says of an estimator and its parameters."""
    cls = type(estimator)
    if known().get(cls.__name__) is not cls:
        raise ValueError(
            f"{cls.__name__} cannot be named in a file; expected one of "
            f"{', '.join(known())}."
        )
    parameters = {
        name: encode_parameter(estimator, name, value, f"{place}.{name}", arrays)
        for name, value in estimator.get_params(deep=False).items()
    }
    return {"method": cls.__name__, "parameters": parameters}


def encode_parameter(
    owner: Any, name: str, value: Any, place: str, arrays: Arrays
) -> Any:
    """Return a parameter as JSON; what only a program can tell is refused."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        return encode_unfitted(value, place, arrays)
    if isinstance(value, SCALARS):
        return encode(value, place, arrays)
    if is_texts(value):
        return list(map(str, value))
    if isinstance(value, dict) and is_pairs(as_pairs(value), str):
        return as_pairs(value)
    if is_whole_numbers(value):
        return [int(number) for number in value]
    table = None if callable(value) else np.asarray(value)
    if table is None or table.ndim != 2 or table.dtype.kind not in "biuf":
        default = type(owner)().get_params(deep=False)[name]
        raise ValueError(
            f"{name}={value!r} has no place in a file; call "
            f"set_params({name}={default!r}) first, which changes no answer."
        )
    return encode(plain_numbers(table), place, arrays)


def is_texts(value: Any) -> bool:
    """Whether a value is a sequence of texts, such as names of columns."""
    is_sequence = isinstance(value, list | tuple | np.ndarray)
    return is_sequence and all(isinstance(item, str) for item in value)


def is_whole_numbers(value: Any) -> bool:
    """Whether a value is a collection of integers, such as numbers to choose from."""
    if not isinstance(value, Collection | np.ndarray) or hasattr(value, "columns"):
        return False  # a frame is a collection of the names of its columns
    return all(is_integer(item, 0) for item in value)


def plain_numbers(table: NDArray[Any]) -> NDArray[Any]:
    """Return the numbers in one of the types that a file has."""
    if table.dtype.kind in "iu":
        return table.astype(np.int64)
    is_other_float = table.dtype.kind == "f" and table.dtype != np.float32
    return table.astype(np.float64) if is_other_float else table


def encode(value: Any, place: str, arrays: Arrays) -> Any:
    """Return a value as JSON, and put an array with the others."""
    if isinstance(value, Savable):
        return encode_model(value, place, arrays)
    if isinstance(value, np.ndarray) and value.dtype == object:
        return value.tolist()
    if isinstance(value, np.ndarray):
        arrays[place] = value
        return {"array": place}
    if hasattr(value, "_asdict"):
        return value._asdict()
    if isinstance(value, Preparation):
        value = plain_preparation(value)
    if isinstance(value, Choice):
        value = plain_choice(value)
    if isinstance(value, Reference):
        value = vars(value)
    if isinstance(value, dict):
        parts = value.items()
        return {key: encode(part, f"{place}.{key}", arrays) for key, part in parts}
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        is_infinite = np.isinf(float(value))
        return {"float": str(float(value))} if is_infinite else float(value)
    return value


# Reading


def decode(value: Any, arrays: Arrays) -> Any:
    """Return what JSON stands for; every array is taken once."""
    keys = value.keys() if isinstance(value, dict) else set()
    if keys == {"array"}:
        if not isinstance(value["array"], str) or value["array"] not in arrays:
            raise ValueError(f"it has no array {value['array']!r}, or had it before.")
        return arrays.pop(value["array"])
    if keys == {"float"} and value["float"] in ("inf", "-inf"):
        return float(value["float"])
    if keys == {"method", "parameters"}:
        return decode_unfitted(value, arrays)
    if keys == {"method", "parameters", "learned"}:
        return decode_model(value, arrays)
    if keys:
        return {key: decode(part, arrays) for key, part in value.items()}
    return value


def decode_unfitted(stored: dict[str, Any], arrays: Arrays) -> Any:
    """Return an estimator with its parameters, which are held to their rules."""
    method, parameters = stored["method"], stored["parameters"]
    if not isinstance(method, str) or method not in known():
        raise ValueError(
            f"method {method!r} is not known to rtkm {__version__}; expected one "
            f"of {', '.join(known())}."
        )
    cls = known()[method]
    names = cls().get_params(deep=False)
    if not isinstance(parameters, dict) or not parameters.keys() <= names.keys():
        raise ValueError(
            f"parameters are not valid; expected only those of {method}: "
            f"{', '.join(names)}."
        )
    values = {
        name: decode_parameter(value, arrays) for name, value in parameters.items()
    }
    for name, value in values.items():
        is_table = isinstance(value, np.ndarray) and is_finite(value)
        is_list = is_texts(value) or is_whole_numbers(value)
        is_plain = (
            isinstance(value, SCALARS) or is_list or is_pairs(as_pairs(value), str)
        )
        if not (is_table or is_plain or hasattr(value, "get_params")):
            raise ValueError(f"{name} is not valid for {method}.")
    estimator = cls(**values)
    if isinstance(estimator, Savable):
        check_params(estimator)
    return estimator


def decode_parameter(value: Any, arrays: Arrays) -> Any:
    """Return what JSON stands for as the value of a parameter."""
    if is_texts(value):
        return tuple(value)
    return dict(value) if is_pairs(value, str) else decode(value, arrays)


def is_finite(table: NDArray[Any]) -> bool:
    """Whether all numbers are finite, found without a flag for each."""
    return bool(np.isfinite([table.min(), table.max()]).all())  # where a NaN shows


def decode_model(stored: dict[str, Any], arrays: Arrays) -> Any:
    """Return a fitted model, all of whose attributes are what their class declares."""
    model = decode_unfitted(stored, arrays)
    refuse_rows(type(model))
    known_kinds = declared(type(model)).items()
    kinds = {name: kind for name, kind in known_kinds if not isinstance(kind, NotSaved)}
    learned, owner = stored["learned"], type(model).__name__
    if not isinstance(learned, dict) or not learned.keys() <= kinds.keys():
        raise ValueError(
            f"learned is not valid; expected only what {owner} keeps: "
            f"{', '.join(kinds)}."
        )
    values: dict[str, Any] = {}
    sizes: Sizes = {}
    for name, kind in kinds.items():
        if name in learned:
            values[name] = kind.validate(name, decode(learned[name], arrays), sizes)
        elif not kind.may_be_absent(values):
            raise ValueError(f"{name} is missing, which {owner} answers by.")
    model.__dict__.update(values)
    return model
