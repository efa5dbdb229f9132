"""ST-10: seed 001's two questions by measurable signs."""

from __future__ import annotations

import pytest

from linkrag_dagster.chunking.strategies.auto import boundaries_of
from linkrag_dagster.markdown import parse
from tests.chunking.strategies.support import by_topic, chunks, pieces

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
