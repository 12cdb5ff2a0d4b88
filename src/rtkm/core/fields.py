"""What a fit leaves behind, declared once a class: kept in a model file, or not.

Every attribute that a fit sets has an entry in the ``_learned`` of its class. It says
what the value must be, since anybody may have written the file it comes from, or that
no file holds it: ``NOT_SAVED``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_type_hints

import numpy as np
from sklearn import get_config

from rtkm.core.params import Rule, Tally, check_value, is_integer, is_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# what the arrays of a model must agree on: lengths of axes by name, and a precision
Sizes = dict[str | int, Any]

# float32 or float64: the type of the rows a model was fitted to, and of its centers
PRECISION = "precision"
FLOATS = ["float32", "float64"]


class Field:
    """What a learned value must be."""

    # why a loaded model does not have the attribute
    absence: ClassVar[str] = ""

    def may_be_absent(self, others: Mapping[str, Any]) -> bool:
        """Whether a file may lack the value, given those before it."""
        return False

    def validate(self, name: str, value: Any, sizes: Sizes) -> Any:
        """Return what a model keeps of a stored value, or refuse it."""
        raise NotImplementedError


class NotSaved(Field):
    """What describes the training rows: no file holds it."""

    absence = (
        "describes the training rows, of which a model file holds none; show rows "
        "to predict or score_samples, or fit again."
    )


class AnswersByRows(NotSaved):
    """Training rows that a model cannot answer without, so that it has no file."""


NOT_SAVED, ANSWERS_BY_ROWS = NotSaved(), AnswersByRows()


@dataclass(frozen=True)
class Scalar(Field):
    """A number, a flag or the like, held to a type as parameters are."""

    hint: Any
    optional: bool = False

    def may_be_absent(self, others: Mapping[str, Any]) -> bool:
        """Whether it is optional."""
        return self.optional

    def validate(self, name: str, value: Any, sizes: Sizes) -> Any:
        """Refuse what no rule of the type accepts."""
        return typed(name, value, self.hint)


@dataclass(frozen=True)
class Record(Field):
    """A named tuple whose annotations are the rules for its fields."""

    cls: Any

    def validate(self, name: str, value: Any, sizes: Sizes) -> Any:
        """Return the tuple, made of a dictionary of its fields."""
        hints = get_type_hints(self.cls, include_extras=True)
        if not isinstance(value, dict) or value.keys() != hints.keys():
            raise ValueError(f"{name} is not valid; expected {', '.join(hints)}.")
        return self.cls(
            **{
                part: typed(f"{name}.{part}", value[part], hints[part])
                for part in hints
            }
        )


def typed(name: str, value: Any, hint: Any) -> Any:
    """Return an allowed value as its very type: JSON may have 1 for 1.0."""
    check_value(name, value, hint, "a model")
    return hint.__origin__(value)


@dataclass(frozen=True)
class Size(Field):
    """The length of an axis."""

    axis: str

    def validate(self, name: str, value: Any, sizes: Sizes) -> int:
        """Hold arrays to the length from now on."""
        if not is_integer(value, 1) or sizes.setdefault(self.axis, value) != value:
            wanted = sizes.get(self.axis, "an integer of at least 1")
            raise ValueError(f"{name}={value!r} is not valid; expected {wanted}.")
        return int(value)


@dataclass(frozen=True)
class UpTo(Field):
    """A number of things, at least 1 and at most as many as an axis is long."""

    axis: str

    def validate(self, name: str, value: Any, sizes: Sizes) -> int:
        """Refuse more of them: a kernel would read beyond the end."""
        if not is_integer(value, 1) or value > sizes[self.axis]:
            raise ValueError(
                f"{name}={value!r} is not valid; expected an integer from 1 to "
                f"{sizes[self.axis]}."
            )
        return int(value)


@dataclass(frozen=True)
class Names(Field):
    """A text for each place of an axis."""

    axis: str

    def may_be_absent(self, others: Mapping[str, Any]) -> bool:
        """Not every table has names."""
        return True

    def validate(self, name: str, value: Any, sizes: Sizes) -> Any:
        """Return the texts as scikit-learn keeps them."""
        wanted = sizes[self.axis]
        is_text = isinstance(value, list) and all(isinstance(v, str) for v in value)
        if not is_text or len(value) != wanted:
            raise ValueError(f"{name} is not valid; expected {wanted} texts.")
        return np.array(value, dtype=object)


@dataclass(frozen=True)
class Array(Field):
    """Finite numbers, or flags; an axis goes by its name or has a given length."""

    axes: tuple[str | int, ...]
    dtype: str = "float64"
    least: float = -np.inf
    or_none: bool = False
    some_true: bool = False
    optional: bool = False

    def may_be_absent(self, others: Mapping[str, Any]) -> bool:
        """Whether it is optional."""
        return self.optional

    def validate(self, name: str, value: Any, sizes: Sizes) -> Any:
        """Refuse another shape, another type, and numbers out of range."""
        if value is None and self.or_none:
            return None
        if not isinstance(value, np.ndarray):
            raise ValueError(f"{name} is not valid; expected an array.")
        self._check_shape(name, value.shape, sizes)
        self._check_dtype(name, str(value.dtype), sizes)
        low, high = value.min(), value.max()  # which a NaN is, too
        if not (np.isfinite(low) and np.isfinite(high)) or low < self.least:
            bound = "" if self.least == -np.inf else f" of at least {self.least:g}"
            raise ValueError(
                f"{name} holds {low} to {high}; expected finite numbers{bound}."
            )
        if self.some_true and not value.any():
            raise ValueError(f"{name} is False throughout; expected a True.")
        return value

    def _check_shape(self, name: str, shape: tuple[int, ...], sizes: Sizes) -> None:
        wanted = [a if isinstance(a, int) else sizes.get(a) for a in self.axes]
        if len(shape) != len(wanted) or any(
            w not in (None, n) for w, n in zip(wanted, shape, strict=True)
        ):
            expected = " x ".join(str(w or "any") for w in wanted)
            raise ValueError(f"{name} has shape {shape}; expected {expected}.")
        sizes.update(zip(self.axes, shape, strict=True))

    def _check_dtype(self, name: str, dtype: str, sizes: Sizes) -> None:
        wanted = [self.dtype]
        if self.dtype == PRECISION:
            wanted = [sizes[PRECISION]] if PRECISION in sizes else FLOATS
        if dtype not in wanted:
            raise ValueError(f"{name} is {dtype}; expected {' or '.join(wanted)}.")
        if self.dtype == PRECISION:
            sizes[PRECISION] = dtype


@dataclass(frozen=True)
class FittedModel(Field):
    """A fitted estimator of this library."""

    def validate(self, name: str, value: Any, sizes: Sizes) -> Any:
        """Refuse what has no answers, or answers for other tables."""
        if not isinstance(value, Savable) or not hasattr(value, "offset_"):
            raise ValueError(f"{name} is not valid; expected a fitted estimator.")
        Size("features").validate(f"{name}.n_features_in_", value.n_features_in_, sizes)
        return value


@dataclass(frozen=True)
class Fitted(FittedModel):
    """A fitted estimator of this library; centers speak for one that is not."""

    centers: str
    absence = "is no estimator of rtkm, so a model file holds its centers alone."

    def may_be_absent(self, others: Mapping[str, Any]) -> bool:
        """Whether there are centers to answer by."""
        return others[self.centers] is not None


# the attributes that a fit sets, by name
Learned = Mapping[str, Field]

Offset = Annotated[
    float,
    Rule(
        "a number or -inf",
        lambda v: is_number(v) or (isinstance(v, float) and v == -np.inf),
    ),
]


Level = Annotated[
    float,
    Rule(
        "a number of at least 0, or inf",
        lambda v: (is_number(v, above=-1) and v >= 0) or v == np.inf,
    ),
]


# what every estimator that scores rows learns
SCORES: Learned = {
    "n_features_in_": Size("features"),
    "feature_names_in_": Names("features"),
    "offset_": Scalar(Offset),
    "n_outliers_": Scalar(Tally),
    "outlier_mask_": NOT_SAVED,
    "outlier_scores_": NOT_SAVED,
    # points of a picture for notebooks
    "_sketch": NOT_SAVED,
}


class Savable:
    """What a file can hold: an estimator that declares all it learns."""

    _learned: ClassVar[Learned] = {}

    # names of the columns in a table whose scale a TableModel has settled
    _column_names: Sequence[str] | None = None
    _source_names: Sequence[str] | None = None
    n_features_in_: int

    def save(
        self, path: str | os.PathLike[str], *, extra: Mapping[str, Any] | None = None
    ) -> None:
        """Write the fitted model to a file, for :func:`rtkm.load`.

        The file holds parameters and what new rows are judged by and compared with, and
        no training row. It is there whole, or what was there before is unchanged.

        Parameters
        ----------
        path : str or path-like
            The file, whatever its ending; ``.rtkm`` tells people what it is.
        extra : dict, default=None
            Anything of yours that JSON can write, such as units or the scaling of the
            columns; :func:`rtkm.describe_model` returns it.

        Examples
        --------
        >>> import os, tempfile
        >>> from rtkm import TrimmedKMeans, load
        >>> X = [[0.0], [1.0], [10.0], [11.0], [100.0]]
        >>> model = TrimmedKMeans(2, contamination=1, random_state=0).fit(X)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "model.rtkm")
        ...     model.save(path, extra={"unit": "mm"})
        ...     load(path).predict([[0.4], [500.0]])
        array([ 0, -1], dtype=int32)
        """
        from rtkm.models.files import save

        save(self, path, extra)

    def report(self, X: Any, path: str | os.PathLike[str]) -> None:
        """Write a page that shows what was found, as ``rtkm fit --report`` does.

        Parameters
        ----------
        X : frame, array-like or path
            The rows the model was fitted to, of which it keeps none; or others, which
            are told as new ones are.
        path : str or path-like
            The file, best ending in ``.html``. It is one page that needs nothing else.

        Examples
        --------
        >>> from rtkm import TrimmedKMeans
        >>> X = [[0.0], [1.0], [10.0], [11.0], [100.0]]
        >>> model = TrimmedKMeans(2, contamination=1, random_state=0).fit(X)
        >>> model.report(X, "found.html")  # doctest: +SKIP
        """
        from rtkm.report.of_model import write_report

        write_report(self, X, path)

    def summary(self) -> str:
        """Return what was found, in a few lines of text.

        Returns
        -------
        str
            How many clusters and outliers there are, and a line for each cluster, with
            its size and its center.

        Examples
        --------
        >>> from rtkm import TrimmedKMeans
        >>> X = [[0.0], [1.0], [10.0], [11.0], [100.0]]
        >>> model = TrimmedKMeans(2, contamination=1, random_state=0).fit(X)
        >>> print(model.summary())
        TrimmedKMeans: 2 clusters and 1 outlier in 5 rows.
          cluster  rows  share    x0
                0     2   40 %   0.5
                1     2   40 %  10.5
        """
        from rtkm.report.of_model import summary_of

        return summary_of(self)

    def plot(self, X: Any, ax: Axes | None = None) -> Axes:
        """Draw the rows by cluster, see :func:`rtkm.plot.clusters`.

        Parameters
        ----------
        X : frame, array-like or path
            The rows the model was fitted to, of which it keeps none; or others, which
            are told as new ones are.
        ax : matplotlib.axes.Axes or None, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        Examples
        --------
        >>> from rtkm import TrimmedKMeans
        >>> X = [[0.0], [1.0], [10.0], [11.0], [100.0]]
        >>> model = TrimmedKMeans(2, contamination=1, random_state=0).fit(X)
        >>> model.plot(X).get_ylabel()
        'rows'
        """
        from rtkm.plot import clusters

        return clusters(self, X, ax=ax)

    def _html_repr(self) -> str:
        """Return what a notebook shows: of a fitted model, what it found."""
        from rtkm.report.notebook import html_of

        return html_of(self)

    def _repr_html_inner(self) -> str:
        """Return the same; scikit-learn 1.6 asks for it by this name."""
        return self._html_repr()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """Return what IPython shows; that of scikit-learn 1.6 does not ask us."""
        shown = {"text/plain": repr(self)}
        if get_config()["display"] == "diagram":
            shown["text/html"] = self._html_repr()
        return shown

    if not TYPE_CHECKING:  # a type checker would take any name for an attribute

        def __getattr__(self, name: str) -> Any:
            absence = getattr(declared(type(self)).get(name), "absence", "")
            if absence and self.__dict__.keys() & {"offset_", "estimator_"}:
                raise AttributeError(f"{name} {absence}")
            # fails again, in the words of whoever refused
            return super().__getattribute__(name)


def declared(cls: type) -> dict[str, Field]:
    """Return what an estimator learns, from its bases down to its own."""
    merged: dict[str, Field] = {}
    for base in reversed(cls.__mro__):
        merged |= base.__dict__.get("_learned", {})
    return merged
