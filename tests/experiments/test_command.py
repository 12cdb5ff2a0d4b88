"""python -m experiments, as it is typed."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from experiments import compute, yeast_noise
from experiments.__main__ import main
from rtkm._version import versions
from rtkm.report.templating import make_environment

FAST = ["--quick", "--jobs", "1"]
QUICK = [*FAST, "--only", "clouds", "process", "--out"]


def test_results_hold_numbers_protocols_and_versions(tmp_path):
    assert main([*QUICK, str(tmp_path / "a" / "b")]) == 0
    results = json.loads((tmp_path / "a" / "b" / "results.json").read_text())
    assert results["quick"] is True
    assert results["versions"] == versions()
    assert not {"noise", "starts"} & set(results)  # nothing here hangs on them
    # the claim about the process is judged together with the units
    assert [claim["verdict"] for claim in results["claims"]] == ["reproduced"]
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
    assert main(["--only", "clouds", "--out", str(tmp_path)]) == 1
    error = capsys.readouterr().err
    assert "holds results with quick=True, but this run has False" in error
    assert (tmp_path / "cells.jsonl").read_bytes() == before


@pytest.fixture
def no_cells(monkeypatch):
    """A command that finishes no cell, for what does not hang on them: it is quick."""
    monkeypatch.setattr(compute, "run_cells", lambda *args, **options: None)


def contents(folder):
    return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_committed_results_are_left_alone(tmp_path, capsys):
    kept = Path(__file__).parents[2] / "experiments" / "results" / "results.json"
    (tmp_path / "results.json").write_bytes(kept.read_bytes())
    before = contents(tmp_path)
    assert main([*QUICK, str(tmp_path)]) == 1
    assert capsys.readouterr().err == (
        f"experiments: {tmp_path} holds results.json but no cells.jsonl, so this run "
        "would replace what it cannot add to; choose another folder or empty this "
        "one.\n"
    )
    assert contents(tmp_path) == before


def test_a_page_of_something_else_is_left_alone(tmp_path, capsys):
    (tmp_path / "index.html").write_text("mine")
    assert main([*QUICK, str(tmp_path)]) == 1
    assert f"{tmp_path} holds index.html but no cells.jsonl" in capsys.readouterr().err
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [
        ("index.html", "mine")
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("format", 0),
        ("quick", False),
        ("noise", "drawn anew"),
        ("starts", "drawn anew"),
        ("versions", versions() | {"rtkm": "0.0.1"}),
        ("versions", versions() | {"numpy": "1.0"}),
        ("versions", None),
        (None, None),
    ],
)
def test_other_results_beside_a_ledger_are_left_alone(
    tmp_path, monkeypatch, capsys, no_cells, name, value
):
    for what in ("noise", "starts"):
        monkeypatch.setitem(compute.ORIGINS, what, ({"clouds"}, lambda: True))
    assert main([*QUICK, str(tmp_path)]) == 0
    file = tmp_path / "results.json"
    found = json.loads(file.read_text()) | {name: value}
    file.write_text(json.dumps(found) if name else "{half of")
    before = contents(tmp_path)
    assert main([*QUICK, str(tmp_path)]) == 1
    words = "holds results with " if name else "is damaged or is not of rtkm; choose"
    assert f"experiments: {file} {words}" in capsys.readouterr().err
    assert contents(tmp_path) == before


def test_a_run_does_not_go_on_with_other_versions(
    tmp_path, monkeypatch, capsys, no_cells
):
    assert main([*QUICK, str(tmp_path)]) == 0
    (tmp_path / "results.json").unlink()
    (tmp_path / "index.html").unlink()
    before = contents(tmp_path)
    newer = versions() | {"numpy": "99.0"}
    monkeypatch.setattr(compute, "versions", lambda: newer)
    assert main([*QUICK, str(tmp_path)]) == 1
    error = capsys.readouterr().err
    assert f"{tmp_path / 'cells.jsonl'} holds results with numpy=" in error
    assert "but this run has '99.0'" in error
    assert contents(tmp_path) == before


def test_files_that_no_chosen_experiment_needs_are_not_read(
    tmp_path, monkeypatch, no_cells
):
    (tmp_path / "yeast").mkdir()
    (tmp_path / "yeast" / "yeast_centers.npy").write_text("damaged")
    monkeypatch.setenv("RTKM_DATA", str(tmp_path))
    assert main([*QUICK, str(tmp_path / "out")]) == 0
    with pytest.raises(ValueError, match=r"yeast_centers.npy is damaged"):
        compute.origins(["clouds", "overlap"])


def test_whose_starts_they_are_is_asked_where_it_matters(
    tmp_path, monkeypatch, capsys, no_cells
):
    def run(name, at_hand):
        monkeypatch.setitem(compute.ORIGINS, "starts", ({"overlap"}, at_hand))
        return main([*FAST, "--only", name, "--out", str(tmp_path)])

    def told():
        return json.loads((tmp_path / "results.json").read_text()).get("starts")

    def damaged():
        raise ValueError("yeast_centers.npy is damaged")

    without_tables = SimpleNamespace(cells=compute.overlap.cells)
    monkeypatch.setitem(compute.EXPERIMENTS, "overlap", without_tables)
    assert run("clouds", damaged) == 0
    assert told() is None
    assert run("overlap", lambda: True) == 0
    assert told() == "the authors'"
    assert run("clouds", damaged) == 0
    assert told() == "the authors'"
    before = contents(tmp_path)
    assert run("overlap", lambda: False) == 1
    error = capsys.readouterr().err
    assert """starts="the authors'", but this run has 'drawn anew'""" in error
    assert contents(tmp_path) == before


def test_what_follows_from_tables_is_kept_with_the_cells(tmp_path, monkeypatch):
    def finished_overlap(trivial):
        monkeypatch.setattr(compute.overlap, "trivial", trivial)
        ledger = compute.Ledger(tmp_path / "cells.jsonl", {})
        cells = {"overlap/as described/yeast/0": {}}
        monkeypatch.setattr(compute, "judge", lambda cells: [])
        monkeypatch.setattr(compute, "find", lambda cells, trivial: [])
        return compute.conclude(cells, ledger)["trivial"]

    def missing():
        raise FileNotFoundError("yeast is not at hand")

    assert finished_overlap(lambda: {"yeast": {"f1": 0.5}}) == {"yeast": {"f1": 0.5}}
    assert finished_overlap(missing) == {"yeast": {"f1": 0.5}}


def test_the_noise_is_found_where_the_tables_are(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("RTKM_DATA", "~/data")
    (tmp_path / "data" / "yeast_noise").mkdir(parents=True)
    assert yeast_noise.authors_noise() is None
    (tmp_path / "data" / "yeast_noise" / "data_yeast_noise.npy").touch()
    assert yeast_noise.authors_noise() == tmp_path / "data"
    yeast_noise.load.cache_clear()
    out = tmp_path / "out"
    assert main([*FAST, "--only", "yeast_noise", "--out", str(out)]) == 1
    assert capsys.readouterr().err == (
        f"experiments: path={str(tmp_path / 'data')!r} does not hold "
        "yeast_noise/labels_yeast_noise.npy; expected the folder of both.\n"
    )
    assert list(out.iterdir()) == []


def test_a_report_with_its_pictures_is_written(tmp_path, capsys):
    assert main([*QUICK, str(tmp_path)]) == 0
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*")}
    pictures = {
        f"pictures/{n}.{e}" for n in ("clouds", "process") for e in ("svg", "png")
    }
    assert found == {"cells.jsonl", "results.json", "index.html"} | pictures
    told = capsys.readouterr().out
    assert "reproduced: k-means gives an outlier a center of its own" in told
    assert str(tmp_path / "index.html") in told


def test_a_later_part_adds_to_what_is_there(tmp_path):
    for name in ("clouds", "process"):
        assert main([*FAST, "--only", name, "--out", str(tmp_path)]) == 0
    cells = json.loads((tmp_path / "results.json").read_text())["cells"]
    assert [key.split("/")[0] for key in cells] == ["clouds", "process"]


@pytest.mark.slow
def test_half_an_experiment_is_not_reported(tmp_path):
    assert main([*FAST, "--only", "units", "--out", str(tmp_path)]) == 0
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
    assert main(["--only", "shuttle", "--out", str(tmp_path / "out")]) == 1
    error = capsys.readouterr().err
    assert error.startswith("experiments: ")
    assert "shuttle.trn" in error
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (
            "matplotlib.figure",
            'drawing the figures needs matplotlib; pip install "rtkm[plot]".',
        ),
        ("jinja2", 'a report needs Jinja2; pip install "rtkm[cli]".'),
    ],
)
def test_without_a_package_of_the_page_nothing_runs(
    tmp_path, monkeypatch, capsys, module, message
):
    make_environment.cache_clear()
    monkeypatch.setitem(sys.modules, module, None)
    assert main([*QUICK, str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err == f"experiments: {message}\n"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("owner", "act"), [(Path, "mkdir"), (tempfile, "TemporaryFile")]
)
def test_a_folder_that_cannot_be_written_is_named(
    tmp_path, monkeypatch, capsys, owner, act
):
    def refuse(*args, **options):  # root may write anywhere, so the system is played
        raise PermissionError(13, "Permission denied", "a name")

    monkeypatch.setattr(owner, act, refuse)
    monkeypatch.setattr(compute, "run_cells", None)
    assert main([*QUICK, str(tmp_path)]) == 1
    assert capsys.readouterr().err == (
        f"experiments: --out {tmp_path} cannot be written to (Permission denied); "
        "choose another folder.\n"
    )


def test_a_file_in_place_of_the_folder_is_named(tmp_path, capsys):
    file = tmp_path / "file"
    file.write_text("mine")
    assert main([*QUICK, str(file)]) == 1
    assert capsys.readouterr().err == (
        f"experiments: --out {file} is not a folder; expected one, or a name that is "
        "free.\n"
    )
    assert file.read_text() == "mine"
    assert main([*QUICK, str(file / "below")]) == 1
    assert "below cannot be written to (Not a directory)" in capsys.readouterr().err


@pytest.mark.parametrize("jobs", ["0", "-2", "1.5", "two", ""])
def test_the_number_of_processes_is_a_positive_one(tmp_path, capsys, no_cells, jobs):
    with pytest.raises(SystemExit) as refused:
        main([QUICK[0], f"--jobs={jobs}", *QUICK[3:], str(tmp_path / "out")])
    assert refused.value.code == 2
    assert (
        f"argument --jobs: {jobs!r} is not valid; expected a whole number of at least 1"
        in capsys.readouterr().err
    )
    assert not (tmp_path / "out").exists()


def test_parts_may_be_named_one_by_one_and_twice(tmp_path, capsys):
    parts = ["--only", "clouds", "clouds", "--only", "process"]
    assert main([*FAST, *parts, "--out", str(tmp_path)]) == 0
    cells = json.loads((tmp_path / "results.json").read_text())["cells"]
    assert [key.split("/")[0] for key in cells] == ["clouds", "process"]
    assert "experiments: 0 of 2 cells finished already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--out", "folder", "--only", "nothing"], "invalid choice: 'nothing'"),
        (["--quick"], "the following arguments are required: --out"),
        (["--out", "folder", "--qui"], "unrecognized arguments: --qui"),
    ],
)
def test_usage_is_told(capsys, arguments, told):
    with pytest.raises(SystemExit) as refused:
        main(arguments)
    assert refused.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("usage: python -m experiments ")
    assert told in error


# In a process of its own

ROOT = Path(__file__).parents[2]


def shell(arguments, redirections=""):
    """Return what python -m experiments ends with in a shell at the root."""
    command = shlex.join([sys.executable, "-m", "experiments", *arguments])
    return subprocess.run(
        ["bash", "-c", f"{command} {redirections}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished run at the root of the source tree, and its arguments."""
    arguments = [*QUICK, str(tmp_path_factory.mktemp("finished"))]
    return shell(arguments), arguments


