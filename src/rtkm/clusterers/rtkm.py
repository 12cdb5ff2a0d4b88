"""Robust Trimmed k-means."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from rtkm._warnings import warn
from rtkm.choosing.choice import Choice
from rtkm.choosing.outliers import LEAST_ROWS
from rtkm.choosing.steps import choose_for
from rtkm.choosing.stored import ChoiceField
from rtkm.clusterers._base import WeightedClusterer, best_of
from rtkm.clusterers._tail_cut import CutByTail
from rtkm.core.descent import Run, descend
from rtkm.core.fields import Learned, Scalar
from rtkm.core.params import (
    Auto,
    Count,
    Counts,
    OutlierRows,
    Positive,
    Share,
    Tally,
    check_memberships,
    is_integer,
    whole_rows,
)
from rtkm.core.states import DUST, ProximalState, TrimmedState
from rtkm.core.table import Table, cut_of
from rtkm.core.threshold import boundary
from rtkm.seeding import Init


@dataclass(eq=False, repr=False, kw_only=True)
class RTKM(CutByTail, WeightedClusterer):
    r"""Find clusters, rows that belong to several of them, and outliers, in one fit.

    The method to start with when a table may hold outliers. How many clusters and
    outliers there are is chosen if it is not given: two groups are two clusters if
    clearly fewer rows lie between them than around either, and groups far smaller than
    the rest count as outliers; rows farther out than the shape of their cluster
    explains are outliers, cut so that about one flag in seven is a false alarm, and
    none if they look like mere heavy tails. Clusters are round and of similar width, as
    in k-means, and columns count by their units: scale them first if those differ. A
    step costs O(n k d).

    It minimizes

    .. math:: \sum_i v_i \sum_j w_{ij} \lVert x_i - c_j \rVert^2

    over centers :math:`c_j`, memberships :math:`w_i` in [0, 1] that sum to
    ``n_memberships``, and inlier weights :math:`v` in [0, 1] that sum to the number of
    rows to be kept [1]_.

    Parameters
    ----------
    n_clusters : "auto", int or several ints, default="auto"
        Number of clusters (k in [1]_), or numbers to choose from, such as a range.
        ``"auto"`` chooses from 1 to 40, see :func:`rtkm.choose`, but no fewer than
        ``n_memberships``; with centers as ``init`` it is their number.
    contamination : "auto", float in [0, 1) or int, default="auto"
        Outliers to expect (alpha in [1]_): a share of the rows, rounded half up to
        whole rows, or a number of rows. ``"auto"`` counts the rows that stand out.
    n_memberships : int, default=1
        Number of clusters each row belongs to (s in [1]_).
    step : "auto" or float, default="auto"
        ``"auto"`` looks for the best minimum: robust seeding, exact alternation, and
        swaps. A number, 1.1 in [1]_, is the proximal step (d and e there) of the
        published algorithm, followed to the letter; it has the units of a squared
        distance.
    n_swaps : "auto" or int, default="auto"
        Number of swaps to try after the descent: a center that is cheap to lose moves
        to where the trimmed cost falls most, in turn to a row and to half of a cluster,
        and stays there if the objective is lower a few steps later. With several
        memberships, all centers of a row move at once every other time. ``"auto"``
        stops after 2 n_clusters swaps in a row, but at least 18 and at most 48, without
        improvement; 0 turns swaps off. A fixed ``step`` never swaps.
    init : str, array-like or callable, default="robust-k-means++"
        Starting centers: ``"robust-k-means++"``, ``"robust-k-means||"``,
        ``"k-means++"``, ``"random"`` or ``"robin"`` (see :mod:`rtkm.seeding`), the
        centers themselves, of shape (n_clusters, n_features), or a callable
        ``init(X, n_clusters, random_state)`` that returns them.
    n_init : "auto" or int, default="auto"
        Number of starts, of which the one with the lowest objective is kept. ``"auto"``
        is 1 where the starting centers are fixed, or where swaps run; but 3 with
        several memberships, and 10 without swaps or of fewer than 50 different rows.
    max_iter : int, default=300
        Maximum number of steps of one descent.
    tol : float, default=1e-6
        Relative decrease of the objective at which to stop, for methods with fractional
        memberships or sets of clusters. Methods that assign rows to their nearest
        centers stop when no row changes its cluster, and ignore it; with
        ``step="auto"`` this is one of them.
    random_state : int, RandomState or None, default=None
        Makes random starts and swaps reproducible.
    verbose : int, default=0
        Above 0, prints the objective after every step, and Ctrl-C ends the fit with the
        best state so far instead of raising.
    on_step : callable or None, default=None
        Called as ``on_step(state)`` after every step. ``state.C``, ``state.W`` and
        ``state.v`` are the centers, memberships and inlier weights as in the papers;
        ``state.objective`` and ``state.n_iter`` go with them. The arrays are read-only.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centers.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, the nearest if it is in several; -1 for outliers.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Number of rows with each label.
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Membership weights (w above); computed when asked for.
    assignments_ : ndarray of shape (n_samples, n_clusters)
        Whether a row belongs to a cluster; outliers belong to none. Computed when asked
        for.
    outlier_mask_ : ndarray of shape (n_samples,)
        Whether a row is an outlier.
    outlier_scores_ : ndarray of shape (n_samples,)
        Sum of the squared distances of each row to its ``n_memberships`` nearest
        centers; larger is more outlying.
    inlier_weights_ : ndarray of shape (n_samples,)
        Share of each row that is kept (v above): 1 for inliers, 0 for outliers, and
        between them for a row that is kept in part.
    n_outliers_ : int
        Number of outliers.
    n_clusters_ : int
        Number of clusters, given or chosen.
    contamination_ : float
        Share of the rows to be trimmed, given or chosen.
    choice_ : Choice or None
        What was chosen and why, see :func:`rtkm.choose`; None if nothing was.
    standing_out_mask_ : ndarray of shape (n_samples,)
        Whether a row is farther out than the shape of its cluster explains, however
        many rows were trimmed.
    n_standing_out_ : int
        Number of such rows.
    objective_ : float
        Final value of the objective.
    inertia_ : float
        Same as ``objective_``, by its name in :class:`sklearn.cluster.KMeans`.
    objective_path_ : ndarray of shape (n_values,)
        The objective at the start, after every step, and after every swap that lowered
        it.
    offset_ : float
        Score between inliers and outliers, see :meth:`decision_function`: where the
        tail of the clusters ends, but between the last row kept and the first one
        trimmed. It is -inf, and no new row an outlier, if ``contamination`` is 0.
    n_iter_ : int
        Number of steps of the last descent.
    converged_ : bool
        Whether the last descent converged within ``max_iter`` steps.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen during fit; set only if all of them are strings.

    See Also
    --------
    TrimmedKMeans : The same for one membership a row.
    RelaxedKMeans : The same without outliers.

    Notes
    -----
    The objective is affine in the memberships and in the inlier weights, so its minima
    lie at vertices: each row in its nearest clusters, the costliest rows trimmed. That
    is what ``step="auto"`` alternates between, and why its results do not depend on the
    units of the table.

    With a fixed step four misprints of [1]_ are corrected: the inlier weights sum to
    the number of rows kept, not of those trimmed; they use the new memberships;
    memberships are projected onto the capped simplex of sum ``n_memberships``; and the
    first iteration, which has no weights to average with, leaves the centers alone.
    A trimmed row keeps the memberships it had, as published, so the result can be
    slightly worse than that of ``"auto"``. If the squared distances are large against
    the step this is hard trimming from the first iteration on; if they are small it
    takes thousands of iterations. Rows whose inlier weight is below 1 are outliers: at
    least as many as asked for. Where a fit ends before the weights have settled, a
    warning says so, and the outliers are those of least weight, as many as asked for.

    References
    ----------
    .. [1] O. Dorabiala, J. N. Kutz, A. Y. Aravkin, "Robust trimmed k-means", Pattern
       Recognition Letters (2022).

    Examples
    --------
    >>> from rtkm import RTKM
    >>> X = [[0.0], [0.2], [1.0], [1.2], [50.0]]
    >>> model = RTKM(2, contamination=1, random_state=0).fit(X)
    >>> model.labels_
    array([ 0,  0,  1,  1, -1], dtype=int32)
    >>> model.cluster_centers_.round(6)
    array([[0.1],
           [1.1]])
    >>> model.predict([[0.9], [-500.0]])
    array([ 1, -1], dtype=int32)

    The published iteration, watched:

    >>> path = []
    >>> model = RTKM(2, contamination=1, step=1.1, init=[[0.0], [1.0]],
    ...              on_step=lambda state: path.append(state.W[1, 0].round(6)))
    >>> round(model.fit(X).objective_, 6)
    0.04
    >>> [float(w) for w in path[:3]]
    [0.718182, 0.959178, 1.0]
    """

    _warns_of_scale: ClassVar[bool] = True
    _runs_in_partitions: ClassVar[bool] = True

    _learned: ClassVar[Learned] = {
        "n_clusters_": Scalar(Count, optional=True),
        "contamination_": Scalar(Share, optional=True),
        "choice_": ChoiceField(),
    }

    n_clusters: Auto | Count | Counts = field(  # type: ignore[assignment]
        default="auto", kw_only=False
    )
    contamination: Auto | OutlierRows = "auto"
    n_memberships: Count = 1
    step: Auto | Positive = "auto"
    n_swaps: Auto | Tally = "auto"
    init: Init = "robust-k-means++"

    # what TableModel was told to fit
    _made_choice: ClassVar[Choice | None] = None

    def _fit_table(self, X: Table) -> None:
        # plain RTKM with the numbers that were given or chosen
        solver = copy(self)
        if isinstance(self.n_clusters, str) and not self._seeds_itself:
            solver.n_clusters = len(np.asarray(self.init))
        solver.choice_ = choice = solver._choose(X)
        if choice is not None:
            solver.__dict__.update(choice.params)
        super(RTKM, solver)._fit_table(X)
        solver.n_clusters_ = len(solver.cluster_centers_)
        solver.contamination_ = solver._n_trimmed(X) / X.mass
        params = {field.name for field in fields(self)}
        found = vars(solver).items()
        self.__dict__.update({name: v for name, v in found if name not in params})

    def _choose(self, X: Table) -> Choice | None:
        """Choose the numbers that were not given."""
        k, n_outliers = self.n_clusters, self.contamination
        if not isinstance(n_outliers, str) and is_integer(k, 1):
            return None
        least, rng = self.n_memberships, check_random_state(self.random_state)
        choice = self._made_choice
        if choice is None:
            names = getattr(self, "feature_names_in_", self._source_names)
            choice = choose_for(X, k, n_outliers, least=least, rng=rng, names=names)
        if self.verbose:
            print(choice.summary())
        if X.mass < LEAST_ROWS:
            warn(choice.warnings[0])
        return choice

    def _starting_centers(
        self, X: Table
    ) -> Iterator[tuple[NDArray[Any], np.random.RandomState]]:
        starts = super()._starting_centers(X)
        if self.choice_ is not None and self._seeds_itself and self.step == "auto":
            C, rng = next(starts)
            yield self._better_start(X, C, self.choice_.init), rng
        yield from starts

    def _better_start(self, X: Table, *starts: NDArray[Any]) -> NDArray[Any]:
        """Return where the better of some starts leads without swaps."""
        runs = [Run(self._start(X, C)) for C in starts]
        for run in runs:
            descend(lambda last: self._step(X, last), run, max_iter=self.max_iter)
        C: NDArray[Any] = best_of(X, runs).state.C
        return C

    def _looks_for_outliers(self, X: Table) -> bool:
        return self._outliers_decided_by == "choice" or super()._looks_for_outliers(X)

    @property
    def _outliers_decided_by(self) -> str:  # type: ignore[override]
        given = ("contamination",) if self.choice_ is None else self.choice_.given
        return "asked" if "contamination" in given else "choice"

    def _start(self, X: Table, C: NDArray[Any]) -> TrimmedState | ProximalState:
        s, h = self.n_memberships, self._kept_mass(X)
        if self.step == "auto":
            return X.concentrate(C, s, h)
        return X.proximal_step(C, s, h, self.step)

    def _step(self, X: Table, state: Any) -> TrimmedState | ProximalState:
        s, h = self.n_memberships, state.kept_mass
        if self.step == "auto":
            return X.concentrate(state.means, s, h, last=state)
        return X.proximal_step(state.means, s, h, self.step, last=state)

    def _n_trimmed(self, X: Table) -> int:
        n_outliers: Any = self.contamination  # a number once it was chosen
        return whole_rows(n_outliers, X.mass)

    def _check_partitions(self) -> None:
        super()._check_partitions()
        if self.step != "auto":
            raise TypeError(
                f"step={self.step!r} does not run on rows in partitions; pass them as "
                "an array, or use step='auto'."
            )

    def _n_nearest(self) -> int:
        return self.n_memberships

    def _check(self, X: Table) -> None:
        k: Any = self.n_clusters
        check_memberships(self.n_memberships, k)

    def _inliers(self, X: Table, run: Run[Any]) -> NDArray[np.bool_]:
        whole = super()._inliers(X, run)
        if self.step == "auto":
            return whole
        v = run.state.v
        partly = X.counts & ~whole & (v > DUST)
        if not partly.any():
            return whole
        # a fixed step settles where all rows that are kept in part cost the same
        costs = self.outlier_scores_[partly]
        nothing = np.square(X.least_distances(run.state.C).min())
        if run.converged and np.ptp(costs) <= max(1e-3 * costs.max(), nothing):
            return whole
        # until then those of least weight are outliers, at equal weights the costliest
        n_trimmed = self._n_trimmed(X)
        least = X.cut(v, n_trimmed).threshold
        outlying = v < least - DUST
        tied = np.flatnonzero((v <= least + DUST) & ~outlying)
        n_left = n_trimmed - X.total(outlying.astype(np.float64))
        if n_left > 0:
            costliest_first = -self.outlier_scores_[tied]
            weights = None if X.weights is None else X.weights[tied]
            cut = cut_of(costliest_first, weights, n_left).threshold
            outlying[tied[costliest_first <= cut]] = True
        return whole | ~outlying

    def _has_stalled(self, X: Table) -> bool:
        partly = X.counts & (self.inlier_weights_ < 1 - DUST)
        return self.step != "auto" and bool((partly & ~self.outlier_mask_).any())

    def _offset(self, X: Table) -> float:
        if not self._has_stalled(X):
            return super()._offset(X)
        # weights that are still on their way may not be in the order of the scores
        scores, counts = self.outlier_scores_, X.counts
        kept_mass = X.total((~self.outlier_mask_).astype(np.float64))
        kept = scores <= X.cut(scores, kept_mass).threshold
        return -boundary(scores[counts], kept[counts], ~kept[counts])

    def _n_swaps(self) -> int | str:
        return self.n_swaps if self.step == "auto" else 0
