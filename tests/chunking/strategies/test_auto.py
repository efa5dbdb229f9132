"""ST-10: seed 001's two questions by measurable signs."""

from __future__ import annotations

import numpy as np
import pytest

from linkrag_dagster.chunking import chunk_text, final_chunks, plan_final, resolve_settings
from linkrag_dagster.chunking.strategies.auto import boundaries_of
from linkrag_dagster.markdown import parse
from tests.chunking.strategies.support import CL100K, by_topic, chunks, pieces

ARTICLE = "\n\n".join(f"Paragraph {k} tells of one thing. It says why. It ends here." for k in range(12))
TRANSCRIPT = "\n\n".join(f"{'Ann' if k % 2 else 'Bob'}: We talk about point {k} now. Yes." for k in range(30))
RAW = "and then we went on without any stop or line to say where a thought ends " * 60


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("# A\n\n" + ARTICLE, "document_aware"),
        ("def f():\n    return 1\n", "document_aware"),
        (ARTICLE, "recursive"),
        (TRANSCRIPT, "texttiling"),
        (RAW, "fixed"),
    ],
    ids=["markdown", "python", "article", "transcript", "raw"],
)
def test_choice(text: str, choice: str) -> None:
    """ST-10: the choice and its reason stand in every chunk and in the trace."""
    _, made, trace = chunks("auto", text)
    assert {c.strategy for c in made} == {f"auto:{choice}"}
    assert trace[0].reason.startswith(f"{choice}: ")
    assert any(character.isdigit() for character in trace[0].reason)


def test_with_a_scorer_it_compares_texts() -> None:
    """ST-10: paragraphs that follow speakers are cut by meaning where texts can be compared."""
    scorer = by_topic("1", "2")
    assert [(p.start_char, p.end_char) for p in pieces("auto", TRANSCRIPT, scorer=scorer)] == [
        (p.start_char, p.end_char) for p in pieces("percentile", TRANSCRIPT, scorer=scorer)
    ]


def test_one_long_paragraph_without_a_scorer() -> None:
    """ST-10: topics change inside it; without a scorer and without gaps only separators are left, and it says so."""
    text = "Something happened here today. " * 100
    choice = boundaries_of(text, parse(text), scorer=False)
    assert (choice.strategy, "no scorer" in choice.reason) == ("recursive", True)
    assert boundaries_of(text, parse(text), scorer=True).strategy == "percentile"


def test_empty_text() -> None:
    """ST-10: nothing to cut, no error."""
    assert list(pieces("auto", "")) == []


def test_in_two_steps_it_asks_for_vectors_where_it_compares() -> None:
    """ST-10, SD-17: a build scores sentences only of documents whose topics do not follow paragraphs."""
    settings = resolve_settings({"strategy": "auto", "tokenizer": "cl100k_base"})
    assert settings.uses_scorer and not settings.needs_scorer
    scorer = by_topic("1", "2")
    for text, choice in ((TRANSCRIPT, "percentile"), (ARTICLE, "recursive"), (RAW, "fixed"), ("", None)):
        plan = plan_final([], text, settings, CL100K, parse(text))
        assert bool(plan.texts) == (choice == "percentile")
        vectors = {t: np.asarray(v) for t, v in zip(plan.texts, scorer(plan.texts), strict=True)}
        final, trace = plan.chunks(vectors)
        made = chunk_text(text, settings=settings, scorer=scorer)
        assert (final, trace) == (list(made.final), list(made.trace))
        assert {c.strategy for c in final} == ({f"auto:{choice}"} if choice else set())
        assert not any("no scorer" in row.reason for row in trace)
    # The library's call without a scorer still cuts, and says what it did without.
    final, trace = final_chunks([], TRANSCRIPT, settings, CL100K, parse(TRANSCRIPT))
    assert {c.strategy for c in final} == {"auto:texttiling"} and "no scorer" in trace[0].reason
