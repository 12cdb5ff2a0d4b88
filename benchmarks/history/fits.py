"""Whole fits, one iteration, and answers for rows, on fixed tables of blobs."""

from __future__ import annotations

import warnings

import numpy as np

from rtkm import RTKM, TrimmedKMeans

# only public names, so that older commits can be timed, too
SHAPES = {
    "43500 x 9, k = 3": (43_500, 9, 3),
    "2417 x 103, k = 14": (2_417, 103, 14),
    "100000 x 16, k = 8": (100_000, 16, 8),
}


class Problem:
    """A table whose blobs overlap, and starting centers."""

    params = tuple(SHAPES)
    param_names = ("shape",)

    def setup(self, shape: str) -> None:
        warnings.simplefilter("ignore")
        n, d, k = SHAPES[shape]
        rng = np.random.default_rng(0)
        centers = 4 / np.sqrt(2 * d) * rng.normal(size=(k, d))
        self.X = centers[rng.integers(k, size=n)] + rng.normal(size=(n, d))
        self.C = self.X[:k].copy()

    def trimmed(self, max_iter: int = 300) -> TrimmedKMeans:
        k = len(self.C)
        return TrimmedKMeans(k, init=self.C, n_swaps=0, max_iter=max_iter).fit(self.X)

    def fixed_step(self) -> RTKM:
        return RTKM(
            len(self.C), contamination=0.1, init=self.C, step=1.1, max_iter=30
        ).fit(self.X)


class Fits(Problem):
    """Times, peaks of memory, and the objectives that go with them."""

    def time_trimmed(self, shape: str) -> None:
        self.trimmed()

    def time_one_iteration(self, shape: str) -> None:
        self.trimmed(max_iter=1)

    def time_fixed_step(self, shape: str) -> None:
        self.fixed_step()

    def time_defaults(self, shape: str) -> None:
        RTKM(len(self.C), contamination=0.1, random_state=0).fit(self.X)

    def peakmem_fixed_step(self, shape: str) -> None:
        self.fixed_step()

    def track_objective_of_defaults(self, shape: str) -> float:
        return (
            RTKM(len(self.C), contamination=0.1, random_state=0).fit(self.X).objective_
        )

    def track_iterations(self, shape: str) -> int:
        return self.trimmed().n_iter_


class Answers(Problem):
    """What a fitted model is asked."""

    def setup(self, shape: str) -> None:
        super().setup(shape)
        self.model = self.trimmed(max_iter=1)

    def time_predict(self, shape: str) -> None:
        self.model.predict(self.X)

    def time_transform(self, shape: str) -> None:
        self.model.transform(self.X)

    def time_explain(self, shape: str) -> None:
        self.model.explain(self.X)


class Changes:
    """What would make inliers of outliers, each of them in two of many clusters."""

    def setup(self) -> None:
        warnings.simplefilter("ignore")
        X = np.random.default_rng(0).normal(size=(12_000, 8))
        model = RTKM(
            20,
            contamination=0.1,
            n_memberships=2,
            n_init=1,
            random_state=0,
            max_iter=20,
        )
        self.model = model.fit(X)
        scores = model.score_samples(X)
        self.outliers = 1.5 * X[np.argsort(scores)[:2_000]]

    def time_explain_outliers(self) -> None:
        self.model.explain(self.outliers)
