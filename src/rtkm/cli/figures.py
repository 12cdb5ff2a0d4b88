"""Numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Sequence


def figure(number: float | None, digits: int = 4) -> str:
    """Write a number with a few digits.

    Examples
    --------
    >>> [figure(x) for x in (3.0, 0.123456, 1234567.8, 99.999, 1e-9, -2.5e12, None)]
    ['3', '0.1235', '1,234,568', '100', '1e-09', '-2.5e+12', '-']
    """
    if number is None or not math.isfinite(number):
        return "-"
    rounded = float(f"{number:.{digits}g}")
    if rounded == 0:
        return "0"
    if not 1e-4 <= abs(rounded) < 1e9:
        return f"{rounded:.{digits}g}"
    if abs(rounded) >= 10 ** (digits - 1):
        return f"{number:,.0f}"
    return f"{rounded:,.{digits}g}"


def percent(share: float) -> str:
    """Write a share.

    Examples
    --------
    >>> [percent(x) for x in (0.0, 0.00004, 0.0271, 0.5, 0.99996, 1.0)]
    ['0 %', '< 0.1 %', '2.7 %', '50 %', '> 99.9 %', '100 %']
    """
    if 0 < share < 0.001:
        return "< 0.1 %"
    if 0.999 < share < 1:
        return "> 99.9 %"
    return f"{100 * share:.3g} %" if share >= 0.1 else f"{100 * share:.2g} %"


def joined(words: Sequence[str]) -> str:
    """Write an enumeration.

    Examples
    --------
    >>> joined(["a"]), joined(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join([", ".join(words[:-1])] * (len(words) > 1) + [*words[-1:]])
