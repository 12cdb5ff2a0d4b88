"""Compressed tables, read and written."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from rtkm.tables.messages import InputError
from rtkm.tables.reading import read_table
from rtkm.tables.writing import write_answers

CONTENT = b"x,y\n" + b"".join(b"%d,%d\n" % (i, i * i % 101) for i in range(500))


def zstd(content):
    return pa.Codec("zstd").compress(content).to_pybytes()


PACKERS = {"gzip": gzip.compress, "zstd": zstd, "bzip2": bz2.compress}
PACKERS["xz"] = lzma.compress


@pytest.mark.parametrize("kind", PACKERS)
def test_a_compressed_table_is_that_table(tmp_path, monkeypatch, kind):
    file, plain = tmp_path / "any name", tmp_path / "data.csv"
    plain.write_bytes(CONTENT)
    file.write_bytes(PACKERS[kind](CONTENT))
    expected, sheet = read_table(plain), read_table(file)
    assert sheet.columns == expected.columns
    assert sheet.dialect == expected.dialect
    assert f"(CSV, compressed by {kind}, separated by" in sheet.summary()
    stdin = SimpleNamespace(buffer=io.BytesIO(file.read_bytes()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert read_table("-").columns == expected.columns


@pytest.mark.parametrize("kind", PACKERS)
def test_several_parts_are_one_table(tmp_path, kind):
    # as `cat a.gz b.gz` joins them, and compressors that work in threads
    file, pack = tmp_path / "data", PACKERS[kind]
    file.write_bytes(pack(CONTENT[:77]) + pack(CONTENT[77:]))
    assert read_table(file).n_rows == 500


@pytest.mark.parametrize("kind", PACKERS)
@pytest.mark.parametrize("n_lost", [1, 9, 200])
def test_a_table_cut_short_is_refused(tmp_path, kind, n_lost):
    file = tmp_path / "data"
    file.write_bytes(PACKERS[kind](CONTENT)[:-n_lost])
    with pytest.raises(InputError) as caught:
        read_table(file)
    message = str(caught.value)
    assert message.startswith(f"{file} cannot be unpacked by {kind} (")
    assert message.endswith("); it may be damaged or cut short.")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_encodings_and_marks_are_found_within(tmp_path, encoding):
    file = tmp_path / "data"
    text = "größe;y\n1,5;2\n2,5;3\n"
    file.write_bytes(gzip.compress(text.encode(encoding)))
    assert read_table(file).columns.to_pydict() == {"größe": [1.5, 2.5], "y": [2, 3]}


def test_other_formats_are_read_when_compressed(tmp_path):
    table = pa.table({"x": [1.5, 2.5]})
    pa.parquet.write_table(table, tmp_path / "plain")
    np.save(tmp_path / "a.npy", np.array([1.5, 2.5]))
    for name in ("plain", "a.npy"):
        packed = tmp_path / "packed"
        packed.write_bytes(gzip.compress((tmp_path / name).read_bytes()))
        columns = read_table(packed).columns
        assert columns.column(0).to_pylist() == [1.5, 2.5]


def test_what_is_compressed_twice_is_refused(tmp_path):
    file = tmp_path / "data"
    file.write_bytes(gzip.compress(zstd(CONTENT)))
    with pytest.raises(InputError, match="is compressed twice; unpack it once"):
        read_table(file)


def test_what_grows_beyond_measure_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("rtkm.tables.packing.HARMLESS_BYTES", 2**16)
    file = tmp_path / "data"
    file.write_bytes(gzip.compress(b"x,y\n" + b"1,2\n" * 2**16))
    with pytest.raises(InputError) as caught:
        read_table(file)
    assert str(caught.value) == (
        f"{file} unpacks to more than 100 times its size, which hardly any table does; "
        "unpack it yourself if it is one."
    )
    # what is harmless may shrink as it will
    monkeypatch.setattr("rtkm.tables.packing.HARMLESS_BYTES", 2**20)
    assert read_table(file).n_rows == 2**16


@pytest.mark.parametrize("ending", [".gz", ".zst", ".bz2", ".xz"])
def test_answers_are_compressed_as_the_name_says(tmp_path, ending):
    file = tmp_path / "data.csv.gz"
    file.write_bytes(gzip.compress(CONTENT))
    sheet = read_table(file)
    answers = {"label": np.arange(500)}
    write_answers(tmp_path / "plain.csv", sheet, answers)
    write_answers(tmp_path / f"out.csv{ending}", sheet, answers)
    packed = read_table(tmp_path / f"out.csv{ending}")
    assert packed.source.packing.ending == ending
    with packed.source.open() as stream:
        assert stream.read() == (tmp_path / "plain.csv").read_bytes()
    # the same file each time, whatever the clock says
    first = (tmp_path / f"out.csv{ending}").read_bytes()
    write_answers(tmp_path / f"out.csv{ending}", sheet, answers)
    assert (tmp_path / f"out.csv{ending}").read_bytes() == first
