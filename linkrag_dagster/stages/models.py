"""Which model made which generation, side by side: coverage and metrics (VE-07, EM-05)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from linkrag_dagster.declaration import DeclarationError
from linkrag_dagster.embedding.memo import Memo
from linkrag_dagster.evaluation.comparison import PRIMARY
from linkrag_dagster.lake.lake import CorpusLake
from linkrag_dagster.lake.manifest import Generation
from linkrag_dagster.stages.activation import waiting
from linkrag_dagster.stages.embedded_texts import embedded_texts

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road


@dataclass(frozen=True, slots=True)
class GenerationModel:
    """A generation with the model of its vectors.

    Attributes:
        generation: its number.
        state: `active`, `kept` for roll-back, `staged` by an unfinished build, or `waiting` for `linkrag activate`.
        committed: UTC time; "" while staged.
        model, fingerprint, dimensions: of the model of its vectors; "" and 0 before there are any.
        chunks: searchable chunks.
        covered: those that have a vector by this model.
        metrics: primary metrics of its evaluation, by run and metric: means over all questions.
    """

    generation: int
    state: str
    committed: str
    model: str
    fingerprint: str
    dimensions: int
    chunks: int
    covered: int
    metrics: Mapping[str, Mapping[str, float | None]] = field(
        default_factory=dict[str, Mapping[str, float | None]]
    )

    def as_dict(self) -> dict[str, Any]:
        """As `linkrag models --json` prints it."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class DeclaredModel:
    """The model that is declared today.

    Attributes:
        model: as declared.
        fingerprint, dimensions: "" and 0 where it can't be found.
        active: whether its index is the one that answers.
        chunks: searchable chunks of the newest generation, the staged one included.
        remembered: those whose vector by this model is in the memo already: what a build does not make again.
        problem: why it can't be used; "" otherwise.
    """

    model: str
    fingerprint: str = ""
    dimensions: int = 0
    active: bool = False
    chunks: int = 0
    remembered: int = 0
    problem: str = ""

    def as_dict(self) -> dict[str, Any]:
        """As `linkrag models --json` prints it."""
        return {name: getattr(self, name) for name in self.__slots__}


def generation_models(road: Road) -> list[GenerationModel]:
    """The kept generations, oldest first, and what is staged.

    Raises:
        LakeError: a file of a kept generation is missing or damaged.
    """
    committed = road.lake.committed()
    found = [
        _generation(road.lake, generation, "active" if generation is committed[-1] else "kept")
        for generation in committed
    ]
    staged = road.lake.staged()
    if staged is not None:
        state = "waiting" if _waits(road) else "staged"
        found.append(_generation(road.lake, staged, state))
    return found


def _waits(road: Road) -> bool:
    try:
        return waiting(road) is not None
    except DeclarationError:
        # The declared model is missing: nothing of it can be whole.
        return False


def declared_model(road: Road) -> DeclaredModel:
    """The declared model, and how far its vectors are."""
    name = road.declaration.embedding.model
    try:
        model = road.model
    except DeclarationError as error:
        return DeclaredModel(name, problem=str(error))
    texts = embedded_texts(road.lake, road.lake.working())
    known = pl.Series(sorted(Memo(road.memo_folder).known(texts["text_hash"].to_list())), dtype=pl.String)
    chunks = texts.group_by("chunk_id").agg(pl.col("text_hash").is_in(known.implode()).all().alias("known"))
    return DeclaredModel(
        name,
        model.fingerprint,
        model.dimensions,
        active=road.lake.current().facts.get("model_fingerprint") == model.fingerprint,
        chunks=chunks.height,
        remembered=int(chunks["known"].sum()),
    )


def _generation(lake: CorpusLake, generation: Generation, state: str) -> GenerationModel:
    facts = generation.facts
    fingerprint = str(facts.get("model_fingerprint", ""))
    chunks = lake.read(generation, "chunks", columns=["chunk_id", "text_hash"], where=pl.col("searchable"))
    columns = ["chunk_id", "text_hash", "model_fingerprint"]
    vectors = lake.read(generation, "embeddings", columns=columns).filter(
        pl.col("model_fingerprint") == fingerprint
    )
    return GenerationModel(
        generation=generation.number,
        state=state,
        committed=generation.committed,
        model=str(facts.get("model", "")),
        fingerprint=fingerprint,
        dimensions=int(str(facts.get("dimensions", 0))),
        chunks=chunks.height,
        covered=chunks.join(vectors, on=["chunk_id", "text_hash"], how="semi").height,
        metrics=_metrics(lake, generation),
    )


def _metrics(lake: CorpusLake, generation: Generation) -> dict[str, dict[str, float | None]]:
    columns = ["run", "slice", "metric", "value"]
    rows = lake.read(generation, "evaluation", columns=columns).filter(
        (pl.col("slice") == "all") & pl.col("metric").is_in(PRIMARY)
    )
    found: dict[str, dict[str, float | None]] = {}
    for run, _, metric, value in rows.sort("run", "metric").iter_rows():
        found.setdefault(run, {})[metric] = value
    return found
