"""Everybody who is timed, by the name the tables give them."""

from __future__ import annotations

from typing import Any

import numpy as np
from peers import (
    ELKAN,
    FAISS,
    FAST,
    INTELEX,
    LLOYD,
    TRIMCLUSTER,
    Faiss,
    Fast,
    Trimcluster,
    intelex as accelerated,
    k_means,
)
from sklearn.cluster import KMeans

from rtkm import (
    KMOR,
    RTKM,
    KMeansMinusMinus,
    NEOKMeans,
    RelaxedKMeans,
    TrimmedKMeans,
)

FIXED = "RTKM(step=1.1)"
UNTRIMMED = "TrimmedKMeans(contamination=0)"
TRIMMED = "TrimmedKMeans(n_swaps=0)"
DEFAULT, TEN_STARTS, TEN_ROBUST = (
    "RTKM()",
    "KMeans(n_init=10)",
    "KMeansMinusMinus(n_init=10)",
)
FAMILY = ("KMeansMinusMinus", "KMOR", "NEOKMeans")
SEVERAL, SEVERAL_RELAXED, SEVERAL_FIXED = (
    "RTKM(n_memberships=4)",
    "RelaxedKMeans(n_memberships=4)",
    "RTKM(n_memberships=4, step=1.1)",
)
# a step so long that hardly a weight comes to rest in the first iterations
FRACTIONAL = "RTKM, fractional weights"
SHARE = 0.1


def make(name: str, C: np.ndarray, *, max_iter: int = 300, seed: int = 0) -> Any:
    """Return the model of that name, from these centers where it does not seed."""
    k, shared = len(C), {"init": C, "max_iter": max_iter}
    trim = {"contamination": SHARE, "n_swaps": 0, **shared}
    makers = {
        LLOYD: lambda: k_means(C, "lloyd", max_iter),
        ELKAN: lambda: k_means(C, "elkan", max_iter),
        FAISS: lambda: Faiss(C, max_iter),
        FAST: lambda: Fast(C, max_iter),
        INTELEX: lambda: accelerated(C, max_iter),
        TRIMCLUSTER: lambda: Trimcluster(C, SHARE),
        # it ends before max_iter only if nothing at all moves any more
        FIXED: lambda: RTKM(k, step=1.1, tol=0, **trim),
        UNTRIMMED: lambda: TrimmedKMeans(k, contamination=0, n_swaps=0, **shared),
        TRIMMED: lambda: TrimmedKMeans(k, **trim),
        DEFAULT: lambda: RTKM(k, contamination=SHARE, random_state=seed),
        TEN_STARTS: lambda: KMeans(k, n_init=10, random_state=seed),
        TEN_ROBUST: lambda: KMeansMinusMinus(
            k, n_outliers=SHARE, n_init=10, random_state=seed
        ),
        "KMeansMinusMinus": lambda: KMeansMinusMinus(k, n_outliers=SHARE, **shared),
        "KMOR": lambda: KMOR(k, max_outliers=SHARE, **shared),
        "NEOKMeans": lambda: NEOKMeans(k, contamination=SHARE, **shared),
        FRACTIONAL: lambda: RTKM(k, step=50 * spread(C), tol=0, **trim),
        SEVERAL: lambda: RTKM(k, n_memberships=4, **trim),
        SEVERAL_RELAXED: lambda: RelaxedKMeans(k, n_memberships=4, **shared),
        SEVERAL_FIXED: lambda: RTKM(k, n_memberships=4, step=1.1, tol=0, **trim),
    }
    return makers[name]()


def spread(C: np.ndarray) -> float:
    """Return the mean squared distance of the starting rows to their mean."""
    return float(C.var(axis=0, dtype=np.float64).sum())
