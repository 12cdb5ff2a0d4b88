"""The gallery: every example runs alone, without a warning, and has a title."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
GALLERY = sorted(EXAMPLES.rglob("plot_*.py"))


@pytest.fixture(params=GALLERY, ids=lambda path: path.stem)
def example(request):
    return request.param


@pytest.mark.slow
def test_examples_run_without_a_warning(example, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", example],
        cwd=tmp_path,
        env=os.environ | {"MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout != ""


def test_examples_begin_with_a_title_and_a_point(example):
    title, line, blank, *point = ast.get_docstring(
        ast.parse(example.read_text(encoding="utf-8"))
    ).splitlines()
    assert title
    assert line == len(title) * "="
    assert blank == ""
    assert any(point)


def test_examples_are_text_and_code_in_turn(example):
    text = example.read_text(encoding="utf-8")
    assert "\n# %%\n# " in text
    assert "plt.show()" in text


def test_the_gallery_has_a_head():
    assert len(GALLERY) >= 12
    head = (EXAMPLES / "GALLERY_HEADER.rst").read_text(encoding="utf-8")
    assert head.startswith("Gallery\n=======\n")
