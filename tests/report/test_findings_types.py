"""Findings are what their types say, and the documentation says the same."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints, is_typeddict

import pytest
from report_samples import hostile_findings, make_findings

from rtkm.cli.main import main
from rtkm.report import findings as types
from rtkm.report.findings import Findings, Outliers

DOCS = Path(__file__).parents[2] / "docs"


def check(value, hint, place="findings"):
    """Compare a value with its type, down to the last number."""
    if get_origin(hint) in (Union, UnionType):
        kinds = get_args(hint)
        if value is None:
            assert NoneType in kinds, place
            return
        (inner,) = [kind for kind in kinds if fits(value, kind)][:1] or [None]
        assert inner is not None, (place, value)
        check(value, inner, place)
    elif is_typeddict(hint):
        hints = get_type_hints(hint)
        assert value.keys() == hints.keys(), place
        for key, below in hints.items():
            check(value[key], below, f"{place}.{key}")
    elif get_origin(hint) is list:
        assert type(value) is list, place
        for item in value:
            check(item, get_args(hint)[0], f"{place}[]")
    elif get_origin(hint) is dict:
        assert type(value) is dict, place
        for key, item in value.items():
            assert type(key) is str, place
            check(item, get_args(hint)[1], f"{place}.*")
    else:
        assert type(value) is hint, (place, value)


def fits(value, kind):
    """Whether a value is of a member of a union."""
    if is_typeddict(kind):
        return type(value) is dict
    return type(value) is (get_origin(kind) or kind)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"overlap": True},
        {"n_clusters": 0, "ids": False},
        {"n_clusters": 1, "n_features": 1, "n_outliers": 5},
        {"n_outliers": 0},
        {"n_rows": 6000},
        {"n_rows": 300, "n_outliers": 297},
        {"choose": True},
        {"choose": True, "n_clusters": 1},
        {"choose": True, "n_rows": 12, "n_outliers": 0},
    ],
    ids=str,
)
def test_findings_are_of_their_types(options):
    findings = make_findings(**options)
    check(findings, Findings)
    assert json.loads(json.dumps(findings, allow_nan=False)) == findings


def test_hostile_names_are_findings_too():
    check(hostile_findings("</script>", n_rows=60, n_outliers=6), Findings)


def test_what_json_writes_is_of_the_type(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{i % 7},{i * i % 11},{'' if i == 3 else i % 5}" for i in range(40)]
    Path("a.csv").write_text("\n".join(["a,b,c", *lines]))
    words = ["-k", "2", "--missing", "median", "--quiet", "--json", "a.json"]
    assert main(["fit", "a.csv", *words]) == 0
    written = json.loads(Path("a.json").read_text())
    check(written, Findings)
    steps = "read prepare choose fit resample explain".split()
    assert list(written["seconds"]) == steps
    assert {"rtkm", "python", "numpy", "scikit-learn"} <= written["versions"].keys()


def test_a_wrong_value_is_seen():
    findings = make_findings()
    findings["outliers"]["rows"][0]["score"] = 1
    with pytest.raises(AssertionError, match="score"):
        check(findings, Findings)
    del findings["outliers"]["cutoff"]
    with pytest.raises(AssertionError, match="outliers"):
        check(findings["outliers"], Outliers, "outliers")


def test_nothing_in_the_types_is_any():
    for name, kind in vars(types).items():
        if is_typeddict(kind):
            for key, hint in get_type_hints(kind).items():
                assert Any not in parts_of(hint), (name, key)


def parts_of(hint):
    return [hint, *(part for inner in get_args(hint) for part in parts_of(inner))]


def test_the_documentation_is_current():
    path = DOCS / "write_findings.py"
    spec = importlib.util.spec_from_file_location("write_findings", path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    written = (DOCS / "guide" / "findings.md").read_text(encoding="utf-8")
    assert script.write_page() == written, "run python docs/write_findings.py"
