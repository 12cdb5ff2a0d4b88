r"""Exact projections onto the capped simplex.

The capped simplex :math:`\{w : 0 \le w_i \le 1, \sum_i w_i = s\}` holds the memberships
of a row that belongs to *s* clusters, and the inlier weights of a table of which *s*
rows are to be kept. Its projection is :math:`\mathrm{clip}(y - \theta, 0, 1)` with the
shift :math:`\theta` that gives the sum; entries at a bound are exactly 0 or 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from rtkm import _native
from rtkm.core.threads import n_threads
from rtkm.core.validation import weights_of_rows

__all__ = ["capped_simplex", "capped_simplex_rows"]


def capped_simplex(
    y: ArrayLike, total: float, *, sample_weight: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Project a vector onto the capped simplex.

    Takes a handful of passes over the entries and sorts none of them.

    Parameters
    ----------
    y : array-like of shape (n,)
        The point to project.
    total : float
        The sum of the result, from 0 to n (to the sum of the weights).
    sample_weight : array-like of shape (n,), default=None
        An entry of weight 2 counts as that entry twice.

    Returns
    -------
    ndarray of shape (n,)
        The nearest point of the capped simplex.

    Examples
    --------
    >>> from rtkm.projections import capped_simplex
    >>> capped_simplex([0.9, 0.6, 0.2, -0.3], 2).round(6)
    array([1. , 0.7, 0.3, 0. ])
    """
    point: NDArray[np.float64] = check_array(
        y, dtype=np.float64, ensure_2d=False, order="C", input_name="y"
    )
    if point.ndim != 1:
        raise ValueError(
            f"y has shape {point.shape}; expected one dimension (for the rows of a "
            "matrix use capped_simplex_rows)."
        )
    weights = None
    if sample_weight is not None:
        weights = weights_of_rows(sample_weight, len(point))
    largest = len(point) if weights is None else weights.sum()
    _check_total(total, largest)
    if total in (0, largest):
        return np.full(len(point), 1.0 if total else 0.0)
    return _native.project(point, weights, total, n_threads())


def capped_simplex_rows(Y: ArrayLike, total: float) -> NDArray[np.float64]:
    """Project every row of a matrix onto the capped simplex.

    Parameters
    ----------
    Y : array-like of shape (n, k)
        The points to project.
    total : float
        The sum of each row of the result, from 0 to k.

    Returns
    -------
    ndarray of shape (n, k)
        The nearest points of the capped simplex.

    Examples
    --------
    >>> from rtkm.projections import capped_simplex_rows
    >>> capped_simplex_rows([[0.9, 0.6, 0.2, -0.3], [3, 2, -5, 0.1]], 3).round(6)
    array([[1.  , 1.  , 0.75, 0.25],
           [1.  , 1.  , 0.  , 1.  ]])
    """
    points: NDArray[np.float64] = check_array(
        Y, dtype=np.float64, order="C", input_name="Y"
    )
    _check_total(total, points.shape[1])
    return _native.project_rows(points, total, n_threads())


def _check_total(total: float, largest: float) -> None:
    if not 0 <= total <= largest:
        raise ValueError(
            f"total={total!r} cannot be reached by {largest:g} weights in [0, 1]; "
            f"expected a number from 0 to {largest:g}."
        )
