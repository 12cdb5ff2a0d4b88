"""A choice in a model file: written as plain values, and held to rules when read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rtkm.choosing.choice import Choice, FittedTail, SmallGroups
from rtkm.choosing.tails import Tail
from rtkm.core.fields import FLOATS, Field, Sizes
from rtkm.core.params import is_integer, is_number, is_share

Test = Callable[[Any], bool]


class ChoiceField(Field):
    """What a fit chose, or None."""

    def may_be_absent(self, others: Mapping[str, Any]) -> bool:
        """Files from before version 0.2 have none."""
        return True

    def validate(self, name: str, value: Any, sizes: Sizes) -> Choice | None:
        """Return a choice, made of what `plain_choice` returned."""
        if value is None:
            return None
        if not is_record(PARTS)(value) or not are_consistent(value, sizes["features"]):
            raise ValueError(f"{name} is damaged; fit the model again.")
        return restore_choice(value)


def plain_choice(choice: Choice) -> dict[str, Any]:
    """Return a choice as texts, numbers, arrays, and lists and dicts of them."""
    parts = dict(vars(choice))
    tail = choice.fitted_tail
    parts["fitted_tail"] = tail and {**tail._asdict(), "tail": tail.tail._asdict()}
    groups = choice.small_groups
    parts["small_groups"] = groups._asdict() if len(groups.sizes) else None
    for name in LISTS:
        parts[name] = list(parts[name])
    return parts


def restore_choice(parts: dict[str, Any]) -> Choice:
    """Return the choice that `plain_choice` described."""
    tail, groups = parts["fitted_tail"], parts["small_groups"]
    no_groups = SmallGroups(np.empty(0), parts["init"][:0])
    values = {
        **parts,
        **{name: tuple(parts[name]) for name in LISTS},
        "fitted_tail": tail and FittedTail(**{**tail, "tail": Tail(**tail["tail"])}),
        "small_groups": SmallGroups(**groups) if groups else no_groups,
        "table": tuple(tupled(line) for line in parts["table"]),
        "pairs": tuple(tupled(pair) for pair in parts["pairs"]),
    }
    return Choice(**values)


def tupled(line: dict[str, Any]) -> dict[str, Any]:
    """Return a line whose pairs of numbers are tuples again, as JSON has none."""
    pairs = {"clusters", "around"}
    return {key: tuple(v) if key in pairs else v for key, v in line.items()}


def are_consistent(parts: dict[str, Any], n_features: int) -> bool:
    """Whether the arrays of a choice fit each other and the model."""
    init, groups, tail = parts["init"], parts["small_groups"], parts["fitted_tail"]
    k = parts["n_clusters"]
    shapes: list[tuple[Any, Any]] = [(init.shape, (k, n_features))]
    if groups:
        n_groups = len(groups["sizes"])
        shapes.append((groups["centers"].shape, (n_groups, n_features)))
    if tail:
        shapes += [(tail[name].shape, (k,)) for name in ("scales", "masses")]
    return all(found == wanted for found, wanted in shapes)


# Rules


def is_record(parts: dict[str, Test], optional: tuple[str, ...] = ()) -> Test:
    """Make a test for a dict of certain keys, each value with its test."""

    def test(value: Any) -> bool:
        if not isinstance(value, dict) or not value.keys() <= parts.keys():
            return False
        missing = parts.keys() - value.keys()
        return missing <= set(optional) and all(
            parts[key](part) for key, part in value.items()
        )

    return test


def is_list(test: Test, length: int | None = None) -> Test:
    """Make a test for a list whose items pass a test."""
    return lambda v: (
        isinstance(v, list)
        and length in (None, len(v))
        and all(test(item) for item in v)
    )


def is_array(n_axes: int, least: float = -np.inf) -> Test:
    """Make a test for finite numbers in an array of at least one."""
    return lambda v: (
        isinstance(v, np.ndarray)
        and v.ndim == n_axes
        and str(v.dtype) in FLOATS
        and v.size > 0
        and bool(np.isfinite([v.min(), v.max()]).all())
        and v.min() >= least
    )


def is_none_or(test: Test) -> Test:
    """Make a test that None passes, too."""
    return lambda v: v is None or test(v)


def is_count(value: Any) -> bool:
    """Whether the value is a whole number of at least 1."""
    return is_integer(value, 1)


def is_tally(value: Any) -> bool:
    """Whether the value is a whole number of at least 0."""
    return is_integer(value, 0)


def is_amount(value: Any) -> bool:
    """Whether the value is a number of at least 0."""
    return is_number(value) and value >= 0


def is_flag(value: Any) -> bool:
    """Whether the value is true or false."""
    return isinstance(value, bool)


def is_text(value: Any) -> bool:
    """Whether the value is a text."""
    return isinstance(value, str)


TAIL: dict[str, Test] = {
    "degrees": lambda v: is_number(v, above=0),
    "nu": lambda v: is_number(v, above=0) or v == np.inf,
    "scale": lambda v: is_number(v, above=0),
}
FITTED_TAIL: dict[str, Test] = {
    "tail": is_record(TAIL),
    "scales": is_array(1, least=0),
    "masses": is_array(1, least=0),
    "chance": lambda v: is_number(v, above=0) and v < 1,
    "limit": lambda v: v == -1 or is_share(v),
}
LINE: dict[str, Test] = {
    "n_cells": is_count,
    "n_groups": is_tally,
    "n_groups_lax": is_tally,
    "n_groups_strict": is_tally,
    "cost": is_amount,
    "stability": is_amount,
}
PAIR: dict[str, Test] = {
    "clusters": is_list(is_tally, 2),
    "between": is_amount,
    "around": is_list(is_amount, 2),
    "chance": is_amount,
    "apart": is_flag,
    "histogram": is_list(is_amount),
    "bin_width": is_amount,
}
PARTS: dict[str, Test] = {
    "n_clusters": is_count,
    "n_outliers": is_tally,
    "n_rows": lambda v: is_number(v, above=0),
    "init": is_array(2),
    "n_separate": is_none_or(is_count),
    "alternatives": is_list(is_count),
    "small_groups": is_none_or(
        is_record({"sizes": is_array(1, least=0), "centers": is_array(2)})
    ),
    "heavy_tails": is_flag,
    "warnings": is_list(is_text),
    "table": is_list(is_record(LINE)),
    "pairs": is_list(is_record(PAIR, optional=("histogram", "bin_width"))),
    "share_path": is_list(is_amount),
    "fitted_tail": is_none_or(is_record(FITTED_TAIL)),
    "given": is_list(lambda v: v in ("n_clusters", "contamination")),
}
LISTS = ("alternatives", "warnings", "table", "pairs", "share_path", "given")
