"""Analyzers: what is a term, and what is not (BM-02)."""

from __future__ import annotations

import pickle
import time
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest

from linkrag_dagster.lexical import ANALYZERS, UnknownAnalyzer, load_analyzer
from linkrag_dagster.lexical.analyzers import MAX_TERM, DefaultAnalyzer
from linkrag_dagster.lexical.stop_words import STOP_WORDS
from linkrag_dagster.lexical.words import camel_parts

DEFAULT = load_analyzer("default")
REFERENCE = load_analyzer("reference")


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The retry rule R-17", ["the", "retry", "rule", "r", "17"]),
        ("naïve 数据 x１", ["na", "ve", "x"]),
        ("\u212aelvin", ["kelvin"]),  # the Kelvin sign is a k in lower case
        ("max_tokens E0412", ["max", "tokens", "e0412"]),
        ("", []),
        ("!!! ???", []),
    ],
)
def test_reference_is_the_seeds_tokenizer(text: str, terms: list[str]) -> None:
    """BM-02: `[a-z0-9]+` of the lower-cased text."""
    assert REFERENCE.tokens(text) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        # Codes, part numbers and figures stand whole.
        ("rule R-17: error E0412", ["rule", "r-17", "error", "e0412"]),
        ("R\u201117 r-17", ["r-17", "r-17"]),
        ("COVID-19", ["covid-19", "covid"]),
        ("3.14 1,024 2024-01-15", ["3.14", "1024", "2024-01-15"]),
        ("R 7 42", ["r", "7", "42"]),
        ("C++ and C# code", ["c++", "c#", "code"]),
        # Identifiers stand whole and in their parts.
        ("max_tokens", ["max_tokens", "max", "token"]),
        ("MAX_TOKENS", ["max_tokens", "max", "token"]),
        ("getTokens", ["gettoken", "get", "token"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("os.path.join", ["os.path.join", "os", "path", "join"]),
        ("__init__", ["init"]),
        ("chapter_12", ["chapter_12", "chapter", "12"]),
        (
            "linkrag_dagster.lexical",
            ["linkrag_dagster.lexical", "linkrag_dagster", "linkrag", "dagster", "lexic"],
        ),
        ("report-2024.pdf", ["report-2024.pdf", "report-2024", "report", "pdf"]),
        ("cross-encoder", ["cross-encoder", "cross", "encod"]),
        ("src/main.py", ["src", "main.py", "main", "py"]),
        ("PDFs and a PDF", ["pdf", "pdf"]),
        # A sentence's end is no joint.
        ("The end. Next one", ["end", "next", "one"]),
        # Accents, ligatures, widths and case.
        ("café CAFÉ cafe\u0301", ["cafe", "cafe", "cafe"]),
        ("Straße STRASSE", ["strass", "strass"]),
        ("\ufb01le ｆｕｌｌ １２３", ["file", "full", "123"]),
        ("co\u00adoperate", ["cooper"]),
        ("Øresund Łódź", ["oresund", "lodz"]),
        # English: stems, stop words, contractions.
        ("retrieving retrieved retrieval", ["retriev", "retriev", "retriev"]),
        ("What is the answer to this?", ["answer"]),
        ("don't, can\u2019t, user's, l'homme", ["user", "homm"]),
        # Chinese, Japanese, Korean: overlapping pairs, a lone character as itself.
        ("数据检索", ["数据", "据检", "检索"]),
        ("数据。检索", ["数据", "检索"]),
        ("中", ["中"]),
        ("规则R-17号", ["规则", "r-17", "号"]),
        ("カタカナ", ["カタ", "タカ", "カナ"]),
        ("ｶﾞｽ", ["ガス"]),
        ("日本語の本", ["日本", "本語", "語の", "の本"]),
        ("한국어 검색", ["한국", "국어", "검색"]),
        ("\U00020000\U00020001\U00020002", ["\U00020000\U00020001", "\U00020001\U00020002"]),
        # Other scripts by word; those with one usual language are stemmed.
        ("чёрный Черные и", ["черн", "черн"]),
        ("ΑΝΘΡΩΠΟΣ άνθρωπος", ["ανθρωπ", "ανθρωπ"]),
        ("हिन्दी עברית", ["हिन्दी", "עברית"]),
        ("", []),
        ("... -- 🚀 _ '", []),
        ("the of and", []),
    ],
)
def test_default(text: str, terms: list[str]) -> None:
    """BM-02: codes whole, identifiers whole and in parts, accents folded, CJK in pairs, stems and stop words."""
    assert DEFAULT.tokens(text) == terms


