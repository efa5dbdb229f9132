"""What a contract of a chunking stage answers: which rule is broken, by what."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule of one document.

    Attributes:
        rule: the rule's id, such as `CB-16`.
        message: what is wrong.
        ids: the chunks to blame.
    """

    rule: str
    message: str
    ids: tuple[str, ...] = ()
