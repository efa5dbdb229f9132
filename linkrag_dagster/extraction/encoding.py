"""From bytes to text: exactly, or not at all.

Order of decision, first hit wins:

1. A byte order mark (UTF-8, UTF-16, UTF-32, GB18030) is believed; its bytes must decode strictly.
2. ASCII with ISO-2022 escapes is Japanese or Korean mail text.
3. Valid UTF-8 with next to no control characters is UTF-8.
4. Many control bytes: UTF-16 or UTF-32 without a mark if that reads as text in one byte order, else binary.
5. Bytes that are UTF-8 but for a few are damaged UTF-8: a failure, no other encoding.
6. A legacy encoding: the statistics of `chardet` propose an order; the first that decodes every byte
   strictly, in its widest common form (cp932 for Shift-JIS, cp949 for EUC-KR, gb18030 for GBK, cp1252 for
   Latin-1), and whose result looks like writing is taken. Random bytes decode in many encodings, and look
   like writing in none. Where the statistics are in doubt, an East Asian encoding in which nearly all
   characters are common ones goes first.

Nothing is ever replaced or dropped: U+FFFD stands in the result only where the document itself holds it.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

import chardet

from linkrag_dagster.extraction.failures import ExtractionError
from linkrag_dagster.extraction.writing import is_east_asian, is_writing

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark begins it
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"\x84\x31\x95\x33", "gb18030"),
)

# What chardet may propose (its own names) → the codecs to decode with, widest common form first.
_LEGACY: dict[str, tuple[str, ...]] = {
    "gb18030": ("gb18030",),
    "big5hkscs": ("cp950", "big5hkscs"),
    "cp932": ("cp932", "shift_jis_2004"),
    "shift_jis_2004": ("cp932", "shift_jis_2004"),
    "euc_jis_2004": ("euc_jp", "euc_jis_2004"),
    "cp949": ("cp949",),
    "euc_kr": ("cp949",),
    "iso8859-1": ("cp1252",),
    "iso8859-9": ("cp1254",),
    "tis-620": ("cp874",),
} | {
    name: (name,)
    for name in (
        *(f"cp125{number}" for number in range(9)),
        *("cp866", "cp874", "koi8-r", "koi8-u", "iso8859-2", "iso8859-5", "iso8859-7", "iso8859-15"),
    )
}

_EAST_ASIAN = ("cp949", "cp950", "gb18030", "euc_jp", "cp932")
_DOUBTFUL = 0.03
"""Confidence of the first proposal below which it says little."""

_CONTROLS = bytes(b for b in range(32) if b not in b"\t\n\v\f\r\x1b") + b"\x7f"
_NOT_ASCII = re.compile(rb"[\x80-\xff]")
_ASCII_LETTER = re.compile(rb"[A-Za-z]")
_LATIN = frozenset({"cp1252", "cp1250", "cp1254", "cp1257", "cp1258", "iso8859-2", "iso8859-15"})
_ESCAPES = (b"\x1b$", b"\x1b(")
_UTF8_SEQUENCE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_SAMPLE = 65_536
_CONTROL_SHARE = 0.01
"""Share of control bytes up to which bytes still are text (a form feed, a stray NUL), not binary data."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text and how it was read.

    Attributes:
        text: the document's characters, its own line breaks kept, without byte order mark.
        encoding: the Python codec that decodes the bytes.
        mark: whether a byte order mark led the bytes.
    """

    text: str
    encoding: str
    mark: bool


def decode(data: bytes) -> Decoded:
    """The text that `data` encodes; see the module for how the encoding is found.

    Raises:
        ExtractionError: kind `decode`: the bytes are binary data, a damaged encoding, or an unknown one.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            text = _strict(data[len(mark) :], encoding)
            if text is not None:
                return Decoded(text, encoding, mark=True)
            if mark != codecs.BOM_UTF32_LE:  # its four bytes may also be a UTF-16 mark and a NUL
                raise _damaged(data[len(mark) :], encoding, len(mark))
    if any(escape in data for escape in _ESCAPES) and data.isascii():
        for encoding in ("iso2022_jp_2", "iso2022_jp_ext", "iso2022_kr"):
            text = _strict(data, encoding)
            if text is not None and not text.isascii():
                return Decoded(text, encoding, mark=False)

    controls = len(data) - len(data.translate(None, _CONTROLS))
    textual = controls <= _CONTROL_SHARE * len(data)
    if textual and (text := _strict(data, "utf-8")) is not None:
        return Decoded(text, "utf-8", mark=False)
    if controls and (wide := _wide(data)) is not None:
        return wide
    if not textual or b"\0" in data:
        raise ExtractionError(
            "decode",
            f"the bytes are no text in any known encoding ({controls:,} of {len(data):,} are control bytes): "
            "this looks like binary data; exclude the file, or convert it",
        )
    if _nearly_utf8(data):
        raise _damaged(data, "utf-8", 0)
    return _legacy(data)


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, ValueError):
        return None


