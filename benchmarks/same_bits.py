"""Compare the answers of two versions of the library, to the last bit.

Every estimator is fitted to drawn tables, and the command line to drawn files, with the
Python of each version; only public names are used, so that both can run it:

    old/bin/python benchmarks/same_bits.py write old.bits
    new/bin/python benchmarks/same_bits.py write new.bits
    new/bin/python benchmarks/same_bits.py compare old.bits new.bits

``make same-bits OLD=old/bin/python`` does the three. What differs is listed with the
table, the estimator and the attribute, and the exit code is 1; models that the old
version saved are loaded by the new one as well. Texts are listed apart, once each. The
files are pickles: compare none but your own.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import inspect
import json
import pickle
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from difflib import ndiff
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from tqdm import tqdm

import rtkm

N_TABLES = 200
CLUSTERERS = (
    "RTKM RelaxedKMeans TrimmedKMeans KMeansMinusMinus KMOR NEOKMeans OKM ROKM MOC ESP "
    "ISP FuzzyCMeans ORC ODC"
).split()
# what is asked about new rows
QUESTIONS = (
    "predict score_samples decision_function predict_memberships predict_confidence "
    "discriminant_factors transform score explain"
).split()
SAME = "as before saving"
# the numbers of lists have no common factor, so that all pairs of them are met
ROWS = (6, 12, 30, 60, 150, 400, 1_200)
KINDS: dict[str, Callable[[Any, Any], Any]] = {
    "blobs": lambda X, rng: X,
    "standardized": lambda X, rng: (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-9),
    "duplicates": lambda X, rng: np.round(X / 8),
    "constant columns": lambda X, rng: np.where(
        np.arange(X.shape[1]) % 2, X, rng.choice([0, 0.1, 2025, 1.7e18])
    ),
    "bad scales": lambda X, rng: X * 10.0 ** rng.uniform(-7, 7, X.shape[1]),
    "far from 0": lambda X, rng: X + 1e6,
    "tiny": lambda X, rng: X * 1e-9,
    "huge": lambda X, rng: X * 1e15,
    "heavy tails": lambda X, rng: X / rng.uniform(size=(len(X), 1)) ** 2,
    "fill values": lambda X, rng: np.where(
        rng.uniform(size=X.shape) < 0.03, rng.choice([-999, 1e7, 1e16]), X
    ),
    "mostly 0": lambda X, rng: X * (rng.uniform(size=X.shape) < 0.2),
}
FORMS: dict[str, Callable[[Any], Any]] = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "CSR": sparse.csr_array,
    "CSR float32": lambda X: sparse.csr_array(X.astype(np.float32)),
    "frame": lambda X: pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]),
    "by columns": np.asfortranarray,
}


class Drawn(NamedTuple):
    """A table, new rows, and how estimators are asked to fit it."""

    title: str
    X: Any
    new: Any
    weights: Any
    outliers: float | int
    step: float
    shared: dict[str, Any]


def draw_table(i: int) -> Drawn:
    """Draw a table; each 50th is large enough for a second thread."""
    rng = np.random.default_rng([14, i])
    large = i % 50 == 49
    n, d = (3_000, 500) if large else (ROWS[i % 7], int(rng.choice([1, 2, 3, 6, 20])))
    k = 8 if large else min(int(rng.integers(1, 9)), n)
    kind, form = list(KINDS)[i % 11], list(FORMS)[i % 6]
    X = KINDS[kind](draw_rows(n + n // 4, d, k, rng), rng)
    new = np.concatenate([X[n:], X[: n // 4]])[:: n // 200 + 1]
    convert = FORMS[form]
    weighing = ["no weights", "whole weights", "weights"][rng.integers(3)]
    weights = {
        "no weights": None,
        "whole weights": rng.integers(0, 4, n),
        "weights": rng.exponential(size=n),
    }[weighing]
    shared = {"n_clusters": k, "random_state": int(rng.integers(1_000))}
    if rng.uniform() < 0.3 and not large:  # "robin" takes long there
        shared["init"] = str(rng.choice(["random", "robin", "k-means++"]))
    if rng.uniform() < 0.3:
        shared["n_init"] = int(rng.integers(1, 4))
    if large or rng.uniform() < 0.2:
        shared["max_iter"] = 10
    outliers = [0, 0.05, 0.1, 0.1, 0.3, 2][rng.integers(6)]
    step = 1.1 * float(X.var(axis=0).sum()) or 1.1
    title = f"table {i} ({kind}, {form}, {weighing}, {n} x {d}, k = {k})"
    return Drawn(title, convert(X[:n]), convert(new), weights, outliers, step, shared)


def draw_rows(n: int, d: int, k: int, rng: np.random.Generator) -> Any:
    """Draw blobs of unequal size, and a few rows anywhere."""
    centers = 5 * rng.normal(size=(k, d))
    X = centers[rng.integers(k, size=n) * rng.integers(2, size=n)]
    X += rng.normal(size=(n, d))
    X[::15] = rng.uniform(-40, 40, X[::15].shape)
    return X[rng.permutation(n)]


def models(drawn: Drawn) -> dict[str, Any]:
    """Return every estimator, and some with other settings, by name."""

    def make(name: str, **settings: Any) -> Any:
        model = getattr(rtkm, name)(**drawn.shared, **settings)
        wanted = {"contamination", "n_outliers", "max_outliers"}
        given = wanted & set(model.get_params(deep=False))
        return model.set_params(**dict.fromkeys(given, drawn.outliers))

    k, seed = drawn.shared["n_clusters"], drawn.shared["random_state"]
    pair = min(2, k)
    found = {name: make(name) for name in CLUSTERERS}
    found |= {
        "RTKM, s = 2": make("RTKM", n_memberships=pair),
        "RTKM, step 1.1": make("RTKM", step=1.1),
        "RTKM, s = 2, step 1.1": make("RTKM", step=1.1, n_memberships=pair),
        "RTKM, step in units": make("RTKM", step=drawn.step),
        "RTKM, no swaps": make("RTKM", n_swaps=0),
        "RelaxedKMeans, s = 2": make("RelaxedKMeans", n_memberships=pair),
        "RelaxedKMeans, step in units": make("RelaxedKMeans", step=drawn.step),
        "TrimmedKMeans, no swaps": make("TrimmedKMeans", n_swaps=0),
        "KMOR, published": make("KMOR", outlier_step="published"),
        "ROKM, distance": make("ROKM", penalty="distance"),
        "ORC, 3 rounds": make("ORC", n_rounds=3),
        "FuzzyCMeans, threshold": make("FuzzyCMeans", membership_threshold=0.3),
        "CBLOF": rtkm.CBLOF(KMeans(k, n_init=1, random_state=seed)),
        "CBLOF, TrimmedKMeans": rtkm.CBLOF(make("TrimmedKMeans"), weighted=True),
        "LDOF": rtkm.LDOF(),
        "LDOF, novelty": rtkm.LDOF(novelty=True),
        "CBOD": rtkm.CBOD(),
        "ClusterDetector": rtkm.ClusterDetector(make("RTKM")),
        "ClusterDetector, ODC": rtkm.ClusterDetector(make("ODC"), contamination=0.1),
    }
    return found


Answers = dict[str, Any]  # arrays, texts, and the bytes of model files


def answers_of(model: Any, drawn: Drawn, folder: Path) -> Answers:
    """Fit, and return all that is said about rows, before and after saving."""
    takes_weights = "sample_weight" in inspect.signature(model.fit).parameters
    given = {"sample_weight": drawn.weights} if takes_weights else {}
    found = heard("fit", lambda: model.fit(drawn.X, **given) and None)
    if "fit, error" in found:
        return found
    found |= attributes(model)
    asked = questions(model, drawn.new)
    path = folder / "model.rtkm"
    saved = heard("save", lambda: model.save(path))
    if "save, error" in saved:
        return found | asked | saved
    again = loaded_answers(path, drawn.new)
    for name in {**asked, **again}:
        if same(asked.get(name), again.get(name)):
            again[name] = SAME
    again = {f"loaded, {name}": value for name, value in again.items()}
    return found | asked | saved | again | {"file": path.read_bytes()}


def heard(name: str, call: Callable[[], Any]) -> Answers:
    """Return what a call returns, or its error, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = arrays(name, call())
        except Exception as error:
            found = {f"{name}, error": type(error).__name__}
            found[f"{name}, error, text"] = str(error)
    if caught:
        found[f"{name}, warnings"] = ", ".join(w.category.__name__ for w in caught)
        found[f"{name}, warnings, text"] = "\n".join(str(w.message) for w in caught)
    return found


