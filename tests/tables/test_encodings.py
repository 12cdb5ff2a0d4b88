"""Tables in encodings that nothing tells but their letters."""

from __future__ import annotations

import random
import sys

import pytest

from rtkm.tables.messages import InputError
from rtkm.tables.reading import read_table

WORDS = {
    "German": "Größe Müller Jürgen Köln Düsseldorf Straße weiß Österreich Schäfer",
    "French": "Prénom âge Zoé Hélène François Besançon naïve cœur élève Noël",
    "Spanish": "Año niño José María Muñoz Peña Córdoba Málaga Ángel corazón",
    "Portuguese": "João São coração Conceição Brasília Gonçalves avó população irmã",
    "Swedish": "Åsa Östersund Malmö Jönköping Göteborg Västerås Björn längd",
    "Danish": "København Århus Søren Jørgensen Ærø højde vægt Bjørn",
    "Polish": "Łódź Kraków Gdańsk Wrocław Poznań Białystok gęślą Małgorzata płeć",
    "Czech": "Dvořák Novotný Jiří Plzeň České Budějovice výška váha Žďár Růžena",
    "Hungarian": "Győr Székesfehérvár Őrség magasság Erdős László Gödöllő Tünde nő",
    "Turkish": "İstanbul yaş Çağlar Gülşen Öztürk Eskişehir doğum Muğla Şile",
    "Lithuanian": "Šiauliai Žemaitija ūgis Jonaitė Ąžuolas Česlovas Klaipėda ėjimas",
    "Russian": "имя возраст Москва Иванов Петров Екатерина рост вес Новосибирск",
    "Ukrainian": "вік Київ Львів Шевченко Одеса Харків Іваненко зріст Євген Їжак",
    "Greek": "όνομα ηλικία Αθήνα Θεσσαλονίκη Παπαδόπουλος ύψος βάρος Γιώργος",
    "Hebrew": "שם גיל אביב ירושלים חיפה משקל גובה כהן לוי ישראל דוד שלום",
    "Arabic": "اسم عمر القاهرة محمد أحمد الرياض وزن طول مدينة فاطمة",
    "Japanese": "名前 年齢 身長 体重 東京 大阪 田中 鈴木 ソフト 表示 山田太郎 テスト",
    "Chinese": "姓名 年龄 身高 体重 北京 上海 王小明 李华 张伟 广州 深圳 城市 性别",
    "Taiwanese": "姓名 年齡 身高 體重 臺北 高雄 王小明 李華 張偉 臺中 性別 許功蓋",
    "Korean": "이름 나이 몸무게 서울 부산 김철수 이영희 박지성 대구 인천 성별 남자",
}
WRITTEN = [
    *((language, "cp1252") for language in list(WORDS)[:6]),
    *[("German", "mac-roman"), ("French", "mac-roman"), ("Spanish", "mac-roman")],
    *[("German", "cp850"), ("Spanish", "cp850"), ("French", "iso8859-15")],
    *[("Polish", "cp1250"), ("Czech", "cp1250"), ("Hungarian", "cp1250")],
    *[("Polish", "iso8859-2"), ("Czech", "iso8859-2"), ("Polish", "cp852")],
    *[("Turkish", "cp1254"), ("Lithuanian", "cp1257"), ("Czech", "mac-latin2")],
    *[("Russian", "cp1251"), ("Russian", "koi8-r"), ("Russian", "cp866")],
    *[("Russian", "mac-cyrillic"), ("Russian", "iso8859-5")],
    *[("Ukrainian", "cp1251"), ("Ukrainian", "koi8-u")],
    *[("Greek", "cp1253"), ("Greek", "iso8859-7")],
    *[("Hebrew", "cp1255"), ("Arabic", "cp1256")],
    *[("Japanese", "cp932"), ("Japanese", "shift_jis"), ("Japanese", "euc-jp")],
    *[("Chinese", "gb18030"), ("Chinese", "gbk"), ("Taiwanese", "big5")],
    *[("Korean", "euc-kr"), ("Korean", "cp949")],
]


def words_of(language, n_rows, seed=0):
    words = WORDS[language].split()
    rng = random.Random(f"{language}{seed}")
    return [*words, *rng.choices(words, k=n_rows)]


def read(tmp_path, content, **options):
    file = tmp_path / "data.csv"
    file.write_bytes(content)
    return read_table(file, **options)


@pytest.mark.parametrize(("language", "encoding"), WRITTEN)
def test_a_table_is_read_in_the_encoding_of_its_letters(tmp_path, language, encoding):
    words = words_of(language, 200)
    lines = [f"{word},{i % 7}.5,{i % 3}" for i, word in enumerate(words)]
    content = "\n".join(["name,x,y", *lines]).encode(encoding)
    sheet = read(tmp_path, content)
    assert sheet.columns.column("name").to_pylist() == words
    assert f"encoding guessed: {sheet.dialect.encoding}" in sheet.summary()
    assert "(--encoding for another)" in sheet.summary()


@pytest.mark.parametrize("encoding", ["cp1251", "koi8-r", "cp866", "mac-cyrillic"])
@pytest.mark.parametrize("name", ["Иван Петров", "ПЕТРОВ Иван", "Анна", "город Томск"])
def test_capitals_tell_encodings_of_the_same_small_letters(tmp_path, encoding, name):
    # which charset-normalizer alone mixes up
    words = [f"{name} {i}" for i in range(60)]
    lines = ["имя,рост", *(f"{word},{i}.5" for i, word in enumerate(words))]
    sheet = read(tmp_path, "\n".join(lines).encode(encoding))
    assert sheet.columns.column("имя").to_pylist() == words


