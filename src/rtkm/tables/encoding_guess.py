"""Which encoding bytes that are not UTF-8 are written in.

Tables hold few letters, and most of them ASCII: too little for charset-normalizer to
tell western from central European encodings by. But the accents of a language are few,
so these are told apart by the letters that one language would need; what is not written
in Latin letters is charset-normalizer's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rtkm._optional import import_optional

WESTERN = "cp1252"  # Latin-1, and what Windows puts in its gaps
LAST_RESORT = "latin-1"  # to which no byte is unknown
MOST_BYTES = 2**16  # of cells that are looked at

# letters beside a to z; western Europe, from Catalan to Swedish
WESTERN_ALPHABETS = (
    "àçèéíïòóúü",
    "æøåéö",
    "äëïéèöüóá",
    "àâæçéèêëîïôœùûüÿ",
    "äöüß",
    "áðéíóúýþæö",
    "àèéìòùîí",
    "áâãàçéêíóôõúü",
    "áéíñóúü",
    "åäöéà",
    "äõöüšž",
)
CENTRAL_ALPHABETS = (
    "čćđšž",
    "áčďéěíňóřšťúůýž",
    "áéíóöőúüű",
    "ąćęłńóśźż",
    "ăâîşţșț",
    "áäčďéíĺľňóôŕšťúýž",
    "čšž",
    "äöüß",
)
TURKISH_ALPHABETS = ("\u0131çğiöşüâî",)
BALTIC_ALPHABETS = ("ąčęėįšųūž", "āčēģīķļņšūž", "äõöüšž")
# in the order of preference
LATIN = {
    WESTERN: WESTERN_ALPHABETS,
    "cp1250": CENTRAL_ALPHABETS,
    "cp1254": TURKISH_ALPHABETS,
    "cp1257": BALTIC_ALPHABETS,
    "iso8859-2": CENTRAL_ALPHABETS,
    "iso8859-15": WESTERN_ALPHABETS,
    "mac-roman": WESTERN_ALPHABETS,
    "cp850": WESTERN_ALPHABETS,
    "cp852": CENTRAL_ALPHABETS,
    "mac-latin2": CENTRAL_ALPHABETS,
}
# the scripts of others
MULTIBYTE = ("cp932", "euc_jp", "gb18030", "big5", "cp949")
CYRILLIC = ("cp1251", "koi8_r", "koi8_u", "cp866", "mac_cyrillic", "iso8859_5")
GREEK = ("cp1253", "iso8859_7")
OTHERS = [*MULTIBYTE, *CYRILLIC, *GREEK, "cp1255", "cp1256", "cp874"]
# encodings of one script, and the alphabets that are written in it
SCRIPTS = (
    (
        CYRILLIC,
        (
            "абвгдеёжзийклмнопрстуфхцчшщъыьэюя",
            "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя",
            "абвгдеёжзійклмнопрстуўфхцчшыьэюя",
            "абвгдђежзијклљмнњопрстћуфхцчџш",
            "абвгдѓежзѕијклљмнњопрстќуфхцчџш",
        ),
    ),
    (GREEK, ("αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ",)),
)
# what may stand beside words; an apostrophe and Catalan's point also within
SYMBOLS = frozenset("€£¥§©®™°±²³µ½¼¾ªº¡¿«»“”„…—•\u00a0\u00d7\u2018\u2019\u201a\u2013")
INNER_SYMBOLS = frozenset("\u2019·")
# no part of a letter of several bytes, in any encoding
CELL_ENDS = re.compile(rb"[\r\n,;\t\"]+")
WORD = re.compile(rb"[A-Za-z\x80-\xff]+")
UTF8_LETTER = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
HIGH = bytes(range(128, 256))


@dataclass(frozen=True)
class Guess:
    """An encoding, and whether there is reason to believe in it."""

    encoding: str
    is_reliable: bool


def foreign_cells(parts: Iterable[bytes]) -> list[bytes]:
    """Collect different cells that are not ASCII, enough to judge by."""
    cells: dict[bytes, None] = {}
    lines = (line for part in parts for line in foreign_lines(part))
    n_bytes = 0
    for cell in (cell for line in lines for cell in CELL_ENDS.split(line)):
        if not cell.isascii() and cell not in cells:
            cells[cell] = None
            n_bytes += len(cell)
            if n_bytes > MOST_BYTES:
                break
    return list(cells)


def foreign_lines(part: bytes) -> Iterator[bytes]:
    """Return the lines that are not ASCII; few tables have many."""
    if not part.isascii():
        yield from (line for line in part.split(b"\n") if not line.isascii())


def count_high(cell: bytes) -> int:
    """Count the bytes that are not ASCII."""
    return len(cell) - len(cell.translate(None, HIGH))


def is_damaged_utf8(cells: list[bytes]) -> bool:
    """Whether nearly all that is not ASCII are letters of UTF-8."""
    n_letters, n_left, n_high = 0, 0, 0
    for cell in cells:
        rest, n_found = UTF8_LETTER.subn(b"", cell)
        n_letters += n_found
        n_left += count_high(rest)
        n_high += count_high(cell)
    return n_letters >= 5 and n_left < 0.25 * n_high


def guess_encoding(cells: list[bytes]) -> Guess:
    """Find the encoding in which cells that are not UTF-8 make most sense."""
    n_high = sum(map(count_high, cells))
    words = [word for cell in cells for word in WORD.findall(cell)]
    n_letters = sum(len(word) for word in words if not word.isascii())
    # a word of a Latin alphabet has letters of ASCII too; of few letters none may be so
    is_mixed = n_high <= 0.6 * n_letters
    if is_mixed or n_high <= 4:
        guess = guess_latin(cells, n_high, is_mixed)
        if guess is not None:
            return guess
    return guess_other(cells, n_high) or Guess(fallback(cells), False)


def guess_latin(cells: list[bytes], n_high: int, is_mixed: bool) -> Guess | None:
    """Choose among Latin alphabets; another than the western one must fit well."""
    shares = {name: best_share(cells, name, LATIN[name]) for name in LATIN}
    best = max(shares, key=lambda name: shares[name])
    # names of several western countries fit no single alphabet
    western = best_share(cells, WESTERN, ["".join(WESTERN_ALPHABETS)])
    if max(shares[best], western) < 0.5:
        return None
    n_gained = (shares[best] - shares[WESTERN]) * n_high
    fits = shares[best] >= 0.95 and (n_gained >= 1.5 or western < 0.95)
    if western >= 0.5 and (not fits or shares[best] == shares[WESTERN]):
        best = WESTERN
    # what DOS and the Macintosh would make of western text is too rare to count
    rivals = ("cp1250", "cp1254", "cp1257") if best == WESTERN else tuple(LATIN)
    text = decoded(cells, best)
    has_rival = any(
        shares[name] >= max(0.95, shares[best]) and decoded(cells, name) != text
        for name in rivals
    )
    if best == WESTERN:
        are_symbols = not sensible_characters(text)[0]
        is_clear = western >= 0.95 and (is_mixed or are_symbols)
    else:
        is_clear = western < 0.95 or n_gained >= 4
    return Guess(best, is_clear and not has_rival)


def guess_other(cells: list[bytes], n_high: int) -> Guess | None:
    """Let charset-normalizer choose among scripts other than the Latin one."""
    detector = import_optional(
        "charset_normalizer", needed_by="guessing the encoding of a table"
    )
    for match in detector.from_bytes(b" ".join(cells), cp_isolation=OTHERS):
        # what other scripts look like in Shift-JIS
        n_halves = sum("\uff61" <= char <= "\uff9f" for char in str(match))
        if n_halves <= 0.5 * n_high:
            encoding = best_in_script(cells, match.encoding)
            is_clear = encoding in MULTIBYTE or encoding != match.encoding
            has_evidence = n_high >= 40 and (is_clear or match.coherence > 0.1)
            return Guess(encoding, has_evidence)
    return None


def best_in_script(cells: list[bytes], encoding: str) -> str:
    """Return the encoding of the same script that has most letters of one language.

    Some have the same small letters, and differ in capitals, which are few.
    """
    for encodings, alphabets in SCRIPTS:
        if encoding in encodings:
            shares = {
                name: best_share(cells, name, alphabets, symbols_count=False)
                for name in (encoding, *encodings)
            }
            return max(shares, key=lambda name: shares[name])
    return encoding


def best_share(
    cells: list[bytes],
    encoding: str,
    alphabets: Iterable[str],
    symbols_count: bool = True,
) -> float:
    """Return the largest share of foreign characters that one alphabet explains.

    Symbols in their place count too, unless they are what a wrong encoding would show.
    """
    texts = decoded(cells, encoding)
    n_foreign = sum(not char.isascii() for text in texts for char in text)
    letters, n_symbols = sensible_characters(texts)
    n_explained = [
        sum(letter in alphabet for letter in letters) for alphabet in alphabets
    ]
    n_sensible = max(n_explained) + n_symbols * symbols_count
    return n_sensible / n_foreign if n_foreign else 0.0


def sensible_characters(texts: list[str]) -> tuple[list[str], int]:
    """Return foreign letters in small, and the number of symbols, that are in place.

    A capital does not follow a small letter, and few symbols stand within words.
    """
    letters, n_symbols = [], 0
    for text in texts:
        for before, char, after in zip(" " + text, text, text[1:] + " ", strict=False):
            is_inner = before.isalpha() and after.isalpha()
            if char.isascii():
                continue
            if char in SYMBOLS or char in INNER_SYMBOLS:
                n_symbols += not is_inner or char in INNER_SYMBOLS
            elif not (char.isupper() and before.islower()):
                letters.append(char.lower()[0])
    return letters, n_symbols


def decoded(cells: list[bytes], encoding: str) -> list[str]:
    """Return cells as text; none if one of them is not written so."""
    try:
        return [cell.decode(encoding) for cell in cells]
    except UnicodeDecodeError:
        return []


def fallback(cells: list[bytes]) -> str:
    """Return an encoding that can be read, at least."""
    return WESTERN if decoded(cells, WESTERN) else LAST_RESORT