def arrays(name: str, value: Any) -> Answers:
    if value is None:
        return {}
    if isinstance(value, pd.DataFrame):
        parts = [column for column in value if column.startswith("part_")]
        found = {f"{name}, parts": value[parts].to_numpy()} if parts else {}
        for column in value.columns.drop(parts):
            found |= arrays(f"{name}, {column}", value[column])
        return found
    if sparse.issparse(value):
        value = value.toarray()
    value = np.asarray(value)
    return {name: value.astype(str) if value.dtype == object else value}


def attributes(model: Any) -> Answers:
    """Return what the fit learned, but for models inside it."""
    names = {*vars(model), *dir(type(model))}
    public = sorted(n for n in names if n.endswith("_") and not n.startswith("_"))
    found: Answers = {}
    for name in public:
        value = getattr(model, name)
        if not isinstance(value, BaseEstimator):
            found |= arrays(name, value)
    return found


def questions(model: Any, new: Any) -> Answers:
    found: Answers = {}
    for name in QUESTIONS:
        if hasattr(model, name):
            found |= heard(name, lambda name=name: getattr(model, name)(new))
    return found


def loaded_answers(path: Path, new: Any) -> Answers:
    found: list[Any] = []
    said = heard("load", lambda: found.append(rtkm.load(path)))
    return said | (questions(found[0], new) if found else {})


