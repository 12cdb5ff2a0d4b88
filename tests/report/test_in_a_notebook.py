"""A notebook, run from its first cell to its last: table in, answer and picture out."""

from __future__ import annotations

import re
from base64 import b64decode
from importlib.resources import files

import pytest

from rtkm import load

CELLS = [
    'import pandas as pd\nfrom rtkm import TableModel\ntissue = pd.read_csv("wbc.csv")',
    'model = TableModel(missing="median").fit(tissue)\nmodel',
    "print(model.summary())",
    "model.plot(tissue);",
    'model.explain(tissue).query("outlier").head()',
    'model.report(tissue, "report.html")',
    'model.save("tissue.rtkm")',
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a table in it."""
    folder = tmp_path_factory.mktemp("notebook")
    table = files("rtkm").joinpath("data", "wbc.csv").read_bytes()
    (folder / "wbc.csv").write_bytes(table)
    return folder


@pytest.fixture(scope="module")
def outputs(folder):
    """Return what every cell of the notebook has put out."""
    reason = "needs nbclient and ipykernel: pip install --group notebook"
    nbclient = pytest.importorskip("nbclient", reason=reason)
    nbformat = pytest.importorskip("nbformat", reason=reason)
    pytest.importorskip("ipykernel", reason=reason)
    cells = [nbformat.v4.new_code_cell(cell) for cell in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    run_in = {"metadata": {"path": str(folder)}}
    # an error in a cell is an error here
    nbclient.NotebookClient(notebook, resources=run_in, kernel_name="python3").execute()
    return dict(zip(CELLS, (cell.outputs for cell in notebook.cells), strict=True))


def shown(outputs, cell, mime):
    """Return what a cell shows of this type."""
    (content,) = [
        output["data"][mime]
        for output in outputs[cell]
        if mime in output.get("data", {})
    ]
    return content


# Tests


def test_ten_lines_are_enough():
    assert sum(len(cell.splitlines()) for cell in CELLS) <= 10


@pytest.mark.slow
def test_nothing_is_complained_of(outputs):
    streams = [out for some in outputs.values() for out in some if "name" in out]
    assert {stream["name"] for stream in streams} == {"stdout"}


@pytest.mark.slow
def test_a_model_shows_its_answer_and_a_picture(outputs):
    html = shown(outputs, CELLS[1], "text/html")
    assert re.search(r"\d+ clusters and \d+ outliers in 699 rows", html)
    assert "<svg" in html


@pytest.mark.slow
def test_the_summary_says_what_the_model_shows(outputs):
    (stream,) = outputs[CELLS[2]]
    answer = stream["text"].splitlines()[0]
    assert answer in shown(outputs, CELLS[1], "text/html")


@pytest.mark.slow
def test_a_plot_is_a_picture(outputs):
    picture = b64decode(shown(outputs, CELLS[3], "image/png"))
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 10_000


@pytest.mark.slow
def test_outliers_are_explained(outputs):
    html = shown(outputs, CELLS[4], "text/html")
    assert html.count("<tr>") == 5
    assert "part_mitoses" in html


@pytest.mark.slow
def test_the_report_and_the_model_are_there(outputs, folder):
    labels = load(folder / "tissue.rtkm").predict(folder / "wbc.csv")
    page = (folder / "report.html").read_text()
    assert f"{(labels == -1).sum()} outliers" in page
