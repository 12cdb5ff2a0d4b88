"""What we publish is exported, documented, and runs as shown."""

from __future__ import annotations

import ast
import contextlib
import doctest
import importlib
import importlib.util
import inspect
import io
import pkgutil
import re
import runpy
import shutil
import sys
import warnings
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator

import rtkm
from rtkm._registry import all_classes
from rtkm.report.docstrings import Entry, entries, own_docstring

ROOT = Path(__file__).parents[1]
MODULES = [m.name for m in pkgutil.walk_packages(rtkm.__path__, "rtkm.")]
PUBLIC = [
    getattr(owner, name)
    for owner in (rtkm, rtkm.metrics, rtkm.datasets, rtkm.projections, rtkm.seeding)
    for name in owner.__all__
    if not inspect.ismodule(getattr(owner, name))
]
CLASSES = [item for item in PUBLIC if is_dataclass(item) and hasattr(item, "fit")]


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
        "Partitions",
        "RTKM",
        "Choice",
        "ClusterDetector",
        "Curves",
        "Drift",
        "FuzzyCMeans",
        "KMeansMinusMinus",
        "ModelFileError",
        "NEOKMeans",
        "RelaxedKMeans",
        "ScaleWarning",
        "Stability",
        "TableModel",
        "TrimmedKMeans",
        "choose",
        "compare",
        "curves",
        "dask",
        "datasets",
        "describe_model",
        "estimate_neo_parameters",
        "load",
        "metrics",
        "plot",
        "projections",
        "seeding",
        "stability",
        "to_onnx",
    }


def test_the_registry_lists_every_estimator_that_is_exported():
    exported = {
        name: getattr(rtkm, name)
        for name in rtkm.__all__
        if hasattr(getattr(rtkm, name), "fit")
    }
    assert all_classes() == exported


@pytest.fixture
def no_windows():
    """Draw where nobody looks, and leave no picture behind."""
    pyplot.switch_backend("Agg")
    yield
    pyplot.close("all")


@pytest.mark.usefixtures("no_windows")
@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run_as_shown(name):
    if name == "rtkm._native":
        pytest.skip("compiled, and documented by its callers")
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


@pytest.mark.parametrize("item", PUBLIC, ids=lambda item: item.__name__)
def test_everything_public_shows_an_example(item):
    assert ">>> " in item.__doc__


def test_the_api_page_lists_everything_public():
    words = (ROOT / "docs" / "api" / "index.md").read_text().split()
    listed = {word.rpartition(".")[2] for word in words}
    assert {item.__name__ for item in PUBLIC} <= listed


def documented(cls: type, section: str) -> dict[str, Entry]:
    return {entry.name: entry for entry in entries(own_docstring(cls), section)}


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_parameter_is_documented_with_its_default(cls):
    defaults = {
        name: ast.literal_eval(entry.kind.partition("default=")[2])
        for name, entry in documented(cls, "Parameters").items()
    }
    assert defaults == {field.name: field.default for field in fields(cls)}


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_fitted_attribute_is_documented(cls):
    X = np.random.default_rng(0).normal(size=(60, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = cls().fit(pd.DataFrame(X, columns=["a", "b"]))
    properties = [n for n, _ in inspect.getmembers(cls, inspect.isdatadescriptor)]
    names = {*vars(model), *properties}
    fitted = {name for name in names if name[-1] == "_" and name[0] != "_"}
    assert documented(cls, "Attributes").keys() == fitted


# where a method really differs from its bases, and so do its words
OWN_WORDS = {
    ("RTKM", "tol"),
    ("RTKM", "n_clusters"),
    ("RTKM", "outlier_scores_"),
    ("RTKM", "offset_"),
    ("TrimmedKMeans", "offset_"),
    ("KMeansMinusMinus", "offset_"),
    ("NEOKMeans", "offset_"),
    ("RelaxedKMeans", "tol"),
    ("RelaxedKMeans", "outlier_scores_"),
    ("KMOR", "outlier_scores_"),
    ("ODC", "outlier_scores_"),
    ("ORC", "max_iter"),
    ("ORC", "n_iter_"),
    ("ORC", "converged_"),
    ("MOC", "n_clusters"),
    ("MOC", "cluster_centers_"),
    ("MOC", "outlier_scores_"),
    ("FuzzyCMeans", "labels_"),
    ("FuzzyCMeans", "assignments_"),
    ("ClusterDetector", "contamination"),
}


def shared_text(entry: Entry) -> tuple[str, str]:
    """What of an entry is common to a family: not its default, nor a paper's letter."""
    kind = entry.kind.partition(", default=")[0]
    words = " ".join(entry.words.split())
    return kind, re.sub(r" \([^()]*(?:\[\d+\]_|above)\)", "", words)


def test_shared_parameters_and_attributes_read_the_same_everywhere():
    n_compared, different = 0, set()
    for cls in CLASSES:
        for section in ("Parameters", "Attributes"):
            inherited: dict[str, Entry] = {}
            for base in reversed(cls.__mro__[1:]):
                inherited |= documented(base, section)
            own = documented(cls, section)
            for name in own.keys() & inherited.keys():
                n_compared += 1
                if shared_text(own[name]) != shared_text(inherited[name]):
                    different.add((cls.__name__, name))
    assert different == OWN_WORDS
    assert n_compared > 300


PAGES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))
RUN = [page for page in PAGES if re.search("```py", (ROOT / page).read_text())]


