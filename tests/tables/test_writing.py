"""Answers beside the rows, and files that are whole or as before."""

from __future__ import annotations

import os
import resource

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from rtkm.tables.messages import InputError
from rtkm.tables.preparation import prepare
from rtkm.tables.reading import read_table
from rtkm.tables.writing import (
    check_output,
    membership_columns,
    write_answers,
    writing_beside,
)


def written(tmp_path, content, answers, name="out.csv", **options):
    """Read a table, write it with answers, and return what is in the file."""
    file = tmp_path / "data.csv"
    file.write_bytes(content)
    notes = write_answers(tmp_path / name, read_table(file), answers, **options)
    return (tmp_path / name).read_bytes(), notes


ANSWERS = {
    "label": np.array([0, -1], dtype=np.int32),
    **membership_columns(np.array([[0.5, 0.1], [1.0, 0.0]])),
    "outlier": np.array([False, True]),
    "score": np.array([0.25, 1e-20]),
    "confidence": np.array(["core", "outlier"]),
}
NAMES = b"label,membership_0,membership_1,outlier,score,confidence"
FIRST, SECOND = b"0,0.5,0.1,false,0.25,core", b"-1,1,0,true,1e-20,outlier"


@pytest.mark.parametrize(
    ("head", "first", "second"),
    [
        (b"x,y\n", b"1.50,007\n", b"=cmd(),+1\n"),
        (b"x,y\r\n", b'"a ""b""\r\nc",\r\n', b" 5,NA\r\n"),
        (b"x,y\n", b'5" pipe,1\n', b'"6, 7 ""x""",2\n'),
        (b"x,y\n", b'5" pipe,"two\nlines"\n', b"1,2\n"),
        (b"x,y\n", b'a,"\n\n"\n', b'"",""\n'),
    ],
)
def test_cells_come_back_as_they_were(tmp_path, head, first, second):
    content, notes = written(tmp_path, head + first + second, ANSWERS)
    end = b"\r\n" if b"\r" in head else b"\n"
    assert content == (
        head.rstrip() + b"," + NAMES + end
        + first[: -len(end)] + b"," + FIRST + end
        + second[: -len(end)] + b"," + SECOND + end
    )  # fmt: skip
    assert notes == []


def test_blank_lines_and_a_missing_last_end_do_not_shift_answers(tmp_path):
    content, _ = written(
        tmp_path, b"\nx,y\n\n1,2\n\n\n3,4", {"label": np.array([7, 8])}
    )
    assert content == b"x,y,label\n1,2,7\n3,4,8\n"


def test_the_dialect_of_the_table_is_kept(tmp_path):
    given = "größe;y\n1,5;2\n2,5;3\n"
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "cp1252"):
        content, _ = written(
            tmp_path, given.encode(encoding), {"score": np.array([0.5, 1.5])}
        )
        expected = "größe;y;score\n1,5;2;0,5\n2,5;3;1,5\n"
        assert content == expected.encode(encoding)


def test_a_table_without_header_gets_one(tmp_path):
    content, _ = written(tmp_path, b"1.5,2\n3,4\n", {"label": np.array([0, 1])})
    assert content == b"column_1,column_2,label\n1.5,2,0\n3,4,1\n"


def test_taken_names_are_left_to_the_table(tmp_path):
    content, notes = written(
        tmp_path, b"label,x\na,1\nb,2\n", {"label": np.array([0, 1])}
    )
    assert content == b"label,x,label_2\na,1,0\nb,2,1\n"
    assert notes == ["The table has a column 'label'; the answer is in 'label_2'."]


def test_dropped_rows_are_written_with_their_reason(tmp_path):
    file, out = tmp_path / "data.csv", tmp_path / "out.csv"
    file.write_text('x,"y, z"\n1,2\nNA,3\n4,\n5,6\n')
    sheet = read_table(file)
    prepared = prepare(sheet, missing="drop")
    answers = {"label": np.array([3, 4]), "score": np.array([0.5, np.inf])}
    options = {"kept": prepared.kept, "reasons": prepared.reasons}
    write_answers(out, sheet, answers, **options)
    assert out.read_text() == (
        'x,"y, z",label,score,reason\n'
        "1,2,3,0.5,\n"
        "NA,3,,,no number in 'x'\n"
        "4,,,,\"no number in 'y, z'\"\n"
        "5,6,4,inf,\n"
    )
    write_answers(tmp_path / "out.parquet", sheet, answers, **options)
    table = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert table.to_pydict() == {
        "x": [1, None, 4, 5],
        "y, z": [2, 3, None, 6],
        "label": [3, None, None, 4],
        "score": [0.5, None, None, np.inf],
        "reason": [None, "no number in 'x'", "no number in 'y, z'", None],
    }


@pytest.mark.parametrize(
    ("given", "name", "expected"),
    [
        ('a\tb\n1\t"x,\ny"\n', "out.csv", 'a,b,n\n1,"x,\ny",7\n'),
        ("a\tb\n1\tx\n", "out.tsv", "a\tb\tn\n1\tx\t7\n"),
        ("a\tb\n1\tx\n", "out.txt", "a\tb\tn\n1\tx\t7\n"),
        ('a,b\n1,"x\ty"\n', "out.tsv", 'a\tb\tn\n1\t"x\ty"\t7\n'),
        ("a;b\n1,5;x\n", "out.csv", "a;b;n\n1,5;x;7\n"),
        ("a;b\n1,5;x\n", "out.tsv", "a\tb\tn\n1,5\tx\t7\n"),
    ],
)
def test_tabs_are_for_tsv_alone(tmp_path, given, name, expected):
    (tmp_path / "data").write_text(given)
    sheet = read_table(tmp_path / "data")
    write_answers(tmp_path / name, sheet, {"n": np.array([7])})
    assert (tmp_path / name).read_text() == expected


