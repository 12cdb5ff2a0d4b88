"""What was done to a table, so that it can be done to new rows and undone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rtkm.tables.categories import feature_names, find_known, indicators
from rtkm.tables.logarithms import blank_unusable
from rtkm.tables.messages import InputError, listed, shown
from rtkm.tables.missing import (
    Imputed,
    MissingPolicy,
    as_matrix,
    by_column,
    check_policy,
    impute,
    impute_sparse,
    is_policy,
    ways_for,
)
from rtkm.tables.scaling import SCALES, Scale
from rtkm.tables.select import ask_for, find_ids
from rtkm.tables.sheet import AnyTable

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Preparation:
    """What was done to a table, so that it can be done to new rows.

    Attributes
    ----------
    columns : tuple of str
        Names of the features, in the order of the matrix.
    missing : "error", "drop" or "median", or dict
        How missing values are handled, in all columns or by name.
    fill : tuple of float
        Median of each column, which stands for missing values; of categories, the
        most frequent one.
    scale : "none", "standard" or "robust"
        How columns are scaled.
    log : tuple of str
        The columns whose logarithm is used: there x becomes ``log(x + offset)``.
    offset : tuple of float
        What is added before, by column; 0 in others.
    center, spread : tuple of float
        A number x of a column then becomes ``(x - center) / spread``.
    categories : dict
        The columns of categories, by name, and the categories of each. They come after
        the columns of numbers; each category has a feature of its own, such as
        ``color=red``, which is 1 in its rows and 0 in others.
    n_unnamed : int
        How many columns a table without names must have; 0 if this one had names.
    id : str
        The column that names the rows, given or found; empty if there is none.
    """

    columns: tuple[str, ...]
    missing: MissingPolicy
    fill: tuple[float, ...]
    scale: Scale
    center: tuple[float, ...]
    spread: tuple[float, ...]
    n_unnamed: int = 0
    id: str = ""
    log: tuple[str, ...] = ()
    offset: tuple[float, ...] = ()
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def repeat(
        self,
        table: AnyTable | sparse.csr_array,
        *,
        id: str | None = None,
        missing: MissingPolicy | None = None,
    ) -> Prepared:
        """Prepare new rows as those were that a model was fitted to."""
        policy = self.missing if missing is None else missing
        check_policy(policy)
        if not isinstance(policy, str):
            policy = {**by_column(self.missing), **policy}
        self._check_names(table)
        if sparse.issparse(table):
            imputed, notes = impute_sparse(table, policy, self.fill)
            return finished(imputed, self, None, notes)
        names = self.sources
        if self.n_unnamed:
            places = [int(name[1:]) for name in names]
            names = tuple(table.names[place] for place in places)
        numbers = [ask_for(table, name) for name in names[: self.n_numbers]]
        ways, ids = ways_for(policy, numbers), find_ids(table, id)
        X, notes = as_matrix(numbers, ways, table.n_rows)
        if self.log:
            offset = np.array(self.offset)
            notes += blank_unusable(X, numbers, ways, self.is_logged, offset)
        known = zip(names[self.n_numbers :], self.categories.values(), strict=True)
        found, told = find_known(table, dict(known))
        chosen = [*numbers, *found.columns]
        ways = ways_for(policy, chosen)
        X = beside(X, found.places)
        imputed = impute(X, chosen, ways, self.fill_by_source, notes, ids=ids)
        used = {*names, id, self.id}
        left_out = [name for name in table.names if name not in used]
        return finished(imputed, self, ids, [*notes, *told], left_out=left_out)

    def _check_names(self, table: Any) -> None:
        """Refuse a table without names where the model knows some."""
        is_named = getattr(table, "is_named", not sparse.issparse(table))
        if not is_named and not self.n_unnamed:
            features = listed(map(shown, self.columns), len(self.columns))
            raise InputError(
                f"the model was fitted to columns by name ({features}), and this table "
                "has none; pass a frame with these names."
            )
        n_columns = table.shape[1] if sparse.issparse(table) else len(table.names)
        if self.n_unnamed and n_columns != self.n_unnamed:
            # in the words of scikit-learn, whose checks look for them
            raise InputError(
                f"X has {n_columns} features, but TableModel is expecting "
                f"{self.n_unnamed} features as input."
            )

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """The columns of the table that the features come from."""
        return (*self.columns[: self.n_numbers], *self.categories)

    @property
    def n_numbers(self) -> int:
        """The number of features that are columns of numbers; they come first."""
        return len(self.columns) - sum(map(len, self.categories.values()))

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """The first feature of each source."""
        sizes = [1] * self.n_numbers + [*map(len, self.categories.values())]
        return np.cumsum([0, *sizes[:-1]], dtype=np.intp)

    @cached_property
    def source_of(self) -> NDArray[np.intp]:
        """The place of the source of each feature."""
        return np.searchsorted(self.starts, np.arange(len(self.columns)), "right") - 1

    @property
    def source_names(self) -> list[str]:
        """The column of the table that each feature comes from."""
        return [self.sources[j] for j in self.source_of.tolist()]

    @property
    def fill_by_source(self) -> tuple[float, ...]:
        """What stands for missing cells: a number, or the place of a category."""
        modes = [
            float(np.argmax(self.fill[start : start + len(values)]))
            for start, values in zip(
                self.starts[self.n_numbers :], self.categories.values(), strict=True
            )
        ]
        return (*self.fill[: self.n_numbers], *modes)

    def by_source(self, parts: Floats) -> Floats:
        """Add up, along the last axis, what belongs to the features of each source."""
        if not self.categories:
            return parts
        return np.add.reduceat(parts, self.starts, axis=-1)

    def features(self, X: Floats) -> Floats:
        """Return features, given numbers and the places of categories."""
        if not self.categories:
            return X
        n = self.n_numbers
        some = [
            indicators(X[:, n + j], len(values))
            for j, values in enumerate(self.categories.values())
        ]
        return np.hstack([X[:, :n], *some])

    @property
    def is_identity(self) -> bool:
        """Whether numbers are used as they are."""
        return self.scale == "none" and not self.log and not self.categories

    @cached_property
    def is_logged(self) -> NDArray[np.bool_]:
        """Of which columns logarithms are used."""
        return np.array([name in self.log for name in self.columns])

    def scaled(self, X: Any) -> Any:
        """Put numbers into the units of the matrix; changes X, which is returned."""
        for j in np.flatnonzero(self.is_logged):
            X[:, j] = np.log(X[:, j] + self.offset[j])
        if self.scale == "none" and not self.categories:
            return X
        if sparse.issparse(X):
            return (X @ sparse.diags_array(1 / np.array(self.spread))).tocsr()
        X -= np.array(self.center)
        X /= np.array(self.spread)
        return X

    def to_json(self) -> dict[str, Any]:
        """Return the preparation as plain lists, numbers and text."""
        return {
            "columns": list(self.columns),
            "missing": self.missing,
            "fill": list(self.fill),
            "scale": self.scale,
            "center": list(self.center),
            "spread": list(self.spread),
            "log": list(self.log),
            "offset": list(self.offset),
            "categories": {name: [*values] for name, values in self.categories.items()},
        }

    def in_data_units(self, values: NDArray[Any], columns: Any = slice(None)) -> Floats:
        """Put numbers of the matrix, such as centers, back into the data's own units.

        They are rows of it, or numbers of the columns whose places are given.
        """
        numbers = self.unscaled(values, columns)
        if not self.log:
            return numbers
        offset = np.array(self.offset)[columns]
        with np.errstate(over="ignore"):
            sizes = without_dust(np.exp(numbers) - offset, offset)
        return np.where(self.is_logged[columns], sizes, numbers)

    def unscaled(self, values: NDArray[Any], columns: Any = slice(None)) -> Floats:
        """Undo the scaling only, so that logarithms stay such."""
        spread, center = np.array(self.spread)[columns], np.array(self.center)[columns]
        return without_dust(values * spread + center, center)

    def in_matrix_units(self, values: Floats, columns: Any) -> Floats:
        """Put numbers of the table, of the columns at places, in the matrix's units."""
        if self.log:
            is_logged = self.is_logged[columns]
            sizes = np.where(is_logged, values + np.array(self.offset)[columns], 1.0)
            sizes = np.maximum(sizes, np.finfo(float).tiny)
            values = np.where(is_logged, np.log(sizes), values)
        spread, center = np.array(self.spread)[columns], np.array(self.center)[columns]
        return (values - center) / spread


