"""rtkm predict of many files, and of one that is read in parts."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from processes import default_signals

from rtkm import RTKM, TableModel
from rtkm.tables import streams

pytest_plugins = ("typed",)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch, tmp_path):
    """Parts of a few rows, and a scratch folder to look into."""
    monkeypatch.setattr(streams, "most_bytes", lambda memory: 2000)
    (tmp_path / "scratch").mkdir()
    monkeypatch.setenv("RTKM_SCRATCH", str(tmp_path / "scratch"))


def rows(n, seed, gaps=False):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=n) + 8 * (np.arange(n) % 3),
            "y": rng.normal(size=n),
            "size": rng.lognormal(0, 2, size=n),
            "color": rng.choice(["red", "blue", "green"], n),
            "name": [f"row {i} of {seed}" for i in range(n)],
        }
    )
    if gaps:
        frame.loc[::7, "x"] = np.nan
        frame.loc[::11, "color"] = None
    return frame


@pytest.fixture
def model(tmp_path):
    model = TableModel(
        RTKM(3, contamination=0.05, n_swaps=0, random_state=0),
        missing="drop",
        id="name",
        log=["size"],
        categories=["color"],
    )
    model.fit(rows(300, 0, gaps=True)).save(tmp_path / "model.rtkm")
    return "model.rtkm"


def write(frame, path):
    if path.suffix == ".parquet":
        table = pa.Table.from_pandas(frame, preserve_index=False)
        pq.write_table(table.replace_schema_metadata(None), path, row_group_size=40)
    elif path.suffix in (".arrow", ".feather"):
        pyarrow.feather.write_feather(frame, path, chunksize=40)
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    else:
        frame.to_csv(path, index=False)


def read(path):
    if path.suffix == ".parquet":
        return pq.read_table(path)
    if path.suffix in (".arrow", ".feather"):
        return pyarrow.feather.read_table(path)
    return pa.Table.from_pandas(pd.read_csv(path))


@pytest.mark.parametrize(
    ("gaps", "missing"),
    [(False, "drop"), (True, "drop"), (True, "median"), (True, "x=median")],
)
@pytest.mark.parametrize("ending", ["parquet", "csv", "csv.gz"])
def test_answers_are_those_of_one_file_cell_for_cell(
    rtkm, tmp_path, model, ending, gaps, missing
):
    (tmp_path / "data").mkdir()
    for i in (1, 2, 10):
        write(rows(90 + i, i, gaps), tmp_path / "data" / f"part-{i}.{ending}")
    write(rows(1, 99, gaps=True), tmp_path / "data" / f"part-99.{ending}")
    options = ["--missing", missing]
    outcome = rtkm("predict", model, "data", "--output", "out", *options)
    assert outcome.code == 0, outcome.err
    assert "Rows and answers are in 4 files in out" in outcome.out.replace("\n", " ")
    for i in (1, 2, 10):
        one = f"data/part-{i}.{ending}"
        alone = rtkm("predict", model, one, "--output", f"alone.{ending}", *options)
        assert alone.code == 0, alone.err
        found = tmp_path / "out" / f"part-{i}.{ending}"
        if ending != "parquet" and gaps:
            assert found.read_bytes() == (tmp_path / f"alone.{ending}").read_bytes()
        expected = read(tmp_path / f"alone.{ending}")
        if not gaps:  # of another file, that has some
            assert read(found).column("reason").null_count == expected.num_rows
        assert read(found).select(expected.column_names).equals(expected)
    assert not list((tmp_path / "scratch").iterdir())


def test_row_groups_come_out_as_they_went_in(rtkm, tmp_path, model):
    write(rows(100, 1), tmp_path / "a.parquet")
    outcome = rtkm("predict", model, "*.parquet", "--output", "out/deep")
    assert outcome.code == 0, outcome.err
    metadata = pq.read_metadata(tmp_path / "out" / "deep" / "a.parquet")
    assert metadata.num_row_groups >= 3


@pytest.mark.parametrize("ending", ["arrow", "feather"])
def test_arrow_files_come_out_as_arrow_files(rtkm, tmp_path, model, ending):
    frame = rows(100, 1)
    frame["color"] = frame["color"].astype("category")
    write(frame, tmp_path / f"a.{ending}")
    write(rows(100, 1), tmp_path / "b.parquet")
    assert rtkm("predict", model, f"a.{ending}", "--output", "a.parquet").code == 0
    outcome = rtkm("predict", model, f"*.{ending}", "--output", "out")
    assert outcome.code == 0, outcome.err
    found = read(tmp_path / "out" / f"a.{ending}").to_pydict()
    assert found == read(tmp_path / "a.parquet").to_pydict()


@pytest.mark.parametrize("given", ["csv", "parquet", "tsv"])
@pytest.mark.parametrize("wanted", ["csv", "parquet", "csv.gz"])
def test_one_file_larger_than_the_memory_it_may_take(
    rtkm, tmp_path, model, monkeypatch, given, wanted
):
    file = tmp_path / f"big.{given}"
    if given == "tsv":
        rows(500, 1, gaps=True).to_csv(file, sep="\t", index=False)
    else:
        write(rows(500, 1, gaps=True), file)
    whole = rtkm("predict", model, file.name, "--output", f"whole.{wanted}")
    assert "part" not in whole.out
    monkeypatch.setattr("rtkm._memory.LEAST_MEMORY", 1)
    options = ["--output", f"out.{wanted}", "--memory", "20kB"]
    outcome = rtkm("predict", model, file.name, *options)
    assert outcome.code == 0, outcome.err
    assert "parts)" in outcome.out.replace("\n", " ")
    expected = tmp_path / f"whole.{wanted}"
    if wanted == "parquet":
        assert read(tmp_path / "out.parquet").equals(read(expected))
    else:
        assert (tmp_path / f"out.{wanted}").read_bytes() == expected.read_bytes()
    # what is summed up is the same, too
    tables = [
        [line for line in text.out.splitlines() if line.startswith(("0 ", "1 ", "2 "))]
        for text in (whole, outcome)
    ]
    for one, other in zip(*tables, strict=True):
        assert one.split()[:3] == other.split()[:3]
    listed = [line for line in whole.out.splitlines() if " row " in line]
    assert listed
    assert set(listed) <= set(outcome.out.splitlines())


def test_a_small_file_is_read_at_once(rtkm, tmp_path, model):
    write(rows(50, 1), tmp_path / "a.parquet")
    for options in ([], ["--memory", "1GB"]):
        outcome = rtkm("predict", model, "a.parquet", *options)
        assert outcome.code == 0
        assert "part" not in outcome.out


def test_without_an_output_rows_are_counted(rtkm, tmp_path, model):
    for i in range(2):
        write(rows(50, i), tmp_path / f"{i}.parquet")
    outcome = rtkm("predict", model, "*.parquet")
    assert outcome.code == 0
    assert outcome.out.splitlines()[-1] == (
        "Next: rtkm predict model.rtkm '*.parquet' --output out/"
    )


# What is refused


def test_what_is_wrong_is_told_as_of_one_table(rtkm, tmp_path, model):
    frame = rows(100, 1)
    write(frame, tmp_path / "a.parquet")
    frame.loc[[7, 60], "x"] = [np.nan, np.inf]
    frame.loc[3, "color"] = None
    write(frame, tmp_path / "b.parquet")
    one = rtkm("predict", model, "b.parquet", "--missing", "error")
    many = rtkm("predict", model, "b*.parquet", "--missing", "error")
    assert many.err == one.err != ""
    frame["size"] = -1.0
    write(frame, tmp_path / "b.parquet")
    one = rtkm("predict", model, "b.parquet", "--missing", "drop")
    many = rtkm("predict", model, "b*.parquet", "--missing", "drop")
    assert many.err == one.err != ""
    write(frame.drop(columns="color"), tmp_path / "b.parquet")
    outcome = rtkm("predict", model, "*.parquet")
    assert "b.parquet has no column 'color', which a.parquet has" in outcome.err
    assert (
        rtkm("predict", model, "b*.parquet").err.split("has")[1:]
        == rtkm("predict", model, "b.parquet").err.split("has")[1:]
    )


def test_nothing_is_written_where_a_file_is_damaged(rtkm, tmp_path, model):
    for i in range(3):
        write(rows(100, i), tmp_path / f"{i}.parquet")
    data = bytearray((tmp_path / "2.parquet").read_bytes())
    data[100:3000] = bytes(2900)  # the end, which is looked at first, is sound
    (tmp_path / "2.parquet").write_bytes(data)
    outcome = rtkm("predict", model, "*.parquet", "--output", "out")
    assert outcome.code == 1
    assert "2.parquet cannot be read as Parquet" in outcome.err
    assert not (tmp_path / "out").exists()


def test_old_answers_stay_where_new_ones_fail(rtkm, tmp_path, model, monkeypatch):
    for i in range(2):
        write(rows(100, i), tmp_path / f"{i}.csv")
    assert rtkm("predict", model, "?.csv", "--output", "out").code == 0
    before = {p: p.read_bytes() for p in (tmp_path / "out").iterdir()}
    from rtkm.report import stream_results

    real = stream_results.results_for_new

    def fail(model, prepared):
        if len(prepared.X) > 1 and prepared.ids[0].as_py().endswith("of 1"):
            raise MemoryError
        return real(model, prepared)

    monkeypatch.setattr(stream_results, "results_for_new", fail)
    outcome = rtkm("predict", model, "?.csv", "--output", "out", "--missing=median")
    assert outcome.code == 1
    assert {p: p.read_bytes() for p in (tmp_path / "out").iterdir()} == before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--report", "a.html"], "--report needs all rows in memory"),
        (["--json", "a.json"], "--json needs all rows in memory"),
        (["--output", "."], "would replace the table; choose another folder"),
        (["--output", "model.rtkm"], "is no folder"),
        (["--output", "-"], "is no folder"),
        (["--memory", "much"], "expected a size as '2GB'"),
        (["--sheet", "one"], "workbooks cannot be"),
    ],
)
def test_what_cannot_be_done_in_parts_is_refused(rtkm, tmp_path, model, options, words):
    write(rows(100, 1), tmp_path / "a.parquet")
    outcome = rtkm("predict", model, "*.parquet", *options)
    assert outcome.code == 1
    assert words in outcome.err


def test_no_file_of_a_pattern_is_told(rtkm, model):
    assert "*.pq: there is no file" in rtkm("predict", model, "*.pq").err


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_leaves_nothing_behind(rtkm, tmp_path, model, number):
    for i in range(2):
        write(rows(200_000, i), tmp_path / f"{i}.csv")
    command = [sys.executable, "-m", "rtkm", "predict", model, "?.csv"]
    run = subprocess.Popen(
        [*command, "--output", "out"], cwd=tmp_path, preexec_fn=default_signals
    )
    parts = []
    while not parts and run.poll() is None:
        time.sleep(0.01)
        if (tmp_path / "out").exists():
            parts = [p for p in os.listdir(tmp_path / "out") if p.endswith(".part")]
    run.send_signal(number)
    assert run.wait() == -number
    if number == signal.SIGKILL:  # the next run removes what is left
        outcome = rtkm("predict", model, "?.csv", "--output", "out")
        assert outcome.code == 0
        assert "removed" in outcome.out
        assert sorted(os.listdir(tmp_path / "out")) == ["0.csv", "1.csv"]
    else:
        assert not os.listdir(tmp_path / "out")
    assert not list((tmp_path / "scratch").iterdir())
