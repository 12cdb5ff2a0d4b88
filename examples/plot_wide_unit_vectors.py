"""
Documents: rows of unit length in hundreds of columns
=====================================================

Texts become rows of a wide and sparse table: a column for each word, weighted and
scaled to length one (TF-IDF). In so many columns all rows are far from each other, and
outliers not much farther than the rest. Among six topics and a tenth of texts
that are about nothing, does trimming still work?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.ensemble import IsolationForest
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.neighbors import LocalOutlierFactor

from rtkm import RTKM
from rtkm.metrics import average_f1, outlier_roc_auc

N_WORDS, LENGTH = 300, 60
rng = np.random.default_rng(0)
topics = rng.dirichlet(np.full(N_WORDS, 0.1), size=6)
truth = np.repeat([0, 1, 2, 3, 4, 5, -1], [100] * 6 + [60])

# a topic makes 60 % of the words of a text, and none of those of texts about nothing
anything = np.full(N_WORDS, 1 / N_WORDS)
mixes = [anything if j < 0 else 0.6 * topics[j] + 0.4 * anything for j in truth]
counts = np.array([rng.multinomial(LENGTH, mix) for mix in mixes])
X = TfidfTransformer().fit_transform(counts).tocsr()
print(
    f"{X.shape[0]} rows of {X.shape[1]} columns, {X.nnz / np.prod(X.shape):.0%} filled"
)

# %%
# RTKM takes the sparse matrix as it is. k-means has no outliers, so it is given a
# seventh cluster, too, to put them into.

models = {
    "RTKM()": RTKM(random_state=0),
    "RTKM(6, contamination=60)": RTKM(6, contamination=60, random_state=0),
    "KMeans(6)": KMeans(6, n_init=10, random_state=0),
    "KMeans(7)": KMeans(7, n_init=10, random_state=0),
}
for name, model in models.items():
    labels = model.fit_predict(X)
    print(
        f"{name:26} average F1 {average_f1(truth, labels):.3f}, "
        f"{labels.max() + 1} clusters, {np.sum(labels == -1)} outliers"
    )

# %%
# Which outliers come first? Distances to the centers of RTKM against two detectors.

model = models["RTKM()"]
dense = X.toarray()
forest = IsolationForest(random_state=0).fit(dense)
factors = LocalOutlierFactor(20).fit(dense).negative_outlier_factor_
scores = {
    "RTKM()": model.outlier_scores_,
    "LocalOutlierFactor(20)": -factors,
    "IsolationForest()": -forest.score_samples(dense),
}
for name, score in scores.items():
    print(f"{name:26} ROC AUC {outlier_roc_auc(truth == -1, score):.3f}")

# %%
# Distances of all pairs show why this is hard, and distances to centers why it works:
# the noise of a hundred rows averages out in their center.

pairs = np.linalg.norm(dense[:, None] - dense[None, ::11], axis=2)
same = truth[:, None] == truth[None, ::11]
inside = same & (truth[:, None] >= 0) & (pairs > 0)

figure, axes = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
for ax, title, groups in (
    (
        axes[0],
        "from row to row",
        {"the same topic": pairs[inside], "texts about nothing": pairs[truth == -1]},
    ),
    (
        axes[1],
        "from row to nearest center",
        {
            "with a topic": np.sqrt(model.outlier_scores_[truth >= 0]),
            "about nothing": np.sqrt(model.outlier_scores_[truth == -1]),
        },
    ),
):
    for (name, distances), color in zip(
        groups.items(), ("#0072b2", "#d55e00"), strict=True
    ):
        distances = distances[distances > 0]
        bins = np.linspace(0.5, 1.42, 60)
        ax.hist(distances, bins, density=True, color=color, alpha=0.65, label=name)
    ax.set(title=title, xlabel="distance", yticks=[])
    ax.legend(loc="upper left")
axes[1].axvline(np.sqrt(-model.offset_), color="black", ls="--", lw=1.2)
axes[1].text(
    np.sqrt(-model.offset_), 0.5, " cut", transform=axes[1].get_xaxis_transform()
)
plt.show()

# %%
# The scores of RTKM separate the two kinds here; the cut that it chooses also flags
# some texts with a topic. Where their number is known, say so, and where not, look at
# the rows around the cut.
