"""Robust spectral clustering: two moons among outliers.

Plain spectral clustering ends with k-means in the space of the graph's eigenvectors,
where every isolated row is as far away as a whole cluster. RTKM in its place trims
those rows. Prints a table over ten random tables and draws one of them:
``python examples/spectral.py [picture.png]``.
"""

from __future__ import annotations

import sys

import numpy as np
from matplotlib.figure import Figure
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_moons
from sklearn.manifold import SpectralEmbedding
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from rtkm import RTKM
from rtkm.metrics import ari_on_inliers, average_f1, outlier_me

COLORS = np.array(["#3b6fb6", "#3a9c6b", "#e07b39"])  # two moons, outliers (-1)
GAMMAS = (5.0, 20.0, 50.0, 100.0, 200.0)


def moons_with_outliers(
    seed: int, n_rows: int = 400, n_outliers: int = 40
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and labels; outliers are -1 and keep a distance from the moons."""
    moons, labels = make_moons(n_rows, noise=0.06, random_state=seed)
    rng = np.random.default_rng(seed)
    low, high = moons.min(axis=0) - 0.5, moons.max(axis=0) + 0.5
    anywhere = rng.uniform(low, high, size=(50 * n_outliers, 2))
    distances = np.linalg.norm(anywhere[:, None] - moons, axis=2).min(axis=1)
    outliers = anywhere[distances > 0.25][:n_outliers]
    X = np.concatenate([moons, outliers])
    return X, np.concatenate([labels, np.full(len(outliers), -1)])


def robust_spectral_clustering(gamma: float) -> Pipeline:
    """Make the pipeline: eigenvectors of the graph, then RTKM."""
    embedding = SpectralEmbedding(2, affinity="rbf", gamma=gamma, random_state=0)
    # an embedding knows no new rows, so it is a function of the table, not a transform
    return make_pipeline(
        FunctionTransformer(embedding.fit_transform),
        RTKM(n_clusters=2, contamination=0.1, random_state=0),
    )


def plain_spectral_clustering(gamma: float) -> SpectralClustering:
    return SpectralClustering(2, affinity="rbf", gamma=gamma, random_state=0)


METHODS = {"plain": plain_spectral_clustering, "with RTKM": robust_spectral_clustering}


def main(picture: str = "spectral.png", n_tables: int = 10) -> None:
    print(f"Two moons of 200 rows and 40 outliers, medians of {n_tables} tables.\n")
    header = ("gamma", "method", "moons (ARI)", "average F1", "outlier error")
    print("".join(f"{title:>14}" for title in header))
    for gamma in GAMMAS:
        for name, method in METHODS.items():
            figures = [measure(method(gamma), seed) for seed in range(n_tables)]
            cells = (f"{value:.3f}" for value in np.median(figures, axis=0))
            row = (f"{gamma:g}", name, *cells)
            print("".join(f"{cell:>14}" for cell in row))
    draw(picture)
    print(f"\nPicture: {picture}")


def measure(method: object, seed: int) -> tuple[float, float, float]:
    X, truth = moons_with_outliers(seed)
    found = method.fit_predict(X)
    return (
        ari_on_inliers(truth, found).ari,
        average_f1(truth, found),
        outlier_me(truth == -1, found == -1),
    )


def draw(picture: str, seed: int = 0, gamma: float = 200.0) -> None:
    X, _ = moons_with_outliers(seed)
    figure = Figure(figsize=(10, 4))
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    titles = ("plain spectral clustering", "spectral embedding, then RTKM")
    for ax, title, method in zip(axes, titles, METHODS.values(), strict=True):
        ax.scatter(*X.T, s=14, c=COLORS[method(gamma).fit_predict(X)], linewidth=0)
        ax.set_title(title, fontsize=11)
        ax.set_axis_off()
    figure.text(0.5, 0.02, "orange: outliers", ha="center", color=COLORS[-1])
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
