"""One browser for all tests of a worker, and pages that must not misbehave."""

from __future__ import annotations

import shutil
from contextlib import ExitStack

import pytest
from report_samples import make_findings

from rtkm.report.page import render

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
    None,
)
OPTIONS = [
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic"),
    *("--no-first-run", "--disable-background-networking", "--disable-sync"),
    "--disable-component-update",
]


@pytest.fixture(scope="session")
def browser():
    api = pytest.importorskip(
        "playwright.sync_api", reason="needs playwright: pip install playwright"
    )
    if BROWSER is None:
        pytest.skip("needs Chromium on the path: apt install chromium")
    with api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=BROWSER, args=OPTIONS)
        yield launched
        launched.close()


class Visit:
    """A page in a browser, with all that it asked for and complained about."""

    def __init__(self, page, address):
        self.page, self.address = page, address
        self.requests, self.complaints = [], []
        page.context.route("**/*", self.answer)
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(address)

    def answer(self, route):
        if route.request.url == self.address:
            route.continue_()
        else:
            route.abort()


@pytest.fixture
def visit(browser, tmp_path):
    """Open the report of some findings; at the end, nothing may have gone wrong."""
    visits, contexts = [], ExitStack()

    def open_report(findings=None, **options):
        path = tmp_path / f"report-{len(visits)}.html"
        findings = make_findings(overlap=True) if findings is None else findings
        path.write_text(render(findings), encoding="utf-8")
        context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 900}} | options
        )
        contexts.callback(context.close)
        visits.append(Visit(context.new_page(), path.as_uri()))
        return visits[-1].page

    open_report.visits = visits
    with contexts:
        yield open_report
        for made in visits:
            assert set(made.requests) == {made.address}
            assert made.complaints == []
