"""Real documents: every Markdown and reStructuredText file of the installed packages, none left out."""

from __future__ import annotations

import site
from pathlib import Path

import pytest

from linkrag_dagster.chunking import check_chunks, check_coarse, check_final, chunk_text, resolve_settings
from linkrag_dagster.markdown import parse
from linkrag_dagster.tokens import load_tokenizer
from tests.chunking.scripted import Hashed
from tests.markdown.support import assert_tiles

CL100K = load_tokenizer("cl100k_base")
SUFFIXES = (".md", ".rst")


def documents() -> list[Path]:
    return sorted(
        path
        for folder in site.getsitepackages()
        for path in Path(folder).rglob("*")
        if path.suffix.lower() in SUFFIXES and path.is_file()
    )


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["pack", "semantic_depth_window", "noop", "recursive"])
def test_installed_documents_keep_every_contract(strategy: str) -> None:
    """EL-03, CB-16, S2-02, EX-07: whatever people wrote, in whatever encoding."""
    paths = documents()
    assert len(paths) >= 10
    chosen = resolve_settings(
        {"strategy": strategy, "tokenizer": "cl100k_base", "max_tokens": 120, "hard_max_tokens": 200}
    )
    for path in paths:
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        assert_tiles(text, parse(text))
        made = chunk_text(
            text, strategy=strategy, settings=chosen, tokenizer=CL100K, doc_id=path.name, scorer=Hashed(1, 3)
        )
        broken = [
            *([] if chosen.compares else check_coarse(made.coarse, made.elements, text, chosen, CL100K)),
            *check_final(made.final, made.coarse, text, chosen, CL100K),
            *check_chunks(made.chunks, made.final, text, chosen, CL100K, CL100K, None),
        ]
        assert [f"{path}: {v.rule}: {v.message[:200]}" for v in broken[:3]] == []
