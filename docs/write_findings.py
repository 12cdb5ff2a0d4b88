"""Write docs/guide/findings.md from the types of the findings.

``python docs/write_findings.py`` after a change of ``rtkm.report.findings``; a test
fails until it is done.
"""

from __future__ import annotations

from inspect import cleandoc
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Union, get_args, get_origin, get_type_hints, is_typeddict

from rtkm.report.findings import Findings
from rtkm.report.prediction_findings import PredictionFindings

PAGE = Path(__file__).parent / "guide" / "findings.md"

INTRODUCTION = """\
<!-- written by docs/write_findings.py from src/rtkm/report/findings.py -->
# Findings

`rtkm fit --json FILE` writes what was found as one JSON object, the first of those
below, and `rtkm predict --json FILE` a [PredictionFindings](#predictionfindings); the
terminal and the report show the same. Numbers that do not exist, such as the
cut-off where nothing was trimmed, are `null`. Centers, values and edges are in the
units of the table, scores in those of the scaled one. Rows are counted from 1 in the
order of the table, those that were left out too. Counts are of all rows; only what is
drawn is a sample.
"""


def write_page() -> str:
    """Return the page: a section for each type, those first that are used first."""
    parts = [INTRODUCTION]
    for kind in types_below(PredictionFindings, types_below(Findings)):
        lines = [f"## {kind.__name__}", "", cleandoc(kind.__doc__ or ""), ""]
        lines += ["| key | type | what it holds |", "|---|---|---|"]
        for key, (hint, words) in described_fields(kind).items():
            lines.append(f"| `{key}` | {named(hint)} | {words} |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def described_fields(kind: type) -> dict[str, tuple[object, str]]:
    """Return type and description of each key, as they stand in the class."""
    fields: dict[str, tuple[object, str]] = {}
    for key, hint in get_type_hints(kind, include_extras=True).items():
        assert get_origin(hint) is Annotated, f"{kind.__name__}.{key} says nothing"
        fields[key] = get_args(hint)
    return fields


def types_below(kind: type, found: list[type] | None = None) -> list[type]:
    """Return a type and all those that its fields are made of, each once."""
    found = [] if found is None else found
    if kind not in found:
        found.append(kind)
        for hint, _ in described_fields(kind).values():
            for part in leaves(hint):
                if is_typeddict(part):
                    types_below(part, found)
    return found


def leaves(hint: object) -> list[type]:
    """Return the types that a type is made of."""
    return [leaf for part in get_args(hint) for leaf in leaves(part)] or [hint]


def named(hint: object) -> str:
    """Say in JSON's words what a type is."""
    words = {str: "text", int: "integer", float: "number", bool: "boolean"}
    if hint is NoneType:
        return "null"
    if get_origin(hint) in (Union, UnionType):
        return " or ".join(map(named, get_args(hint)))
    if get_origin(hint) in (list, dict):
        *_, part = get_args(hint)
        what = "list" if get_origin(hint) is list else "object"
        several = get_origin(part) in (Union, UnionType)
        return f"{what} of ({named(part)})" if several else f"{what} of {named(part)}"
    if is_typeddict(hint):
        return f"[{hint.__name__}](#{hint.__name__.lower()})"
    return words[hint]


if __name__ == "__main__":
    PAGE.write_text(write_page(), encoding="utf-8")
