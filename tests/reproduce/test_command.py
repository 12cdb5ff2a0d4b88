"""rtkm reproduce, as it is typed."""

from __future__ import annotations

import json
import os

import pytest

from rtkm._cli import main

QUICK = ["reproduce", "--quick", "--jobs", "1", "--only", "clouds", "process", "--out"]


def test_results_hold_numbers_protocols_and_versions(tmp_path):
    assert main([*QUICK, str(tmp_path / "a" / "b")]) == 0
    results = json.loads((tmp_path / "a" / "b" / "results.json").read_text())
    assert results["quick"] is True
    assert set(results["versions"]) == {"python", "numpy", "scipy", "scikit-learn"}
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
