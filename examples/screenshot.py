"""Take a picture of the top of a report: ``python examples/screenshot.py PAGE PNG``.

Needs playwright and Chromium, as the tests of the report do.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

SIZE = {"width": 1100, "height": 1260}


def main(page: str, picture: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        tab = browser.new_page(viewport=SIZE)
        tab.goto(Path(page).resolve().as_uri())
        tab.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
