"""What scaling does to clusters on labelled tables: ``make scaling``.

The agreement (ARI) of the labels of ``RTKM(k, contamination=0.05)`` in a `TableModel`
with the classes, `k` of them, for each way to scale: the median of five seeds, over the
rows that are not trimmed and are no outliers by their class. The tables are those of
`labelled.py`; one whose package or file is missing is skipped.

The paper's tables follow with as many clusters and outliers as ``RTKM()`` itself finds,
as they are and with ``scale="auto"``.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from labelled import DOUBTFUL, DOUBTFUL_LATER, HELD_OUT, HELD_OUT_LATER, KNOWN, Labelled
from numpy.typing import NDArray
from results import ROOT, fill, markdown_table, write
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from rtkm import RTKM, TableModel
from rtkm.datasets import fetch_shuttle, load_wbc, make_yeast_noise
from rtkm.datasets._authors import NOISE_FILES
from rtkm.datasets._lookup import data_folder
from rtkm.metrics import outlier_me
from rtkm.tables.scaling import Scale

WAYS: tuple[Scale, ...] = ("none", "standard", "robust", "auto")
SEEDS = range(5)
CONTAMINATION = 0.05
MISS = 0.1  # of ARI, by which auto may fall behind the better of none and robust
PAGE = ROOT / "docs" / "scaling.md"


def measure(table: Labelled) -> dict[str, Any]:
    """Return the agreement of each way to scale, and what was said of `auto`."""
    models = {way: [fitted(table, way, seed) for seed in SEEDS] for way in WAYS}
    plain, auto = models["none"][0], models["auto"][0]
    return {
        "rows": len(table.frame),
        "columns": table.frame.shape[1],
        "classes": table.n_classes,
        "ari": {
            way: [agreement(model.labels_, table.classes) for model in found]
            for way, found in models.items()
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


def agreement(labels: NDArray[Any], classes: NDArray[Any]) -> float:
    """Return the ARI over rows that are no outliers, neither found nor true."""
    both = (labels >= 0) & (classes >= 0)
    return float(adjusted_rand_score(classes[both], labels[both]))


HEADER = ["table", "rows", "columns", "k", *WAYS, "it said"]


def row(record: dict[str, Any]) -> list[str]:
    """Return a line of the table, bold where `auto` misses."""
    ari = {way: float(np.median(values)) for way, values in record["ari"].items()}
    cells = {way: f"{ari[way]:.2f}" for way in WAYS}
    if is_missed(record):
        cells["auto"] = f"**{cells['auto']}**"
    sizes = (f"{record[size]:,}" for size in ("rows", "columns", "classes"))
    return [record["table"], *sizes, *cells.values(), record["said"]]


def is_missed(record: dict[str, Any]) -> bool:
    """Whether `auto` is well behind the better of the two ways it chooses from."""
    ari = {way: np.median(values) for way, values in record["ari"].items()}
    return bool(ari["auto"] < max(ari["none"], ari["robust"]) - MISS)


def summary(name: str, records: list[dict[str, Any]]) -> list[str]:
    """Return means over the tables, and how many `auto` misses."""
    means = {
        way: np.mean([np.median(record["ari"][way]) for record in records])
        for way in WAYS
    }
    n_missed = sum(map(is_missed, records))
    told = f"`auto` misses {n_missed} of {len(records)}"
    return [name, "", "", "", *(f"{mean:.3f}" for mean in means.values()), told]


# The paper's tables, of unknown numbers of clusters and outliers


class Marked(NamedTuple):
    """Rows, which of them are outliers, and the class of each where it has but one.

    The class is -1 where a cluster is not what its rows are expected to be.
    """

    X: NDArray[Any]
    outlier_mask: NDArray[np.bool_]
    classes: NDArray[Any] | None = None


def yeast_noise() -> Marked:
    """Take yeast and 5 % noise, that of the authors where it is at hand."""
    folder = data_folder()
    at_hand = folder and all((folder / name).is_file() for name in NOISE_FILES)
    X, labels = make_yeast_noise(
        path=folder if at_hand else None, download_if_missing=False
    )
    return Marked(X, ~labels.astype(bool).any(axis=1))


def shuttle() -> Marked:
    found = fetch_shuttle(download_if_missing=False)
    classes = np.where(found.outlier_mask, -1, found.target)
    return Marked(found.data, found.outlier_mask, classes)


def wbc() -> Marked:
    """Take malignant samples for outliers, as in the paper, and for a class."""
    found = load_wbc()
    return Marked(found.data, found.target == 1, found.target)


def few_digits() -> Marked:
    """Draw 8 % of other digits among all of 0, 1 and 6."""
    found = load_digits()
    is_usual = np.isin(found.target, (0, 1, 6))
    n_others = round(is_usual.sum() * 0.08 / 0.92)
    others = np.random.default_rng(0).choice(
        np.flatnonzero(~is_usual), n_others, replace=False
    )
    rows = np.sort(np.r_[np.flatnonzero(is_usual), others])
    is_other = ~is_usual[rows]
    classes = np.where(is_other, -1, found.target[rows])
    return Marked(found.data[rows], is_other, classes)


MARKED: dict[str, Callable[[], Marked]] = {
    "yeast + 5 % noise": yeast_noise,
    "shuttle": shuttle,
    "breast cancer, grades": wbc,
    "digits 0, 1, 6 + 8 % others": few_digits,
}


def measure_choice(table: Marked) -> list[dict[str, Any]]:
    """Return what is found when `RTKM` chooses, as the table is and scaled."""
    names = [f"x{j}" for j in range(table.X.shape[1])]
    records = []
    for way in WAYS:
        model = TableModel(scale=way, columns=names).fit(table.X)
        found = model.outlier_mask_
        records.append(
            {
                "way": way,
                "scaled": model.preparation_.scale,
                "said": model.notes_[-1] if model.notes_ else "",
                "k": int(model.estimator_.n_clusters_),
                "true outliers": int(table.outlier_mask.sum()),
                "found": int(found.sum()),
                "right": int((found & table.outlier_mask).sum()),
                "m_e": float(outlier_me(table.outlier_mask, found)),
                "ari": None
                if table.classes is None
                else agreement(model.labels_, table.classes),
            }
        )
    return records


CHOICE_HEADER = [
    "table",
    "scale",
    "k found",
    "outliers found",
    "right ones",
    "true outliers",
    "M_e",
    "ARI of inliers",
]


def choice_rows(name: str, records: list[dict[str, Any]]) -> list[list[str]]:
    rows = []
    for r in records:
        way = r["way"] if r["way"] == r["scaled"] else f"{r['way']}: {r['scaled']}"
        counts = (f"{r[key]:,}" for key in ("k", "found", "right", "true outliers"))
        ari = "" if r["ari"] is None else f"{r['ari']:.3f}"
        rows.append([name, way, *counts, f"{r['m_e']:.3f}", ari])
    return rows


def loaded(name: str, load: Callable[[], Any]) -> Any:
    """Return a table, or None and say why where it is not at hand."""
    try:
        return load()
    except (ImportError, OSError) as error:
        print(f"{name} is skipped: {error}")
        return None


def main() -> None:
    kinds = {
        "known": KNOWN,
        "held out": HELD_OUT,
        "held out later": HELD_OUT_LATER,
        "doubtful": DOUBTFUL,
        "doubtful later": DOUBTFUL_LATER,
    }
    loads = {name: load for kind in kinds.values() for name, load in kind.items()}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", help="some of: " + ", ".join(loads))
    options = parser.parse_args()
    unknown = set(options.tables) - set(loads)
    if unknown:
        parser.error(f"there is no table {sorted(unknown)[0]!r}.")
    warnings.simplefilter("ignore")
    chosen = options.tables or list(loads)
    records: list[dict[str, Any]] = []
    for kind, tables in kinds.items():
        for name in (name for name in tables if name in chosen):
            table = loaded(name, tables[name])
            if table is not None:
                records.append({"table": name, "kind": kind, **measure(table)})
                print(" | ".join(row(records[-1])), flush=True)
    if options.tables:
        return
    rows = []
    for kind in kinds:
        of_kind = [record for record in records if record["kind"] == kind]
        rows += [*map(row, of_kind), summary(f"**{kind}: mean**", of_kind)]
    marked = {
        name: measure_choice(table)
        for name, load in MARKED.items()
        if (table := loaded(name, load)) is not None
    }
    choice_lines = [
        line for name, found in marked.items() for line in choice_rows(name, found)
    ]
    shown = markdown_table(HEADER, rows), markdown_table(CHOICE_HEADER, choice_lines)
    if len(records) < len(loads) or len(marked) < len(MARKED):
        print("\n\n".join(shown))
        print("Tables were skipped, so that nothing is stored.")
        return
    write("scaling", {"labelled": records, "choice": marked})
    fill(PAGE, "labelled", shown[0])
    fill(PAGE, "choice", shown[1])


if __name__ == "__main__":
    main()
