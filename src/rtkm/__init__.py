"""Robust clustering: clusters, rows in several of them, and outliers, in one fit."""

from rtkm import datasets, metrics, projections, seeding
from rtkm.clusterers.relaxed import RelaxedKMeans
from rtkm.clusterers.rtkm import RTKM
from rtkm.clusterers.trimmed import KMeansMinusMinus, TrimmedKMeans

__version__ = "0.1.0"

__all__ = [
    "RTKM",
    "KMeansMinusMinus",
    "RelaxedKMeans",
    "TrimmedKMeans",
    "datasets",
    "metrics",
    "projections",
    "seeding",
]
