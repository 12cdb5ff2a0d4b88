"""Follow every link within the built pages, and list those that lead outside.

``python docs/check_links.py build/docs/html`` ends with 1 if a page, a file or an
anchor is missing. Nothing is loaded from anywhere.
"""

from __future__ import annotations

import sys
from collections import Counter
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# what an attribute of a tag points at
LINKS = {"href", "src", "poster", "data-src"}


class Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[tuple[str, str]] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take what the tag points at, and what can be pointed at."""
        for name, value in attrs:
            if name in LINKS and value:
                self.links.append((tag, value))
            elif name in ("id", "name") and value:
                self.anchors.add(value)


@cache
def read(path: Path) -> Page:
    """Return a page, read once."""
    return Page(path.read_text(encoding="utf-8"))


def check(root: Path) -> int:
    """Print what was found; return how many links lead nowhere."""
    # a theme may keep its templates among its files
    pages = sorted(set(root.rglob("*.html")) - set(root.rglob("_static/**/*.html")))
    outside: Counter[str] = Counter()
    n_inner, broken, loaded = 0, [], []
    for page in pages:
        for tag, link in read(page).links:
            parts = urlsplit(link)
            if parts.scheme in ("data", "mailto", "javascript"):
                continue
            if parts.scheme or parts.netloc:
                outside[link] += 1
                # an address on a link is only followed by a reader who wants to
                if tag not in ("a", "link"):
                    loaded.append(f"{page.relative_to(root)}: <{tag}> loads {link}")
                continue
            n_inner += 1
            if not leads_somewhere(root, page, unquote(parts.path), parts.fragment):
                broken.append(f"{page.relative_to(root)}: {link}")
    for address, count in sorted(outside.items()):
        print(f"outside: {address} ({count}x)")
    for line in broken + loaded:
        print(f"broken: {line}")
    print(
        f"{len(pages)} pages, {n_inner} inner links, {len(broken)} broken; "
        f"{len(outside)} addresses outside, {len(loaded)} of them loaded."
    )
    return len(broken) + len(loaded)


def leads_somewhere(root: Path, page: Path, path: str, anchor: str) -> bool:
    """Whether a link within the site has a target."""
    target = page
    if path:
        target = (root / path[1:] if path[0] == "/" else page.parent / path).resolve()
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return False
    if not anchor or target.suffix != ".html":
        return True
    return unquote(anchor) in read(target.resolve()).anchors


if __name__ == "__main__":
    sys.exit(bool(check(Path(sys.argv[1]).resolve())))
