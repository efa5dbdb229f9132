"""One self-contained HTML page that shows how a document was cut, and why. No script, nothing fetched.

The text stands once, chunk by chunk, with the cohesion curve running down beside it; a cut interrupts it with its
reason. Every word of the document and of its headings is escaped, and the page's policy forbids scripts and requests.
"""

from __future__ import annotations

from collections.abc import Iterator

from linkrag_dagster.chunking import ChunkSet, Span
from linkrag_dagster.explain.account import Account, Block, Cut, Gap, Row, Shown, account_of
from linkrag_dagster.explain.anchors import chunk_anchor, cut_anchor, gap_anchor
from linkrag_dagster.explain.chart import HUES, chart
from linkrag_dagster.explain.counted import counted, line_range
from linkrag_dagster.explain.limits import Limits
from linkrag_dagster.explain.rail import Rail
from linkrag_dagster.explain.reasons import badges, cut_words, facts, gap_words, scores, why
from linkrag_dagster.explain.scale import key
from linkrag_dagster.explain.style import STYLE
from linkrag_dagster.explain.valleys import valleys
from linkrag_dagster.explain.visible import escaped, marked

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_PLACE = "characters of the text, counted from 0, without the last number"
_LEGEND = (
    ('<line class="curve" x1="0" y1="8" x2="26" y2="8"/><circle class="dot" cx="13" cy="8" r="3"/>',
     "cohesion: how alike the words on both sides of a gap are"),
    ('<rect class="bar" x="6" y="6" width="6" height="9"/><rect class="chosen" x="15" y="1" width="6" height="14"/>',
     "depth: how far it falls below the peaks beside it; red where the cut fell"),
    ('<line class="cutline" x1="13" y1="0" x2="13" y2="16"/>', "a cut that was weighed"),
)  # fmt: skip
_OWN_CUT = '<line class="ownline" x1="13" y1="0" x2="13" y2="16"/>', "a cut that the document's headings make"


def page(made: ChunkSet, text: str, *, name: str = "document", limits: Limits | None = None) -> str:
    """The page, encodable as UTF-8.

    Args:
        made: all that chunking made of the text; without a trace there are no curves.
        text: the document's canonical text.
        name: what the document is called.
        limits: what it was cut under; without them nothing is counted.
    """
    return _Page(account_of(made, text, limits), name).drawn()


