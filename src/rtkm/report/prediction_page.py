"""The report of new rows: what applies of that of a fit, and what has changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from rtkm.report.drift_sentences import times
from rtkm.report.findings import Findings, Number, Outliers
from rtkm.report.page import (
    FEATURE as FEATURE_WIDTH,
    MOST_CLUSTERS,
    MOST_COLUMNS,
    STEPS,
    SizeBar,
    center_tables,
    for_program,
    histograms,
    key_figures,
    largest,
    outlier_table,
    parameters,
    preparation_table,
    seconds,
)
from rtkm.report.pictures import lay_out
from rtkm.report.prediction_findings import (
    DriftFindings,
    FeatureChange,
    LabelChange,
    MissingChange,
    PredictionFindings,
)
from rtkm.report.predictions import how_many
from rtkm.report.templating import N_COLORS, UNKNOWN, number, percent, render_page


def render_predictions(findings: PredictionFindings) -> str:
    """Draw the report of new rows.

    It is as complete, and as deaf to what names and cells hold, as that of a fit.
    """
    told = findings["scatter"]
    shown = largest(findings["clusters"], MOST_CLUSTERS)
    histogram = next(iter(findings["distributions"]["features"]), None)
    scatter = lay_out(told, shown, histogram) if told else None
    # what of a fit there is none of
    as_fit = cast(Findings, {**findings, "resampling": None})
    return render_page(
        "predictions.html",
        styles=("colors.css", "base.css", "report.css"),
        program="report.js",
        findings=as_fit,
        sections=sections(findings, bool(scatter and scatter.points)),
        key_figures=key_figures(as_fit),
        drift=drift_tables(findings["drift"]) if findings["drift"] else None,
        scatter=scatter,
        n_colors=N_COLORS,
        n_clusters=len(findings["clusters"]),
        n_shown=len(shown),
        sizes=[SizeBar.of(cluster, shown) for cluster in shown],
        centers=center_tables(as_fit, shown),
        steps=STEPS,
        histograms=histograms(as_fit),
        how_many_outliers=how_many(findings["outliers"]),
        scores=None,
        differences={},
        outliers=outlier_table(cast(Outliers, findings["outliers"])),
        feature_width=FEATURE_WIDTH,
        parameters=parameters(as_fit),
        seconds=seconds(as_fit),
        preparation=preparation_table(findings["preparation"]),
        drawn=for_program(as_fit, scatter),
    )


def sections(findings: PredictionFindings, has_points: bool) -> dict[str, str]:
    """Return ids and titles of the sections that there is something to show in."""
    titles: dict[str, tuple[str, Any]] = {
        "summary": ("Summary", True),
        "drift": ("Compared with the training rows", findings["drift"]),
        "map": ("The rows at a glance", has_points),
        "clusters": ("Clusters", findings["clusters"]),
        "distributions": ("Features", findings["distributions"]["features"]),
        "outliers": ("Outliers", True),
        "method": ("How it was done", True),
    }
    return {id: title for id, (title, is_there) in titles.items() if is_there}


@dataclass(frozen=True)
class FeatureLine:
    """A feature, its quartiles or shares as they are written, and what they tell."""

    change: FeatureChange
    then: str
    now: str
    verdict: str


@dataclass(frozen=True)
class DriftTables:
    """What is compared: what differs most comes first."""

    labels: list[LabelChange]
    features: list[FeatureLine]
    missing: list[MissingChange]
    n_features: int


def drift_tables(drift: DriftFindings) -> DriftTables:
    """Return the tables, as long as anybody reads."""
    by_p = sorted(drift["features"], key=lambda c: (not c["differs"], -c["distance"]))
    with_gaps = [c for c in drift["missing"] if c["count_then"] or c["count_now"]]
    with_gaps.sort(key=lambda c: (not c["differs"], c["p_value"]))
    return DriftTables(
        drift["labels"][: MOST_CLUSTERS + 1],
        [
            FeatureLine(
                change,
                distribution(change["quartiles_then"], change["share_then"]),
                distribution(change["quartiles_now"], change["share_now"]),
                verdict(change),
            )
            for change in by_p[:MOST_COLUMNS]
        ],
        with_gaps[:MOST_COLUMNS],
        len(drift["features"]),
    )


def distribution(quartiles: Sequence[Number], share: float | None) -> str:
    """Write the quartiles of numbers, the share of a category."""
    return " · ".join(map(number, quartiles)) if share is None else percent(share)


def verdict(change: FeatureChange) -> str:
    """Tell in a few words what has become of a feature."""
    units = change["units"]
    if units is not None:
        return (
            f"other units? {units['conversion'] or times(units['factor']) + ' before'}"
        )
    return "differs" if change["differs"] else UNKNOWN
