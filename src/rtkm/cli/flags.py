"""Flags of a method, from the declarations of its parameters."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import Field, fields
from functools import cache
from typing import Any

from rtkm._registry import METHODS, find_class
from rtkm.core.params import Auto, Count, Counts, check_value, hints_of
from rtkm.report.docstrings import explain_parameters, first_sentence
from rtkm.seeding import SEEDINGS
from rtkm.tables.messages import InputError, nearest

# parameters that are known by another name than their own
NAMES = {
    "n_clusters": ["-k", "--clusters"],
    "n_memberships": ["-s", "--memberships"],
    "random_state": ["--seed"],
}
OUTLIERS = "--contamination"
CLUSTERS_HELP = "number of clusters, or numbers to choose from: 2-6 or 2,3,5"
SHARED = {"init", "n_init", "max_iter", "tol"}  # how any method descends
SEED = 0  # so that the same command gives the same answer
# objects, what the progress bar shows, and what is for new rows only
NOT_TYPED = {"clusterer", "on_step", "verbose", "novelty"}
CONSTANTS = {"none": None, "true": True, "false": False}


@cache
def methods() -> dict[str, type]:
    """Return all methods that a table can be shown to, by name."""
    return {
        name: find_class(name)
        for name, method in METHODS.items()
        if method.kind != "adapter"
    }


def find_method(name: str) -> type:
    """Return the method of a name, however its letters are written.

    Examples
    --------
    >>> find_method("kmor").__name__, find_method("trimmed-k-means").__name__
    ('KMOR', 'TrimmedKMeans')
    """
    by_letters = {letters(known): known for known in methods()}
    if letters(name) not in by_letters:
        raise InputError(
            f"--method {name}: there is no such method; "
            f"{nearest(name, list(methods()))} `rtkm methods` lists all."
        )
    return methods()[by_letters[letters(name)]]


def letters(name: str) -> str:
    """Return what of a name tells it from others."""
    return re.sub("[-_ ]", "", name).casefold()


def typed_fields(method: type) -> Iterator[Field[Any]]:
    """Return the parameters that can be written on a command line."""
    declared: Any = method
    return (field for field in fields(declared) if field.name not in NOT_TYPED)


def flags_of(method: type, name: str) -> list[str]:
    """Return the flags of a parameter, the one for people first.

    Examples
    --------
    >>> kmor = find_method("KMOR")
    >>> flags_of(kmor, "max_outliers"), flags_of(kmor, "n_clusters")
    (['--max-outliers', '--contamination'], ['-k', '--clusters'])
    """
    flags = NAMES.get(name, ["--" + name.replace("_", "-")])
    if name == getattr(method, "_outliers_by", "") and OUTLIERS not in flags:
        flags = [*flags, OUTLIERS]
    return flags


def add_flags(parser: argparse.ArgumentParser, method: type) -> None:
    """Add a flag for each parameter of a method."""
    group = parser.add_argument_group(f"how {method.__name__} is to find them")
    explained = explain_parameters(method)
    for field in sorted(typed_fields(method), key=lambda field: rank(method, field)):
        flags = flags_of(method, field.name)
        words = in_help(explained.get(field.name, ""))
        options: dict[str, Any] = {"dest": field.name, "default": argparse.SUPPRESS}
        if isinstance(field.default, bool):
            options["action"] = argparse.BooleanOptionalAction
        elif field.name == "init":
            options["choices"] = list(SEEDINGS)
            words = words.partition(":")[0]
        elif field.name == "n_clusters":
            options |= {"type": read_clusters, "metavar": "K"}
            words = CLUSTERS_HELP
        else:
            options["type"] = reader_of(method, field.name, or_auto=OUTLIERS in flags)
            options["metavar"] = "VALUE"
        group.add_argument(*flags, help=(words + default_of(field)).strip(), **options)


def in_help(words: str) -> str:
    """Return the first sentence of a docstring, as help is written.

    Examples
    --------
    >>> in_help("Most clusters of a row (s above), or 5 %. More is too much.")
    'most clusters of a row, or 5 %%'
    """
    words = first_sentence(re.sub(r" \(\w+ above\)", "", words)).replace("%", "%%")
    return words[:1].lower() + words[1:]


def rank(method: type, field: Field[Any]) -> int:
    """Return the place of a parameter in the help: what matters most comes first."""
    flags = flags_of(method, field.name)
    if OUTLIERS in flags:
        return 1
    if field.name in NAMES:
        return 2 * list(NAMES).index(field.name)
    return 9 if field.name in SHARED else 8


def default_of(field: Field[Any]) -> str:
    """Return what is in force where a flag is not given."""
    if field.name == "n_clusters":
        return " (default: auto)"
    default = SEED if field.name == "random_state" else field.default
    return f" (default: {default})"


def read_clusters(text: str) -> Any:
    """Read a number of clusters, or numbers to choose from.

    Examples
    --------
    >>> read_clusters("3"), read_clusters("2-6"), read_clusters("2,3,5")
    (3, range(2, 7), [2, 3, 5])
    """
    value: Any = None
    ends = text.split("-")
    if text.casefold() == "auto":
        return "auto"
    if len(ends) == 2 and all(is_whole(end) for end in ends):
        value = range(int(ends[0]), int(ends[1]) + 1)
    elif all(is_whole(part) for part in text.split(",")):
        numbers = [int(part) for part in text.split(",")]
        value = numbers if len(numbers) > 1 else numbers[0]
    try:
        check_value("n_clusters", value, Count | Counts, "")
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text} is not valid; expected a number of at least 1, such as 3, or "
            "numbers to choose from, such as 2-6 or 2,3,5, or auto."
        ) from None
    return value


def is_whole(text: str) -> bool:
    """Whether a text is a whole number that a computer can count to."""
    return text.isascii() and text.isdigit() and len(text) < 10


def add_clusters(group: Any) -> None:
    """Add the number of clusters to a command that has no method."""
    group.add_argument(
        *NAMES["n_clusters"],
        dest="n_clusters",
        type=read_clusters,
        default="auto",
        metavar="K",
        help=f"{CLUSTERS_HELP} (default: auto)",
    )


def reader_of(method: type, name: str, or_auto: bool = False) -> Callable[[str], Any]:
    """Return what makes a parameter of a method of the text behind a flag."""
    hint = hints_of(method)[name]
    return reader_for(name, Auto | hint if or_auto else hint, method.__name__)


def reader_for(name: str, hint: Any, owner: str) -> Callable[[str], Any]:
    """Return what makes a value of some type of the text behind a flag."""

    def read(text: str) -> Any:
        for value in readings(text):
            try:
                check_value(name, value, hint, owner)
            except ValueError as error:
                # a command line has numbers and words, no objects of Python
                reason = str(error).partition("expected ")[2]
                reason = reason.replace("None, ", "").replace(", or a RandomState", "")
                continue
            return value
        meant = english(text)
        raise argparse.ArgumentTypeError(
            f"{text} is not valid; expected {reason}"
            + (f" Did you mean {meant}?" if meant else "")
        )

    return read


def english(text: str) -> str:
    """Return the number that another way of writing stands for, if it is one.

    Examples
    --------
    >>> english("0,05"), english("5%"), english("five")
    ('0.05', '0.05', '')
    """
    try:
        value = float(text.rstrip("% ").replace(",", "."))
    except ValueError:
        return ""
    if text.endswith("%"):
        return f"{value / 100:g}"
    return f"{value:g}" if "," in text else ""


def readings(text: str) -> Iterator[Any]:
    """Return all that a text may stand for, the likeliest first.

    Examples
    --------
    >>> list(readings("3")), list(readings("auto")), list(readings("none"))
    ([3, 3.0, '3'], ['auto'], [None, 'none'])
    """
    if text.casefold() in CONSTANTS:
        yield CONSTANTS[text.casefold()]
    for kind in (int, float):
        try:
            yield kind(text)
        except ValueError:
            pass
    yield text


def parameters_given(options: argparse.Namespace, method: type) -> dict[str, Any]:
    """Return the parameters of a method that its flags set."""
    return {
        field.name: getattr(options, field.name)
        for field in typed_fields(method)
        if hasattr(options, field.name)
    }


def in_flags(message: str, method: type) -> str:
    """Put a message about parameters into the words of a command line.

    Examples
    --------
    >>> rtkm = find_method("RTKM")
    >>> in_flags("n_clusters=9 is too many; X has n_samples=4.", rtkm)
    '-k 9 is too many; the table has 4 rows.'
    """
    message = re.sub(r"\bX has n_samples=(\d+)", r"the table has \1 rows", message)
    for field in typed_fields(method):
        flag = flags_of(method, field.name)[0]
        message = re.sub(rf"\b{field.name}=", f"{flag} ", message)
        if "_" in field.name:
            message = re.sub(rf"\b{field.name}\b", flag, message)
    return message


# parameters of a table model, as messages write them: missing='drop', or drop=
TABLE_PARAMETER = re.compile(
    r"\b(columns|drop|id|missing|scale|log|categories|sample_weight|truth)="
    r"(?:'([^']*)')?"
)


def table_flags(messages: Iterable[str]) -> list[str]:
    """Put messages about a table into the words of a command line.

    Examples
    --------
    >>> table_flags(["1 missing value; say missing='drop', or leave it out by drop=."])
    ['1 missing value; say --missing drop, or leave it out by --drop.']
    """

    def as_flag(found: re.Match[str]) -> str:
        flag = "--" + found[1].replace("_", "-")
        return f"{flag} {found[2]}" if found[2] else flag

    return [TABLE_PARAMETER.sub(as_flag, message) for message in messages]


def owners_of(flag: str) -> list[str]:
    """Return the methods that have a flag."""
    return [
        name
        for name, method in methods().items()
        if any(flag in flags_of(method, field.name) for field in typed_fields(method))
    ]