COMMANDS = {
    "plain": "-k 3",
    "scaled": "-k 4 --scale robust",
    "not scaled": "-k 3 --scale none --contamination 0.05",
    "two clusters each": "-k 3 -s 2 --scale standard",
    "published step": "-k 3 --step 1.1 --scale standard",
    "named rows": "-k 5 --id name --drop c1",
    "KMOR": "-k 3 --method KMOR",
    "NEOKMeans": "-k 3 --method NEOKMeans",
    "FuzzyCMeans": "-k 3 --method FuzzyCMeans",
    "missing, dropped": "-k 3 --missing drop",
    "missing, filled": "-k 3 --missing median",
    "missing, refused": "-k 3",
    "decimal comma": "-k 3",
}
# what may change without the answers doing so
SPOKEN = {"seconds", "versions", "notes"}


def command_answers(title: str, folder: Path) -> Answers:
    """Run ``rtkm fit`` and ``rtkm predict`` on a drawn file."""
    rng = np.random.default_rng([15, *title.encode()])
    frame = pd.DataFrame(draw_rows(170, 4, 3, rng), columns=["c0", "c1", "c2", "c3"])
    frame["c2"] *= 9_000
    frame["c3"] = frame["c3"].round()
    if title.startswith("missing"):
        frame = frame.mask(rng.uniform(size=frame.shape) < 0.03)
    frame.insert(0, "name", [f"row {i}" for i in frame.index])
    comma = {"sep": ";", "decimal": ","} if title == "decimal comma" else {}
    for name, part in {"data.csv": frame[:120], "new.csv": frame[120:]}.items():
        part.to_csv(folder / name, index=False, **comma)
    fit = "fit data.csv --output found.csv --json found.json --model model.rtkm"
    found = run(f"{fit} {COMMANDS[title]}", folder)
    found |= run("predict model.rtkm new.csv --output answers.csv", folder)
    for path in {*folder.glob("found.csv"), *folder.glob("answers.csv")}:
        with path.open(newline="") as lines:
            between = ";" if title == "decimal comma" else ","
            header, *rows = csv.reader(lines, delimiter=between)
        columns = zip(header, np.array(rows, dtype=str).T, strict=True)
        found |= {f"{path.name}, {name}": column for name, column in columns}
    if (folder / "found.json").exists():
        findings = json.loads((folder / "found.json").read_text())
        found |= leaves({k: v for k, v in findings.items() if k not in SPOKEN})
    return found


def run(command: str, folder: Path) -> Answers:
    words = [sys.executable, "-m", "rtkm", *command.split()]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    name = command.split()[0]
    said = done.stdout + done.stderr
    return {f"{name}, exit": done.returncode, f"{name}, text": said}


def leaves(value: Any, name: str = "findings") -> Answers:
    """Return the texts, numbers and lists of numbers in nested dictionaries."""
    if isinstance(value, dict):
        parts = {f"{name}.{key}": part for key, part in value.items()}
    elif isinstance(value, list) and any(isinstance(v, dict | list) for v in value):
        parts = {f"{name}[{i}]": part for i, part in enumerate(value)}
    elif name.startswith("findings.summary"):
        return {f"{name}, text": "\n".join(value)}
    else:
        return {name: np.array(value, dtype=str if value is None else None)}
    return {k: v for key, part in parts.items() for k, v in leaves(part, key).items()}


def write(path: Path, n_tables: int) -> None:
    """Write the answers of this version."""
    with gzip.open(path, "wb", compresslevel=1) as file:
        for i in tqdm(range(n_tables), desc="tables"):
            drawn = draw_table(i)
            table = {"drawn": arrays("rows", drawn.X)}
            with tempfile.TemporaryDirectory() as folder:
                for name, model in models(drawn).items():
                    table[name] = answers_of(model, drawn, Path(folder))
            pickle.dump((i, drawn.title, table), file)
        for title in tqdm(COMMANDS, desc="commands"):
            with tempfile.TemporaryDirectory() as folder:
                found = command_answers(title, Path(folder))
            pickle.dump((None, "command line", {title: found}), file)


