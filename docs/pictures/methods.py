"""A picture for the page of each method: where it fits, and where it fails."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans
from toys import (
    COLORS,
    between,
    blobs,
    draw,
    draw_centers,
    draw_flags,
    finish,
    panels,
    strays,
    with_strays,
)

from rtkm import (
    CBLOF,
    CBOD,
    ESP,
    ISP,
    KMOR,
    LDOF,
    MOC,
    ODC,
    OKM,
    ORC,
    ROKM,
    RTKM,
    ClusterDetector,
    FuzzyCMeans,
    KMeansMinusMinus,
    NEOKMeans,
    RelaxedKMeans,
    TrimmedKMeans,
)

# a clump of outliers, far away
CLUMP = blobs(((22, 14),), 12, 0.5, seed=5)


def k_means(k, X):
    """Return scikit-learn's k-means, best of ten."""
    return KMeans(k, n_init=10, random_state=0).fit(X)


def of_rtkm():
    """Draw k-means and RTKM among outliers, and long clusters that RTKM cuts."""
    X = np.concatenate([with_strays(20), CLUMP])
    left, middle, right = panels(3)
    draw(left, X, k_means(3, X), "k-means, k = 3: a center for the clump")
    model = RTKM(random_state=0).fit(X)
    n = model.n_outliers_
    draw(middle, X, model, f"RTKM(): {model.n_clusters_} clusters, {n} outliers")
    long = blobs(((0, 0), (0, 1)), 120, 1.0, seed=2) * (6, 1) + np.repeat(
        [(0, 0), (0, 6)], 120, axis=0
    )
    draw(
        right,
        long,
        RTKM(2, contamination=0.05, random_state=0).fit(long),
        "fails: long clusters are cut across",
    )


def of_trimmed():
    """Draw trimmed k-means, and what it trims of a wide cluster."""
    left, right = panels()
    X = with_strays(20)
    draw(
        left,
        X,
        TrimmedKMeans(3, contamination=20, random_state=0).fit(X),
        "TrimmedKMeans(3, contamination=20)",
    )
    wide = blobs(((0, 0), (10, 9)), (150, 150), (1, 3))
    model = TrimmedKMeans(2, contamination=0.1, random_state=0).fit(wide)
    lost = [
        int((model.labels_[half] < 0).sum()) for half in (slice(150), slice(150, None))
    ]
    draw(
        right,
        wide,
        model,
        f"fails: trims {lost[0]} rows of the narrow,\n{lost[1]} of the wide cluster",
    )


def of_minus_minus():
    """Draw k-means-- from a good and from a poor start."""
    X = np.concatenate([with_strays(6), CLUMP])
    left, right = panels()
    good = KMeansMinusMinus(3, n_outliers=18, random_state=0).fit(X)
    draw(left, X, good, f"best of ten starts: {good.objective_:.0f}")
    bad = KMeansMinusMinus(3, n_outliers=18, init=[(0, 0), (6, 4), (22, 14)]).fit(X)
    draw(right, X, bad, f"fails: a start on the clump ends at {bad.objective_:.0f}")


def of_kmor():
    """Draw KMOR where outliers stand out, and on a clean table."""
    left, right = panels()
    X = with_strays(12)
    draw(
        left,
        X,
        KMOR(3, max_outliers=0.2, cutoff_factor=9, random_state=0).fit(X),
        "KMOR(3, max_outliers=0.2, cutoff_factor=9)",
    )
    clean = blobs()
    model = KMOR(3, max_outliers=0.2, cutoff_factor=3, random_state=0).fit(clean)
    share = model.n_outliers_ / len(clean)
    draw(
        right,
        clean,
        model,
        f"fails: cutoff_factor=3 on a clean table\nflags {share:.0%} of the rows",
    )


def of_odc():
    """Draw ODC on clusters of several widths, and on a clean table."""
    left, right = panels()
    centers, widths = ((0, 0), (14, 0), (7, 9)), (0.5, 2.5, 1)
    X = np.concatenate(
        [blobs(centers, 90, widths), [(3, 0), (0, -3), (7, 15), (3.5, 9)]]
    )
    draw(
        left,
        X,
        ODC(3, cutoff_factor=3, random_state=0).fit(X),
        "ODC(3, cutoff_factor=3)",
    )
    clean = blobs()
    model = ODC(3, random_state=0).fit(clean)
    share = model.n_outliers_ / len(clean)
    draw(
        right,
        clean,
        model,
        f"fails: cutoff_factor=2 flags {share:.0%}\nof a clean table",
    )


