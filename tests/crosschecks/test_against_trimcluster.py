"""k-means-- against trimmed k-means of the R package trimcluster: the same steps."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sample_tables import TABLES, starting_rows

from rtkm import KMeansMinusMinus, TrimmedKMeans

pytestmark = pytest.mark.slow

# numbers travel in binary, to the last bit; half a row is added because the number of
# rows to keep is rounded up
SCRIPT = """
numbers <- function(name, n) readBin(name, "double", n)
shape <- numbers("shape", 4); n <- shape[1]; d <- shape[2]; k <- shape[3]
fit <- trimcluster::trimkmeans(
  matrix(numbers("rows", n * d), n), k, trim = (shape[4] + 0.5) / n, runs = 1,
  points = matrix(numbers("start", k * d), k))
writeBin(as.double(c(fit$criterion, fit$classification, fit$means)), "fit")
"""


@pytest.fixture(scope="module")
def trimkmeans(tmp_path_factory):
    """A function that runs trimcluster: labels, centers and the mean cost."""
    rscript = shutil.which("Rscript")
    here = tmp_path_factory.mktemp("trimcluster")

    def r(code):
        return subprocess.run([rscript, "-e", code], cwd=here, capture_output=True)

    if not rscript or r("library(trimcluster)").returncode:
        pytest.skip("trimcluster is not installed; Debian has it as r-cran-trimcluster")

    def run(X, C, n_outliers):
        (n, d), k = X.shape, len(C)
        contents = {"shape": np.array([n, d, k, n_outliers]), "rows": X, "start": C}
        for name, values in contents.items():
            (here / name).write_bytes(values.astype(float).tobytes(order="F"))
        r(SCRIPT).check_returncode()
        criterion, *rest = np.fromfile(here / "fit")
        labels = np.array(rest[:n], dtype=int) - 1
        means = np.reshape(rest[n:], (k, d), order="F")
        return np.where(labels == k, -1, labels), means, criterion

    return run


# its tables are not scaled, and neither are ours
@pytest.mark.filterwarnings("ignore::rtkm.ScaleWarning")
@pytest.mark.parametrize("share", [0.02, 0.2])
@pytest.mark.parametrize("k", [1, 3, 6])
@pytest.mark.parametrize("name", TABLES)
def test_descents_end_where_those_of_trimcluster_end(trimkmeans, name, k, share):
    X = TABLES[name]()
    n_outliers = int(share * len(X))
    start = starting_rows(X, k, seed=k)
    labels, means, criterion = trimkmeans(X, start, n_outliers)
    assert (labels == -1).sum() == n_outliers
    for model in (
        KMeansMinusMinus(k, n_outliers=n_outliers, init=start),
        TrimmedKMeans(k, contamination=n_outliers, init=start, n_swaps=0),
    ):
        model.fit(X)
        assert_array_equal(model.labels_, labels)
        assert_allclose(model.cluster_centers_, means, rtol=1e-9, atol=1e-12)
        assert_allclose(model.objective_, criterion * (len(X) - n_outliers), rtol=1e-9)