def read(path: Path) -> Iterator[tuple[int | None, str, dict[str, Answers]]]:
    with gzip.open(path, "rb") as file:
        while file.peek(1):
            yield pickle.load(file)


class Difference(NamedTuple):
    """One answer that is not what it was."""

    title: str
    estimator: str
    attribute: str
    what: str


def compare(old_path: Path, new_path: Path) -> Iterator[Difference]:
    """Return all that differs; the version that runs loads the old one's models."""
    for old, new in zip_longest(read(old_path), read(new_path)):
        if old is None or new is None:
            raise SystemExit("The files do not hold the same tables: write both anew.")
        i, title, before = old
        after = new[2]
        new_rows = None if i is None else draw_table(i).new
        for name in {**before, **after}:
            a, b = before.get(name, {}), after.get(name, {})
            found = [*differences(a, b)]
            if "file" in a:
                found += old_file_differences(a, new_rows)
            yield from (Difference(title, name, *pair) for pair in found)


def old_file_differences(old: Answers, new_rows: Any) -> Iterator[tuple[str, str]]:
    """Load what the old version saved, and ask it what the old version was asked."""
    asked = {key: old[key] for key in old if key.split(", ")[0] in QUESTIONS}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.rtkm"
        path.write_bytes(old["file"])
        again = loaded_answers(path, new_rows)
    for attribute, what in differences(asked, again):
        yield f"old file, {attribute}", what


def differences(old: Answers, new: Answers) -> Iterator[tuple[str, str]]:
    for name in {**old, **new}:
        if name != "file" and not same(old.get(name), new.get(name)):
            yield name, told(old.get(name), new.get(name))


def same(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is b
    if isinstance(a, str) or isinstance(b, str):
        return type(a) is type(b) and a == b
    a, b = np.asarray(a), np.asarray(b)
    alike = a.dtype == b.dtype and a.shape == b.shape
    return alike and a.tobytes() == b.tobytes()


def told(a: Any, b: Any) -> str:
    """Say how two answers differ."""
    if a is None or b is None:
        return f"only {'new' if a is None else 'old'}: {b if a is None else a}"[:300]
    if isinstance(a, str) and isinstance(b, str):
        lines = ndiff(a.splitlines(), b.splitlines())
        return " ".join(line for line in lines if line[0] in "-+")
    if isinstance(a, str) or isinstance(b, str):
        return f"{a} -> {b}"[:300]
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return f"shape {a.shape} -> {b.shape}"
    if a.size == 1:
        return f"{a} -> {b}"
    if a.dtype.kind != "U" and a.dtype != b.dtype:
        return f"{a.dtype} -> {b.dtype}"
    differ = (a != b) & ~((a != a) & (b != b))  # NaN is NaN
    text = f"{differ.sum():,} of {a.size:,} differ"
    if not differ.any():
        return f"{text}, but for signs of 0, bits of NaN or lengths of texts"
    if a.dtype.kind in "fiu":
        x, y = a[differ].astype(float), b[differ].astype(float)
        with np.errstate(all="ignore"):
            largest = np.max(np.abs(x - y) / np.maximum(np.abs(x), np.abs(y)))
        return f"{text}, relatively by at most {largest:.1g}"
    return f"{text}, such as {a[differ][0]} -> {b[differ][0]}"


def tell(found: list[Difference]) -> None:
    """List differences, texts apart, and count them."""
    texts = [d for d in found if d.attribute.endswith("text")]
    answers = [d for d in found if not d.attribute.endswith("text")]
    for d in answers:
        print(f"{d.title}: {d.estimator}: {d.attribute}: {d.what}")
    print(f"\n{len(texts):,} texts differ; of each kind one:")
    kinds = Counter((d.attribute, *d.what.split()[:6]) for d in texts)
    firsts = {(d.attribute, *d.what.split()[:6]): d for d in reversed(texts)}
    for kind, d in firsts.items():
        print(f"{kinds[kind]} x {d.title}: {d.estimator}: {d.attribute}: {d.what}")
    print(f"\n{len(answers):,} answers differ, by estimator:")
    for name, count in Counter(d.estimator for d in answers).most_common():
        print(f"{count:8,} {name}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare two versions bit for bit.")
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write", help="write the answers of this version")
    writing.add_argument("file", type=Path)
    writing.add_argument("--tables", type=int, default=N_TABLES, help="the first N")
    comparing = commands.add_parser("compare", help="list what differs")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    options = parser.parse_args()
    if options.command == "write":
        write(options.file, options.tables)
        return
    found = [*compare(options.old, options.new)]
    tell(found)
    sys.exit(any(not d.attribute.endswith("text") for d in found))


if __name__ == "__main__":
    main()
