"""Pictures of the front page and of the guide."""

from __future__ import annotations

import json
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from toys import (
    COLORS,
    INK,
    OUTLIER,
    ROOT,
    blobs,
    draw,
    finish,
    panels,
    strays,
    with_strays,
)

import rtkm
from rtkm import RTKM, NEOKMeans

RESULTS = ROOT / "benchmarks" / "results"
TIME = "time, in k-means of ten starts"


def of_front():
    """Draw k-means and RTKM on clusters among outliers."""
    centers = ((0, 0), (9, 0), (4.5, 7.5), (13, 8), (-4, 8))
    clump = blobs(((27, 16),), 20, 0.5, seed=5)
    X = np.concatenate([blobs(centers, 90), strays(30, (-9, -6), (24, 18)), clump])
    left, right = panels(2, 3.4)
    k_means = KMeans(5, n_init=10, random_state=0).fit(X)
    draw(left, X, k_means, "k-means, k = 5", size=9)
    model = RTKM(random_state=0).fit(X)
    found = f"{model.n_clusters_} clusters and {model.n_outliers_} outliers"
    draw(right, X, model, f"RTKM(): {found}", size=9)


def of_one_outlier():
    """Draw where a center goes as one row, or a tenth of the rows, moves away."""
    left, right = panels(height=3)
    rows = np.random.default_rng(0).normal(size=(90, 2))
    away = np.geomspace(1, 1000, 25)
    for ax, n, title in (
        (left, 1, "one row of 91 moves away"),
        (right, 10, "ten rows of 100"),
    ):
        paths = {"mean (k-means)": [], "RTKM(1, contamination=10)": []}
        for distance in away:
            X = np.concatenate([rows, np.full((n, 2), distance)])
            robust = RTKM(1, contamination=10, random_state=0).fit(X)
            for path, center in zip(
                paths.values(),
                (X.mean(axis=0), robust.cluster_centers_[0]),
                strict=True,
            ):
                path.append(np.linalg.norm(center))
        for (name, path), color in zip(
            paths.items(), (COLORS[1], COLORS[0]), strict=True
        ):
            ax.loglog(away, path, c=color, label=name)
        ax.set_xlabel("distance of the outliers")
        ax.set_title(title, fontsize=9.5)
    left.set_ylabel("distance of the center")
    left.legend(frameon=False)


def of_shares():
    """Draw what too low and too high a share of outliers does."""
    X = with_strays(20)
    for ax, share in zip(panels(3), (0.0, 20, 0.3), strict=True):
        model = RTKM(3, contamination=share, random_state=0).fit(X)
        name = f"{share:.0%} trimmed" if share < 1 else f"{share} rows trimmed"
        draw(ax, X, model, f"{name}: {model.n_standing_out_} rows stand out")


def of_scores():
    """Draw the scores of a fit with its cut, and how confident its answers are."""
    X = with_strays(20, widths=1.6)
    model = RTKM(3, random_state=0).fit(X)
    left, right = panels(height=3.2)
    scores = np.sort(np.sqrt(model.outlier_scores_))
    bins = np.geomspace(max(scores[0], 0.05), scores[-1], 40)
    kept = np.sqrt(model.outlier_scores_[~model.outlier_mask_])
    left.hist(
        [kept, np.sqrt(model.outlier_scores_[model.outlier_mask_])],
        bins,
        stacked=True,
        color=[COLORS[0], OUTLIER],
        label=["kept", "outliers"],
    )
    left.axvline(np.sqrt(-model.offset_), c=INK, lw=1, ls=":")
    left.set_xscale("log")
    left.set_xlabel("root of the score, and of minus offset_ (dotted)")
    left.legend(frameon=False)
    left.set_title("outlier_scores_", fontsize=9.5)
    confidence = np.asarray(model.predict_confidence(X))
    names = ("core", "border", "doubtful", "outlier")
    for name, color in zip(
        names, (COLORS[0], COLORS[4], COLORS[1], OUTLIER), strict=True
    ):
        of_name = confidence == name
        right.scatter(
            *X[of_name].T, s=14, c=color, lw=0, label=f"{name} ({of_name.sum()})"
        )
    below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.02), "ncols": 2}
    right.legend(frameon=False, fontsize=8, **below)
    finish(right, "predict_confidence")


