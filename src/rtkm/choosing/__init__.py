"""How many clusters and how many outliers a table has."""

from rtkm.choosing.choice import Choice, FittedTail, SmallGroups
from rtkm.choosing.outliers import fit_tail
from rtkm.choosing.steps import choose, choose_for

__all__ = ["Choice", "FittedTail", "SmallGroups", "choose", "choose_for", "fit_tail"]
