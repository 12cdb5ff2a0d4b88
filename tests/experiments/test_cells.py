"""What is finished is kept, whatever ends a run, and is not run again."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from threading import Event

import pytest

from experiments.engine import run
from experiments.engine.cells import FORMAT, Cell, Ledger
from experiments.engine.run import run_cells

SUBJECT = {"versions": {"rtkm": "0.1.0"}, "quick": False}
CELLS = [Cell("squares", "as described", str(i), 0) for i in range(12)]


def square(cell):
    return {"square": float(cell.setting) ** 2}


def endless(cell):
    if cell.setting == "3":
        Event().wait()
    return square(cell)


def forbidden(cell):
    raise AssertionError(f"{cell.key} was finished")


def failing(cell):
    if cell.setting == "3":
        raise ValueError("no third")
    return square(cell)


def suicidal(cell):
    if cell.setting == "3":
        os.kill(os.getpid(), signal.SIGKILL)
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


def test_a_killed_worker_is_told_and_keeps_what_was_finished(tmp_path):
    path = tmp_path / "ledger"
    with pytest.raises(ChildProcessError, match="run the same command to go on"):
        run_cells(CELLS, suicidal, Ledger(path, SUBJECT), n_jobs=1, progress=False)
    assert CELLS[0].key in Ledger(path, SUBJECT).finished


@pytest.fixture
def endless_run(tmp_path):
    """A run of its own: one worker never finishes its cell, one has no more to do."""
    path, script = tmp_path / "ledger", tmp_path / "program.py"
    script.write_text(f"""
import sys
sys.path[:] = {sys.path!r}
from pathlib import Path
from test_cells import CELLS, SUBJECT, endless
from experiments.engine.cells import Ledger
from experiments.engine.run import run_cells
if __name__ == "__main__":
    run_cells(CELLS, endless, Ledger(Path({str(path)!r}), SUBJECT), n_jobs=2)
""")
    process = subprocess.Popen(
        [sys.executable, script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # a test that runs in the background may have been told to ignore it
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    with process:
        while not path.exists() or len(path.read_text().splitlines()) < len(CELLS):
            time.sleep(0.01)
            assert process.poll() is None
        yield process
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def test_a_killed_run_goes_on(endless_run, tmp_path):
    os.killpg(endless_run.pid, signal.SIGKILL)
    endless_run.wait()
    finished = Ledger(tmp_path / "ledger", SUBJECT).finished
    assert finished == {c.key: square(c) for c in CELLS if c.setting != "3"}
    ledger = Ledger(tmp_path / "ledger", SUBJECT)
    run_cells(CELLS, square, ledger, n_jobs=2, progress=False)
    assert ledger.finished == {cell.key: square(cell) for cell in CELLS}


def test_an_interrupted_run_ends_its_workers_without_their_tracebacks(endless_run):
    os.killpg(endless_run.pid, signal.SIGINT)  # as Ctrl-C does
    _, told = endless_run.communicate(timeout=300)
    assert endless_run.returncode == -signal.SIGINT
    assert told.count("Traceback") == 1  # of the run itself, which handles none
    assert "run_cells" in told


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_the_run(endless_run, number):
    endless_run.send_signal(number)
    # a worker that lives on would keep the pipe open
    endless_run.communicate(timeout=300)
    assert endless_run.returncode == -number


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
    with pytest.raises(ValueError, match=r"ledger is damaged or is not a ledger of"):
        Ledger(path, SUBJECT)


HEADER = json.dumps(SUBJECT | {"format": FORMAT}).encode()
FOREIGN = {
    "empty": b"",
    "words": b"my notes\n",
    "one line without an end": b"my notes",
    "an object without an end": HEADER,
    "a list": b"[1, 2]\n",
    "a number": b"7\n",
    "another object": b'{"rtkm": "0.1.0"}\n',
    "nested too deep": b"[" * 100_000 + b"\n",
    "not UTF-8": b'{"format": "\xff"}\n',
    "a cell without a key": HEADER + b'\n{"result": 1}\n',
    "a cell without a result": HEADER + b'\n{"key": "a"}\n',
    "a key that is none": HEADER + b'\n{"key": ["a"], "result": 1}\n',
    "a number for a cell": HEADER + b"\n1\n",
    "an empty line": HEADER + b"\n\n",
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN.keys())
def test_files_that_are_no_ledgers_are_refused_and_kept(tmp_path, content):
    path = tmp_path / "ledger"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is not a ledger of rtkm") as refused:
        Ledger(path, SUBJECT)
    assert str(refused.value) == (
        f"{path} is damaged or is not a ledger of rtkm; choose another folder or empty "
        "this one."
    )
    assert path.read_bytes() == content
    assert [p.name for p in tmp_path.iterdir()] == ["ledger"]


def test_versions_are_part_of_what_a_ledger_is_of(tmp_path):
    path = tmp_path / "ledger"
    Ledger(path, SUBJECT | {"versions": {"scipy": "1.0", "numpy": "1.9"}})
    content = path.read_bytes()
    for versions in ({"scipy": "1.0", "numpy": "2.0"}, {"numpy": "2.0"}):
        with pytest.raises(ValueError, match=r"with numpy='1.9', but .* has '2.0';"):
            Ledger(path, SUBJECT | {"versions": versions})
    assert path.read_bytes() == content
    path.write_bytes(HEADER + b"\n")  # of a time before versions were kept
    with pytest.raises(ValueError, match=r"with numpy=None, but this run has '2.0';"):
        Ledger(path, SUBJECT | {"versions": versions})


def test_origins_are_learned_and_must_not_contradict(tmp_path):
    path = tmp_path / "ledger"
    assert "noise" not in Ledger(path, SUBJECT).header
    Ledger(path, SUBJECT, {"noise": "ours"}).add("a", 1)
    Ledger(path, SUBJECT, {"starts": "theirs"})
    ledger = Ledger(path, SUBJECT)
    assert ledger.header["noise"] == "ours"
    assert ledger.header["starts"] == "theirs"
    assert ledger.finished == {"a": 1}
    with pytest.raises(ValueError, match="with noise='ours', but this run has 'thei"):
        Ledger(path, SUBJECT, {"noise": "theirs"})


def test_a_log_shows_life(tmp_path, capsys):
    path = tmp_path / "ledger"
    run_cells(CELLS[:3], square, Ledger(path, SUBJECT), n_jobs=1, progress=False)
    assert capsys.readouterr().err == ""
    run_cells(CELLS[:5], square, Ledger(path, SUBJECT), n_jobs=4)
    begin, end = capsys.readouterr().err.splitlines()  # no bar: this is no terminal
    assert begin == "experiments: 3 of 5 cells finished already; processes: 2"
    assert re.fullmatch(r"experiments: 5 of 5 cells finished, in \d+ s", end)


def test_processors_are_counted_on_every_system(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(run, "cpu_count", lambda: 2)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)  # as on macOS
    run_cells(CELLS[:3], square, Ledger(tmp_path / "ledger", SUBJECT))
    assert "0 of 3 cells finished already; processes: 2" in capsys.readouterr().err
