"""Tables that are read part by part."""

from __future__ import annotations

import gzip
import io
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pa_dataset
import pyarrow.feather
import pyarrow.parquet as pa_parquet
import pytest

from rtkm.tables import progress, scratch, stream_text, streams, text_stream
from rtkm.tables.messages import InputError
from rtkm.tables.reading import read_table
from rtkm.tables.streams import open_stream


@pytest.fixture(autouse=True)
def scratch_folder(tmp_path, monkeypatch):
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setenv("RTKM_SCRATCH", str(folder))
    return folder


def rows(n, start=0):
    numbers = np.arange(start, start + n)
    return pa.table({"x": numbers * 0.5, "n": numbers, "word": numbers.astype(str)})


def write(path, table, size=7):
    if path.suffix == ".parquet":
        pa_parquet.write_table(table, path, row_group_size=size)
    elif path.suffix == ".arrow":
        pyarrow.feather.write_feather(
            table, path, chunksize=size, compression="uncompressed"
        )
    else:
        lines = [",".join(table.column_names)]
        lines += [",".join(map(str, row.values())) for row in table.to_pylist()]
        path.write_text("\n".join(lines) + "\n")


def read_all(stream, columns=None):
    return pa.concat_tables([part.read(columns) for part in stream.partitions])


def read_rows(part):
    return part.read(["n"]).column("n").to_pylist()


# What there is


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
def test_a_stream_has_the_rows_of_its_files_in_order(tmp_path, ending):
    for i in (10, 9, 1):
        write(tmp_path / f"part-{i}.{ending}", rows(20, 100 * i))
    stream = open_stream(tmp_path / f"part-*.{ending}", memory="16MiB")
    assert [file.source.path.stem for file in stream.files] == [
        *("part-1", "part-9", "part-10")
    ]
    assert stream.n_rows == 60
    expected = pa.concat_tables(rows(20, 100 * i) for i in (1, 9, 10))
    found = read_all(stream)
    assert found.select(["x", "n"]).equals(expected.select(["x", "n"]))


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("most", [1, 300, 1000, 10**6])
def test_parts_are_small_and_together_all(tmp_path, monkeypatch, ending, most):
    write(tmp_path / f"data.{ending}", rows(50))
    monkeypatch.setattr(streams, "most_bytes", lambda memory: most)
    stream = open_stream(tmp_path / f"data.{ending}")
    assert read_all(stream).to_pylist() == rows(50).to_pylist()
    sizes = [part.n_rows for part in stream.partitions]
    assert sizes == [part.read().num_rows for part in stream.partitions]
    assert min(sizes) >= 1
    if most < 10**6:
        assert max(part.read().nbytes for part in stream.partitions) <= max(most, 40)
    else:
        assert sizes == [50]


def test_a_row_group_counts_its_own_rows_only(tmp_path):
    """What `count_rows` of a part of a fragment says is those of its whole file."""
    write(tmp_path / "a.parquet", rows(20))
    write(tmp_path / "b.parquet", rows(20, 20))
    dataset = pa_dataset.dataset(tmp_path, format="parquet")
    stream = open_stream(dataset)
    assert stream.n_rows == 40
    assert read_all(stream).equals(pa.concat_tables([rows(20), rows(20, 20)]))
    assert read_all(stream, ["word"]).column_names == ["word"]


def test_a_dataset_may_have_columns_in_the_names_of_folders(tmp_path):
    for year in (2024, 2025):
        folder = tmp_path / "data" / f"year={year}"
        folder.mkdir(parents=True)
        write(folder / "a.parquet", rows(5))
    stream = open_stream(
        pa_dataset.dataset(tmp_path / "data", format="parquet", partitioning="hive")
    )
    assert read_all(stream).column("year").to_pylist() == [2024] * 5 + [2025] * 5


def test_a_dataset_of_other_files_goes_by_their_names(tmp_path):
    write(tmp_path / "a.arrow", rows(5))
    assert open_stream(pa_dataset.dataset(tmp_path, format="ipc")).n_rows == 5


def test_a_filter_is_refused(tmp_path):
    write(tmp_path / "a.parquet", rows(5))
    dataset = pa_dataset.dataset(tmp_path).filter(pa_dataset.field("n") > 2)
    with pytest.raises(InputError, match="a dataset with a filter"):
        open_stream(dataset)


def test_a_dataset_in_memory_is_refused():
    with pytest.raises(InputError, match="pass the table itself"):
        open_stream(pa_dataset.dataset(rows(5)))


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
def test_any_process_can_read_any_part(tmp_path, monkeypatch, ending):
    monkeypatch.setattr(streams, "most_bytes", lambda memory: 200)
    write(tmp_path / f"data.{ending}", rows(50))
    with open_stream(tmp_path / f"data.{ending}") as stream:
        assert len(pickle.dumps(stream.partitions[0])) < 5000
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            found = list(pool.map(read_rows, reversed(stream.partitions)))
    assert [n for some in reversed(found) for n in some] == [*range(50)]


