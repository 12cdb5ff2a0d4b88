"""rtkm compare: many methods on one table."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from rtkm._number_text import counted, figure
from rtkm._optional import import_optional
from rtkm.cli import options as shared
from rtkm.cli.choose import add_choosing, choose_with
from rtkm.cli.files import check_files, terminal_for, where, write_together
from rtkm.cli.flags import (
    OUTLIERS,
    add_clusters,
    find_method,
    flags_of,
    in_flags,
    reader_of,
    table_flags,
    typed_fields,
)
from rtkm.cli.terminal import Terminal
from rtkm.compare.basis import Recommendation, recommend
from rtkm.compare.frame import compare
from rtkm.core.params import is_number
from rtkm.report.choices import choice_findings
from rtkm.tables.columns import text_of
from rtkm.tables.fitted_preparation import Prepared
from rtkm.tables.messages import InputError
from rtkm.tables.numerals import is_missing
from rtkm.tables.select import check_known
from rtkm.tables.sheet import Sheet
from rtkm.tables.writing import ending_of, packed

USUAL = (
    "RTKM",
    "TrimmedKMeans",
    "KMeansMinusMinus",
    "KMOR",
    "ODC",
    "NEOKMeans",
    "OKM",
    "FuzzyCMeans",
)
OUTLIER_WORDS = ("-1", "outlier", "noise", "anomaly")

# column of the frame: its title on the terminal
SHOWN = {
    "objective": "objective",
    "n_outliers": "outliers",
    "n_standing_out": "stand out",
    "cardinality": "clusters per row",
    "stability": "stability",
    "agreement": "agreement",
    "average_f1": "F1",
    "ari": "ARI",
    "outlier_me": "M_e",
    "outlier_roc_auc": "AUC",
    "seconds": "seconds",
}

EXAMPLES = """\
examples:
  rtkm compare data.csv
      what eight methods make of one table, with as many clusters as are chosen
  rtkm compare data.csv -k 3
      the same with three clusters each, as `rtkm fit` runs them
  rtkm compare data.csv -k 3 --truth species
      the same, scored by known labels (-1, outlier, noise or anomaly: an outlier)
  rtkm compare data.csv -k 3 --methods RTKM KMOR --starts 10 --output runs.csv
      two methods with ten seeds, every run in a table

Without --truth, stability is the share of fits to half of the rows in which a row keeps
its label, and agreement the adjusted Rand index with the other methods (its form for
overlaps), on average; a recommendation rests on these two alone. Outliers are those a
method marked, of which it may have been told how many; rows stand out by themselves.

F1, ARI (labels of the rows that are inliers on both sides) and AUC (scores of outliers)
are best at 1, M_e (the error in outliers) at 0. A row in no cluster counts as 0 in the
clusters per row. Objectives of different methods are not comparable.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.set_up(
        parser,
        run,
        usage="DATA [--truth COLUMN] [options]",
        description="Fit several methods to one table, and show what each found.",
        examples=EXAMPLES,
    )
    shared.add_data(parser)
    add_compared(parser)
    add_choosing(parser)
    shared.add_preparation(parser)
    group = parser.add_argument_group("what to write")
    shared.add_output(group, "a line for every run, as .csv; - is standard output")
    group.add_argument(
        "--json",
        type=shared.output_path,
        metavar="FILE",
        help="every run and the recommendation, for programs",
    )
    shared.add_quiet(group)
    shared.add_reading(parser)


def add_compared(parser: argparse.ArgumentParser) -> None:
    """Add what is compared."""
    group = parser.add_argument_group("what to compare")
    rtkm = find_method("RTKM")
    add_clusters(group)
    group.add_argument(
        OUTLIERS,
        type=reader_of(rtkm, "contamination"),
        default="auto",
        metavar="VALUE",
        help="outliers to expect: a share, or a number of rows (default: auto)",
    )
    group.add_argument(
        "--methods",
        nargs="+",
        default=USUAL,
        metavar="METHOD",
        help=f"what to compare (default: {' '.join(USUAL)})",
    )
    group.add_argument(
        "--truth", metavar="COLUMN", help="the column of known labels, to score by"
    )
    group.add_argument(
        "--starts",
        type=reader_of(rtkm, "n_memberships"),
        default=1,
        metavar="N",
        help="runs of each method, with consecutive seeds (default: 1)",
    )
    group.add_argument(
        "--resamples",
        type=shared.whole,
        default=5,
        metavar="N",
        help="fits to half of the rows, to measure stability; 0 saves their "
        "time (default: 5)",
    )
    shared.add_seed(group)


