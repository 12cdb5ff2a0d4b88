"""A hostile table, from the command to the browser."""

from __future__ import annotations

import csv

import numpy as np
from test_report_in_browser import PAYLOADS

from rtkm.cli.main import main

pytest_plugins = ("visits",)


def test_no_cell_id_or_name_of_a_table_runs(tmp_path, browser):
    rng = np.random.default_rng(0)
    # a table of text holds no zero bytes
    payloads = [payload.replace("\0", "") for payload in PAYLOADS]
    folder = tmp_path / "<img src=x onerror=window.hacked=1>"
    folder.mkdir()
    table = folder / "a.csv"
    with table.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["name", "comment", *payloads])
        for i in range(80):
            text = payloads[i % len(payloads)]
            numbers = rng.normal(size=len(payloads)) * (30 if i % 10 == 0 else 1)
            writer.writerow([f"{text}{i}", text, *numbers.round(3)])
    report = tmp_path / "report.html"
    words = [
        "-k",
        "2",
        "--contamination",
        "8",
        "--id",
        "name",
        "--quiet",
        "--report",
        str(report),
    ]
    assert main(["fit", str(table), *words]) == 0
    page = browser.new_page()
    complaints, requests = [], []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(report.as_uri())
    plot = page.locator("#plot")
    plot.focus()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    for button in page.locator("#outlier-rows thead button").all():
        button.click()
    page.get_by_label("Search the outliers").fill("<script>")
    page.wait_for_timeout(200)
    assert page.evaluate("window.hacked") is None
    assert page.locator("img, iframe, body b b, main a[href^=javascript]").count() == 0
    assert complaints == []
    assert requests == [report.as_uri()]
    assert "8 rows (10 %) were trimmed, as you asked" in page.inner_text("#summary")
    page.close()
