"""Help comes from docstrings, however they are laid out, and does without them."""

from __future__ import annotations

import subprocess
import sys
from inspect import cleandoc
from textwrap import dedent, indent

import pytest

from rtkm import RTKM
from rtkm.cli.flags import methods
from rtkm.report.docstrings import Entry, entries, explain_parameters, purpose

pytest_plugins = ("typed",)

DOC = """Summary.

    Parameters
    ----------
    first, second : int, default=3
        One paragraph
        of two lines.

        Another one.
    third : "auto" or float
        Has : a colon.

    Attributes
    ----------
    fourth_ : float
        Not a parameter.
    """


def test_entries_of_a_section():
    both = "One paragraph\nof two lines.\n\nAnother one."
    assert list(entries(DOC, "Parameters")) == [
        Entry("first", "int, default=3", both),
        Entry("second", "int, default=3", both),
        Entry("third", '"auto" or float', "Has : a colon."),
    ]
    assert [entry.name for entry in entries(DOC, "Attributes")] == ["fourth_"]
    assert list(entries(DOC, "Notes")) == list(entries("", "Parameters")) == []


# Python 3.13 and later strip the indentation of docstrings, earlier ones keep it
@pytest.mark.parametrize("method", methods().values(), ids=lambda cls: cls.__name__)
def test_the_indentation_of_a_docstring_does_not_matter(method):
    dedented = cleandoc(method.__doc__)
    first, _, rest = dedented.partition("\n")
    indented = first + "\n" + indent(rest, " " * 8)
    for section in ("Parameters", "Attributes"):
        found = list(entries(dedented, section))
        assert len(found) > 1
        assert list(entries(indented, section)) == found


def test_a_class_without_a_docstring_has_no_explanations():
    namespace: dict = {}
    code = """
    from dataclasses import dataclass

    @dataclass
    class Bare:
        size: int = 3
    """
    exec(dedent(code), namespace)
    bare = namespace["Bare"]
    assert bare.__doc__.startswith("Bare(")
    assert explain_parameters(bare) == {}
    assert purpose(bare) == ("", "")
    assert purpose(RTKM)[0].startswith("Find clusters")


def run_without_docstrings(*arguments: str) -> str:
    command = [sys.executable, "-OO", "-m", "rtkm", *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--version"], "rtkm "),
        (["fit", "--help"], "--contamination VALUE"),
        (["methods"], "  TrimmedKMeans     one cluster for each row"),
        (["methods", "CBLOF"], "CBLOF\n\nOptions:\n  --contamination (default: 0.1)\n"),
    ],
    ids=str,
)
def test_commands_do_without_docstrings(arguments, told):
    out = run_without_docstrings(*arguments)
    assert told in out
    assert "RTKM(" not in out  # the signature, which dataclasses put in their place


def test_a_fit_does_without_docstrings(people, tmp_path):
    report = tmp_path / "report.html"
    options = ["-k", "2", "--missing", "drop", "--contamination", "1"]
    out = run_without_docstrings("fit", str(people), *options, "--report", str(report))
    assert "RTKM divides 61 rows into 2 clusters" in out
    assert "RTKM(" not in out + report.read_text()
