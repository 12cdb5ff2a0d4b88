r"""Scores of a clustering with overlaps and outliers against a known truth.

===========================================================  ===========================
Question                                                     Metric
===========================================================  ===========================
Are the clusters and the outliers found, set by set?         `average_f1`
Is that better than no answer at all, on overlapping data?   `trivial_f1`, `cardinality`
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
from rtkm.metrics._outliers import (
    outlier_average_precision,
    outlier_me,
    outlier_roc_auc,
)

__all__ = [
    "average_f1",
    "cardinality",
    "outlier_average_precision",
    "outlier_me",
    "outlier_roc_auc",
    "trivial_f1",
]
