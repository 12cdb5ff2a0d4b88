"""Commands as they are typed, and tables to show them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from rtkm.cli.main import main


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def rtkm(capsys, monkeypatch, tmp_path):
    """Run a command in a folder of its own; no traceback may ever show."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments):
        capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as leaving:  # how argparse ends
            code = leaving.code
        outcome = Outcome(code, *capsys.readouterr())
        assert "Traceback" not in outcome.out + outcome.err
        return outcome

    return run


@pytest.fixture
def people(tmp_path):
    """Two clusters of people, an outlier in height, and one whose weight is missing."""
    rng = np.random.default_rng(0)
    lines = ["name,height,weight,team"]
    for i in range(60):
        height = (160 if i < 30 else 190) + 2 * rng.normal()
        weight = (55 if i < 30 else 90) + 2 * rng.normal()
        lines.append(f"p{i},{height:.1f},{weight:.1f},{'red' if i < 30 else 'blue'}")
    lines.insert(11, "giant,310,56,outlier")
    lines.insert(21, "light,160,,red")
    path = tmp_path / "people.csv"
    path.write_text("\n".join(lines) + "\n")
    return path
