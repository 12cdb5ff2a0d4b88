"""Estimators whose rows are on a cluster, and whose answers for them stay there."""

from __future__ import annotations

import inspect
import os
import uuid
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from rtkm.clusterers import relaxed, rtkm, trimmed
from rtkm.core.columns import Column
from rtkm.core.sources import is_dask
from rtkm.core.states import Memberships
from rtkm.dask.collections import DaskRows, as_array, dask_array, is_frame

CLIENT = """\
client : distributed.Client or None, default=None
    The cluster to run on; None is the current client, and without one this process.
"""
# what answers for Dask collections are made of: one answer for each row
BY_ROW = (
    "predict",
    "predict_memberships",
    "transform",
    "score_samples",
    "decision_function",
    "discriminant_factors",
    "predict_confidence",
)


class LazyMemberships(NamedTuple):
    """Memberships that stay where the rows are."""

    weights: Any  # (n, k)

    def toarray(self) -> Any:
        """Return the weights, as a Dask array."""
        return self.weights


def by_row(name: str) -> Callable[..., Any]:
    """Return a method that answers for Dask collections by Dask arrays."""
    of_all = getattr(rtkm.RTKM, name)

    @wraps(of_all)
    def answer(self: Any, X: Any) -> Any:
        if not is_dask(X):
            return getattr(self.to_local(), name)(X)
        return answered(self.to_local(), name, X)

    return answer


def answered(model: Any, name: str, X: Any) -> Any:
    """Return the answers of a plain model for a Dask collection, as a Dask array."""
    check_is_fitted(model)
    given = X._meta if is_frame(X) else None
    array, _ = as_array(X)
    row = np.zeros((1, array.shape[1]), array.dtype)
    if given is not None:  # names are compared with those of the fit
        row = given.iloc[:0].reindex([0]).fillna(0).astype(array.dtype)
    like = np.asarray(getattr(model, name)(row))
    rest = like.shape[1:]
    # frames come as arrays, and their names have been compared
    model = copy(model)
    vars(model).pop("feature_names_in_", None)
    return dask_array().map_blocks(
        answers_of_block,
        array,
        model=model,
        method=name,
        empty=like[:0],
        dtype=like.dtype,
        chunks=(array.chunks[0], *((n,) for n in rest)),
        drop_axis=() if rest else 1,
        meta=like[:0],
        name=f"rtkm-{name.replace('_', '-')}-{uuid.uuid4().hex}",
    )


def answers_of_block(block: Any, *, model: Any, method: str, empty: Any) -> Any:
    """Return the answers of a model for a block."""
    return np.asarray(getattr(model, method)(block)) if block.shape[0] else empty


