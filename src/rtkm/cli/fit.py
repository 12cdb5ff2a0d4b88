"""rtkm fit: from a table to its clusters and outliers."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence

from rtkm.cli import options as shared
from rtkm.cli.choose import add_choosing, choose_missing
from rtkm.cli.files import check_files, terminal_for, where, write_together
from rtkm.cli.fit_parts import run_in_parts
from rtkm.cli.fit_steps import Stopwatch, fit, unchosen
from rtkm.cli.flags import add_flags, find_method, parameters_given, table_flags
from rtkm.cli.written import (
    add_findings,
    answer_writers,
    check_written,
    findings_writers,
    writer,
)
from rtkm.models.encoding import refuse_rows
from rtkm.models.files import as_bytes
from rtkm.report.collect import find, resample
from rtkm.report.findings import Findings
from rtkm.report.page import render
from rtkm.report.table_results import TableResults, results_of_fit
from rtkm.report.terminal_report import tell_findings
from rtkm.table_model import TableModel
from rtkm.tables.sheet import Sheet
from rtkm.tables.streams import needs_parts

DEFAULT_METHOD = "RTKM"

DESCRIPTION = """\
Find the clusters of a table, the rows that belong to several of them, and the outliers
that belong to none.
"""

EXAMPLES = """\
examples:
  rtkm fit patients.csv
      as many clusters and outliers as the table shows; nothing is written
  rtkm fit patients.csv --report patients.html
      the same as a page to read and to send
  rtkm fit patients.csv -k 3 --contamination 0.02 --report patients.html
      three clusters and 2 % outliers, if you know that; -k 2-6 chooses among these
  rtkm fit patients.csv --id name --drop year --output found.csv
      every row with its label, outlier score and confidence
  rtkm fit genes.tsv -k 14 --memberships 2
      every row in two clusters
  rtkm fit 'data/*.parquet' --memory 2GB --model model.rtkm
      many files, a folder, or a file larger than memory: read in parts, to the same
  rtkm fit patients.csv --method KMOR --help
      the options of another method; `rtkm methods` lists them all

Clusters are groups with a gap between them; `rtkm choose` shows how they were counted.
"""


def add(parser: argparse.ArgumentParser, method: type) -> None:
    """Add the arguments of the command, among them the flags of a method."""
    shared.set_up(
        parser,
        run,
        usage="DATA [options]",
        description=DESCRIPTION,
        examples=EXAMPLES,
    )
    shared.add_data(parser)
    parser.add_argument(
        "--method",
        default=DEFAULT_METHOD,
        help=f"one of those that `rtkm methods` lists (default: {DEFAULT_METHOD})",
    )
    add_flags(parser, method)
    add_choosing(parser)
    shared.add_sample_weight(shared.add_preparation(parser))
    add_written(parser)
    shared.add_reading(parser)


def method_in(arguments: Sequence[str]) -> type:
    """Return the method that is named, whose flags the parser must know."""
    glance = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    glance.add_argument("--method", nargs="?")
    name = glance.parse_known_args(arguments)[0].method
    return find_method(name or DEFAULT_METHOD)


def add_written(parser: argparse.ArgumentParser) -> None:
    """Add the files that are written."""
    group = parser.add_argument_group("what to write")
    shared.add_output(
        group,
        "the rows with label, memberships, outlier, score and confidence; "
        f"{shared.FORMATS}; of many files, a folder for a file of the same name each",
    )
    add_findings(group)
    group.add_argument(
        "--model",
        type=shared.output_path,
        metavar="FILE",
        help="the model, for `rtkm predict` and `rtkm explain`; usually .rtkm",
    )
    shared.add_memory(group)
    shared.add_quiet(group)


def run(options: argparse.Namespace) -> None:
    """Read, fit, tell and write."""
    if needs_parts(options.data, options.memory):
        run_in_parts(options)
        return
    terminal = terminal_for(options)
    method = find_method(options.method)
    given = parameters_given(options, method)
    model = shared.table_model(method(**unchosen(given, method)), options)
    if options.model is not None:
        refuse_rows(method)
    watch = Stopwatch()
    with watch.timing("read"):
        sheet = shared.read(options)
    check_files(options, sheet)
    check_written(options, sheet)
    with watch.timing("prepare"):
        prepared = model.prepare(sheet, options.sample_weight)
    notes = [sheet.summary(), *sheet.notes, *table_flags(prepared.notes)]
    terminal.say("\n".join(notes))
    with watch.timing("choose"):
        choice = choose_missing(options, method, given, prepared)
    model.estimator.set_params(**given)
    with watch.timing("fit"):
        warned = fit(model, prepared, terminal, choice)
    terminal.say("\n".join(warned))
    notes += warned
    answers = results_of_fit(model.estimator_, prepared)
    with watch.timing("resample"):
        stability = resample(answers)
    with watch.timing("explain"):
        findings = find(
            answers,
            sheet,
            command=options.command_line,
            notes=notes,
            choice=choice,
            stability=stability,
        )
    findings["seconds"] = watch.seconds
    tell_findings(terminal, findings)
    for line in write_files(options, sheet, model, answers, findings):
        terminal.say(line)
    terminal.print(next_step(options, answers, findings))


# Files


def write_files(
    options: argparse.Namespace,
    sheet: Sheet,
    model: TableModel,
    answers: TableResults,
    findings: Findings,
) -> list[str]:
    """Write what was asked for, all or nothing, and tell of it."""
    writers, told = answer_writers(options, sheet, answers)
    more, also = findings_writers(options, findings, lambda: render(findings))
    writers |= more
    told += also
    if options.model is not None:
        command = {"command": options.command_line}
        writers[options.model] = writer(as_bytes(model, command))
        told.append(f"The model is in {where(options.model)}.")
    return [*write_together(writers), *told]


def next_step(
    options: argparse.Namespace, answers: TableResults, findings: Findings
) -> str:
    """Return the command to try next."""
    if options.report is None:
        return f"Next: {options.command_line} --report report.html"
    if options.model is None:
        return f"Next: {options.command_line} --model model.rtkm"
    if not findings["clusters"]:
        return f"Next: rtkm predict {shlex.join([str(options.model), options.data])}"
    rows = findings["outliers"]["rows"]
    return f"Next: {shared.explain_command(options, options.model, answers, rows)}"
