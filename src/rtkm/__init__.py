"""Robust clustering: clusters, rows in several of them, and outliers, in one fit.

The public names are those of `__init__.pyi`, which type checkers read, too; each is
imported when it is first used.
"""

import lazy_loader

from rtkm import _early_interrupt  # noqa: F401  before all that takes long
from rtkm._version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
