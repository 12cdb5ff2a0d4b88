"""What a notebook shows of a fitted model: its clusters and outliers, in HTML.

It is written by hand, since templates need Jinja2, which a notebook may not have. There
is no script in it, and everything of the user's is escaped.
"""

from __future__ import annotations

from html import escape
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from rtkm._number_text import counted, percent
from rtkm.report.of_model import MOST_FEATURES, Fitted, cluster_table, headline
from rtkm.report.plot_axes import COLORS
from rtkm.report.sketches import picture_of

BAR = 120  # pixels of the largest cluster
STYLE = "display:inline-block;height:0.7em;border-radius:2px"


def html_of(model: Any) -> str:
    """Return what was found as HTML; before a fit, what scikit-learn shows."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        return str(estimator_html_repr(model))
    fitted = Fitted.of(model)
    parts = [f"<p>{escape(headline(fitted))}</p>"]
    if len(fitted.centers):
        parts += [table_of(fitted), left_out(fitted)]
    sketch = vars(fitted.estimator).get("_sketch")
    if sketch is not None:  # no file holds it
        n_rows = len(fitted.estimator.outlier_mask_)
        parts.append(picture_of(sketch, fitted.preparation, n_rows))
    parameters = escape(repr(model))
    parts.append(
        f"<details><summary>Parameters</summary><pre>{parameters}</pre></details>"
    )
    return f"<div>{''.join(parts)}</div>"


def table_of(fitted: Fitted) -> str:
    """Return size, share and center of each cluster, and a bar as long as its size."""
    head, lines = cluster_table(fitted)
    sizes = fitted.sizes
    bars = [""] * len(lines)
    if sizes is not None:
        head = [*head[:1], "", *head[1:]]
        most = max(*sizes, 1)
        bars = [
            f'<td><span style="{STYLE};background:{COLORS[label % len(COLORS)]};'
            f'width:{round(BAR * size / most)}px"></span></td>'
            for label, size in enumerate(sizes[: len(lines)])
        ]
    heads = "".join(f"<th>{escape(name)}</th>" for name in head)
    rows = ""
    for (label, *cells), bar in zip(lines, bars, strict=True):
        written = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        rows += f"<tr><th>{label}</th>{bar}{written}</tr>"
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def left_out(fitted: Fitted) -> str:
    """Tell of outliers by their share, and of what the table does not show."""
    n_outliers, told = fitted.estimator.n_outliers_, []
    if fitted.sizes is not None:
        total = sum(fitted.sizes) + n_outliers
        told.append(f"{counted(n_outliers, 'outlier')}: {percent(n_outliers / total)}")
    n_shown, n_features = len(cluster_table(fitted)[1]), len(fitted.preparation.columns)
    for noun, count, shown in (
        ("cluster", len(fitted.centers), n_shown),
        ("feature", n_features, MOST_FEATURES),
    ):
        if count > shown:
            told.append(f"{counted(count - shown, f'more {noun}')} not shown")
    return f"<p>{'; '.join(told)}.</p>" if told else ""
