"""Input validation: arrays are checked here, once, and trusted afterwards."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, get_tags
from sklearn.utils.validation import validate_data

from rtkm._warnings import warn
from rtkm.core.sparse_format import check_sparse_format, is_canonical
from rtkm.core.table import Table, column_ends

LARGEST_MASS = 2.0**53
ARRAY_OPTIONS: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": [np.float64, np.float32],
    "order": "C",
}


def validate(estimator: Any, X: Any, sample_weight: Any = None) -> Table:
    """Check the rows a model is fitted to."""
    raw, X = X, as_numbers(estimator, X)
    check_magnitudes(raw, X, names_of(estimator, X))
    return Table(canonical(X), checked_weights(sample_weight, X))


def validate_new(estimator: Any, X: Any, near: NDArray[Any] | None = None) -> Table:
    """Check rows shown to a fitted model, which sees them in its own precision.

    They are held against the rows it was fitted to: `near`, or else its centers.
    """
    raw, X = X, as_numbers(estimator, X, reset=False)
    near = estimator.cluster_centers_ if near is None else near
    with np.errstate(over="ignore"):  # the magnitudes tell
        X = X.astype(near.dtype, copy=False)
    check_magnitudes(raw, X, names_of(estimator, X), near)
    return Table(canonical(X), None)


def make_table(X: Any, sample_weight: Any = None, names: Any = None) -> Table:
    """Check rows that belong to no estimator; their columns may have names."""
    if sparse.issparse(X):
        check_sparse_format(X)
    raw, X = X, check_array(X, **ARRAY_OPTIONS)
    check_magnitudes(raw, X, names_of(None, X) if names is None else names)
    return Table(canonical(X), checked_weights(sample_weight, X))


def validate_centers(estimator: Any, given: Any, X: Table) -> NDArray[Any]:
    """Check starting centers and return a copy of them."""
    wanted = (estimator.n_clusters, X.n_features)
    if np.shape(given) != wanted:
        raise ValueError(
            f"init has shape {np.shape(given)}; expected (n_clusters, n_features) = "
            f"{wanted}."
        )
    C = check_array(given, dtype=X.dtype, order="C", copy=True, input_name="init")
    names = [f"{name!s} of X and init" for name in names_of(estimator, C)]
    check_magnitudes(C, C, names, near=X.rows(np.zeros(1, dtype=np.int64)))
    return C


# shown below the message, which for NaN is that of scikit-learn
TAKES_GAPS = (
    "rtkm.TableModel takes such tables: missing='drop' leaves rows out, and "
    "missing='median' fills cells in."
)
TAKES_TEXT = (
    "rtkm.TableModel takes such tables: it leaves text out, or uses it as categories=."
)


def as_numbers(estimator: Any, X: Any, **options: Any) -> Any:
    """Let scikit-learn validate; where values are no numbers, say what to do."""
    if not get_tags(estimator).input_tags.sparse:
        options["accept_sparse"] = False
    elif sparse.issparse(X):
        check_sparse_format(X)
    refuse_dates(X)
    try:
        return validate_data(estimator, X, **(ARRAY_OPTIONS | options))
    except (ValueError, TypeError, OverflowError) as error:
        if not is_conversion_error(error):
            if "NaN" in str(error):
                error.add_note(TAKES_GAPS)
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        refused = kind(f"{error}; expected numbers, {way_to_numbers(X)}.")
        if hasattr(X, "columns"):
            refused.add_note(TAKES_TEXT)
        raise refused from error


def is_conversion_error(error: Exception) -> bool:
    """Whether a value could not be made a float."""
    reasons = "could not convert", "argument must be a string or a real number"
    is_overflow = isinstance(error, OverflowError)
    return is_overflow or any(reason in str(error) for reason in reasons)


def way_to_numbers(X: Any) -> str:
    """Say which columns to do something about."""
    if np.ndim(X) != 2:
        return "in a table of rows and columns"
    names = getattr(X, "columns", range(np.shape(X)[1]))
    text = [str(names[j]) for j in range(len(names)) if is_text(column(X, j))]
    return f"so encode or drop column {', '.join(text)}"


def is_text(values: NDArray[Any]) -> bool:
    """Whether some value is no number."""
    try:
        values.astype(np.float64)
    except (ValueError, TypeError, OverflowError):
        return True
    return False


def refuse_dates(X: Any) -> None:
    """Refuse dates and times, which would become numbers of any unit."""
    dtypes = getattr(X, "dtypes", [getattr(X, "dtype", None)])
    names = list(getattr(X, "columns", ["X"]))
    for name, dtype in zip(names, list(dtypes), strict=False):
        if getattr(dtype, "kind", "") in ("m", "M"):
            where = "X" if name == "X" else f"column {name!s}"
            raise TypeError(
                f"{where} holds {dtype}; expected numbers, so turn dates and times "
                "into days or seconds, or drop them."
            )


def names_of(estimator: Any, X: Any) -> Any:
    """Return what columns are called."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        names = getattr(estimator, "_column_names", None)
    return np.arange(X.shape[1]) if names is None else names


