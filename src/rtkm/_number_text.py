"""Numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

UNKNOWN = "-"


def known(value: object) -> float | None:
    """Return a number, or None where there is none.

    Examples
    --------
    >>> known(3), known(None), known("3"), known(float("nan"))
    (3.0, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def all_known(values: Iterable[object]) -> list[float]:
    """Return the numbers among values."""
    return [found for found in map(known, values) if found is not None]


def figure(value: object, digits: int = 4, unknown: str = UNKNOWN) -> str:
    """Write a number with few digits, thousands apart.

    Examples
    --------
    >>> figure(1234567), figure(0.0123456), figure(-2.5), figure(1e300), figure(None)
    ('1,234,567', '0.01235', '-2.5', '1e300', '-')
    """
    number = known(value)
    if number is None:
        return unknown
    if number == 0:
        return "0"
    if not 1e-4 <= abs(number) < 1e15:
        return scientific(number, digits)
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(number))))
    return trimmed(f"{number:,.{decimals}f}")


def scientific(value: float, digits: int) -> str:
    """Write a number that is very large or very small."""
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{trimmed(mantissa)}e{int(exponent)}"


def trimmed(text: str) -> str:
    """Leave out the zeros at the end of a fraction."""
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: object, unknown: str = UNKNOWN) -> str:
    """Write a share in percent.

    Examples
    --------
    >>> [percent(share) for share in (0.5, 0.0274, 0.00001, 0.9999, 1, None)]
    ['50 %', '2.7 %', '< 0.1 %', '> 99.9 %', '100 %', '-']
    """
    number = known(share)
    if number is None:
        return unknown
    if 0 < number < 0.001:
        return "< 0.1 %"
    if 0.999 < number < 1:
        return "> 99.9 %"
    decimals = 0 if 0.1 <= number < 0.99 else 1
    return trimmed(f"{100 * number:.{decimals}f}") + " %"


def percent_said(share: object) -> str:
    """Write a share in percent, as it is said in the middle of a sentence.

    Examples
    --------
    >>> [percent_said(share) for share in (0.5, 0.00001, 0.9999)]
    ['50 %', 'less than 0.1 %', 'more than 99.9 %']
    """
    text = percent(share)
    return text.replace("< ", "less than ").replace("> ", "more than ")


def alike(
    values: Sequence[object], size: float, digits: int = 3, unknown: str = UNKNOWN
) -> list[str]:
    """Write numbers that are read together with the same number of decimals.

    Parameters
    ----------
    values : sequence
        The numbers; None where there is none.
    size : float
        How large a difference matters: it is written with `digits` digits.
    digits : int
        Digits of a number as large as `size`.
    unknown : str
        What is written where there is no number.

    Examples
    --------
    >>> alike([1, 12.345], size=11), alike([0.25, 1e-9], size=1)
    (['1.0', '12.3'], ['0.25', '1e-9'])
    """
    numbers = [known(value) for value in values]
    sizes = [abs(number) for number in numbers if number]
    if not sizes or min(sizes) < 1e-4 or max(sizes) >= 1e7 or size <= 0:
        return [figure(number, unknown=unknown) for number in numbers]
    decimals = max(0, min(6, digits - 1 - math.floor(math.log10(size))))
    return [fixed(number, decimals, unknown) for number in numbers]


def fixed(value: object, decimals: int = 4, unknown: str = UNKNOWN) -> str:
    """Write a number with so many decimals, thousands apart.

    Examples
    --------
    >>> fixed(0.25), fixed(1234.5, 2), fixed(-0.001, 0), fixed(None)
    ('0.2500', '1,234.50', '0', '-')
    """
    number = known(value)
    if number is None:
        return unknown
    # adding nothing makes a rounded -0 a 0
    return f"{round(number, decimals) + 0.0:,.{decimals}f}"


def joined(words: Sequence[str], last: str = "and") -> str:
    """Write an enumeration.

    Examples
    --------
    >>> joined(["a"]), joined(["a", "b", "c"]), joined(["a", "b"], "or")
    ('a', 'a, b and c', 'a or b')
    """
    return f" {last} ".join([", ".join(words[:-1])] * (len(words) > 1) + [*words[-1:]])


def counted(number: int, noun: str) -> str:
    """Write a number of things.

    Examples
    --------
    >>> counted(1, "row"), counted(1234, "row")
    ('1 row', '1,234 rows')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def ordinal(place: int) -> str:
    """Write a place in an order.

    Examples
    --------
    >>> [ordinal(place) for place in (1, 2, 3, 4, 11, 12, 21, 1113)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '21st', '1,113th']
    """
    ending = {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place:,}{'th' if place % 100 in (11, 12, 13) else ending}"


def multiple(times: object, unknown: str = UNKNOWN) -> str:
    """Write how many times something else a number is.

    Examples
    --------
    >>> [multiple(times) for times in (3.21, 0.456, 34.5, 7481571217.3, None)]
    ['3.2', '0.46', '34', '7.5e9', '-']
    >>> multiple(1.0)
    '1.0'
    """
    number = known(times)
    if number is not None and number >= 1e6:
        return scientific(number, 2)
    if number is not None and 1 <= number < 9.95:
        return fixed(number, 1)  # 1.0 is no round number here
    return figure(number, 2, unknown)
