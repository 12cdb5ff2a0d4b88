"""The page in a browser: all is drawn, it fits, and no other machine is asked."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

pytest.importorskip("matplotlib")

from pages import FIGURES, TABLES, Reader, write_sample

CHROMIUM = shutil.which("chromium")
QUIET = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"),
    *("--no-first-run", "--disable-background-networking", "--disable-sync"),
    *("--disable-component-update", "--virtual-time-budget=2000"),
    "--host-resolver-rules=MAP * ~NOTFOUND",
]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs chromium on the path"),
]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return write_sample(tmp_path_factory.mktemp("page"))


def browse(page, folder, *options):
    """Open the page in a browser without a past, and return what it prints."""
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [CHROMIUM, *QUIET, profile, *options, page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def requested(page, folder):
    """Return what the page asks the network for, also if it is in vain.

    The browser's own questions, about updates and the time, come from no origin.
    """
    folder.mkdir()
    log = folder / "network.json"
    browse(page, folder, f"--log-net-log={log}", "--dump-dom")
    events = json.loads(log.read_text(encoding="utf-8"))["events"]
    asked = [event["params"] for event in events if "params" in event]
    return {
        params["url"]
        for params in asked
        if params.get("initiator", "not an origin") != "not an origin"
    }


def test_every_figure_and_table_is_shown_and_nothing_is_fetched(page, tmp_path):
    read = Reader(browse(page, tmp_path, "--dump-dom"))
    assert read.ids("figure") == FIGURES
    assert read.ids("table") == TABLES
    assert all(url.startswith(("#", "data:")) for url in read.fetched())


def test_nothing_is_requested_from_outside(page, tmp_path):
    address = "http://outside.example/x.png"
    leaky = tmp_path / "leaky.html"
    text = page.read_text(encoding="utf-8")
    leaky.write_text(text.replace("</body>", f'<img src="{address}"></body>'))
    assert requested(leaky, tmp_path / "leaky") == {address}  # requests are seen
    assert requested(page, tmp_path / "page") == set()


@pytest.mark.parametrize("width", [1280, 500])
def test_only_pictures_and_tables_scroll_sideways(page, tmp_path, width):
    # the page carries no scripts: a copy of it measures itself
    measure = (
        "<script>document.body.dataset.wide = "
        "document.documentElement.scrollWidth > window.innerWidth;"
        "document.body.dataset.flat = [...document.querySelectorAll('figure svg')]"
        ".filter(svg => svg.getBoundingClientRect().height < 100).length;</script>"
    )
    copy = tmp_path / "copy.html"
    text = page.read_text(encoding="utf-8").replace("</body>", f"{measure}</body>")
    copy.write_text(text, encoding="utf-8")
    dom = browse(copy, tmp_path, f"--window-size={width},900", "--dump-dom")
    (body,) = [attrs for tag, attrs in Reader(dom).tags if tag == "body"]
    assert (body["data-wide"], body["data-flat"]) == ("false", "0")


def test_a_picture_of_the_page_can_be_taken(page, tmp_path):
    shot = tmp_path / "page.png"
    browse(page, tmp_path, f"--screenshot={shot}", "--window-size=1280,900")
    assert shot.read_bytes().startswith(b"\x89PNG")
    assert len(shot.read_bytes()) > 20_000  # an empty page takes some 5,000
