"""A fitted model as an ONNX graph, which other languages and devices can run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rtkm._optional import import_optional
from rtkm._version import __version__
from rtkm.clusterers._predict import PredictMixin
from rtkm.clusterers._rule import FittedRule
from rtkm.clusterers.fuzzy import FuzzyRule
from rtkm.clusterers.kmor import KMORRule
from rtkm.clusterers.neo import NEORule
from rtkm.clusterers.odc import ODCRule
from rtkm.detectors.cblof import CBLOF
from rtkm.tables.missing import OTHERS, by_column

OPSET = 18
IR_VERSION = 8  # the oldest that this operator set allows, so that old runtimes read it
SLACK = 8  # by how many roundings a score may differ from that of the model
LEFT_OUT = -3  # the label of a row with missing values, as in a table model


def to_onnx(model: Any) -> Any:
    """Return a fitted model as an ONNX graph for ``predict`` and ``score_samples``.

    Such a file runs without Python, wherever there is an ONNX runtime. Models that
    judge rows by their distances to centers can be written: :class:`RTKM`,
    :class:`TrimmedKMeans`, :class:`KMeansMinusMinus`, :class:`RelaxedKMeans`,
    :class:`KMOR`, :class:`NEOKMeans`, :class:`ODC`, :class:`ORC`,
    :class:`FuzzyCMeans`, :class:`CBLOF`, and a :class:`TableModel` of one of these
    whose columns are numbers.

    Parameters
    ----------
    model : estimator
        The fitted model.

    Returns
    -------
    onnx.ModelProto
        Takes ``X`` of shape (n_samples, n_features), float32 if the centers are, else
        float64. Its outputs are ``label``, what ``predict`` returns, and
        ``score_samples``. ``SerializeToString()`` makes bytes of it.

    Raises
    ------
    ImportError
        Without the package onnx, which ``pip install "rtkm[onnx]"`` brings.
    TypeError
        If the method has more to say than its centers, such as :class:`OKM`.

    See Also
    --------
    load : Reads what ``save`` wrote, and answers to the last bit as before.

    Notes
    -----
    The graph computes in float64, and sums distances in another order than the model:
    scores agree to about 14 digits, or 6 where the model is of float32. Only a row as
    close as this to the cut-off, or to the middle between two centers, can have another
    label. Memory is that of a few copies of the rows, however many centers there are.

    A table model takes the columns named in ``preparation_.columns``, in this order and
    in the units of the table; NaN is a missing value. A row whose missing values are
    not filled in has label -3 and a score of NaN.

    Examples
    --------
    >>> from rtkm import TrimmedKMeans, to_onnx
    >>> X = [[0.0], [1.0], [10.0], [11.0], [100.0]]
    >>> model = TrimmedKMeans(2, contamination=1, random_state=0).fit(X)
    >>> [output.name for output in to_onnx(model).graph.output]
    ['label', 'score_samples']
    """
    onnx = import_optional("onnx", needed_by="to_onnx")
    check_is_fitted(model)
    preparation = getattr(model, "preparation_", None)
    estimator = model if preparation is None else model.estimator_
    answer = answer_of(estimator)
    graph = Graph(onnx)
    precision = estimator.cluster_centers_.dtype if preparation is None else np.float64
    X = graph.add("Cast", "X", to=onnx.TensorProto.DOUBLE)
    if preparation is not None:
        X = prepared(graph, X, preparation)
    label, score = answer(graph, X, estimator)
    gaps = graph.add("Cast", graph.add("IsNaN", X), to=onnx.TensorProto.INT32)
    n_gaps = graph.add("ReduceSum", gaps, graph.ints(1), keepdims=0)
    is_missing = graph.add("Greater", n_gaps, graph.constant(0, np.int32))
    label = graph.add("Where", is_missing, graph.ints(LEFT_OUT), label)
    graph.add("Identity", label, to="label")
    graph.add("Neg", score, to="score_samples")
    return graph.model(type(estimator).__name__, precision, estimator.n_features_in_)


class Graph:
    """A graph that grows node by node."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, kind: str, *inputs: str, to: Any = None, **attributes: Any) -> str:
        """Add an operation, and return the name of what comes out."""
        if kind == "Cast":
            attributes["to"], to = to, None
        output = to or f"{kind}_{len(self.nodes)}"
        helper = self.onnx.helper
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return str(output)

    def constant(self, values: Any, dtype: Any = np.float64) -> str:
        """Add numbers, and return their name."""
        name = f"constant_{len(self.constants)}"
        array = np.array(values, dtype=dtype)
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def ints(self, *values: int) -> str:
        """Add whole numbers, and return their name."""
        return self.constant(values, np.int64)

    def squared_distances(self, X: str, centers: NDArray[Any]) -> str:
        """Add the squared distances to centers, (k, n): one center after the other."""
        helper, double = self.onnx.helper, self.onnx.TensorProto.DOUBLE
        body = helper.make_graph(
            [
                helper.make_node("Sub", [X, "center"], ["difference"]),
                helper.make_node(
                    "ReduceSumSquare", ["difference", "features"], ["D"], keepdims=0
                ),
            ],
            "distance_to_one_center",
            [helper.make_tensor_value_info("center", double, ["d"])],
            [helper.make_tensor_value_info("D", double, ["n"])],
            [self.onnx.numpy_helper.from_array(np.array([1]), "features")],
        )
        return self.add("Scan", self.constant(centers), body=body, num_scan_inputs=1)

    def model(self, title: str, precision: Any, n_features: int) -> Any:
        """Return the whole, checked."""
        helper, kinds = self.onnx.helper, self.onnx.TensorProto
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(precision))
        graph = helper.make_graph(
            self.nodes,
            title,
            [helper.make_tensor_value_info("X", kind, ["n", n_features])],
            [
                helper.make_tensor_value_info("label", kinds.INT64, ["n"]),
                helper.make_tensor_value_info("score_samples", kinds.DOUBLE, ["n"]),
            ],
            self.constants,
        )
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="rtkm",
            producer_version=__version__,
        )
        self.onnx.checker.check_model(model, full_check=True)
        return model