def test_tables_that_were_no_text_are_written_as_text(tmp_path):
    sheet = parquet_sheet(tmp_path, {"x": [1.5, 2.5], "t": ["a,b", "=cmd()"]})
    answers = {"label": np.array([0, 1])}
    write_answers(tmp_path / "out.tsv", sheet, answers)
    assert (tmp_path / "out.tsv").read_text() == (
        '"x"\t"t"\t"label"\n1.5\t"a,b"\t0\n2.5\t"=cmd()"\t1\n'
    )
    nested = parquet_sheet(tmp_path, {"x": [1.5, 2.5], "l": [[1], [2]]})
    with pytest.raises(InputError, match=r"no text table can hold .*write \.parquet"):
        write_answers(tmp_path / "out.csv", nested, answers)
    assert not (tmp_path / "out.csv").exists()


def parquet_sheet(tmp_path, columns):
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "data.parquet")
    return read_table(tmp_path / "data.parquet")


def test_more_rows_than_a_batch_stay_in_order(tmp_path, monkeypatch):
    monkeypatch.setattr("rtkm.tables.copying.BATCH", 7)
    rows = np.arange(100)
    table = "x,y\n" + "".join(f"{i},1\n" for i in rows)
    content, _ = written(tmp_path, table.encode(), {"label": rows * 2})
    assert content.decode().split("\n")[1:-1] == [f"{i},1,{2 * i}" for i in rows]


def test_the_table_itself_may_be_replaced(tmp_path):
    answers = {"label": np.array([0, 1])}
    content, _ = written(tmp_path, b"x,y\n1,2\n3,4\n", answers, "data.csv")
    assert content == b"x,y,label\n1,2,0\n3,4,1\n"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("out.xlsx", "ends in '.xlsx'; expected .csv, .tsv or .parquet."),
        ("out", "ends in ''; expected .csv, .tsv or .parquet."),
        ("folder.csv", "is a folder; expected the name of a file."),
    ],
)
def test_names_that_cannot_be_written_are_refused(tmp_path, name, message):
    (tmp_path / "folder.csv").mkdir()
    file = tmp_path / "data.csv"
    file.write_text("x,y\n1,2\n")
    with pytest.raises(InputError) as caught:
        check_output(tmp_path / name, read_table(file))
    expected = f"--output {tmp_path / name} {message.format(data=file)}"
    assert str(caught.value) == expected


def test_a_missing_folder_is_named(tmp_path):
    file, out = tmp_path / "data.csv", tmp_path / "no" / "out.csv"
    file.write_text("x,y\n1,2\n")
    with pytest.raises(InputError) as caught:
        check_output(out, read_table(file))
    assert str(caught.value) == f"--output {out}: there is no folder {tmp_path / 'no'}."


# Files that are whole or as before


def test_a_changed_table_leaves_what_was_there(tmp_path):
    file, out = tmp_path / "data.csv", tmp_path / "out.csv"
    file.write_text("x,y\n1,2\n3,4\n")
    out.write_text("before")
    sheet = read_table(file)
    file.write_text("x,y\n1,2\n")
    with pytest.raises(InputError, match="has changed while it was used; run again"):
        write_answers(out, sheet, {"label": np.array([0, 1])})
    file.unlink()
    with pytest.raises(InputError, match="was removed while it was used; run again"):
        write_answers(out, sheet, {"label": np.array([0, 1])})
    assert out.read_text() == "before"


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("kind", ["text", "binary"])
def test_a_full_disk_leaves_what_was_there(tmp_path, ending, kind):
    rows = np.random.default_rng(0).normal(size=(20_000, 2))
    file, out = tmp_path / "data.csv", tmp_path / f"out.{ending}"
    if kind == "text":
        np.savetxt(file, rows, delimiter=",")
    else:
        file = tmp_path / "data.npy"
        np.save(file, rows)
    out.write_text("before")
    sheet = read_table(file)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Python ignores the signal, so that writing fails as on a full disk
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(InputError) as caught:
            write_answers(out, sheet, {"score": rows[:, 0]})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert str(caught.value) == f"{out} cannot be written (File too large)."
    assert out.read_text() == "before"
    assert sorted(os.listdir(tmp_path)) == sorted([file.name, out.name])


def test_devices_and_closed_pipes_get_a_message(tmp_path):
    with pytest.raises(InputError) as caught, writing_beside("/dev/full") as stream:
        stream.write(b"x" * 100_000)
    assert str(caught.value) == "/dev/full cannot be written (No space left on device)."
    reading, writing = os.pipe()
    os.close(reading)
    name = f"/dev/fd/{writing}"
    with pytest.raises(InputError) as caught, writing_beside(name) as stream:
        stream.write(b"x" * 100_000)
    assert str(caught.value) == f"{name} cannot be written (Broken pipe)."
    os.close(writing)
