"""The findings on the terminal."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from typing import Any

from rtkm.cli.figures import figure, percent
from rtkm.cli.messages import counted
from rtkm.cli.options import spoken
from rtkm.cli.terminal import Terminal, on_one_line

MOST_CLUSTERS = 20
MOST_OUTLIERS = 10
NAME_WIDTH = 16  # letters of a feature


def tell_findings(terminal: Terminal, findings: dict[str, Any]) -> None:
    """Print what was found: sentences, clusters, and the farthest outliers."""
    terminal.skip()
    terminal.say("\n".join(findings["summary"]))
    tell_clusters(terminal, findings)
    tell_outliers(terminal, findings["outliers"])
    terminal.skip()


def tell_clusters(terminal: Terminal, findings: dict[str, Any]) -> None:
    """Print size, share and center of each cluster."""
    clusters, features = findings["clusters"], findings["features"]
    if not clusters:
        return
    shown = most_telling(findings, terminal.width)
    terminal.skip()
    terminal.table(
        ["cluster", "rows", "share", *(short(features[j]) for j in shown)],
        [
            [
                str(cluster["label"]),
                f"{cluster['size']:,}",
                percent(cluster["share"]),
                *(figure(cluster["center"][j]) for j in shown),
            ]
            for cluster in clusters[:MOST_CLUSTERS]
        ],
    )
    left = [
        counted(n_left, f"more {noun}")
        for n_left, noun in (
            (len(clusters) - MOST_CLUSTERS, "cluster"),
            (len(features) - len(shown), "feature"),
        )
        if n_left > 0
    ]
    if left:
        terminal.say(f"  ({', '.join(left)}: see --report or --json)")


def most_telling(findings: dict[str, Any], width: int) -> list[int]:
    """Return the features that fit in, of those that tell clusters apart most."""
    features = findings["features"]
    places: list[int] = []
    left = width - 30  # for label, size and share
    for contrast in findings["contrasts"]:
        left -= max(len(short(contrast["feature"])), 8) + 2
        if left < 0 and places:
            break
        places.append(features.index(contrast["feature"]))
    return sorted(places)


def short(feature: str) -> str:
    """Return a name that fits over a column."""
    return on_one_line(feature, NAME_WIDTH)


def tell_outliers(terminal: Terminal, outliers: dict[str, Any]) -> None:
    """Print the farthest outliers, and what makes them so."""
    rows = outliers["rows"][:MOST_OUTLIERS]
    if not rows:
        return
    has_ids = any(row["id"] is not None for row in rows)
    terminal.skip()
    terminal.table(
        ["outlier", *["id"] * has_ids, "score", "nearest", "because of"],
        [
            [
                f"row {row['row']:,}",
                *[on_one_line("" if row["id"] is None else row["id"], 20)] * has_ids,
                figure(row["score"]),
                "-" if row["nearest"] is None else str(row["nearest"]),
                because(row),
            ]
            for row in rows
        ],
    )
    if outliers["count"] > len(rows):
        terminal.say(f"  ({outliers['count'] - len(rows):,} more)")


def because(row: dict[str, Any]) -> str:
    """Return the features that make a row an outlier, in few words."""
    named = [
        f"{short(reason['feature'])} {figure(reason['value'])} "
        f"({percent(reason['share'])})"
        for reason in row["reasons"][:2]
    ]
    filled = [f"{short(feature)} filled in" for feature in row["filled"][:1]]
    return ", ".join(named + filled)


def explain_command(
    options: argparse.Namespace,
    model: Any,
    rows: Sequence[dict[str, Any]],
    more: Sequence[str] = (),
) -> str:
    """Return the command that tells more about the first of some rows."""
    words = ["rtkm", "explain", str(model), options.data, *spoken(options)]
    for name in more:
        if getattr(options, name) is not None:
            words.append(f"--{name}={getattr(options, name)}")
    if rows:
        id = rows[0]["id"]
        # an id that is nothing to type goes by its number
        is_plain = id is not None and id.isprintable() and not id.startswith("-")
        words += ["--row", id if is_plain else str(rows[0]["row"])]
    return shlex.join(words)
