"""Tables in parts are prepared as they are in memory, to the last bit."""

from __future__ import annotations

import pickle
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from numpy.testing import assert_array_equal

from rtkm.tables import stream_numbers, streams
from rtkm.tables.exact_sums import ExactSum
from rtkm.tables.frames import as_table
from rtkm.tables.messages import InputError
from rtkm.tables.preparation import prepare
from rtkm.tables.reading import read_table
from rtkm.tables.stored_parts import store
from rtkm.tables.stream_preparation import prepare_stream
from rtkm.tables.stream_ranks import order_statistics
from rtkm.tables.streams import Stream, open_stream


class Slice:
    """Some rows of a table in memory, as a part of a stream."""

    def __init__(self, table):
        self.table, self.n_rows = table, table.num_rows

    def read(self, columns=None):
        return self.table if columns is None else self.table.select(columns)


def cut(table, places, memory):
    """A stream of a table that is cut at some places."""
    ends = [0, *sorted(set(places) & {*range(1, len(table))}), len(table)]
    parts = tuple(Slice(table.slice(a, b - a)) for a, b in pairwise(ends))
    return Stream("the table", table.schema, (), (parts,), memory)


def outcome(do):
    """What comes of a preparation, or what is said instead."""
    try:
        return do(), None
    except InputError as error:
        return None, str(error)


LARGE = 2**40  # in which repeated rows are counted


def without_repeats(notes):
    return [note for note in notes if "same as an earlier one" not in note]


def check_equal(table, places, memory=LARGE, **options):
    whole, refused = outcome(lambda: prepare(as_table(table), **options))
    stream = cut(table, places, memory)
    found, told = outcome(lambda: prepare_stream(stream, **options))
    if told is not None and "holds dates as text, which are no cat" in told:
        return None  # of these, all cells tell which number is the day
    assert told == refused
    if whole is None:
        return None
    assert found.preparation == whole.preparation
    for name in ("fill", "center", "spread", "offset"):
        one, other = (getattr(p.preparation, name) for p in (found, whole))
        assert np.array(one).tobytes() == np.array(other).tobytes(), name
    assert [*found.preparation.categories] == [*whole.preparation.categories]
    if memory == LARGE:
        assert found.notes == whole.notes
    else:
        assert without_repeats(found.notes) == without_repeats(whole.notes)
    parts = [part.load() for part in found.partitions]
    assert [len(part) for part in parts] == [part.n_rows for part in found.partitions]
    X = np.concatenate(parts)
    assert X.tobytes() == np.ascontiguousarray(whole.X).tobytes()
    return found


# Random tables


def numbers(rng, n):
    return [
        lambda: rng.normal(size=n),
        lambda: rng.normal(size=n).round(1) * 1000,
        lambda: rng.lognormal(0, 3, n),
        lambda: rng.lognormal(0, 3, n) * (rng.random(n) < 0.8),
        lambda: rng.integers(0, 5, n),
        lambda: rng.integers(-(10**9), 10**9, n),
        lambda: np.full(n, 7.25),
        lambda: np.arange(3, n + 3),
        lambda: np.cumsum(rng.integers(1, 3, n)),
        lambda: rng.random(n) < 0.5,
        lambda: np.where(rng.random(n) < 0.7, 0.0, rng.normal(size=n)),
        lambda: np.where(rng.random(n) < 0.5, -0.0, 0.0),
        lambda: rng.normal(size=n) * 1e-200,
        lambda: rng.integers(0, 2**62, n),
        lambda: rng.permutation(n),
    ]


def texts(rng, n):
    return [
        lambda: [f"{x:.2f}" for x in rng.normal(size=n)],
        lambda: [f"{x:.1f}".replace(".", ",") for x in 100 * rng.normal(size=n)],
        lambda: [f"{x} €" for x in rng.integers(0, 99, n)],
        lambda: np.where(
            rng.random(n) < 0.04, "odd", rng.integers(0, 9, n).astype(str)
        ),
        lambda: np.where(rng.random(n) < 0.3, "odd", rng.integers(0, 9, n).astype(str)),
        lambda: rng.choice(["red", " blue", "green ", "red 00:00:00"], n),
        lambda: [f"name {i}" for i in rng.permutation(n)],
        lambda: [f"name {i}" for i in rng.integers(0, n, n)],
        lambda: [f"2024-01-{d:02}" for d in rng.integers(1, 29, n)],
        lambda: [f"{i:05}" for i in rng.integers(0, 999, n)],
        lambda: [""] * n,
    ]