def of_orc():
    """Draw outlier removal clustering, and an outlier that wins a center."""
    left, right = panels()
    X = with_strays(12)
    draw(
        left,
        X,
        ORC(3, threshold=0.9, n_rounds=8, random_state=0).fit(X),
        "ORC(3, n_rounds=8)",
    )
    far = np.concatenate([blobs(), CLUMP])
    draw(
        right,
        far,
        ORC(3, n_rounds=8, random_state=0).fit(far),
        "fails: outliers with a center of their own stay",
    )


def of_neo():
    """Draw NEO-k-means, and what it does without overlap."""
    left, right = panels()
    X = np.concatenate([between(), strays(6, (-4, -7), (14, 7))])
    draw(
        left,
        X,
        NEOKMeans(2, overlap=0.15, contamination=6, random_state=0).fit(X),
        "NEOKMeans(2, overlap=0.15, contamination=6)",
    )
    apart = np.concatenate([blobs(((0, 0), (10, 0)), 70), strays(6, (-4, -7), (14, 7))])
    model = NEOKMeans(2, overlap=0.0, contamination=6, random_state=0).fit(apart)
    draw(
        right,
        apart,
        model,
        f"fails: without overlap, {model.n_outliers_} of 6 outliers found",
    )


def of_relaxed():
    """Draw relaxed k-means with two memberships, and one far row."""
    left, right = panels()
    X = blobs(((0, 0), (6, 0), (3, 5)), 50)
    draw(
        left,
        X,
        RelaxedKMeans(3, n_memberships=2, random_state=0).fit(X),
        "RelaxedKMeans(3, n_memberships=2)",
    )
    far = np.concatenate([blobs(), [(24, 16)]])
    draw(
        right,
        far,
        RelaxedKMeans(3, random_state=0).fit(far),
        "fails: one far row takes a center",
    )


def of_okm():
    """Draw OKM on rows between two clusters, and on clusters apart."""
    left, right = panels()
    X = between()
    draw(left, X, OKM(2, random_state=0).fit(X), "OKM(2): rows between two clusters")
    wide = blobs(((0, 0), (6, 0), (3, 5)), 60, 1.2)
    model = OKM(3, random_state=0).fit(wide)
    share = (model.assignments_.sum(axis=1) > 1).mean()
    draw(right, wide, model, f"fails: {share:.0%} of the rows in several clusters")


def of_rokm():
    """Draw R-OKM at three prices."""
    X = blobs(((0, 0), (6, 0), (3, 5)), 60, 1.2)
    for ax, price in zip(panels(3), (0.0, 0.3, 1.0), strict=True):
        model = ROKM(3, overlap_penalty=price, random_state=0).fit(X)
        share = (model.assignments_.sum(axis=1) > 1).mean()
        draw(ax, X, model, f"overlap_penalty={price:g}: {share:.0%} in several")


def of_esp():
    """Draw ESP beside OKM, of which rows may be in three clusters."""
    X = blobs(((0, 0), (6, 0), (3, 5)), 60, 1.2)
    left, right = panels()
    for ax, model, name in (
        (left, ESP(3, n_memberships=2, random_state=0), "ESP(3, n_memberships=2)"),
        (right, OKM(3, random_state=0), "OKM(3)"),
    ):
        draw(ax, X, model.fit(X), f"{name}: objective {model.objective_:.0f}")


def of_isp():
    """Draw ISP at three prices."""
    X = blobs(((0, 0), (6, 0), (3, 5)), 60, 1.2)
    for ax, price in zip(panels(3), (0.0, "auto", 4.0), strict=True):
        model = ISP(3, overlap_penalty=price, random_state=0).fit(X)
        share = (model.assignments_.sum(axis=1) > 1).mean()
        name = f'"{price}"' if price == "auto" else f"{price:g}"
        draw(ax, X, model, f"overlap_penalty={name}: {share:.0%} in several")


