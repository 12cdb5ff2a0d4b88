from . import (
    dask as dask,
    datasets as datasets,
    metrics as metrics,
    plot as plot,
    projections as projections,
    seeding as seeding,
)
from ._warnings import ScaleWarning as ScaleWarning
from .choosing import Choice as Choice, choose as choose
from .choosing.curves import Curves as Curves, curves as curves
from .choosing.stability import Stability as Stability, stability as stability
from .clusterers.fuzzy import FuzzyCMeans as FuzzyCMeans
from .clusterers.kmor import KMOR as KMOR
from .clusterers.moc import MOC as MOC
from .clusterers.neo import NEOKMeans as NEOKMeans
from .clusterers.neo_estimates import estimate_neo_parameters as estimate_neo_parameters
from .clusterers.odc import ODC as ODC
from .clusterers.okm import OKM as OKM, ROKM as ROKM
from .clusterers.orc import ORC as ORC
from .clusterers.relaxed import RelaxedKMeans as RelaxedKMeans
from .clusterers.rtkm import RTKM as RTKM
from .clusterers.sparse_overlap import ESP as ESP, ISP as ISP
from .clusterers.trimmed import (
    KMeansMinusMinus as KMeansMinusMinus,
    TrimmedKMeans as TrimmedKMeans,
)
from .compare.frame import compare as compare
from .core.sources import Partitions as Partitions
from .detectors.adapter import ClusterDetector as ClusterDetector
from .detectors.cblof import CBLOF as CBLOF
from .detectors.cbod import CBOD as CBOD
from .detectors.ldof import LDOF as LDOF
from .models.files import (
    ModelFileError as ModelFileError,
    describe_model as describe_model,
    load as load,
)
from .models.onnx import to_onnx as to_onnx
from .report.drift import Drift as Drift
from .table_model import TableModel as TableModel

__version__: str