def others(rng, n):
    days = rng.integers(0, 10**4, n).astype("datetime64[D]")
    return [lambda: pa.array(days), lambda: pa.array([[1]] * n), lambda: pa.nulls(n)]


NAMES = ["x", "class", "row number", "id", "label", "idx", "value", "Sample No", "y"]


def with_gaps(column, rng, share):
    column = column if isinstance(column, pa.Array) else pa.array(column)
    mask = rng.random(len(column)) < share
    return pa.array(
        [None if m else c for c, m in zip(column.to_pylist(), mask, strict=True)],
        column.type,
    )


def random_table(seed, sizes=(1, 2, 5, 12, 60, 300)):
    rng = np.random.default_rng(seed)
    n = int(rng.choice(sizes))
    columns = {}
    for j in range(rng.integers(1, 7)):
        kinds = numbers(rng, n) if rng.random() < 0.65 else texts(rng, n)
        kinds = others(rng, n) if rng.random() < 0.05 else kinds
        made = kinds[rng.integers(len(kinds))]()
        share = rng.choice([0, 0, 0, 0.02, 0.3, 0.9])
        name = NAMES[rng.integers(len(NAMES))]
        name = f"{name} {j}" if name in columns else name
        columns[name] = with_gaps(made, rng, share)
    return pa.table(columns), rng


def random_options(table, rng):
    names = table.column_names
    some = [name for name in names if rng.random() < 0.3]
    options = {
        "missing": rng.choice(["error", "drop", "median", "median", "drop"]).item(),
        "scale": rng.choice(["auto", "none", "standard", "robust"]).item(),
        "log": "auto" if rng.random() < 0.4 else (),
    }
    if rng.random() < 0.2 and some:
        options["missing"] = {some[0]: "median", "*": "drop"}
    if rng.random() < 0.3:
        options["columns"] = some or names[:1]
    elif rng.random() < 0.3:
        options["drop"] = some
    if rng.random() < 0.4:
        options["categories"] = [name for name in names if rng.random() < 0.3]
    if rng.random() < 0.1:
        options["id"] = names[0]
    if rng.random() < 0.1:
        options["log"] = some
    return options


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**32))
def test_any_table_is_prepared_as_in_memory_however_it_is_cut(seed):
    table, rng = random_table(seed)
    places = rng.integers(0, len(table) + 1, rng.integers(0, 6)).tolist()
    memory = int(rng.choice([2**12, 2**16, LARGE]))
    check_equal(table, places, memory, **random_options(table, rng))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_tables", "sizes"),
    [(1500, (1, 2, 5, 12, 60, 300)), (20, (2500, 25_000))],  # these are glanced at
)
def test_many_tables_are_prepared_as_in_memory(n_tables, sizes):
    for seed in range(10**6, 10**6 + n_tables):
        table, rng = random_table(seed, sizes)
        places = rng.integers(0, len(table) + 1, rng.integers(0, 6)).tolist()
        memory = int(rng.choice([2**12, 2**16, LARGE]))
        check_equal(table, places, memory, **random_options(table, rng))


# Files

PEOPLE = """name;height;income;born;city;note
a;1,80;1.200;1970-01-02;Rome;
b;1,75;900;1980-03-04;Oslo;x
c;NA;1.000;1990-05-06;Rome;?
d;1,62;-;1991-05-06;;
e;1,90;88.000;1992-05-06;Rome;y
f;1,71;1.100;1993-05-06;Oslo;z
g;1,66;1.050;1994-05-06;Rome;u
h;1,69;950;1995-05-06;Rome;v
i;1,73;1.010;1996-05-06;Oslo;w
j;1,78;?;1997-05-06;Oslo;
k;1,81;1.300;1998-05-06;Oslo;
"""


@pytest.mark.parametrize("options", [{"missing": "drop"}, {"missing": "median"}])
@pytest.mark.parametrize("log", [(), "auto", ["income"]])
def test_a_text_table_is_prepared_as_in_memory(tmp_path, monkeypatch, options, log):
    file = tmp_path / "people.csv"
    file.write_text(PEOPLE)
    options = {**options, "log": log, "categories": ["city"]}
    whole = prepare(read_table(file, skip=0), **options)
    monkeypatch.setattr(streams, "most_bytes", lambda memory: 150)
    with open_stream(file, memory="16MiB") as stream:
        assert len(stream.partitions) > 2
        found = prepare_stream(stream, **options)
        assert found.preparation == whole.preparation
        assert found.preparation.id == "name"
        assert found.notes == whole.notes
        X = np.concatenate([part.load() for part in found.partitions])
        assert X.tobytes() == whole.X.tobytes()


