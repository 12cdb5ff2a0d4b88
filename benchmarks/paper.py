"""Put the comparison of methods on the paper's tables into `docs/paper.md`.

It is taken from the results in experiments/, which `make paper` writes before it runs
this program.
"""

from __future__ import annotations

import json
from typing import Any

from results import ROOT, fill, markdown_table
from summary import write_summaries

from experiments.claims.figures import CURVES, TABLE
from experiments.claims.names import label, published_name
from experiments.claims.summary import by_setting

# the share of outliers nearest to the true one, and what gamma KMOR has there
OUTLIERS = {
    "wbc": ("breast cancer, k = 1", 4, "KMOR, gamma 1"),
    "shuttle": ("shuttle, k = 3", 1, "KMOR, gamma 9"),
    "yeast_noise": ("yeast and noise, k = 14", 6, "KMOR, gamma 1"),
}


def outlier_table(results: dict[str, Any]) -> str:
    """Return M_e and F1 of every method at one share of outliers for each table."""
    rows = []
    for experiment, (name, at, kmor) in OUTLIERS.items():
        f1 = "f1_micro" if experiment == "shuttle" else "f1"  # as published
        scores = {
            score.removesuffix("_micro"): list(
                by_setting(results["cells"], experiment, "as described", score).items()
            )[at]
            for score in ("me", f1)
        }
        share = float(scores["me"][0])
        methods = ("RTKM", "RTKM, step 1.1", kmor, "NEO")
        told = CURVES[experiment]["RTKM"]
        rows.append(
            [f"{name}, share {share:.3g}"]
            + [
                " / ".join(f"{points[m].mean:.3f}" for _, points in scores.values())
                for m in methods
            ]
            + [" / ".join(f"{told[score][at][0]:.3f}" for score in scores)]
        )
    header = ["M_e / F1", "`RTKM`", "`RTKM(step=1.1)`", "`KMOR`", "`NEOKMeans`"]
    return markdown_table([*header, "RTKM, published"], rows)


def overlap_table(results: dict[str, Any]) -> str:
    """Return F1 and clusters per row of every method on yeast and scene."""
    cells = results["cells"]
    f1, size = (
        by_setting(cells, "overlap", "as described", s) for s in ("f1", "cardinality")
    )
    rows = []
    for method in f1["yeast"]:
        row = [label(method)]
        for table in f1:
            told = TABLE[table].get(published_name(method, "as described"))
            row.append(f"{f1[table][method].at_best:.3f}")
            row.append(f"{size[table][method].at_best:.2f}")
            row.append("" if told is None else f"{told:.3f}")
        rows.append(row)
    trivial = results["trivial"]
    rows.append(["(every row in every cluster)"])
    for table in f1:
        found = trivial[table]
        rows[-1] += [f"{found['f1']:.3f}", f"{found['cardinality']:.2f}", ""]
    header = ["method"]
    for table in f1:
        header += [f"{table}: F1", "clusters per row", "published F1"]
    return markdown_table(header, rows)


def verdict_table(results: dict[str, Any]) -> str:
    """Return the claims and their verdicts."""
    rows = [[claim["claim"], claim["verdict"]] for claim in results["claims"]]
    return markdown_table(["claim of the paper", "verdict"], rows)


TABLES = {
    "outliers": outlier_table,
    "overlap": overlap_table,
    "verdicts": verdict_table,
}


if __name__ == "__main__":
    found = json.loads((ROOT / "experiments" / "results" / "results.json").read_text())
    for name, make in TABLES.items():
        fill(ROOT / "docs" / "paper.md", name, make(found))
    write_summaries()
