"""The tree: imports go down only, and no module imports the package itself."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import rtkm

ROOT = Path(rtkm.__file__).parent

# from the bottom up; a module imports from its own floor or from below
FLOORS = [
    {"_version", "_registry", "_optional", "_number_text", "_warnings", "_native"}
    | {"_memory"},
    {"_early_interrupt", "_signals", "_streams", "_files", "_journal"},
    {"core", "projections"},
    {"seeding"},
    {"metrics", "datasets"},
    {"choosing"},
    {"clusterers", "detectors"},
    {"tables", "models", "compare"},
    {"report"},
    {"table_model", "plot", "dask"},
    {"cli", "__init__", "__main__"},
]
FLOOR = {name: height for height, names in enumerate(FLOORS) for name in names}

# what hands over to a higher floor, in one line: methods of estimators
UPWARD = {
    ("core/fields.py", "Savable.save", "rtkm.models.files"),
    ("core/fields.py", "Savable.report", "rtkm.report.of_model"),
    ("core/fields.py", "Savable.summary", "rtkm.report.of_model"),
    ("core/fields.py", "Savable._html_repr", "rtkm.report.notebook"),
    ("core/fields.py", "Savable.plot", "rtkm.plot"),
    # collections of other packages, by the packages that they are from
    ("core/sources.py", "of_dask", "rtkm.dask.collections"),
    ("core/sources.py", "of_pyarrow", "rtkm.tables.datasets"),
    ("choosing/choice.py", "Choice.plot", "rtkm.plot"),
    ("choosing/curves.py", "Curves.plot", "rtkm.plot"),
}


def modules():
    return sorted(ROOT.rglob("*.py"))


def floor_of(parts):
    return FLOOR[parts[0]]


def imports_of(tree):
    """Yield (dotted name, names of the functions around it)."""

    def visit(node, around):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                for alias in child.names:
                    yield alias.name, around
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, "imports are absolute"
                if child.module == "rtkm":
                    for alias in child.names:
                        yield f"rtkm.{alias.name}", around
                else:
                    yield child.module, around
            elif isinstance(child, ast.FunctionDef | ast.ClassDef):
                yield from visit(child, (*around, child.name))
            else:
                yield from visit(child, around)

    yield from visit(tree, ())


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_go_down_only(path):
    where = path.relative_to(ROOT)
    own_floor = floor_of(where.with_suffix("").parts)
    upward = set()
    for name, around in imports_of(ast.parse(path.read_text())):
        parts = name.split(".")
        if parts[0] != "rtkm":
            continue
        if len(parts) == 1:
            pytest.fail(f"{where} imports rtkm itself")
        if floor_of(parts[1:]) > own_floor:
            upward.add((str(where), ".".join(around), name))
    assert upward <= UPWARD, "an import goes up"


def test_the_exceptions_are_all_in_use():
    found = set()
    for path in modules():
        where = path.relative_to(ROOT)
        for name, around in imports_of(ast.parse(path.read_text())):
            parts = name.split(".")
            own_floor = floor_of(where.with_suffix("").parts)
            if parts[0] == "rtkm" and floor_of(parts[1:]) > own_floor:
                found.add((str(where), ".".join(around), name))
    assert found == UPWARD


def private_part(name):
    """The first part of a dotted name that begins with an underscore."""
    parts = (part for part in name.split(".") if part.startswith("_"))
    return next((part for part in parts if not part.endswith("__")), None)


def names_of_scikit_learn(tree):
    """Yield what is imported from scikit-learn, module and name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] == "sklearn")


REPOSITORY = Path(__file__).parents[1]
FOLDERS = ("src", "tests", "examples", "experiments", "benchmarks", "docs")


@pytest.mark.parametrize("folder", FOLDERS)
def test_nothing_private_of_scikit_learn_is_imported(folder):
    """Private names move without notice; a source archive lacks some of the folders."""
    imported = {
        name
        for path in (REPOSITORY / folder).rglob("*.py")
        for name in names_of_scikit_learn(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert not [name for name in imported if private_part(name)]
    assert imported or folder not in ("src", "tests")


def test_private_names_are_told_from_public_ones():
    tree = ast.parse("from sklearn.utils._a import b, c; import sklearn.d; import e._f")
    names = list(names_of_scikit_learn(tree))
    assert names == ["sklearn.utils._a.b", "sklearn.utils._a.c", "sklearn.d"]
    assert [private_part(name) for name in names] == ["_a", "_a", None]
    assert private_part("sklearn.__version__") is None