def test_hangul_stays_composed_and_voiced_kana_stay_voiced() -> None:
    """BM-02: only accents are folded, not marks that make another letter."""
    for text in ("한국", "がぎ", "й"):
        assert DEFAULT.tokens(unicodedata.normalize("NFD", text)) == [text]


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("HTTPServer", ["HTTP", "Server"]),
        ("getURLFor", ["get", "URL", "For"]),
        ("parseJSON5", ["parse", "JSON5"]),
        ("HTTP2Server", ["HTTP2", "Server"]),
        ("PDFs", ["PDFs"]),
        ("E0412", ["E0412"]),
        ("word", ["word"]),
    ],
)
def test_camel_parts(word: str, parts: list[str]) -> None:
    """BM-02: identifiers in their parts."""
    assert camel_parts(word) == parts


def test_long_runs_are_no_terms() -> None:
    """A run of encoded data is no term; parts of it that fit are."""
    assert DEFAULT.tokens("x" * MAX_TERM) == ["x" * MAX_TERM]
    assert DEFAULT.tokens("x" * (MAX_TERM + 1)) == []
    assert DEFAULT.tokens("word_" + "z" * MAX_TERM) == ["word", "z" * MAX_TERM]


def test_language_decides_latin_script_alone() -> None:
    """BM-02: stems and stop words by language."""
    german = load_analyzer("default-german")
    assert german.tokens("Die Häuser der Straße") == ["haus", "strass"]
    assert german.tokens("чёрный 数据") == DEFAULT.tokens("чёрный 数据")
    assert load_analyzer("default-french").tokens("les maisons") == ["maison"]


@pytest.mark.parametrize("language", sorted(STOP_WORDS))
def test_stop_words_are_written_as_they_are_met(language: str) -> None:
    """A stop word that folding changes could never be met: each of them vanishes."""
    used = DefaultAnalyzer("english" if language in ("russian", "greek") else language)
    kept = {word for word in STOP_WORDS[language] if used.tokens(word)}
    assert kept == set()


def test_components_name_everything_that_decides() -> None:
    """BM-02: name and version are part of the fingerprint; so are libraries, lists and Unicode."""
    assert REFERENCE.components == {"analyzer": "reference 1"}
    assert set(DEFAULT.components) == {"analyzer", "snowballstemmer", "stop_words", "unicode"}
    assert DEFAULT.components["unicode"] == unicodedata.unidata_version
    assert load_analyzer("default-german").components != DEFAULT.components


@pytest.mark.parametrize("name", ANALYZERS)
def test_every_analyzer_loads_by_its_name_and_travels(name: str) -> None:
    """Analyzers are values: equal after a trip to another process."""
    analyzer = load_analyzer(name)
    assert analyzer.name == name
    assert pickle.loads(pickle.dumps(analyzer)) == analyzer
    texts = ["One retry rule", "", "数据检索 one"]
    assert list(analyzer.token_lists(texts)) == [analyzer.tokens(text) for text in texts]


def test_unknown_analyzer_is_refused_with_a_suggestion() -> None:
    """An error says what happened and what to do."""
    with pytest.raises(
        UnknownAnalyzer, match=r"unknown analyzer 'defualt': did you mean 'default'\? known are reference"
    ):
        load_analyzer("defualt")
    with pytest.raises(UnknownAnalyzer, match=r"unknown analyzer '': known are"):
        load_analyzer("")


def test_one_analyzer_in_many_threads() -> None:
    """Stemmers hold state: calls share none."""
    texts = [f"retrieving {word}s were tokenised" for word in ("chunk", "rule", "engine", "policy")] * 50
    alone = [DEFAULT.tokens(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(DEFAULT.tokens, texts)) == alone


@pytest.mark.parametrize(
    "unit", ["a", "a.", "_", "1,", "a'", "A", "aB", "中", "\u0301", "a-", "é", "123,456"]
)
def test_time_is_linear(unit: str) -> None:
    """No text makes the patterns step back over what they have read: eight times the text, not 64 times the time."""

    def seconds(size: int) -> float:
        text = unit * size
        best = float("inf")
        for _ in range(3):
            start = time.perf_counter()
            DEFAULT.tokens(text)
            best = min(best, time.perf_counter() - start)
        return best

    assert seconds(80_000 // len(unit)) < 30 * seconds(10_000 // len(unit)) + 0.05
