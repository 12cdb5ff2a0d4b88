"""A small run with every figure and table, its page, and a reader of pages."""

from __future__ import annotations

from html.parser import HTMLParser

from rtkm.reproduce._gallery import draw_all
from rtkm.reproduce._page import write_page

HOSTILE = '<script src="http://evil.example/x.js">alert(1)</script> & "quoted"'
CLAIMS = [
    {"claim": "A holds", "verdict": "reproduced", "evidence": "0.1 against 0.1"},
    {"claim": HOSTILE, "verdict": "not reproduced", "evidence": HOSTILE},
    {"claim": "C", "verdict": f"true only under {HOSTILE}", "evidence": "some"},
]
FIGURES = {
    "figure-process",
    "figure-wbc-as-described",
    "figure-wbc-as-published",
    "figure-shuttle-as-described",
    "figure-shuttle-as-published",
    "figure-overlap-yeast",
    "figure-overlap-scene",
    "figure-yeast_noise-as-described",
    "figure-yeast_noise-as-published",
    "figure-outlier_maps-as-described",
}
TABLES = {
    "claims",
    "versions",
    "numbers-overlap-yeast",
    "numbers-overlap-scene",
    "numbers-wbc-as-described-me",
    "numbers-wbc-as-described-f1",
    "numbers-wbc-as-published-me",
    "numbers-wbc-as-published-f1",
    "numbers-shuttle-as-described-me",
    "numbers-shuttle-as-described-f1",
    "numbers-shuttle-as-published-me",
    "numbers-shuttle-as-published-f1_micro",
    "numbers-yeast_noise-as-described-me",
    "numbers-yeast_noise-as-described-f1",
    "numbers-yeast_noise-as-published-me",
    "numbers-yeast_noise-as-published-f1",
}


def record(f1):
    return {
        "f1": f1,
        "f1_micro": f1 + 0.1,
        "me": 0.5,
        "cardinality": 2.5,
        "objective": 1.0,
    }


def make_results():
    """Two starts everywhere: RTKM scores 0.6 and 0.7, the others 0.3."""
    cells = {
        f"{name}/{protocol}/{share}/{start}": {
            "RTKM": record(0.6 + 0.1 * start),
            "NEO": record(0.3),
            HOSTILE: record(0.3),
        }
        for name, share in (("wbc", 0.25), ("shuttle", 0.02), ("yeast_noise", 0.02))
        for protocol in ("as described", "as published")
        for start in range(2)
    }
    for table in ("yeast", "scene"):
        for start in range(2):
            cells[f"overlap/as described/{table}/{start}"] = {
                name: record(0.3 + 0.1 * start)
                for name in (
                    *("RTKM", "KMOR", "NEO", "moc", "fuzzy", "esp", "isp"),
                    *("okm", "rokm"),
                )
            }
    cells["process/as described/two clouds/0"] = {
        "X": [[0, 0], [1, 0], [4, 4]],
        "iterations": [0, 3, 5, 21],
        "centers": [[[0, 0], [1, 1]]] * 4,
        "weights": [[0.5, 0.5, 0.5], [0.9, 0.5, 0.1], [1, 0.6, 0], [1, 1, 0]],
    }
    cells["outlier_maps/as described/yeast/0"] = {
        "plane": [[0, 0], [1, 0], [0, 1], [5, 5]],
        "outliers": {"truth": [3], "RTKM": [3], "NEO": []},
    }
    return {
        "format": 1,
        "rtkm": "0.1.0",
        "quick": True,
        "cells": cells,
        "trivial": {
            "yeast": {"f1": 0.3771, "cardinality": 14.0},
            "scene": {"f1": 0.2222, "cardinality": 6.0},
        },
        "versions": {"numpy": "2.9.9", HOSTILE: HOSTILE},
    }


def write_sample(folder):
    """Write the page of the small run into a folder, and return its path."""
    results = make_results()
    path = folder / "report.html"
    write_page(path, results, draw_all(results, folder), CLAIMS)
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
