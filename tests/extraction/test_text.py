"""Markdown and plain text: text, title, locators, failures (XT-01, XT-02, XT-10, XT-11)."""

from __future__ import annotations

import pickle
import platform
import random
import re
import time
from importlib import metadata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.extraction import (
    EXTRACTORS,
    RETRYABLE,
    ExtractionError,
    Extractor,
    Locator,
    choose,
    extract,
    extractor_for,
    spec,
)
from linkrag_dagster.extraction.locators import line_break_locators


def test_markdown() -> None:
    """XT-02: LF, no mark, characters as found, title from the first heading of level 1."""
    data = "\ufeffIntro\r\n\r\n# Fähre *nach* Lundholm\r\n\r\nCafe\u0301 \u00e9\u3000x\r\n".encode()
    result = extract(data, "a.md")
    assert result.text == "Intro\n\n# Fähre *nach* Lundholm\n\nCafe\u0301 \u00e9\u3000x\n"
    assert result.title == "Fähre nach Lundholm"
    assert (result.media_type, result.markup, result.encoding) == ("text/markdown", "markdown", "utf-8")
    assert (result.extractor, result.extractor_version, result.pages) == ("markdown", "1", ())


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: Declared\n---\n# Heading\n", "Declared"),
        ("+++\ntitle = 'Declared'\n+++\n# Heading\n", "Declared"),
        ("---\ntitle: ''\n---\n# Heading\n", "Heading"),
        ("---\ntitle: [a\n---\n# Heading\n", "Heading"),
        ("## Second\n\n# First\n", "First"),
        ("First\n=====\n", "First"),
        ("```\n# code\n```\n", None),
        ("#\n\n# Real\n", "Real"),
        ("## Only a second level\n", None),
        ("words\n", None),
    ],
)
def test_titles(text: str, title: str | None) -> None:
    """Front matter first, else a heading of level 1, else none: a file name is no title."""
    assert extract(text.encode(), "a.md").title == title


def test_plain_text_is_not_read_as_markdown() -> None:
    """A `#` of a plain text is no heading, its dashes no front matter."""
    result = extract(b"---\ntitle: x\n---\n# no heading\n", "a.txt")
    assert (result.title, result.markup, result.media_type) == (None, "plain", "text/plain")
    assert result.text == "---\ntitle: x\n---\n# no heading\n"


@given(st.text(), st.sampled_from(["utf-8-sig", "utf-16", "utf-32"]), st.sampled_from(["a.txt", "a.md"]))
def test_any_text_comes_back_exactly_but_for_line_breaks(text: str, encoding: str, name: str) -> None:
    """XT-02; a text without any character but white space is `no_text`, never an empty success."""
    expected = text.replace("\r\n", "\n").replace("\r", "\n")
    data = text.encode(encoding)
    if not expected.strip():
        with pytest.raises(ExtractionError) as caught:
            extract(data, name)
        assert caught.value.kind == "no_text"
    elif not (encoding == "utf-16" and text.startswith("\0")):
        assert extract(data, name).text == expected


@given(st.text(st.sampled_from("a \n\r"), min_size=1))
def test_locators_lead_back_to_the_document(original: str) -> None:
    """XT-02: every character has a locator, whose range in the decoded document holds it."""
    text = original.replace("\r\n", "\n").replace("\r", "\n")
    at = 0
    for locator in line_break_locators(original):
        assert locator.start_char == at < locator.end_char
        at = locator.end_char
        match = re.fullmatch(r"#char=(\d+),(\d+)", locator.locator)
        assert match is not None
        held = original[int(match[1]) : int(match[2])]
        assert held.replace("\r\n", "\n").replace("\r", "\n") == text[locator.start_char : locator.end_char]
    assert at == len(text)


def test_locators_are_one_run_where_nothing_moved() -> None:
    """Run-length: one row for a document, not one for each line."""
    assert extract(b"a\nb\nc\n", "a.txt").locators == (Locator(0, 6, "#char=0,6"),)
    assert extract(b"a\r\nb", "a.txt").locators == (Locator(0, 2, "#char=0,3"), Locator(2, 3, "#char=3,4"))