def test_a_prepared_part_can_be_sent_and_loaded_anywhere(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "most_bytes", lambda memory: 300)
    rng = np.random.default_rng(0)
    table = pa.table({"x": rng.normal(size=90), "y": rng.lognormal(0, 5, 90)})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=20)
    found = prepare_stream(open_stream(tmp_path / "a.parquet"), log="auto")
    sent = [pickle.dumps(part) for part in found.partitions]
    assert max(map(len, sent)) < 5000
    X = np.concatenate([pickle.loads(part).load() for part in sent])
    assert_array_equal(X, prepare(as_table(table), log="auto").X)
    assert all(part.load().flags.c_contiguous for part in found.partitions)


def test_stored_parts_are_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("RTKM_SCRATCH", str(tmp_path))
    rng = np.random.default_rng(0)
    table = pa.table({"x": with_gaps(rng.random(50), rng, 0.2), "y": rng.random(50)})
    found = prepare_stream(cut(table, [1, 9, 30], LARGE), missing="drop")
    stored = store(found)
    for part, other in zip(found.partitions, stored.partitions, strict=True):
        assert other.n_rows == part.n_rows
        assert_array_equal(pickle.loads(pickle.dumps(other)).load(), part.load())
    last = stored.partitions[-1]
    stored.scratch.close()
    with pytest.raises(InputError, match="cannot be read again"):
        last.load()
    del stored
    assert not list(tmp_path.iterdir())


def test_a_part_may_lose_all_its_rows():
    table = pa.table({"x": [None, None, 1.0, 2.0, 4.0], "y": [1.0, 2, 3, 5, 4]})
    found = check_equal(table, [2], missing="drop", columns=["x", "y"])
    assert [part.n_rows for part in found.partitions] == [0, 3]
    assert found.partitions[0].load().shape == (0, 2)


def test_numbers_of_things_are_counted_in_several_passes(monkeypatch):
    rng = np.random.default_rng(0)
    table = pa.table({"sample number": rng.permutation(500) + 7, "x": rng.random(500)})
    found = check_equal(table, [100, 300], memory=2**12)
    assert found.preparation.columns == ("x",)
    monkeypatch.setattr(stream_numbers, "KEY_BYTES", 10**6)
    assert check_equal(table, [100], memory=2**20).preparation.columns == ("x",)


def test_weights_are_refused():
    stream = cut(pa.table({"x": [1.0, 2.0]}), [1], LARGE)
    with pytest.raises(InputError, match="sample_weight= is not taken"):
        prepare_stream(stream, weights="x")


# Exact sums, and places in an order


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_a_mean_is_that_of_exact_numbers(values):
    half = len(values) // 2
    parts = ExactSum.of(np.array(values[:half])), ExactSum.of(np.array(values[half:]))
    total = sum(map(Fraction, values))
    expected = float(total / len(values)) if abs(total) < 2**1024 else np.inf
    assert parts[0].and_of(parts[1]).mean() == expected
    assert parts[1].and_of(parts[0]).mean() == expected


def test_a_sum_with_an_infinite_number_is_infinite():
    some = ExactSum.of(np.array([1.0, np.inf]))
    assert some.and_of(ExactSum.of(np.ones(2))).mean() == np.inf


@given(
    st.lists(st.floats(allow_nan=False), min_size=1, max_size=200),
    st.integers(1, 7),
    st.sampled_from([0, 10**6]),
)
def test_places_in_the_order_of_a_column(values, n_parts, room):
    X = np.array(values)
    parts = [part[:, None] for part in np.array_split(X, n_parts)]
    places = sorted({0, len(X) // 2, len(X) - 1})
    found = order_statistics(
        lambda: iter(parts), [lambda part: part[:, 0]], lambda n: places, room
    )
    assert found == [np.sort(X)[places].tolist()]


def test_few_numbers_are_gathered_and_few_passes_made(monkeypatch):
    from rtkm.tables import stream_ranks

    monkeypatch.setattr(stream_ranks, "FEWEST_GATHERED", 100)
    rng = np.random.default_rng(0)
    X = np.exp(rng.normal(size=(20_000, 2)))
    X[:9000, 1] = 1.5  # more equal ones than may be gathered
    n_passes = 0

    def parts():
        nonlocal n_passes
        n_passes += 1
        return iter(np.array_split(X, 5))

    picks = [lambda part: part[:, 0], lambda part: part[:, 1]]
    places = (0, 5000, 12_000, 19_999)
    found = order_statistics(parts, picks, lambda n: places, 100)
    assert_array_equal(found, np.sort(X, axis=0)[list(places)].T)
    assert n_passes <= 7
