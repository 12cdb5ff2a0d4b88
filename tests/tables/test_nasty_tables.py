"""What an analyst sees of tables that are not as one would wish."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from rtkm.cli.flags import table_flags
from rtkm.tables.messages import InputError
from rtkm.tables.preparation import prepare
from rtkm.tables.reading import read_table

NOT_A_TABLE = (
    "{file} is not a table; expected text, a workbook, JSON, Parquet, Arrow or .npy."
)
NO_NUMBERS = "{file} has no column of numbers to use. "
ASK = "Name them in --columns to use them."
WAYS_OUT = (
    "; correct the table, leave the column out with --drop, or count such cells as "
    "missing with --missing drop or --missing median."
)
QUOTE = (
    "{{file}} has a quoted cell in line {line} that does not end as it should; close "
    'it with " (--quote for another mark).'
)
NUL = (
    "{{file}} has a NUL character in line {line}, which is not text; remove it, or say "
    "with --encoding how the table is written."
)
NO_ENCODING = "expected utf-8, utf-16, cp1252 or another that Python knows."
NUMBERS = "x,y\n" + "".join(f"{x},1\n" for x in (5, 3, 8, 1, 9, 2, 7, 12, 6, 4))


def run(file, content, options):
    """Write a file, read it and prepare it; return columns and notes."""
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    of_reading = {"sep", "decimal", "quote", "encoding", "header", "skip"}
    reading = {key: options[key] for key in options if key in of_reading}
    preparing = {key: options[key] for key in options if key not in of_reading}
    sheet = read_table(file, **reading)
    prepared = prepare(sheet, **({"scale": "none"} | preparing))
    columns = dict(
        zip(prepared.preparation.columns, prepared.X.T.tolist(), strict=True)
    )
    return columns, [*sheet.notes, *prepared.notes]


REFUSED = {
    "empty file": (b"", {}, "{file} is empty; expected a table."),
    "blank lines": (b"\n\r\n\n", {}, "{file} is empty; expected a table."),
    "only a byte order mark": (
        b"\xef\xbb\xbf",
        {},
        "{file} is empty; expected a table.",
    ),
    "header only": (
        "a,b\n",
        {},
        "{file} has 2 columns but no rows; expected a table of numbers.",
    ),
    "long row": (
        'a,b\n1,"2\n3"\n1,2,3\n',
        {},
        "{file} has 3 cells in line 4; expected 2 as in line 1, separated by ',' "
        "(--sep for another).",
    ),
    "a title": (
        "Sales of 2024\nx,y,z\n1,2,3\n",
        {},
        "{file} has 3 cells in line 2; expected 1 as in line 1, separated by ',' "
        "(--sep for another, --skip if lines above the header are not part of it).",
    ),
    "a title, semicolons": (
        "Sales of 2024\nx;y;z\n1;2;3\n",
        {},
        NO_NUMBERS + "Left out text: 'Sales of 2024' (such as 'x;y;z'). Say --skip if "
        "lines above the header are not part of it, or --sep.",
    ),
    "short row": (
        "\na;b\n1;2\n\n1\n",
        {},
        "{file} has 1 cell in line 5; expected 2 as in line 2, separated by ';' (--sep "
        "for another).",
    ),
    "unclosed quote": (
        'a,b\n1,2\n"3,4\n5,6\n',
        {},
        "{file} has a quoted cell in line 3 that does not end as it should; close it "
        'with " (--quote for another mark).',
    ),
    "unclosed quote in the last column": (
        "a,b\n" + "1,2\n" * 39 + '3,"4\n' + "5,6\n" * 60,
        {},
        QUOTE.format(line=41),
    ),
    "unclosed quote at the very end": ('a,b\n1,2\n3,"', {}, QUOTE.format(line=3)),
    "unclosed quote behind a title": (
        'It\'s "x\r\ra,b\r1,"two\r\nlines"\r3,"4\r5,6\r',
        {"skip": 1},
        QUOTE.format(line=6),
    ),
    "unclosed quote, late": (
        "a,b\n" + "1,2\n" * 10**6 + '3,"4\n' + "5,6\n" * 10**6,
        {},
        QUOTE.format(line=10**6 + 2),
    ),
    "text behind a quote": (
        'a,b\n1,2\n3,"two\nlines" x\n5,6\n',
        {},
        QUOTE.format(line=3),
    ),
    "unclosed quote in UTF-16": (
        'a,b\né,2\n3,"4\n5,6\n'.encode("utf-16"),
        {},
        QUOTE.format(line=3),
    ),
    "NUL in the header": (
        '\ufeffa,"b\0b b b b b"\n1,2\n3,4\n5,6\n' + "7,8\n" * 300,
        {},
        NUL.format(line=1),
    ),
    "NUL, late": (
        "a,b\n" + "1,2\n" * 300_000 + '3,"\0"\n5,6\n',
        {},
        NUL.format(line=300_002),
    ),
    "NUL in UTF-16": (
        ("a,b\n1,2\n" + "1,2\n" * 300 + "3,\0\n").encode("utf-16"),
        {},
        NUL.format(line=303),
    ),
    "all bytes": (bytes(range(256)) * 20, {}, NOT_A_TABLE),
    "controls": (b"\x01\x02\x03\x04,\x05\n", {}, NOT_A_TABLE),
    "zip": (
        b"PK\x03\x04rest",
        {},
        "{file} cannot be read as a workbook (File is not "
        "a zip file); it may be damaged or cut short.",
    ),
    "gzip": (
        b"\x1f\x8brest",
        {},
        "{file} cannot be unpacked by gzip (Compressed file ended before the "
        "end-of-stream marker was reached); it may be damaged or cut short.",
    ),
    "JSON": (
        '{"a": [1, 2], "b": 3}',
        {},
        "{file} is one object with 'a', 'b'; expected records such as "
        '{{"age": 31, "height": 1.76}}, in an array or one a line.',
    ),
    "cut Arrow": (
        b"ARROW1\0\0" + b"rubbish" * 20,
        {},
        "{file} cannot be read as Arrow (Not an Arrow file); it may be damaged or cut "
        "short.",
    ),
    "ambiguous comma": (
        "x;y\n1,234;2\n",
        {},
        "{file} holds '1,234', which can be 1.234 or 1234; say --decimal , or "
        "--decimal . to decide.",
    ),
    "one number or two cells": (
        "36,6\n37,1\n38,5\n",
        {},
        "{file} begins with '36,6', which can be one number or two cells; say "
        "--decimal , or --sep , to decide.",
    ),
    "all text": (
        "name,city\nAnna,Oslo\nBo,Rome\n",
        {},
        NO_NUMBERS + "Left out text: 'name' (such as 'Anna'), 'city' (such as 'Oslo').",
    ),
    "only dates": (
        "day\n2024-01-01\n",
        {},
        NO_NUMBERS + "Left out dates: 'day' (such as '2024-01-01').",
    ),
    "only identifiers": (
        "id\n17\n4\n",
        {},
        NO_NUMBERS + f"Left out identifiers: 'id' (such as '17'). {ASK}",
    ),
    "all dropped": (
        "x\n1\n",
        {"drop": ["x"]},
        NO_NUMBERS + "Every column was dropped.",
    ),
    "a formula among numbers": (
        NUMBERS + "=cmd(),1\n",
        {},
        "column 'x' has 1 cell that no number can be read from ('=cmd()' in row 11)"
        + WAYS_OUT,
    ),
    "infinite": (
        "x,y\ninf,1\n2,3\n",
        {},
        "column 'x' has 1 infinite cell (row 1)" + WAYS_OUT,
    ),
    "beyond all numbers": (
        "x,y\n1e999,1\n2,3\n-1e999,1\n",
        {},
        "column 'x' has 2 infinite cells (row 1, row 3)" + WAYS_OUT,
    ),
    "too large to scale": (
        "x\n1e308\n-1e308\n1e308\n-1e308\n",
        {"scale": "robust"},
        "column 'x' holds numbers too large to compute with; divide it by a power of "
        "ten, or leave it out with --drop.",
    ),
    "missing": (
        "x,y\nNA,1\n2,-\n3,null\n",
        {},
        "3 missing values (NaN): 1 in 'x', 2 in 'y', the first in row 1; choose "
        "--missing drop to leave out 1 of 3 rows and 'y', mostly empty, or --missing "
        "median to fill in 3 cells.",
    ),
    "missing everywhere": (
        "x,y\nNA,1\n2,-\n",
        {"missing": "drop"},
        "every row has a missing value (1 in 'x', 1 in 'y'); choose --missing median, "
        "or leave columns out with --drop.",
    ),
    "misspelled column": (
        "height,weight\n1,2\n",
        {"columns": ["hieght"]},
        "--columns hieght: {file} has no such column; did you mean 'height'?",
    ),
    "column in other case": (
        "height,weight\n1,2\n",
        {"drop": ["WEIGHT"]},
        "--drop WEIGHT: {file} has no such column; did you mean 'weight'?",
    ),
    "unknown id": (
        "height,weight\n1,2\n",
        {"id": "x"},
        "--id x: {file} has no such column; expected one of 'height', 'weight'.",
    ),
    "text asked for": (
        "name,x\nAnna,1\n",
        {"columns": ["name"]},
        "column 'name' holds text, such as 'Anna' in row 1; expected numbers "
        "(--categories takes text).",
    ),
    "an empty column asked for": (
        "x,y\n,1\n",
        {"columns": ["x"]},
        "column 'x' is empty; expected numbers.",
    ),
    "not that encoding": (
        "größe,b\n1,2\n".encode("latin-1"),
        {"encoding": "utf-8"},
        "{file} is not written in utf-8; leave out --encoding to have it found.",
    ),
    "not that encoding, late": (
        b"name,x\n" + b"abc,1\n" * 200_000 + b"\xe9,2\n",
        {"encoding": "utf-8"},
        "{file} is not written in utf-8; leave out --encoding to have it found.",
    ),
    "unknown encoding": (
        "a,b\n1,2\n",
        {"encoding": "klingon"},
        "--encoding 'klingon' is not known; expected utf-8, utf-16, cp1252 or another "
        "that Python knows.",
    ),
    **{
        f"{codec}, which is not for text": (
            "a,b\n1,2\n",
            {"encoding": codec},
            f"--encoding {codec!r} is not an encoding of text files; {NO_ENCODING}",
        )
        for codec in ("rot13", "base64", "hex", "idna", "undefined", "unicode_escape")
    },
    **{
        f"no encoding {codec!r}": (
            "a,b\n1,2\n",
            {"encoding": codec},
            f"--encoding {codec!r} is not known; {NO_ENCODING}",
        )
        for codec in ("", "a\0b", "\udcff", "aliases")
    },
    "UTF-8 but for a byte": (
        "größe,é\n".encode() + b"\xe9,2\n" + "ä,ö\n".encode() * 9,
        {},
        "{file} is utf-8 except for a few bytes; fix them, or say with --encoding how "
        "to read it.",
    ),
    "UTF-8 with a mark, but for a byte": (
        b"\xef\xbb\xbfa,b\n\xe9,2\n",
        {},
        "{file} is not written in utf-8-sig throughout; correct it, or say with "
        "--encoding how it is written.",
    ),
    "a million columns": (
        ",".join(["x"] * 10**6) + "\n" + ",".join(["1"] * 10**6) + "\n",
        {},
        "{file} has 1,000,000 cells in its first line; expected at most 200,000 columns"
        " of a text table: leave some out, or pass the table to rtkm in Python as a "
        "sparse matrix.",
    ),
    "a separator that quotes": (
        "a,b\n1,2\n",
        {"sep": '"'},
        "--sep '\"' is also another mark; expected them to differ.",
    ),
    "a hint that is no separator": (
        "sep=é\na,b\n1,2\n",
        {},
        "--sep 'é' is not valid; expected one character.",
    ),
    "long separator": (
        "a,b\n1,2\n",
        {"sep": "::"},
        "--sep '::' is not valid; expected one character.",
    ),
    "odd decimal mark": (
        "a,b\n1,2\n",
        {"decimal": ";"},
        "--decimal ';' is not valid; expected '.' or ','.",
    ),
    "a mark for two": (
        "a,b\n1,2\n",
        {"decimal": ",", "sep": ","},
        "--sep ',' is also another mark; expected them to differ.",
    ),
    "unknown scaling": (
        "a,b\n1,2\n",
        {"scale": "minmax"},
        "--scale minmax is not valid; expected auto, none, standard, robust.",
    ),
    "unknown policy": (
        "a,b\n1,2\n",
        {"missing": "mean"},
        "--missing mean is not valid; expected error, drop or median, or one of these "
        "by the name of a column.",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_used_is_refused_in_a_sentence(tmp_path, case):
    content, options, message = REFUSED[case]
    file = tmp_path / "data.csv"
    with pytest.raises(InputError) as caught:
        run(file, content, options)
    assert table_flags([str(caught.value)]) == [message.format(file=file)]


TEXT = "Left out text: 'name' (such as 'Anna')."
READ = {
    "UTF-8 with a mark": ("\ufeffé,b\n1,2\n", {}, {"é": [1], "b": [2]}, None),
    "UTF-16": ("é,b\n1,2\n".encode("utf-16"), {}, {"é": [1], "b": [2]}, None),
    "UTF-16 without a mark": (
        "ab,b\n1,2\n".encode("utf-16-be"),
        {},
        {"ab": [1], "b": [2]},
        None,
    ),
    "UTF-32": ("é,b\n1,2\n".encode("utf-32"), {}, {"é": [1], "b": [2]}, None),
    "Latin-1": ("é,b\n1,2\n".encode("latin-1"), {}, {"é": [1], "b": [2]}, None),
    "cp1252": ("€,b\n1,2\n".encode("cp1252"), {}, {"€": [1], "b": [2]}, None),
    "decimal comma": ("x;y\n1,5;2\n", {}, {"x": [1.5], "y": [2]}, None),
    "decimal comma, no header": (
        "1,5;2,5;1\n3,5;4,5;2\n",
        {},
        {"column_1": [1.5, 3.5], "column_2": [2.5, 4.5], "column_3": [1, 2]},
        None,
    ),
    "decimal comma, one column": ("x\n1,5\n2,5\n", {}, {"x": [1.5, 2.5]}, None),
    "decimal comma, one column without a header": (
        "1,5\n0,05\n12,25\n",
        {},
        {"column_1": [1.5, 0.05, 12.25]},
        None,
    ),
    "decimal comma in some lines": (
        "1,5\n3\n2,25\n",
        {},
        {"column_1": [1.5, 3, 2.25]},
        None,
    ),
    "decimal comma in one column, decided": (
        "1,5\n2,5\n",
        {"decimal": ","},
        {"column_1": [1.5, 2.5]},
        None,
    ),
    "commas between cells, decided": (
        "1,5\n2,7\n",
        {"sep": ","},
        {"column_1": [1, 2], "column_2": [5, 7]},
        None,
    ),
    "commas between cells": (
        "1,50\n2,7\n4,8\n",
        {},
        {"column_1": [1, 2, 4], "column_2": [50, 7, 8]},
        None,
    ),
    "a mark that is told": (
        "\ufeffé,b\n1,2\n",
        {"encoding": "UTF8"},
        {"é": [1], "b": [2]},
        None,
    ),
    "a new line of Windows in the header": (
        '"x\r\ny",z\r\n1,2\r\n',
        {},
        {"x\r\ny": [1], "z": [2]},
        None,
    ),
    "decimal comma, quoted": (
        'x,y\n"1,5",2\n"12,25",3\n',
        {},
        {"x": [1.5, 12.25], "y": [2, 3]},
        None,
    ),
    "thousands and decimal comma": (
        "x;y\n1.234,5;2.000\n12,5;3.000\n",
        {},
        {"x": [1234.5, 12.5], "y": [2000, 3000]},
        None,
    ),
    "thousands and decimal point": (
        'x,y\n"1,234",2\n"12,345.5",3\n',
        {},
        {"x": [1234, 12345.5], "y": [2, 3]},
        None,
    ),
    "thousands with spaces and apostrophes": (
        "x;y\n1 234 567;1'234\n-1\u202f000;1'000.5\n",
        {},
        {"x": [1234567, -1000], "y": [1234, 1000.5]},
        None,
    ),
    "ambiguous comma, decided": (
        "x;y\n1,234;2\n",
        {"decimal": "."},
        {"x": [1234], "y": [2]},
        None,
    ),
    "a column with the other mark": (
        "x;y\n1,5;2.5\n2,5;3.5\n7,25;1.5\n1,5;1\n",
        {},
        {"x": [1.5, 2.5, 7.25, 1.5], "y": [2.5, 3.5, 1.5, 1]},
        None,
    ),
    "euros": (
        "x;y\n1.234,50 \u20ac;5%\n2,00 \u20ac;7 %\n",
        {},
        {"x": [1234.5, 2], "y": [5, 7]},
        "Read as numbers, without their signs: 'x' (such as '1.234,50 \u20ac'), 'y' "
        "(such as '5%').",
    ),
    "dollars": (
        "x,y\n$1.50,1\n-$2,2\n",
        {},
        {"x": [1.5, -2], "y": [1, 2]},
        "Read as numbers, without their signs: 'x' (such as '$1.50').",
    ),
    "points that may part thousands": (
        "x;y\n1.822;467\n2.100;3\n",
        {},
        {"x": [1.822, 2.1], "y": [467, 3]},
        "'1.822' was read as 1.822; if it means 1822, say --decimal ,.",
    ),
    "points that part thousands": (
        "x;y\n1.822;467\n2.100;3\n",
        {"decimal": ","},
        {"x": [1822, 2100], "y": [467, 3]},
        None,
    ),
    "a title, skipped": (
        "Sales of 2024\n\nx;y\n1;2\n",
        {"skip": 1},
        {"x": [1], "y": [2]},
        None,
    ),
    "tabs": ("x\ty\n1\t2\n", {}, {"x": [1], "y": [2]}, None),
    "pipes": ("x|y\n1|2\n", {}, {"x": [1], "y": [2]}, None),
    "Excel's hint": ("sep=;\n\nx;y\n1;2\n", {}, {"x": [1], "y": [2]}, None),
    "quoted new lines": (
        'name,x\n"Anna",1\n"two\nlines",2\n"a ""b""",3\n',
        {},
        {"x": [1, 2, 3]},
        TEXT,
    ),
    "a new line in the header": ('"x\ny",z\n1,2\n', {}, {"x\ny": [1], "z": [2]}, None),
    "a quote within a cell": (
        'name,x\nAnna,1\n5" pipe,2\n',
        {},
        {"x": [1, 2]},
        TEXT,
    ),
    "single quotes": (
        "x,y\n'1,5',1\n'2,5',2\n",
        {},
        {"x": [1.5, 2.5], "y": [1, 2]},
        None,
    ),
    "names that come twice": (
        "a,a,a_2,\n1,2,3,4\n",
        {},
        {"a": [1], "a_3": [2], "a_2": [3], "column_4": [4]},
        "Names came twice: 'a' became 'a_3'.",
    ),
    "R's row names": (
        "x y\nAnna 1 2\nBo 3 4\n",
        {},
        {"x": [1, 3], "y": [2, 4]},
        "Left out text: 'column_1' (such as 'Anna').",
    ),
    "years on top": (
        "land,1990,1991\nA,1.5,2\n",
        {},
        {"1990": [1.5], "1991": [2]},
        "Left out text: 'land' (such as 'A').",
    ),
    "numbers on top, insisted": (
        "7,8\n1,2\n",
        {"header": True},
        {"7": [1], "8": [2]},
        None,
    ),
    "no header, insisted": (
        "a,1\nb,2\n",
        {"header": False},
        {"column_2": [1, 2]},
        "Left out text: 'column_1' (such as 'a').",
    ),
    "old Macintosh": ("x,y\r1,2\r3,4\r", {}, {"x": [1, 3], "y": [2, 4]}, None),
    "blank lines between": (
        "\nx,y\n\n1,2\n\n3,4",
        {},
        {"x": [1, 3], "y": [2, 4]},
        None,
    ),
    "dates": (
        "day,end,x\n2024-01-01,31.12.2024,1\n2024-01-02,30.12.2024,2\n",
        {},
        {"x": [1, 2]},
        "Left out dates: 'day' (such as '2024-01-01'), 'end' (such as '31.12.2024').",
    ),
    "booleans": (
        "a,b\ntrue,1\nFALSE,2\n",
        {},
        {"a": [1, 0], "b": [1, 2]},
        "True counts as 1, false as 0: 'a'.",
    ),
    "formulas": (
        "x,y\n=cmd(),1\n+1+1,2\n",
        {},
        {"y": [1, 2]},
        "Left out text: 'x' (such as '=cmd()').",
    ),
    "strange cells, dropped": (
        NUMBERS + "<5,1\n",
        {"missing": "drop", "columns": ["x"]},
        {"x": [5, 3, 8, 1, 9, 2, 7, 12, 6, 4]},
        "Column 'x' has 1 cell that no number can be read from ('<5' in row 11); "
        "counted as missing.",
    ),
    "mostly words": (
        "x,y\n1,1\n2,2\nthree,3\n",
        {},
        {"y": [1, 2, 3]},
        "Left out text: 'x' (such as 'three').",
    ),
    "missing, filled": (
        "x,y\nNA,1\n2,-\n4,3\n?,3\n",
        {"missing": "median"},
        {"x": [3, 2, 4, 3], "y": [1, 3, 3, 3]},
        "Filled in medians for missing values: 2 in 'x', 1 in 'y'.",
    ),
    "infinite, filled": (
        "x\n-inf\n2\n4\n",
        {"missing": "median"},
        {"x": [3, 2, 4]},
        "Column 'x' has 1 infinite cell (row 1); counted as missing.",
    ),
    "spaces around": (
        "x , y\n 1 , 2\n 3 , NA\n",
        {"missing": "median"},
        {"x": [1, 3], "y": [2, 2]},
        None,
    ),
    "an empty column": (
        "x,y\n,1\n,2\n",
        {},
        {"y": [1, 2]},
        "Left out empty columns: 'x'.",
    ),
    "huge integers": (
        "n,y\n12345678901234567890,1\n9007199254740993,2\n",
        {},
        {"y": [1, 2]},
        f"Left out identifiers: 'n' (such as '12345678901234567890'). {ASK}",
    ),
    "huge integers, asked for": (
        "n,y\n9007199254740993,1\n",
        {"columns": ["n"]},
        {"n": [9007199254740992]},
        None,
    ),
    "leading zeros": (
        "zip,y\n01234,1\n22345,2\n",
        {},
        {"y": [1, 2]},
        f"Left out identifiers: 'zip' (such as '01234'). {ASK}",
    ),
    "identifiers": (
        "customerId,acid\n17,1\n4,2\n",
        {},
        {"acid": [1, 2]},
        f"Left out identifiers: 'customerId' (such as '17'). {ASK}",
    ),
    "a column that counts": (
        "n,y\n" + "".join(f"{i},{i % 3}\n" for i in range(10)),
        {},
        {"y": [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]},
        f"Left out identifiers: 'n' (such as '0'). {ASK}",
    ),
    "one number": ("5\n", {}, {"column_1": [5]}, None),
    "a real minus": ("x\n\u22121\n2\n", {}, {"x": [-1, 2]}, None),
    "late Latin-1": (
        b"name,x\n" + b"Anna,1\n" * 200_000 + b"\xe9,2\n",
        {},
        {"x": [1] * 200_000 + [2]},
        TEXT,
    ),
    "columns in the order asked for": (
        "b,a\n1,2\n",
        {"columns": ["a", "b", "a"]},
        {"a": [2], "b": [1]},
        None,
    ),
}


