"""What `rtkm fit` and `rtkm predict` write of what they found."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from rtkm.cli import options as shared
from rtkm.cli.files import check_model, check_page, where
from rtkm.report.table_results import TableResults
from rtkm.report.templating import make_environment
from rtkm.tables.sheet import Sheet
from rtkm.tables.writing import answer_table, check_output, write_beside

Writer = Callable[[BinaryIO], object]


def add_findings(group: Any) -> None:
    """Add the page, and the same for programs."""
    group.add_argument(
        "--report",
        type=shared.output_path,
        metavar="FILE.html",
        help="a page that shows it all",
    )
    group.add_argument(
        "--json",
        type=shared.output_path,
        metavar="FILE",
        help="all that was found, for programs",
    )


def check_written(options: argparse.Namespace, sheet: Sheet) -> None:
    """Refuse files that cannot be made, and say what is missing before the work."""
    if options.output is not None:
        check_output(options.output, sheet)
    if options.report is not None:
        check_page(options.report)
        make_environment()
    if isinstance(getattr(options, "model", None), Path):  # and is not read
        check_model(options.model)


def answer_writers(
    options: argparse.Namespace, sheet: Sheet, answers: TableResults
) -> tuple[dict[Path, Writer], list[str]]:
    """Return what writes the rows with their answers, if asked for, and tell of it."""
    if options.output is None:
        return {}, []
    prepared = answers.prepared
    table, told = answer_table(
        sheet, answers.columns(), prepared.kept, prepared.reasons
    )

    def write(stream: BinaryIO) -> None:
        write_beside(stream, options.output, sheet, table)

    told = [*told, f"Rows and answers are in {where(options.output)}."]
    return {options.output: write}, told


def findings_writers(
    options: argparse.Namespace, findings: Mapping[str, Any], page: Callable[[], str]
) -> tuple[dict[Path, Writer], list[str]]:
    """Return what writes the page and the findings, as asked for, and tell of it."""
    writers: dict[Path, Writer] = {}
    told = []
    if options.report is not None:
        writers[options.report] = writer(page().encode())
        told.append(f"The report is in {where(options.report)}.")
    if options.json is not None:
        writers[options.json] = writer(json.dumps(findings, allow_nan=False).encode())
        told.append(f"The findings are in {where(options.json)}.")
    return writers, told


def writer(content: bytes) -> Writer:
    """Return what writes a content."""
    return lambda stream: stream.write(content)
