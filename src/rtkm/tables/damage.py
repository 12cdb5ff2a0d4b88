"""What is said of a file that its reader cannot read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rtkm.tables.messages import InputError


@contextmanager
def told_as_damage(name: str, kind: str) -> Iterator[None]:
    """Say that a file cannot be read, whatever its reader raised.

    Readers meet damage where they did not expect it, so that there is no end of what
    they raise. Only they belong in here, and nothing of ours.
    """
    try:
        yield
    except (InputError, ImportError):
        raise
    except Exception as error:
        reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
        raise InputError(
            f"{name} cannot be read as {kind} ({reason[:200]}); it may be damaged or "
            "cut short."
        ) from None
