"""Small corpora and questions for these tests."""

from __future__ import annotations

import json
from typing import Any

from linkrag_dagster.evaluation.gold import CorpusDocument, GoldCorpus, GoldFile
from linkrag_dagster.markdown import parse


def jsonl(name: str, *rows: dict[str, Any] | str) -> GoldFile:
    """A file of JSON Lines; a text stands as it is."""
    return GoldFile(name, "".join(f"{r if isinstance(r, str) else json.dumps(r)}\n" for r in rows))


def document(name: str, text: str, *, doc_id: str = "", version: str = "v1") -> CorpusDocument:
    """A Markdown document with its headings as the parser finds them."""
    headings = tuple((e.start_char, e.end_char) for e in parse(text) if e.kind == "heading")
    return CorpusDocument(doc_id or f"id-{name}", name, version, text, headings)


def corpus(**texts: str) -> GoldCorpus:
    """Documents `NAME.md`."""
    return GoldCorpus(document(f"{name}.md", text) for name, text in texts.items())


def question(question_id: str, *passages: tuple[str, str], **further: Any) -> dict[str, Any]:
    """A row of a corpus's own questions, of `(doc, text)` passages."""
    evidence = [{"doc": doc, "text": text} for doc, text in passages]
    return {
        "question_id": question_id,
        "question": f"What of {question_id}?",
        "evidence": evidence,
        **further,
    }
