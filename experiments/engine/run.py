"""Run the cells that are not finished, in several processes, with a progress bar."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from threading import Thread
from time import monotonic
from typing import Any

from joblib import cpu_count
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from experiments.engine.cells import Cell, Ledger
from rtkm.cli.terminal import Terminal


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
    seen = progress and sys.stderr is not None and sys.stderr.isatty()
    bar = tqdm(total=len(left), disable=not seen, unit="cell")
    with bar, ProcessPoolExecutor(n_jobs, get_context("spawn"), be_a_worker) as pool:
        with ignoring_interrupts():
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
            for worker in active_children():
                worker.terminate()
            raise
    if progress:
        n = len(cells)
        tell(f"{n} of {n} cells finished, in {monotonic() - begin:.0f} s")


def tell(line: str) -> None:
    """Print a line beside the results, at once."""
    Terminal(aside=True).print(f"experiments: {line}")


@contextmanager
def ignoring_interrupts() -> Iterator[None]:
    """Let the processes that start here ignore Ctrl-C, which reaches them as well.

    The run ends them; if they did by themselves, each would show where it was.
    """
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def be_a_worker() -> None:
    """Leave the other processors to the other processes, and end with the run."""
    threadpool_limits(1)
    Thread(target=end_with_the_run, daemon=True).start()


def end_with_the_run() -> None:
    """End this process when the one that started it is gone, even if it was killed."""
    run = parent_process()
    if run is not None:
        run.join()
        os._exit(1)
