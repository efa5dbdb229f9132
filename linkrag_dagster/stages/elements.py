"""`elements`: what each block of a text is; the one place where markup is parsed (EL-01)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import polars as pl

from linkrag_dagster.contracts.check import CheckResult, Violation
from linkrag_dagster.contracts.rows import row_of
from linkrag_dagster.contracts.tables import contract
from linkrag_dagster.lake.manifest import Generation
from linkrag_dagster.markdown.markup import parse_markup
from linkrag_dagster.markdown.parser import MarkdownError
from linkrag_dagster.stages.stage import Computed, DocumentFailure, Progress, Stage
from linkrag_dagster.versions.spec import StageSpec

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road

PLAIN_MEDIA_TYPES = frozenset({"text/plain"})


class Elements(Stage):
    """One row a block."""

    name = "elements"
    tables = ("elements",)
    inputs = ("extracted_text",)
    description = "Blocks of each document with kind, place and heading trail."

    def spec(self, road: Road, document: Mapping[str, Any]) -> StageSpec:
        del road
        markup = "plain" if document["media_type"] in PLAIN_MEDIA_TYPES else "markdown"
        parser = {"markdown-it-py": version("markdown-it-py")} if markup == "markdown" else {}
        return StageSpec(self.name, revision=2, parameters={"markup": markup}, components=parser)

    def compute(
        self, road: Road, generation: Generation, keys: Sequence[str], progress: Progress
    ) -> Computed:
        rules = contract(self.name)
        bare = rules.empty().drop("fingerprint", "content_hash").schema
        frames: list[pl.DataFrame] = []
        failures: list[DocumentFailure] = []
        for key, text, markup in road.texts(generation, keys, "text", "markup"):
            document = road.documents(generation)[key]
            try:
                elements = parse_markup(text, markup)
            except MarkdownError as error:
                failures.append(DocumentFailure(key, "corrupt", f"{document['doc_name']}: {error}"))
                continue
            rows = [{**road.identity(document), **row_of(element)} for element in elements]
            frames.append(pl.DataFrame(rows, schema=bare))
        return Computed({self.name: pl.concat([pl.DataFrame(schema=bare), *frames])}, failures)

    def checks(
        self, road: Road, generation: Generation, frames: Mapping[str, pl.DataFrame], keys: Set[str]
    ) -> Iterable[CheckResult]:
        places: dict[str, list[tuple[int, int]]] = {}
        for key, start, end in frames[self.name].select("doc_key", "start_char", "end_char").iter_rows():
            places.setdefault(key, []).append((start, end))
        broken: list[Violation] = []
        for key, text in road.texts(generation, keys, "text"):
            at = 0
            for start, end in [*places.get(key, []), (len(text), len(text))]:
                if start < at or end < start:
                    broken.append(Violation("EL-03", key, f"elements overlap at character {start}"))
                    break
                if text[at:start].strip("\ufeff \t\n\r\v\f\x00") and text[at:start].strip():
                    broken.append(Violation("EL-03", key, f"characters {at} to {start} belong to no element"))
                    break
                at = end
        yield CheckResult(
            "elements_cover_text",
            ("EL-03",),
            "Elements never overlap; what lies between two is white space only.",
            frames[self.name].height,
            tuple(broken),
        )
