"""A small run with every figure and table, its page, and a reader of pages."""

from __future__ import annotations

from html.parser import HTMLParser

from experiments.drawing.gallery import draw_all, exhibits
from experiments.page.page import write_page

HOSTILE = '<script src="http://evil.example/x.js">alert(1)</script> & "quoted"'
PARTS = ["as described M_e is 0.1", HOSTILE, "as published it is 0.2; 0.3 at most"]
CLAIMS = [
    {"claim": "A holds", "verdict": "reproduced", "evidence": "0.1 against 0.1"},
    {"claim": HOSTILE, "verdict": "not reproduced", "evidence": HOSTILE},
    {"claim": "C", "verdict": f"true only under {HOSTILE}", "evidence": PARTS},
]
CLOUDS = {
    # two clouds with means (1, 0) and (5, 0), and an outlier at (9, 4)
    "X": [[0, 0], [2, 0], [4, 0], [6, 0], [9, 4]],
    "truth": [0, 0, 1, 1, -1],
    "labels": {"k-means": [1, 1, 1, 1, 0], "RTKM": [1, 1, 0, 0, -1]},
    "centers": {"k-means": [[9, 4], [3, 0]], "RTKM": [[5, 0], [1, 0]]},
}
PROCESS = {
    "X": [[0, 0], [1, 0], [4, 4]],
    "iterations": [0, 3, 5, 21],
    "centers": [[[0, 0], [1, 1]]] * 4,
    "weights": [[0.5, 0.5, 0.5], [0.9, 0.5, 0.1], [1, 0.6, 0], [1, 1, 0]],
}
FINDINGS = [{"finding": HOSTILE, "evidence": "0.2 against 0.1"}]


def shown_ids(results):
    """Return the ids that the page of a whole run must have: figures, tables."""
    shown = exhibits(results)
    figures = {f"figure-{exhibit.name}" for exhibit in shown}
    tables = {name for exhibit in shown for name in exhibit.tables}
    return figures, tables | {"claims", "findings", "versions"}


def record(f1, objective=1.0):
    return {
        "f1": f1,
        "f1_micro": f1 + 0.1,
        "me": 0.5,
        "cardinality": 2.5,
        "objective": objective,
    }


def make_cells():
    """Two starts everywhere: RTKM scores 0.6 and 0.7, the others 0.3."""
    cells = {
        f"{name}/{protocol}/{share}/{start}": {
            "RTKM": record(0.5),
            "RTKM, step 1.1": record(0.6 + 0.1 * start),
            "NEO": record(0.3),
            HOSTILE: record(0.3),
        }
        for name, share in (("wbc", 0.25), ("shuttle", 0.02), ("yeast_noise", 0.02))
        for protocol in ("as described", "as published")
        for start in range(2)
    }
    for table in ("yeast", "scene"):
        for start in range(2):
            # the second start scores more, at a lower objective
            cells[f"overlap/as described/{table}/{start}"] = {
                name: record(0.3 + 0.1 * start, 2.0 - start)
                for name in (
                    *("RTKM", "RTKM, step 1.1", "KMOR", "NEO", "moc", "fuzzy"),
                    *("esp", "isp", "okm", "rokm"),
                )
            }
            cells[f"overlap/as published/{table}/{start}"] = {
                name: {"f1": 0.2 + 0.1 * start, "cardinality": 2.5}
                for name in ("RTKM", "KMOR", "NEO", "NEO, raw start")
            }
    return cells | small_cells()


def small_cells():
    """Return the cells of the experiments that have few."""
    cells = {
        "clouds/as described/three clouds/0": CLOUDS,
        "process/as described/two clouds/0": PROCESS,
    }
    for protocol in ("as described", "as published"):
        cells[f"outlier_maps/{protocol}/0.1/0"] = {
            "plane": [[0, 0], [1, 0], [0, 1], [5, 5]],
            "outliers": {"truth": [3], "RTKM": [3], "NEO": []},
        }
    for scale, objective in (("0.1", 3.0), ("1.0", 2.0)):
        cells[f"units/as described/{scale}/0"] = {
            "RTKM, step 1.1": {"objective": objective, "me": 0.5, "fractional": 0.25},
            "RTKM": {"objective": 2.0, "me": 0.4, "fractional": 0.0},
        }
    return cells


def make_results():
    """Return what a small run ends with."""
    return {
        "format": 2,
        "quick": True,
        "noise": "the authors'",
        "starts": "the authors'",
        "cells": make_cells(),
        "claims": CLAIMS,
        "findings": FINDINGS,
        "trivial": {
            "yeast": {"f1": 0.3771, "cardinality": 14.0},
            "scene": {"f1": 0.2222, "cardinality": 6.0},
        },
        "versions": {"rtkm": "0.1.0", "numpy": "2.9.9", HOSTILE: HOSTILE},
    }


def write_sample(folder):
    """Write the page of the small run into a folder, and return its path."""
    results = make_results()
    path = folder / "report.html"
    write_page(path, results, draw_all(results, folder))
    return path


class Reader(HTMLParser):
    """Collects tags with their attributes, and the text of every table."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.rows, self.text = [], {}, ""
        self.table = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "table":
            self.table = self.rows.setdefault(dict(attrs).get("id"), [])
        elif tag == "tr" and self.table is not None:
            self.table.append([])
        elif tag in ("td", "th"):
            self.table[-1].append("")

    def handle_endtag(self, tag):
        if tag == "table":
            self.table = None

    def handle_data(self, data):
        self.text += data
        if self.table and self.table[-1]:
            self.table[-1][-1] += data.strip("\n")

    def ids(self, tag):
        return {attrs.get("id") for name, attrs in self.tags if name == tag}

    def fetched(self):
        """Return every address that a browser would fetch by itself."""
        return [
            value
            for tag, attrs in self.tags
            if tag != "a"
            for name, value in attrs.items()
            if name in ("src", "href", "xlink:href", "srcset", "data", "poster")
        ]