def test_files_without_rows_are_fine(tmp_path):
    write(tmp_path / "a.parquet", rows(0))
    write(tmp_path / "b.parquet", rows(3))
    write(tmp_path / "c.csv", rows(0))
    (tmp_path / "d.csv").write_text("")
    stream = open_stream(tmp_path)
    assert stream.n_rows == 3
    assert [len(parts) for parts in stream.parts] == [0, 1, 0]
    assert "Left out empty files" in stream.notes[0]
    with pytest.raises(InputError, match="3 columns and 0 rows"):
        open_stream(tmp_path / "a.parquet")


def test_what_is_no_table_in_a_folder_is_left_alone(tmp_path):
    write(tmp_path / "a.parquet", rows(3))
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / "readme.md").write_text("words")
    (tmp_path / ".hidden.csv").write_text("x\n1\n")
    assert len(open_stream(tmp_path).files) == 1


def test_a_file_may_have_a_name_with_a_star(tmp_path):
    write(tmp_path / "a*.parquet", rows(3))
    write(tmp_path / "ab.parquet", rows(3))
    assert open_stream(tmp_path / "a*.parquet").n_rows == 3


# Columns


def test_columns_may_come_in_another_order_and_as_other_numbers(tmp_path):
    write(tmp_path / "a.parquet", pa.table({"x": [1, 2], "y": ["a", "b"]}))
    write(tmp_path / "b.parquet", pa.table({"y": ["c"], "x": [0.5]}))
    write(tmp_path / "c.parquet", pa.table({"y": pa.nulls(1), "x": pa.nulls(1)}))
    found = read_all(open_stream(tmp_path))
    assert found.column("x").to_pylist() == [1.0, 2.0, 0.5, None]
    assert found.column("y").to_pylist() == ["a", "b", "c", None]


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"x": [1], "z": [1]}, "b.parquet has no column 'y'"),
        ({"x": [1], "y": [1], "z": [1]}, "a.parquet has no column 'z'"),
        ({"x": ["a"], "y": [1]}, "column 'x' has type int64 in the first and string"),
        ({"x": [True], "y": [1]}, "column 'x' has type int64 in the first and bool"),
    ],
)
def test_files_of_other_columns_are_named(tmp_path, other, words):
    write(tmp_path / "a.parquet", pa.table({"x": [1], "y": [1.5]}))
    write(tmp_path / "b.parquet", pa.table(other))
    with pytest.raises(InputError, match=words) as told:
        open_stream(tmp_path)
    assert all(str(tmp_path / f"{name}.parquet") in str(told.value) for name in "ab")


# Text

LAST_BLOCK = {
    "text": ["1"] * 3000 + ["x"],
    "fractions": ["1"] * 3000 + ["1.5"],
    "numbers": ["NA"] * 3000 + ["7"],
    "truth, then numbers": ["true"] * 3000 + ["7"],
    "numbers, then truth": ["7"] * 3000 + ["true"],
    "dates": ["2024-01-01"] * 3000 + ["2024-01-01 10:00"],
    "dates, then numbers": ["2024-01-01"] * 3000 + ["5.5"],
    "times": ["10:00:00"] * 3000 + ["2024-01-01"],
    "zones": ["2024-01-01 10:00"] * 3000 + ["2024-01-01 10:00Z"],
    "fine": ["2024-01-01 10:00"] * 3000 + ["2024-01-01 10:00:00.25"],
    "empty": ["", "NA", "?"] * 1000 + [""],
    "quotes": ["1"] * 3000 + ['"a ""b"", c"'],
    "large": ["1"] * 3000 + ["99999999999999999999"],
    "codes": ["007"] * 3001,
}


@pytest.mark.parametrize("cells", LAST_BLOCK.values(), ids=LAST_BLOCK)
def test_types_do_not_depend_on_the_block(tmp_path, monkeypatch, cells):
    file = tmp_path / "data.csv"
    lines = [f"{cell},{i}" for i, cell in enumerate(cells)]
    file.write_text("value,other\n" + "\n".join(lines) + "\n")
    sheet = read_table(file)
    monkeypatch.setattr(stream_text, "BLOCK_BYTES", 1000)
    monkeypatch.setattr(text_stream, "CHUNK_BYTES", 500)
    stream = open_stream(file)
    assert stream.schema.equals(sheet.columns.schema)
    assert read_all(stream).equals(sheet.columns)
    assert len(stream.files[0].blocks) > 5


def test_a_table_is_written_as_people_do(tmp_path):
    file = tmp_path / "data.csv.gz"
    file.write_bytes(gzip.compress("Größe;Zahl\n1,5;2\nNA;3\n".encode("cp1252")))
    found = read_all(open_stream(file))
    assert found.to_pydict() == {"Größe": [1.5, None], "Zahl": [2, 3]}
    given = open_stream(file, sep=";", encoding="cp1252", header=False)
    assert given.names == ["column_1", "column_2"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('a,b\n1,"x\n2,y\n', "does not end as it should"),
        ("a,b\n1,2\n3\n", "has 1 cell in line 3"),
        ("a,b\n1,2\0\n", "is not a table"),
    ],
)
def test_what_a_strict_reader_refuses_is_refused(tmp_path, content, words):
    file = tmp_path / "data.csv"
    file.write_text(content)
    with pytest.raises(InputError, match=words):
        open_stream(file)


