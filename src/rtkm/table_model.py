"""A model of a table as it is: columns, missing values and scale are its affair."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, clone
from sklearn.utils import TransformerTags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from rtkm._optional import import_optional
from rtkm.choosing.choice import Choice
from rtkm.clusterers._predict import OutputConfig
from rtkm.clusterers.rtkm import RTKM
from rtkm.core.fields import FittedModel, Learned, NotSaved, Savable, Scalar, declared
from rtkm.core.params import Rule, check_params, check_value, is_name
from rtkm.core.validation import checked_weights
from rtkm.models.schema import PreparationField, ReferenceField
from rtkm.report.drift import Drift, find_drift, refer_to_fit
from rtkm.report.reasons import explain_frame
from rtkm.report.table_results import LEFT_OUT, NO_CONFIDENCE, results_for_new
from rtkm.tables.fitted_preparation import Prepared, unscaled
from rtkm.tables.frames import as_table
from rtkm.tables.logarithms import Log
from rtkm.tables.missing import MissingPolicy, is_policy
from rtkm.tables.preparation import prepare
from rtkm.tables.prepared_parts import KeptRows, PreparedParts, prepare_parts
from rtkm.tables.scaling import SCALES, Scale
from rtkm.tables.streams import Stream, is_in_parts, open_stream

if TYPE_CHECKING:
    import pandas as pd


def is_names(value: Any) -> bool:
    """Whether a value is a sequence of names, and not one name."""
    is_sequence = isinstance(value, Sequence | np.ndarray) and not isinstance(
        value, str
    )
    return is_sequence and all(isinstance(name, str) for name in value)


Estimator = Annotated[
    Any,
    Rule(
        "None or a clusterer or detector, such as RTKM(3)",
        lambda v: v is None or (hasattr(v, "fit") and not isinstance(v, type)),
    ),
]
OptionalNames = Annotated[
    Sequence[str] | None,
    Rule("None or a list of column names", lambda v: v is None or is_names(v)),
]
Names = Annotated[Sequence[str], Rule("a list of column names", is_names)]
LogColumns = Annotated[
    Log,
    Rule("a list of column names or 'auto'", lambda v: is_names(v) or is_auto(v)),
]
Name = Annotated[
    str | None,
    Rule("None or the name of a column", lambda v: v is None or isinstance(v, str)),
]
MissingWays = Annotated[
    MissingPolicy,
    Rule("'error', 'drop' or 'median', or a dict of these by column", is_policy),
]
ScaleMethod = Annotated[
    Scale, Rule("'auto', 'none', 'standard' or 'robust'", is_name(*SCALES))
]


def is_auto(value: Any) -> bool:
    """Whether a value is the word for what is decided by the table."""
    return isinstance(value, str) and value == "auto"


def has(name: str) -> Callable[[Any], bool]:
    """Make a test whether the estimator of a model has a method."""

    def check(model: TableModel) -> bool:
        getattr(model._answering(), name)  # tells in its own words if it has not
        return True

    return check


@dataclass(eq=False, repr=False, kw_only=True)
class TableModel(Savable, BaseEstimator):
    """Find clusters and outliers in a table as it is.

    It does in Python what ``rtkm fit`` does: chooses the columns of numbers, treats
    missing values, scales columns whose units differ widely, and fits an estimator.
    New rows go the same way. It takes frames of pandas and polars, pyarrow tables,
    arrays, CSR matrices, and paths of files that the command line can read; tables
    larger than memory, too.

    Every method and fitted attribute of the estimator is there. Centers, explanations
    and the changes they suggest are in the units of the table; distances and scores are
    those of the scaled columns. There is one answer for each row that was given.

    Parameters
    ----------
    estimator : estimator, default=None
        A clusterer or detector of this library; None is ``RTKM()``, with
        ``random_state=0`` as on the command line. A copy of it is fitted.
    columns : list of str, default=None
        The columns to use, in this order. None uses all columns of numbers and leaves
        out text, dates, identifiers such as running numbers, and labels: few numbers
        in a column called ``class``, ``label``, ``target`` or the like. ``notes_``
        names what is left out. Columns of arrays are called x0, x1, ...
    drop : list of str, default=()
        Columns not to use.
    id : str, default=None
        The column that holds the names of the rows; it is not a feature. None takes
        the first column of short text that differs in every row, where there is one,
        to name rows in messages and reports.
    missing : "error", "drop" or "median", or dict, default="error"
        How missing values are handled: raise an error, drop the row, or fill in the
        median of the column. A dict says it by the name of the column, and by ``"*"``
        for all others, which is an error unless it says otherwise. To drop rows leaves
        out columns that are mostly empty, unless `columns` or the dict names them.
    scale : "auto", "none", "standard" or "robust", default="auto"
        How columns are scaled: ``"standard"`` by mean and standard deviation,
        ``"robust"`` by the median and the width of the middle nine tenths, which
        outliers hardly move. ``"auto"`` is robust where a few columns spread so much
        more widely than the others that they would decide alone, or spreads differ by
        orders of magnitude, and none elsewhere, as for pixels; `notes_` tells why. CSR
        matrices are divided but never shifted, and left as they are by ``"auto"``.
    log : list of str or "auto", default=()
        Columns whose logarithm is used, for sizes from very small to very large, or
        ``"auto"``; the smallest number above 0 is added first where there are zeros.
        ``"auto"`` takes the columns that are very skewed and whose logarithm is not.
        All that is shown is in the units of the table nevertheless.
    categories : list of str, default=()
        Columns of categories to use: text, or numbers that stand for groups. Each
        category becomes a feature that is 1 in its rows and 0 in others (one-hot),
        scaled so that the column counts as much as a column of numbers; of more than
        40 categories the rarest share one feature. New rows with other categories are
        in none of them. Missing cells are filled in with the most frequent category
        where ``missing="median"``. A row whose category is rare in its cluster lies
        farther out for it, and may be an outlier for nothing else.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator; it knows the scaled columns only.
    preparation_ : Preparation
        What was done to the table: ``columns``, ``missing``, ``fill``, ``scale``,
        ``center``, ``spread``, ``id``, ``log``, ``offset`` and ``categories``.
    reference_ : Reference
        The summary of the training rows that ``detect_drift`` compares new rows with;
        model files keep it, too.
    notes_ : tuple of str
        What was done, in sentences.
    kept_mask_ : ndarray of shape (n_samples,)
        Whether a row was used; all are but those that ``missing="drop"`` left out.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centers, in the units of the table; for a category, its share of the rows.
        Its columns are ``preparation_.columns``.
    n_features_in_ : int
        Number of columns in use, or of all columns of a table without names.
    feature_names_in_ : ndarray of str
        The columns in use, where they have names.

    See Also
    --------
    RTKM : The estimator used by default.
    load : Reads what ``save``, or ``rtkm fit --model``, wrote.

    Notes
    -----
    The fitted attributes of the estimator (``labels_``, ``outlier_mask_``,
    ``outlier_scores_``, ``memberships_``, ...) are there as well, with an entry for
    each row that was given. A row that was left out has label -3, which is neither a
    cluster nor an outlier, and NaN for scores and memberships. Starting centers given
    as ``init`` of the estimator are those of the scaled columns.

    Of a table that was read in parts, what there is for each row (``labels_``, ...,
    ``kept_mask_``) is computed when it is asked for, from a scratch file that goes with
    the model: ``numpy.asarray(model.labels_)`` has all of it, and
    ``model.labels_.partitions()`` one part after the other. RTKM, RelaxedKMeans,
    TrimmedKMeans and KMeansMinusMinus run on such tables; see the guide,
    "Larger than memory".

    A model fitted to names finds its columns by name: their order may differ, and there
    may be others. It refuses a table without names. Numbers are computed with as
    float64.

    Examples
    --------
    >>> from rtkm import RTKM, TableModel
    >>> X = [[1.0, 900], [1.1, 950], [5.0, 100], [5.1, 150], [1.2, 920], [3.0, 9999]]
    >>> model = TableModel(RTKM(2, contamination=1, random_state=0)).fit(X)
    >>> model.preparation_.scale
    'robust'
    >>> model.labels_
    array([ 0,  0,  1,  1,  0, -1], dtype=int32)
    >>> model.cluster_centers_.round(2)
    array([[  1.1 , 923.33],
           [  5.05, 125.  ]])
    >>> model.predict([[5.2, 180]])
    array([1], dtype=int32)
    """

    estimator: Estimator = field(default=None, kw_only=False)
    columns: OptionalNames = None
    drop: Names = ()
    id: Name = None
    missing: MissingWays = "error"
    scale: ScaleMethod = "auto"
    log: LogColumns = ()
    categories: Names = ()

    _learned: ClassVar[Learned] = {
        "preparation_": PreparationField(),
        "estimator_": FittedModel(),
        "reference_": ReferenceField(),
        "_sklearn_output_config": Scalar(OutputConfig, optional=True),
        "notes_": NotSaved(),
        "kept_mask_": NotSaved(),
    }

    # Fitting

    def fit(
        self,
        X: Any,
        y: object = None,
        sample_weight: ArrayLike | str | None = None,
        memory: str | int | None = None,
    ) -> Self:
        """Prepare the table, and find its clusters and outliers.

        Parameters
        ----------
        X : frame, pyarrow.Table, array-like, CSR matrix, path or dataset
            The table. Many files (a list of paths, a folder, or a path with ``*``), a
            ``pyarrow.dataset.Dataset``, and a file that needs more than `memory` are
            read in parts. The fit comes to the same then, to the last bit.
        y : ignored
            For pipelines.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            What each row counts for, or the column that says so, which is then no
            feature. For estimators that take weights, and tables in memory.
        memory : str or int, default=None
            How much memory a table may take, such as ``"2GB"``; a quarter of what is
            available if None.

        Returns
        -------
        self
            The same object, fitted.

        Examples
        --------
        >>> from rtkm import RTKM, TableModel
        >>> X = [[0.0], [1.0], [10.0], [None], [11.0], [99.0]]
        >>> estimator = RTKM(2, contamination=1, random_state=0)
        >>> TableModel(estimator, missing="drop").fit(X).labels_
        array([ 0,  0,  1, -3,  1, -1], dtype=int32)
        """
        check_params(self)
        if is_in_parts(X, memory):
            self._check_parts()
            with open_stream(X, memory) as stream:
                return self.fit_prepared(self.prepare_parts(stream, sample_weight))
        return self.fit_prepared(self.prepare(X, sample_weight))

    def _check_parts(self) -> None:
        """Refuse a table in parts where the estimator needs all of it."""
        estimator = self._given()
        name, way_out = (
            type(estimator).__name__,
            "fit to a table in memory, or use RTKM.",
        )
        if not getattr(estimator, "_runs_in_partitions", False):
            raise TypeError(
                f"{name} does not run on a table that is read in parts; {way_out}"
            )
        estimator._check_partitions()

    def prepare_parts(
        self,
        stream: Stream,
        sample_weight: ArrayLike | str | None = None,
        *,
        is_quiet: bool = True,
    ) -> PreparedParts:
        r"""Prepare a table that is read in parts, as `rtkm fit` does.

        Parameters
        ----------
        stream : Stream
            The table, as ``rtkm.tables.streams.open_stream`` opens it.
        sample_weight : None
            Weights are not taken from a table in parts.
        is_quiet : bool, default=True
            Whether to show no bar while it is prepared.

        Returns
        -------
        PreparedParts
            What :meth:`fit_prepared` takes, the numbers of which are in a scratch file.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from rtkm import TableModel
        >>> from rtkm.tables.streams import open_stream
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "a.csv").write_text("x\n1.5\n2.5\n4.5\n")
        ...     with open_stream(folder) as stream:
        ...         TableModel().prepare_parts(stream).X.shape
        (3, 1)
        """
        return prepare_parts(
            stream,
            **self._preparation_options(),
            weights=sample_weight,
            is_quiet=is_quiet,
        )

    def _preparation_options(self) -> dict[str, Any]:
        names = "columns", "drop", "id", "missing", "scale", "log", "categories"
        return {name: getattr(self, name) for name in names}

    def prepare(self, X: Any, sample_weight: ArrayLike | str | None = None) -> Prepared:
        """Choose columns, treat missing values and scale, without fitting.

        Parameters
        ----------
        X : frame, pyarrow.Table, array-like, CSR matrix or path
            The table.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            What each row counts for, or the column that says so, which is then no
            feature. For estimators that take weights.

        Returns
        -------
        Prepared
            What :meth:`fit_prepared` takes: the matrix ``X`` of the rows that are kept,
            which these are (``kept``), ``notes`` on what was done, and more.

        Examples
        --------
        >>> from rtkm import TableModel
        >>> X = [[1.0], [None], [4.0], [3.0]]
        >>> prepared = TableModel(missing="median").prepare(X)
        >>> prepared.X.ravel()
        array([1., 3., 4., 3.])
        """
        table: Any = as_table(X)
        if sample_weight is not None:
            self._check_takes_weights()
        if not (sample_weight is None or isinstance(sample_weight, str)):
            n_rows = table.shape[0] if sparse.issparse(table) else table.n_rows
            sample_weight = checked_weights(sample_weight, np.empty((n_rows, 1)))
        return prepare(table, **self._preparation_options(), weights=sample_weight)

    def fit_prepared(
        self, prepared: Prepared | PreparedParts, choice: Choice | None = None
    ) -> Self:
        """Fit the estimator to a table that was prepared, RTKM as was chosen for it.

        Parameters
        ----------
        prepared : Prepared or PreparedParts
            What :meth:`prepare` or :meth:`prepare_parts` returned.
        choice : Choice or None, default=None
            The numbers of clusters and outliers that :class:`RTKM` takes where it was
            to choose them; None lets it choose. Other estimators choose nothing.

        Returns
        -------
        self
            The same object, fitted.

        Examples
        --------
        >>> from rtkm import RTKM, TableModel
        >>> X = [[0.0], [1.0], [10.0], [11.0], [99.0]]
        >>> model = TableModel(RTKM(2, contamination=1, random_state=0))
        >>> model.fit_prepared(model.prepare(X)).labels_
        array([ 0,  0,  1,  1, -1], dtype=int32)
        """
        estimator = clone(self._given())
        if isinstance(estimator, RTKM):
            estimator.__dict__["_made_choice"] = choice
        # so that messages name columns, and none asks for them to be scaled
        estimator._column_names = prepared.preparation.columns
        estimator._source_names = prepared.preparation.source_names
        weights = (
            {} if prepared.weights is None else {"sample_weight": prepared.weights}
        )
        estimator.fit(prepared.X, **weights)
        vars(estimator).pop("_made_choice", None)
        self.preparation_ = prepared.preparation
        self.estimator_ = estimator
        self.reference_ = refer_to_fit(estimator, prepared)
        self.notes_ = prepared.notes
        self.kept_mask_ = prepared.kept
        return self

    def _given(self) -> Any:
        """Return the estimator to fit, which is not fitted itself."""
        # seeded as the command line is, so that both give one answer
        return RTKM(random_state=0) if self.estimator is None else self.estimator

    def _answering(self) -> Any:
        """Return the fitted estimator, or the one to fit where there is none yet."""
        fitted = self.__dict__.get("estimator_")
        return self._given() if fitted is None else fitted

    def _check_takes_weights(self) -> None:
        estimator = self._given()
        if not has_fit_parameter(estimator, "sample_weight"):
            raise ValueError(
                f"{type(estimator).__name__} does not take sample_weight; use RTKM, "
                "TrimmedKMeans or another method that does."
            )

    def fit_predict(
        self, X: Any, y: object = None, sample_weight: ArrayLike | str | None = None
    ) -> NDArray[Any]:
        """Fit, and return the label of each row; see :meth:`predict`.

        Parameters
        ----------
        X : frame, pyarrow.Table, array-like, CSR matrix, path or dataset
            The table, as :meth:`fit` takes it.
        y : ignored
            For pipelines.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            What each row counts for, or the column that says so, which is then no
            feature. For estimators that take weights.

        Returns
        -------
        ndarray of shape (n_samples,)
            ``labels_``, or for a detector 1 for inliers and -1 for outliers; -3 for
            rows that were left out.

        Examples
        --------
        >>> from rtkm import RTKM, TableModel
        >>> X = [[0.0], [1.0], [10.0], [11.0], [99.0]]
        >>> model = TableModel(RTKM(2, contamination=1, random_state=0))
        >>> model.fit_predict(X)
        array([ 0,  0,  1,  1, -1], dtype=int32)
        """
        self.fit(X, sample_weight=sample_weight)
        if hasattr(self.estimator_, "labels_"):
            return self.labels_
        # a detector
        return self._for_all(np.where(self.estimator_.outlier_mask_, -1, 1), LEFT_OUT)

    @available_if(has("transform"))
    def fit_transform(
        self, X: Any, y: object = None, sample_weight: ArrayLike | str | None = None
    ) -> Any:
        """Fit, and return the distances to the centers.

        Parameters
        ----------
        X : frame, pyarrow.Table, array-like, CSR matrix or path
            The table.
        y : ignored
            For pipelines.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            What each row counts for, or the column that says so, which is then no
            feature. For estimators that take weights.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            The distances, as :meth:`transform` returns them.

        Examples
        --------
        >>> from rtkm import RTKM, TableModel
        >>> X = [[0.0], [1.0], [10.0], [11.0], [99.0]]
        >>> model = TableModel(RTKM(2, contamination=1, random_state=0))
        >>> model.fit_transform(X)[:2]
        array([[ 0.5, 10.5],
               [ 0.5,  9.5]])
        """
        if is_in_parts(X, None):
            raise TypeError(
                "fit_transform needs all rows in memory, and the table is read in "
                "parts; fit to it, and transform parts of it."
            )
        prepared = self.prepare(X, sample_weight)
        return self.fit_prepared(prepared)._distances(X, prepared)

    @classmethod
    def of_numbers(cls, estimator: Any) -> Self:
        """Return a model whose estimator was fitted to the numbers as they are.

        Parameters
        ----------
        estimator : estimator
            A fitted clusterer or detector of this library.

        Returns
        -------
        TableModel
            A fitted model that takes tables and gives the answers of the estimator. It
            has no summary of the training rows, which :meth:`detect_drift` needs.

        Examples
        --------
        >>> from rtkm import RTKM, TableModel
        >>> X = [[0.0], [1.0], [10.0], [11.0], [99.0]]
        >>> fitted = RTKM(2, contamination=1, random_state=0).fit(X)
        >>> TableModel.of_numbers(fitted).predict([[0.4], [500.0]])
        array([ 0, -1], dtype=int32)
        """
        names = getattr(estimator, "feature_names_in_", None)
        n_unnamed = estimator.n_features_in_ if names is None else 0
        model = cls(clone(estimator), scale="none")
        model.estimator_ = copy(estimator)
        # from here on the names are those of the table
        model.estimator_.__dict__.pop("feature_names_in_", None)
        columns = [f"x{j}" for j in range(n_unnamed)] if names is None else names
        model.preparation_ = unscaled(list(map(str, columns)), n_unnamed)
        return model

    # Fitted attributes

    @property
    def cluster_centers_(self) -> NDArray[np.float64]:
        """The centers, in the units of the table.

        Examples
        --------
        >>> from rtkm import RTKM, TableModel
        >>> X = [[0.0], [1.0], [10.0], [11.0], [99.0]]
        >>> model = TableModel(RTKM(2, contamination=1, random_state=0)).fit(X)
        >>> model.cluster_centers_
        array([[ 0.5],
               [10.5]])
        """
        self._check_fitted_attribute("cluster_centers_")
        return self.preparation_.in_data_units(self.estimator_.cluster_centers_)

    @property
    def n_features_in_(self) -> int:  # type: ignore[override]
        """Number of columns in use, or of all columns of a table without names.

        Examples
        --------
        >>> from rtkm import RTKM, TableModel
        >>> X = [[0.0], [1.0], [10.0], [11.0], [99.0]]
        >>> model = TableModel(RTKM(2, contamination=1, random_state=0)).fit(X)
        >>> model.n_features_in_
        1
        """
        self._check_fitted_attribute("n_features_in_")
        return self.preparation_.n_unnamed or len(self.preparation_.sources)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The columns in use, where they have names.

        Examples
        --------
        >>> import pandas as pd
        >>> from rtkm import RTKM, TableModel
        >>> X = pd.DataFrame({"mm": [0.0, 1.0, 9.0], "who": ["Ada", "Max", "Eve"]})
        >>> TableModel(RTKM(1, contamination=0)).fit(X).feature_names_in_
        array(['mm'], dtype=object)
        """
        self._check_fitted_attribute("feature_names_in_")
        if self.preparation_.n_unnamed:
            raise AttributeError(
                "the table had no names, so there are none of features."
            )
        return np.array(self.preparation_.sources, dtype=object)

    def _check_fitted_attribute(self, name: str) -> None:
        if "estimator_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no {name} before fit.")

    def __getattr__(self, name: str) -> Any:
        is_public = name.endswith("_") and not name.startswith("_")
        estimator = self.__dict__.get("estimator_")
        if not is_public or estimator is None or name in declared(type(self)):
            return super().__getattr__(name)
        value = getattr(estimator, name)
        if isinstance(declared(type(estimator)).get(name), NotSaved):
            return self._for_all(value, blank_for(value))
        return value

    def __sklearn_is_fitted__(self) -> bool:
        return "estimator_" in self.__dict__

    # New rows

    def _prepare_new(self, X: Any) -> Prepared:
        """Prepare new rows as the table was that the model was fitted to."""
        check_is_fitted(self)
        return self.preparation_.repeat(as_table(X))

    def _answer(self, method: str, X: Any, blank: Any) -> NDArray[Any]:
        """Ask the estimator about new rows; those left out get a blank."""
        prepared = self._prepare_new(X)
        answers = getattr(self.estimator_, method)(prepared.X)
        return for_all(answers, prepared.kept, blank)

    def _for_all(self, values: NDArray[Any], blank: Any) -> NDArray[Any]:
        """Return what is known of the rows that were used as values of all rows."""
        return for_all(values, self.kept_mask_, blank)

    @available_if(has("predict"))
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the nearest cluster of each row, -1 for an outlier.

        A row that ``missing="drop"`` leaves out has -3. Detectors say 1 for inliers.

        Parameters
        ----------
        X : frame, pyarrow.Table, array-like, CSR matrix or path
            The rows, with the columns that the model was fitted to.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.

        Examples
        --------
        >>> from rtkm import RTKM, TableModel
        >>> X = [[0.0], [1.0], [10.0], [11.0], [99.0]]
        >>> model = TableModel(RTKM(2, contamination=1, random_state=0)).fit(X)
        >>> model.predict([[0.4], [12.0], [500.0]])
        array([ 0,  1, -1], dtype=int32)
        """
        return self._answer("predict", X, LEFT_OUT)

    @available_if(has("predict_memberships"))
    def predict_memberships(self, X: Any) -> NDArray[np.float64]:
        """Return membership weights of new rows, those of outliers included.

        Parameters
        ----------
        X : frame, pyarrow.Table, array-like, CSR matrix or path
            The rows, with the columns that the model was fitted to.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            The weights; NaN for rows that were left out.

        Examples
        --------
        >>> from rtkm import RTKM, TableModel
        >>> X = [[0.0], [1.0], [10.0], [11.0], [99.0]]
        >>> model = TableModel(RTKM(2, contamination=1, random_state=0)).fit(X)
        >>> model.predict_memberships([[0.4], [12.0]])
        array([[1., 0.],
               [0., 1.]])
        """
        return self._answer("predict_memberships", X, np.nan)

    @available_if(has("score_samples"))
    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return minus the outlier score of each row: higher is more normal.

        Parameters
        ----------
        X : frame, pyarrow.Table, array-like, CSR matrix or path
            The rows, with the columns that the model was fitted to.

        Returns
        -------
        ndarray of shape (n_samples,)
            The scores, in the units of the scaled columns; NaN for rows that were left
            out.

        Examples
        --------
        >>> from rtkm import RTKM, TableModel
        >>> X = [[0.0], [1.0], [10.0], [11.0], [99.0]]
        >>> model = TableModel(RTKM(2, contamination=1, random_state=0)).fit(X)
        >>> model.score_samples([[1.5], [-9.5]])
        array([  -1., -100.])
        """
        return self._answer("score_samples", X, np.nan)

    @available_if(has("decision_function"))
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return ``score_samples(X) - offset_``: below 0 is an outlier.

        Parameters
        ----------
        X : frame, pyarrow.Table, array-like, CSR matrix or path
            The rows, with the columns that the model was fitted to.

        Returns
        -------
        ndarray of shape (n_samples,)
            How far rows are from the cut-off, in units of the score; infinity where no
            new row is ever an outlier, NaN for rows that were left out.

        Examples
        --------
        >>> from rtkm import RTKM, TableModel
        >>> X = [[0.0], [1.0], [10.0], [11.0], [99.0]]
        >>> model = TableModel(RTKM(2, contamination=1, random_state=0)).fit(X)
        >>> model.decision_function([[1.5], [500.0]]) < 0
        array([False,  True])
        """
        return self._answer("decision_function", X, np.nan)

    @available_if(has("discriminant_factors"))
    def discriminant_factors(self, X: Any) -> NDArray[np.float64]:
        """Return the log odds of the second-best answer for each row.

        Parameters
        ----------
        X : frame, pyarrow.Table, array-like, CSR matrix or path
            The rows, with the columns that the model was fitted to.

        Returns
        -------
        ndarray of shape (n_samples,)
            At most 0, and 0 where another label is as good; NaN for rows that were left
            out. See :meth:`RTKM.discriminant_factors`.

        Examples
        --------
        >>> from rtkm import RTKM, TableModel
        >>> X = [[0.0], [1.0], [10.0], [11.0], [99.0]]
        >>> model = TableModel(RTKM(2, contamination=1, random_state=0)).fit(X)
        >>> model.discriminant_factors([[0.5], [5.5]])
        array([-200.,    0.])
        """
        return self._answer("discriminant_factors", X, np.nan)

    @available_if(has("predict_confidence"))
    def predict_confidence(self, X: Any) -> NDArray[np.str_]:
        """Return how sure the label of each row is; "missing" if it was left out.

        Parameters
        ----------
        X : frame, pyarrow.Table, array-like, CSR matrix or path
            The rows, with the columns that the model was fitted to.

        Returns
        -------
        ndarray of str of shape (n_samples,)
            "core", "border", "doubtful", "outlier" or "missing", see
            :meth:`RTKM.predict_confidence`.

        Examples
        --------
        >>> from rtkm import RTKM, TableModel
        >>> X = [[0.0], [1.0], [10.0], [11.0], [99.0]]
        >>> model = TableModel(RTKM(2, contamination=1, random_state=0)).fit(X)
        >>> model.predict_confidence([[0.5], [5.5], [500.0]])
        array(['core', 'doubtful', 'outlier'], dtype='<U8')
        """
        return self._answer("predict_confidence", X, NO_CONFIDENCE)

    @available_if(has("score"))
    def score(self, X: Any, y: object = None) -> float:
        """Return minus the cost, as in the objective, of the rows that are kept.

        Parameters
        ----------
        X : frame, pyarrow.Table, array-like, CSR matrix or path
            The rows, with the columns that the model was fitted to.
        y : ignored
            For pipelines.

        Returns
        -------
        float
            Minus the sum of the costs; 0 if no row is kept.

        Examples
        --------
        >>> from rtkm import RTKM, TableModel
        >>> X = [[0.0], [1.0], [10.0], [11.0], [99.0]]
        >>> model = TableModel(RTKM(2, contamination=1, random_state=0)).fit(X)
        >>> model.score([[1.5], [12.5], [500.0]])
        -5.0
        """
        return self.estimator_.score(self._prepare_new(X).X)

    @available_if(has("explain"))
    def explain(self, X: Any) -> pd.DataFrame:
        """Return, for each row, what its answer comes from and what would change it.

        The columns are those of :meth:`RTKM.explain`; ``change_from`` and
        ``change_to`` are in the units of the table, and rows go by their id or by the
        index of a pandas frame.

        Parameters
        ----------
        X : frame, pyarrow.Table, array-like, CSR matrix or path
            The rows, with the columns that the model was fitted to.

        Returns
        -------
        pandas.DataFrame
            A line for each row; one that was left out has confidence "missing".

        Examples
        --------
        >>> from rtkm import RTKM, TableModel
        >>> X = [[0.0], [1.0], [10.0], [11.0], [99.0]]
        >>> model = TableModel(RTKM(2, contamination=1, random_state=0)).fit(X)
        >>> frame = model.explain([[0.5], [110.5]])
        >>> frame[["score", "outlier", "confidence", "change_feature"]]
             score  outlier confidence change_feature
        0      0.0    False       core           None
        1  10000.0     True    outlier             x0
        """
        check_is_fitted(self)
        table = as_table(X)
        id = self.id if self.id in getattr(table, "places", ()) else None
        prepared = self.preparation_.repeat(table, id=id)
        frame = explain_frame(self.estimator_, prepared)
        index = getattr(table, "index", None)
        return frame if index is None or id is not None else frame.set_axis(index)

    @available_if(has("predict"))
    def detect_drift(self, X: Any) -> Drift:
        """Compare new rows with the training rows.

        Parameters
        ----------
        X : frame, pyarrow.Table, array-like, CSR matrix or path
            The new rows, as many as there are: few tell little.

        Returns
        -------
        Drift
            Shares of outliers and clusters, the distribution of each feature and
            missing values, then and now, and which of them differ. Its ``summary()``
            says so in sentences.

        Examples
        --------
        >>> import numpy as np
        >>> from rtkm import RTKM, TableModel
        >>> rng = np.random.RandomState(0)
        >>> X = rng.normal(10, 1, (300, 2))
        >>> model = TableModel(RTKM(1, contamination=0.05, random_state=0)).fit(X)
        >>> model.detect_drift(rng.normal(10, 1, (100, 2))).found
        False
        """
        check_is_fitted(self)
        if "reference_" not in self.__dict__:
            raise ValueError(
                "the model has no summary of its training rows to compare with; fit it "
                "again, as files from before version 0.2 have none."
            )
        answers = results_for_new(self.estimator_, self._prepare_new(X))
        return find_drift(self.reference_, answers)

    # Distances

    @available_if(has("transform"))
    def transform(self, X: Any) -> Any:
        """Return the distances to the centers, in the units of the scaled columns.

        Parameters
        ----------
        X : frame, pyarrow.Table, array-like, CSR matrix or path
            The rows, with the columns that the model was fitted to.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            The distances, NaN for rows that were left out. A frame where ``set_output``
            asked for one.

        Examples
        --------
        >>> from rtkm import RTKM, TableModel
        >>> X = [[0.0], [1.0], [10.0], [11.0], [99.0]]
        >>> model = TableModel(RTKM(2, contamination=1, random_state=0)).fit(X)
        >>> model.transform([[0.5], [4.5]])
        array([[ 0., 10.],
               [ 4.,  6.]])
        """
        return self._distances(X, self._prepare_new(X))

    def _distances(self, X: Any, prepared: Prepared) -> Any:
        """Return distances as an array, or as a frame if :meth:`set_output` said so."""
        distances = self.estimator_.transform(prepared.X)
        distances = for_all(distances, prepared.kept, np.nan)
        own = getattr(self, "_sklearn_output_config", {}).get("transform")
        wanted = own or get_config()["transform_output"]
        names = self.get_feature_names_out()
        if wanted == "pandas":
            pd = import_optional("pandas", needed_by="set_output")
            index = X.index if isinstance(X, pd.DataFrame) else None
            return pd.DataFrame(distances, index, names)
        if wanted == "polars":
            pl = import_module("polars")
            return pl.DataFrame(distances, schema=list(names))
        return distances

    @available_if(has("set_output"))
    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what :meth:`transform` returns.

        Parameters
        ----------
        transform : "default", "pandas", "polars" or None
            An array, or a frame; None leaves it as it is.

        Returns
        -------
        self
            The same object.

        Examples
        --------
        >>> import numpy as np
        >>> from rtkm import RTKM, TableModel
        >>> X = [[0.0], [1.0], [10.0], [11.0], [99.0]]
        >>> model = TableModel(RTKM(2, contamination=1, random_state=0)).fit(X)
        >>> model.set_output(transform="pandas").transform(np.array([[0.5]]))
           rtkm0  rtkm1
        0    0.0   10.0
        """
        if transform is not None:
            config = {"transform": transform}
            check_value("transform", config, OutputConfig, "set_output")
            self._sklearn_output_config = config
        return self

    @available_if(has("get_feature_names_out"))
    def get_feature_names_out(self, input_features: object = None) -> NDArray[Any]:
        """Return names for the columns of :meth:`transform`.

        Parameters
        ----------
        input_features : ignored
            For pipelines.

        Returns
        -------
        ndarray of str of shape (n_clusters,)
            The class of the estimator in small letters, and the number of the cluster.

        Examples
        --------
        >>> from rtkm import RTKM, TableModel
        >>> X = [[0.0], [1.0], [10.0], [11.0], [99.0]]
        >>> model = TableModel(RTKM(2, contamination=1, random_state=0)).fit(X)
        >>> model.get_feature_names_out()
        array(['rtkm0', 'rtkm1'], dtype=object)
        """
        check_is_fitted(self)
        return self.estimator_.get_feature_names_out()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._answering())
        tags.estimator_type = inner.estimator_type
        if inner.transformer_tags is not None:
            tags.transformer_tags = TransformerTags(preserves_dtype=["float64"])
        tags.input_tags = replace(
            inner.input_tags, allow_nan=self.missing != "error", string=True
        )
        return tags


def for_all(values: Any, kept: Any, blank: Any) -> Any:
    """Return values of the rows that are kept as values of all, blank for the rest."""
    if kept.all():
        return values
    if isinstance(kept, KeptRows):
        return kept.spread(values, blank)
    dtype = values.dtype if values.dtype.kind == "U" else np.result_type(values, blank)
    spread = np.full((len(kept), *values.shape[1:]), blank, dtype=dtype)
    spread[kept] = values
    return spread


def blank_for(values: NDArray[Any]) -> Any:
    """Return what stands for no value in an array."""
    blanks = {"b": np.False_, "i": LEFT_OUT, "u": LEFT_OUT}
    return blanks.get(values.dtype.kind, np.nan)
