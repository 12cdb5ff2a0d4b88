"""
Next month's rows
=================

A model is fitted once and used for months, and the world moves on. Here a pump is
watched: a model of March is saved to a file, and judges the rows of later months.
``predict`` says which rows do not belong, and ``detect_drift`` whether the table as a
whole has changed, down to a column that comes in other units.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import rtkm
from rtkm import RTKM, TableModel


def month(n_rows, seed, faults=0):
    """Draw the rows of a pump that idles or works, and some faults."""
    rng = np.random.default_rng(seed)
    works = rng.random(n_rows) < 0.6
    pressure = np.where(
        works, rng.normal(6.0, 0.3, n_rows), rng.normal(2.0, 0.2, n_rows)
    )
    flow = np.where(works, rng.normal(42, 2.5, n_rows), rng.normal(8, 1.5, n_rows))
    celsius = np.where(works, rng.normal(61, 2.5, n_rows), rng.normal(38, 2.0, n_rows))
    flow[:faults] = rng.uniform(12, 30, faults)  # a leak: pressure without flow
    pressure[:faults] = rng.uniform(4.0, 8.0, faults)
    return pd.DataFrame({"pressure": pressure, "flow": flow, "temperature": celsius})


march = month(800, seed=0, faults=16)
later = {
    name: month(700, seed, faults=14)
    for seed, name in enumerate(("April", "May", "June"), start=1)
}
later["May"]["temperature"] = 1.8 * later["May"]["temperature"] + 32  # in Fahrenheit
later["June"]["temperature"] += 4.0  # a worn bearing

# %%
# In March: fit, and keep the model. Bars, liters and degrees are scaled, so that a bar
# counts for more than a liter; left to itself, the model would not scale columns whose
# spreads are within a factor of ten. The file holds centers, scales and quantiles, but
# no row.

model = TableModel(RTKM(random_state=0), scale="robust").fit(march)
print(model.estimator_.choice_.summary())

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "pump.rtkm"
    model.save(path, extra={"fitted to": "March"})
    print(rtkm.describe_model(path)["extra"], f"{path.stat().st_size} bytes")
    model = rtkm.load(path)

# %%
# From here on the model is the one from the file, as it would be on another machine:

for name, rows in later.items():
    outliers = model.predict(rows) == -1
    caught = outliers[:14].sum()
    print(f"\n{name}: {outliers.mean():.1%} outliers, {caught} of the 14 faults")
    print(model.detect_drift(rows).summary())

# %%
# In April all faults are found, with a few false alarms. In May all rows are outliers,
# and the reason is not the pump. In June there are far more outliers than faults, and
# one column has moved.

figure, axes = plt.subplots(1, 3, figsize=(8.4, 3.4), sharey=True, layout="constrained")
for ax, (name, rows) in zip(axes, later.items(), strict=True):
    out = model.predict(rows) == -1
    ax.plot(
        march["temperature"], march["flow"], ".", color="#cccccc", ms=3, label="March"
    )
    places = rows[["temperature", "flow"]].to_numpy()
    ax.plot(*places[~out].T, ".", color="#0072b2", ms=3, label="fits")
    ax.plot(*places[out].T, "x", color="#d55e00", ms=4, label="outlier")
    ax.set(title=f"{name}: {out.mean():.0%} outliers", xlabel="temperature")
axes[0].set_ylabel("flow")
axes[1].legend(loc="upper center")
plt.show()

# %%
# What was found says what to do. A unit is converted:

converted = later["May"].assign(temperature=(later["May"]["temperature"] - 32) / 1.8)
print(f"May, in Celsius: {np.mean(model.predict(converted) == -1):.1%} outliers")
print(model.detect_drift(converted).summary())

# %%
# The bearing of June needs a mechanic, and no converted column. Until then every
# outlier of that month is in doubt: a model that has drifted should not be asked about
# single rows before someone has looked at the table as a whole.
