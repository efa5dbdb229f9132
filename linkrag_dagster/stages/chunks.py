"""`coarse_chunks`, `final_chunks`, `chunks`: the three steps of chunking, each a table.

What a boundary is, is decided in `linkrag_dagster.chunking`; here are only rows in, rows out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from typing import TYPE_CHECKING, Any

import polars as pl

from linkrag_dagster.chunking import (
    WINDOWED,
    FinalPlan,
    TextWindow,
    WindowOverflow,
    broken_windows,
    check_chunks,
    check_coarse,
    check_final,
    coarse_chunks,
    encoder_windows,
    export_chunks,
    plan_final,
)
from linkrag_dagster.chunking import Violation as RuleBroken
from linkrag_dagster.chunking.records import Chunk, CoarseChunk, FinalChunk
from linkrag_dagster.contracts.check import CheckResult, Violation
from linkrag_dagster.contracts.rows import records_of, row_of
from linkrag_dagster.contracts.tables import contract
from linkrag_dagster.embedding.memo import text_hash
from linkrag_dagster.extraction.locators import Locator, fragment
from linkrag_dagster.lake.manifest import Generation
from linkrag_dagster.markdown.elements import Element
from linkrag_dagster.stages.embedded_texts import is_windowed, windows_hash
from linkrag_dagster.stages.scoring import Scores
from linkrag_dagster.stages.stage import Computed, DocumentFailure, Progress, Stage
from linkrag_dagster.versions.spec import StageSpec

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road

PROGRESS_EVERY = 200
PLANNED_AT_ONCE = 200
"""Documents whose atoms are in memory at once: their texts are scored together."""


CUTTERS = ("rjieba", "budoux", "newmm-tokenizer", "tree-sitter")
"""Libraries by whose words and syntax comparison strategies cut; one that is absent changes the cuts, too."""


def _cutters() -> dict[str, str]:
    found: dict[str, str] = {}
    for name in CUTTERS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "none"
    return found


def _by_document(frame: pl.DataFrame) -> dict[str, pl.DataFrame]:
    return {
        str(key[0]): part
        for key, part in frame.partition_by("doc_key", as_dict=True, maintain_order=True).items()
    }


def _ordered(
    road: Road, generation: Generation, table: str, keys: Iterable[str], order: str
) -> dict[str, pl.DataFrame]:
    return _by_document(road.lake.read(generation, table, doc_keys=keys).sort("doc_key", order))


def _bare(table: str) -> pl.Schema:
    return contract(table).empty().drop("fingerprint", "content_hash", strict=False).schema


def _frame(table: str, rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    schema = _bare(table)
    return pl.DataFrame({n: [row[n] for row in rows] for n in schema.names()}, schema=schema)


class CoarseChunks(Stage):
    """Stage one: candidate boundaries."""

    name = "coarse_chunks"
    tables = ("coarse_chunks",)
    inputs = ("elements", "extracted_text")
    may_warn = frozenset({"CB-02", "CB-12", "CB-13", "CB-15", "CB-17", "TK-02"})
    description = "Elements that the document's structure keeps together."

    def spec(self, road: Road, document: Mapping[str, Any]) -> StageSpec:
        del document
        return StageSpec(
            self.name,
            revision=2,
            parameters=road.settings.coarse_parameters(),
            components={"tokenizer": road.tokenizer_identity},
        )

    def compute(
        self, road: Road, generation: Generation, keys: Sequence[str], progress: Progress
    ) -> Computed:
        elements = _ordered(road, generation, "elements", keys, "element_index")
        documents = road.documents(generation)
        rows: list[dict[str, Any]] = []
        for number, (key, text) in enumerate(road.texts(generation, keys, "text"), start=1):
            blocks = records_of(Element, elements[key]) if key in elements else []
            stamp = {**road.identity(documents[key]), "tokenizer": road.tokenizer_name}
            rows += [
                {**row_of(c), **stamp} for c in coarse_chunks(blocks, text, road.settings, road.tokenizer)
            ]
            if number % PROGRESS_EVERY == 0:
                progress(f"{number}/{len(keys)} documents")
        return Computed({self.name: _frame(self.name, rows)})

    def checks(
        self, road: Road, generation: Generation, frames: Mapping[str, pl.DataFrame], keys: Set[str]
    ) -> Iterable[CheckResult]:
        parts = _by_document(frames[self.name].sort("doc_key", "coarse_index"))
        elements = _ordered(road, generation, "elements", keys, "element_index")

        def broken() -> Iterator[tuple[str, RuleBroken]]:
            for key, text in road.texts(generation, keys, "text"):
                coarse = records_of(CoarseChunk, parts[key]) if key in parts else []
                blocks = records_of(Element, elements[key]) if key in elements else []
                for violation in check_coarse(coarse, blocks, text, road.settings, road.tokenizer):
                    yield key, violation

        yield _result(
            "coarse_chunks_hold_every_element",
            ("CB-01", "CB-11", "CB-13", "CB-15", "CB-16"),
            "Every visible element in exactly one source chunk, in order; views, ranges and derived chunks right.",
            frames[self.name].height,
            broken(),
        )


class FinalChunks(Stage):
    """Stage two: bounded pieces."""

    name = "final_chunks"
    tables = ("final_chunks", "boundary_trace")
    inputs = ("coarse_chunks", "extracted_text")
    may_warn = frozenset({"CB-17", "SD-11", "SD-12", "SD-13", "SD-14", "TK-02"})
    description = (
        "Contiguous pieces of the coarse chunks within the limits, and why each cut fell where it did."
    )

    def spec(self, road: Road, document: Mapping[str, Any]) -> StageSpec:
        del document
        return StageSpec(
            self.name,
            revision=3,
            parameters=road.settings.final_parameters(),
            components={
                "tokenizer": road.tokenizer_identity,
                "sentencex": version("sentencex"),
                "regex": version("regex"),
                **(_cutters() if road.settings.compares else {}),
                # Other strategies do not depend on it (VE-01).
                **({"scorer": road.scorer_model.fingerprint} if road.settings.uses_scorer else {}),
            },
        )

    def compute(
        self, road: Road, generation: Generation, keys: Sequence[str], progress: Progress
    ) -> Computed:
        coarse = _ordered(road, generation, "coarse_chunks", keys, "coarse_index")
        elements = _ordered(road, generation, "elements", keys, "element_index")
        documents = road.documents(generation)
        scores = Scores(road, progress)
        rows: list[dict[str, Any]] = []
        trace: list[dict[str, Any]] = []
        failures: list[DocumentFailure] = []
        texts = road.texts(generation, keys, "text")
        number = 0
        while block := list(islice(texts, PLANNED_AT_ONCE)):
            plans: dict[str, FinalPlan] = {}
            for key, text in block:
                candidates = records_of(CoarseChunk, coarse[key]) if key in coarse else []
                blocks = records_of(Element, elements[key]) if key in elements else []
                plans[key] = plan_final(candidates, text, road.settings, road.tokenizer, blocks)
            vectors, failed = scores.of(plans)
            failures += failed
            for key, plan in plans.items():
                if key not in vectors:
                    continue
                final, gaps = plan.chunks(vectors[key])
                stamp = {
                    **road.identity(documents[key]),
                    "tokenizer": road.tokenizer_name,
                    "thresholds": road.thresholds,
                    "scorer": road.scorer_name,
                }
                rows += [{**row_of(piece), **stamp} for piece in final]
                trace += [{**row_of(gap), "doc_key": key} for gap in gaps]
            number += len(block)
            if number < len(keys):
                progress(f"{number}/{len(keys)} documents")
        return Computed(
            {self.name: _frame(self.name, rows), "boundary_trace": _frame("boundary_trace", trace)},
            failures,
            scores.texts,
            scores.tokens,
        )

    def checks(
        self, road: Road, generation: Generation, frames: Mapping[str, pl.DataFrame], keys: Set[str]
    ) -> Iterable[CheckResult]:
        parts = _by_document(frames[self.name].sort("doc_key", "final_index"))
        coarse = _ordered(road, generation, "coarse_chunks", keys, "coarse_index")

        def broken() -> Iterator[tuple[str, RuleBroken]]:
            for key, text in road.texts(generation, keys, "text"):
                final = records_of(FinalChunk, parts[key]) if key in parts else []
                candidates = records_of(CoarseChunk, coarse[key]) if key in coarse else []
                for violation in check_final(final, candidates, text, road.settings, road.tokenizer):
                    yield key, violation

        yield _result(
            "final_chunks_tile_coarse_chunks",
            ("S2-02", "SD-13", "SD-14"),
            "Cores concatenate to their coarse chunk; anchors resolve; hard_max_tokens holds, recounted.",
            frames[self.name].height,
            broken(),
        )


def _page_locators(road: Road, generation: Generation, keys: Sequence[str]) -> dict[str, list[Locator]]:
    """Places on pages by document, in order; documents without pages have none."""
    rows = road.lake.read(
        generation,
        "locators",
        doc_keys=keys,
        where=pl.col("locator").str.starts_with("#page="),
        columns=["doc_key", "start_char", "end_char", "locator"],
    ).sort("doc_key", "start_char")
    found: dict[str, list[Locator]] = {}
    for key, start, end, locator in rows.iter_rows():
        found.setdefault(key, []).append(Locator(start, end, locator))
    return found


class Chunks(Stage):
    """Export: two texts, never one."""

    name = "chunks"
    tables = ("chunks", "chunk_windows")
    inputs = ("final_chunks", "extracted_text")
    may_warn = frozenset({"EX-01", "EX-02", "EX-03", "EX-04", "SD-14", "TK-02"})
    description = (
        "What is indexed: a chunk's own words, the text that is embedded, and where the words came from."
    )

    def spec(self, road: Road, document: Mapping[str, Any]) -> StageSpec:
        del document
        return StageSpec(
            self.name,
            revision=3,
            parameters={**road.settings.export_parameters(), "window": road.model.window},
            components={
                "tokenizer": road.tokenizer_identity,
                "encoder_tokenizer": road.encoder_tokenizer_identity,
                # Windows of a text end with sentences.
                **({"sentencex": version("sentencex")} if road.settings.overflow in WINDOWED else {}),
            },
        )

    def compute(
        self, road: Road, generation: Generation, keys: Sequence[str], progress: Progress
    ) -> Computed:
        final = _ordered(road, generation, "final_chunks", keys, "final_index")
        documents = road.documents(generation)
        rows: list[dict[str, Any]] = []
        read_apart: list[dict[str, Any]] = []
        failures: list[DocumentFailure] = []
        places = _page_locators(road, generation, keys)
        texts = road.texts(generation, keys, "text", "title", "version", "extractor", "extractor_version")
        for number, (key, text, title, _, extractor, extractor_version) in enumerate(texts, start=1):
            pieces = records_of(FinalChunk, final[key]) if key in final else []
            identity = road.identity(documents[key])
            try:
                chunks = export_chunks(
                    pieces,
                    text,
                    road.settings,
                    road.tokenizer,
                    road.encoder_tokenizer,
                    road.model.window,
                    title or "",
                    identity["doc_id"],
                    identity["version"],
                )
            except WindowOverflow as error:
                failures.append(DocumentFailure(key, "contract", f"breaks EX-05: {error}"))
                continue
            stamp = {
                **identity,
                "pipeline": f"linkrag_dagster {version('linkrag-dagster')}",
                "extractor": f"{extractor} {extractor_version}",
                "tokenizer": road.tokenizer_name,
                "encoder": road.model.name,
                "encoder_dimensions": road.dimensions,
                "thresholds": road.thresholds,
                "scorer": road.scorer_name,
            }
            for chunk in chunks:
                windows = _windows(road, key, chunk)
                read_apart += windows
                place = {
                    "locator": fragment(places.get(key, ()), chunk.start_char, chunk.end_char),
                    "text_hash": windows_hash(chunk.overflow or "", [w["text_hash"] for w in windows])
                    if windows
                    else text_hash(chunk.text),
                }
                rows.append({**row_of(chunk), **stamp, **place})
            if number % PROGRESS_EVERY == 0:
                progress(f"{number}/{len(keys)} documents")
        frames = {self.name: rows, "chunk_windows": read_apart}
        return Computed({table: _frame(table, found) for table, found in frames.items()}, failures)

    def checks(
        self, road: Road, generation: Generation, frames: Mapping[str, pl.DataFrame], keys: Set[str]
    ) -> Iterable[CheckResult]:
        parts = _by_document(frames[self.name].sort("doc_key", "ordinal"))
        finals = _ordered(road, generation, "final_chunks", keys, "final_index")

        def broken() -> Iterator[tuple[str, RuleBroken]]:
            for key, text in road.texts(generation, keys, "text"):
                chunks = records_of(Chunk, parts[key]) if key in parts else []
                final = records_of(FinalChunk, finals[key]) if key in finals else []
                window = road.model.window
                for violation in check_chunks(
                    chunks, final, text, road.settings, road.tokenizer, road.encoder_tokenizer, window
                ):
                    yield key, violation

        yield _result(
            "chunks_say_where_their_words_came_from",
            ("EX-01", "EX-05", "EX-06", "EX-07"),
            "content equals its slice, spans equal theirs; text fits the encoder's window; derived anchors resolve.",
            frames[self.name].height,
            broken(),
        )
        yield _result(
            "windows_hold_every_word",
            ("EX-05",),
            "A chunk above the encoder's window that stays whole is read in windows that fit and hold all of its text.",
            frames["chunk_windows"].height,
            _broken_windows(road, frames[self.name], frames["chunk_windows"]),
        )


def _windows(road: Road, key: str, chunk: Chunk) -> list[dict[str, Any]]:
    """The windows of a chunk that the encoder can't read at once; none for any other (EX-05)."""
    if chunk.overflow not in WINDOWED:
        return []
    windows = encoder_windows(chunk.text, road.encoder_tokenizer, road.model.window)
    return [
        {
            "doc_key": key,
            "chunk_id": chunk.chunk_id,
            "window_index": index,
            "text_start": held.start,
            "text_end": held.end,
            "tokens": held.tokens,
            "text_hash": text_hash(chunk.text[held.start : held.end]),
        }
        for index, held in enumerate(windows)
    ]


