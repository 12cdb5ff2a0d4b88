"""The results that are kept in the repository, and what the README says of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import rtkm
from rtkm.reproduce._claims import judge
from rtkm.reproduce._findings import find
from rtkm.reproduce._gallery import exhibits
from rtkm.reproduce._results import EXPERIMENTS

ROOT = Path(__file__).parents[2]
RESULTS = json.loads((ROOT / "experiments" / "results.json").read_text())


def test_they_are_of_a_full_run_of_this_version():
    assert RESULTS["rtkm"] == rtkm.__version__
    assert RESULTS["quick"] is False
    wanted = [c.key for e in EXPERIMENTS.values() for c in e.cells(quick=False)]
    assert list(RESULTS["cells"]) == wanted


def test_claims_and_findings_follow_from_the_cells():
    found = [verdict._asdict() for verdict in judge(RESULTS["cells"])]
    assert found == RESULTS["claims"]
    told = [f._asdict() for f in find(RESULTS["cells"], RESULTS["trivial"])]
    assert told == RESULTS["findings"]


def test_every_picture_is_there():
    pictures = {path.name for path in (ROOT / "experiments" / "pictures").iterdir()}
    names = [exhibit.name for exhibit in exhibits(RESULTS)]
    assert pictures == {f"{name}.{kind}" for name in names for kind in ("svg", "png")}


@pytest.mark.parametrize("name", ["outliers", "overlap", "verdicts"])
def test_the_readme_shows_their_tables(name, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.delitem(sys.modules, "results", raising=False)
    from paper import TABLES

    assert TABLES[name](RESULTS) in (ROOT / "README.md").read_text()
