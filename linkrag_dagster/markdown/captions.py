"""Captions of figures and tables, known by how they begin; which paragraph is the caption of which table (EL-05)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from linkrag_dagster.markdown.elements import Element

_NUMBER = r"\s*(?:(?:\d|[A-Z]{1,3}[.\-]?\d)[0-9A-Za-z.\-]*|[IVXLC]+\b|[A-Z]\b)"
FIGURE = re.compile(rf"(?:(?i:Figure|Fig\.|Abbildung|Abb\.|Figura)|图|圖|図){_NUMBER}")
TABLE = re.compile(rf"(?:(?i:Table|Tab\.|Tabelle|Tableau|Tabla)|表){_NUMBER}")
"""Labels: `Figure 4-12`, `Table B.2`, `TABLE IV`, `表 3`."""

_MARKS = re.compile(r"[*_ \t]*")
_LONGEST = 400
"""Characters of a caption."""


def is_caption(text: str, label: re.Pattern[str] = TABLE) -> bool:
    r"""Whether a paragraph begins as captions do: a label, then a stop, the end, or a word that is not small.

    >>> is_caption("Table 3. Costs"), is_caption("**Table 3** Costs"), is_caption("表3 水位")
    (True, True, True)
    >>> is_caption("Table 3 shows what it costs."), is_caption("Table of contents")
    (False, False)
    """
    begin = _MARKS.match(text)
    found = label.match(text, begin.end() if begin else 0)
    if found is None or len(text) > _LONGEST:
        return False
    rest = text[found.end() :].lstrip("*_ \t\r\n")
    return found[0].endswith(".") or not rest[:1].islower()


def table_captions(elements: Sequence[Element], text: str) -> dict[int, int]:
    """Position of each captioned table among a document's elements → that of the paragraph that is its caption.

    It stands right above or right below. Between two tables it is the second's, unless the document's other tables
    have theirs below.

    Before: table, `Table 1. Costs`, table, `Table 2. Gains`.
    After: the first paragraph belongs to the first table, since no other can have the second.
    """
    tables = [at for at, element in enumerate(elements) if element.kind == "table"]
    beside = {at: [p for p in (at - 1, at + 1) if _may_be_caption(elements, p, text)] for at in tables}
    sides = [held[0] - at for at, held in beside.items() if len(held) == 1]
    usual = 1 if sides.count(1) > sides.count(-1) else -1
    found: dict[int, int] = {}
    taken: set[int] = set()
    for side in (usual, -usual):
        for at in tables:
            if at not in found and at + side in beside[at] and at + side not in taken:
                found[at] = at + side
                taken.add(at + side)
    return found


def _may_be_caption(elements: Sequence[Element], at: int, text: str) -> bool:
    if not 0 <= at < len(elements) or elements[at].kind != "paragraph":
        return False
    return is_caption(text[elements[at].start_char : elements[at].end_char])
