"""How it was done: what a reader needs to trust it, and to repeat it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from typing import Any

from rtkm.cli.figures import known
from rtkm.cli.report.parts import cell, head, number_cell, row_head, table
from rtkm.cli.report.words import UNKNOWN, number, own, printable

MOST_COLUMNS = 40
KEYS = ("center", "spread", "fill")
KEY_NAMES = {"center": "center", "spread": "spread", "fill": "if missing"}
VALUE = 60
SCALES = {
    "none": "Numbers are used as they are.",
    "standard": "Numbers are less their mean, in units of the standard deviation.",
    "robust": "Numbers are less their median, in units of a robust spread.",
}
MISSING = {
    "error": "No cell was missing.",
    "drop": "Rows with missing cells are left out.",
    "median": "Missing cells take the median of their column.",
}


def draw(findings: dict[str, Any]) -> str:
    """Return notes, command, parameters, preparation, versions and times."""
    return (
        notes(findings["notes"])
        + command(findings["command"])
        + '<div class="side-by-side">\n'
        + parameters(findings["method"])
        + versions(findings["versions"])
        + seconds(findings["seconds"])
        + "</div>\n"
        + preparation(findings["preparation"])
    )


def notes(sentences: Iterable[str]) -> str:
    """Return what was decided on the way."""
    items = "".join(
        f"<li><bdi>{escape(printable(one))}</bdi></li>" for one in sentences
    )
    return f"<ul>{items}</ul>\n" if items else ""


def command(text: str) -> str:
    """Return the command that repeats it."""
    return (
        "<h3>To repeat it</h3>\n"
        f'<pre><code id="command">{escape(printable(text))}</code></pre>\n'
        '<p class="controls" id="copying" hidden><button type="button" id="copy">Copy '
        'the command</button> <span id="copied" role="status" aria-live="polite">'
        "</span></p>\n"
    )


def parameters(method: dict[str, Any]) -> str:
    """Return every parameter with its value."""
    rows = [
        f"<tr>{row_head(own(name))}{cell(own(in_json(value), VALUE))}</tr>"
        for name, value in method["parameters"].items()
    ]
    caption = f"Parameters of {own(method['name'])}"
    return table("parameters", caption, head("parameter") + head("value"), rows)


def in_json(value: Any) -> str:
    """Return a value as it is written in files; text without its quotes."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def versions(used: dict[str, Any]) -> str:
    """Return the versions of what took part."""
    rows = [
        f"<tr>{row_head(own(name))}{cell(own(version))}</tr>"
        for name, version in used.items()
    ]
    return table("versions", "Versions", head("package") + head("version"), rows)


def seconds(spent: dict[str, Any]) -> str:
    """Return the time that each stage took."""
    rows = [
        f"<tr>{row_head(own(stage))}{number_cell(duration(spent[stage]))}</tr>"
        for stage in spent
    ]
    heads = head("stage") + head("seconds", "number")
    return table("seconds", "Time taken", heads, rows)


def duration(taken: Any) -> str:
    """Write seconds."""
    taken = known(taken)
    return UNKNOWN if taken is None else f"{taken:,.2f}"


def preparation(prepared: dict[str, Any]) -> str:
    """Return what became of each column before the fit."""
    scale, missing = prepared["scale"], prepared["missing"]
    told = f"{SCALES.get(scale, '')} {MISSING.get(missing, '')}".strip()
    columns = prepared["columns"]
    shown = range(min(len(columns), MOST_COLUMNS))
    if len(shown) < len(columns):
        told += f" Listed are the first {len(shown)} of {len(columns):,} columns."
    # what was not scaled has no numbers to tell of it
    shown_keys = KEYS if scale != "none" else KEYS[-1:]
    rows = [
        f"<tr>{row_head(own(columns[j]))}"
        + "".join(
            number_cell(number(value_at(prepared.get(key), j))) for key in shown_keys
        )
        + "</tr>"
        for j in shown
    ]
    heads = head("column") + "".join(
        head(KEY_NAMES[key], "number") for key in shown_keys
    )
    made = table("preparation", "Columns as they were prepared", heads, rows)
    return f"<h3>Preparation</h3>\n<p>{told}</p>\n{made}"


def value_at(values: list[Any] | None, position: int) -> Any:
    """Return one of some values, None if they are fewer."""
    return values[position] if values and position < len(values) else None
