"""Why, in words: of every cut, every gap, and every chunk that is unusual."""

from __future__ import annotations

from collections.abc import Mapping

from linkrag_dagster.chunking import ENCODER
from linkrag_dagster.explain.account import Account, Cut, Gap, Shown
from linkrag_dagster.explain.counted import counted
from linkrag_dagster.explain.valleys import Valley
from linkrag_dagster.explain.visible import plain

_CUTS = {
    "depth": "at the deepest valley of cohesion",
    "structural": "between two blocks or lines",
    "sentence": "between two sentences",
    "token_safe": "inside a sentence that alone is too long, at a token-safe place",
    "token_safe_residue": "inside a character that alone exceeds the maximum",
    "protected_split": "inside a block that alone is too long, between its lines",
    "end": "at the end",
    "window": "where the window of fixed size is full",
    "distance": "where the next sentence lies unusually far from this one",
    "topic": "where the vocabulary changes",
    "paragraph": "between two paragraphs",
    "section": "where a section ends",
    "block": "between two blocks",
    "definition": "where a definition ends",
    "blank_line": "at a blank line",
    "line": "at a line break",
    "clause": "between two clauses",
    "word": "between two words",
    "grapheme": "inside a word that alone is too long",
}
_GAPS = {
    "kept": "another place was better, or none was needed",
    "headings_only": "only headings would stand before the cut",
    "after_heading": "would part a heading from what it announces",
    "lead_in": "would part a block from the words that introduce it",
    "moved": "the vocabulary changes here; the cut falls at the nearest gap between blocks",
    "near": "the vocabulary changes here, but a deeper change is near",
    "shallow": "the vocabulary goes on",
}
_OVERSIZED = {
    "protected_single": "one protected block, kept whole",
    "protected_with_context": "a protected block with the words that introduce it",
    "heading_attached": "the heading above a block that fills the maximum",
    "separators": "only white space is beyond the maximum",
    "token_safe_residue": "a single character exceeds the maximum",
    "not_refined": "this strategy promises no length",
    "not_bounded": "this strategy follows sizes of its own",
}


def cut_words(reason: str) -> str:
    """A record's word for a cut, for people; an unknown one as it is."""
    return _worded(reason, _CUTS)


def gap_words(gap: Gap) -> str:
    """What became of a gap."""
    if gap.trace.chosen:
        return f"cut {cut_words(gap.trace.reason)}"
    return _worded(gap.trace.reason, _GAPS)


def _worded(reason: str, known: Mapping[str, str]) -> str:
    """A record's word as people say it, with the figures that stand behind it."""
    word, _, figures = reason.partition(": ")
    return known.get(word, word.replace("_", " ")) + (f" ({figures})" if figures else "")


def oversized_words(reason: str | None) -> str:
    """Why a chunk is above the maximum."""
    return "" if reason is None else _OVERSIZED.get(reason, reason.replace("_", " "))


def scores(gap: Gap) -> str:
    """Cohesion and depth of a gap, as far as there are any."""
    cohesion, depth = gap.trace.cohesion, gap.trace.depth
    if cohesion is None:
        return "not scored"
    return f"cohesion {cohesion:.3f}" + ("" if depth is None else f", depth {depth:.3f}")


def why(cut: Cut, account: Account, valley: Valley | None = None) -> list[str]:
    """Why a cut falls where it falls: sentences, the reason first, then the figures behind it.

    Args:
        cut: one of the account's.
        account: the whole.
        valley: the valley at its gap, where there is one.
    """
    if cut.coarse is not None:
        return _structure(cut, account)
    if cut.window:
        return [
            f"Cut {cut_words(cut.reason)}: the indexed text, with its header, would exceed the encoder's window."
        ]
    if cut.gap is None:
        return [f"Cut {cut_words(cut.reason)}."]
    if cut.split:
        return [
            f"Cut {cut_words(cut.reason)}: a block above the hard maximum is split by itself, at any depth."
        ]
    return [*_place(cut, account, valley), *_trigger(cut, account)]


def _structure(cut: Cut, account: Account) -> list[str]:
    alone = cut.coarse is not None and cut.coarse.kinds == ("front_matter",)
    if alone or cut.opens is None or cut.opens.kind != "heading":
        return ["Cut by structure: front matter stands apart from the text."]
    said = [
        f"Cut by structure: the heading “{plain(cut.opens.title or '')}” (level {cut.opens.level}) follows."
    ]
    size = None if cut.coarse is None else cut.coarse.buffer_tokens
    if account.limits is not None and size is not None:
        least = account.limits.settings.min_candidate_tokens
        if size >= least:
            said.append(
                f"Before it {counted(size, 'token')} gathered; {least} are enough for a chunk of their own."
            )
        else:
            said.append(
                f"Only {counted(size, 'token')} gathered ({least} are usually needed), but a section of the same or a "
                "higher level begins."
            )
    return said


