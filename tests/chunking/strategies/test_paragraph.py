"""ST-08: blank lines, no bound."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.chunking.strategies.support import words


def test_blank_lines() -> None:
    """ST-08: blanks on a line make it no less blank; any line break counts."""
    assert words("paragraph", "a\nb\n\n c \r\n \t\r\nd\r\re\n") == ["a\nb", "c", "d", "e"]
    assert words("paragraph", "\n\n \n") == []


@settings(deadline=None)
@given(st.text(alphabet="ab \n", max_size=200))
def test_against_a_plain_split(text: str) -> None:
    """ST-08: what a split at blank lines gives, trimmed."""
    assert words("paragraph", text) == [p.strip() for p in re.split(r"\n[ ]*\n", text) if p.strip()]
