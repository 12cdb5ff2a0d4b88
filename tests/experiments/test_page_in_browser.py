"""The page in a browser: all is drawn, it fits, and no other machine is asked."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest

pytest.importorskip("matplotlib")

from pages import Reader, make_results, shown_ids, write_sample

CHROMIUM = shutil.which("chromium")
QUIET = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"),
    *("--no-first-run", "--disable-background-networking", "--disable-sync"),
    *("--disable-component-update", "--virtual-time-budget=2000"),
    *("--enable-logging=stderr", "--host-resolver-rules=MAP * ~NOTFOUND"),
]
# no window is as narrow as a phone, but a frame can be; it tells the page around it
FRAME = """<body><iframe src="{name}" style="border:0; width:{width}px; height:900px">
</iframe><script>
addEventListener("message", event => document.body.dataset.told = event.data);
</script></body>"""
# the page carries no scripts and allows none: a copy that does measures itself
MEASURE = """<script>
document.querySelectorAll("details").forEach(box => box.open = true);
const size = found => found.getBoundingClientRect();
parent.postMessage(JSON.stringify({
  width: innerWidth,
  scrolls: document.documentElement.scrollWidth,
  flat: [...document.querySelectorAll("figure svg")]
    .filter(svg => size(svg).height < 100).length,
  figures: [...document.querySelectorAll("figure")]
    .filter(found => size(found).height > 100).map(found => found.id),
  tables: [...document.querySelectorAll("table")]
    .filter(found => size(found).height > 20).map(found => found.id),
}), "*");
</script>"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs chromium on the path"),
]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return write_sample(tmp_path_factory.mktemp("page"))


def browse(page, folder, *options):
    """Open the page in a browser without a past; return what it prints, and says."""
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [CHROMIUM, *QUIET, profile, *options, page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout, re.findall(r"CONSOLE.*", done.stderr)


def with_more(page, path, more, policy=False):
    """Write a copy of the page that has something at its end, and allows all."""
    text = page.read_text(encoding="utf-8")
    text = text.replace("</body>", f"{more}</body>")
    if not policy:
        text = re.sub('<meta http-equiv="Content-Security-Policy".*?>', "", text)
    path.write_text(text, encoding="utf-8")
    return path


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


@pytest.mark.parametrize("width", [1280, 390])
def test_every_figure_and_table_shows_and_the_page_itself_is_not_too_wide(
    page, tmp_path, width
):
    figures, tables = shown_ids(make_results())
    with_more(page, tmp_path / "copy.html", MEASURE)
    frame = tmp_path / "frame.html"
    frame.write_text(FRAME.format(name="copy.html", width=width), encoding="utf-8")
    dom, _ = browse(frame, tmp_path, "--window-size=1400,1000", "--dump-dom")
    (body,) = [attrs for tag, attrs in Reader(dom).tags if tag == "body"]
    told = json.loads(body["data-told"])
    assert told["width"] == width
    assert told["scrolls"] <= width
    assert told["flat"] == 0
    assert set(told["figures"]) == figures
    assert set(told["tables"]) == tables


def test_nothing_is_requested_from_outside(page, tmp_path):
    address = "http://outside.example/x.png"
    leaky = with_more(page, tmp_path / "leaky.html", f'<img src="{address}">')
    assert requested(leaky, tmp_path / "leaky") == {address}  # requests are seen
    assert requested(page, tmp_path / "page") == set()
    kept = with_more(
        page, tmp_path / "kept.html", f'<img src="{address}">', policy=True
    )
    assert requested(kept, tmp_path / "kept") == set()


def test_the_policy_refuses_programs_and_styles_that_get_in_all_the_same(
    page, tmp_path
):
    more = "<script>missing()</script><style>body { color: red; }</style>"
    copy = with_more(page, tmp_path / "copy.html", more, policy=True)
    _, said = browse(copy, tmp_path, "--dump-dom")
    assert len(said) == 2
    for line, directive in zip(said, ("script-src", "style-src"), strict=True):
        assert "Content Security Policy" in line
        assert directive in line


def test_the_console_stays_silent(page, tmp_path):
    broken = with_more(page, tmp_path / "broken.html", "<script>missing()</script>")
    _, said = browse(broken, tmp_path, "--dump-dom")
    assert len(said) == 1  # errors are seen
    assert "missing is not defined" in said[0]
    dom, said = browse(page, tmp_path, "--dump-dom")
    assert said == []
    assert all(url.startswith(("#", "data:")) for url in Reader(dom).fetched())


def test_a_picture_of_the_page_can_be_taken(page, tmp_path):
    shot = tmp_path / "page.png"
    browse(page, tmp_path, f"--screenshot={shot}", "--window-size=1280,900")
    assert shot.read_bytes().startswith(b"\x89PNG")
    assert len(shot.read_bytes()) > 20_000  # an empty page takes some 5,000