@pytest.mark.parametrize(
    ("data", "name", "kind"),
    [
        (b"", "a.md", "empty"),
        (b"", "a.pdf", "empty"),
        (b" \n\t\r\n", "a.md", "no_text"),
        (b"\xef\xbb\xbf", "a.md", "no_text"),
        ("\u3000\u00a0\n".encode(), "a.txt", "no_text"),
        (random.Random(1).randbytes(5_000), "noise.md", "decode"),
        (b"\x89PNG\r\n\x1a\n" + random.Random(2).randbytes(500), "picture.md", "unsupported"),
        (b"1\n00:00:01,000 --> 00:00:02,000\nHello\n", "a.srt", "unsupported"),
    ],
)
def test_failures_are_named(data: bytes, name: str, kind: str) -> None:
    """XT-11: kind, the file's name, and what to do; a file without text is never a success."""
    with pytest.raises(ExtractionError) as caught:
        extract(data, name)
    assert caught.value.kind == kind
    assert caught.value.retryable is False
    assert ": " in caught.value.message or "; " in caught.value.message


def test_failures_survive_the_way_back_from_a_worker() -> None:
    """XT-11: worker processes send them by pickle."""
    error = pickle.loads(pickle.dumps(ExtractionError("timeout", "took 30 s", retryable=False)))
    assert (error.kind, error.message, error.retryable, str(error)) == (
        "timeout",
        "took 30 s",
        False,
        "took 30 s",
    )


def test_kinds_are_those_of_the_rule() -> None:
    """XT-11: a closed set; what depends on the machine is retryable."""
    assert set(RETRYABLE) == set(
        [
            "encrypted",
            "empty",
            "corrupt",
            "unsupported",
            "too_large",
            "timeout",
            "memory",
            "crash",
            "no_text",
            "decode",
            "contract",
        ]
    )
    assert {kind for kind, retryable in RETRYABLE.items() if retryable} == {"timeout", "memory", "crash"}
    with pytest.raises(ValueError, match="unknown failure kind"):
        ExtractionError("odd", "x")


def test_large_files() -> None:
    """20 MB, and 2 MB on one line: the right text, in seconds."""
    start = time.perf_counter()
    large = "Ein Satz über die Fähre.\n\n" * 700_000
    assert extract(large.encode(), "large.txt").text == large
    line = "word " * 400_000 + "café"
    assert extract(line.encode("cp1252"), "line.txt").text == line
    assert time.perf_counter() - start < 30


def test_every_extractor_keeps_the_protocol_and_no_media_type_has_two() -> None:
    """XT-01: one registry."""
    taken = [media_type for extractor in EXTRACTORS for media_type in extractor.media_types]
    assert len(taken) == len(set(taken))
    assert all(isinstance(extractor, Extractor) for extractor in EXTRACTORS)
    assert choose(b"# x", "a.md") is extractor_for("text/markdown")
    assert extractor_for("image/png") is None


def test_a_spec_names_all_that_decides_the_text() -> None:
    """VE-01, VE-02: extractor, version, libraries, options, in whatever order."""
    one = spec("text/markdown", {"b": 1, "a": 2})
    assert one == spec("text/markdown", {"a": 2, "b": 1})
    assert one["extractor"] == "markdown"
    assert one["version"] == "1"
    assert one["options"] == {"a": 2, "b": 1}
    assert one["libraries"] == {"chardet": metadata.version("chardet"), "python": platform.python_version()}
    assert spec("text/plain") != spec("text/markdown")
    assert spec("image/png") == {"media_type": "image/png", "extractor": None}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("渡轮每天早上七点离开北码头，黄昏时返回。", "zh"),
        ("フェリーは毎朝七時に北の埠頭を出て、夕方に戻ります。", "ja"),
        ("여객선은 매일 아침 일곱 시에 북쪽 부두를 떠납니다.", "ko"),
        (
            "The ferry to the north quay is late, and that is the end of it for this and for the next.",
            "en",
        ),
        ("Die Fähre ist nicht da, und das wird sich für die Gäste von dem Kai mit der Zeit ändern.", "de"),
        ("Lundholm Skarven 1904", None),
        ("12 34", None),
    ],
)
def test_languages(text: str, language: str | None) -> None:
    """XT-02: named only where the text shows it."""
    assert extract(text.encode(), "a.txt").language == language


def test_a_declared_language_is_believed() -> None:
    """Front matter `lang` or `language`, reduced to its code."""
    assert extract(b"---\nlang: pt-BR\n---\nLundholm\n", "a.md").language == "pt"


def test_the_shared_texts_decode(shared: Path) -> None:
    """XT-13: GBK, cp932 and source code, without U+FFFD."""
    for name, words in (
        ("gbk.txt", "一个文件（包括硬件设备，如 CD-ROM 等，这些对 Debian 系统来说都只"),
        ("mskanji.csv", "髙橋淳"),
        ("logger.py", "def detail(self: logging.Logger, message: str"),
    ):
        text = extract((shared / "extract/files" / name).read_bytes(), name).text
        assert words in text
        assert "\ufffd" not in text
