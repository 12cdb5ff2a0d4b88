"""What is finished is kept, whatever ends a run, and is not run again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from rtkm.reproduce._cells import Cell, Ledger, write_atomically
from rtkm.reproduce._run import run_cells

SUBJECT = {"rtkm": "0.1.0", "quick": False}
CELLS = [Cell("squares", "as described", str(i), 0) for i in range(12)]


def square(cell):
    return {"square": float(cell.setting) ** 2}


def slow_square(cell):
    time.sleep(0.2)
    return square(cell)


def forbidden(cell):
    raise AssertionError(f"{cell.key} was finished")


def failing(cell):
    if cell.setting == "3":
        raise ValueError("no third")
    return square(cell)


def test_a_cell_is_named_by_all_that_tells_it_apart():
    cell = Cell("wbc", "as published", "0.25", 3)
    assert cell.key == "wbc/as published/0.25/3"


def test_finished_cells_are_not_run_again(tmp_path):
    path = tmp_path / "ledger"
    run_cells(CELLS[:5], square, Ledger(path, SUBJECT), n_jobs=2, progress=False)
    ledger = Ledger(path, SUBJECT)
    assert ledger.finished == {cell.key: square(cell) for cell in CELLS[:5]}
    run_cells(CELLS[:5], forbidden, ledger, n_jobs=1, progress=False)
    run_cells(CELLS, square, ledger, n_jobs=2, progress=False)
    assert Ledger(path, SUBJECT).finished == {c.key: square(c) for c in CELLS}


def test_a_failure_keeps_what_was_finished(tmp_path):
    path = tmp_path / "ledger"
    with pytest.raises(ValueError, match="no third"):
        run_cells(CELLS, failing, Ledger(path, SUBJECT), n_jobs=1, progress=False)
    finished = Ledger(path, SUBJECT).finished
    assert CELLS[0].key in finished
    assert CELLS[3].key not in finished


def test_a_killed_run_goes_on(tmp_path):
    path = tmp_path / "ledger"
    program = f"""
import sys
sys.path.insert(0, {os.path.dirname(__file__)!r})
from pathlib import Path
from test_cells import CELLS, SUBJECT, slow_square
from rtkm.reproduce._cells import Ledger
from rtkm.reproduce._run import run_cells
if __name__ == "__main__":
    run_cells(CELLS, slow_square, Ledger(Path({str(path)!r}), SUBJECT), n_jobs=1)
"""
    script = tmp_path / "program.py"
    script.write_text(program)
    process = subprocess.Popen([sys.executable, script], start_new_session=True)
    while not path.exists() or len(path.read_text().splitlines()) < 4:
        time.sleep(0.01)
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    before = len(Ledger(path, SUBJECT).finished)
    assert 3 <= before < len(CELLS)
    run_cells(CELLS, square, Ledger(path, SUBJECT), n_jobs=2, progress=False)
    assert Ledger(path, SUBJECT).finished == {c.key: square(c) for c in CELLS}


def test_an_unfinished_last_line_does_not_count(tmp_path):
    path = tmp_path / "ledger"
    ledger = Ledger(path, SUBJECT)
    ledger.add("a", 1)
    with path.open("a") as file:
        file.write('{"key": "b", "resu')
    ledger = Ledger(path, SUBJECT)
    assert ledger.finished == {"a": 1}
    ledger.add("c", 3)
    assert Ledger(path, SUBJECT).finished == {"a": 1, "c": 3}


def test_ledgers_of_something_else_are_refused(tmp_path):
    path = tmp_path / "ledger"
    Ledger(path, SUBJECT).add("a", 1)
    content = path.read_text()
    with pytest.raises(ValueError, match="holds results with quick=False, but"):
        Ledger(path, SUBJECT | {"quick": True})
    assert path.read_text() == content


def test_damage_in_the_middle_is_reported(tmp_path):
    path = tmp_path / "ledger"
    Ledger(path, SUBJECT).add("a", 1)
    path.write_text(path.read_text() + "garbage\n" + json.dumps({"key": 1}) + "\n")
    with pytest.raises(ValueError, match=r"ledger is damaged .*; remove it to"):
        Ledger(path, SUBJECT)


def test_a_failed_write_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_atomically(path, "old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
