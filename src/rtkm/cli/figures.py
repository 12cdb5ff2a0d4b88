"""Numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

UNKNOWN = "-"


def known(value: Any) -> float | None:
    """Return a number, or None where there is none.

    Examples
    --------
    >>> known(3), known(None), known("3"), known(float("nan"))
    (3.0, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def figure(value: Any, digits: int = 4, unknown: str = UNKNOWN) -> str:
    """Write a number with few digits, thousands apart.

    Examples
    --------
    >>> figure(1234567), figure(0.0123456), figure(-2.5), figure(1e300), figure(None)
    ('1,234,567', '0.01235', '-2.5', '1e300', '-')
    """
    value = known(value)
    if value is None:
        return unknown
    if value == 0:
        return "0"
    if not 1e-4 <= abs(value) < 1e15:
        return scientific(value, digits)
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return trimmed(f"{value:,.{decimals}f}")


def scientific(value: float, digits: int) -> str:
    """Write a number that is very large or very small."""
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{trimmed(mantissa)}e{int(exponent)}"


def trimmed(text: str) -> str:
    """Leave out the zeros at the end of a fraction."""
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: Any, unknown: str = UNKNOWN) -> str:
    """Write a share in percent.

    Examples
    --------
    >>> [percent(share) for share in (0.5, 0.0274, 0.00001, 0.9999, 1, None)]
    ['50 %', '2.7 %', '< 0.1 %', '> 99.9 %', '100 %', '-']
    """
    share = known(share)
    if share is None:
        return unknown
    if 0 < share < 0.001:
        return "< 0.1 %"
    if 0.999 < share < 1:
        return "> 99.9 %"
    decimals = 0 if 0.1 <= share < 0.99 else 1
    return trimmed(f"{100 * share:.{decimals}f}") + " %"


def joined(words: Sequence[str]) -> str:
    """Write an enumeration.

    Examples
    --------
    >>> joined(["a"]), joined(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join([", ".join(words[:-1])] * (len(words) > 1) + [*words[-1:]])
