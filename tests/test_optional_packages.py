"""What needs an optional package names it, and the extra that brings it."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import rtkm
from rtkm._optional import EXTRAS, NAMES, import_optional


def test_a_package_that_is_there_is_returned():
    assert import_optional("json", needed_by="this test") is sys.modules["json"]


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("pandas", 'compare needs pandas; pip install "rtkm[pandas]".'),
        ("dask.array", 'compare needs dask; pip install "rtkm[dask]".'),
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
        import_optional("matplotlib.figure", needed_by="a picture")


def test_every_extra_that_a_message_names_brings_the_package():
    """Extras may stand on each other, as cli on pandas."""
    pyproject = Path(__file__).parents[1] / "pyproject.toml"
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for package in (*EXTRAS, *NAMES):
        wanted = NAMES.get(package, package)
        brought = extras[EXTRAS.get(package, "cli")]
        assert wanted in [re.split(r"[\[>]", line)[0] for line in brought]


# an environment without some packages: whatever asks for them finds none
WITHOUT = """
import sys

class Nowhere:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {absent}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Nowhere())
"""


def run_without(absent, code, folder):
    return subprocess.run(
        [sys.executable, "-c", WITHOUT.format(absent=set(absent)) + code],
        cwd=folder,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    ("use", "needs"),
    [
        ("model.explain(X)", "explain"),
        ("rtkm.compare(X, ['RTKM', 'KMOR'])", "compare"),
        ("rtkm.datasets.load_wbc(as_frame=True)", "as_frame=True"),
    ],
)
def test_what_returns_frames_names_the_extra_that_brings_them(use, needs, tmp_path):
    code = f"""
import rtkm
X = [[0, 0], [0, 2], [8, 0], [8, 2], [3, 8]]
model = rtkm.TrimmedKMeans(2, contamination=1, random_state=0).fit(X)
print(model.predict(X))
{use}
"""
    done = run_without(["pandas"], code, tmp_path)
    assert done.stdout == "[ 0  0  1  1 -1]\n"
    last = done.stderr.splitlines()[-1]
    assert last == f'ImportError: {needs} needs pandas; pip install "rtkm[pandas]".'


COMMAND = "from rtkm.cli.main import main; sys.exit(main({arguments}))"


@pytest.mark.parametrize("package", ["pyarrow", "jinja2"])
def test_the_demonstration_fails_before_it_writes(package, tmp_path):
    code = COMMAND.format(arguments=["demo", "--out", "out"])
    done = run_without([package], code, tmp_path)
    name = NAMES.get(package, package)
    said = f'rtkm: rtkm demo needs {name}; pip install "rtkm[cli]".\n'
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_demonstration_needs_nothing_else(tmp_path):
    others = ["pandas", "matplotlib", "polars", "openpyxl", "python_calamine", "shtab"]
    code = COMMAND.format(arguments=["demo", "--out", "out"])
    done = run_without([*others, "charset_normalizer"], code, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(list((tmp_path / "out").iterdir())) == 3


def test_a_report_is_refused_before_the_fit(tmp_path):
    (tmp_path / "a.csv").write_text("a\n" + "\n".join(map(str, range(60))))
    arguments = ["fit", "a.csv", "--report", "a.html"]
    done = run_without(["jinja2"], COMMAND.format(arguments=arguments), tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == 'rtkm: a report needs Jinja2; pip install "rtkm[cli]".\n'


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
