"""Fits on a cluster of Dask, with the answer of one in memory, to the last bit.

The estimators are those of `rtkm` with one parameter more, the client of the cluster.
"""

from rtkm.dask.estimators import (
    RTKM as RTKM,
    KMeansMinusMinus as KMeansMinusMinus,
    RelaxedKMeans as RelaxedKMeans,
    TrimmedKMeans as TrimmedKMeans,
)

__all__ = ["RTKM", "KMeansMinusMinus", "RelaxedKMeans", "TrimmedKMeans"]