def _place(cut: Cut, account: Account, valley: Valley | None) -> list[str]:
    gap = cut.gap
    assert gap is not None
    depth = gap.trace.depth
    if cut.reason != "depth" or depth is None:
        said = f"Cut {cut_words(cut.reason)}"
        if account.limits is not None and account.limits.settings.compares:
            return [f"{said}."]
        return (
            [f"{said}: the last place that keeps the chunk within the maximum."]
            if _is_last(cut)
            else [f"{said}."]
        )
    others = [g for g in cut.weighed if g is not gap and g.trace.depth is not None and not g.trace.chosen]
    deeper = [g for g in others if round(g.trace.depth or 0.0, 9) > round(depth, 9)]
    number = len(others) + 1
    if not cut.weighed:
        said = [f"Cut at a valley of cohesion, depth {depth:.3f}."]
    elif number == 1:
        said = [f"Cut at the only gap with a score that may be cut within the maximum, depth {depth:.3f}."]
    elif not deeper:
        said = [
            f"Cut at the deepest of the {number} gaps that may be cut within the maximum: depth {depth:.3f}; "
            f"the next deepest has {max(g.trace.depth or 0.0 for g in others):.3f}."
        ]
    else:
        said = [f"Cut at a valley of cohesion, depth {depth:.3f}.", *_deeper(deeper, account)]
    said += [
        f"Gap {g.trace.gap_index} is deeper ({g.trace.depth or 0.0:.3f}), but may not be cut: that "
        f"{_GAPS.get(g.trace.reason, g.trace.reason)}."
        for g in cut.barred
    ]
    if valley is not None:
        said.append(_slope(valley))
    return said


def _slope(valley: Valley) -> str:
    left, bottom, right = f"{valley.left:.3f}", f"{valley.bottom:.3f}", f"{valley.right:.3f}"
    if left == bottom == right:
        return f"Cohesion is {bottom} there, and no higher right before or after it."
    if left == bottom:
        return f"Cohesion is {bottom} there and rises to {right} after it."
    if right == bottom:
        return f"Cohesion falls from {left} to {bottom} before it."
    return f"Cohesion falls from {left} to {bottom} and rises again to {right}."


def _deeper(deeper: list[Gap], account: Account) -> list[str]:
    least = account.limits.settings.min_candidate_tokens if account.limits else 0
    return [
        f"Gap {gap.trace.gap_index} is deeper ({gap.trace.depth or 0.0:.3f}), but lies between pieces that were joined "
        f"because one of them had fewer than {least} tokens."
        for gap in deeper
    ]


def _is_last(cut: Cut) -> bool:
    """Whether the gap is the last of those weighed, and a cut was due."""
    if cut.overflow is None or cut.gap is None or not cut.weighed:
        return False
    return cut.weighed[-1].trace == cut.gap.trace


def _trigger(cut: Cut, account: Account) -> list[str]:
    if cut.overflow is None or account.limits is None:
        return []
    most = account.limits.settings.max_tokens
    following = "the next passage" if len(cut.weighed) < 2 else "the passage after the last of these gaps"
    return [
        f"A cut was due: with {following} the chunk would have {counted(cut.overflow, 'token')}; the maximum is {most}."
    ]


def badges(shown: Shown) -> list[tuple[str, str]]:
    """What is unusual about a chunk: a short word, and what it means."""
    chunk = shown.chunk
    found: list[tuple[str, str]] = []
    if chunk.role == "derived":
        found.append(
            (f"derived {chunk.element_id or ''}".strip(), "found by itself beside the chunk that holds it")
        )
    if chunk.oversized:
        found.append(("oversize", oversized_words(chunk.oversized_reason)))
    if chunk.part is not None:
        found.append((f"part {chunk.part}/{chunk.parts}", "a block, or a text, that was split"))
    if chunk.truncated:
        lost = f"{counted(chunk.original_token_count, 'token')} before" if chunk.original_token_count else ""
        found.append(("truncated", f"{(chunk.truncated_reason or '').replace('_', ' ')}; {lost}".strip("; ")))
    if chunk.overflow is not None:
        whole = {
            "vectors": "exceeds the encoder's window: a vector for each, the nearest counts",
            "pool": "exceeds the encoder's window: the mean of their vectors",
        }
        words = "its indexed text would exceed the encoder's window"
        found.append((f"window: {chunk.overflow}", whole.get(chunk.overflow, words)))
    if not chunk.verbatim:
        found.append(("rendered", "holds references in place of images or larger tables"))
    if not chunk.searchable:
        found.append(("not searched", "stored, but neither embedded nor indexed"))
    return found


def facts(account: Account) -> list[tuple[str, str]]:
    """The document's figures and what it was cut under, for the top of a page."""
    chunks = [s.chunk for s in account.shown]
    sources = [c for c in chunks if c.role == "source"]
    strategies = list(dict.fromkeys(c.strategy for c in chunks))
    found = [
        ("strategy", ", ".join(strategies) or "none"),
        ("chunks", f"{len(sources)} source, {len(chunks) - len(sources)} derived"),
        ("tokens", f"{sum(c.tokens for c in sources)} in source chunks"),
        ("gaps", _gaps(account)),
    ]
    if account.limits is not None:
        settings = account.limits.settings
        if settings.compares:
            found.append(("sizes", _sizes(account)))
        else:
            limits = f"min {settings.min_candidate_tokens}, max {settings.max_tokens}"
            found.append(("limits", f"{limits}, hard max {settings.hard_max_tokens}"))
        found.append(("tokenizer", account.limits.tokenizer_name))
        if settings.uses_scorer:
            scorer = account.limits.settings.scorer
            found.append(("scorer", "all-MiniLM-L6-v2" if scorer == ENCODER else scorer))
            if not settings.compares:
                found.append(("window", f"{settings.cohesion_window_tokens} tokens a side"))
    return found


def _gaps(account: Account) -> str:
    """How many places between passages were looked at, and at how many a cut may fall."""
    legal = sum(gap.trace.legal for gap in account.gaps)
    if not account.gaps:
        return "none"
    return f"{len(account.gaps)}, {'all' if legal == len(account.gaps) else f'{legal} of them'} legal"


def _sizes(account: Account) -> str:
    assert account.limits is not None
    own = account.limits.settings.comparison
    unit = "tokens" if own.in_tokens else "characters"
    return f"{own.usual_size} {unit}" + (f", overlap {own.overlap}" if own.overlap else "")