def of_skew():
    """Draw one skewed column as it is and as a logarithm."""
    rng = np.random.default_rng(0)
    X = np.exp(rng.normal(size=(400, 2)) * (1.0, 0.9))
    for ax, rows, title in zip(
        panels(), (X, np.log(X)), ("as they are", "logarithms"), strict=True
    ):
        model = RTKM(1, random_state=0).fit(rows)
        draw(ax, rows, model, f"{title}: {model.n_outliers_} of 400 rows are outliers")


def of_overlap():
    """Draw one membership a row, two, and some."""
    rng = np.random.default_rng(3)
    corners = ((0, 0), (10, 0), (5, 8.5))
    middles = ((5, 0), (2.5, 4.25))
    X = np.concatenate(
        [
            blobs(corners, 50, 0.9, 3),
            *(rng.normal(middle, 0.6, (14, 2)) for middle in middles),
            strays(5, (-4, -5), (14, 13)),
        ]
    )
    ways = {"random_state": 0, "contamination": 5}
    for ax, model, title in zip(
        panels(3, 3.0),
        (
            RTKM(3, **ways),
            RTKM(3, n_memberships=2, **ways),
            NEOKMeans(3, overlap=0.15, **ways),
        ),
        (
            "RTKM: one cluster each",
            "RTKM, n_memberships=2: two each",
            "NEOKMeans, overlap=0.15: some in two",
        ),
        strict=True,
    ):
        draw(ax, X, model.fit(X), title)


def of_performance():
    """Draw times and minima as `make quality` has measured them."""
    content = json.loads((RESULTS / "quality.json").read_text(encoding="utf-8"))
    head, *rows = content["records"]["table"]
    columns = {name: [row[place] for row in rows] for place, name in enumerate(head)}
    timed = [n for n, cell in enumerate(columns[TIME]) if cell]
    names = [columns["problems"][n] for n in timed]
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 4.4), sharey=True)
    places = np.arange(len(timed))
    left.barh(places, [float(columns[TIME][n]) for n in timed], color=COLORS[0])
    left.axvline(1, c=INK, lw=0.8, ls=":")
    left.set_yticks(places, names)
    left.invert_yaxis()
    left.set_title("time, in k-means of ten starts", fontsize=9.5)
    for name, marker, color in (
        ("at most 1.001", "o", COLORS[0]),
        ("50 restarts: at most 1.001", "s", COLORS[1]),
    ):
        shares = [float(columns[name][n].rstrip("%")) for n in timed]
        label = "50 restarts" if marker == "s" else "RTKM"
        hollow = {"ms": 9, "mfc": "none"} if marker == "s" else {}
        right.plot(shares, places, marker, c=color, label=label, **hollow)
    right.set_title("% of problems within 0.1 % of the least minimum", fontsize=9.5)
    right.grid(axis="y", lw=0.3)
    right.legend(frameon=False, loc="lower left")


def of_units():
    """Draw clusters in two units."""
    X = blobs(((0, 0), (7, 0)), 100) * (1, 8)
    left, right = panels(height=3)
    with warnings.catch_warnings():  # of columns of different units, rightly
        warnings.simplefilter("ignore", rtkm.ScaleWarning)
        labels = RTKM(2, contamination=0, random_state=0).fit(X).labels_
    for ax, found, title in (
        (left, labels, "second column in a small unit: it decides"),
        (
            right,
            rtkm.TableModel(RTKM(2, contamination=0, random_state=0), scale="robust")
            .fit(X)
            .labels_,
            'scale="robust"',
        ),
    ):
        ax.scatter(*X.T, s=12, c=COLORS[found], lw=0)
        finish(ax, title)
        ax.set_aspect("auto")
