"""Why a row is an outlier, and what it would take not to be one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from rtkm._admission import canonical
from rtkm._changes import smallest_changes
from rtkm._confidence import CONFIDENCES, Confidence, Floats
from rtkm._optional import import_pandas
from rtkm._table import Table

if TYPE_CHECKING:
    import pandas as pd

# numbers that are worked on at a time: 2 MB
BLOCK = 2**18


class Reasons(NamedTuple):
    """Answers for rows, what they come from, and the change that mends an outlier."""

    scores: Floats
    outliers: NDArray[np.bool_]
    labels: NDArray[np.int32]
    ranks: NDArray[np.int8]
    factors: Floats
    changed: NDArray[np.intp]  # feature, or -1
    before: Floats
    after: Floats
    parts: Floats  # (n, d)


class Explanations(Confidence):
    """Answers with their reasons."""

    def _split(self, X: Table) -> Floats:
        """Return what features add to the squared distance of each row, (n, d)."""
        nearest = X.nearest(self.cluster_centers_, self._n_nearest_fitted)
        rows, C = dense(X), self.cluster_centers_.astype(np.float64)
        return sum(np.square(rows - C[labels]) for labels in nearest.labels.T)

    def _targets(self, X: Table) -> Floats:
        """Return what each row is compared with, (n, d): the mean of its centers."""
        nearest = X.nearest(self.cluster_centers_, self._n_nearest_fitted)
        return self.cluster_centers_.astype(np.float64)[nearest.labels].mean(axis=1)

    def explain(self, X: ArrayLike) -> pd.DataFrame:
        """Return, for each row, what its answer comes from and what would change it.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows; like :meth:`predict`, it takes them all for new ones. The frame
            has a number for every feature of every row: where that is too much, pass
            the rows in question.

        Returns
        -------
        pandas.DataFrame
            A line for each row, under the index of a pandas frame:

            ``score``, ``outlier``, ``nearest_cluster``
                The outlier score, whether it makes the row an outlier, and the nearest
                cluster, of an outlier too.
            ``confidence``, ``discriminant_factor``
                As in :meth:`predict_confidence` and :meth:`discriminant_factors`.
            ``change_feature``, ``change_from``, ``change_to``
                The smallest change of one feature that would make ``predict`` call an
                outlier an inlier, in the units of the table. Missing for inliers, and
                for outliers that no single feature can mend.
            ``part_`` and the name of a feature, for all of them
                What it adds to the score: the parts of a row sum to that.

        Notes
        -----
        The parts are those of the squared distance that the score comes from: to the
        nearest center; summed over the nearest centers where rows belong to several
        clusters each; to the mix of centers that explains the row in :class:`OKM` and
        its kin. They are scaled to sum to the score where that is something else, in
        mean squared distances for :class:`KMOR` and in mean distances for
        :class:`ODC`, or has fewer digits, as for float32 rows. Features without names
        are x0, x1, ...

        Examples
        --------
        >>> from rtkm import TrimmedKMeans
        >>> X = [[0, 0], [0, 2], [9, 0], [9, 2], [3, 8]]
        >>> model = TrimmedKMeans(2, contamination=1, random_state=0).fit(X)
        >>> frame = model.explain([[0, 2], [3, 8]])
        >>> frame[["score", "outlier", "confidence", "part_x0", "part_x1"]]
           score  outlier confidence  part_x0  part_x1
        0    1.0    False       core      0.0      1.0
        1   58.0     True    outlier      9.0     49.0
        >>> mended = ["change_feature", "change_from", "change_to"]
        >>> frame.loc[frame["outlier"], mended].round(3)
          change_feature  change_from  change_to
        1             x1          8.0      5.528
        """
        pd = import_pandas("explain")
        rows = self._admit_new(X)
        dtype = narrower(rows.dtype, X)
        found = joined(self._reasons(block, dtype) for block in self._blocks(rows))
        unnamed = [f"x{j}" for j in range(rows.n_features)]
        names = np.array([*getattr(self, "feature_names_in_", unnamed), None])
        index = X.index if isinstance(X, pd.DataFrame) else None
        answers = {
            "score": found.scores,
            "outlier": found.outliers,
            "nearest_cluster": found.labels,
            "confidence": pd.Categorical.from_codes(
                found.ranks, CONFIDENCES, ordered=True
            ),
            "discriminant_factor": found.factors,
            "change_feature": pd.Series(names[found.changed], index, object),
            "change_from": found.before,
            "change_to": found.after,
        }
        parts = pd.DataFrame(
            found.parts, index, [f"part_{name}" for name in names[:-1]]
        )
        return pd.concat([pd.DataFrame(answers, index), parts], axis=1)

    def _blocks(self, X: Table) -> Iterator[Table]:
        """Cut a table into parts whose distances by feature are not too many."""
        step = max(BLOCK // (X.n_features * len(self.cluster_centers_)), 1)
        for first in range(0, X.n_rows, step):
            yield X.part(np.arange(first, min(first + step, X.n_rows)))

    def _reasons(self, X: Table, dtype: np.dtype[Any]) -> Reasons:
        """Explain the rows of a block."""
        labels, scores, outliers, factors, ranks = self._judge(X)
        changed = np.full(X.n_rows, -1)
        before, after = np.full((2, X.n_rows), np.nan)
        if outliers.any():
            rows = dense(X)[outliers]
            changed[outliers], after[outliers] = smallest_changes(
                rows,
                self.cluster_centers_.astype(np.float64),
                self._squared_cutoffs(),
                self._n_nearest_fitted,
                lambda rows: -self._rate(like(X, rows)).scores >= self.offset_,
                dtype,
            )
            own = rows[np.arange(len(rows)), changed[outliers]]
            before[outliers] = np.where(changed[outliers] < 0, np.nan, own)
        parts = scaled(self._split(X), scores)
        return Reasons(
            scores, outliers, labels, ranks, factors, changed, before, after, parts
        )


def dense(X: Table) -> Floats:
    """Return all rows with the digits that differences need."""
    return X.rows(np.arange(X.n_rows)).astype(np.float64)


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
