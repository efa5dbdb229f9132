"""One self-contained web page: each page's picture with the boxes of its text, and the text beside it.

Nothing is fetched. The one script has its hash in the page's policy, so that no word of the document can run.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence

from linkrag_dagster.explain.style import STYLE as BASE
from linkrag_dagster.explain.visible import escaped, marked
from linkrag_dagster.extraction.page_images import PageImage
from linkrag_dagster.extraction.records import Extraction
from linkrag_dagster.markdown.elements import Element
from linkrag_dagster.page_view.items import Box, Item, Missing, PageItems, Run, pages_of
from linkrag_dagster.page_view.script import SCRIPT
from linkrag_dagster.page_view.style import STYLE

_PAPER = (595.0, 842.0)
_SURE = (0.5, 0.7, 0.85, 0.95)
"""Confidences that divide the five shades."""

_COLOURS = ("heading", "list", "table", "image", "code", "math")
_LEGEND = (
    ("text", "paragraph"),
    ("heading", "heading"),
    ("list", "list"),
    ("table", "table"),
    ("image", "picture"),
    ("code", "code or formula"),
)
_REASONS = {
    "furniture": "running header, footer or page number: kept apart",
    "repeated": "of a table that goes on: said on an earlier page",
    "low_confidence": "recognised too badly to be searched",
    "unreadable": "characters that stand for nothing, recognised instead",
}
_READINGS = {
    "text": "",
    "recognised": "recognised",
    "doubtful": "recognised, doubtful",
    "left_out": "recognised too badly, left out",
    "unread": "not read",
}


def view(
    found: Extraction,
    elements: Sequence[Element],
    images: Mapping[int, PageImage],
    *,
    name: str = "document",
    notes: Sequence[str] = (),
) -> str:
    """The page, encodable as UTF-8. Pages without a picture in `images` are not shown, but counted.

    Args:
        found: what extraction made of the document.
        elements: of its text.
        images: pictures of the pages to be shown, by number.
        name: what the document is called.
        notes: what the reader should know beforehand.
    """
    pages = pages_of(found, elements)
    shown = [one for one in pages if one.page.page in images]
    title = escaped(name)
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = [
        '<!DOCTYPE html>\n<html lang="en" dir="ltr">\n<head>\n<meta charset="utf-8">\n',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
        f"<title>What was read in {title}</title>\n<style>{BASE}{STYLE}</style>\n",
        f"<script>{SCRIPT}</script>\n</head>\n<body>\n",
        f'<header>\n<h1>What was read in <bdi dir="auto">{title}</bdi></h1>\n',
        *_facts(found, len(pages), len(shown)),
        *(f'<p class="note">{escaped(note)}</p>\n' for note in (*notes, *found.warnings)),
        *_legend(found),
        *_contents(shown),
        "</header>\n<main>\n",
    ]
    for at, one in enumerate(shown):
        parts += _page(found.text, one, images[one.page.page], first=at == 0)
    parts.append("</main>\n</body>\n</html>\n")
    return "".join(parts)


def _facts(found: Extraction, pages: int, shown: int) -> Iterator[str]:
    counted = f"{pages}" if shown == pages else f"{shown} of {pages} shown"
    facts = (
        ("title", found.title or "none"),
        ("pages", counted),
        ("characters", f"{len(found.text):,}"),
        ("language", found.language or "unknown"),
        ("read by", f"{found.extractor} {found.extractor_version}"),
    )
    yield '<dl class="facts">'
    for word, value in facts:
        yield f'<div><dt>{word}</dt><dd dir="auto">{escaped(value)}</dd></div>'
    yield "</dl>\n"


def _legend(found: Extraction) -> Iterator[str]:
    yield '<div class="legend">'
    for kind, words in _LEGEND:
        yield f'<span><i class="swatch {kind}"></i> {words}</span>'
    yield "</div>\n"
    yield '<div class="choices">'
    yield _choice("hide-boxes", "boxes, numbered in reading order")
    if found.left_out:
        yield _choice("hide-gone", "what is not in the text (dashed)")
    if any(run.confidence is not None for run in found.locators):
        yield _choice("hide-sure", "shades of confidence, red to green")
    yield "</div>\n"


def _choice(hides: str, words: str) -> str:
    return f'<label><input type="checkbox" checked data-hides="{hides}"> {words}</label>'


def _contents(shown: Sequence[PageItems]) -> Iterator[str]:
    if len(shown) < 2:
        return
    yield '<nav class="pages" aria-label="pages">'
    for one in shown:
        odd = ' class="odd-page"' if one.page.reading not in ("text", "recognised") else ""
        yield f'<a href="#page-{one.page.page}"{odd}>{one.page.page}</a>'
    yield "</nav>\n"


def _page(text: str, one: PageItems, image: PageImage, *, first: bool) -> Iterator[str]:
    page = one.page
    yield f'<section class="page" id="page-{page.page}" aria-label="page {page.page}">\n'
    yield f"<header><h2>Page {page.page}</h2>"
    words = _READINGS.get(page.reading, page.reading)
    if page.confidence is not None:
        words = f"{words or 'recognised'}, mean confidence {page.confidence:.2f}"
    if words:
        sure = "" if page.confidence is None else f" sure{_shade(page.confidence)}"
        yield f'<span class="badge{sure}">{escaped(words)}</span>'
    yield (
        f'<span class="place">{len(one.items)} blocks · [{page.start_char}, {page.end_char})</span></header>\n'
        '<div class="pair">\n'
    )
    yield from _sheet(one, image, first=first)
    yield '<div class="read">\n'
    if one.items:
        yield '<ol class="blocks">\n'
        for item in one.items:
            yield _block(text, page.page, item)
        yield "</ol>\n"
    else:
        yield '<p class="note">No text was read on this page.</p>\n'
    if one.missing:
        yield '<h3 class="aside gone">Not in the text</h3>\n<ol class="blocks gone">\n'
        for at, lost in enumerate(one.missing, start=1):
            yield _lost(at, lost)
        yield "</ol>\n"
    yield "</div>\n</div>\n</section>\n"


def _sheet(one: PageItems, image: PageImage, *, first: bool) -> Iterator[str]:
    width, height = (image.width, image.height) if image.width > 0 < image.height else _PAPER
    yield '<figure class="sheet">'
    size = f'style="aspect-ratio:{width:.1f}/{height:.1f}"'
    if image.data:
        data = base64.b64encode(image.data).decode("ascii")
        yield (
            f'<img loading="{"eager" if first else "lazy"}" alt="page {one.page.page}" {size} '
            f'src="data:{image.media_type};base64,{data}">'
        )
    else:
        yield f'<div class="blank-sheet" {size}></div>'
    for item in one.items:
        yield from _boxes(item, (width, height), f"#p{one.page.page}-{item.number}")
    for at, lost in enumerate(one.missing, start=1):
        if lost.box is not None:
            kind = f"gone {escaped(lost.record.reason)}{_shade(lost.record.confidence)}"
            yield _box(lost.box, (width, height), f"x{at}", "", kind, None)
    yield "</figure>\n"


def _boxes(item: Item, size: tuple[float, float], target: str) -> Iterator[str]:
    """The boxes of a block; a table has one around its rows. Each column's first box has the number."""
    number, colour = str(item.number), _colour(item.kind)
    boxes = [run.box for run in item.runs]
    rows = colour == "table" and len(boxes) > 1
    if rows:
        left, top, right, bottom = zip(*boxes, strict=True)
        whole = (min(left), min(top), max(right), max(bottom))
        yield _box(whole, size, number, number, colour, target)
    for at, run in enumerate(item.runs):
        begins = not rows and (at == 0 or run.box[1] < boxes[at - 1][1])
        kind = f"{'row ' if rows else ''}{colour}{_shade(run.confidence)}"
        yield _box(run.box, size, number, number if begins else "", kind, target if at == 0 else None)