Answer = Callable[[Graph, str, Any], tuple[str, str]]


def answer_of(estimator: Any) -> Answer:
    """Return what adds label and outlier score, or refuse the method."""
    if isinstance(estimator, CBLOF):
        return answer_of_cblof
    if isinstance(estimator, PredictMixin) and type(estimator._rule()) in SCORES:
        return answer_of_clusterer
    raise TypeError(
        f"{type(estimator).__name__} cannot be written as ONNX: it judges rows by more "
        "than their distances to centers."
    )


def answer_of_clusterer(graph: Graph, X: str, estimator: Any) -> tuple[str, str]:
    """Add the nearest cluster, -1 for outliers, and the outlier score."""
    rule = estimator._rule()
    D = graph.squared_distances(X, rule.centers)
    nearest = graph.add("ArgMin", D, axis=0, keepdims=0)
    few = (D, graph.ints(rule.n_nearest))
    values, places = "nearest_values", "nearest_places"
    topk = graph.onnx.helper.make_node("TopK", few, [values, places], axis=0, largest=0)
    graph.nodes.append(topk)
    cost = graph.add("ReduceSum", values, graph.ints(0), keepdims=0)
    score = SCORES[type(rule)](graph, rule, cost, nearest)
    outlying = graph.add("Greater", score, graph.constant(cut_of(rule)))
    return graph.add("Where", outlying, graph.ints(-1), nearest), score


def answer_of_cblof(graph: Graph, X: str, detector: CBLOF) -> tuple[str, str]:
    """Add 1 or -1, and the distance to the nearest large cluster."""
    large, weights = detector.large_mask_, detector._weights
    D = graph.squared_distances(X, detector.cluster_centers_)
    label = graph.add("ArgMin", D, axis=0, keepdims=0)
    D_large = graph.add(
        "Gather", D, graph.ints(*np.flatnonzero(large).tolist()), axis=0
    )
    to_large = graph.add("ReduceMin", D_large, graph.ints(0), keepdims=0)
    # the nearest center of all is the nearest large one, if it is large
    score = graph.add("Sqrt", to_large)
    if weights is not None:
        score = graph.add(
            "Mul", score, graph.add("Gather", graph.constant(weights), label)
        )
    outlying = graph.add("Greater", score, graph.constant(-detector.offset_))
    return graph.add("Where", outlying, graph.ints(-1), graph.ints(1)), score


def cut_of(rule: FittedRule) -> float:
    """Return the cut, which often is the score of a training row, away from that row.

    It is then either the largest score of the inliers or just below the least one of
    the outliers; the row stays on its side if scores are rounded otherwise.
    """
    room = SLACK * float(np.finfo(rule.centers.dtype).eps)
    return rule.cut * (1 + room if rule.cut <= rule.largest_kept else 1 - room)


def score_by_cost(graph: Graph, rule: FittedRule, cost: str, nearest: str) -> str:
    """Return the cost itself."""
    return cost


def score_by_mean(graph: Graph, rule: KMORRule, cost: str, nearest: str) -> str:
    """Add the division by the mean cost of the inliers; no cost is no score."""
    none = graph.constant(0.0)
    ratio = graph.add("Div", cost, graph.constant(rule.mean_cost))
    return graph.add("Where", graph.add("Greater", cost, none), ratio, none)


def score_by_width(graph: Graph, rule: ODCRule, cost: str, nearest: str) -> str:
    """Add the division by the mean distance in the cluster, unless that is 0."""
    scales = np.where(rule.scales > 0, rule.scales, np.inf)
    scale = graph.add("Gather", graph.constant(scales), nearest)
    return graph.add("Div", graph.add("Sqrt", cost), scale)


# rules that know a row by its distances to the centers, and their scores
SCORES: dict[type, Callable[[Graph, Any, str, str], str]] = {
    FittedRule: score_by_cost,
    NEORule: score_by_cost,
    FuzzyRule: score_by_cost,
    KMORRule: score_by_mean,
    ODCRule: score_by_width,
}


def prepared(graph: Graph, X: str, preparation: Any) -> str:
    """Add what a table model does to columns of numbers."""
    if preparation.categories:
        raise TypeError(
            "a TableModel with categories cannot be written as ONNX, which would have "
            "to read text; give numbers in their place."
        )
    ways = by_column(preparation.missing)
    is_filled = [
        ways.get(name, ways[OTHERS]) == "median" for name in preparation.columns
    ]
    unusable = graph.add("Or", graph.add("IsNaN", X), graph.add("IsInf", X))
    if preparation.log:
        is_logged = graph.constant(preparation.is_logged, bool)
        none, offset = graph.constant(0.0), graph.constant(preparation.offset)
        is_zero = graph.add("Equal", graph.add("Add", X, offset), none)
        has_no_log = graph.add("Or", graph.add("Less", X, none), is_zero)
        unusable = graph.add("Or", unusable, graph.add("And", is_logged, has_no_log))
    fill = graph.constant(np.where(is_filled, preparation.fill, np.nan))
    X = graph.add("Where", unusable, fill, X)
    if preparation.log:
        X = graph.add(
            "Where", is_logged, graph.add("Log", graph.add("Add", X, offset)), X
        )
    if preparation.scale == "none":
        return X
    moved = graph.add("Sub", X, graph.constant(preparation.center))
    return graph.add("Div", moved, graph.constant(preparation.spread))