@pytest.mark.parametrize("case", READ)
def test_what_can_be_used_is_used_and_told(tmp_path, case):
    content, options, expected, note = READ[case]
    columns, notes = run(tmp_path / "data.csv", content, options)
    assert list(columns.items()) == list(expected.items())
    assert note is None or note in table_flags(notes)


@pytest.mark.slow
def test_many_columns_take_no_time_of_their_own(tmp_path):
    names = [f"c{j}" for j in range(10_000)]
    rows = [[(i * j) % 7 for j in range(10_000)] for i in range(1, 4)]
    lines = [",".join(map(str, row)) for row in (names, *rows)]
    columns, notes = run(tmp_path / "data.csv", "\n".join(lines), {})
    assert list(columns) == names
    assert columns["c9999"] == [row[9999] for row in rows]
    assert (
        notes[0] == "Used 10,000 columns: 'c0', 'c1', 'c2', 'c3', 'c4' and 9,995 more."
    )


def test_a_record_longer_than_a_block_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("rtkm.tables.text.BLOCK_BYTES", 64)
    columns, _ = run(tmp_path / "data.csv", "x,name\n1," + "a" * 5000 + "\n2,b\n", {})
    assert columns == {"x": [1, 2]}


def test_a_header_longer_than_the_sample_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("rtkm.tables.reading.SAMPLE_BYTES", 64)
    names = [f"feature_{j}" for j in range(100)]
    lines = [",".join(names), ",".join("1" * 100), ",".join("2" * 100)]
    columns, _ = run(tmp_path / "data.csv", "\n".join(lines), {})
    assert columns == {name: [1, 2] for name in names}