def _box(box: Box, size: tuple[float, float], number: str, label: str, kind: str, target: str | None) -> str:
    left, top, right, bottom = box
    place = ";".join(
        f"{side}:{min(max(100 * value / whole, -5.0), 105.0):.2f}%"
        for side, value, whole in (
            ("left", left, size[0]),
            ("top", top, size[1]),
            ("width", right - left, size[0]),
            ("height", bottom - top, size[1]),
        )
    )
    edge = " edge" if left < 0.04 * size[0] else ""
    inside = f"<b>{label}</b>" if label else ""
    # Labelled boxes alone are stops of the tab key: one a block.
    link = f' href="{target}"' if target is not None and label else ""
    return f'<a class="box {kind}{edge}" data-n="{number}"{link} style="{place}">{inside}</a>'


def _block(text: str, page: int, item: Item) -> str:
    begun = "continued " if item.continued else ""
    words = "".join(_words(text, item.runs))
    return (
        f'<li class="{_colour(item.kind)}" id="p{page}-{item.number}" data-n="{item.number}" '
        f'data-start="{item.runs[0].start_char}" data-end="{item.runs[-1].end_char}">'
        f'<b>{item.number}</b><span class="kind">{begun}{escaped(item.kind)}</span>'
        f'<div class="words" dir="auto">{words}</div></li>\n'
    )


def _words(text: str, runs: Sequence[Run]) -> Iterator[str]:
    """The words of a block, with its line breaks, shaded where they were recognised."""
    at = runs[0].start_char
    for run in runs:
        if run.start_char - at < 0 or run.start_char - at > 200:  # the rest stands on another page
            yield "\n⋯\n"
        else:
            yield marked(text[at : run.start_char])
        words = marked(text[run.start_char : run.end_char])
        if run.confidence is None:
            yield words
        else:
            sure = f'class="{_shade(run.confidence).strip()}" title="confidence {run.confidence:.2f}"'
            yield f"<mark {sure}>{words}</mark>"
        at = run.end_char


def _lost(at: int, lost: Missing) -> str:
    record = lost.record
    sure = "" if record.confidence is None else f" · confidence {record.confidence:.2f}"
    reason = _REASONS.get(record.reason, record.reason)
    return (
        f'<li class="{escaped(record.reason)}" data-n="x{at}"><b>–</b>'
        f'<span class="kind">{escaped(reason)}{sure}</span>'
        f'<div class="words" dir="auto">{marked(record.text)}</div></li>\n'
    )


def _colour(kind: str) -> str:
    return kind if kind in _COLOURS else "text"


def _shade(confidence: float | None) -> str:
    """The class of a confidence, with a space before it; none without one."""
    return "" if confidence is None else f" c{sum(confidence >= bound for bound in _SURE)}"