def of_moc():
    """Draw MOC where effects add up, and on the same table shifted."""
    a, b = np.array([6.0, 0.5]), np.array([0.5, 5.0])
    X = blobs((a, b, a + b), 50, 0.5)
    left, right = panels()
    draw(left, X, MOC(2, random_state=0).fit(X), "MOC(2): the third group is the sum")
    left.scatter(0, 0, marker="+", s=80, c="#222222")
    left.annotate("origin", (0, 0), (4, 4), textcoords="offset points", fontsize=8)
    moved = X + np.array([8, -8])
    draw(
        right,
        moved,
        MOC(2, random_state=0).fit(moved),
        "fails: the same rows, moved by (8, -8)",
    )


def of_fuzzy():
    """Draw shares as mixed colors, and what one outlier does."""
    left, right = panels()
    X = blobs(((0, 0), (6, 0), (3, 5)), 70, 1.3)
    far = np.concatenate([X, CLUMP[:4] + np.array([10, 10])])
    pure = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in COLORS[:3]])
    for ax, rows, title in (
        (left, X, "shares in three clusters, as mixed colors"),
        (right, far, "fails: four far rows take a center"),
    ):
        model = FuzzyCMeans(3, random_state=0).fit(rows)
        ax.scatter(*rows.T, s=14, c=model.memberships_ @ pure / 255, lw=0)
        draw_centers(ax, model.cluster_centers_)
        finish(ax, title)


def of_cblof():
    """Draw CBLOF with a clump of outliers, and with a small true cluster."""
    left, right = panels()
    X = np.concatenate([blobs(), blobs(((14, 11),), 8, 0.4, seed=5)])
    model = CBLOF(k_means(4, X), contamination=8).fit(X)
    draw_flags(
        left, X, model.outlier_mask_, "CBLOF: a small clump is far from large clusters"
    )
    small = blobs(n=(120, 120, 10))
    model = CBLOF(k_means(3, small), contamination=10).fit(small)
    draw_flags(
        right, small, model.outlier_mask_, "fails: a small true cluster is flagged"
    )


def of_ldof():
    """Draw LDOF on clusters of different density, and with a clump."""
    left, right = panels()
    X = np.concatenate(
        [
            blobs(((0, 0), (12, 0)), (150, 60), (0.5, 2.5)),
            [(2.6, 2), (-2.5, -1.5), (4, -3)],
        ]
    )
    draw_flags(
        left,
        X,
        LDOF(n_neighbors=20, contamination=3).fit(X).outlier_mask_,
        "LDOF(20): dense and scattered clusters",
    )
    X = np.concatenate([blobs(), blobs(((15, 10),), 30, 0.4, seed=5)])
    model = LDOF(n_neighbors=20, contamination=30).fit(X)
    found = int(model.outlier_mask_[-30:].sum())
    draw_flags(
        right,
        X,
        model.outlier_mask_,
        f"fails: {found} of 30 outliers found where they sit together",
    )


def of_cbod():
    """Draw CBOD, and the same table in another order."""
    X = np.concatenate([blobs(n=120), blobs(((15, 10),), 12, 0.4, seed=5), strays(6)])
    order = np.random.default_rng(3).permutation(len(X))
    for ax, rows, title in zip(
        panels(),
        (X, X[order]),
        ("rows as they come", "the same rows, shuffled"),
        strict=True,
    ):
        model = CBOD(radius=0.6, min_outlier_share=0.04).fit(rows)
        draw_flags(
            ax,
            rows,
            model.outlier_mask_,
            f"{title}: {model.n_clusters_} clusters, {model.n_outliers_} outliers",
        )


def of_detector():
    """Draw scores of ClusterDetector around two clusterers."""
    X = np.concatenate([with_strays(10), CLUMP - np.array([6, 2])])
    grid = np.stack(
        np.meshgrid(np.linspace(-8, 22, 90), np.linspace(-8, 17, 90)), axis=-1
    )
    for ax, clusterer, title in zip(
        panels(),
        (
            RTKM(3, contamination=22, random_state=0),
            KMeans(4, n_init=10, random_state=0),
        ),
        ("around RTKM(3)", "fails: around KMeans(4), the clump is a cluster"),
        strict=True,
    ):
        detector = ClusterDetector(clusterer, contamination=22).fit(X)
        scores = -detector.score_samples(grid.reshape(-1, 2)).reshape(90, 90)
        ax.contourf(grid[..., 0], grid[..., 1], scores, 12, cmap="Greys", alpha=0.45)
        draw_flags(ax, X, detector.outlier_mask_, title)
