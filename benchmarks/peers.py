"""K-means of others, as estimators that start at given centers."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin_min

LLOYD, ELKAN = "KMeans lloyd", "KMeans elkan"
FAISS, INTELEX, TRIMCLUSTER = "faiss", "scikit-learn-intelex", "trimcluster (R)"
FAST = "fastkmeans"


def k_means(C: np.ndarray, algorithm: str = "lloyd", max_iter: int = 300) -> KMeans:
    """Return scikit-learn's k-means, which ends when no label changes."""
    return KMeans(
        len(C), init=C, n_init=1, tol=0, algorithm=algorithm, max_iter=max_iter
    )


def intelex(C: np.ndarray, max_iter: int) -> Any:
    """Return Intel's k-means; it follows no limit on threads but its own."""
    from sklearnex.cluster import KMeans as Accelerated

    return Accelerated(len(C), init=C, n_init=1, tol=0, max_iter=max_iter, n_jobs=1)


class Faiss:
    """The k-means of faiss, which knows float32 alone and never ends early."""

    def __init__(self, C: np.ndarray, n_iter: int) -> None:
        self.C = C
        self.n_iter_ = n_iter

    def fit(self, X: np.ndarray) -> Faiss:
        import faiss

        k, d = self.C.shape
        # by default it fits to a sample of the rows
        model = faiss.Kmeans(
            d, k, niter=self.n_iter_, max_points_per_centroid=len(X) + 1
        )
        model.train(X, init_centroids=self.C)
        self.inertia_ = float(model.obj[-1])
        return self


class Fast:
    """The k-means of fastkmeans, on PyTorch: float32, from random rows of its own.

    Its centers are summed up here, and not while it is timed.
    """

    def __init__(self, C: np.ndarray, n_iter: int) -> None:
        self.C = C
        self.n_iter_ = n_iter

    def fit(self, X: np.ndarray) -> Fast:
        from fastkmeans import FastKMeans

        k, d = self.C.shape
        self.X = X
        self.model = FastKMeans(d, k, niter=self.n_iter_, tol=0, gpu=False)
        self.model.train(X)
        return self

    @property
    def inertia_(self) -> float:
        _, away = pairwise_distances_argmin_min(self.X, self.model.centroids)
        return float(np.square(away, dtype=np.float64).sum())


# numbers travel in binary; half a row is added since the rows to keep are rounded up
SCRIPT = """
numbers <- function(name, n) readBin(name, "double", n)
shape <- numbers("shape", 4); n <- shape[1]; d <- shape[2]; k <- shape[3]
X <- matrix(numbers("rows", n * d), n); C <- matrix(numbers("start", k * d), k)
seconds <- system.time(fit <- trimcluster::trimkmeans(
  X, k, trim = (shape[4] + 0.5) / n, runs = 1, points = C))["elapsed"]
writeBin(as.double(c(seconds, fit$criterion)), "fit")
"""


class Trimcluster:
    """Trimmed k-means of R's trimcluster; its iterations are its own secret."""

    n_iter_ = 0

    def __init__(self, C: np.ndarray, share: float) -> None:
        self.C = C
        self.share = share

    def fit(self, X: np.ndarray) -> Trimcluster:
        (n, d), k = X.shape, len(self.C)
        n_outliers = round(self.share * n)
        shape = np.array([n, d, k, n_outliers])
        with tempfile.TemporaryDirectory() as folder:
            for name, values in {"shape": shape, "rows": X, "start": self.C}.items():
                content = values.astype(np.float64).tobytes(order="F")
                (Path(folder) / name).write_bytes(content)
            run_r(SCRIPT, folder).check_returncode()
            self.seconds_, mean_cost = np.fromfile(Path(folder) / "fit")
        self.inertia_ = mean_cost * (n - n_outliers)
        return self


def run_r(code: str, folder: str | None = None) -> subprocess.CompletedProcess[str]:
    command = [shutil.which("Rscript") or "Rscript", "-e", code]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@cache
def installed() -> dict[str, str]:
    """Return the versions of the peers that are here."""
    found = {}
    # the last is not in the group `bench`: the PyTorch it needs takes gigabytes
    packages = {FAISS: "faiss-cpu", INTELEX: "scikit-learn-intelex", FAST: "fastkmeans"}
    for name, package in packages.items():
        try:
            found[name] = version(package)
        except PackageNotFoundError:
            continue
    if shutil.which("Rscript"):
        asked = run_r('cat(as.character(packageVersion("trimcluster")))')
        if asked.returncode == 0:
            found[TRIMCLUSTER] = asked.stdout
    return found
