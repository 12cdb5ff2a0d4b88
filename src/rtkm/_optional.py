"""Packages that only some answers need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# packages whose name to install is not the one to import
NAMES = {
    "charset_normalizer": "charset-normalizer",
    "jinja2": "Jinja2",
    "python_calamine": "python-calamine",
}
# packages that an extra of their own brings; all others come with cli
EXTRAS = {
    "dask": "dask",
    "distributed": "dask",
    "matplotlib": "plot",
    "onnx": "onnx",
    "pandas": "pandas",
}


def import_optional(module: str, *, needed_by: str) -> Any:
    """Return a module of an optional package, or say how to get the package.

    Parameters
    ----------
    module : str
        What to import, such as ``"pandas"`` or ``"matplotlib.figure"``.
    needed_by : str
        What cannot be done without it; the message begins with it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"{needed_by} needs {NAMES.get(package, package)}; "
            f'pip install "rtkm[{EXTRAS.get(package, "cli")}]".'
        ) from error
