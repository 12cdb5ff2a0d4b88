"""The cut for new rows where a number of outliers is given."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rtkm.choosing.outliers import fit_tail
from rtkm.clusterers._base import PrototypeClusterer
from rtkm.core.fields import NOT_SAVED, Learned, Scalar
from rtkm.core.params import Tally
from rtkm.core.table import Table


class CutByTail(PrototypeClusterer):
    """Base of the clusterers that call new rows outliers by the tail of their clusters.

    The last row kept and the first one trimmed may lie far from each other; new rows
    between them are outliers where the distances inside clusters say so.
    """

    standing_out_mask_: NDArray[np.bool_]
    n_standing_out_: int

    _learned: ClassVar[Learned] = {
        "n_standing_out_": Scalar(Tally, optional=True),
        "standing_out_mask_": NOT_SAVED,
    }

    _outliers_decided_by: ClassVar[str] = "asked"

    def _wanted_cut(self, X: Table) -> float | None:
        labels, costs = self.labels_, self.outlier_scores_
        tail = fit_tail(X, self.cluster_centers_, labels, costs, self.inlier_weights_)
        mask = np.zeros(X.n_rows, dtype=bool)
        if tail is not None:
            mask = X.counts & tail.stand_out(labels, costs)
        self.standing_out_mask_ = mask
        self.n_standing_out_ = int(mask.sum())
        return tail.cutoff() if tail and self._looks_for_outliers(X) else None

    def _looks_for_outliers(self, X: Table) -> bool:
        """Whether a new row may be an outlier."""
        return self._n_trimmed(X) > 0
