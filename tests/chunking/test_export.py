"""Export: two texts, the header, ids, derived chunks, and the encoder's window (EX-01 to EX-07, CB-12 to CB-14)."""

from __future__ import annotations

from typing import Any

import pytest

from linkrag_dagster.chunking import Chunk, chunk_text, export_chunks, resolve_settings
from linkrag_dagster.chunking.default_encoder import default_encoder
from linkrag_dagster.chunking.derived import columns, header_rows
from linkrag_dagster.chunking.header import is_foreign
from linkrag_dagster.tokens import load_tokenizer

CL100K = load_tokenizer("cl100k_base")
ENCODER = default_encoder()
WORDS = "The harbour office keeps a ledger of every boat that enters."


def _chunks(text: str, **settings: Any) -> list[Chunk]:
    return list(chunk_text(text, tokenizer="cl100k_base", settings=settings).chunks)


def _in_window(text: str, window: int, title: str = "", **settings: Any) -> list[Chunk]:
    chosen = resolve_settings({"tokenizer": "cl100k_base", **settings}, window=None)
    made = chunk_text(text, tokenizer="cl100k_base", settings=settings)
    return export_chunks(made.final, text, chosen, CL100K, ENCODER.tokenizer, window, title)


def test_header_is_title_and_trail() -> None:
    """EX-02: the title is not repeated; content is quoted without it."""
    text = f"# Ledger\n\n## Entries\n\n{WORDS}\n"
    assert [(c.header, c.text) for c in _chunks(text)] == [
        ("Ledger > Entries", f"Ledger > Entries\n\n# Ledger\n\n## Entries\n\n{WORDS}")
    ]
    other = chunk_text(text, title="Harbour", tokenizer="cl100k_base").chunks[0]
    assert other.header == "Harbour > Ledger > Entries"
    assert other.content == text.strip()
    assert other.header_tokens == CL100K.count(other.header)
    off = _chunks(text, header=False)[0]
    assert (off.header, off.text) == ("", off.content)


@pytest.mark.parametrize(
    ("title", "words", "foreign"),
    [
        ("Harbour_Office", "港口办公室每天清晨登记进港的船只。", True),
        ("Harbour", "港口（harbour）每天登记船只。", False),
        ("Harbour", "每天清晨登记harbours船只。", True),
        ("Harbour 港", "每天清晨登记进港的船只。", False),
        ("1923", "每天清晨登记进港的船只。", False),
        ("Гавань", "Every morning the office lists the boats.", True),
        ("Гавань", "Каждое утро в порту: harbour, гавань, boats and more boats and boats.", False),
        ("港口", "Every morning the office lists the boats.", True),
        ("港口", "Every morning the office lists the boats that enter the 港.", False),
        ("Bücher", "Every morning the office lists the boats.", False),
        ("港口", "これはほんです。みなとです。", False),
        ("", "每天清晨登记进港的船只。", False),
    ],
)
def test_a_title_foreign_to_the_text_stays_out_of_the_header(title: str, words: str, foreign: bool) -> None:
    """EX-02 beyond: in another script than the text's, of whose words it has none; headings stay, `keep` keeps all."""
    assert is_foreign(title, words) is foreign
    text = f"## Entries\n\n{words}\n"
    chunks = {
        kept: chunk_text(text, title=title, tokenizer="cl100k_base", settings={"foreign_title": kept}).chunks[
            0
        ]
        for kept in ("drop", "keep")
    }
    assert chunks["keep"].header == (f"{title} > Entries" if title else "Entries")
    if not is_foreign(title, text):
        assert chunks["drop"] == chunks["keep"]
    else:
        assert chunks["drop"].header == "Entries"
        assert chunks["drop"].chunk_id == chunks["keep"].chunk_id
    plain = chunk_text(words, title=title, tokenizer="cl100k_base").chunks[0]
    assert plain.header == ("" if foreign else title)
    assert (plain.content, plain.text.endswith(words)) == (words, True)


