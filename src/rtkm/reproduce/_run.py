"""Run the cells that are not finished, in several processes, with a progress bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from time import monotonic
from typing import Any

from joblib import cpu_count
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from rtkm.reproduce._cells import Cell, Ledger


def run_cells(
    cells: Iterable[Cell],
    work: Callable[[Cell], Any],
    ledger: Ledger,
    *,
    n_jobs: int | None = None,
    progress: bool = True,
) -> None:
    """Run what the ledger does not hold yet; results do not depend on the processes."""
    cells = list(cells)
    left = [cell for cell in cells if cell.key not in ledger.finished]
    n_jobs = min(n_jobs or cpu_count(), max(len(left), 1))
    begin = monotonic()
    if progress:  # a log, where there is no bar, shows what goes on
        done = len(cells) - len(left)
        tell(f"{done} of {len(cells)} cells finished already; processes: {n_jobs}")
    bar = tqdm(total=len(left), disable=None if progress else True, unit="cell")
    with bar, ProcessPoolExecutor(n_jobs, get_context("spawn"), one_thread) as pool:
        futures = {pool.submit(work, cell): cell for cell in left}
        try:
            for future in as_completed(futures):
                cell = futures.pop(future)
                ledger.add(cell.key, future.result())
                bar.set_description(f"{cell.experiment}, {cell.protocol}")
                bar.update()
        except BrokenProcessPool as error:
            raise ChildProcessError(
                "a worker process was killed, perhaps for want of memory; what is "
                "finished is kept: run the same command to go on, with fewer --jobs."
            ) from error
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    if progress:
        n = len(cells)
        tell(f"{n} of {n} cells finished, in {monotonic() - begin:.0f} s")


def tell(line: str) -> None:
    """Print a line beside the results, at once."""
    print(f"rtkm: {line}", file=sys.stderr, flush=True)


def one_thread() -> None:
    """Leave the other processors to the other processes."""
    threadpool_limits(1)
