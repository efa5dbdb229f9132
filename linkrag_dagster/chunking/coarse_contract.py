"""The contract after stage one (CB-16): it accepts what the elements say, and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from linkrag_dagster.chunking.coarse import SEPARATOR, protected_ranges
from linkrag_dagster.chunking.derived import DERIVED_KINDS, rendering
from linkrag_dagster.chunking.records import CoarseChunk, Span
from linkrag_dagster.chunking.settings import ChunkSettings
from linkrag_dagster.chunking.violations import Violation
from linkrag_dagster.markdown.elements import Element
from linkrag_dagster.tokens import Tokenizer


def check_coarse(
    coarse: Sequence[CoarseChunk],
    elements: Sequence[Element],
    text: str,
    settings: ChunkSettings,
    tokenizer: Tokenizer,
) -> list[Violation]:
    """What breaks a rule among the coarse chunks of one document; nothing is dropped or mended.

    Args:
        coarse: all coarse chunks of the document, in order.
        elements: all its elements, in order.
        text: its text.
        settings: whether front matter is searched.
        tokenizer: the budget's; counts are recounted with it.
    """
    by_index = {e.element_index: e for e in elements}
    found = [*_order(coarse), *_coverage(coarse, elements), *_derived(coarse, elements, text)]
    for chunk in coarse:
        unknown = [i for i in chunk.element_indexes if i not in by_index]
        if unknown or not chunk.element_indexes:
            found.append(
                Violation(
                    "CB-16", f"{chunk.coarse_id} names elements {unknown} that do not exist", _ids(chunk)
                )
            )
            continue
        found += _content(chunk, by_index, text)
        found += _place(chunk, by_index)
        hidden = chunk.kinds == ("front_matter",) and not settings.index_front_matter
        if chunk.searchable == hidden:
            found.append(
                Violation("CB-02", f"{chunk.coarse_id}: searchable is {chunk.searchable}", _ids(chunk))
            )
        if "front_matter" in chunk.kinds and len(chunk.element_indexes) > 1:
            found.append(
                Violation("CB-02", f"{chunk.coarse_id} joins front matter to other content", _ids(chunk))
            )
    for chunk, tokens in zip(coarse, tokenizer.count_many([c.content for c in coarse]), strict=True):
        if chunk.tokens != tokens:
            message = f"{chunk.coarse_id} says {chunk.tokens} tokens; {tokenizer.name} counts {tokens}"
            found.append(Violation("TK-02", message, _ids(chunk)))
    return found


def _ids(*chunks: CoarseChunk) -> tuple[str, ...]:
    return tuple(c.coarse_id for c in chunks)


def _order(coarse: Sequence[CoarseChunk]) -> Iterator[Violation]:
    for coarse_id, number in Counter(c.coarse_id for c in coarse).items():
        if number > 1:
            yield Violation("CB-16", f"{number} chunks have the id {coarse_id}", (coarse_id,))
    for position, chunk in enumerate(coarse):
        if chunk.coarse_index != position:
            yield Violation(
                "CB-16",
                f"{chunk.coarse_id} stands at {position} with index {chunk.coarse_index}",
                _ids(chunk),
            )
        if chunk.role not in ("source", "derived"):
            yield Violation("CB-16", f"{chunk.coarse_id} has the role {chunk.role!r}", _ids(chunk))
    for left, right in pairwise([c for c in coarse if c.role == "source"]):
        if right.start_char < left.end_char or right.start_line <= left.end_line:
            yield Violation(
                "CB-16", f"{right.coarse_id} begins before {left.coarse_id} ends", _ids(left, right)
            )


def _coverage(coarse: Sequence[CoarseChunk], elements: Sequence[Element]) -> Iterator[Violation]:
    """CB-01: every element but the rules in exactly one source chunk, in order."""
    held = [i for c in coarse if c.role == "source" for i in c.element_indexes]
    visible = [e.element_index for e in elements if e.kind != "rule"]
    if held == visible:
        return
    times = Counter(held)
    for index in visible:
        if times[index] != 1:
            owners = tuple(c.coarse_id for c in coarse if c.role == "source" and index in c.element_indexes)
            yield Violation(
                "CB-16", f"element {index} is in {times[index]} source chunks, not in one", owners
            )
    for index in times.keys() - set(visible):
        yield Violation("CB-16", f"element {index} is in a source chunk but is no visible element", ())
    if held != sorted(held):
        yield Violation("CB-16", "source chunks hold their elements in another order than the document", ())


def _derived(coarse: Sequence[CoarseChunk], elements: Sequence[Element], text: str) -> Iterator[Violation]:
    """CB-13: one derived chunk an image or table, behind the source chunk that holds it."""
    sources: Mapping[str, CoarseChunk] = {c.coarse_id: c for c in coarse if c.role == "source"}
    derived: dict[int, list[CoarseChunk]] = {}
    last: CoarseChunk | None = None
    held: frozenset[int] = frozenset()
    for chunk in coarse:
        if chunk.role == "source":
            last, held = chunk, frozenset(chunk.element_indexes)
            continue
        for index in chunk.element_indexes:
            derived.setdefault(index, []).append(chunk)
        source = sources.get(chunk.source_coarse_id or "")
        if source is None:
            yield Violation("CB-16", f"{chunk.coarse_id} names no existing source chunk", _ids(chunk))
        elif source is not last or not held.issuperset(chunk.element_indexes):
            yield Violation(
                "CB-16",
                f"{chunk.coarse_id} does not stand behind the chunk that holds its element",
                _ids(chunk),
            )
    for element in elements:
        own = derived.pop(element.element_index, [])
        wanted = 1 if element.kind in DERIVED_KINDS else 0
        if len(own) != wanted:
            message = f"element {element.element_index} ({element.kind}) has {len(own)} derived chunks, not {wanted}"
            yield Violation("CB-16", message, _ids(*own))
        for chunk in own:
            if (
                chunk.element_id != element.element_id
                or chunk.content != text[element.start_char : element.end_char]
            ):
                yield Violation(
                    "CB-13", f"{chunk.coarse_id} is not the source of {element.element_id}", _ids(chunk)
                )


def _content(chunk: CoarseChunk, elements: Mapping[int, Element], text: str) -> Iterator[Violation]:
    """CB-15: the content is its elements and what stands between them, from its first character to its last."""
    if tuple(v.element_index for v in chunk.views) != chunk.element_indexes:
        yield Violation("CB-15", f"{chunk.coarse_id}: its views are not those of its elements", _ids(chunk))
        return
    at = 0
    spans: list[Span] = []
    previous: Element | None = None
    after_rendered = False
    ranges: list[object] = []
    for view in chunk.views:
        element = elements[view.element_index]
        source = text[element.start_char : element.end_char]
        joined = False
        if previous is not None:
            gap = text[previous.end_char : element.start_char]
            joined = not (view.rendered or after_rendered or gap.strip())
            between = gap if joined else SEPARATOR
            if chunk.content[at : view.start] != between:
                yield Violation(
                    "CB-15", f"{chunk.coarse_id}: wrong text before element {view.element_index}", _ids(chunk)
                )
        elif view.start != 0:
            yield Violation("CB-15", f"{chunk.coarse_id} begins before its first element", _ids(chunk))
        if chunk.content[view.start : view.end] != (rendering(element, source) if view.rendered else source):
            yield Violation(
                "CB-15",
                f"{chunk.coarse_id}: element {view.element_index} is not where its view says",
                _ids(chunk),
            )
        if view.rendered and (chunk.role == "derived" or element.kind not in DERIVED_KINDS):
            yield Violation(
                "CB-12", f"{chunk.coarse_id}: element {view.element_index} may not be rendered", _ids(chunk)
            )
        if joined:
            spans[-1] = Span(spans[-1].start_char, element.end_char)
        elif not view.rendered:
            spans.append(Span(element.start_char, element.end_char))
        ranges += protected_ranges(element, view)
        at, previous, after_rendered = view.end, element, view.rendered
    if at != len(chunk.content):
        yield Violation("CB-15", f"{chunk.coarse_id} goes on after its last element", _ids(chunk))
    if tuple(ranges) != chunk.protected:
        yield Violation(
            "CB-15", f"{chunk.coarse_id}: protected ranges are not those of its elements", _ids(chunk)
        )
    if tuple(spans) != chunk.spans:
        yield Violation("CB-17", f"{chunk.coarse_id}: spans are not its verbatim parts", _ids(chunk))
    if chunk.verbatim != (chunk.content == text[chunk.start_char : chunk.end_char]):
        yield Violation("CB-17", f"{chunk.coarse_id}: verbatim is {chunk.verbatim}", _ids(chunk))


def _place(chunk: CoarseChunk, elements: Mapping[int, Element]) -> Iterator[Violation]:
    first, last = elements[chunk.element_indexes[0]], elements[chunk.element_indexes[-1]]
    place = (chunk.start_char, chunk.end_char, chunk.start_line, chunk.end_line)
    if place != (first.start_char, last.end_char, first.start_line, last.end_line):
        yield Violation("CB-16", f"{chunk.coarse_id} is not where its elements are", _ids(chunk))
