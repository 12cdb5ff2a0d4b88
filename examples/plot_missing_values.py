"""
Missing values: drop the row, or fill it in?
============================================

Thirteen measurements of 178 wines, and some are missing. To drop every row that lacks
one is safe and wasteful: with a tenth of the cells gone, most rows are. This example
cuts holes into the table and looks at what is left of the three cultivars, with
:class:`rtkm.TableModel` and with a pipeline of scikit-learn.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.impute import SimpleImputer
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler

from rtkm import RTKM, TableModel

wine = load_wine(as_frame=True)
table, cultivar = wine.data, wine.target.to_numpy()


def with_holes(share, seed):
    """Return the table without some cells."""
    holes = np.random.default_rng(seed).random(table.shape) < share
    return table.mask(holes)


# %%
# ``TableModel`` treats missing values, scales columns whose units differ, and gives one
# answer for every row of the table: label -3 is a row that was dropped.

estimator = RTKM(3, contamination=0.02, random_state=0)
holey = with_holes(0.1, seed=0)
for missing in ("drop", "median"):
    model = TableModel(estimator, missing=missing).fit(holey)
    counts = dict(zip(*np.unique(model.labels_, return_counts=True), strict=True))
    print(missing, {int(label): int(count) for label, count in counts.items()})
    print("\n".join(model.notes_), end="\n\n")

# %%
# The same with the parts of scikit-learn. Its pipeline knows how to fill in; dropping
# rows inside one is not possible, as every step has to return as many as it was given.

pipeline = make_pipeline(SimpleImputer(strategy="median"), RobustScaler(), estimator)
labels = pipeline.fit_predict(holey)
print(f"pipeline: adjusted Rand index {adjusted_rand_score(cultivar, labels):.3f}")
print(
    f"TableModel:                   {adjusted_rand_score(cultivar, model.labels_):.3f}"
)

# %%
# More and more holes, ten tables for each share: how many rows get an answer, and how
# well do the answers tell the cultivars apart, on these rows alone?

shares = [0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2]
answered, agreement = {}, {}
for missing in ("drop", "median"):
    answered[missing], agreement[missing] = [], []
    for share in shares:
        fits = [with_holes(share, seed) for seed in range(10)]
        fits = [TableModel(estimator, missing=missing).fit(holey) for holey in fits]
        kept = [fit.kept_mask_ for fit in fits]
        scores = [
            adjusted_rand_score(cultivar[rows], fit.labels_[rows])
            for fit, rows in zip(fits, kept, strict=True)
        ]
        answered[missing].append(np.mean(kept))
        agreement[missing].append(np.mean(scores))

figure, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for missing, style in (("drop", "s--"), ("median", "o-")):
    percent = 100 * np.array(shares)
    axes[0].plot(percent, 100 * np.array(answered[missing]), style, label=missing)
    axes[1].plot(percent, agreement[missing], style, label=missing)
    print(f"{missing:7} answered ", [f"{share:.0%}" for share in answered[missing]])
    print(f"{missing:7} agreement", [f"{ari:.2f}" for ari in agreement[missing]])
axes[0].set(title="rows that get an answer, in %", ylim=0)
axes[1].set(title="adjusted Rand index of these rows", ylim=(0, 1))
for ax in axes:
    ax.set_xlabel("missing cells, in %")
axes[0].legend(title="missing=")
plt.show()

# %%
# Filling in medians costs hardly anything here while few cells are missing, and later
# about as much as dropping does, which answers for a few rows only. Holes were cut at
# random, though. Where a value is missing *because* it is large, or the instrument
# failed for one group, neither way is safe: then look first at which rows lack it.
