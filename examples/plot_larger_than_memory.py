"""
Larger than memory: a folder of Parquet files
=============================================

Measurements of a year come as twelve files, together more than anybody wants to load.
:class:`rtkm.TableModel` reads them part by part and finds what it would find in one
table, to the last bit.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rtkm import RTKM, TableModel

folder = Path(tempfile.mkdtemp())


def measured_in(month):
    """Return the parts that were measured in a month; one machine wears out."""
    rng = np.random.default_rng(month)
    machine = rng.integers(0, 3, 5000)
    X = np.array([[20, 5], [24, 9], [29, 6]])[machine] + rng.normal(0, 0.7, (5000, 2))
    broken = rng.random(5000) < 0.002 * month * (machine == 1)
    X[broken] += rng.uniform(4, 12, (broken.sum(), 2))
    return pa.table({"length": X[:, 0], "width": X[:, 1]})


for month in range(12):
    pq.write_table(measured_in(month), folder / f"month-{month + 1}.parquet")

# %%
# A real table would say ``memory="2GB"``; this one is cut in parts by its files.

model = TableModel(RTKM(3, random_state=0)).fit(folder, memory="16MiB")
print(model.summary())
print(model.labels_)

# %%
# What there is for each row is computed when it is asked for, one part after the other:
# here, a part is a month, and the question which of them had how many outliers.

n_rows = 5000
outliers = np.asarray(model.outlier_mask_)
counts = outliers.reshape(12, n_rows).sum(axis=1)

in_memory = TableModel(RTKM(3, random_state=0)).fit(pq.read_table(folder))
same = model.cluster_centers_.tobytes() == in_memory.cluster_centers_.tobytes()
print("the same centers as in memory, to the last bit:", same)

# %%
# The picture shows some rows of the last month, and the outliers of every month.

last = measured_in(11)
labels = model.predict(last)
fig, (rows, months) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for label in range(-1, 3):
    some = labels == label
    color = "black" if label < 0 else f"C{label}"
    rows.plot(
        last["length"].to_numpy()[some],
        last["width"].to_numpy()[some],
        ".",
        color=color,
        markersize=3,
    )
rows.set(xlabel="length", ylabel="width", title="the last month")
months.bar(np.arange(1, 13), counts, color="black")
months.set(xlabel="month", ylabel="outliers", title="one machine wears out")
plt.show()
