"""Warnings that point at the line of the user's that caused them."""

from __future__ import annotations

import sys
import warnings


class ScaleWarning(UserWarning):
    """One column holds nearly all of the variance, so that the others hardly count.

    Examples
    --------
    >>> import warnings
    >>> import rtkm
    >>> X = [[0.1, 9000], [0.2, 1000], [0.9, 8000], [0.8, 2000]]
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = rtkm.RTKM(2, contamination=0).fit(X)
    >>> caught[0].category
    <class 'rtkm._warnings.ScaleWarning'>
    """


# what may stand between that line and us: scikit-learn's pipelines, searches and
# set_output, and joblib, which runs its loops
PASSED_OVER = {"rtkm", "sklearn", "joblib"}


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, at the innermost line outside rtkm and scikit-learn.

    However deep in a fit this is called, and whether `fit`, `fit_predict`, a pipeline
    or a detector was called first, the user sees a line of their own.
    """
    # Python 3.12 has skip_file_prefixes for this
    frame, level = sys._getframe(), 1
    while frame.f_back and package_of(frame.f_globals) in PASSED_OVER:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def package_of(module: dict[str, object]) -> str:
    """Return the outermost package of a module, from its names."""
    return str(module.get("__name__", "")).partition(".")[0]
