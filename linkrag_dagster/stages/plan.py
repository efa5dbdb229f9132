"""What a build would do, for the whole road, without doing it (VE-05).

Decisions for `raw_documents` are exact: the source is listed and hashed. Further down a document whose input is to be
rebuilt has no rows yet, so its numbers are upper bounds: they are read off its text (lines, headings, images, tables,
tokens), or off the rows it has. So is what a strategy that compares texts gives to its model: as many texts as there
may be sentences and blocks, whatever the memo holds of them already.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from linkrag_dagster.chunking import ENCODER, SEMANTIC, WINDOWED
from linkrag_dagster.embedding.queries import query_hash
from linkrag_dagster.extraction.encoding import decode
from linkrag_dagster.extraction.failures import ExtractionError
from linkrag_dagster.lake.manifest import Generation
from linkrag_dagster.sources.errors import SourceError
from linkrag_dagster.sources.folder import read
from linkrag_dagster.stages.documents import (
    Source,
    healed_source_failures,
    new_source_failures,
    plan_source,
    refuse_empty,
)
from linkrag_dagster.stages.embedded_texts import embedded_texts
from linkrag_dagster.stages.ledger import Ledger, plan_documents, read_ledger
from linkrag_dagster.stages.pdf_size import most_text
from linkrag_dagster.stages.stage import FIRST, Stage
from linkrag_dagster.versions.planner import StagePlan

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road

TOKENS_A_SECOND = 2_000
"""Encoder speed assumed for the estimate of time: fp32 on two cores."""
TOKENISED_BYTES = 4_000_000
"""Texts beyond this many bytes are bounded by their characters instead of being tokenised."""

TEXT = ("text/markdown", "text/plain")
"""Media types whose bytes are their text."""
PDF = "application/pdf"
LEAST_HTML_ELEMENT = 4
"""Bytes of the shortest element of HTML, its markup included: `<p>a`."""
LEAST_PDF_ELEMENT = 8
"""Bytes of the shortest element of a page: it is moved to and drawn."""

_HEADING = re.compile(r"^ {0,3}#{1,6}(?:\s|$)|^ {0,3}(?:=+|-+)\s*$", re.MULTILINE)
_IMAGE = re.compile(r"!\[")
_TABLE = re.compile(r"^[ >\t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)*$", re.MULTILINE)
_MARK = re.compile(r"[^\w\s]")
"""What may end a sentence, in any script."""
_LINE = re.compile(r"^.*\S.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TablePlan:
    """What is to be done at one stage, in rows of its counted table.

    Attributes:
        new, stale, retry, removed, unchanged: rows.
        failed: documents that stay failed.
        reasons: rows by reason, most first.
        upper_bound: whether the numbers are bounds: an input is itself to be rebuilt first.
    """

    new: int = 0
    stale: int = 0
    retry: int = 0
    removed: int = 0
    unchanged: int = 0
    failed: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict[str, int])
    upper_bound: bool = False


@dataclass(frozen=True, slots=True)
class RoadPlan:
    """What a build of one corpus would do.

    Attributes:
        stages: by table, in the road's order.
        idle: whether there is nothing to do.
        texts_to_embed, tokens_to_embed: at most this much goes to the models: chunks, questions, and the texts that a
            strategy compares.
        left_out: source entries that are no documents, by reason.
        failed: documents that have failed, and stay so.
    """

    stages: Mapping[str, TablePlan]
    idle: bool
    texts_to_embed: int = 0
    tokens_to_embed: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])
    failed: int = 0

    @property
    def seconds(self) -> float:
        """Estimate of the model's time."""
        return round(self.tokens_to_embed / TOKENS_A_SECOND, 1)


@dataclass(frozen=True, slots=True)
class _Bound:
    """Upper bounds of what a text can give."""

    elements: int
    coarse: int
    chunks: int
    tokens: int
    compared: int = 0
    compared_tokens: int = 0

    def rows(self, stage: str) -> int:
        if stage == "extracted_text":
            return 1
        return {"elements": self.elements, "coarse_chunks": self.coarse}.get(stage, self.chunks)