def test_words_after_many_missing_cells_are_seen(tmp_path):
    # the glance at a thousand cells finds none that is there
    cells = ["NA"] * 5000
    cells[7] = "Anna"
    _, notes = run(
        tmp_path / "data.csv", "name,x\n" + "".join(f"{c},1\n" for c in cells), {}
    )
    assert notes[1] == "Left out text: 'name' (such as 'Anna')."


def test_missing_files_and_folders_are_told_apart(tmp_path):
    (tmp_path / "data.csv").write_text("x\n1\n")
    for name, words in {
        "dta.csv": "does not exist; there is 'data.csv' beside it.",
        "other": "does not exist.",
        "no/data.csv": f"does not exist; there is no folder {tmp_path / 'no'}.",
        "": f"is a folder; expected a file, such as {tmp_path / 'data.csv'}.",
        "data.csv/x": "cannot be read (Not a directory).",
        "x" * 300: "cannot be read (File name too long).",
    }.items():
        with pytest.raises(InputError) as caught:
            read_table(tmp_path / name)
        assert str(caught.value) == f"{tmp_path / name} {words}"


def test_a_file_that_may_not_be_read_is_named(tmp_path, monkeypatch):
    file = tmp_path / "data.csv"
    file.write_text("x\n1\n")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)  # root may read everything
    with pytest.raises(InputError) as caught:
        read_table(file)
    assert str(caught.value) == f"{file} cannot be read (Permission denied)."


