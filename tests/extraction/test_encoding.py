"""Bytes to text: exact or a named failure (XT-10, XT-11)."""

from __future__ import annotations

import codecs
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.extraction.encoding import decode
from linkrag_dagster.extraction.failures import ExtractionError

SIMPLIFIED = (
    "渡轮每天早上七点离开北码头，黄昏时返回。冬天只有星期六的班次运行，红色的旗子告诉乘客航班已经取消。"
    "港口管理员在日志上签字之后，起重机才可以开始工作。"
)
TRADITIONAL = (
    "渡輪每天早上七點離開北碼頭，黃昏時返回。冬天只有星期六的班次運行，紅色的旗子告訴乘客航班已經取消。"
    "港口管理員在日誌上簽字之後，起重機才可以開始工作。"
)
JAPANESE = (
    "フェリーは毎朝七時に北の埠頭を出て、夕方に戻ります。冬は土曜日の便だけが運航し、赤い旗が欠航を知らせます。"
    "港長が日誌に署名するまで、クレーンは動きません。"
)
KOREAN = (
    "여객선은 매일 아침 일곱 시에 북쪽 부두를 떠나 저녁에 돌아옵니다. 겨울에는 토요일 배만 다니고, "
    "빨간 깃발이 결항을 알립니다. 항만장이 일지에 서명해야 기중기가 움직입니다."
)
RUSSIAN = (
    "Паром уходит от северного причала в семь часов утра и возвращается в сумерках. "
    "Зимой ходит только субботний рейс, и красный флаг сообщает пассажирам, что он отменён."
)
GREEK = "Το πλοίο φεύγει από τη βόρεια προβλήτα στις επτά το πρωί και επιστρέφει το σούρουπο κάθε μέρα."
GERMAN = (
    "Die Fähre verlässt den nördlichen Kai um sieben Uhr früh und kehrt bei "
    "Dämmerung zurück – täglich außer „Ruhetag“."
)
FRENCH = (
    "Le bac quitte le quai nord à sept heures et revient à la tombée de la nuit ; "
    "l’été, où c’est complet, on s’inscrit."
)
SPANISH = (
    "El transbordador sale del muelle norte a las siete de la mañana y regresa al "
    "anochecer. ¿Y en invierno? También."
)
POLISH = (
    "Prom odpływa z północnego nabrzeża o siódmej rano i wraca o zmierzchu, a zimą "
    "kursuje tylko w sobotę, gdy świeci słońce."
)

LEGACY = [
    ("gbk", SIMPLIFIED),
    ("gb18030", SIMPLIFIED + "𠮷 \u00e9"),
    ("big5", TRADITIONAL),
    ("cp950", TRADITIONAL),
    ("shift_jis", JAPANESE),
    ("cp932", JAPANESE + "①㈱髙"),
    ("euc_jp", JAPANESE),
    ("iso2022_jp", JAPANESE),
    ("euc_kr", KOREAN),
    ("cp949", KOREAN + "똠방각하"),
    ("cp1251", RUSSIAN),
    ("koi8-r", RUSSIAN),
    ("cp1253", GREEK),
    ("cp1252", GERMAN),
    ("cp1252", FRENCH),
    ("cp1252", SPANISH),
    ("latin-1", SPANISH),
    ("latin-1", "caf\u00e9"),
    ("cp1252", "10 € or 5 £"),
    ("cp1250", POLISH),
]


@pytest.mark.parametrize("times", [1, 40])
@pytest.mark.parametrize(("encoding", "text"), LEGACY, ids=[f"{i}-{e}" for i, (e, _) in enumerate(LEGACY)])
def test_legacy_encodings_come_back_exactly(encoding: str, text: str, times: int) -> None:
    """XT-10: a few words or many pages."""
    text = "\r\n".join([text] * times)
    assert decode(text.encode(encoding)).text == text


@pytest.mark.parametrize(
    "text", [SIMPLIFIED, TRADITIONAL, JAPANESE, KOREAN, RUSSIAN, GREEK, GERMAN, "ab", "a b\n"]
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_unicode_without_a_mark(encoding: str, text: str) -> None:
    """XT-10: UTF-16 without BOM, also without a single ASCII character."""
    decoded = decode(text.encode(encoding))
    assert (decoded.text, decoded.encoding, decoded.mark) == (text, encoding, False)


MARKS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
    "gb18030": b"\x84\x31\x95\x33",
}


@pytest.mark.parametrize("encoding", MARKS)
@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_behind_a_mark_comes_back_exactly(encoding: str, text: str) -> None:
    """Every character, controls and NUL too; only the mark is gone."""
    decoded = decode(MARKS[encoding] + text.encode(encoding))
    if encoding == "utf-16-le" and text.startswith("\0"):
        assert decoded.text in (text, text.encode("utf-16-le")[2:].decode("utf-32-le", "ignore"))
    else:
        assert (decoded.text, decoded.encoding, decoded.mark) == (text, encoding, True)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n\r\t\f")))
