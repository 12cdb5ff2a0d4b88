"""Whether the first line names the columns: guessed right, or asked about."""

from __future__ import annotations

import random

import pytest

from rtkm.tables.messages import InputError
from rtkm.tables.reading import read_table

NAMES, ROW, ASKED = "names", "a row", "asked"


def table(first, *kinds, n_rows=20):
    """Write a first line, and below it rows of the kinds named."""
    rng = random.Random(first)
    draw = {
        "id": lambda i: f"p{i}",
        "index": str,
        "category": lambda _: rng.choice("ABC"),
        "fraction": lambda _: f"{rng.random():.3f}",
        "decimal": lambda _: f"{rng.gauss(50, 10):.1f}",
        "small": lambda _: str(rng.randint(1, 5)),
        "whole": lambda _: str(rng.randint(0, 100)),
        "thousands": lambda _: str(rng.randint(1500, 2500)),
        "percent": lambda _: f"{rng.randint(0, 99)}%",
        "year": lambda _: str(rng.randint(1700, 2020)),
    }
    rows = [",".join(draw[kind](i) for kind in kinds) for i in range(n_rows)]
    return "\n".join([first, *rows]) + "\n"


GUESSED = {
    # years
    "2019,2020,2021 over decimals": (
        table("2019,2020,2021", *["decimal"] * 3),
        NAMES,
    ),
    "years over percentages": (table("2019,2020,2021", *["percent"] * 3), NAMES),
    "years over whole numbers": (table("2019,2020,2021", *["whole"] * 3), NAMES),
    "years over a single row": ("2019,2020,2021\n1,2,3\n", NAMES),
    "years, the latest first": (table("2021,2020,2019", *["decimal"] * 3), NAMES),
    "years with gaps": (table("1990,1995,2003", *["fraction"] * 3), NAMES),
    "years beside a fraction": (table("2019,2020,1.5", *["year"] * 3), ROW),
    "years over what may be years": (
        table("2019,2020,2022", *["thousands"] * 3),
        ASKED,
    ),
    "years of birth, marriage and death": (table("1879,1900,1955", *["year"] * 3), ROW),
    "years beside words": (table("land,2019,2020", "id", "decimal", "decimal"), NAMES),
    "a year beside a word": (table("land,2019", "id", "decimal"), ASKED),
    "a year over a column": ("2019\n5\n7\n9\n", ASKED),
    "a column of years": ("2019\n2020\n2018\n", ROW),
    "a category, a year, a value": ("A,2019,5.1\nB,2020,6.2\nC,2021,5.5\n", ROW),
    "a year and a value": ("2019,15.5\n2020,25\n2021,35\n", ROW),
    "years among measurements": ("180,80.5,1990\n170,70,1985\n160,60,2000\n", ROW),
    "years of rows that have words": (
        table("p99,1990,1995", "id", "year", "year"),
        ROW,
    ),
    # words in the first line
    "words": (table("x,y", "whole", "whole"), NAMES),
    "one numeric name": (table("x,y,3", *["whole"] * 3), NAMES),
    "one word, one number": (table("x,3", "whole", "whole"), ASKED),
    "an odd cell": (table("n/k,1.5,2", *["decimal"] * 3), ROW),
    "an odd cell above whole numbers": (table("unknown,5,2", *["whole"] * 3), ROW),
    "less than": (table("<5,3,2", *["whole"] * 3), ROW),
    "a category": (table("A,1.5,2", "category", "decimal", "decimal"), ROW),
    "a category behind": (table("1.5,2,A", "decimal", "decimal", "category"), ROW),
    "a name": (table("p99,15,25", "id", "whole", "whole"), ROW),
    "a name beside an outlier": (table("p99,5000,70", "id", "whole", "whole"), ROW),
    "a date": ("2024-01-01,1.5,2\n2024-01-02,2.5,3\n", ROW),
    "a missing cell": (table("NA,1.5,2", *["decimal"] * 3), ROW),
    "nothing but missing numbers": (table("p99,NA,NA", "id", "whole", "whole"), ASKED),
    "elements, sodium too": (table("NA,K,CA", *["decimal"] * 3), NAMES),
    "true and false": ("true,false\nfalse,true\ntrue,true\n", ROW),
    "text alone": ("name,city\nAnna,Oslo\nBo,Rome\n", NAMES),
    # numbers that count
    "numbers of columns": (table("0,1,2,3", *["fraction"] * 4), NAMES),
    "numbers of columns, an empty corner": (
        table(",0,1,2", "index", *["whole"] * 3),
        NAMES,
    ),
    "numbers of columns over whole numbers": (
        table("0,1,2,3,4,5", *["whole"] * 6),
        ASKED,
    ),
    "numbers of questions": (table("name,1,2,3", "id", *["small"] * 3), ASKED),
    "numbers of questions, a subject": (
        table("subject,1,2,3", "index", *["small"] * 3),
        NAMES,
    ),
    "wavelengths": (table("400,410,420,430", *["fraction"] * 4), NAMES),
    "wavelengths beside a word": (
        table("id,400.5,401,401.5", "id", *["fraction"] * 3),
        NAMES,
    ),
    "doses": (table("patient,10,30,100", "index", *["fraction"] * 3), NAMES),
    "rows that count": ("0,1,2,3,4\n5,6,7,8,9\n10,11,12,13,14\n", ROW),
    "small numbers": (table("1,2,3", *["small"] * 3), ROW),
    "numbers": ("5.1,3.5,1.4\n4.9,3.0,1.4\n", ROW),
    "a row of outliers": (table("1000,1000,1000", *["decimal"] * 3), ROW),
    "rows that are sorted": ("1,10,3\n2,20,3\n3,30,4\n", ROW),
}


@pytest.mark.parametrize("case", GUESSED)
def test_the_first_line_is_guessed_right_or_asked_about(tmp_path, case):
    content, expected = GUESSED[case]
    file = tmp_path / "data.csv"
    file.write_text(content)
    if expected == ASKED:
        question = (
            "which can be names of columns or a row; say --header or --no-header."
        )
        with pytest.raises(InputError, match=question):
            read_table(file)
    else:
        sheet = read_table(file)
        assert expected == (NAMES if sheet.dialect.has_header else ROW)
        assert sheet.n_rows == content.count("\n") - (expected == NAMES)
        words = "with a header" if expected == NAMES else "without a header"
        assert sheet.summary().endswith(f"utf-8, {words}).")
    for header in (True, False):  # what is said is not asked about
        assert read_table(file, header=header).dialect.has_header == header


@pytest.mark.parametrize(
    ("content", "note"),
    [
        (
            GUESSED["2019,2020,2021 over decimals"][0],
            "The first line, '2019', '2020', '2021', was taken for names of columns; "
            "if it is a row, say --no-header.",
        ),
        (
            GUESSED["an odd cell"][0],
            "The first line, 'n/k', '1.5', '2', was taken for a row; if it names "
            "columns, say --header.",
        ),
    ],
)
def test_a_guess_that_may_be_wrong_is_told(tmp_path, content, note):
    file = tmp_path / "data.csv"
    file.write_text(content)
    assert read_table(file).notes == (note,)


def test_a_header_that_is_plain_needs_no_word(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("x,y\n1,2\n")
    assert read_table(file).notes == ()
