"""Robust clustering: clusters, rows in several of them, and outliers, in one fit."""

from rtkm import datasets, metrics, projections, seeding
from rtkm._compare import compare
from rtkm._models import ModelFileError, describe_model, load
from rtkm.clusterers.fuzzy import FuzzyCMeans
from rtkm.clusterers.kmor import KMOR
from rtkm.clusterers.moc import MOC
from rtkm.clusterers.neo import NEOKMeans
from rtkm.clusterers.neo_estimates import estimate_neo_parameters
from rtkm.clusterers.odc import ODC
from rtkm.clusterers.okm import OKM, ROKM
from rtkm.clusterers.orc import ORC
from rtkm.clusterers.relaxed import RelaxedKMeans
from rtkm.clusterers.rtkm import RTKM
from rtkm.clusterers.sparse_overlap import ESP, ISP
from rtkm.clusterers.trimmed import KMeansMinusMinus, TrimmedKMeans
from rtkm.detectors.adapter import ClusterDetector
from rtkm.detectors.cblof import CBLOF
from rtkm.detectors.cbod import CBOD
from rtkm.detectors.ldof import LDOF

__version__ = "0.1.0"

__all__ = [
    "CBLOF",
    "CBOD",
    "ESP",
    "ISP",
    "KMOR",
    "LDOF",
    "MOC",
    "ODC",
    "OKM",
    "ORC",
    "ROKM",
    "RTKM",
    "ClusterDetector",
    "FuzzyCMeans",
    "KMeansMinusMinus",
    "ModelFileError",
    "NEOKMeans",
    "RelaxedKMeans",
    "TrimmedKMeans",
    "compare",
    "datasets",
    "describe_model",
    "estimate_neo_parameters",
    "load",
    "metrics",
    "projections",
    "seeding",
]
