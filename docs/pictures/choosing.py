"""The plateau, the weakest pair, the tail and the curves of docs/samples.csv."""

import matplotlib.pyplot as plt
import numpy as np
from toys import ROOT

import rtkm

X = np.loadtxt(ROOT / "docs" / "samples.csv", delimiter=",", skiprows=1)
model = rtkm.RTKM(random_state=0).fit(X)
_, axes = plt.subplots(2, 2, figsize=(10, 7))
rtkm.plot.plateau(model.choice_, axes[0, 0])
rtkm.plot.weakest_pair(model.choice_, axes[0, 1])
rtkm.plot.tail(model, X, ax=axes[1, 0])
rtkm.curves(X, range(1, 7), random_state=0).plot(axes[1, 1])
