"""rtkm choose: how many clusters and outliers a table has, and how sure that is."""

from __future__ import annotations

import argparse
import inspect
import json
import shlex
from dataclasses import replace
from typing import Any

from sklearn.utils import check_random_state

from rtkm._number_text import percent
from rtkm.choosing.choice import Choice
from rtkm.choosing.steps import CHOOSING, choose, choose_for
from rtkm.cli import options as shared
from rtkm.cli.files import (
    check_files,
    check_places,
    paths_of,
    target_of,
    terminal_for,
    where,
    write_together,
)
from rtkm.cli.flags import (
    OUTLIERS,
    SEED,
    add_clusters,
    find_method,
    flags_of,
    in_flags,
    in_help,
    reader_for,
    reader_of,
    table_flags,
    typed_fields,
)
from rtkm.cli.terminal import Terminal
from rtkm.core.sources import partitioned
from rtkm.core.table import Table
from rtkm.core.validation import make_table
from rtkm.report.choices import choice_findings
from rtkm.report.docstrings import explain_parameters
from rtkm.report.findings import ChoiceFindings, Trial
from rtkm.report.stream_findings import MOST_SAMPLED
from rtkm.tables.fitted_preparation import Prepared
from rtkm.tables.messages import InputError
from rtkm.tables.prepared_parts import PreparedParts
from rtkm.tables.streams import needs_parts

DESCRIPTION = """\
Choose how many clusters and outliers a table has, and say how sure that is. `rtkm fit`
does the same by itself, and fits.
"""

