"""JSON: records in an array, one on each line, rows and columns."""

from __future__ import annotations

import io
import json
import sys
from types import SimpleNamespace

import pytest

from rtkm.tables.messages import InputError
from rtkm.tables.reading import read_table

RECORDS = [{"x": 1, "y": 2.5, "name": "a"}, {"x": 3, "y": 0.5, "name": "b"}]
COLUMNS = {"x": [1, 3], "y": [2.5, 0.5], "name": ["a", "b"]}
ROWS = [["x", "y", "name"], [1, 2.5, "a"], [3, 0.5, "b"]]
FORMS = {
    "array": json.dumps(RECORDS),
    "indented": json.dumps(RECORDS, indent=2),
    "lines": "\n".join(map(json.dumps, RECORDS)),
    "lines with gaps": "\n\n" + "\r\n\r\n".join(map(json.dumps, RECORDS)) + "\n\n",
    "indented records": "\n".join(json.dumps(each, indent=1) for each in RECORDS),
    "records on a line": "".join(map(json.dumps, RECORDS)),
    "columns": json.dumps(COLUMNS),
    "columns of pandas": json.dumps(
        {key: dict(zip("01", cells, strict=True)) for key, cells in COLUMNS.items()}
    ),
    "rows": json.dumps(ROWS),
}


def read(tmp_path, content, **options):
    file = tmp_path / "data"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_table(file, **options)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_every_form_is_the_same_table(tmp_path, form, encoding):
    sheet = read(tmp_path, FORMS[form].encode(encoding))
    assert sheet.columns.to_pydict() == COLUMNS
    is_lines = "lines" in form or "records" in form
    assert sheet.format == ("JSON lines" if is_lines else "JSON")


def test_json_flows_through_a_pipe(monkeypatch):
    stdin = SimpleNamespace(buffer=io.BytesIO(FORMS["lines"].encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    sheet = read_table("-")
    assert sheet.columns.to_pydict() == COLUMNS
    assert sheet.summary() == (
        "Read 2 rows of 3 columns from standard input (JSON lines)."
    )


def test_names_that_a_record_lacks_are_missing_cells(tmp_path):
    sheet = read(tmp_path, '{"a": 1}\n{"b": 2.5}\n{"a": null, "c": 1}\n{"a": 4}')
    assert sheet.columns.to_pydict() == {
        "a": [1, None, None, 4],
        "b": [None, 2.5, None, None],
        "c": [None, None, 1, None],
    }


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ("1, 2, 4", "number"),
        ("1, 0.5, null", "number"),
        ("1, NaN, 1e400", "number"),
        ('"1", "2.5", "NA"', "number"),
        ("true, false, null", "truth"),
        ('"2024-01-01", "2024-05-01T10:00", null', "date"),
        ('"a", "b", "c"', "text"),
        ('"007", "011", "100"', "identifier"),
        ("9007199254740993, 1, 3", "identifier"),
        ("123456789012345678901234, 1, 3", "identifier"),
        ('[1, 2], {"a": 1}, null', "text"),
        ("null, null, null", "empty"),
    ],
)
def test_cells_are_those_of_a_text_table(tmp_path, cells, kind):
    sheet = read(tmp_path, f'{{"v": [{cells}], "x": [1, 2, 4]}}')
    assert sheet.look("v").kind == kind


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"a": 1}, 7]', "{file} holds '7' as item 2; expected records such as "),
        ('{"a": 1}\n[1]\n', "{file} holds '[1]' as item 2; expected records such as "),
        ('[[1, 2], {"a": 1}]', "expected a row as those before it."),
        ('{"a": 1, "a": 2}', "{file} has a record with two values for 'a'; rename one"),
        ('{"r": {"x": 1}, "s": {"x": 2}}', "{file} is one object with 'r', 's'; "),
        ('{"a": [1, 2], "b": [1]}', "{file} is one object with 'a', 'b'; "),
        ("{}", "{file} is one object with nothing in it; "),
        ("[]", "{file} has no columns"),
        ("[" * 100_000, "{file} is JSON that is nested too deep; "),
        (b'{"a": "\xff"}', "{file} is JSON that is not written in utf-8"),
    ],
)
def test_what_is_no_table_is_refused_in_a_sentence(tmp_path, content, message):
    with pytest.raises(InputError) as caught:
        read(tmp_path, content)
    assert message.replace("{file}", str(tmp_path / "data")) in str(caught.value)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize("form", FORMS)
def test_json_cut_short_is_refused(tmp_path, form):
    text = FORMS[form].rstrip()
    line = text[:-1].count("\n") + 1
    with pytest.raises(InputError) as caught:
        read(tmp_path, text[:-1])
    assert f" in line {line})" in str(caught.value)
    assert str(caught.value).endswith("; it may be damaged or cut short.")


def test_text_with_brackets_is_no_json(tmp_path):
    assert read(tmp_path, "[x],{y}\n1,2\n3,4\n").names == ["[x]", "{y}"]