def test_it_runs_at_the_root_of_the_source_tree(finished):
    done, _ = finished
    assert (done.returncode, "The report is" in done.stdout) == (0, True)
    assert done.stderr.splitlines()[0] == (
        "experiments: 0 of 2 cells finished already; processes: 1"
    )


@pytest.mark.parametrize(
    ("redirections", "out"),
    [
        (">&-", ""),
        ("2>&-", "The report is"),
        ("2> >(exit)", "The report is"),
        ("| exit; exit ${PIPESTATUS[0]}", ""),
    ],
)
def test_nobody_needs_to_listen(finished, redirections, out):
    done = shell(finished[1], redirections)
    assert done.returncode == 0
    assert out in done.stdout
    assert "experiments: " not in done.stdout
    assert "pipe" not in done.stderr


def test_without_the_package_it_says_where_to_run(tmp_path):
    done = subprocess.run(
        [sys.executable, ROOT / "experiments"], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (
        1,
        "experiments: no package experiments was found; install rtkm, and run "
        "`python -m experiments` at the root of its source tree.\n",
    )


def test_an_interrupted_run_says_how_to_go_on(tmp_path, monkeypatch, capsys):
    def interrupt(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(compute, "run_cells", interrupt)
    assert main([*QUICK, str(tmp_path)]) == 130
    assert capsys.readouterr().err == (
        "experiments: interrupted; run the same command to go on.\n"
    )


def test_control_letters_are_spelled_out(tmp_path, capsys):
    file = tmp_path / "red \x1b[31m"
    file.write_text("mine")
    assert main([*QUICK, str(file)]) == 1
    assert r"red \x1b[31m is not a folder" in capsys.readouterr().err
