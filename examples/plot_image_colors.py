"""
Main colors of a photograph, and its accents
============================================

A palette of a few colors is a clustering of pixels. RTKM makes one that is right for
nearly all of them, and most of the pixels that it leaves out are no noise: they are the
accents of the photograph, the painted roofs of a temple. k-means bends one of its
colors towards them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_sample_image

from rtkm import RTKM

photo = load_sample_image("china.jpg")[::2, ::2] / 255
pixels = photo.reshape(-1, 3)

model = RTKM(5, contamination=0.05, random_state=0).fit(pixels)
accents = model.outlier_mask_.reshape(photo.shape[:2])

# %%
# Each pixel in the color of its cluster; accents are kept as they are, on white, in the
# third picture.

nearest = model.transform(pixels).argmin(axis=1)
painted = model.cluster_centers_[nearest].reshape(photo.shape)
alone = np.where(accents[..., None], photo, 1.0)

figure, axes = plt.subplots(2, 2, figsize=(8, 5.8), layout="constrained")
for ax, title, picture in zip(
    axes.flat[:3],
    ("photograph", "five main colors", "what they leave out"),
    (photo, painted, alone),
    strict=True,
):
    ax.imshow(picture)
    ax.set_title(title)
    ax.set_axis_off()

k_means = KMeans(5, n_init=3, random_state=0).fit(pixels)
palettes = {"RTKM": model.cluster_centers_, "k-means": k_means.cluster_centers_}
ax = axes.flat[3]
for y, (name, palette) in enumerate(palettes.items()):
    palette = palette[np.argsort(palette.sum(axis=1))]
    ax.imshow(palette[None], extent=(0, 5, y + 0.1, y + 0.9))
    ax.text(-0.1, y + 0.5, name, ha="right", va="center")
ax.set(xlim=(-1.4, 5), ylim=(2, 0), title="the palettes")
ax.set_aspect("auto")
ax.set_axis_off()
plt.show()

# %%
# How far is a pixel from its color, on the scale of 0 to 255, and how strong are the
# colors on either side of the cut? Saturation is the largest of red, green and blue
# less the smallest.

saturation = 255 * np.ptp(pixels, axis=1)
out = model.outlier_mask_
print(f"saturation: {np.median(saturation[~out]):.0f} of the pixels kept,")
print(f"            {np.median(saturation[out]):.0f} of those left out")
for name, palette in palettes.items():
    errors = 255 * np.linalg.norm(pixels[:, None] - palette, axis=2).min(axis=1)
    print(
        f"{name:8} median error {np.median(errors):.1f}, of 95 % of the pixels at most "
        f"{np.quantile(errors, 0.95):.1f}, mean square {np.mean(errors**2):.0f}"
    )

# %%
# By the mean square over *all* pixels k-means is better: it minimizes just that. RTKM
# minimizes it over the pixels it keeps. Take k-means to compress a picture, RTKM to say
# what its main colors are, or to find what stands out in it.