def test_a_record_may_be_longer_than_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr(stream_text, "BLOCK_BYTES", 1000)
    file = tmp_path / "data.csv"
    monkeypatch.setattr(text_stream, "CHUNK_BYTES", 500)
    file.write_text("a,b\n1,x\n2," + "y" * 5000 + "\n")
    assert open_stream(file).n_rows == 2


@pytest.mark.parametrize("name", ["data.json", "data.parquet.gz"])
def test_what_cannot_be_read_in_parts_is_named(tmp_path, name):
    if name.endswith("json"):
        (tmp_path / name).write_text('[{"x": 1}]')
    else:
        write(tmp_path / "data.parquet", rows(3))
        (tmp_path / name).write_bytes(
            gzip.compress((tmp_path / "data.parquet").read_bytes())
        )
    with pytest.raises(InputError, match="cannot be read in parts"):
        open_stream(tmp_path / name)


# What may go wrong


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_files_that_change_or_go_are_named(tmp_path, ending):
    file = tmp_path / f"data.{ending}"
    write(file, rows(20))
    stream = open_stream(file)
    read_all(stream)
    write(file, rows(21))
    with pytest.raises(InputError, match=f"data.{ending} has changed while"):
        read_all(stream)
    file.unlink()
    with pytest.raises(InputError, match=f"data.{ending} was removed while"):
        read_all(stream)


def test_files_of_a_dataset_that_change_are_named(tmp_path):
    write(tmp_path / "a.parquet", rows(20))
    stream = open_stream(pa_dataset.dataset(tmp_path))
    write(tmp_path / "a.parquet", rows(21))
    with pytest.raises(InputError, match=r"a.parquet has changed while"):
        read_all(stream)


def test_a_scratch_file_goes_with_the_stream(tmp_path, scratch_folder):
    write(tmp_path / "data.csv", rows(5))
    with open_stream(tmp_path / "data.csv") as stream:
        assert len(list(scratch_folder.iterdir())) == 1
        assert stream.n_rows == 5
    assert not list(scratch_folder.iterdir())
    stream = open_stream(tmp_path / "data.csv")
    del stream
    assert not list(scratch_folder.iterdir())


def test_no_scratch_file_is_left_of_a_table_that_is_refused(tmp_path, scratch_folder):
    (tmp_path / "data.csv").write_text("a,b\n1,2\n3\n")
    with pytest.raises(InputError):
        open_stream(tmp_path / "data.csv")
    assert not list(scratch_folder.iterdir())


def test_a_full_disk_is_told_with_the_way_out(tmp_path, monkeypatch):
    class Full:
        def __init__(self, *_):
            raise OSError(28, "No space left on device")

    write(tmp_path / "data.csv", rows(5))
    monkeypatch.setattr("rtkm.tables.stream_text.pa.OSFile", Full, raising=False)
    with pytest.raises(
        InputError, match=r"No space left on device\); set RTKM_SCRATCH"
    ):
        open_stream(tmp_path / "data.csv")


def test_a_scratch_folder_must_be_there(tmp_path, monkeypatch):
    monkeypatch.setenv("RTKM_SCRATCH", str(tmp_path / "nowhere"))
    write(tmp_path / "data.csv", rows(5))
    with pytest.raises(InputError, match="nowhere"):
        open_stream(tmp_path / "data.csv")


ENDED = """
import os, signal, sys
from rtkm.tables.streams import open_stream
stream = open_stream(sys.argv[1])
print(stream.n_rows, flush=True)
if sys.argv[2] == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[2] == "interrupt":
    os.kill(os.getpid(), signal.SIGINT)
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["return", "interrupt", "kill"])
def test_no_process_leaves_a_scratch_file_for_long(tmp_path, scratch_folder, how):
    write(tmp_path / "data.csv", rows(5))
    command = [sys.executable, "-c", ENDED, str(tmp_path / "data.csv"), how]
    subprocess.run(command, check=False, capture_output=True)
    left = list(scratch_folder.iterdir())
    assert len(left) == (how == "kill")
    scratch.Scratch("another").close()  # the next one removes what was left
    assert not list(scratch_folder.iterdir())


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("is_quiet", [False, True])
def test_a_bar_is_shown_on_a_terminal_alone(tmp_path, monkeypatch, is_quiet):
    monkeypatch.setattr(progress, "BAR_AFTER", 0)
    write(tmp_path / "data.csv", rows(50))
    for stream, is_seen in ((Terminal(), not is_quiet), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        open_stream(tmp_path / "data.csv", is_quiet=is_quiet).close()
        assert ("converting" in stream.getvalue()) == is_seen