class OnDask:
    """What fits to Dask collections, and keeps what it finds where the rows are."""

    client: Any
    labels_: Any
    _memberships: Any

    if TYPE_CHECKING:

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """Return the parameters."""

    def _fit(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        rows = DaskRows.of(X, self.client) if is_dask(X) else None
        super()._fit(X if rows is None else rows, sample_weight)  # type: ignore[misc]
        if rows is not None:
            self._keep_lazy(rows)
        return self

    def _keep_lazy(self, rows: DaskRows) -> None:
        """Turn what there is for each row into Dask arrays."""
        if isinstance(self._memberships, Memberships):
            weights: Any = self._memberships.toarray()
            self._memberships = LazyMemberships(rows.lazy(weights))
        for name, value in list(vars(self).items()):
            if isinstance(value, Column):
                setattr(self, name, rows.lazy(value))

    def to_local(self) -> Any:
        """Return the model as a plain estimator, which needs no cluster.

        It answers for new rows, and is what :meth:`save` writes. Like a model that was
        loaded from a file it has nothing for each of the training rows, such as
        ``labels_``, where these are on the cluster: they may be too many for one
        machine. ``model.labels_.compute()`` has them.

        Returns
        -------
        estimator
            Of the class of the same name in ``rtkm``.

        Examples
        --------
        >>> import dask.array as da
        >>> from rtkm.dask import TrimmedKMeans
        >>> X = da.from_array([[0.0], [1.0], [10.0], [11.0], [100.0]], chunks=(2, 1))
        >>> model = TrimmedKMeans(2, contamination=1, random_state=0).fit(X)
        >>> model.to_local().predict([[0.4], [500.0]])
        array([ 0, -1], dtype=int32)
        """
        cls = type(self).__mro__[2]
        local = cls(**{f.name: getattr(self, f.name) for f in fields(cls)})
        params = {f.name for f in fields(self)}  # type: ignore[arg-type]
        for name, value in vars(self).items():
            is_lazy = isinstance(value, LazyMemberships) or is_dask(value)
            if name not in params and not is_lazy:
                setattr(local, name, value)
        return local

    def save(
        self, path: str | os.PathLike[str], *, extra: Mapping[str, Any] | None = None
    ) -> None:
        """Write the plain model to a file, for :func:`rtkm.load`.

        Parameters
        ----------
        path : str or path-like
            The file.
        extra : dict, default=None
            Anything of yours that JSON can write.

        Examples
        --------
        >>> import dask.array as da
        >>> from rtkm.dask import TrimmedKMeans
        >>> X = da.from_array([[0.0], [1.0], [10.0], [11.0], [100.0]], chunks=(2, 1))
        >>> model = TrimmedKMeans(2, contamination=1, random_state=0).fit(X)
        >>> model.save("model.rtkm")  # doctest: +SKIP
        """
        self.to_local().save(path, extra=extra)

    def __sklearn_clone__(self) -> Any:
        bare = copy(self)
        bare.client = None
        twin = super(OnDask, bare).__sklearn_clone__()  # type: ignore[misc]
        # a cluster is not copied
        twin.client = self.client
        return twin

    def __getstate__(self) -> dict[str, Any]:
        # a client belongs to its process
        state: Any = super().__getstate__()
        return {**state, "client": None}


for _name in BY_ROW:
    setattr(OnDask, _name, by_row(_name))


def documented(made: str, labels: str) -> Callable[[type], type]:
    """Give a class the documentation of its plain twin, as far as it differs.

    The example makes a model, and shows its labels.
    """

    def document(cls: type) -> type:
        text = inspect.cleandoc(cls.__mro__[2].__doc__ or "")
        first, _, rest = text[: text.index("Examples\n--------")].partition("\n")
        before, after = rest.split("\nAttributes\n", 1)
        for_rows = "array of shape (n_samples"
        after = after.replace(f"nd{for_rows}", f"dask {for_rows}")
        cls.__doc__ = "\n".join(
            [
                f"{first[:-1]}, on a cluster.",
                f"{before}{CLIENT}",
                f"Attributes\n{after}Examples",
                EXAMPLE.format(name=cls.__name__, made=made, labels=labels),
            ]
        )
        return cls

    return document


EXAMPLE = """\
--------
>>> import dask.array as da
>>> from rtkm.dask import {name}
>>> X = da.from_array([[0.0], [1.0], [10.0], [11.0], [100.0]], chunks=(2, 1))
>>> model = {name}({made}, random_state=0).fit(X)
>>> model.labels_.chunks
((2, 2, 1),)
>>> model.labels_.compute()
array([{labels}], dtype=int32)
"""


@documented("2, contamination=1", " 0,  0,  1,  1, -1")
@dataclass(eq=False, repr=False, kw_only=True)
class RTKM(OnDask, rtkm.RTKM):  # noqa: D101
    client: Any = None


@documented("2", "0, 0, 0, 0, 1")
@dataclass(eq=False, repr=False, kw_only=True)
class RelaxedKMeans(OnDask, relaxed.RelaxedKMeans):  # noqa: D101
    client: Any = None


@documented("2, contamination=1", " 0,  0,  1,  1, -1")
@dataclass(eq=False, repr=False, kw_only=True)
class TrimmedKMeans(OnDask, trimmed.TrimmedKMeans):  # noqa: D101
    client: Any = None


@documented("2, n_outliers=1", " 0,  0,  1,  1, -1")
@dataclass(eq=False, repr=False, kw_only=True)
class KMeansMinusMinus(OnDask, trimmed.KMeansMinusMinus):  # noqa: D101
    client: Any = None
