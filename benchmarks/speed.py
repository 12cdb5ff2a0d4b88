"""Time against k-means of others: ``make bench``.

All parts of one run take turns on the same tables, drawn anew every time, one thread
unless said; ratios are taken within a round and their medians shown. Whole parts are
written to `results/`, `docs/performance.md` and `docs/speed.md`; with some of the
shapes, kinds or types alone lines are only printed.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterable
from typing import Any

import footprint
from lines import Cell, Line, full_table
from parts import PARTS, Part, Problem
from problems import DTYPES, KINDS, Shape, fresh_seed, make_rows, starting_centers
from report import write_report
from results import write
from summary import write_summaries
from timing import race

MEMORY = "memory"
WARM = Shape(400, 3, 5)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=[*PARTS, MEMORY], metavar="PART")
    parser.add_argument(
        "--shapes", nargs="+", type=parse_shape, help="such as 43500x9x3: n, d, k"
    )
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--dtypes", nargs="+", choices=DTYPES, default=list(DTYPES))
    parser.add_argument("--rounds", type=int, default=11, help="at most")
    parser.add_argument(
        "--patience", type=float, default=3.0, help="seconds in which rounds begin"
    )
    parser.add_argument("--seed", type=int, help="of the first table; default: new")
    parser.add_argument(
        "--tables", action="store_true", help="write the tables again, measure nothing"
    )
    return parser.parse_args(arguments)


def parse_shape(text: str) -> Shape:
    return Shape(*(int(number) for number in text.replace("_", "").split("x")))


def chosen(part: Part, options: argparse.Namespace) -> list[Problem]:
    """Return the problems of a part that were asked for, at other shapes if need be."""
    problems = part.problems
    if options.shapes:
        ways = dict.fromkeys((p.kind, p.dtype) for p in problems)
        problems = [Problem(shape, *way) for shape in options.shapes for way in ways]
    return [
        p for p in problems if p.kind in options.kinds and p.dtype in options.dtypes
    ]


def run(part: Part, problems: Iterable[Problem], options: Any) -> list[Cell]:
    """Race on fresh tables."""
    seed = fresh_seed() if options.seed is None else options.seed
    cells = []
    for number, problem in enumerate(problems):
        X = make_rows(*problem, seed=seed + number)
        C = starting_centers(X, problem.shape.clusters)
        warm_up(part, problem)
        start = time.perf_counter()
        rounds = race(
            part.entrants(problem, C),
            X,
            n_rounds=options.rounds,
            patience=options.patience,
        )
        took = time.perf_counter() - start
        print(*problem, f"{took:.1f} s", sep=", ", file=sys.stderr)
        cells.append(Cell(*problem, seed=seed + number, rounds=rounds))
    return cells


def warm_up(part: Part, problem: Problem) -> None:
    """Let everybody load their code, on a table of no time."""
    problem = problem._replace(shape=WARM)
    X = make_rows(*problem, seed=0)
    entrants = part.entrants(problem, starting_centers(X, WARM.clusters))
    race(entrants, X, n_rounds=1, patience=0)


def lines_of(part: Part, cells: Iterable[Cell]) -> list[Line]:
    return [line for cell in cells for line in part.lines(cell)]


def main() -> None:
    options = parse()
    warnings.simplefilter("ignore")
    is_whole = not options.shapes and options.kinds == list(KINDS)
    is_whole = is_whole and options.dtypes == list(DTYPES)
    names = [] if options.tables else options.only or [*PARTS, MEMORY]
    for name in names:
        if name == MEMORY:
            records = footprint.measure_all(options)
            print(footprint.table(records))
        else:
            part = PARTS[name]
            cells = run(part, chosen(part, options), options)
            print(full_table(lines_of(part, cells)))
            records = [cell.to_json() for cell in cells]
        if is_whole:
            write(name, records)
    if is_whole:
        write_report()
        write_summaries()


if __name__ == "__main__":
    main()
