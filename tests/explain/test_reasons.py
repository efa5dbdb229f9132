"""The sentences that explain a cut say what its records say."""

from __future__ import annotations

import pytest

from linkrag_dagster.explain import account_of, counted, page, terminal
from linkrag_dagster.explain.reasons import facts, why
from linkrag_dagster.explain.valleys import Valley
from tests.explain.documents import HARBOUR, KITCHEN, MIXED, TWO_TOPICS, chunked
from tests.explain.pages import read_page

ONE_TOPIC = "# Log\n\n" + "\n\n".join(HARBOUR * 3) + "\n"


@pytest.mark.parametrize(
    ("valley", "said"),
    [
        (Valley(0.9, 0.2, 0.7), "Cohesion falls from 0.900 to 0.200 and rises again to 0.700."),
        (Valley(0.2, 0.2, 0.7), "Cohesion is 0.200 there and rises to 0.700 after it."),
        (Valley(0.9, 0.2, 0.2), "Cohesion falls from 0.900 to 0.200 before it."),
        (Valley(0.2, 0.2, 0.2), "Cohesion is 0.200 there, and no higher right before or after it."),
        (Valley(0.2004, 0.2, 0.7), "Cohesion is 0.200 there and rises to 0.700 after it."),
        (Valley(0.2004, 0.2, 0.2003), "Cohesion is 0.200 there, and no higher right before or after it."),
    ],
)
def test_the_slopes_of_a_valley(valley: Valley, said: str) -> None:
    """SD-05: a side without a peak of its own, as far as three decimals show one, neither falls nor rises."""
    made, limits = chunked(TWO_TOPICS)
    account = account_of(made, TWO_TOPICS, limits)
    cut = next(c for c in account.cuts if c.reason == "depth")
    slopes = [line for line in why(cut, account, valley) if line.startswith("Cohesion ")]
    assert slopes == [said]


def test_where_all_texts_are_alike_nothing_falls_or_rises() -> None:
    """SD-05, SD-07: of equal depths the last is taken, and the page says that the curve is flat there."""
    made, limits = chunked(ONE_TOPIC)
    assert {row.depth for row in made.trace if row.cohesion is not None} == {0.0}
    cuts = read_page(page(made, ONE_TOPIC, limits=limits)).cuts
    deep = [cut.words for cut in cuts if cut.attributes["data-reason"] == "depth"]
    assert deep
    for words in deep:
        assert "Cohesion is 1.000 there, and no higher right before or after it." in words
        assert "falls" not in words and "rises" not in words


def test_numbers_and_what_they_count_agree() -> None:
    """One chunk, one token, one line: in the page, in its picture's name, and in the terminal."""
    for strategy in ("pack", "fixed"):
        made, limits = chunked("one", strategy)
        drawn, shown = page(made, "one", limits=limits), terminal(made, "one", limits=limits)
        assert 'aria-label="1 chunk and 0 cuts over' in drawn and "chunk 0, 1 token, [0, 3)" in drawn
        assert "line 1 · [0, 3)" in drawn and "line 1 · [0, 3)" in shown
        assert ("gaps", "none") in facts(account_of(made, "one", limits))
    assert ">1 token</span>" in drawn and "· 1 token ·" in shown
    assert [counted(n, "gap") for n in (0, 1, 2)] == ["0 gaps", "1 gap", "2 gaps"]


def test_what_a_cut_was_due_by() -> None:
    """SD-07: the words beyond the maximum are those after the only gap, or after the last one weighed."""
    text = "\n\n".join([*HARBOUR, *KITCHEN]) + "\n"
    for most in (30, 90):
        made, limits = chunked(text, "pack", max_tokens=most, min_candidate_tokens=5)
        account = account_of(made, text, limits)
        weighed = [cut for cut in account.cuts if cut.overflow is not None]
        assert weighed
        for cut in weighed:
            due = next(line for line in why(cut, account) if line.startswith("A cut was due"))
            alone = len(cut.weighed) == 1
            assert ("the next passage" in due, "the last of these gaps" in due) == (alone, not alone)
            assert f"would have {cut.overflow} tokens; the maximum is {most}." in due
    made, limits = chunked(TWO_TOPICS)
    known = dict(facts(account_of(made, TWO_TOPICS, limits)))
    assert known["gaps"] == f"{len(made.trace)}, {sum(row.legal for row in made.trace)} of them legal"


def test_the_key_of_the_page_names_what_is_in_it() -> None:
    """A cut by a heading is explained where there is one."""
    for text, own in ((TWO_TOPICS, False), (MIXED, True)):
        made, limits = chunked(text)
        assert ("a cut that the document's headings make" in page(made, text, limits=limits)) is own
