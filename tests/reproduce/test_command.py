"""rtkm reproduce, as it is typed."""

from __future__ import annotations

import json
import os
import sys

import pytest

from rtkm._cli import main

QUICK = ["reproduce", "--quick", "--jobs", "1", "--only", "clouds", "process", "--out"]


def test_results_hold_numbers_protocols_and_versions(tmp_path):
    assert main([*QUICK, str(tmp_path / "a" / "b")]) == 0
    results = json.loads((tmp_path / "a" / "b" / "results.json").read_text())
    assert results["quick"] is True
    assert set(results["versions"]) == {"python", "numpy", "scipy", "scikit-learn"}
    assert results["noise"] in ("the authors'", "drawn anew")
    assert [claim["verdict"] for claim in results["claims"]] == ["reproduced"] * 2
    keys = ["clouds/as described/three clouds/0", "process/as described/two clouds/0"]
    assert list(results["cells"]) == keys


def test_a_second_run_gives_the_same_file(tmp_path):
    assert main([*QUICK, str(tmp_path)]) == 0
    first = (tmp_path / "results.json").read_bytes()
    (tmp_path / "results.json").unlink()
    assert main([*QUICK, str(tmp_path)]) == 0
    assert (tmp_path / "results.json").read_bytes() == first


def test_results_of_another_kind_are_left_alone(tmp_path, capsys):
    assert main([*QUICK, str(tmp_path)]) == 0
    before = (tmp_path / "cells.jsonl").read_bytes()
    assert main(["reproduce", "--only", "clouds", "--out", str(tmp_path)]) == 1
    error = capsys.readouterr().err
    assert "holds results with quick=True, but this run has False" in error
    assert (tmp_path / "cells.jsonl").read_bytes() == before


def test_a_report_with_its_pictures_is_written(tmp_path, capsys):
    assert main([*QUICK, str(tmp_path)]) == 0
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*")}
    pictures = {
        f"pictures/{n}.{e}" for n in ("clouds", "process") for e in ("svg", "png")
    }
    assert found == {"cells.jsonl", "results.json", "index.html"} | pictures
    told = capsys.readouterr().out
    assert "reproduced: The weights of relaxed k-means end at the vertices" in told
    assert str(tmp_path / "index.html") in told


def test_a_later_part_adds_to_what_is_there(tmp_path):
    quick, (*_, out) = QUICK[:4], (*QUICK, str(tmp_path))
    assert main([*quick, "--only", "clouds", "--out", out]) == 0
    assert main([*quick, "--only", "process", "--out", out]) == 0
    cells = json.loads((tmp_path / "results.json").read_text())["cells"]
    assert [key.split("/")[0] for key in cells] == ["clouds", "process"]


def test_half_an_experiment_is_not_reported(tmp_path):
    assert main([*QUICK[:4], "--only", "units", "--out", str(tmp_path)]) == 0
    ledger = tmp_path / "cells.jsonl"
    ledger.write_text("".join(ledger.read_text().splitlines(keepends=True)[:3]))
    assert main([*QUICK, str(tmp_path)]) == 0
    cells = json.loads((tmp_path / "results.json").read_text())["cells"]
    assert {key.split("/")[0] for key in cells} == {"clouds", "process"}


def test_missing_and_damaged_tables_are_told_before_anything_runs(
    tmp_path, monkeypatch, capsys
):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "shuttle.trn").write_text("50 21 77 0 28 0 27 48 22 2\n")
    monkeypatch.setenv("RTKM_DATA", str(tmp_path / "data"))
    assert main(["reproduce", "--only", "shuttle", "--out", str(tmp_path / "out")]) == 1
    error = capsys.readouterr().err
    assert error.startswith("rtkm: ")
    assert "shuttle.trn" in error
    assert list((tmp_path / "out").iterdir()) == []


def test_without_matplotlib_nothing_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main([*QUICK, str(tmp_path / "out")]) == 1
    assert 'pip install "rtkm[plot]"' in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_named(tmp_path, capsys):
    tmp_path.chmod(0o500)
    assert main([*QUICK, str(tmp_path / "out")]) == 1
    assert "out" in capsys.readouterr().err


def test_a_file_in_place_of_the_folder_is_named(tmp_path, capsys):
    (tmp_path / "file").write_text("mine")
    assert main([*QUICK, str(tmp_path / "file")]) == 1
    assert "file" in capsys.readouterr().err
    assert (tmp_path / "file").read_text() == "mine"


def test_usage_is_told(capsys):
    with pytest.raises(SystemExit) as refused:
        main(["reproduce", "--only", "nothing"])
    assert refused.value.code == 2
    assert "invalid choice: 'nothing'" in capsys.readouterr().err


def test_the_version_is_told(capsys):
    with pytest.raises(SystemExit) as shown:
        main(["--version"])
    assert shown.value.code == 0
    assert capsys.readouterr().out.startswith("rtkm ")
