"""
Why is this row an outlier?
===========================

To be told that a row does not belong is half an answer. Which value is to blame, and
what would it have to be? Here three mistakes of typing are made in a table of wines;
RTKM finds the rows, and ``explain`` finds the cells.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from rtkm import RTKM, TableModel

wine = load_wine(as_frame=True).data
wine = wine.rename(columns={"od280/od315_of_diluted_wines": "od280/od315"})

typed = wine.copy()
for row, column, factor in ((17, "ash", 10), (80, "hue", 10), (140, "alcohol", 0.1)):
    typed.loc[row, column] *= factor  # the decimal point in the wrong place
    true, wrong = wine.loc[row, column], typed.loc[row, column]
    print(f"wine {row}: {column} {wrong:.4g}, not {true}")

# %%
# Measurements differ in their units, and a :class:`~rtkm.TableModel` scales them. The
# three cultivars are known, the mistakes are not.

model = TableModel(RTKM(3, random_state=0)).fit(typed)
print(model.estimator_.choice_.summary())

reasons = model.explain(typed)
found = reasons[reasons["outlier"]].sort_values("score", ascending=False)
columns = ["score", "change_feature", "change_from", "change_to"]
print(found[columns].round(2).to_string())

# %%
# ``change_from`` and ``change_to`` are in the units of the table: the smallest change
# of one value that would make the row an inlier. It is a bound, no repair; the true
# value was farther inside.
#
# The parts of a score, one for each feature, add up to it.

parts = found.filter(like="part_").rename(columns=lambda name: name[len("part_") :])
print(
    "their parts add up to the scores:", np.allclose(parts.sum(axis=1), found["score"])
)

shares = parts.div(found["score"], axis=0)
shares = shares[
    shares.max().sort_values(ascending=False).index
]  # the guilty ones first

figure, ax = plt.subplots(figsize=(7.5, 5.2), layout="constrained")
image = ax.imshow(100 * shares, cmap="cividis", vmin=0, vmax=100, aspect="auto")
ax.set_xticks(range(shares.shape[1]), shares.columns, rotation=50, ha="right")
labels = [f"wine {row}: {score:,.0f}" for row, score in found["score"].items()]
ax.set_yticks(range(len(found)), labels)
ax.set_title("Where outlier scores come from")
figure.colorbar(image, label="part of the score, in %")
plt.show()

# %%
# The mistakes are the three farthest rows, and nearly all of each score is due to the
# one cell that was changed. The other rows are wines as they are, and their scores come
# from several measurements, or from one that is just unusual. An explanation tells
# where to look, not what is true: to call a wine with much magnesium a mistake takes
# someone who knows wine.