def _damaged(data: bytes, encoding: str, offset: int) -> ExtractionError:
    try:
        data.decode(encoding)
    except UnicodeDecodeError as error:
        return ExtractionError(
            "decode",
            f"the text is {encoding} but for the byte at offset {offset + error.start:,} ({error.reason}): "
            f"repair it there, or save the file anew as UTF-8",
        )
    raise AssertionError("only called with bytes that do not decode")


def _nearly_utf8(data: bytes) -> bool:
    """Whether most bytes above ASCII form UTF-8 sequences; by chance few do in any legacy encoding."""
    sample = _sample(data)
    high = len(_NOT_ASCII.findall(sample))
    covered = sum(len(sequence) for sequence in _UTF8_SEQUENCE.findall(sample))
    return covered >= 6 and covered >= 0.8 * high


def _wide(data: bytes) -> Decoded | None:
    """UTF-16 or UTF-32 without a mark, when exactly one byte order reads as text."""
    readings: list[Decoded] = []
    for width, encodings in ((4, ("utf-32-le", "utf-32-be")), (2, ("utf-16-le", "utf-16-be"))):
        if len(data) % width:
            continue
        for encoding in encodings:
            text = _strict(data, encoding)
            if text is not None and _reads_as_text(text):
                readings.append(Decoded(text, encoding, mark=False))
        if readings:
            break
    if len(readings) == 2:
        # ASCII read in the wrong order is U+6100 for `a`: East Asian, but no text consists of such.
        readings.sort(key=lambda reading: _ascii(reading.text) + _everyday(reading.text), reverse=True)
        best, other = (_ascii(reading.text) + _everyday(reading.text) for reading in readings)
        if best < other + 0.25:
            return None
    return readings[0] if readings else None


def _everyday(text: str) -> float:
    """Share of characters from the blocks that everyday text is written in."""
    head = text[:_SAMPLE]
    return sum(len(run) for run in _EVERYDAY.findall(head)) / max(1, len(head))


def _ascii(text: str) -> float:
    head = text[:_SAMPLE]
    return sum(char <= "\x7f" for char in head) / max(1, len(head))


_EVERYDAY = re.compile(
    "["
    "\t\n\r\x20-\x7e\xa0-\u024f"  # Latin
    "\u0370-\u06ff\u0900-\u0dff\u0e00-\u0eff\u10a0-\u11ff"  # Greek to Arabic, Indic, Thai to Jamo
    "\u1e00-\u1fff\u2010-\u2027\u2030-\u205e\u20a0-\u20bf\u2190-\u21ff\u2460-\u25ff"
    "\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff01-\uffee"  # East Asia
    "]+"
)


def _reads_as_text(text: str) -> bool:
    head = text[:_SAMPLE]
    controls = sum(1 for char in head if (char < " " and char not in "\t\n\v\f\r\x1b") or char == "\x7f")
    return (
        bool(head) and controls <= _CONTROL_SHARE * len(head) and _everyday(head) >= 0.9 and is_writing(head)
    )


def _legacy(data: bytes) -> Decoded:
    sample = _sample(data)
    proposals = chardet.detect_all(
        sample,
        ignore_threshold=True,
        max_bytes=2 * _SAMPLE,
        compat_names=False,
        include_encodings=tuple(_LEGACY),
        no_match_encoding="cp1252",
    )
    order = list(dict.fromkeys(codec for p in proposals for codec in _LEGACY.get(p["encoding"] or "", ())))
    if max((p["confidence"] for p in proposals), default=0.0) < _DOUBTFUL:
        # Among much ASCII the statistics overlook East Asian words; their common characters show them.
        for encoding in _EAST_ASIAN:
            if encoding not in order and is_east_asian(_strict(sample, encoding) or "", encoding):
                order.insert(0, encoding)
    high = _NOT_ASCII.findall(sample)
    if len(set(high)) < 4 and len(_ASCII_LETTER.findall(sample)) >= len(high):
        # Two or three signs are no evidence of a script; among Latin letters they are Latin, or symbols.
        order.sort(key=lambda encoding: encoding not in _LATIN)
    for encoding in order:
        text = _strict(data, encoding)
        if text is not None and is_writing(text, encoding):
            # Where both say the same, one name: a letter more in the document shall not change how it was
            # read.
            western = text == _strict(data, "cp1252")
            return Decoded(text, "cp1252" if western else encoding, mark=False)
    raise ExtractionError(
        "decode",
        "the bytes are no text in any known encoding"
        + (f" (tried {', '.join(order)})" if order else "")
        + ": save the file as UTF-8, or exclude it",
    )


def _sample(data: bytes) -> bytes:
    """Lines from the first that leaves ASCII on, as evidence: a long file may begin with ASCII alone."""
    first = _NOT_ASCII.search(data)
    if len(data) <= _SAMPLE or first is None:
        return data[:_SAMPLE]
    # A trailing byte of two may look like an ASCII letter, never like a line feed: cut there where one is
    # near.
    start = max(data.rfind(b"\n", 0, first.start()) + 1, first.start() - 1024)
    end = data.rfind(b"\n", start, start + _SAMPLE)
    return data[start : end if end > start + _SAMPLE // 2 else start + _SAMPLE]