def test_standard_input_and_pipes_are_read(tmp_path, monkeypatch):
    stdin = SimpleNamespace(buffer=io.BytesIO(b"x;y\n1,5;2\n"))
    monkeypatch.setattr(sys, "stdin", stdin)
    sheet = read_table("-")
    assert sheet.columns.to_pydict() == {"x": [1.5], "y": [2]}
    assert sheet.summary() == (
        "Read 1 row of 2 columns from standard input (CSV, separated by ';', decimal "
        "comma, utf-8, with a header)."
    )
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="standard input is closed; name a file"):
        read_table("-")
    reading, writing = os.pipe()
    os.write(writing, b"x\n1\n")
    os.close(writing)
    assert read_table(f"/dev/fd/{reading}").columns.to_pydict() == {"x": [1]}
    os.close(reading)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((2, 2, 2)), "holds an array of float64 and shape (2, 2, 2)"),
        (np.array(["a"]), "holds an array of <U1 and shape (1,)"),
        (np.zeros((0, 3)), "has 3 columns but no rows"),
        (np.zeros((3, 0)), "has no columns"),
        (np.array([{}], dtype=object), "cannot be read as npy (Object arrays"),
    ],
)
def test_arrays_that_are_no_tables_are_refused(tmp_path, array, message):
    np.save(tmp_path / "a.npy", array, allow_pickle=True)
    with pytest.raises(InputError) as caught:
        read_table(tmp_path / "a.npy")
    assert message in str(caught.value)


