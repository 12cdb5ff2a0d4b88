"""Why a row is an outlier, and what it would take not to be one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rtkm._optional import import_optional
from rtkm.clusterers._confidence import CONFIDENCES, confidence_of
from rtkm.clusterers._counterfactual import smallest_changes
from rtkm.clusterers._rule import FittedRule, Floats, RowResults
from rtkm.core.table import Table
from rtkm.core.validation import canonical

if TYPE_CHECKING:
    import pandas as pd

# numbers that are worked on at a time: 2 MB
BLOCK = 2**18


class Reasons(NamedTuple):
    """Answers for rows, what they come from, and what would make outliers inliers."""

    scores: Floats
    outliers: NDArray[np.bool_]
    labels: NDArray[np.int32]
    ranks: NDArray[np.int8]
    factors: Floats
    changed: NDArray[np.intp]  # feature, or -1
    before: Floats
    after: Floats
    parts: Floats  # (n, d)

    def frame(self, names: Iterable[str], index: Any = None) -> pd.DataFrame:
        """Return all that is known, under the names of the features."""
        pd = import_optional("pandas", needed_by="explain")
        features = np.array([*names, None], dtype=object)
        answers = {
            "score": self.scores,
            "outlier": self.outliers,
            "nearest_cluster": self.labels,
            "confidence": pd.Categorical.from_codes(
                self.ranks, CONFIDENCES, ordered=True
            ),
            "discriminant_factor": self.factors,
            "change_feature": pd.Series(features[self.changed], index, object),
            "change_from": self.before,
            "change_to": self.after,
        }
        parts = pd.DataFrame(
            self.parts, index, [f"part_{name}" for name in features[:-1]]
        )
        return pd.concat([pd.DataFrame(answers, index), parts], axis=1)


def reasons_for(
    X: Table,
    rule: FittedRule,
    dtype: np.dtype[Any],
    may_change: NDArray[np.bool_] | None = None,
) -> Reasons:
    """Explain rows, some at a time; changes are numbers of the dtype.

    `may_change` tells which features can have other values, if not all of them.
    """
    if may_change is None:
        may_change = np.ones(X.n_features, dtype=bool)
    return joined(
        reasons_of(RowResults(block, rule), dtype, may_change)
        for block in blocks(X, rule)
    )


def blocks(X: Table, rule: FittedRule) -> Iterator[Table]:
    """Cut a table into parts whose distances by feature are not too many."""
    step = max(BLOCK // (X.n_features * len(rule.centers)), 1)
    for first in range(0, X.n_rows, step):
        yield X.part(np.arange(first, min(first + step, X.n_rows)))


def reasons_of(
    rows: RowResults, dtype: np.dtype[Any], may_change: NDArray[np.bool_]
) -> Reasons:
    """Explain the rows of a block."""
    X, rule, outliers = rows.X, rows.rule, rows.outliers
    factors, ranks = confidence_of(rows)
    changed = np.full(X.n_rows, -1)
    before, after = np.full((2, X.n_rows), np.nan)
    if outliers.any():
        values = rows.dense[outliers]
        changed[outliers], after[outliers] = smallest_changes(
            values,
            rule.centers.astype(np.float64),
            rule.squared_cutoffs(),
            rule.n_nearest,
            lambda new: ~RowResults(like(X, new), rule).outliers,
            dtype,
            may_change,
        )
        own = values[np.arange(len(values)), changed[outliers]]
        before[outliers] = np.where(changed[outliers] < 0, np.nan, own)
    parts = scaled(rule.parts(rows), rows.scores)
    return Reasons(
        rows.scores,
        outliers,
        rows.clusters,
        ranks,
        factors,
        changed,
        before,
        after,
        parts,
    )


def like(X: Table, rows: NDArray[Any]) -> Table:
    """Return a table of other rows that is treated as this one is, rounding too."""
    rows = rows.astype(X.dtype)
    is_sparse = sparse.issparse(X.X)
    return Table(canonical(sparse.csr_array(rows)) if is_sparse else rows, None)


def narrower(dtype: np.dtype[Any], X: Any) -> np.dtype[Any]:
    """Return the type of new entries: float32 where the array has no room for more."""
    is_array = isinstance(X, np.ndarray) or sparse.issparse(X)
    return X.dtype if is_array and X.dtype == np.float32 else dtype


def scaled(parts: Floats, sums: Floats) -> Floats:
    """Scale the parts of each row to a sum; nothing has equal parts in it."""
    totals = parts.sum(axis=1)
    shares = np.full(parts.shape, 1 / parts.shape[1])
    np.divide(parts, totals[:, None], out=shares, where=totals[:, None] > 0)
    # no part in an infinite sum is still none
    return np.multiply(shares, sums[:, None], out=shares, where=shares > 0)


def joined(blocks: Iterable[Any]) -> Any:
    """Put the records of blocks of rows together."""
    records = list(blocks)
    return type(records[0])(*map(np.concatenate, zip(*records, strict=True)))
