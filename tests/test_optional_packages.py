"""What needs an optional package names it, and the extra that brings it."""

from __future__ import annotations

import subprocess
import sys

import pytest

import rtkm
from rtkm._optional import import_optional


def test_a_package_that_is_there_is_returned():
    assert import_optional("json", needed_by="this test") is sys.modules["json"]


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("pandas", 'compare needs pandas; pip install "rtkm[cli]".'),
        ("pyarrow.csv", 'compare needs pyarrow; pip install "rtkm[cli]".'),
        ("jinja2", 'compare needs Jinja2; pip install "rtkm[cli]".'),
        (
            "charset_normalizer",
            'compare needs charset-normalizer; pip install "rtkm[cli]".',
        ),
        (
            "python_calamine",
            'compare needs python-calamine; pip install "rtkm[cli]".',
        ),
    ],
)
def test_a_missing_package_is_named_as_it_is_installed(monkeypatch, module, message):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError) as caught:
        import_optional(module, needed_by="compare")
    assert str(caught.value) == message


def test_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r'matplotlib; pip install "rtkm\[plot\]"\.$'):
        import_optional("matplotlib.figure", needed_by="a picture", extra="plot")


@pytest.mark.parametrize(
    ("use", "absent"),
    [
        ("import rtkm", ("numpy", "scipy", "sklearn")),
        ("import rtkm; assert 'RTKM' in dir(rtkm)", ("numpy", "scipy", "sklearn")),
        ("import rtkm.cli.main", ("numpy", "sklearn", "rtkm.report")),
        ("from rtkm import RTKM", ("matplotlib", "jinja2", "rtkm.report")),
        ("from rtkm import TableModel", ("matplotlib", "jinja2", "rtkm.report.page")),
    ],
)
def test_packages_are_imported_where_they_are_used(use, absent):
    code = f"""
import sys
before = set(sys.modules)
{use}
found = {{name for name in sys.modules if name.startswith({absent})}}
assert not found - before, found
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("flag", ["--help", "--version"])
def test_the_command_answers_before_it_imports_numpy(flag):
    code = f"""
import sys
from rtkm.cli.main import main
before = set(sys.modules)
try:
    main([{flag!r}])
except SystemExit as leaving:
    assert not leaving.code
found = {{"numpy", "scipy", "sklearn", "pandas"}} & (set(sys.modules) - before)
assert not found, found
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_function_is_not_taken_for_the_package_of_its_name():
    code = """
import rtkm
import rtkm.compare.frame
assert callable(rtkm.compare), rtkm.compare
import rtkm.compare.basis
assert rtkm.compare is rtkm.compare.__globals__["compare"]
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="rtkm"):
        _ = rtkm.NoSuchMethod
