"""Tables that are not as one would wish, from the command to the files it writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_nasty_tables import READ, REFUSED

pytest_plugins = ("typed",)

FILES = ["--report", "report.html", "--json", "found.json", "--output", "out.csv"]
# argparse itself refuses what is none of the choices
OF_USAGE = {"unknown scaling", "unknown policy", "odd decimal mark"}


def typed(options):
    """Return options as flags."""
    words = []
    for name, value in options.items():
        if isinstance(value, bool):
            words.append(f"--{name}" if value else f"--no-{name}")
        elif isinstance(value, list):
            words += [f"--{name}", *value]
        else:
            words.append(f"--{name}={value}")
    return words


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_are_one_line_and_leave_nothing(rtkm, tmp_path, case):
    content, options, message = REFUSED[case]
    write(tmp_path / "data.csv", content)
    outcome = rtkm("fit", "data.csv", "-k", "1", *FILES, *typed(options))
    if case in OF_USAGE:
        assert outcome.code == 2
        assert "invalid choice" in outcome.err
    else:
        assert outcome == (1, "", f"rtkm: {message.format(file='data.csv')}\n")
    assert os.listdir(tmp_path) == ["data.csv"]


@pytest.mark.parametrize("case", READ)
def test_what_is_read_is_fitted_told_and_written(rtkm, tmp_path, case):
    content, options, columns, note = READ[case]
    write(tmp_path / "data.csv", content)
    words = ["-k", "1", "--contamination", "0", *FILES, *typed(options)]
    outcome = rtkm("fit", "data.csv", *words)
    assert outcome.code == 0, outcome.err
    assert not outcome.err
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["features"] == list(columns)
    assert note is None or note in found["notes"]
    for center, values in zip(
        found["clusters"][0]["center"], columns.values(), strict=True
    ):
        assert center == pytest.approx(np.mean(values), rel=1e-9, abs=1e-9)


@pytest.mark.slow
def test_ten_thousand_columns(rtkm, tmp_path):
    rng = np.random.default_rng(0)
    names = ",".join(f"c{j}" for j in range(10_000))
    rows = (",".join(f"{x:.3f}" for x in rng.normal(size=10_000)) for _ in range(12))
    (tmp_path / "data.csv").write_text("\n".join([names, *rows]) + "\n")
    outcome = rtkm("fit", "data.csv", "-k", "2", *FILES, "--model", "model.rtkm")
    assert outcome.code == 0
    assert (tmp_path / "report.html").stat().st_size < 2**20
    assert len(outcome.out.splitlines()) < 40


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_folders_and_files_that_are_not_there(rtkm, tmp_path, command):
    (tmp_path / "data.csv").write_text("x\n1\n")
    for name, message in {
        ".": "rtkm: . is a folder; expected a file, such as data.csv.\n",
        "dat.csv": "rtkm: dat.csv does not exist; there is 'data.csv' beside it.\n",
    }.items():
        if command == "fit" and name == ".":
            continue  # it reads the tables in a folder
        assert rtkm(command, name, "-k", "1") == (1, "", message)


@pytest.mark.parametrize("option", ["--output", "--report", "--json", "--model"])
def test_a_loop_of_links_is_refused(rtkm, people, tmp_path, option):
    name = "loop.html" if option == "--report" else "loop.csv"
    (tmp_path / name).symlink_to("other")
    (tmp_path / "other").symlink_to(name)
    outcome = rtkm("fit", "people.csv", "-k", "2", "--missing", "drop", option, name)
    assert outcome == (
        1,
        "",
        f"rtkm: {option} {name} is a symbolic link that leads back to itself; choose "
        "another name.\n",
    )
    assert (tmp_path / name).is_symlink()
    assert rtkm("fit", name, "-k", "2").err == (
        f"rtkm: {name} cannot be read (Too many levels of symbolic links).\n"
    )


def test_a_model_that_is_not_there(rtkm, people):
    outcome = rtkm("predict", "no.rtkm", "people.csv")
    assert outcome.code == 1
    assert "no.rtkm" in outcome.err
    assert len(outcome.err.splitlines()) == 1


def odd_columns():
    """Return columns of types that few tables have."""
    numbers = pa.array([1, 2, 9, 4])
    return {
        "half": numbers.cast(pa.float16()),
        "decimal": numbers.cast(pa.decimal128(30, 2)),
        "wide decimal": numbers.cast(pa.decimal256(60, 2)),
        "unsigned": numbers.cast(pa.uint64()),
        "coded": numbers.dictionary_encode(),
        "time": pa.array([0, 1, 2, 3], pa.time32("s")),
        "duration": pa.array([0, 1, 2, 3], pa.duration("s")),
        "far date": pa.array([10**9, 0, 1, 2], pa.date32()),
        "nothing": pa.nulls(4),
        "bytes": pa.array([b"\xff", b"a", b"b", b""]),
        "list": pa.array([[1], [], [2, 3], None]),
        "record": pa.array([{"a": 1}, {"a": 2}, None, {"a": 3}]),
        "map": pa.array([[("a", 1)], [], [], None], pa.map_(pa.string(), pa.int64())),
    }


@pytest.mark.parametrize("kind", odd_columns())
def test_columns_of_any_type_are_used_or_left_out(rtkm, tmp_path, kind):
    table = pa.table({"x": [1.0, 2.0, 3.0, 50.0], kind: odd_columns()[kind]})
    pq.write_table(table, tmp_path / "data.parquet")
    words = ["-k", "1", "--contamination", "1", "--output", "out.parquet", *FILES[:4]]
    outcome = rtkm("fit", "data.parquet", *words)
    assert outcome.code == 0, outcome.err
    named = rtkm("fit", "data.parquet", "-k", "1", "--columns", kind)
    assert named.code in (0, 1)
    assert named.code == 0 or named.err.startswith("rtkm: column")


@pytest.mark.slow
def test_nothing_to_read_from(tmp_path):
    command = [sys.executable, "-m", "rtkm", "fit", "-", "-k", "2"]
    run = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    assert run.returncode == 1
    assert run.stderr == b"rtkm: standard input is empty; expected a table.\n"


def test_a_name_that_is_no_text_is_read(rtkm, tmp_path):
    name = os.fsdecode(b"\xff.csv")
    try:
        (tmp_path / name).write_text("x,y\n1,2\n2,3\n9,8\n")
    except OSError:
        pytest.skip("the disk takes no such names")
    outcome = rtkm("fit", name, "-k", "1", "--contamination", "0", *FILES)
    assert outcome.code == 0, outcome.err
    assert (tmp_path / "report.html").exists()