def test_ids_survive_edits_elsewhere() -> None:
    """EX-06: document, declared version, role, content and occurrence make the id."""
    text = "\n\n".join(f"# Part {n}\n\n{WORDS * 12} {n}" for n in range(3))
    before = [c.chunk_id for c in _chunks(text)]
    after = [c.chunk_id for c in _chunks(text.replace("# Part 0", "# Another title"))]
    assert len(before) == 3
    assert before[1:] == after[1:]
    assert before[0] != after[0]
    made = {
        tuple(
            c.chunk_id
            for c in chunk_text(text, tokenizer="cl100k_base", doc_id=doc_id, version=version).chunks
        )
        for doc_id, version in (("", None), ("a", None), ("b", None), ("a", "2"))
    }
    assert len(made) == 4


def test_equal_contents_are_numbered() -> None:
    """EX-06: a repeated paragraph gets another id."""
    text = "\n\n".join([f"# Same\n\n{WORDS * 12}"] * 3)
    ids = [c.chunk_id for c in _chunks(text)]
    assert len(set(ids)) == len(ids) == 3


def test_image_is_rendered_and_derived() -> None:
    """CB-12, CB-13, CB-14, CB-17: reference and description in the source chunk; raw Markdown as derived content."""
    text = f"# Quay\n\n{WORDS}\n\n![the old quay](quay.png)\n\nAfter it.\n\n## Next\n\nElsewhere.\n"
    source, derived = _chunks(text)
    assert "[image: image_001]\nthe old quay" in source.content
    assert "quay.png" not in source.content
    assert not source.verbatim
    assert [text[s.start_char : s.end_char] for s in source.spans] == [
        f"# Quay\n\n{WORDS}",
        "After it.\n\n## Next\n\nElsewhere.",
    ]
    assert derived.content == "![the old quay](quay.png)"
    assert (
        derived.text
        == f"Quay\n\n[image: image_001]\nthe old quay\n\n{WORDS}\n\n{derived.content}\n\nAfter it."
    )
    assert derived.source_chunk_id == source.chunk_id
    assert [text[s.start_char : s.end_char] for s in derived.context_spans] == [WORDS, "After it."]
    assert derived.context_chunk_ids == (source.chunk_id,)


def test_adjacent_context_stays_in_the_section() -> None:
    """CB-14: `section` crosses no heading, `physical` does."""
    text = f"# A\n\n{WORDS}\n\n# B\n\n![x](x.png)\n\n# C\n\nAfter.\n"
    assert _chunks(text)[1].context_spans == ()
    physical = _chunks(text, adjacent_context="physical")[1]
    assert [text[s.start_char : s.end_char] for s in physical.context_spans] == ["# B", "# C"]


def test_no_description_is_no_text() -> None:
    """EL-05, CB-12: that there is no description never enters an indexed text."""
    source, derived = _chunks("Before.\n\n![](x.png)\n\nAfter.\n")
    assert source.content == "Before.\n\n[image: image_001]\n\nAfter."
    assert derived.text == "[image: image_001]\n\nBefore.\n\n![](x.png)\n\nAfter."


def test_small_and_large_tables() -> None:
    """CB-12: up to 12 lines, 5 columns and 256 tokens a table stays; a larger one shows reference and header row."""
    rows = "| 1 | 2 |\n"
    assert "| 1 | 2 |" in _chunks("| a | b |\n| - | - |\n" + rows * 10)[0].content
    large = _chunks("| a | b |\n| - | - |\n" + rows * 11)
    assert large[0].content == "[table: table_001]\n| a | b |"
    assert large[0].spans == ()
    assert large[1].content.count("\n") == 12
    assert columns("| a | b \\| c |\n|---|---|\n| 1 | 2 | 3 |") == 3
    assert columns("a | b\n--|--\n1 | 2\\|") == 2