def _broken_windows(
    road: Road, chunks: pl.DataFrame, windows: pl.DataFrame
) -> Iterator[tuple[str, RuleBroken]]:
    """Chunks whose windows lose a word, or do not fit."""
    found: dict[str, list[TextWindow]] = {}
    places = windows.sort("chunk_id", "window_index")
    for chunk_id, start, end, tokens in places.select(
        "chunk_id", "text_start", "text_end", "tokens"
    ).iter_rows():
        found.setdefault(chunk_id, []).append(TextWindow(start, end, tokens))
    read_apart = chunks.filter(is_windowed() & pl.col("searchable"))
    for key, chunk_id, text in read_apart.select("doc_key", "chunk_id", "text").iter_rows():
        broken = broken_windows(text, found.pop(chunk_id, []), road.encoder_tokenizer, road.model.window)
        if broken:
            yield key, RuleBroken("EX-05", f"{chunk_id}: {broken}", (chunk_id,))
    if found:
        owners = dict(windows.select("chunk_id", "doc_key").iter_rows())
        for chunk_id in found:
            message = f"{chunk_id} has windows, and fits the encoder's, or is no chunk"
            yield owners[chunk_id], RuleBroken("EX-05", message, (chunk_id,))


def _result(
    name: str, rules: tuple[str, ...], description: str, rows: int, broken: Iterable[tuple[str, RuleBroken]]
) -> CheckResult:
    violations = tuple(Violation(b.rule, key, b.message) for key, b in broken)
    return CheckResult(name, rules, description, rows, violations)
