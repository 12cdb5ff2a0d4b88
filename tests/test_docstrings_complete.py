"""Docstrings say what every parameter is and what comes back, and show an example."""

from __future__ import annotations

import inspect
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

import rtkm
from rtkm._registry import all_classes
from rtkm.core.fields import declared
from rtkm.report.docstrings import entries, own_docstring

validate = pytest.importorskip(
    "numpydoc.validate", reason="numpydoc is not installed"
).validate

# what numpydoc asks for and we do not
NOT_ASKED = {
    "ES01": "where the first line says it all, nothing needs to follow",
    "SA01": "what is related is named where it helps to choose",
}

# what functions return, and nobody makes by hand
RESULTS = [rtkm.Choice, rtkm.Curves, rtkm.Drift, rtkm.Stability]


def exported() -> list[Any]:
    """Return the public classes and functions."""
    owners = [rtkm, *(item for item in vars_of(rtkm) if inspect.ismodule(item))]
    return [item for o in owners for item in vars_of(o) if not inspect.ismodule(item)]


def vars_of(owner: Any) -> list[Any]:
    return [getattr(owner, name) for name in owner.__all__]


def home(item: Any) -> str:
    """Return where something is written, however it was inherited."""
    item = item.fget if isinstance(item, property) else item
    return f"{getattr(item, '__module__', '')}.{getattr(item, '__qualname__', '')}"


def public_objects() -> dict[str, Any]:
    """Return classes, functions, methods and properties of ours, each of them once."""
    found = {}
    for item in exported():
        names = dir(item) if inspect.isclass(item) else []
        members = [getattr(item, name) for name in names if not name.startswith("_")]
        ours = (m for m in members if callable(m) or isinstance(m, property))
        found |= {home(member): member for member in [item, *ours]}
    # what scikit-learn gives to every estimator is documented there
    return {name: item for name, item in found.items() if name.startswith("rtkm.")}


OBJECTS = public_objects()


def complaints(name: str) -> list[str]:
    """Return what numpydoc finds missing or wrong."""
    errors = [e for e in validate(name)["errors"] if e[0] not in NOT_ASKED]
    if is_dataclass(OBJECTS[name]) and positional_come_first(OBJECTS[name]):
        # among keywords, a class's own come before those it shares with others; in the
        # signature of a dataclass inherited fields come first
        errors = [e for e in errors if e[0] != "PR03"]
    return [f"{code}: {message}" for code, message in errors]


def positional_come_first(cls: type) -> bool:
    """Whether those parameters that have a place are documented in their order."""
    placed = [
        parameter.name
        for parameter in inspect.signature(cls).parameters.values()
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY
    ]
    told = [entry.name for entry in entries(own_docstring(cls), "Parameters")]
    return told[: len(placed)] == placed


def test_methods_are_looked_at_where_they_are_written():
    assert len(OBJECTS) > 110
    assert {
        "rtkm.clusterers.rtkm.RTKM",
        "rtkm.clusterers._predict.PredictMixin.predict",
        "rtkm.clusterers._predict.PredictMixin.memberships_",
        "rtkm.clusterers._base.WeightedClusterer.fit",
        "rtkm.core.fields.Savable.report",
        "rtkm.table_model.TableModel.predict",
        "rtkm.table_model.TableModel.of_numbers",
        "rtkm.metrics._f1.average_f1",
        "rtkm.plot.tail",
    } <= OBJECTS.keys()
    assert not [name for name in OBJECTS if name.endswith("_request")]


@pytest.mark.parametrize("name", OBJECTS)
def test_numpydoc_finds_nothing_missing(name):
    assert complaints(name) == []


def attributes(cls: type) -> set[str]:
    return {entry.name for entry in entries(own_docstring(cls), "Attributes")}


def properties(cls: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(cls, inspect.isdatadescriptor)}


@pytest.mark.parametrize("cls", all_classes().values(), ids=lambda cls: cls.__name__)
def test_every_attribute_that_any_fit_may_set_is_documented(cls):
    learned = {*declared(cls), *properties(cls)}
    assert attributes(cls) == {n for n in learned if n[-1] == "_" and n[0] != "_"}


@pytest.mark.parametrize("cls", RESULTS, ids=lambda cls: cls.__name__)
def test_every_attribute_of_a_result_is_documented(cls):
    given = {entry.name for entry in entries(own_docstring(cls), "Parameters")}
    assert given == {field.name for field in fields(cls)}
    assert attributes(cls) == {name for name in properties(cls) if name[0] != "_"}
