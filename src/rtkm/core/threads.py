"""How many threads the native core may use."""

from __future__ import annotations

import os
from functools import cache

from joblib import cpu_count
from threadpoolctl import ThreadpoolController


@cache
def openmp() -> ThreadpoolController:
    """Return the OpenMP libraries of this process: scikit-learn has brought one.

    Looked for once, as that takes longer than a small fit.
    """
    return ThreadpoolController().select(user_api="openmp")


@cache
def n_processors() -> int:
    """Return the number of physical processors that a container's quota allows."""
    return int(cpu_count(only_physical_cores=True))


def n_threads() -> int:
    """Return the thread count: as many threads as OpenMP programs would use here.

    So `OMP_NUM_THREADS`, threadpoolctl's limits and a container's quota all count;
    native/passes/parallel.hpp uses fewer where there is little to do. A library that is
    limited alone, as `torch.set_num_threads` does, limits nobody else.
    """
    libraries = openmp().lib_controllers
    allowed = max((library.num_threads for library in libraries), default=None)
    if allowed is None:
        return n_processors()
    if os.environ.get("OMP_NUM_THREADS"):  # may be more than there are processors
        return int(allowed)
    return min(int(allowed), n_processors())
