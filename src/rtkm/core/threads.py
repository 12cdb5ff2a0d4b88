"""How many threads the native core may use."""

from __future__ import annotations

import os
import sys
from functools import cache

import sklearn  # noqa: F401  brings the OpenMP that is looked for
from joblib import cpu_count
from threadpoolctl import ThreadpoolController


@cache
def openmp() -> ThreadpoolController:
    """Return the OpenMP libraries of this process: scikit-learn has brought one.

    Looked for once, as that takes longer than a small fit.
    """
    return ThreadpoolController().select(user_api="openmp")


@cache
def most_threads() -> int:
    """Return the number of physical processors that a container's quota allows.

    `OMP_NUM_THREADS` may ask for more than these; as OpenMP does, we read it once.
    """
    if openmp().lib_controllers and os.environ.get("OMP_NUM_THREADS"):
        return sys.maxsize
    return int(cpu_count(only_physical_cores=True))


def n_threads() -> int:
    """Return the thread count: as many threads as OpenMP programs would use here.

    So `OMP_NUM_THREADS`, threadpoolctl's limits and a container's quota all count;
    native/passes/parallel.hpp uses fewer where there is little to do. A library that is
    limited alone, as `torch.set_num_threads` does, limits nobody else.
    """
    allowed = [library.num_threads for library in openmp().lib_controllers]
    return min(max(allowed, default=sys.maxsize), most_threads())
