"""What we publish is exported, documented, and runs as shown."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
import sys
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import ModuleType

import pytest
from sklearn.utils.estimator_checks import check_estimator

import rtkm

ROOT = Path(__file__).parents[1]
MODULES = [m.name for m in pkgutil.walk_packages(rtkm.__path__, "rtkm.")]
PUBLIC = [
    getattr(owner, name)
    for owner in (rtkm, rtkm.metrics, rtkm.datasets, rtkm.projections, rtkm.seeding)
    for name in owner.__all__
    if not inspect.ismodule(getattr(owner, name))
]
CLASSES = [item for item in PUBLIC if is_dataclass(item)]


def code_blocks(page: str) -> list[str]:
    text = (ROOT / page).read_text()
    blocks = re.findall(r"^( *)```python\n(.*?)^ *```", text, flags=re.M | re.S)
    return [re.sub(f"^{indent}", "", code, flags=re.M) for indent, code in blocks]


def test_public_names_are_those_of_the_design():
    assert set(rtkm.__all__) == {
        "CBLOF",
        "CBOD",
        "ESP",
        "ISP",
        "KMOR",
        "LDOF",
        "MOC",
        "ODC",
        "OKM",
        "ORC",
        "ROKM",
        "RTKM",
        "ClusterDetector",
        "FuzzyCMeans",
        "KMeansMinusMinus",
        "ModelFileError",
        "NEOKMeans",
        "RelaxedKMeans",
        "TrimmedKMeans",
        "compare",
        "datasets",
        "describe_model",
        "estimate_neo_parameters",
        "load",
        "metrics",
        "projections",
        "seeding",
    }


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run_as_shown(name):
    if name == "rtkm._native":
        pytest.skip("compiled, and documented by its callers")
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


@pytest.mark.parametrize("item", PUBLIC, ids=lambda item: item.__name__)
def test_everything_public_shows_an_example(item):
    assert ">>> " in item.__doc__


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_parameter_is_documented(cls):
    parameters = cls.__doc__.split("Parameters\n")[1].split("Attributes\n")[0]
    named = re.findall(r"^    (\w[\w, ]*?) :", parameters, flags=re.M)
    documented = {name.strip() for line in named for name in line.split(",")}
    assert documented == {field.name for field in fields(cls)}


def test_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope: dict = {}
    for code in code_blocks("README.md"):
        exec(code, scope)
    assert (scope["model"].labels_ == -1).sum() == 100


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_method_worked_through_for_contributors_passes_every_check(monkeypatch):
    (code,) = code_blocks("CONTRIBUTING.md")
    # a module of its own, as annotations are looked up in the module of their class
    module = ModuleType("fuzzy")
    monkeypatch.setitem(sys.modules, "fuzzy", module)
    exec(code, vars(module))
    model = module.FuzzyCMeans
    results = check_estimator(model(), on_fail=None, on_skip=None)
    assert [r["check_name"] for r in results if r["status"] == "failed"] == []
    # X = 0, 1, 4 from C = (0.5, 4) with m = 2 goes to C = (0.493481, 3.996787)
    fit = model(2, init=[[0.5], [4.0]], tol=1e-12).fit([[0.0], [1.0], [4.0]])
    assert fit.cluster_centers_.ravel() == pytest.approx([0.493481, 3.996787], abs=1e-6)