@pytest.mark.parametrize("page", RUN)
def test_examples_on_pages_run_as_shown(page, tmp_path, monkeypatch):
    if [int(module.__version__[0]) for module in (np, pd)] < [2, 3]:
        pytest.skip("pages show numbers and frames as NumPy 2 and pandas 3 print them")
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "docs" / "samples.csv", tmp_path)
    scope: dict = {}
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```(python|pycon)\n(.*?)^```", text, flags=re.M | re.S)
    for kind, code in blocks:
        if kind == "python":
            exec(code, scope)
            continue
        examples = parser.get_doctest(code, scope, page, page, 0)
        runner.run(examples, clear_globs=False)
        scope |= examples.globs
    assert runner.failures == 0
    assert len(blocks) > 0


PICTURES = ROOT / "docs" / "pictures"


def drawn() -> list[tuple[str, str | None]]:
    """Return the pictures of the pages: a file, and the function in it."""
    found = {
        tuple(call.split())
        for page in PAGES
        for call in re.findall(r"^\.\. plot:: (.+)$", (ROOT / page).read_text(), re.M)
    }
    return sorted((file, *(name or [None])) for file, *name in found)


@pytest.mark.slow
@pytest.mark.parametrize(("file", "name"), drawn())
def test_pictures_on_pages_are_drawn_without_a_warning(file, name, monkeypatch):
    monkeypatch.syspath_prepend(str(PICTURES))
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    scope = runpy.run_path(str(PICTURES / file))
    if name:
        scope[name]()
    assert pyplot.get_fignums()
    pyplot.close("all")


def test_every_picture_has_a_page():
    names = {name for file, name in drawn() if name}
    functions = {
        name
        for path in PICTURES.glob("*.py")
        for name in re.findall(r"^def (of_\w+)", path.read_text(), re.M)
    }
    assert functions == names


def test_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope: dict = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for code in code_blocks("README.md"):
            exec(code, scope)
    shown = re.search(
        r"```text\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.S
    )
    assert printed.getvalue() == shown[1]
    is_outlier, model = scope["truth"] == -1, scope["model"]
    assert model.n_clusters_ == 5
    assert (model.outlier_mask_ & is_outlier).sum() > 0.95 * is_outlier.sum()
    assert (model.outlier_mask_ & ~is_outlier).sum() < 0.05 * (~is_outlier).sum()


COMMANDS = [p for p in ("README.md", *PAGES) if "\n$ rtkm " in (ROOT / p).read_text()]


@pytest.mark.slow
@pytest.mark.parametrize("page", COMMANDS)
def test_commands_print_what_the_pages_show(page):
    path = ROOT / "docs" / "write_choosing.py"
    spec = importlib.util.spec_from_file_location("write_choosing", path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    text = (ROOT / page).read_text(encoding="utf-8")
    assert "$ rtkm " in text
    assert script.renew(text) == text, "run python docs/write_choosing.py"


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