def plan_road(
    road: Road, stages: tuple[Stage, ...], *, through: str | None = None, tokenise: bool = True
) -> RoadPlan:
    """Plan every stage of a corpus, up to `through`.

    Args:
        road: the corpus.
        stages: its stages.
        through: the last stage to plan.
        tokenise: count the tokens of new texts for their bounds; else bytes stand for them, which is faster.

    Raises:
        SourceUnreachable, EmptySource: nothing may be concluded from the source.
        LakeError: the lake can't be read.
    """
    generation = road.lake.working()
    ledger = read_ledger(road, generation)
    source = road.source(generation, fresh=True)
    refuse_empty(road, source)
    first = plan_source(road, stages[0], source, ledger)
    plans: dict[str, TablePlan] = {FIRST: _exact(first)}
    idle = (
        first.idle and not new_source_failures(source, ledger) and not healed_source_failures(source, ledger)
    )
    pending: dict[str, Set[str]] = {FIRST: set(first.todo)}
    bounds = _Bounds(road, source, TOKENISED_BYTES if tokenise else 0)
    texts = tokens = 0
    for stage in stages[1:]:
        plan = plan_documents(road, stage, source.documents, ledger, pending, unsettled=not idle)
        # What has rows to come: documents to be computed whose inputs exist or will.
        pending[stage.name] = set(plan.todo)
        plans[stage.name] = (
            _whole(road, stage, plan, ledger)
            if stage.whole_corpus
            else _bounded(stage, plan, ledger, pending, bounds)
        )
        idle = idle and plan.idle
        if stage.name == "final_chunks" and road.settings.uses_scorer:
            known = [bounds.of(key) for key in plan.todo]
            texts += sum(bound.compared for bound in known)
            tokens += sum(bound.compared_tokens for bound in known)
        if stage.name == "embeddings":
            made = _to_embed(road, plan, ledger, generation, pending, bounds)
            texts, tokens = texts + made[0], tokens + made[1]
        if stage.name == "evaluation" and plan.todo:
            asked = _questions_to_embed(road)
            texts, tokens = texts + asked[0], tokens + asked[1]
        if stage.name == through:
            break
    return RoadPlan(
        stages=plans,
        idle=idle,
        texts_to_embed=texts,
        tokens_to_embed=tokens,
        left_out=source.left_out,
        failed=len({*ledger.failures} & source.documents.keys()),
    )


def _exact(plan: StagePlan) -> TablePlan:
    reasons: dict[str, int] = {}
    for key in (*plan.new, *plan.stale, *plan.retry, *plan.removed):
        reasons[plan.reasons[key]] = reasons.get(plan.reasons[key], 0) + 1
    return TablePlan(
        len(plan.new),
        len(plan.stale),
        len(plan.retry),
        len(plan.removed),
        len(plan.unchanged),
        0,
        _ranked(reasons),
    )


def _whole(road: Road, stage: Stage, plan: StagePlan, ledger: Ledger) -> TablePlan:
    """The plan of a stage over the whole corpus: all of its rows, or none."""
    units = ledger.units.get(stage.name, {})
    old = sum(unit.rows for unit in units.values())
    rows = stage.bound(road) if plan.todo else 0
    return TablePlan(
        new=max(0, rows - old),
        stale=old if plan.todo else 0,
        removed=old if plan.removed else 0,
        unchanged=old if plan.unchanged else 0,
        reasons={reason: max(rows, old) for reason in plan.reasons.values()},
        upper_bound=bool(plan.todo),
    )


def _questions_to_embed(road: Road) -> tuple[int, int]:
    """Texts and tokens of the declared questions that the memo lacks."""
    from linkrag_dagster.embedding.memo import Memo

    asked = {query_hash(road.model, q.question): q.question for q in road.questions}
    missing = asked.keys() - Memo(road.memo_folder).known(asked)
    tokenizer = road.encoder_tokenizer
    counts = tokenizer.count_many([asked[mark] for mark in sorted(missing)])
    return len(missing), sum(counts) + tokenizer.special_tokens * len(missing)


def _bounded(
    stage: Stage, plan: StagePlan, ledger: Ledger, pending: Mapping[str, Set[str]], bounds: _Bounds
) -> TablePlan:
    units = ledger.units.get(stage.name, {})
    new = stale = retry = 0
    reasons: dict[str, int] = {}
    upper = False

    def note(key: str, rows: int) -> None:
        reasons[plan.reasons[key]] = reasons.get(plan.reasons[key], 0) + rows

    for key in plan.new:
        rows = bounds.of(key).rows(stage.name)
        new += rows
        upper = True
        note(key, rows)
    for key in (*plan.stale, *plan.retry):
        old = units[key].rows if key in units else 0
        waits = any(key in pending.get(name, frozenset()) for name in stage.inputs)
        # What is tried again after a failure may have had no rows so far.
        bounded = waits or bounds.may_grow(stage) or key not in units
        rows = max(old, bounds.of(key).rows(stage.name)) if bounded else old
        upper = upper or bounded
        if key in plan.retry:
            retry += rows
        else:
            stale += old
            new += rows - old
        note(key, rows)
    removed = sum(units[key].rows for key in plan.removed)
    for key in plan.removed:
        note(key, units[key].rows)
    return TablePlan(
        new=new,
        stale=stale,
        retry=retry,
        removed=removed,
        unchanged=sum(units[key].rows for key in (*plan.unchanged, *plan.failed) if key in units),
        failed=len(plan.failed),
        reasons=_ranked(reasons),
        upper_bound=upper,
    )


def _ranked(reasons: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(((r, n) for r, n in reasons.items() if n), key=lambda item: (-item[1], item[0])))


