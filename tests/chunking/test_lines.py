"""Line numbers of code points."""

from __future__ import annotations

import random

from linkrag_dagster.chunking.lines import Lines


def test_lines_are_those_of_the_breaks_before_a_place() -> None:
    """EL-03: LF, CR LF and CR end a line; places may be asked for in any order."""
    rng = random.Random(3)
    for breaks in (["\n"], ["\n", "\r\n", "\r"]):
        text = "".join(rng.choice([*breaks, "a", "bc ", "\u2028"]) for _ in range(200))
        lines = Lines(text)
        expected = [1]
        for at, character in enumerate(text):
            ends = character == "\n" or (character == "\r" and text[at + 1 : at + 2] != "\n")
            expected.append(expected[-1] + ends)
        places = rng.sample(range(len(text)), len(text)) + list(range(len(text)))
        assert [lines.of(place) for place in places] == [expected[place] for place in places]


def test_the_last_line_of_a_slice_is_that_of_its_last_word() -> None:
    """White space at the end of a chunk is on no line of it; one of white space only is where it begins."""
    text = "one\ntwo\n\n  \nthree"
    lines = Lines(text)
    assert lines.of_last(text, 0, text.index("three")) == 2
    assert lines.of_last(text, 0, len(text)) == 5
    assert lines.of_last(text, 8, 11) == 3
