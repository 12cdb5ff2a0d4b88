"""Pictures of what a fitted model makes of rows.

Whoever imports the library imports these functions, and not all that they draw with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def clusters(model: Any, X: Any, *, ax: Axes | None = None) -> Axes:
    """Draw rows by cluster, as the report does.

    Two features are drawn as they are, and a single one as a histogram; of more, the
    two principal directions of the inliers are drawn. Of many rows it is a sample of
    the inliers and one of the outliers.

    Parameters
    ----------
    model : estimator
        A fitted clusterer or detector, or a :class:`rtkm.TableModel`.
    X : frame, array-like or path
        The rows.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> from rtkm import RTKM, plot
    >>> from rtkm.datasets import make_outlier_blobs
    >>> X, labels, centers = make_outlier_blobs(200, random_state=0)
    >>> model = RTKM(random_state=0).fit(X)
    >>> ax = plot.clusters(model, X)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x0', 'x1')
    """
    from rtkm.report.fit_drawings import draw_clusters

    return draw_clusters(model, X, ax)


def scores(model: Any, X: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the outlier scores of rows, the largest first, and the cut-off.

    Parameters
    ----------
    model : estimator
        A fitted clusterer or detector, or a :class:`rtkm.TableModel`.
    X : frame, array-like or path
        The rows.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> from rtkm import RTKM, plot
    >>> from rtkm.datasets import make_outlier_blobs
    >>> X, labels, centers = make_outlier_blobs(200, random_state=0)
    >>> model = RTKM(random_state=0).fit(X)
    >>> [text.get_text() for text in plot.scores(model, X).get_legend().get_texts()]
    ['inliers: 178', 'outliers: 22', 'cut-off']
    """
    from rtkm.report.fit_drawings import draw_scores

    return draw_scores(model, X, ax)


def profiles(model: Any, X: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the mean of each cluster in each feature, in spreads from that of inliers.

    Parameters
    ----------
    model : estimator
        A fitted clusterer, or a :class:`rtkm.TableModel` of one.
    X : frame, array-like or path
        The rows.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes: a row for each feature, those first that tell clusters apart most.

    Examples
    --------
    >>> from rtkm import RTKM, plot
    >>> from rtkm.datasets import make_outlier_blobs
    >>> X, labels, centers = make_outlier_blobs(200, random_state=0)
    >>> model = RTKM(random_state=0).fit(X)
    >>> [label.get_text() for label in plot.profiles(model, X).get_yticklabels()]
    ['x1', 'x0']
    """
    from rtkm.report.fit_drawings import draw_profiles

    return draw_profiles(model, X, ax)


def overlap(model: Any, X: Any, *, ax: Axes | None = None) -> Axes:
    """Draw how many rows any two clusters share.

    Parameters
    ----------
    model : estimator
        A fitted clusterer, or a :class:`rtkm.TableModel` of one.
    X : frame, array-like or path
        The rows.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes; where a cluster meets itself, all of its rows are counted.

    Examples
    --------
    >>> from rtkm import OKM, plot
    >>> X = [[0.0], [1.0], [5.5], [10.0], [11.0]]
    >>> ax = plot.overlap(OKM(2, random_state=0).fit(X), X)
    >>> ax.images[0].get_array().tolist()
    [[3, 1], [1, 3]]
    """
    from rtkm.report.fit_drawings import draw_overlap

    return draw_overlap(model, X, ax)
