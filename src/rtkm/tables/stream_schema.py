"""One list of columns for many files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rtkm._number_text import counted
from rtkm.tables.arrow import pa
from rtkm.tables.columns import is_string
from rtkm.tables.messages import InputError, shown


def common_schema(names: Sequence[str], schemas: Sequence[Any]) -> Any:
    """Return the columns that all files have, in the order of the first.

    Files in which a column has numbers of several types have the numbers that hold them
    all. A column that is empty in a file can be anything in another.
    """
    first = schemas[0]
    types = [plain(field.type) for field in first]
    told_by = [names[0]] * len(types)  # the file that a type is from
    for name, schema in zip(names[1:], schemas[1:], strict=True):
        check_same_names(names[0], first.names, name, schema.names)
        for j, column in enumerate(first.names):
            kind = plain(schema.field(column).type)
            joined = joined_type(types[j], kind)
            if joined is None:
                raise InputError(
                    f"{told_by[j]} and {name} differ: column {shown(column)} has type "
                    f"{types[j]} in the first and {kind} in the second; expected files "
                    "of one kind of table, so convert the column in one of them."
                )
            if not joined.equals(types[j]):
                types[j], told_by[j] = joined, name
    return pa.schema(list(zip(first.names, types, strict=True)))


def check_unique(name: str, columns: Sequence[str]) -> None:
    """Refuse a file of which two columns have one name."""
    twice = [column for column in columns if columns.count(column) > 1]
    if twice:
        raise InputError(
            f"{name} has two columns {shown(twice[0])}; expected names that differ, so "
            "rename one, or read the file without a limit of memory."
        )


def check_same_names(one: str, names: list[str], other: str, others: list[str]) -> None:
    """Refuse files that do not have the same columns, in any order."""
    for name, file, missing in (
        *((name, one, other) for name in names if name not in {*others}),
        *((name, other, one) for name in others if name not in {*names}),
    ):
        raise InputError(
            f"{one} ({counted(len(names), 'column')}) and {other} "
            f"({counted(len(others), 'column')}) differ: {missing} has no column "
            f"{shown(name)}, which {file} has; expected files of one kind of table."
        )


def plain(kind: Any) -> Any:
    """Return the type of the values that a dictionary holds."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def joined_type(one: Any, other: Any) -> Any:
    """Return the type of two columns that are one, None if there is none."""
    if one.equals(other) or pa.types.is_null(other):
        return one
    if pa.types.is_null(one):
        return other
    if is_string(one) and is_string(other):
        return pa.large_string()
    if is_number(one) and is_number(other):
        return joined_number(one, other)
    if pa.types.is_temporal(one) and pa.types.is_temporal(other):
        return joined_times(one, other)
    return None


def is_number(kind: Any) -> bool:
    """Whether a type is one of numbers."""
    return (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
    )


def joined_number(one: Any, other: Any) -> Any:
    """Return the type that holds numbers of both: whole ones, if both are."""
    kinds = (one, other)
    if not all(map(pa.types.is_integer, kinds)):
        return pa.float64()
    widest = max(kinds, key=lambda kind: kind.bit_width)
    if pa.types.is_signed_integer(one) == pa.types.is_signed_integer(other):
        return widest
    return pa.int64() if not any(map(pa.types.is_uint64, kinds)) else pa.float64()


def joined_times(one: Any, other: Any) -> Any:
    """Return the finer type of two dates or times, None if they are of two kinds."""
    try:
        schemas = [pa.schema([("x", kind)]) for kind in (one, other)]
        return pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    except pa.ArrowException:
        return None


def as_schema(table: Any, schema: Any) -> Any:
    """Return the columns of a schema, in its order and types."""
    columns = [
        column
        if column.type.equals(field.type)
        else column.cast(field.type, safe=not pa.types.is_floating(field.type))
        for field, column in ((f, table.column(f.name)) for f in schema)
    ]
    return pa.table(columns, schema=schema)
