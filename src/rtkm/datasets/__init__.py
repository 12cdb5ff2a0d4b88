"""The paper's tables, and problems with a known answer.

`load_wbc` reads a table that travels inside the package; `make_outlier_blobs` and
`make_clouds` draw one. `fetch_shuttle`, `fetch_yeast`, `fetch_scene` and
`fetch_saved_starts` need files, look for them in this order and take the first they
find:

1. `path`, if it is given: a file, or a folder that holds it. Nothing else is tried.
2. The folder named by the environment variable ``RTKM_DATA``, laid out like this::

       shuttle.trn
       yeast/yeast.arff                     yeast/yeast_centers.npy
       scene/scene-train.arff               scene/scene_centers.npy
       scene/scene-test.arff
       yeast_noise/data_yeast_noise.npy     yeast_noise/labels_yeast_noise.npy

3. The cache: the folder `data_home`, by default the folder ``rtkm`` in scikit-learn's
   (``SCIKIT_LEARN_DATA``, or ``~/scikit_learn_data``).
4. OpenML, unless `download_if_missing` is False; what comes is kept in the cache. The
   starting centers and the noise of the authors are not published there.

`make_yeast_noise` finds the table as `fetch_yeast` does and draws the noise itself; the
noise of the authors it reads from its `path` alone. (``python -m experiments``
passes the folder of ``RTKM_DATA`` if the noise is there.)

Wherever a table comes from, its content is checked by hash: what a `fetch_*` function
returns is the paper's table, row by row, or an error says why not.
"""

from rtkm.datasets._authors import fetch_saved_starts, make_yeast_noise
from rtkm.datasets._generated import make_clouds, make_outlier_blobs
from rtkm.datasets._tables import fetch_scene, fetch_shuttle, fetch_yeast
from rtkm.datasets._wbc import load_wbc

__all__ = [
    "fetch_saved_starts",
    "fetch_scene",
    "fetch_shuttle",
    "fetch_yeast",
    "load_wbc",
    "make_clouds",
    "make_outlier_blobs",
    "make_yeast_noise",
]
