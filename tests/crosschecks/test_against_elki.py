"""LDOF against ELKI's, where both define it alike.

ELKI 0.7 counts every row as far away as the last neighbor among the neighbors, and
gives 1 where all neighbors coincide. LDOF here takes exactly `n_neighbors` rows, and
gives infinity to a row away from neighbors that coincide.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import squared_distances
from sample_tables import TABLES

from rtkm import LDOF

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def elki_ldof(tmp_path_factory):
    """A function that scores the rows of a table by ELKI."""
    program, java = shutil.which("elki"), shutil.which("java")
    if not (program and java):
        pytest.skip("ELKI is not installed; Debian has it as elki")
    # not the program itself: it loads jars for plots too, which Java 17 refuses
    jar = Path(program).parents[1] / "share" / "java" / "elki.jar"
    if not jar.is_file():
        pytest.skip(f"no ELKI in {jar}")
    file = tmp_path_factory.mktemp("elki") / "table.csv"

    def score(X, n_neighbors):
        np.savetxt(file, X, fmt="%.17g")
        options = {
            "-dbc.in": file,
            "-algorithm": "outlier.lof.LDOF",
            "-ldof.k": n_neighbors,
            "-evaluator": "NoAutomaticEvaluation",
            "-resulthandler": "ResultWriter",
        }
        command = [java, "-jar", jar, "KDDCLIApplication"]
        command += [str(word) for option in options.items() for word in option]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        found = re.findall(r"^ID=(\d+) .*ldof-outlier=(\S+)$", run.stdout, re.MULTILINE)
        scores = {int(row): float(value) for row, value in found}
        return np.array([scores[row + 1] for row in range(len(X))])

    return score


def last_neighbor_ties(X, n_neighbors):
    """Whether the next row is as far away as the last neighbor."""
    squared = np.sort(squared_distances(X, X), axis=1)  # the row itself comes first
    return squared[:, n_neighbors + 1] <= squared[:, n_neighbors] * (1 + 1e-9)


@pytest.mark.parametrize("n_neighbors", [5, 20])
@pytest.mark.parametrize("name", TABLES)
def test_scores_are_those_of_elki(elki_ldof, name, n_neighbors):
    X = np.unique(TABLES[name](), axis=0)[:400]
    alike = ~last_neighbor_ties(X, n_neighbors)
    assert alike.sum() >= 100
    scores = LDOF(n_neighbors).fit(X).outlier_scores_
    expected = elki_ldof(X, n_neighbors)
    assert_allclose(scores[alike], expected[alike], rtol=1e-9)


@pytest.mark.parametrize("name", ["iris", "wbc"])
def test_scores_among_repeated_rows(elki_ldof, name):
    X = TABLES[name]()
    alike = ~last_neighbor_ties(X, 2)
    scores = LDOF(2).fit(X).outlier_scores_
    expected = elki_ldof(X, 2)
    # two neighbors that are one row twice
    coincide = np.isinf(scores)
    assert (alike & coincide).any()
    assert_array_equal(expected[alike & coincide], 1)
    assert_allclose(scores[alike & ~coincide], expected[alike & ~coincide], rtol=1e-9)