def canonical(X: Any) -> Any:
    """Give CSR rows sorted columns without repetitions, and 32-bit indices."""
    if not sparse.issparse(X):
        return X
    if not is_canonical(X):
        X = X.copy()
        X.sum_duplicates()
    if X.nnz > np.iinfo(np.int32).max:
        raise ValueError(
            f"X has {X.nnz} entries; expected at most 2**31 - 1 in a CSR matrix, so "
            "fit a part of the rows or pass them dense."
        )
    indices, indptr = (a.astype(np.int32, copy=False) for a in (X.indices, X.indptr))
    return sparse.csr_array((X.data, indices, indptr), shape=X.shape)


def checked_weights(sample_weight: Any, X: Any) -> NDArray[np.float64] | None:
    """Return weights as float64, or None where all rows count once."""
    if sample_weight is None:
        return None
    weights = weights_of_rows(sample_weight, X.shape[0])
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not 0 < total <= LARGEST_MASS:
        raise ValueError(
            f"sample_weight sums to {total:g}; expected more than 0 and at most 2**53, "
            "up to which rows can be counted."
        )
    return weights


def weights_of_rows(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    """Return one weight a row, none of them negative and not all of them 0.

    A single number is the weight of every row.
    """
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_rows, sample_weight)
    weights: NDArray[np.float64] = check_array(
        sample_weight,
        dtype=np.float64,
        order="C",
        ensure_2d=False,
        allow_nd=True,
        ensure_min_samples=0,
        input_name="sample_weight",
    )
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}; expected one number for each "
            f"of the {n_rows} rows."
        )
    if weights.min(initial=0.0) < 0:
        raise ValueError(
            f"sample_weight has negative values, such as {weights.min():g}; expected "
            "0 or more."
        )
    if not weights.any():
        raise ValueError("sample_weight is zero for all rows; expected some above.")
    return weights


def check_row_count(
    X: Table, n_clusters: int, n_trimmed: float = 0, trimmed_by: str = ""
) -> None:
    """Refuse tables with too few rows for the centers."""
    n_rows = X.n_positive
    if n_clusters > n_rows:
        counted = "" if n_rows == X.n_rows else f", {n_rows} of positive weight"
        raise ValueError(
            f"n_clusters={n_clusters} needs at least {n_clusters} rows; X has "
            f"n_samples={X.n_rows}{counted}."
        )
    if n_trimmed and X.mass - n_trimmed < n_clusters * min(1.0, X.lightest):
        raise ValueError(
            f"{trimmed_by} leaves {max(X.mass - n_trimmed, 0):g} of {X.mass:g} rows, "
            f"too few for n_clusters={n_clusters}; ask for fewer outliers or fewer "
            "clusters."
        )
    n_distinct = X.count_distinct(n_clusters)
    if n_distinct < n_clusters:
        warn(
            f"n_clusters={n_clusters} exceeds the number of distinct rows, "
            f"{n_distinct}; some clusters will share a center.",
            ConvergenceWarning,
        )