def test_any_text_in_utf8_without_controls_comes_back_exactly(text: str) -> None:
    """Valid UTF-8 is never taken for anything else."""
    if text.startswith("\ufeff"):
        text = "x" + text
    decoded = decode(text.encode())
    assert (decoded.text, decoded.encoding) == (text, "utf-8")


@given(st.binary())
def test_nothing_is_replaced_or_dropped(data: bytes) -> None:
    """Text goes back to the very bytes it came from, or there is none."""
    try:
        decoded = decode(data)
    except ExtractionError as error:
        assert error.kind == "decode"
        return
    if not decoded.encoding.startswith("iso2022"):
        mark = MARKS[decoded.encoding] if decoded.mark else b""
        assert decoded.text == (data[len(mark) :]).decode(decoded.encoding)


def test_a_stray_nul_in_utf8_is_kept() -> None:
    """EL-04: the parser takes NUL; a text with one is no binary file."""
    text = "# Title\n\n" + "words and words " * 20 + "\0 end\n"
    assert decode(text.encode()).text == text


ALPHABETS = {
    "all bytes": range(256),
    "no control bytes": [9, 10, *range(32, 127), *range(128, 256)],
    "high bytes": range(128, 256),
    "pairs of high bytes": range(0xA1, 0xFF),
}


@pytest.mark.parametrize("length", [200, 1_000, 20_000])
@pytest.mark.parametrize("name", ALPHABETS)
def test_random_bytes_are_no_text(name: str, length: int) -> None:
    """XT-11: refused, not turned into mojibake. 20 draws each, one seed."""
    draw = random.Random(f"{name} {length}")
    accepted = 0
    for _ in range(20):
        data = bytes(draw.choices(ALPHABETS[name], k=length))
        try:
            decode(data)
        except ExtractionError as error:
            assert error.kind == "decode"
        else:
            accepted += 1
    assert accepted <= 1  # 200 random bytes of the high half resemble Big5 or Vietnamese in one draw of sixty


@pytest.mark.parametrize("offset", [0, 40, 3_000])
def test_damaged_utf8_names_the_byte_and_is_not_read_as_another_encoding(offset: int) -> None:
    """One wrong byte in a UTF-8 file is the commonest damage, and its worst reading is `Ã©`."""
    good = ("né à Zürich, " * 500).encode()
    at = good.index(b"\xc3", offset)
    with pytest.raises(ExtractionError, match=f"offset {at:,} ") as caught:
        decode(good[:at] + good[at + 1 :])
    assert (caught.value.kind, caught.value.retryable) == ("decode", False)


@pytest.mark.parametrize(
    "data",
    [
        codecs.BOM_UTF16_LE + "odd".encode("utf-16-le") + b"x",
        codecs.BOM_UTF16_BE + b"\xd8\x00\x00a",
        codecs.BOM_UTF8 + b"caf\xe9",
        codecs.BOM_UTF32_BE + b"\x00\x11\x00\x00",
    ],
)
def test_a_mark_is_believed(data: bytes) -> None:
    """What does not decode under its mark is damaged, and nothing else is tried."""
    with pytest.raises(ExtractionError, match="offset") as caught:
        decode(data)
    assert caught.value.kind == "decode"


def test_the_offset_of_the_damage_counts_the_mark() -> None:
    """It is an offset into the file."""
    with pytest.raises(ExtractionError, match="offset 6 "):
        decode(codecs.BOM_UTF8 + b"caf\xe9 x")


@pytest.mark.parametrize("padding", [0, 100_000, 3_000_000])
@pytest.mark.parametrize("break_", ["", "\n"])
def test_evidence_far_into_the_file_is_found(padding: int, break_: str) -> None:
    """A log in ASCII whose first foreign character comes after megabytes, also on one line."""
    text = "x" * padding + break_ + SIMPLIFIED + "x" * padding
    assert decode(text.encode("gbk")).text == text


def test_undecodable_bytes_behind_good_evidence_fail() -> None:
    """The whole document must decode, not the sample."""
    data = (SIMPLIFIED * 2_000).encode("gbk") + b"\xff\xff"
    with pytest.raises(ExtractionError, match="known encoding"):
        decode(data)


def test_twenty_megabytes_take_seconds_not_minutes() -> None:
    """Linear: statistics look at a sample, all else passes once."""
    start = time.perf_counter()
    text = (SIMPLIFIED + "\n") * 140_000
    data = text.encode("gbk")
    assert len(data) > 20_000_000
    assert decode(data).text == text
    assert decode(text.encode()).encoding == "utf-8"
    assert time.perf_counter() - start < 20
