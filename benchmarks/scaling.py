"""What scaling does to clusters on labelled tables: ``make scaling``.

The agreement (ARI) of the labels of ``RTKM(k, contamination=0.05)`` in a `TableModel`
with the classes, `k` of them, for each way to scale: the median of five seeds, over the
rows that are not trimmed and are no outliers by their class. The tables are those of
`labelled.py`; one whose package or file is missing is skipped.

One way more is not on offer: "within" divides columns once more, after a first fit to
robustly scaled ones, by their spread within its clusters, so that none is shrunk for
telling clusters apart.

Tables with known outliers follow, with as many clusters and outliers as ``RTKM()``
itself finds.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Container
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from labelled import DOUBTFUL, HELD_OUT, KNOWN, Labelled
from marked import MARKED, Marked
from numpy.typing import NDArray
from results import ROOT, fill, markdown_table, write
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from rtkm import RTKM, TableModel
from rtkm.metrics import outlier_me
from rtkm.tables.scaling import Scale

WAYS: tuple[Scale, ...] = ("none", "standard", "robust", "auto")
SEEDS = range(5)
CONTAMINATION = 0.05
FAINT = 1e-3  # of a spread, below which there is none
MISS = 0.1  # of ARI, by which auto may fall behind the better of none and robust
KINDS = {"known": KNOWN, "held out": HELD_OUT, "in doubt": DOUBTFUL}
PAGE = ROOT / "docs" / "guide" / "scaling.md"


def measure(table: Labelled) -> dict[str, Any]:
    """Return the agreement of each way to scale, and what was said of `auto`."""
    models = {way: [fitted(table, way, seed) for seed in SEEDS] for way in WAYS}
    plain, auto = models["none"][0], models["auto"][0]
    labels = {way: [model.labels_ for model in models[way]] for way in WAYS}
    labels["within"] = [within_labels(table, model) for model in models["robust"]]
    return {
        "rows": len(table.frame),
        "columns": table.frame.shape[1],
        "classes": table.n_classes,
        "ari": {
            way: [agreement(found, table.classes) for found in of_seeds]
            for way, of_seeds in labels.items()
        },
        "auto": auto.preparation_.scale,
        "said": " ".join(said for said in auto.notes_ if said not in plain.notes_),
    }


def fitted(table: Labelled, way: Scale, seed: int) -> TableModel:
    estimator = RTKM(table.n_classes, contamination=CONTAMINATION, random_state=seed)
    # the columns are named, so that none is left out as an identifier
    model = TableModel(
        estimator, columns=list(table.frame.columns), missing="median", scale=way
    )
    return model.fit(table.frame)


def within_labels(table: Labelled, first: TableModel) -> NDArray[Any]:
    """Return labels once columns are in units of their spread within clusters."""
    X = pd.DataFrame(first.prepare(table.frame).X)
    kept = first.labels_ >= 0
    inliers, labels = X[kept], first.labels_[kept]
    away = inliers - inliers.groupby(labels).transform("mean")
    spread = np.sqrt(np.square(away).mean().to_numpy())
    # a column that is the same in every cluster has no spread there
    faint = FAINT * X.std().to_numpy()
    unit = np.where(spread > faint, spread, np.where(faint > 0, faint / FAINT, 1.0))
    return clone(first.estimator_).fit(X.to_numpy() / unit).labels_


def agreement(labels: NDArray[Any], classes: NDArray[Any]) -> float:
    """Return the ARI over rows that are no outliers, neither found nor true."""
    both = (labels >= 0) & (classes >= 0)
    return float(adjusted_rand_score(classes[both], labels[both]))


SHOWN = (*WAYS, "within")
HEADER = ["table", "rows", "columns", "k", *SHOWN, "what `auto` said"]


def row(record: dict[str, Any]) -> list[str]:
    """Return a line of the table, bold where `auto` misses."""
    ari = {way: float(np.median(values)) for way, values in record["ari"].items()}
    cells = {way: f"{ari[way]:.2f}" for way in SHOWN}
    if is_missed(record):
        cells["auto"] = f"**{cells['auto']}**"
    sizes = (f"{record[size]:,}" for size in ("rows", "columns", "classes"))
    return [record["table"], *sizes, *cells.values(), record["said"]]


def is_missed(record: dict[str, Any], way: Scale = "auto") -> bool:
    """Whether a way is well behind the better of the two that `auto` chooses from."""
    ari = {name: np.median(values) for name, values in record["ari"].items()}
    return bool(ari[way] < max(ari["none"], ari["robust"]) - MISS)


def summary(name: str, records: list[dict[str, Any]]) -> list[str]:
    """Return means over the tables, and how many each way misses."""
    means = {
        way: np.mean([np.median(record["ari"][way]) for record in records])
        for way in SHOWN
    }
    missed: dict[Scale, int] = {
        way: sum(is_missed(record, way) for record in records)
        for way in ("auto", "none", "robust")
    }
    told = f"`auto` misses {missed['auto']} of {len(records)}, always `none` would "
    told += f"{missed['none']}, always `robust` {missed['robust']}"
    return [name, "", "", "", *(f"{mean:.3f}" for mean in means.values()), told]


# The paper's tables, of unknown numbers of clusters and outliers


def measure_choice(load: Callable[[int], Marked]) -> dict[str, list[dict[str, Any]]]:
    """Return, for each way to scale, what `RTKM` finds by itself with each seed."""
    tables = {seed: load(seed) for seed in SEEDS}
    return {
        way: [found_in(table, way, seed) for seed, table in tables.items()]
        for way in WAYS
    }


def found_in(table: Marked, way: Scale, seed: int) -> dict[str, Any]:
    columns = [f"x{j}" for j in range(table.X.shape[1])]
    model = TableModel(RTKM(random_state=seed), columns=columns, scale=way)
    model.fit(table.X)
    found = model.outlier_mask_
    record = {
        "scaled": model.preparation_.scale,
        "k": int(model.estimator_.n_clusters_),
        "found": int(found.sum()),
        "right": int((found & table.outlier_mask).sum()),
        "outliers": int(table.outlier_mask.sum()),
        "m_e": float(outlier_me(table.outlier_mask, found)),
    }
    if table.classes is not None:
        record["ari"] = agreement(model.labels_, table.classes)
    return record


CHOICE_HEADER = [
    "table",
    "scale",
    "k found",
    "true outliers",
    "found",
    "right ones",
    "M_e",
    "ARI of inliers",
]


def choice_rows(name: str, found: dict[str, list[dict[str, Any]]]) -> list[list[str]]:
    """Return a line for each way: medians of the seeds, and the range of M_e."""
    rows = []
    for way, records in found.items():
        values = {key: [r[key] for r in records] for key in records[0]}
        scaled = values.pop("scaled")[0]
        median = {key: float(np.median(of_seeds)) for key, of_seeds in values.items()}
        counts = (f"{median[key]:,.0f}" for key in ("k", "outliers", "found", "right"))
        ends = f"{min(values['m_e']):.3f} to {max(values['m_e']):.3f}"
        m_e = f"{median['m_e']:.3f} ({ends})"
        ari = f"{median['ari']:.3f}" if "ari" in median else ""
        rows.append([name, told_way(way, scaled), *counts, m_e, ari])
    return rows


def told_way(way: str, scaled: str) -> str:
    return way if way == scaled else f"{way}: {scaled}"


def loaded(name: str, load: Callable[[], Any]) -> Any:
    """Return a table, or None and say why where it is not at hand."""
    try:
        return load()
    except (ImportError, OSError) as error:
        print(f"{name} is skipped: {error}")
        return None


def measure_labelled(chosen: Container[str]) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = []
    for kind, tables in KINDS.items():
        for name in (name for name in tables if name in chosen):
            table = loaded(name, tables[name])
            if table is not None:
                records.append({"table": name, "kind": kind, **measure(table)})
                print(" | ".join(row(records[-1])), flush=True)
    return records


def labelled_table(records: list[dict[str, Any]]) -> str:
    rows = []
    for kind in KINDS:
        of_kind = [record for record in records if record["kind"] == kind]
        if of_kind:
            rows += [*map(row, of_kind), summary(f"**{kind}: mean**", of_kind)]
    rows.append(summary("**all: mean**", records))
    return markdown_table(HEADER, rows)


def choice_table(marked: dict[str, dict[str, list[dict[str, Any]]]]) -> str:
    lines = [
        line for name, found in marked.items() for line in choice_rows(name, found)
    ]
    return markdown_table(CHOICE_HEADER, lines)


def main() -> None:
    names = [name for tables in KINDS.values() for name in tables]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", help="some of: " + ", ".join(names))
    options = parser.parse_args()
    unknown = set(options.tables) - set(names)
    if unknown:
        parser.error(f"there is no table {min(unknown)!r}.")
    warnings.simplefilter("ignore")
    records = measure_labelled(options.tables or names)
    if options.tables:
        return
    marked = {
        name: found
        for name, load in MARKED.items()
        if (found := loaded(name, partial(measure_choice, load))) is not None
    }
    tables = labelled_table(records), choice_table(marked)
    if len(records) < len(names) or len(marked) < len(MARKED):
        print("\n\n".join(tables))
        print("Tables were skipped, so that nothing is stored.")
        return
    write("scaling", {"labelled": records, "choice": marked})
    fill(PAGE, "labelled", tables[0])
    fill(PAGE, "choice", tables[1])


if __name__ == "__main__":
    main()