def test_large_derived_table_is_split_by_rows() -> None:
    """CB-13: every row once, the header rows repeated in the text only, part i/n, within the hard maximum."""
    text = "| name | value |\n| --- | --- |\n" + "".join(f"| row {n} | value {n} |\n" for n in range(60))
    source, *parts = _chunks(text, min_candidate_tokens=8, max_tokens=100, hard_max_tokens=100, header=False)
    assert len(parts) > 4
    assert "".join(c.content for c in parts) == text.strip()
    assert [(c.part, c.parts) for c in parts] == [(n + 1, len(parts)) for n in range(len(parts))]
    assert all("| name | value |\n| --- | --- |\n| row" in c.text for c in parts)
    assert all(c.content.startswith("| row") for c in parts[1:])
    assert all(c.tokens <= 100 and c.verbatim for c in parts)
    assert {c.source_chunk_id for c in parts} == {source.chunk_id}


def test_context_is_trimmed_before_the_header() -> None:
    """EX-05: what does not fit is left out in order, and the rows say what is in the text."""
    text = f"# A title of words\n\n{WORDS * 3}\n\n![{'quay ' * 30}](x.png)\n\n{WORDS * 3}\n"
    whole = _in_window(text, 400)[-1]
    assert len(whole.context_spans) == 2
    less = _in_window(text, 130)[-1]
    assert less.context_spans == ()
    assert less.context_chunk_ids == ()
    assert less.header == "A title of words"
    least = _in_window(text, 50)[-1]
    assert (least.header, least.text) == ("", least.content)
    assert all(c.encoder_tokens <= 50 and not c.truncated_tokens for c in _in_window(text, 50))


def test_core_above_the_window_is_split_without_loss() -> None:
    """EX-05: `overflow: split`; each part has its place, its number and a share of the header."""
    text = f"# Ledger\n\n{WORDS * 9}\n\n{WORDS * 9}\n\n![quay](x.png)\n\n{WORDS * 9}\n"
    chunks = _in_window(text, 100)
    parts = [c for c in chunks if c.role == "source"]
    assert len(parts) > 3
    assert {c.overflow for c in parts} == {"split"}
    assert [(c.part, c.parts) for c in parts] == [(n + 1, len(parts)) for n in range(len(parts))]
    assert "".join(c.content for c in parts) == chunk_text(text, tokenizer="cl100k_base").final[0].content
    assert all(c.header == "Ledger" and c.encoder_tokens <= 100 for c in parts)
    holder = next(c for c in parts if "[image: image_001]" in c.content)
    assert next(c for c in chunks if c.role == "derived").source_chunk_id == holder.chunk_id
    starts = [c.start_char for c in parts]
    assert starts == sorted(starts)


def test_front_matter_is_stored_but_not_searched() -> None:
    """CB-02: unless it is asked for."""
    text = "---\ntitle: Quay\n---\n\n# T\n\nWords.\n"
    assert [c.searchable for c in _chunks(text)] == [False, True]
    assert [c.searchable for c in _chunks(text, index_front_matter=True)] == [True, True]


def test_default_budget_is_the_encoders() -> None:
    """TK-01, TK-05: without a named tokenizer the guarantee is exact against the encoder's window."""
    made = chunk_text("# A\n\n" + f"{WORDS} " * 200)
    assert len(made.chunks) > 5
    for chunk in made.chunks:
        assert chunk.tokens <= 222
        assert chunk.encoder_tokens == ENCODER.tokenizer.count(chunk.text) + 2 <= 256


def test_header_rows_are_those_of_a_delimiter() -> None:
    """SD-11, CB-13: what has no delimiter row has no header to repeat."""
    assert header_rows("| a |\r\n|---|\r\n| 1 |") == "| a |\r\n|---|"
    assert header_rows("> | a |\n> |:-:|\n> | 1 |") == "> | a |\n> |:-:|"
    assert header_rows("<table>\n<tr>\n</table>") == ""
    assert header_rows("| a |") == ""