def check_magnitudes(raw: Any, X: Any, names: Any, near: Any = None) -> None:
    """Refuse values whose squared distances, among them or to `near`, are no float."""
    limits = np.finfo(X.dtype)
    faint = limits.tiny / limits.eps  # squares below this have lost their digits
    if is_far_from_limits(X, near, faint):
        return
    spans = column_spans(X, near)
    widest = int(spans.argmax())
    span, name = spans[widest], names[widest]
    n_summed = LARGEST_MASS if X.dtype == np.float64 else 1.0
    with np.errstate(over="ignore", under="ignore"):
        squares = np.square(spans)
        overflows = not squares.sum() * n_summed < limits.max
    if overflows:
        raise ValueError(
            f"column {name!s} spans {span:.3g}, so squared distances overflow "
            f"{X.dtype}; divide the column by {power_of_ten(span)}."
        )
    if near is None and span > 0 and squares[widest] < faint:
        raise ValueError(
            f"column {name!s} spans {span:.3g} and no column more, so squared "
            f"distances vanish in {X.dtype}; multiply X by {power_of_ten(1 / span)}."
        )
    refuse_large_values(X, names, n_summed, near)
    refuse_rounded_integers(raw, X, spans, names)


def refuse_large_values(X: Any, names: Any, n_summed: float, near: Any = None) -> None:
    """Refuse values that are close together, but so large that squares overflow.

    A distance may be small then, but a sum of squares is what means are had from.
    """
    ends = column_ends(X) if near is None else np.concatenate([column_ends(X), near])
    sizes = np.abs(ends).max(axis=0)
    with np.errstate(over="ignore"):
        if np.square(sizes).sum() * n_summed < np.finfo(X.dtype).max:
            return
    largest = int(sizes.argmax())
    raise ValueError(
        f"column {names[largest]!s} holds {sizes[largest]:.3g}, the square of which "
        f"overflows {X.dtype}; subtract its smallest value, or divide the column by "
        f"{power_of_ten(sizes[largest])}."
    )


def is_far_from_limits(X: Any, near: Any, faint: float) -> bool:
    """Whether a glance shows, as nearly always, that columns need no look each."""
    values = X.data if sparse.issparse(X) else X
    seen = [a for a in (values, near) if a is not None and a.size]
    low = min([0.0, *(float(a.min()) for a in seen)])
    high = max([0.0, *(float(a.max()) for a in seen)])
    with np.errstate(over="ignore", under="ignore"):
        most = np.square(np.float64(high - low)) * X.shape[1]
        if X.dtype == np.float64:
            most *= LARGEST_MASS
        least = np.square(column_spans(X[:64]).max())
    exact_integers = max(-low, high) < 2**53
    return bool(exact_integers and least > faint and most < np.finfo(X.dtype).max)


def column_spans(X: Any, near: Any = None) -> NDArray[np.float64]:
    """Return the distance from the smallest to the largest value of each column."""
    ends = column_ends(X)
    if near is not None:
        ends = np.concatenate([ends, near])
    with np.errstate(over="ignore"):
        return np.ptp(ends, axis=0)


def power_of_ten(value: float) -> str:
    """Write the power of ten below the value, which may be infinite."""
    return f"{10.0 ** np.floor(np.log10(min(value, np.finfo(np.float64).max))):.0e}"


def refuse_rounded_integers(
    raw: Any, X: Any, spans: NDArray[np.float64], names: Any
) -> None:
    """Refuse integers that become equal, or nearly so, as floats."""
    ends = np.abs(column_ends(X)).max(axis=0)
    rounding = ends * 2.0**-53
    for j in np.flatnonzero((rounding >= 0.5) & (rounding > 1e-6 * spans)):
        given, rounded = column(raw, int(j)), column(X, int(j))
        pairs = zip(given.tolist(), rounded.tolist(), strict=True)
        if given.dtype.kind in "iuO" and any(int(a) != int(b) for a, b in pairs):
            raise ValueError(
                f"column {names[j]!s} holds integers near {ends[j]:.3g} that float64 "
                "cannot tell apart; subtract their smallest value first."
            )


def column(table: Any, j: int) -> NDArray[Any]:
    """Return a column of any table; that of a frame has its own type."""
    if hasattr(table, "columns"):
        return np.asarray(table[table.columns[j]])
    if sparse.issparse(table):
        return table.tocsc()[:, [j]].toarray().ravel()
    return np.asarray(table)[:, j]
