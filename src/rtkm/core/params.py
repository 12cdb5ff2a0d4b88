"""Parameter types: the annotation of a field is the rule its value is held to."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from functools import cache
from math import inf, isfinite
from numbers import Integral, Real
from typing import Annotated, Any, Literal, get_args, get_type_hints

import numpy as np

from rtkm._warnings import warn

# integers from here on are refused: no computer counts so far
TOO_LARGE = 2**63


@dataclass(frozen=True)
class Rule:
    """What a value must be, in words and as a test."""

    wanted: str
    accepts: Callable[[Any], bool]


def is_integer(value: Any, at_least: int) -> bool:
    """Whether the value is a whole number, not a bool, and not below the bound."""
    return (
        isinstance(value, Integral)
        and not isinstance(value, bool | np.bool_)
        and at_least <= int(value) < TOO_LARGE
    )


def is_number(value: Any, above: float = -inf) -> bool:
    """Whether the value is a finite real number above the bound."""
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        return False
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond all floats
        return False
    return isfinite(number) and number > above


def is_share(value: Any) -> bool:
    """Whether the value is a float in [0, 1)."""
    return not isinstance(value, Integral) and is_number(value) and 0 <= value < 1


def is_name(*names: str) -> Callable[[Any], bool]:
    """Make a test for one of the names (an array would compare element by element)."""
    return lambda value: isinstance(value, str) and value in names


Count = Annotated[int, Rule("an integer of at least 1", lambda v: is_integer(v, 1))]
Counts = Annotated[
    Collection[int],
    Rule(
        "one or more of these to choose from",
        lambda v: (
            isinstance(v, Collection | np.ndarray)
            and not isinstance(v, str)
            and np.size(list(v)) > 0
            and all(is_integer(number, 1) for number in v)
        ),
    ),
]
Tally = Annotated[int, Rule("an integer of at least 0", lambda v: is_integer(v, 0))]
Positive = Annotated[float, Rule("a positive number", lambda v: is_number(v, 0))]
AboveOne = Annotated[float, Rule("a number above 1", lambda v: is_number(v, above=1))]
UpToOne = Annotated[
    float, Rule("a number in (0, 1]", lambda v: is_number(v, above=0) and v <= 1)
]
Share = Annotated[
    float, Rule("a number in [0, 1)", lambda v: is_number(v) and 0 <= v < 1)
]
Number = Annotated[float, Rule("a number", is_number)]
Nothing = Annotated[None, Rule("None", lambda v: v is None)]
Flag = Annotated[bool, Rule("True or False", lambda v: isinstance(v, bool | np.bool_))]
Tolerance = Annotated[
    float, Rule("a number of at least 0", lambda v: is_number(v) and v >= 0)
]
OutlierRows = Annotated[
    float,
    Rule(
        "a share in [0, 1) or a number of rows, 0 or more (write 1 for one row)",
        lambda v: is_integer(v, 0) or is_share(v),
    ),
]
Auto = Annotated[Literal["auto"], Rule("'auto'", is_name("auto"))]
RandomState = Annotated[
    Any,
    Rule(
        "None, an integer from 0 to 2**32 - 1, or a RandomState",
        lambda v: (
            v is None
            or (is_integer(v, 0) and int(v) < 2**32)
            or isinstance(v, np.random.RandomState)
            or v is np.random
        ),
    ),
]
Verbosity = Annotated[
    int,
    Rule(
        "a bool or an integer of at least 0",
        lambda v: isinstance(v, bool) or is_integer(v, 0),
    ),
]
Watcher = Annotated[
    Callable[[Any], object] | None,
    Rule("None or a callable", lambda v: v is None or callable(v)),
]


@cache
def hints_of(cls: type) -> dict[str, Any]:
    """Return the annotations of a class, which take a while to be made of text."""
    return get_type_hints(cls, include_extras=True)


def check_params(estimator: Any) -> None:
    """Hold every parameter to the rules of its field, before any array is seen."""
    cls: type = type(estimator)
    hints = hints_of(cls)
    for field in fields(estimator):
        value = getattr(estimator, field.name)
        check_value(field.name, value, hints[field.name], cls.__name__)


def check_value(name: str, value: Any, hint: Any, owner: str) -> None:
    """Refuse a value that no rule of the type accepts."""
    rules = [
        rule
        for option in (hint, *get_args(hint))
        for rule in getattr(option, "__metadata__", ())
    ]
    if rules and not any(rule.accepts(value) for rule in rules):
        wanted = " or ".join(rule.wanted for rule in rules)
        raise ValueError(
            f"{name}{written(value)} is not valid for {owner}; expected {wanted}."
        )


def written(value: Any) -> str:
    """Write a value for a message; of a huge integer only its size."""
    if isinstance(value, Integral) and abs(int(value)) >= TOO_LARGE:
        n_digits = int(int(value).bit_length() * np.log10(2)) + 1
        return f", an integer beyond 2**63 of about {n_digits} digits,"
    return f"={value!r}"


def check_memberships(n_memberships: int, n_clusters: int) -> None:
    """Refuse more memberships than clusters, and warn where all centers become one."""
    if n_memberships > n_clusters:
        raise ValueError(
            f"n_memberships={n_memberships} needs at least {n_memberships} clusters; "
            f"n_clusters is {n_clusters}."
        )
    if n_memberships == n_clusters > 1:
        warn(
            f"n_memberships={n_memberships} puts every row in each of n_clusters="
            f"{n_clusters}, so all centers agree; lower n_memberships."
        )


def whole_rows(share_or_count: float, mass: float) -> int:
    """Turn a share of the mass, or a number of rows, into whole rows, half up."""
    if isinstance(share_or_count, Integral):
        return int(share_or_count)
    # a product such as 0.3 * 45 must not fall below its half for want of a last bit
    return int(np.floor(share_or_count * mass + 0.5 + 1e-9))
