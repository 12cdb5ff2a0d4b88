"""Options that several commands have, and the tables they lead to."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import Field, fields
from pathlib import Path
from typing import Any

from rtkm.cli.flags import SEED, find_method, in_help, reader_of
from rtkm.report.docstrings import explain_parameters
from rtkm.report.findings import OutlierRow
from rtkm.report.table_results import TableResults
from rtkm.table_model import TableModel
from rtkm.tables.messages import InputError
from rtkm.tables.missing import WAYS, by_column, is_policy
from rtkm.tables.reading import read_table
from rtkm.tables.scaling import SCALES
from rtkm.tables.sheet import Sheet
from rtkm.tables.streams import Stream, open_stream
from rtkm.tables.writing import STANDARD_OUTPUT

FORMATS = ".csv, .tsv or .parquet, also with .gz or .zst; - is standard output"
CHOICES = {"scale": SCALES}
LISTS = ("columns", "drop", "log", "categories")
READING = ("sep", "decimal", "quote", "encoding", "header", "skip", "sheet")


def set_up(
    parser: argparse.ArgumentParser,
    run: Callable[[argparse.Namespace], None],
    *,
    usage: str,
    description: str,
    examples: str = "",
) -> None:
    """Say what a command runs, and give it a help that teaches by examples."""
    parser.usage = f"{parser.prog} {usage}"
    parser.description = description
    parser.epilog = examples
    parser.set_defaults(run=run, parser=parser)


def add_data(parser: argparse.ArgumentParser) -> None:
    """Add the table."""
    parser.add_argument(
        "data",
        metavar="DATA",
        help="a CSV, TSV, Excel (.xlsx), ODS, JSON, JSON lines, Parquet, Arrow, "
        "Feather or .npy file, also compressed (.gz, .zst, .bz2 or .xz); - is "
        "standard input",
    )


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add what may be said about how a table is written."""
    group = parser.add_argument_group(
        "the format of a text table or workbook (detected unless given)"
    )
    group.add_argument(
        "--sep", metavar="CHARACTER", help="the character between cells, or 'tab'"
    )
    group.add_argument("--decimal", choices=[".", ","], help="the decimal mark")
    group.add_argument("--quote", metavar="CHARACTER", help="the quote character")
    group.add_argument("--encoding", help="for example utf-8, utf-16 or cp1252")
    group.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="whether the first line, or row, holds the column names",
    )
    group.add_argument(
        "--skip",
        type=whole,
        default=0,
        metavar="N",
        help="number of lines, or rows, to skip above the table (default: 0)",
    )
    group.add_argument(
        "--sheet",
        metavar="NAME",
        help="the sheet of a workbook (default: the first that is not empty)",
    )


def whole(text: str) -> int:
    """Read a whole number of at least 0."""
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not valid; expected a whole number of at least 0."
        )
    return int(text)


def add_preparation(parser: argparse.ArgumentParser) -> Any:
    """Add what may be said about columns, missing values and scale."""
    group = parser.add_argument_group("what to use")
    explained = explain_parameters(TableModel)
    for field in table_fields():
        words = in_help(explained.get(field.name, ""))
        flag, choices = f"--{field.name}", CHOICES.get(field.name)
        if field.name == "missing":
            add_missing(group, default="error")
        elif choices:
            words += f" (default: {field.default})"
            group.add_argument(flag, choices=choices, default=field.default, help=words)
        elif field.name in LISTS:
            group.add_argument(
                flag, nargs="+", action="extend", metavar="NAME", help=words
            )
        else:
            group.add_argument(flag, metavar="COLUMN", help=words)
    return group


def table_fields() -> Iterator[Field[Any]]:
    """Return the parameters of a table model but for its estimator."""
    return (field for field in fields(TableModel) if field.name != "estimator")


def add_sample_weight(parser: Any) -> None:
    """Add the column that weighs rows."""
    parser.add_argument(
        "--sample-weight",
        metavar="COLUMN",
        help="the column that says what each row counts for",
    )


def table_model(estimator: Any, options: argparse.Namespace) -> TableModel:
    """Return the model of a table that the options ask for."""
    given = {field.name: getattr(options, field.name) for field in table_fields()}
    log = "auto" if given["log"] == ["auto"] else given["log"] or ()
    names = {name: given[name] or () for name in ("drop", "categories")}
    return TableModel(estimator, **(given | names | {"log": log}))


def output_path(text: str) -> Path:
    """Read the name of a file to write to."""
    return Path(STANDARD_OUTPUT if text == "/dev/stdout" else text)