def test_a_cell_keeps_the_line_end_between_two_blocks(tmp_path, monkeypatch):
    # pyarrow would drop a newline that begins a block
    monkeypatch.setattr("rtkm.tables.text_stream.CHUNK_BYTES", 1)
    monkeypatch.setattr("rtkm.tables.text.BLOCK_BYTES", 16)
    file = tmp_path / "data.csv"
    cells = [f"{'a' * n}\r\nb" for n in range(20)]
    file.write_bytes(b"x,y\n" + b"".join(f'"{cell}",1\n'.encode() for cell in cells))
    assert read_table(file).columns.column("x").to_pylist() == cells


MEASURED = """
import re, sys
from rtkm.tables.reading import read_table
try:
    print(read_table(sys.argv[1]).columns.shape)
except ValueError as error:
    print(error)
# ru_maxrss would have the peak of the process that started this one
print(int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="counts memory as Linux does")
def test_a_million_columns_are_refused_in_little_memory(tmp_path):
    # in a script of four bytes a letter, which takes most
    file = tmp_path / "data.csv"
    row = ",".join(["12.5"] * 10**6)
    file.write_text(f"\U0001f600{row}\n{row}\n{row}\n", encoding="utf-8")
    command = [sys.executable, "-c", MEASURED, str(file)]
    *message, megabytes = subprocess.check_output(command, text=True).splitlines()
    assert "has 1,000,000 cells in its first line" in message[0]
    assert int(megabytes) < 1000


@pytest.mark.slow
def test_a_hundred_thousand_columns_are_read(tmp_path):
    file = tmp_path / "data.csv"
    names, row = [f"c{j}" for j in range(100_000)], ["12.5"] * 100_000
    file.write_text("\n".join([",".join(names), ",".join(row), ",".join(row)]))
    sheet = read_table(file)
    assert sheet.names == names
    assert sheet.columns.column("c99999").to_pylist() == [12.5, 12.5]
