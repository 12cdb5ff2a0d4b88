"""Which methods there are and what each is for: the only list of them.

A method is imported when it is asked for, so this module can be imported from anywhere
in the package.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Literal, NamedTuple

Kind = Literal["clusterer", "detector", "adapter"]


class Method(NamedTuple):
    """Where a method is found, what kind of method it is, and what it is for."""

    module: str
    kind: Kind
    purpose: str


METHODS = {
    "RTKM": Method(
        "clusterers.rtkm",
        "clusterer",
        "clusters, rows that belong to several of them, and outliers, in one fit",
    ),
    "RelaxedKMeans": Method(
        "clusterers.relaxed",
        "clusterer",
        "rows that belong to several clusters, without outliers",
    ),
    "TrimmedKMeans": Method(
        "clusterers.trimmed",
        "clusterer",
        "one cluster for each row, and a known share of outliers",
    ),
    "KMeansMinusMinus": Method(
        "clusterers.trimmed",
        "clusterer",
        "a known number of outliers, from several starts, as published",
    ),
    "KMOR": Method(
        "clusterers.kmor",
        "clusterer",
        "outliers whose number is found, up to a limit",
    ),
    "NEOKMeans": Method(
        "clusterers.neo",
        "clusterer",
        "some rows in several clusters, and some in none",
    ),
    "OKM": Method(
        "clusterers.okm",
        "clusterer",
        "rows that lie between clusters belong to all of these",
    ),
    "ROKM": Method(
        "clusterers.okm",
        "clusterer",
        "like OKM, with a penalty on overlap",
    ),
    "MOC": Method(
        "clusterers.moc",
        "clusterer",
        "rows that are the sum of the vectors of their clusters",
    ),
    "ESP": Method(
        "clusterers.sparse_overlap",
        "clusterer",
        "rows that lie between a limited number of clusters",
    ),
    "ISP": Method(
        "clusterers.sparse_overlap",
        "clusterer",
        "rows that lie between clusters, with a penalty for each further one",
    ),
    "FuzzyCMeans": Method(
        "clusterers.fuzzy",
        "clusterer",
        "a degree of membership in every cluster",
    ),
    "ORC": Method(
        "clusterers.orc",
        "clusterer",
        "k-means that removes the farthest rows and starts again",
    ),
    "ODC": Method(
        "clusterers.odc",
        "clusterer",
        "outliers that are too far from their center for their own cluster",
    ),
    "CBLOF": Method(
        "detectors.cblof",
        "detector",
        "scores by the distance to the nearest large cluster",
    ),
    "LDOF": Method(
        "detectors.ldof",
        "detector",
        "scores by how far a row lies outside the cloud of its neighbors",
    ),
    "CBOD": Method(
        "detectors.cbod",
        "detector",
        "whole clusters that lie far from everything else, in one pass",
    ),
    "ClusterDetector": Method(
        "detectors.adapter",
        "adapter",
        "an outlier detector made of any clusterer",
    ),
    "TableModel": Method(
        "table_model",
        "adapter",
        "a table as it is: columns, missing values and scale are settled for it",
    ),
}


@cache
def find_class(name: str) -> type:
    """Return the class of a method."""
    found: type = getattr(import_module(f"rtkm.{METHODS[name].module}"), name)
    return found


def all_classes() -> dict[str, type]:
    """Return the classes of all methods, by name."""
    return {name: find_class(name) for name in METHODS}
