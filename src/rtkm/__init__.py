"""Robust clustering: clusters, rows in several of them, and outliers, in one fit."""

from rtkm import datasets, metrics, projections, seeding
from rtkm.clusterers.relaxed import RelaxedKMeans
from rtkm.clusterers.rtkm import RTKM
from rtkm.clusterers.trimmed import KMeansMinusMinus, TrimmedKMeans
from rtkm.detectors.adapter import ClusterDetector
from rtkm.detectors.cblof import CBLOF
from rtkm.detectors.cbod import CBOD
from rtkm.detectors.ldof import LDOF

__version__ = "0.1.0"

__all__ = [
    "CBLOF",
    "CBOD",
    "LDOF",
    "RTKM",
    "ClusterDetector",
    "KMeansMinusMinus",
    "RelaxedKMeans",
    "TrimmedKMeans",
    "datasets",
    "metrics",
    "projections",
    "seeding",
]
