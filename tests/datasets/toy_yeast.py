"""A yeast table of six rows, so that finding and reading it can be tested anywhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rtkm.datasets import _lookup, _tables, fetch_yeast
from rtkm.datasets._source import Source, fingerprint
from rtkm.datasets._tables import YEAST

X = np.random.default_rng(0).normal(size=(6, 103)).round(6)
LABELS = np.random.default_rng(1).integers(2, size=(6, 14))
# four rows of test, then two of training; other copies begin with the training rows
SOURCE: Source = replace(
    YEAST,
    n_rows=6,
    sha256=fingerprint(X),
    labels_sha256=fingerprint(LABELS),
    other_start=2,
)


def arff(X=X, labels=LABELS, words=("0", "1")) -> str:
    """Write the table as Mulan does, or with OpenML's words for labels."""
    header = ["@relation MultiLabelData", ""]
    header += [f"@attribute Att{j} numeric" for j in range(1, X.shape[1] + 1)]
    kind = "{" + ",".join(words) + "}"
    header += [f"@attribute Class{j} {kind}" for j in range(1, labels.shape[1] + 1)]
    rows = [
        ",".join([*map(repr, x.tolist()), *(words[label] for label in row)])
        for x, row in zip(X, labels, strict=True)
    ]
    return "\n".join([*header, "", "@data", *rows, ""])


def install(monkeypatch, tmp_path) -> list[str]:
    """Put the toy in place of yeast, without settings; return the list of downloads."""
    monkeypatch.setattr(_tables, "YEAST", SOURCE)
    monkeypatch.delenv("RTKM_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "sklearn"))
    calls = []

    def download(source):
        calls.append(source.name)
        return X, LABELS.astype(float)

    monkeypatch.setattr(_lookup, "download", download)
    return calls


def refusal(error: type[Exception], **asked) -> str:
    """Return the sentence with which a table is refused."""
    with pytest.raises(error) as caught:
        fetch_yeast(**asked)
    assert "\n" not in str(caught.value)
    return str(caught.value)