@dataclass(frozen=True)
class Prepared:
    """A table ready for a model.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n_kept, n_features)
        The rows that are kept.
    preparation : Preparation
        What was done.
    kept : ndarray of shape (n_rows,)
        Whether a row of the table is in X.
    reasons : dict
        Why a row, by its place in the table, is not, or is not as it was.
    filled : ndarray of shape (n_kept, n_features) or None
        Which numbers of X stand for missing values; None where there are none.
    ids : sequence or None
        What the rows of the table are called, if a column says so.
    notes : tuple of str
        What was done, in sentences.
    n_missing : ndarray of shape (n_features,)
        Missing values of each column, in all rows of the table.
    weights : ndarray of shape (n_kept,) or None
        What the rows of X count for.
    left_out : tuple of str
        The columns that had no part in X, ids or weights.
    """

    X: Any
    preparation: Preparation
    kept: NDArray[np.bool_]
    reasons: Mapping[int, str]
    filled: NDArray[np.bool_] | None
    ids: Any
    notes: tuple[str, ...]
    n_missing: NDArray[np.int64]
    weights: Floats | None = field(default=None, kw_only=True)
    left_out: tuple[str, ...] = field(default=(), kw_only=True)


def finished(
    imputed: Imputed,
    preparation: Preparation,
    ids: Any,
    notes: Sequence[str],
    weights: Floats | None = None,
    left_out: Sequence[str] = (),
) -> Prepared:
    """Scale what has no missing values any more."""
    source_of = preparation.source_of
    filled, n_missing = imputed.filled, imputed.n_missing
    if preparation.categories:
        filled = None if filled is None else filled[:, source_of]
        n_missing = n_missing[source_of]
    return Prepared(
        preparation.scaled(preparation.features(imputed.X)),
        preparation,
        imputed.kept,
        imputed.reasons,
        filled,
        ids,
        tuple(notes),
        n_missing,
        weights=weights,
        left_out=tuple(left_out),
    )


