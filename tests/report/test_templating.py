"""Pages from templates: everything is escaped, and a second page can share them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import rtkm.report
from rtkm.report.templating import (
    TEMPLATES,
    fixed,
    make_environment,
    policy,
    render_page,
)

PAGE = """{% extends "base.html" %}
{% from "macros.html" import own, section, table %}
{% block title %}{{ name }}{% endblock %}
{% block header %}<h1>{{ own(name) }}</h1>{% endblock %}
{% block main %}
{% call section(sections, "numbers") %}
{% set head %}<tr><th scope="col">{{ name }}</th></tr>{% endset %}
{% call table("all", name, head) %}
{% for value in values %}<tr><td>{{ value | number }}</td></tr>{% endfor %}
{% endcall %}
{% endcall %}
{% call section(sections, "absent") %}<p>never shown</p>{% endcall %}
{% endblock %}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "second.html").write_text(PAGE)
    (tmp_path / "second.css").write_text("h1 { color: red; }")
    return tmp_path


def second_page(folder, name):
    return render_page(
        "second.html",
        styles=("colors.css", "base.css", "second.css"),
        folder=folder,
        name=name,
        sections={"numbers": "Numbers & more"},
        values=[1234.5, None],
    )


def test_a_second_page_extends_the_layout(folder):
    text = second_page(folder, "paper")
    assert text.startswith("<!DOCTYPE html>")
    assert "<title>paper</title>" in text
    assert '<li><a href="#numbers">Numbers &amp; more</a></li>' in text
    assert '<h2 id="numbers-heading">Numbers &amp; more</h2>' in text
    assert re.findall("<td>(.*?)</td>", text) == ["1,234", "\N{EN DASH}"]
    assert "--outlier-color" in text
    assert "h1 { color: red; }</style>" in text
    assert "script-src &#39;none&#39;" in text
    assert "<script>" not in text
    assert "never shown" not in text


def test_a_second_page_escapes_all_text(folder):
    text = second_page(folder, "<script>\"'&</script>")
    assert "<script>" not in text
    assert text.count("&lt;script&gt;&#34;&#39;&amp;&lt;/script&gt;") == 4


def test_elements_have_styles_of_their_own_only_where_a_page_says_so():
    allowed = "style-src-attr 'unsafe-inline'; "
    assert "unsafe" not in policy("style", "program")
    assert policy("style", None, style_attributes=True).count(allowed) == 1
    plain = policy("style", None)
    assert policy("style", None, style_attributes=True).replace(allowed, "") == plain


@pytest.mark.parametrize(
    ("value", "decimals", "written"),
    [
        (0.12345, 4, "0.1235"),
        (14, 4, "14.0000"),
        (2, 0, "2"),
        (-0.00001, 4, "0.0000"),
        (1234567.891, 2, "1,234,567.89"),
        (None, 3, "\N{EN DASH}"),
        (float("nan"), 3, "\N{EN DASH}"),
    ],
)
def test_numbers_of_a_column_have_the_same_decimals(value, decimals, written):
    assert fixed(value, decimals) == written


def test_a_name_that_nobody_gave_is_an_error(folder):
    (folder / "second.html").write_text(PAGE.replace("values", "valeus"))
    with pytest.raises(Exception, match="'valeus' is undefined"):
        second_page(folder, "paper")


def test_only_the_layout_leaves_out_escaping():
    assert make_environment().autoescape is True
    ways = re.compile(r"\|\s*safe\b|autoescape|Markup\(")
    comments = re.compile("{#.*?#}", re.DOTALL)
    used = {
        path.name: len(ways.findall(comments.sub("", path.read_text())))
        for path in TEMPLATES.glob("*.html")
    }
    # the style and the program
    assert used.pop("base.html") == 2
    assert len(used) >= 3
    assert set(used.values()) == {0}
    for path in Path(rtkm.report.__file__).parent.glob("*.py"):
        assert "Markup" not in path.read_text(), path


def run_command(before, *words, after="pass"):
    program = f"import sys; {before}; from rtkm.cli.main import main"
    program += f"; code = main(sys.argv[1:]); {after}; sys.exit(code)"
    command = [sys.executable, "-c", program, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "1,2\n3,5\n" * 20)
    return str(path)


def test_without_jinja2_it_says_how_to_get_it_before_the_fit(table, tmp_path):
    report = tmp_path / "a.html"
    words = ["fit", table, "-k", "1", "--report", str(report)]
    run = run_command("sys.modules['jinja2'] = None", *words)
    assert run.returncode == 1
    assert run.stderr == 'rtkm: a report needs Jinja2; pip install "rtkm[cli]".\n'
    assert run.stdout == ""
    assert not report.exists()


def test_without_a_report_jinja2_is_not_imported(table):
    after = "assert 'jinja2' not in sys.modules"
    run = run_command("pass", "fit", table, "-k", "1", "--quiet", after=after)
    assert (run.returncode, run.stderr) == (0, "")
