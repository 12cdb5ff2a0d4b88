"""What methods are called: in the cells, in the paper, and for readers."""

from __future__ import annotations

from typing import Any

DEFAULT = "RTKM, default"  # how the method RTKM under "as described" is looked up
LABELS = {
    "RTKM, step 1.1": "RTKM as described (step 1.1)",
    DEFAULT: "RTKM, default solver",
    "RTKM, no swaps": "hard trimming, no swaps",
    "RTKM, s + 1": "RTKM, one membership more",
    "NEO": "NEO-k-means",
    "NEO, raw start": "NEO-k-means, raw start",
    "moc": "MOC",
    "fuzzy": "fuzzy c-means",
    "esp": "ESP",
    "isp": "ISP",
    "okm": "OKM",
    "rokm": "R-OKM",
    "truth": "true outliers",
}


def looked_up(method: str, protocol: str) -> str:
    """Return where a method's looks are found: RTKM is not the same everywhere.

    Under "as described" it is the solver of this library and "RTKM, step 1.1" that of
    the paper, which "as published" is the only one.
    """
    return DEFAULT if (method, protocol) == ("RTKM", "as described") else method


def label(method: str, protocol: str = "as described") -> str:
    """Return a method's name for readers."""
    name = looked_up(method, protocol)
    gamma = "\N{GREEK SMALL LETTER GAMMA}\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"
    return LABELS.get(name, name.replace("gamma ", gamma))


def published_name(method: str, protocol: str) -> str | None:
    """Return under which name the paper has a method, if it may have it at all."""
    if method.startswith("RTKM"):
        own = "RTKM" if protocol == "as published" else "RTKM, step 1.1"
        return "RTKM" if method == own else None
    return method.removesuffix(", raw start")


def in_order(methods: dict[str, Any]) -> dict[str, Any]:
    """Put the paper's own method first, where it can be seen."""
    return dict(sorted(methods.items(), key=lambda item: item[0] != "RTKM, step 1.1"))