# what rounding leaves of numbers, relative to those that were taken off and added
DUST = 64 * np.finfo(float).eps


def without_dust(values: Floats, added: Floats) -> Floats:
    """Return 0 for what is left by rounding where a number was taken off, and added."""
    return np.where(np.abs(values) <= DUST * np.abs(added), 0.0, values)


def beside(X: Floats, places: Floats) -> Floats:
    """Put the places of categories, if there are any, beside numbers."""
    return np.hstack([X, places]) if places.shape[1] else X


def unscaled(
    columns: Sequence[str],
    n_unnamed: int = 0,
    *,
    log: tuple[str, ...] = (),
    offset: Sequence[float] | Floats = (),
) -> Preparation:
    """Return the preparation of a table whose numbers are used as they are.

    Or their logarithms, in some columns.
    """
    n = len(columns)
    return Preparation(
        columns=tuple(columns),
        missing="error",
        fill=(0.0,) * n,
        scale="none",
        center=(0.0,) * n,
        spread=(1.0,) * n,
        n_unnamed=n_unnamed,
        log=log,
        offset=tuple(map(float, offset)) or (0.0,) * n,
    )


PARTS = {part.name for part in fields(Preparation)}
LISTS = ("fill", "offset", "center", "spread")


def is_preparation(content: Any) -> bool:
    """Whether plain data are a preparation, whole and sound."""
    if not isinstance(content, dict) or content.keys() != PARTS:
        return False
    columns, n_unnamed = content["columns"], content["n_unnamed"]
    if not isinstance(content["id"], str) or not is_list_of(content["log"], str):
        return False
    if not is_list_of(columns, str) or len(set(columns)) != len(columns) or not columns:
        return False
    categories = content["categories"]
    if not are_categories(categories, columns):
        return False
    numbers = columns[: len(columns) - sum(map(len, categories.values()))]
    if not set(content["log"]) <= {*numbers}:
        return False
    sources = {*numbers, *categories}
    if type(n_unnamed) is not int or n_unnamed < 0:
        return False
    if n_unnamed and not sources <= {f"x{j}" for j in range(n_unnamed)}:
        return False
    lists = [content[key] for key in LISTS]
    return (
        is_policy(content["missing"])
        and content["scale"] in SCALES
        and content["scale"] != "auto"
        and all(is_list_of(numbers, float) for numbers in lists)
        and all(len(numbers) == len(columns) for numbers in lists)
        and all(math.isfinite(number) for numbers in lists for number in numbers)
        and all(number > 0 for number in content["spread"])
        and all(number >= 0 for number in content["offset"])
    )


def are_categories(value: Any, columns: list[str]) -> bool:
    """Whether a value gives the last columns as the categories of some."""
    if not isinstance(value, dict):
        return False
    if not all(values and is_list_of(values, str) for values in value.values()):
        return False
    names = [name for parts in value.items() for name in feature_names(*parts)]
    return columns[len(columns) - len(names) :] == names


def is_list_of(value: Any, kind: type) -> bool:
    """Whether a value is a list of nothing but the type."""
    return isinstance(value, list) and all(type(item) is kind for item in value)
