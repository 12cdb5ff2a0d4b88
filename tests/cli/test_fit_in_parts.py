"""rtkm fit and choose of many files, or large ones: the same as in memory."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from processes import default_signals

from rtkm import load
from rtkm.cli.main import main
from rtkm.models.files import as_bytes
from rtkm.report import stream_findings


def made_table(n_rows=1200, seed=0, gaps=0.02):
    """Three clusters, some outliers, names, and a column that was left out."""
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, 3, n_rows)
    X = np.array([[0, 0, 50], [9, 1, 50], [4, 9, 400]])[cluster].astype(float)
    X += rng.normal(size=X.shape) * [1, 1, 10]
    far = rng.random(n_rows) < 0.02
    X[far] = rng.uniform(-30, 600, (far.sum(), 3))
    X[:, 2] = np.abs(X[:, 2]) + 1
    sex = np.where(rng.random(n_rows) < 0.2 + 0.3 * cluster, "f", "m")
    return pa.table(
        {
            "who": [f"p-{i:05}" for i in range(n_rows)],
            "width": X[:, 0],
            "height": X[:, 1],
            "weight": pa.array(X[:, 2], mask=rng.random(n_rows) < gaps),
            "sex": sex,
        }
    )


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """Work where the table is, in four files and in one."""
    monkeypatch.chdir(tmp_path)
    table = made_table()
    (tmp_path / "data").mkdir()
    for i, (a, b) in enumerate(pairwise([0, 300, 301, 900, 1200])):
        pq.write_table(table.slice(a, b - a), f"data/part-{i}.parquet")
    pq.write_table(table, "all.parquet")
    return tmp_path


def run(*arguments):
    code = main([str(argument) for argument in arguments])
    assert code == 0


def told(capsys):
    return capsys.readouterr().out


def without(findings, *names):
    return {name: value for name, value in findings.items() if name not in names}


@pytest.mark.parametrize(
    "flags",
    [
        "--missing median",
        "--missing drop",
        "--missing drop --scale robust --categories sex",
        "--missing median -k 3 --contamination 20 --log weight --scale none",
        "--missing drop -k 3 --memberships 2 --contamination 0.05",
        "--missing drop --method TrimmedKMeans -k 3",
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_files_and_one_table_have_the_same_findings(tables, capsys, flags):
    words = flags.split()
    run("fit", "data/*.parquet", *words, "--json", "f.json", "--model", "f.rtkm")
    in_parts = told(capsys)
    run("fit", "all.parquet", *words, "--json", "a.json", "--model", "a.rtkm")
    at_once = told(capsys)
    one, other = (
        json.loads((tables / name).read_text()) for name in ("f.json", "a.json")
    )
    varying = "command", "seconds", "source", "notes"
    assert without(one, *varying) == without(other, *varying)
    assert one["notes"][1:] == other["notes"][1:]
    assert without(one["source"], "name") == without(other["source"], "name")
    # all but what was read, where files are, and what to do next
    assert in_parts.splitlines()[2:-3] == at_once.splitlines()[1:-3]
    assert as_bytes(load("f.rtkm"), {}) == as_bytes(load("a.rtkm"), {})


def test_rows_and_answers_are_those_of_one_table(tables):
    run("fit", "data", "--missing", "drop", "--output", "out", "--memory", "20MB")
    run("fit", "all.parquet", "--missing", "drop", "--output", "all-answers.parquet")
    paths = sorted((tables / "out").iterdir())
    assert [path.name for path in paths] == [f"part-{i}.parquet" for i in range(4)]
    assert pa.concat_tables(map(pq.read_table, paths)).equals(
        pq.read_table("all-answers.parquet")
    )


def test_a_large_text_table_is_fitted_by_itself(tables, capsys):
    table = made_table(180_000, gaps=0).drop_columns(["sex"])
    pa_csv.write_csv(table, "large.csv")
    fit = ("-k", "3", "--contamination", "0.02", "--n-swaps", "0")
    run("fit", "large.csv", *fit, "--memory", "16MiB", "--output", "some.csv")
    assert "in 1 part)" not in told(capsys)
    run("fit", "large.csv", *fit, "--output", "all.csv")
    assert (tables / "some.csv").read_bytes() == (tables / "all.csv").read_bytes()


def test_counts_are_of_all_rows_and_pictures_of_a_sample(tables, capsys, monkeypatch):
    monkeypatch.setattr(stream_findings, "MOST_SAMPLED", 400)
    run("fit", "data", "--missing", "drop", "--json", "f.json", "--report", "r.html")
    assert "a sample of 400 rows" in (tables / "r.html").read_text()
    run("fit", "all.parquet", "--missing", "drop", "--json", "a.json")
    one, other = (
        json.loads((tables / name).read_text()) for name in ("f.json", "a.json")
    )
    same = "choice", "outliers", "n_doubtful", "overlap", "objective", "resampling"
    for name in same:
        if name == "choice":  # what other numbers would cost is told by the sample
            one[name].pop("curves"), other[name].pop("curves")
        if name == "outliers":
            one[name].pop("due_to_skewness"), other[name].pop("due_to_skewness")
        assert one[name] == other[name], name
    for mine, theirs in zip(one["clusters"], other["clusters"], strict=True):
        np.testing.assert_allclose(mine.pop("spread"), theirs.pop("spread"), rtol=1e-9)
        assert mine == theirs
    rows = one["scatter"]["points"]["row"]
    table = pq.read_table("all.parquet")
    assert (
        one["scatter"]["points"]["id"]
        == table["who"].take([r - 1 for r in rows]).to_pylist()
    )
    assert one["first_rows"]["rows"] == other["first_rows"]["rows"]


def test_choose_is_the_same_in_parts(tables, capsys):
    run("choose", "data/*.parquet", "--missing", "drop", "--json", "f.json")
    in_parts = told(capsys)
    run("choose", "all.parquet", "--missing", "drop", "--json", "a.json")
    assert in_parts.splitlines()[2:-3] == told(capsys).splitlines()[1:-3]
    assert json.loads((tables / "f.json").read_text()) == json.loads(
        (tables / "a.json").read_text()
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--sample-weight", "width"], "--sample-weight: data is read in parts"),
        (["--method", "KMOR", "-k", "3"], "--method KMOR needs all rows in memory"),
        (["--step", "1.1", "-k", "3"], "--step 1.1 does not run on rows in partitions"),
        (["--missing", "error"], "missing values (NaN)"),
        (["--output", "all.parquet"], "is no folder"),
        (["--output", "data"], "would replace the table"),
        (["--model", "data/part-0.parquet"], "would replace the table"),
        (["--report", "page.txt"], "expected .html"),
        (["--memory", "lots"], "memory='lots'"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(tables, capsys, words, message):
    assert main(["fit", "data", "--missing", "drop", *words]) == 1
    assert message in " ".join(capsys.readouterr().err.split())
    assert sorted(path.name for path in tables.iterdir()) == ["all.parquet", "data"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.skipif(sys.platform == "win32", reason="signals are others")
def test_an_ended_fit_leaves_nothing(tables, tmp_path_factory, how, monkeypatch):
    pa_csv.write_csv(made_table(300_000, gaps=0), "large.csv")
    scratch = tmp_path_factory.mktemp("scratch")
    monkeypatch.setenv("RTKM_SCRATCH", str(scratch))
    words = ["fit", "large.csv", "--memory", "16MiB", "--output", "out.csv"]
    process = subprocess.Popen(
        [sys.executable, "-m", "rtkm", *words],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=default_signals,
    )
    while len([*scratch.iterdir()]) < 2:  # the cells, and their numbers
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(how)
    _, error = process.communicate(timeout=60)
    assert process.returncode in (128 + how, -how), error
    assert "Traceback" not in error
    assert not [*scratch.iterdir()]
    assert not [path for path in tables.iterdir() if path.name.startswith(("out", "."))]