def run(options: argparse.Namespace) -> None:
    """Read, compare and tell."""
    terminal = terminal_for(options)
    try:
        classes = [find_method(name) for name in options.methods]
    except InputError as error:
        options.parser.error(str(error).replace("--method ", "--methods "))
    sheet = shared.read(options)
    check_files(options, sheet)
    if options.output is not None and ending_of(options.output) != ".csv":
        raise InputError(f"--output {options.output}: expected a name in .csv.")
    truth = None
    if options.truth is not None:
        check_known(sheet, options.truth, "truth")
        options.drop = [*(options.drop or []), options.truth]
    prepared = shared.table_model(None, options).prepare(sheet)
    notes = table_flags(prepared.notes)
    terminal.say("\n".join([sheet.summary(), *sheet.notes, *notes]))
    if options.truth is not None:
        truth = find_truth(sheet, options.truth, prepared, terminal)
    if not (isinstance(options.n_clusters, int) and is_number(options.contamination)):
        choose_numbers(options, prepared, terminal)
    methods = [make(method, options) for method in classes]
    frame = run_all(prepared.X, methods, truth, options)
    tell(terminal, frame)
    if frame["seconds"].isna().all():
        raise InputError("every method failed.")
    recommendation = None
    if truth is None:
        recommendation = recommend(frame)
        terminal.skip()
        terminal.say(recommendation.reason)
    write(options, frame, recommendation, terminal)


def write(
    options: argparse.Namespace,
    frame: Any,
    recommendation: Recommendation | None,
    terminal: Terminal,
) -> None:
    """Write the files that were asked for."""
    writers: dict[Path, Callable[[BinaryIO], object]] = {}
    if options.output is not None:
        writers[options.output] = lambda stream: write_runs(
            stream, options.output, frame
        )
    if options.json is not None:
        found = {
            "runs": json.loads(frame.to_json(orient="records")),
            "recommendation": recommendation and recommendation._asdict(),
        }
        content = json.dumps(found, allow_nan=False).encode()
        writers[options.json] = lambda stream: stream.write(content)
    terminal.say("\n".join(write_together(writers)))
    for path in writers:
        terminal.say(f"All runs are in {where(path)}.")


def write_runs(stream: BinaryIO, path: Path, frame: Any) -> None:
    """Write a line for every run."""
    with packed(path, stream) as within:
        within.write(frame.to_csv(index=False).encode())


def choose_numbers(
    options: argparse.Namespace, prepared: Prepared, terminal: Terminal
) -> None:
    """Choose the numbers that were not given, for all methods alike."""
    choice = choose_with(
        options, prepared, options.n_clusters, options.contamination, options.seed
    )
    found = choice_findings(choice, prepared, with_curves=False)
    terminal.say("\n".join(found["summary"]))
    options.n_clusters, options.contamination = choice.params.values()


def run_all(X: Any, methods: list[Any], truth: Any, options: argparse.Namespace) -> Any:
    """Fit every method, as often as asked for, as `rtkm fit` would."""
    frames = []
    for start in range(options.starts):
        for method in methods:
            if hasattr(method, "random_state"):
                method.set_params(random_state=options.seed + start)
        frame = compare(
            X,
            methods,
            truth,
            n_clusters=options.n_clusters,
            init=None,
            random_state=options.seed + start,  # of the halves
            n_resamples=options.resamples,
            progress=not options.quiet,
        )
        frames.append(frame.assign(start=start))
    pd = import_optional("pandas", needed_by="compare")
    return pd.concat(frames, ignore_index=True)


def make(method: type, options: argparse.Namespace) -> Any:
    """Return a method that expects as many outliers as the others."""
    given = {
        field.name: options.contamination
        for field in typed_fields(method)
        if OUTLIERS in flags_of(method, field.name)
    }
    return method(**given)


def find_truth(
    sheet: Sheet, name: str, prepared: Prepared, terminal: Terminal
) -> NDArray[np.int64]:
    """Return known labels as numbers, -1 for outliers."""
    cells = sheet.columns.column(sheet.places[name])
    words = np.array([text_of(cell) or "" for cell in cells])[prepared.kept]
    values, labels = np.unique(np.char.strip(words), return_inverse=True)
    n_missing = sum(map(is_missing, words))
    if n_missing:
        raise InputError(
            f"--truth {name} has {counted(n_missing, 'missing cell')}; expected a "
            "label for every row."
        )
    outlying = [word.casefold() in OUTLIER_WORDS for word in values]
    labels = np.where(np.array(outlying)[labels], -1, labels)
    n_outliers = int((labels < 0).sum())
    n_kinds = len(values) - sum(outlying)
    terminal.say(
        f"Scored by {name}: {counted(n_kinds, 'known cluster')}, "
        f"{counted(n_outliers, 'known outlier')}."
    )
    return labels


def tell(terminal: Terminal, frame: Any) -> None:
    """Print means over the starts of every method, and what failed."""
    shown = [column for column in SHOWN if column in frame]
    failed = frame[frame["error"] != ""] if "error" in frame else frame[:0]
    runs = frame.groupby("method", sort=False)
    means = runs[shown].mean().astype(float)
    if "objective" in shown:
        means["objective"] = runs["objective"].min()
    lines = [
        [str(name), *(figure(number, 3) for number in numbers)]
        for name, *numbers in means.itertuples()
    ]
    terminal.skip()
    terminal.table(["method", *(SHOWN[column] for column in shown)], lines)
    if frame["start"].nunique() > 1:
        terminal.say("  (means over runs; of the objective the best)")
    for method, errors in failed.groupby("method", sort=False):
        reason = errors["error"].iloc[0].partition(": ")[2]
        terminal.say(f"{method} failed: {in_flags(reason, find_method(method))}")