class _Page:
    def __init__(self, account: Account, name: str) -> None:
        self._account = account
        self._name = name
        self._rail = Rail(account)
        self._valleys = valleys([gap.trace for gap in account.gaps])

    def drawn(self) -> str:
        name = escaped(self._name)
        parts = [
            '<!DOCTYPE html>\n<html lang="en" dir="ltr">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f"<title>How {name} was cut</title>\n<style>{STYLE}</style>\n</head>\n",
            f'<body class="{"flat" if self._rail.scale is None else "curved"}">\n',
            f'<header>\n<h1>How <bdi dir="auto">{name}</bdi> was cut</h1>\n',
            *self._facts(),
            "</header>\n<main>\n",
            *self._overview(),
            '<div class="ruler"><h2>The text</h2>',
            f'<div class="axis" aria-hidden="true">{self._rail.axis()}</div></div>\n',
            *self._text(),
            *self._table(),
            "</main>\n</body>\n</html>\n",
        ]
        return "".join(parts)

    def _facts(self) -> Iterator[str]:
        yield '<dl class="facts">'
        for word, value in facts(self._account):
            yield f"<div><dt>{escaped(word)}</dt><dd>{escaped(value)}</dd></div>"
        yield "</dl>\n"
        for note in self._account.notes:
            yield f'<p class="note">{escaped(note)}</p>\n'

    def _overview(self) -> Iterator[str]:
        yield '<h2 id="overview">Over its length</h2>\n'
        if self._rail.scale is not None:
            yield '<div class="legend">'
            own = any(cut.coarse is not None for cut in self._account.cuts)
            for picture, words in (*_LEGEND, _OWN_CUT) if own else _LEGEND:
                yield f'<span><svg width="26" height="16" aria-hidden="true">{picture}</svg>{words}</span>'
            yield "</div>\n"
        yield '<div class="scroll" tabindex="0" role="region" aria-labelledby="overview">'
        yield chart(self._account)
        yield "</div>\n"

    # -- the text ------------------------------------------------------------------------------------------------

    def _text(self) -> Iterator[str]:
        outside = list(self._account.uncovered)
        number = -1
        cut: Cut | None = None
        for shown in self._account.shown:
            if shown.chunk.role == "source":
                number += 1
                if cut is not None:
                    yield from self._cut(cut)
                cut = shown.cut
                while outside and outside[0].start_char < shown.chunk.start_char:
                    yield self._outside(outside.pop(0))
            yield from self._chunk(shown, number)
        yield from map(self._outside, outside)

    def _outside(self, span: Span) -> str:
        start, end = span.start_char, span.end_char
        words = marked(self._account.text[start:end].strip("\n"))
        return (
            f'<div class="outside" data-start="{start}" data-end="{end}">in no source chunk: '
            f'<span class="words" dir="auto">{words}</span></div>\n'
        )

    def _chunk(self, shown: Shown, number: int) -> Iterator[str]:
        chunk = shown.chunk
        kind = "chunk" if chunk.role == "source" else "chunk derived"
        yield (
            f'<section class="{kind} hue{max(0, number) % HUES}" id="{chunk_anchor(chunk)}" '
            f'data-role="{escaped(chunk.role)}" data-start="{chunk.start_char}" data-end="{chunk.end_char}" '
            f'data-tokens="{chunk.tokens}" aria-label="chunk {chunk.ordinal}">\n'
        )
        yield from self._head(shown)
        parts = shown.parts
        rail = self._rail.above(shown)
        yield _part("header", parts.header, rail)
        yield _part("with it" if chunk.role == "derived" else "repeated", parts.introduction, rail)
        yield _part("before", parts.before, rail)
        yield '<div class="core" data-part="core">\n'
        for row in shown.rows:
            yield self._row(shown, row)
            if row.gap is not None:
                yield self._gap(row.gap)
        yield "</div>\n"
        yield _part("after", parts.after, self._rail.below(shown))
        yield "</section>\n"

    def _head(self, shown: Shown) -> Iterator[str]:
        chunk = shown.chunk
        trail = " › ".join(chunk.heading_trail)
        yield f"<header><h3>{chunk.ordinal}</h3>{self._size(chunk.tokens)}"
        if trail:
            yield f'<span class="trail" dir="auto">{escaped(trail)}</span>'
        for word, meaning in badges(shown):
            yield f'<span class="badge" title="{escaped(meaning)}">{escaped(word)}</span>'
        lines = line_range(chunk.start_line, chunk.end_line)
        place = f"[{chunk.start_char}, {chunk.end_char})"
        yield f'<span class="place" title="{_PLACE}">{lines} · {place}</span></header>\n'

    def _size(self, tokens: int) -> str:
        limits = self._account.limits
        if limits is None or limits.settings.compares:
            return f'<span class="size">{counted(tokens, "token")}</span>'
        most = limits.settings.max_tokens
        share = round(72 * min(1.0, tokens / most), 1)
        kind = "over" if tokens > most else "fill"
        return (
            f'<span class="size"><svg width="72" height="10" aria-hidden="true">'
            '<rect class="room" width="72" height="10"/>'
            f'<rect class="{kind}" width="{share}" height="10"/></svg>{tokens} / {most} tokens</span>'
        )

    def _row(self, shown: Shown, row: Row) -> str:
        words = "".join(_block(shown.chunk.content, block) for block in row.blocks)
        rail = self._rail.beside(row.gap, shown) if shown.weighed else ""
        return f'<div class="row"><div class="words">{words}</div><div class="rail">{rail}</div></div>\n'

    def _gap(self, gap: Gap) -> str:
        legal = "legal" if gap.trace.legal else "illegal"
        told = f"Gap {gap.trace.gap_index} at {gap.position}, {legal}: {scores(gap)}; {gap_words(gap)}."
        if gap.tokens is not None:
            told += f" The chunk would end with {counted(gap.tokens, 'token')}."
        mark = "┄" if gap.trace.legal else "✕"
        return (
            f'<div class="gap {legal}" id="{gap_anchor(gap)}" tabindex="0" data-position="{gap.position}" '
            f'data-reason="{escaped(gap.trace.reason)}">'
            f'<span class="what">{mark} gap {gap.trace.gap_index}{_brief(gap)}</span>'
            f'<div class="rail">{self._rail.at(gap)}</div><span class="tell" role="note">{escaped(told)}</span></div>\n'
        )

    def _cut(self, cut: Cut) -> Iterator[str]:
        valley = None if cut.gap is None else self._valleys.get(key(cut.gap))
        first, *more = why(cut, self._account, valley)
        own = " own" if cut.coarse is not None else ""
        anchor = "" if cut.gap is None else f' data-gap="{cut.gap.trace.gap_index}"'
        yield (
            f'<div class="cut{own}" id="{cut_anchor(cut)}" data-position="{cut.position}" '
            f'data-reason="{escaped(cut.reason)}"{anchor}>'
            f'<div class="why"><p class="first" dir="auto">✂ {cut.number} · {escaped(first)}</p>'
        )
        for line in more:
            yield f'<p dir="auto">{escaped(line)}</p>'
        if len(cut.weighed) > 1:
            yield self._weighed(cut)
        rail = "" if cut.gap is None else self._rail.at(cut.gap)
        yield f'</div><div class="rail">{rail}</div></div>\n'

    def _weighed(self, cut: Cut) -> str:
        items: list[str] = []
        for gap in cut.weighed:
            chosen = cut.gap is not None and key(gap) == key(cut.gap)
            target = cut_anchor(cut) if chosen else gap_anchor(gap)
            depth = "" if gap.trace.depth is None else f"depth {gap.trace.depth:.3f}"
            size = "" if gap.tokens is None else f"at {counted(gap.tokens, 'token')}"
            told = ", ".join(part for part in (depth, size) if part)
            kind = ' class="chosen"' if chosen else ""
            items.append(f'<li{kind}><a href="#{target}">gap {gap.trace.gap_index}: {told}</a></li>')
        return f'<ul class="weighed" aria-label="weighed">{"".join(items)}</ul>'

    def _table(self) -> Iterator[str]:
        yield (
            '<h2 id="all">All chunks</h2>\n<div class="scroll" tabindex="0" role="region" aria-labelledby="all">'
            '<table><thead><tr><th class="number">chunk</th><th class="number">tokens</th>'
            '<th class="number">of the indexed text</th><th>place</th><th>trail</th><th>ends</th>'
            "<th>unusual</th></tr></thead><tbody>"
        )
        for shown in self._account.shown:
            chunk = shown.chunk
            ends = (
                cut_words(shown.cut.reason) if shown.cut else "at the end" if chunk.role == "source" else ""
            )
            if shown.cut is not None and shown.cut.coarse is not None:
                ends = "where a heading begins another one"
            odd = "; ".join(f"{word}: {meaning}" for word, meaning in badges(shown))
            yield (
                f'<tr><td class="number"><a href="#{chunk_anchor(chunk)}">{chunk.ordinal}</a></td>'
                f'<td class="number">{chunk.tokens}</td><td class="number">{chunk.encoder_tokens}</td>'
                f"<td>[{chunk.start_char}, {chunk.end_char})</td>"
                f'<td dir="auto">{escaped(" › ".join(chunk.heading_trail))}</td>'
                f"<td>{escaped(ends)}</td><td>{escaped(odd)}</td></tr>\n"
            )
        yield "</tbody></table></div>\n"


def _brief(gap: Gap) -> str:
    if gap.trace.chosen:  # inside a chunk: it begins before the one before it ends
        return " · the chunk before ends here"
    return "" if gap.trace.legal else " · may not be cut"


def _part(name: str, words: str, rail: str) -> str:
    """What an indexed text holds beside the chunk's own words."""
    if not words:
        return ""
    return (
        f'<div class="row"><div class="part {name.split()[0]}" data-part="{name}"><b>{name}</b>'
        f'<span class="words" dir="auto">{marked(words)}</span></div><div class="rail">{rail}</div></div>\n'
    )


def _block(content: str, block: Block) -> str:
    """The words of a block; line breaks at its ends are kept in the page, but not shown."""
    words = content[block.start : block.end]
    body = words.strip("\n")
    lead = len(words) - len(words.lstrip("\n")) if body else 0
    hidden = [
        f'<span class="blank">{part}</span>' if part else ""
        for part in (words[:lead], words[lead + len(body) :])
    ]
    kind = escaped(block.kind)
    return f'<div class="block {kind}" dir="auto">{hidden[0]}{marked(body)}{hidden[1]}</div>'
