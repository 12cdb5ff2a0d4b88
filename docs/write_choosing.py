"""Put what commands print into the pages, and compute docs/guide/choosing.md anew.

``python docs/write_choosing.py`` after a change of how numbers are chosen: it runs
every command shown as ``$ rtkm ...`` in the README and in the pages of docs/, and
computes the tables of docs/guide/choosing.md. ``python docs/write_choosing.py
commands`` leaves the tables as they are. ``python docs/write_choosing.py samples``
draws docs/samples.csv, the table that the commands are run on.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from rtkm import RTKM, choose
from rtkm._number_text import percent
from rtkm.datasets import load_wbc, make_outlier_blobs

DOCS = Path(__file__).parent
PAGE, README = DOCS / "guide" / "choosing.md", DOCS.parent / "README.md"
N_DRAWN = 20  # tables of each kind

Rng = np.random.Generator
Array = np.ndarray[Any, np.dtype[np.float64]]


# Pages


def renew(text: str) -> str:
    """Return a page with what its commands print today, run one after the other."""
    blocks = re.compile(r"^```console\n\$ (rtkm .*)\n(?:.*\n)*?```$", flags=re.M)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(DOCS / "samples.csv", folder)
        in_three_files(Path(folder, "parts"))
        return blocks.sub(
            lambda m: f"```console\n$ {m[1]}\n\n{shown(m[1], folder)}\n```", text
        )


def in_three_files(folder: Path) -> None:
    """Write the table of the pages as three files, for those on many."""
    head, *rows = (DOCS / "samples.csv").read_text().splitlines(keepends=True)
    folder.mkdir()
    for i in range(3):
        some = rows[i * len(rows) // 3 : (i + 1) * len(rows) // 3]
        (folder / f"part-{i + 1}.csv").write_text("".join([head, *some]))


def shown(command: str, folder: str) -> str:
    """Return what a page shows of what a command prints.

    What was read goes without saying; of a fit only the sentences are shown.
    """
    name, *words = shlex.split(command)
    run = subprocess.run(
        [sys.executable, "-m", name, *words],
        cwd=folder,
        env={**os.environ, "COLUMNS": "88"},
        capture_output=True,
        text=True,
        check=True,
    )
    paragraphs = run.stdout.strip().split("\n\n")
    if words[0] == "fit":
        return f"{paragraphs[1]}\n  ..."
    if words[0] == "choose":
        return "\n\n".join(paragraphs[1:-1])
    return run.stdout.strip("\n")


def with_tables(text: str) -> str:
    """Return the page with tables of today."""
    tables = {"generated": generated_tables, "real": real_tables, "alarms": alarms}
    for name, make in tables.items():
        between = re.compile(f"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.S)
        lines = "\n".join(f"| {' | '.join(line)} |" for line in make())
        text = between.sub(lambda m, lines=lines: f"{m[1]}\n{lines}\n\n{m[2]}", text)
    return text


# Tables that are drawn


def generated_tables() -> list[list[str]]:
    """Return what is chosen for tables of known kinds, many of each."""
    lines = [
        ["table", "right k", f"k found, in {N_DRAWN} tables", "rows flagged (median)"],
        ["---"] * 4,
    ]
    for title, k, draw in kinds():
        choices = [
            choose(draw(np.random.default_rng(seed)), random_state=seed)
            for seed in range(N_DRAWN)
        ]
        votes = Counter(choice.n_clusters for choice in choices).most_common()
        found = ", ".join(f"{number} ({count}x)" for number, count in votes)
        if len(votes) > 3:
            found = f"{min(votes)[0]} to {max(votes)[0]}"
        share = np.median([choice.contamination for choice in choices])
        lines.append([title, str(k), found, percent(share) if share else "none"])
    return lines


def kinds() -> list[tuple[str, int, Callable[[Rng], Array]]]:
    """Return titles, right numbers and what draws a table."""
    return [
        *(
            (f"two round clusters, {d} standard deviations apart", 2, pair(d))
            for d in (2, 3, 4, 5)
        ),
        *((f"three clear clusters, {n} rows", 3, three(n)) for n in (60, 90, 150, 300)),
        ("one normal cluster", 1, lambda rng: rng.normal(size=(1000, 2))),
        ("the same with heavy tails (t, 3)", 1, lambda r: r.standard_t(3, (1000, 2))),
        *(
            (f"one lognormal cluster, sigma {sigma}", 1, lognormal(sigma))
            for sigma in (0.25, 0.5, 1.0)
        ),
        ("the logarithm of the last", 1, lambda rng: np.log(lognormal(1.0)(rng))),
        *(
            (f"one normal cluster, rounded to {step} deviations", 1, rounded(step))
            for step in (0.5, 1.0)
        ),
        ("three clusters, one column in a unit 100 times as small", 3, in_units),
        ("the same, scaled", 3, lambda r: StandardScaler().fit_transform(in_units(r))),
    ]


def pair(distance: float) -> Callable[[Rng], Array]:
    """Return what draws two clusters so many standard deviations apart."""
    return lambda rng: np.concatenate(
        [rng.normal((x, 0), 1, (300, 2)) for x in (0, distance)]
    )


def three(n_rows: int) -> Callable[[Rng], Array]:
    """Return what draws three clusters, six standard deviations apart."""
    centers = ((0, 0), (6, 0), (3, 5.2))
    return lambda rng: np.concatenate(
        [rng.normal(center, 1, (n_rows // 3, 2)) for center in centers]
    )


def lognormal(sigma: float) -> Callable[[Rng], Array]:
    """Return what draws one skewed cluster."""
    return lambda rng: rng.lognormal(0, sigma, (1000, 2))


def rounded(step: float) -> Callable[[Rng], Array]:
    """Return what draws one cluster of few values."""
    return lambda rng: np.round(rng.normal(size=(1000, 2)) / step) * step


def in_units(rng: Rng) -> Array:
    """Draw three clusters that only the first column tells apart, by its small unit."""
    return three(600)(rng) * (1, 100)


def alarms() -> list[list[str]]:
    """Return how many flags are right, over many tables with outliers."""
    lines = [["20 tables of `make_outlier_blobs`", "flagged", "false", "missed"]]
    lines.append(["---"] * 4)
    for d, share in ((2, 0.02), (2, 0.1), (10, 0.02), (10, 0.1)):
        counts = np.zeros(4)
        for seed in range(N_DRAWN):
            drawn = {"contamination": share, "random_state": seed}
            X, truth, _ = make_outlier_blobs(1000, d, 5, **drawn)
            model, is_outlier = RTKM(random_state=0).fit(X), truth == -1
            found = model.outlier_mask_
            parts = found, found & ~is_outlier, is_outlier, is_outlier & ~found
            counts += [part.sum() for part in parts]
        flagged, false, true, missed = counts
        title = f"{d} columns, {share:.0%} outliers"
        shares = [f"{false / flagged:.0%}", f"{missed / true:.0%}"]
        lines.append([title, f"{flagged / N_DRAWN / 1000:.1%}", *shares])
    return lines


# Tables of others


def real_tables() -> list[list[str]]:
    """Return what is chosen for well-known tables."""
    lines = [
        [
            *("table", "rows", "classes", "k found", "could also be"),
            *("k of five other seeds", "outliers", "ARI"),
        ],
        ["---"] * 8,
    ]
    scale = StandardScaler().fit_transform
    for title, (X, y), prepare in (
        ("iris", load_iris(return_X_y=True), None),
        ("iris, standardized", load_iris(return_X_y=True), scale),
        ("wine, standardized", load_wine(return_X_y=True), scale),
        ("digits", load_digits(return_X_y=True), None),
        ("breast cancer (`load_wbc`)", load_wbc(return_X_y=True), None),
    ):
        X = X if prepare is None else prepare(X)
        model = RTKM(random_state=0).fit(X)
        seeds = [choose(X, random_state=seed).n_clusters for seed in range(1, 6)]
        choice, kept = model.choice_, model.labels_ >= 0
        others = " or ".join(map(str, choice.alternatives)) or "-"
        again = ", ".join(map(str, seeds))
        numbers = [len(X), len(np.unique(y)), choice.n_clusters, others, again]
        score = adjusted_rand_score(y[kept], model.labels_[kept])
        outliers = f"{model.n_outliers_} ({percent(model.contamination_)})"
        lines.append([title, *map(str, numbers), outliers, f"{score:.2f}"])
    return lines


# The table of the page


def write_samples() -> None:
    """Draw three kinds of parts, a few of a fourth, and bad measurements."""
    rng = np.random.default_rng(7)
    kinds = (
        (320, (42, 18, 31), (2.4, 1.9, 2.0)),
        (240, (60, 22, 44), (2.6, 2.0, 2.2)),
        (180, (54, 35, 37), (2.5, 2.1, 2.0)),
        (24, (80, 50, 15), (0.8, 0.6, 0.5)),
    )
    parts = [rng.normal(center, width, (n, 3)) for n, center, width in kinds]
    X = np.concatenate([*parts, rng.uniform((20, 0, 0), (100, 60, 70), (16, 3))])
    lines = [",".join(f"{value:.2f}" for value in row) for row in rng.permutation(X)]
    text = "\n".join(["length,width,mass", *lines]) + "\n"
    (DOCS / "samples.csv").write_text(text)


def pages() -> list[Path]:
    """Return the pages that show commands."""
    every = [README, *sorted(DOCS.rglob("*.md"))]
    return [page for page in every if "\n$ rtkm " in page.read_text(encoding="utf-8")]


def main(*arguments: str) -> None:
    """Write everything, or the table."""
    warnings.simplefilter("ignore")
    if arguments == ("samples",):
        write_samples()
        return
    for page in pages():
        page.write_text(renew(page.read_text(encoding="utf-8")), encoding="utf-8")
    if arguments != ("commands",):
        text = with_tables(PAGE.read_text(encoding="utf-8"))
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
