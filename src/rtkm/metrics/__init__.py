r"""Scores of a clustering with overlaps and outliers against a known truth.

===========================================================  ===========================
Question                                                     Metric
===========================================================  ===========================
Are the clusters and the outliers found, set by set?         `average_f1`
Is that better than no answer at all, on overlapping data?   `trivial_f1`, `cardinality`
Do pairs of rows meet as often as they should?               `omega_index`
How much does the prediction tell about the truth, in bits?  `overlapping_nmi`
Are the clusters right where both sides see no outlier?      `ari_on_inliers`
Are the outliers flagged, at the threshold chosen?           `outlier_me`
Are the outliers ranked first, at any threshold?             `outlier_roc_auc`
The same, when outliers are few?                             `outlier_average_precision`
===========================================================  ===========================

On overlapping data an average F1 means little alone; show `trivial_f1` of the truth and
the `cardinality` of both sides with it.

Precision, recall and F1 of the outliers are scikit-learn's, on the masks
``truth == -1`` and ``labels_ == -1``.
"""

from rtkm.metrics._f1 import average_f1, cardinality, trivial_f1
from rtkm.metrics._information import overlapping_nmi
from rtkm.metrics._outliers import (
    outlier_average_precision,
    outlier_me,
    outlier_roc_auc,
)
from rtkm.metrics._pairs import ari_on_inliers, omega_index

__all__ = [
    "ari_on_inliers",
    "average_f1",
    "cardinality",
    "omega_index",
    "outlier_average_precision",
    "outlier_me",
    "outlier_roc_auc",
    "overlapping_nmi",
    "trivial_f1",
]
