"""How much memory there is, and how it is written."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

resource: object
try:
    import resource
except ImportError:  # Windows
    resource = None

UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
UNITS |= {f"{unit}I": 2 ** (10 * i) for i, unit in enumerate("KMGT", start=1)}
WRITTEN = re.compile(r"([0-9]+(?:[.][0-9]+)?) *([KMGT]?I?)B?", re.IGNORECASE)
LEAST_MEMORY = 2**24  # in which a table can be streamed at all

CGROUPS = Path("/sys/fs/cgroup")
UNLIMITED = 2**60
# where nobody can say: what the smallest machines have
FALLBACK = 2**31


def bytes_of(memory: str | int) -> int:
    """Return a size of memory in bytes.

    Examples
    --------
    >>> bytes_of("2GB"), bytes_of("512 MiB"), bytes_of(3 * 10**8)
    (2000000000, 536870912, 300000000)
    """
    found = WRITTEN.fullmatch(str(memory).strip())
    unit = found[2].upper() if found else None
    if found is None or unit not in UNITS:
        raise ValueError(f"memory={memory!r} is not valid; expected a size as '2GB'.")
    size = int(float(found[1]) * UNITS[unit])
    if size < LEAST_MEMORY:
        raise ValueError(
            f"memory={memory!r} is too little; expected at least 16MiB, in which parts "
            "of a table have room."
        )
    return size


def available_memory() -> int:
    """Return how many bytes this process may still take.

    That is the least of what the machine has left, what its container (cgroup) leaves
    and what the limits of the process (``ulimit -d``, ``ulimit -v``) leave.
    """
    return max(min([*machine_memory(), *cgroup_memory(), *limited_memory()]), 0)


def machine_memory() -> Iterator[int]:
    """Yield what the machine has left."""
    with suppress(OSError):
        found = re.search(
            r"MemAvailable: +([0-9]+) kB", Path("/proc/meminfo").read_text()
        )
        if found:
            yield 1024 * int(found[1])
            return
    with suppress(AttributeError, ValueError, OSError):
        yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
        return
    yield FALLBACK


def cgroup_memory(root: Path = CGROUPS, group: str | None = None) -> Iterator[int]:
    """Yield what each of the cgroups around this process leaves."""
    group = own_cgroup() if group is None else group
    for folder in (root / group, *(root / group).parents):
        if not folder.is_relative_to(root):
            return
        for limit, used in (
            ("memory.max", "memory.current"),
            ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
        ):
            with suppress(OSError, ValueError):  # "max" is no number
                most = int((folder / limit).read_text())
                if most < UNLIMITED:
                    yield most - int((folder / used).read_text())


def own_cgroup() -> str:
    """Return the cgroup of this process, below the root of all."""
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            if line.startswith("0::"):
                return line[3:].strip("/")
    return ""


def limited_memory() -> Iterator[int]:
    """Yield what the limits of this process leave."""
    if resource is None:
        return
    for name, used in (("RLIMIT_AS", "VmSize"), ("RLIMIT_DATA", "VmData")):
        limit = getattr(resource, name, None)
        if limit is not None:
            most = resource.getrlimit(limit)[0]  # type: ignore[attr-defined]
            if 0 <= most < UNLIMITED:
                yield most - used_by_process(used)


def used_by_process(what: str) -> int:
    """Return a size that the system keeps of this process, 0 if it keeps none."""
    with suppress(OSError):
        status = Path("/proc/self/status").read_text()
        found = re.search(rf"{what}:\s+([0-9]+) kB", status)
        if found:
            return 1024 * int(found[1])
    return 0
