"""Robust clustering: clusters, rows in several of them, and outliers, in one fit."""

from rtkm import (
    _early_interrupt,  # noqa: F401  before all that takes long
    datasets,
    metrics,
    plot,
    projections,
    seeding,
)
from rtkm._version import __version__ as __version__
from rtkm._warnings import ScaleWarning
from rtkm.choosing import Choice, choose
from rtkm.choosing.curves import Curves, curves
from rtkm.choosing.stability import Stability, stability
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
from rtkm.compare.frame import compare
from rtkm.detectors.adapter import ClusterDetector
from rtkm.detectors.cblof import CBLOF
from rtkm.detectors.cbod import CBOD
from rtkm.detectors.ldof import LDOF
from rtkm.models.files import ModelFileError, describe_model, load
from rtkm.report.drift import Drift
from rtkm.table_model import TableModel

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
    "Choice",
    "ClusterDetector",
    "Curves",
    "Drift",
    "FuzzyCMeans",
    "KMeansMinusMinus",
    "ModelFileError",
    "NEOKMeans",
    "RelaxedKMeans",
    "ScaleWarning",
    "Stability",
    "TableModel",
    "TrimmedKMeans",
    "choose",
    "compare",
    "curves",
    "datasets",
    "describe_model",
    "estimate_neo_parameters",
    "load",
    "metrics",
    "plot",
    "projections",
    "seeding",
    "stability",
]