def add_output(parser: Any, what: str) -> None:
    """Add the file that rows are written to."""
    parser.add_argument("--output", type=output_path, metavar="FILE", help=what)


def add_memory(parser: Any) -> None:
    """Add the memory that tables may take."""
    parser.add_argument(
        "--memory",
        metavar="SIZE",
        help="such as 2GB: a table that needs more is read in parts, as are many files "
        "(default: a quarter of the memory that is available)",
    )


def add_seed(parser: Any) -> None:
    """Add what makes chance repeatable."""
    parser.add_argument(
        "--seed",
        type=reader_of(find_method("RTKM"), "random_state"),
        default=SEED,
        metavar="VALUE",
        help=f"makes it repeatable (default: {SEED})",
    )


def add_quiet(parser: Any) -> None:
    """Add the wish for silence."""
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")


def add_id(parser: Any) -> None:
    """Add the column that names rows."""
    parser.add_argument(
        "--id", metavar="COLUMN", help="the column that holds the names of the rows"
    )


class ReadMissing(argparse.Action):
    """Read what becomes of missing cells, in all columns or in one; each time adds."""

    def __call__(
        self, parser: Any, namespace: Any, text: Any, option_string: str | None = None
    ) -> None:
        """Join it to what was said before."""
        name, _, way = text.rpartition("=")
        said = way if not name else {name: way}
        if not is_policy(said):
            parser.error(
                f"argument --missing: invalid choice: {text!r} (choose from "
                f"{', '.join(WAYS)}, or NAME=one of these for a column)"
            )
        before = getattr(namespace, self.dest)
        if name and before is not None:
            said = by_column(before) | said
        elif isinstance(before, dict):
            said = before | by_column(way)
        setattr(namespace, self.dest, said)


def add_missing(parser: Any, default: str | None) -> None:
    """Add what becomes of missing cells."""
    parser.add_argument(
        "--missing",
        action=ReadMissing,
        default=default,
        metavar="WAY or NAME=WAY",
        help="missing cells: stop (error), leave the row out (drop), or fill in the "
        "column's median (median), in all columns or in one; can be repeated "
        f"(default: {default or 'as when fitted'})",
    )


def missing_words(missing: Any) -> list[str]:
    """Return what becomes of missing cells, as it was typed."""
    if missing is None:
        return []
    if isinstance(missing, str):
        return [f"--missing={missing}"]
    return [f"--missing={name}={way}" for name, way in missing.items()]


def spoken(options: argparse.Namespace) -> list[str]:
    """Return how a table is to be read, as it was typed."""
    words = []
    for name in READING:
        value = getattr(options, name)
        if isinstance(value, bool):
            words.append(f"--{name}" if value else f"--no-{name}")
        elif value:
            words.append(f"--{name}={value}")
    return words


def explain_command(
    options: argparse.Namespace,
    model: Any,
    answers: TableResults,
    rows: Sequence[OutlierRow],
    more: Sequence[str] = (),
) -> str:
    """Return the command that tells more about the first of some rows."""
    words = ["rtkm", "explain", str(model), options.data, *spoken(options)]
    for name in more:
        value = getattr(options, name)
        if name == "missing":
            words += missing_words(value)
        elif value is not None:
            words.append(f"--{name}={value}")
    if rows:
        id = rows[0]["id"]
        # an id that is nothing to type, or of several rows, goes by its number
        is_plain = id is not None and id.isprintable() and not id.startswith("-")
        is_plain = is_plain and len(answers.rows_called(str(id))) == 1
        words += ["--row", id if is_plain else str(rows[0]["row"])]
    return shlex.join(words)


def read(options: argparse.Namespace) -> Sheet:
    """Read the table that the options name."""
    return read_table(options.data, **said_of_reading(options))


def said_of_reading(options: argparse.Namespace) -> dict[str, Any]:
    """Return what was said about how a table is written."""
    said = {name: getattr(options, name) for name in READING}
    if said["sep"] == "tab":
        said["sep"] = "\t"
    return said


def open_parts(options: argparse.Namespace) -> Stream:
    """Open the table that the options name to be read in parts."""
    said = said_of_reading(options)
    if said.pop("sheet") is not None:
        raise InputError(
            f"--sheet {options.sheet}: {options.data} is read in parts, and workbooks "
            "cannot be; convert the sheet to CSV or Parquet."
        )
    return open_stream(options.data, options.memory, is_quiet=options.quiet, **said)