EXAMPLES = """\
examples:
  rtkm choose patients.csv
      how many clusters and outliers, and what else it could be
  rtkm choose patients.csv -k 2-6
      the best of these numbers
  rtkm choose patients.csv -k 3
      how many outliers, if there are three clusters

Two groups are two clusters if clearly fewer rows lie between them than around either;
groups far smaller than the rest count as outliers. Rows farther out than the shape of
their cluster explains are outliers, cut so that about one flag in seven is a false
alarm, and none if they look like mere heavy tails.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.set_up(
        parser,
        run,
        usage="DATA [options]",
        description=DESCRIPTION,
        examples=EXAMPLES,
    )
    shared.add_data(parser)
    group = parser.add_argument_group("what is known")
    rtkm = find_method("RTKM")
    add_clusters(group)
    group.add_argument(
        OUTLIERS,
        type=reader_of(rtkm, "contamination"),
        default="auto",
        metavar="VALUE",
        help="outliers: a share, or a number of rows (default: auto)",
    )
    shared.add_seed(group)
    add_choosing(parser)
    shared.add_sample_weight(shared.add_preparation(parser))
    group = parser.add_argument_group("what to write")
    group.add_argument(
        "--json",
        type=shared.output_path,
        metavar="FILE",
        help="all that was found, for programs",
    )
    shared.add_memory(group)
    shared.add_quiet(group)
    shared.add_reading(parser)


def add_choosing(parser: argparse.ArgumentParser) -> None:
    """Add what is in force where numbers are chosen."""
    group = parser.add_argument_group("how numbers that are not given are chosen")
    explained, defaults = explain_parameters(choose), inspect.signature(choose)
    for name in CHOOSING:
        words = in_help(explained.get(name, ""))
        default = defaults.parameters[name].default
        group.add_argument(
            "--" + name.replace("_", "-"),
            type=reader_for(name, CHOOSING[name], "choose"),
            default=default,
            metavar="VALUE",
            help=f"{words} (default: {default})",
        )


def run(options: argparse.Namespace) -> None:
    """Read, choose and tell."""
    terminal = terminal_for(options)
    if needs_parts(options.data, options.memory):
        choice, prepared = choose_in_parts(options, terminal)
    else:
        sheet = shared.read(options)
        check_files(options, sheet)
        model = shared.table_model(None, options)
        prepared = model.prepare(sheet, options.sample_weight)
        notes = [sheet.summary(), *sheet.notes, *table_flags(prepared.notes)]
        terminal.say("\n".join(notes))
        choice = choose_for_options(options, prepared)
    found = choice_findings(choice, prepared, with_curves=options.json is not None)
    terminal.skip()
    terminal.say("\n".join(found["summary"]))
    tell_trials(terminal, found)
    if options.json is not None:
        content = json.dumps(found, allow_nan=False).encode()
        told = write_together({options.json: lambda stream: stream.write(content)})
        terminal.say("\n".join([*told, f"The choice is in {where(options.json)}."]))
    terminal.skip()
    terminal.print(f"Next: {fit_command(options)}")


def choose_for_options(
    options: argparse.Namespace, prepared: Prepared | PreparedParts
) -> Choice:
    """Choose what the options leave open."""
    return choose_with(
        options, prepared, options.n_clusters, options.contamination, options.seed
    )


def choose_in_parts(
    options: argparse.Namespace, terminal: Terminal
) -> tuple[Choice, Prepared]:
    """Choose for a table that is read in parts; return some of its rows, too."""
    if options.sample_weight is not None:
        raise InputError(
            f"--sample-weight: {options.data} is read in parts, whose rows have no "
            "weights; repeat rows instead, or raise --memory so that it is read at "
            "once."
        )
    with shared.open_parts(options) as stream:
        read = [target_of(f.source.path) for f in stream.files if f.source.path]
        check_places(options, paths_of(options), read)
        terminal.say("\n".join([stream.summary(), *stream.notes]))
        model = shared.table_model(None, options)
        prepared = model.prepare_parts(stream, is_quiet=terminal.stream is None)
        terminal.say("\n".join(table_flags(prepared.notes)))
        choice = choose_for_options(options, prepared)
        # what other numbers would cost is told by a sample
        return choice, prepared.some(prepared.sampled(MOST_SAMPLED))


def fit_command(options: argparse.Namespace) -> str:
    """Return the command that fits to the same table, chosen and prepared alike."""
    _, _, *words = shlex.split(options.command_line)
    if "--json" in words:  # holds the choice, and would be overwritten
        place = words.index("--json")
        del words[place : place + 2]
    words = [word for word in words if not word.startswith("--json=")]
    return shlex.join(["rtkm", "fit", *words])


def tell_trials(terminal: Terminal, choice: ChoiceFindings) -> None:
    """Print what each number of cells showed."""
    if not choice["trials"]:
        return
    terminal.skip()
    terminal.say(
        "How they were counted: the rows are cut into more and more cells, and cells "
        "with no gap between them are one group. Stable is the share of rows that two "
        "halves of the table put into the same cell. All of it is done twice."
    )
    by_cells: dict[int, list[Trial]] = {}
    for trial in choice["trials"]:
        by_cells.setdefault(trial["n_cells"], []).append(trial)
    terminal.table(
        ["cells", "groups", "stable"],
        [
            [
                str(n_cells),
                ", ".join(str(trial["n_groups"]) for trial in trials),
                ", ".join(percent(trial["stability"]) for trial in trials),
            ]
            for n_cells, trials in by_cells.items()
        ],
    )


def choose_with(
    options: argparse.Namespace,
    prepared: Prepared | PreparedParts,
    n_clusters: Any,
    contamination: Any,
    seed: int,
    least: int = 1,
) -> Choice:
    """Choose numbers for a table that was prepared."""
    names = prepared.preparation.columns
    try:
        if isinstance(prepared, PreparedParts):
            X: Table = partitioned(None, prepared.X)
        else:
            X = make_table(prepared.X, prepared.weights, names)
        return choose_for(
            X,
            n_clusters,
            contamination,
            least=least,
            rng=check_random_state(seed),
            names=prepared.preparation.source_names,
            **{name: getattr(options, name) for name in CHOOSING},
        )
    except ValueError as error:
        raise InputError(in_flags(str(error), find_method("RTKM"))) from None


def choose_missing(
    options: argparse.Namespace,
    method: type,
    given: dict[str, Any],
    prepared: Prepared | PreparedParts,
) -> Choice | None:
    """Choose the numbers that a method needs and nobody gave; none if all were.

    They are put among the parameters given, but for RTKM, which takes the choice.
    """
    fields = {field.name: field for field in typed_fields(method)}
    outliers = next((name for name in fields if OUTLIERS in flags_of(method, name)), "")
    share = given.get(outliers, fields[outliers].default) if outliers else None
    k = given.get("n_clusters", "auto") if "n_clusters" in fields else 1
    if isinstance(k, int) and not is_auto(share):
        return None
    # a limit or a share that nobody asked for says nothing about the table
    choice = choose_with(
        options,
        prepared,
        k if "n_clusters" in fields else "auto",
        given.get(outliers, "auto"),
        given.get("random_state", SEED),
        given.get("n_memberships", 1),
    )
    if method is find_method("RTKM"):
        return choice
    if "n_clusters" in fields:
        given["n_clusters"] = choice.n_clusters
    if is_auto(share):
        given[outliers] = choice.n_outliers
    elif "contamination" not in choice.given:
        # the method has a number or a rule of its own, and none were chosen for it
        choice = replace(choice, n_outliers=0, share_path=(), fitted_tail=None)
    return choice


def is_auto(value: Any) -> bool:
    """Whether a number is to be chosen."""
    return isinstance(value, str) and value == "auto"