def _to_embed(
    road: Road,
    plan: StagePlan,
    ledger: Ledger,
    generation: Generation,
    pending: Mapping[str, Set[str]],
    bounds: _Bounds,
) -> tuple[int, int]:
    """At most this many texts and tokens go to the model: texts of known chunks that its memo lacks, and bounds."""
    from linkrag_dagster.embedding.memo import Memo

    waiting = [key for key in plan.todo if key in pending.get("chunks", frozenset())]
    known = [key for key in plan.todo if key not in pending.get("chunks", frozenset())]
    texts = tokens = 0
    if known:
        rows = embedded_texts(road.lake, generation, doc_keys=known).unique("text_hash")
        missing = ~rows["text_hash"].is_in(list(Memo(road.memo_folder).known(rows["text_hash"].to_list())))
        texts += int(missing.sum())
        tokens += int(rows.filter(missing)["tokens"].sum())
    for key in waiting:
        bound = bounds.of(key)
        units = ledger.units.get("embeddings", {})
        count = max(bound.chunks, units[key].rows if key in units else 0)
        if road.settings.overflow in WINDOWED:
            # Chunks above the encoder's window are read in windows, each at least half full.
            count += math.ceil(2 * bound.tokens / max(1, road.model.window - road.model.special_tokens))
        texts += count
        tokens += max(bound.tokens, count)
    return texts, tokens


class _Bounds:
    """Upper bounds by document, each read off its text once."""

    def __init__(self, road: Road, source: Source, tokenised: int) -> None:
        self._road = road
        self._source = source
        self._limit = tokenised
        self._found: dict[str, _Bound] = {}
        self._tokenised = 0

    def may_grow(self, stage: Stage) -> bool:
        """Whether other settings of a stage can give a document more rows than it has."""
        return stage.name in ("elements", "coarse_chunks", "final_chunks", "chunks")

    def of(self, key: str) -> _Bound:
        """Bounds of a document."""
        if key not in self._found:
            self._found[key] = self._read(key)
        return self._found[key]

    def _read(self, key: str) -> _Bound:
        file = self._source.files.get(key)
        try:
            if file is None:
                return _Bound(0, 0, 0, 0)
            data = read(file, self._road.declaration.extraction.max_bytes)
            kind = self._source.documents[key]["media_type"]
            if kind == PDF:
                return self._of_size(most_text(data), LEAST_PDF_ELEMENT)
            if not kind.startswith(TEXT):
                return self._of_size(len(data), LEAST_HTML_ELEMENT)
            text = decode(data).text
        except (SourceError, ExtractionError):
            # It will fail by name when it is extracted.
            return _Bound(0, 0, 0, 0)
        lines = len(_LINE.findall(text))
        headings, images, tables = (len(p.findall(text)) for p in (_HEADING, _IMAGE, _TABLE))
        tokens = self._tokens(text)
        limit = max(self._road.settings.max_tokens, 1)
        bodies = max(1, lines - headings)
        coarse = min(headings + 1, bodies)
        split = 0 if tokens <= limit else math.ceil(2 * tokens / limit)
        derived = images + tables + (split if tables else 0)
        # A text's own words are embedded once, its tables and images once more, each with its header.
        header = 32 * (coarse + split + derived)
        return _Bound(
            lines + images,
            coarse + images + tables,
            coarse + split + derived,
            2 * tokens + header,
            *self._compared(lines + len(_MARK.findall(text)), tokens),
        )

    def _compared(self, texts: int, tokens: int) -> tuple[int, int]:
        """At most so many texts are compared to cut a document, of so many tokens.

        Args:
            texts: sentences and lines that there may be.
            tokens: of the document.
        """
        settings = self._road.settings
        whole = settings.strategy == SEMANTIC and tokens <= settings.max_tokens
        if not settings.uses_scorer or whole:
            # What is within the maximum is not cut, and costs nothing (SD-01).
            return 0, 0
        # Another tokenizer may find more tokens in the same words.
        own = settings.tokenizer == settings.scorer == ENCODER
        read = tokens if own else 2 * tokens
        model = self._road.scorer_model
        # What has neither lines nor sentences is cut by tokens, what the model can't read at once is parted.
        least = max(1, min(settings.max_tokens, model.window - model.special_tokens))
        pieces = min(read, texts + math.ceil(2 * read / least))
        return pieces, read + model.special_tokens * pieces

    def _of_size(self, size: int, least: int) -> _Bound:
        """Of a format whose text is not known before it is extracted.

        Args:
            size: bytes that its text has at most.
            least: bytes of its shortest element.
        """
        split = math.ceil(2 * size / max(self._road.settings.max_tokens, 1))
        elements = size // least + 1
        compared = self._compared(elements, size)
        return _Bound(elements, elements, elements + split, 2 * size, *compared)

    def _tokens(self, text: str) -> int:
        self._tokenised += len(text)
        if self._tokenised <= self._limit:
            return self._road.tokenizer.count(text)
        # No tokenizer makes more tokens than a text has bytes.
        return len(text.encode("utf-8", "surrogatepass"))
