"""The version of this library, and of what it runs on."""

from __future__ import annotations

import platform

__version__ = "0.2.0"


def versions() -> dict[str, str]:
    """Return what an answer was computed with: packages and their versions."""
    import numpy as np
    import scipy
    import sklearn

    return {
        "rtkm": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