@pytest.mark.parametrize(("language", "encoding"), WRITTEN[:6])
def test_short_tables_of_western_europe_are_read_right(tmp_path, language, encoding):
    for word in WORDS[language].split():
        sheet = read(tmp_path, f"name,x\n{word},1\nabc,2\n".encode(encoding))
        assert sheet.columns.column("name").to_pylist() == [word, "abc"]


@pytest.mark.parametrize(
    "cell",
    [
        "é",
        "€",
        "5 €",
        "23 °C",
        "m²",
        "5 µm",
        "±3",
        "½",
        "“so”",
        "it\u2019s",
        "É",
        "RENÉ",
    ],
)
def test_single_signs_of_western_europe_are_read_right(tmp_path, cell):
    sheet = read(tmp_path, f"{cell},x\n1,2\n".encode("cp1252"), header=True)
    assert sheet.names == [cell, "x"]
    doubt = ", perhaps wrong" if cell in ("é", "É") else ""  # letters in any alphabet
    words = f"encoding guessed: cp1252{doubt} (--encoding for another)"
    assert words in sheet.summary()


def test_names_of_many_western_countries_are_read_right(tmp_path):
    words = [word for language in list(WORDS)[:6] for word in WORDS[language].split()]
    for seed in range(20):
        some = random.Random(seed).sample(words, k=12)
        content = "name,x\n" + "".join(f"{word},1\n" for word in some)
        sheet = read(tmp_path, content.encode("cp1252"))
        assert sheet.columns.column("name").to_pylist() == some


@pytest.mark.parametrize(
    ("language", "encoding"),
    [("Russian", "cp1251"), ("Japanese", "cp932"), ("French", "cp1252")],
)
def test_letters_after_the_first_megabyte_are_read(tmp_path, language, encoding):
    words = words_of(language, 50)
    head = "name,x,code\n" + "abc,1,001\n" * 150_000
    text = head + "".join(f"{word},2,{word}\n" for word in words)
    sheet = read(tmp_path, text.encode(encoding))
    assert sheet.columns.column("name").to_pylist()[150_000:] == words
    assert "encoding guessed" in sheet.summary()


@pytest.mark.parametrize(
    ("encoding", "sep"), [("cp932", "\\"), ("cp932", "|"), ("gbk", "|"), ("big5", "|")]
)
def test_bytes_of_a_letter_are_no_separators(tmp_path, encoding, sep):
    # letters whose second byte is that of the separator
    pairs = [bytes([lead, ord(sep)]) for lead in range(0x88, 0x98 + 8 * 8)]
    letters = []
    for pair in pairs:
        try:
            letters.append(pair.decode(encoding))
        except UnicodeDecodeError:
            continue
    words = [letter for letter in letters if len(letter) == 1 and letter.isalpha()]
    assert len(words) > 10
    text = f"name{sep}x\n" + "".join(f"{word}{word}{sep}1\n" for word in words)
    sheet = read(tmp_path, text.encode(encoding), sep=sep, encoding=encoding)
    assert sheet.columns.column("name").to_pylist() == [2 * word for word in words]


@pytest.mark.parametrize(
    ("language", "encoding"),
    [
        *[("German", "cp1252"), ("French", "cp1252"), ("Danish", "cp1252")],
        *[("Polish", "cp1250"), ("Czech", "cp1250"), ("Russian", "cp1251")],
        *[("Japanese", "cp932"), ("Chinese", "gb18030"), ("Korean", "euc-kr")],
    ],
)
def test_a_guess_from_much_is_relied_on(tmp_path, language, encoding):
    text = "name,x\n" + "".join(f"{word},1\n" for word in words_of(language, 50))
    assert "perhaps wrong" not in read(tmp_path, text.encode(encoding)).summary()


def test_a_guess_from_little_is_called_one(tmp_path):
    sheet = read(tmp_path, "sex,x\nж,1\nщ,2\n".encode("cp1251"))
    assert ", perhaps wrong (--encoding for another)" in sheet.summary()


def test_an_encoding_that_is_sure_or_given_is_no_guess(tmp_path):
    for content, options in [
        ("é,x\n1,2\n".encode(), {}),
        ("é,x\n1,2\n".encode("utf-16"), {}),
        ("é,x\n1,2\n".encode("cp1252"), {"encoding": "cp1252"}),
        (b"e,x\n1,2\n", {}),
    ]:
        assert "guessed" not in read(tmp_path, content, **options).summary()


def test_long_cells_are_judged_in_no_time(tmp_path):
    content = ("name,x\n" + "a" * 2**19 + ",1\n" + "é,2\n").encode("cp1252")
    assert read(tmp_path, content).columns.column("name").to_pylist()[1] == "é"


def test_what_no_encoding_fits_throughout_is_refused(tmp_path):
    # letters of Shift-JIS for more than is looked at, then a byte that is none
    text = "name,x\n" + "".join(f"東京{i},1\n" for i in range(150_000))
    with pytest.raises(InputError, match=r"is not written in cp932 throughout; corr"):
        read(tmp_path, text.encode("cp932") + b"\x81,2\n")


def test_without_charset_normalizer_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "charset_normalizer", None)
    text = "name,x\n" + "".join(f"{word},1\n" for word in words_of("Russian", 9))
    with pytest.raises(
        ImportError, match=r'charset-normalizer; pip install "rtkm\[cli'
    ):
        read(tmp_path, text.encode("cp1251"))
    assert read(tmp_path, "é,x\n1,2\n".encode("cp1252")).names == ["é", "x"]
