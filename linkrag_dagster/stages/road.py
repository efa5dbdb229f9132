"""The road of one corpus: its stages in order, what they share, and the one way to build it (PI-03, PI-04).

    raw_documents → extracted_text → elements → coarse_chunks → final_chunks → chunks → embeddings, bm25 → evaluation

Dagster's assets, `linkrag build` and the tests all go through `Road.materialise`. Each stage stages its rows; the
commit is one swap, when the road is whole (`finish.finish`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from linkrag_dagster.chunking import ENCODER, ChunkSettings, SettingsError, resolve_settings
from linkrag_dagster.declaration import Declaration, LoadedDeclaration, is_url, lake_path
from linkrag_dagster.embedding.encoder import Encoder
from linkrag_dagster.embedding.errors import ModelError
from linkrag_dagster.embedding.model import ModelIdentity, resolve_model
from linkrag_dagster.evaluation.gold import OwnQuestion
from linkrag_dagster.lake.lake import CorpusLake
from linkrag_dagster.lake.manifest import Generation
from linkrag_dagster.lexical.analyzers import Analyzer, load_analyzer
from linkrag_dagster.stages.bm25 import Bm25
from linkrag_dagster.stages.chunks import Chunks, CoarseChunks, FinalChunks
from linkrag_dagster.stages.commit import materialise
from linkrag_dagster.stages.documents import RawDocuments, Source, list_source, materialise_source
from linkrag_dagster.stages.elements import Elements
from linkrag_dagster.stages.embeddings import Embeddings
from linkrag_dagster.stages.evaluation import Evaluation, own_questions
from linkrag_dagster.stages.ledger import Remembered, attempt_fingerprint, plan_documents, read_ledger
from linkrag_dagster.stages.stage import READS_BYTES, Progress, Stage, StageReport
from linkrag_dagster.stages.text import ExtractedText
from linkrag_dagster.stages.whole_corpus import materialise_whole
from linkrag_dagster.tokens import Tokenizer, TokenizerNotFound, load_tokenizer
from linkrag_dagster.versions.spec import StageSpec, digest

STAGES: tuple[Stage, ...] = (
    RawDocuments(),
    ExtractedText(),
    Elements(),
    CoarseChunks(),
    FinalChunks(),
    Chunks(),
    Embeddings(),
    Bm25(),
    Evaluation(),
)
"""The road, in order."""

STAGE_NAMES = tuple(stage.name for stage in STAGES)
TEXTS_AT_ONCE = 256
"""Documents whose text is in memory at once."""


class Road:
    """One corpus: its declaration, its lake, and what its stages are made with, each loaded once and when needed."""

    def __init__(
        self,
        loaded: LoadedDeclaration,
        *,
        lake: str | Path | None = None,
        wait: float = 0.0,
        allow_empty: bool = False,
    ) -> None:
        self.loaded = loaded
        self.corpus = loaded.name
        place = lake_path(loaded, str(lake) if lake else None)
        if is_url(place):
            raise loaded.error("lake", f"{place}: a lake is a folder; stores by URL are not served yet")
        self.lake_root = Path(place)
        self.lake = CorpusLake(self.lake_root, loaded.name)
        self.wait = wait
        self.allow_empty = allow_empty
        self.progress: Callable[[str, str], None] | None = None
        self.reports: dict[str, StageReport] = {}
        self.error: Exception | None = None
        self.remembered = Remembered()
        self.planned = False
        self._max_bytes = loaded.declaration.extraction.max_bytes
        self._source: Source | None = None
        self._documents: tuple[object, dict[str, dict[str, Any]]] | None = None
        self._specs: dict[tuple[str, object], StageSpec] = {}

    # -- what stages share -------------------------------------------------------------------------------------

    @property
    def declaration(self) -> Declaration:
        """The declared settings."""
        return self.loaded.declaration

    @property
    def source_path(self) -> Path:
        """The source folder; `source.path` is relative to the declaration's file."""
        return self.loaded.source

    @cached_property
    def model(self) -> ModelIdentity:
        """The encoder, known by its weights; no library of neural networks is loaded for it."""
        declared = self.declaration.embedding
        try:
            return resolve_model(declared.model, dtype=declared.dtype, base=self.loaded.path.parent)
        except ModelError as error:
            raise self.loaded.error("embedding.model", str(error)) from error

    @property
    def dimensions(self) -> int:
        """Length of the encoder's vectors."""
        return self.model.dimensions

    @cached_property
    def encoder_tokenizer(self) -> Tokenizer:
        """The encoder's own tokenizer: what fits its window is measured with it."""
        return load_tokenizer(self.model.name, path=self.model.tokenizer)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the budget (TK-01)."""
        name = self.declaration.chunking.tokenizer
        if name == "encoder":
            return self.encoder_tokenizer
        try:
            beside = self.loaded.path.parent / name
            return load_tokenizer(str(beside) if beside.exists() else name)
        except TokenizerNotFound as error:
            raise self.loaded.error("chunking.tokenizer", str(error)) from error

    @property
    def tokenizer_identity(self) -> str:
        """What the budget's counts depend on."""
        return f"{self.tokenizer.version}:{self.tokenizer.vocabulary_hash}"

    @property
    def encoder_tokenizer_identity(self) -> str:
        """What the encoder's counts depend on."""
        return f"{self.encoder_tokenizer.version}:{self.encoder_tokenizer.vocabulary_hash}"

    @property
    def tokenizer_name(self) -> str:
        """The budget's tokenizer as rows show it."""
        return f"{self.tokenizer.name} {self.tokenizer.version} {self.tokenizer.vocabulary_hash[:12]}"

    @cached_property
    def settings(self) -> ChunkSettings:
        """The chunking settings, with defaults from the encoder's window (TK-05)."""
        declared = self.declaration.chunking.model_dump(exclude_unset=True, exclude_none=True)
        try:
            return resolve_settings(
                declared, window=self.model.window, special_tokens=self.model.special_tokens
            )
        except SettingsError as error:
            raise self.loaded.error(f"chunking.{error.field}", error.problem) from error

    @property
    def thresholds(self) -> str:
        """The limits that decide where cuts fall, as rows show them."""
        s = self.settings
        limits = {"min": s.min_candidate_tokens, "max": s.max_tokens, "hard_max": s.hard_max_tokens}
        return json.dumps({**limits, **s.scoring_parameters()}, separators=(",", ":"))

    @cached_property
    def scorer_model(self) -> ModelIdentity:
        """The model that compares texts: the index's, unless another one is declared (SD-00)."""
        name = self.settings.scorer
        if name in (ENCODER, self.model.name):
            return self.model
        try:
            return resolve_model(name, base=self.loaded.path.parent)
        except ModelError as error:
            raise self.loaded.error("chunking.scorer", str(error)) from error

    @property
    def scorer_name(self) -> str | None:
        """The model that compares texts as rows show it; None where the strategy compares none."""
        if not self.settings.uses_scorer:
            return None
        return f"{self.scorer_model.name} {self.scorer_model.fingerprint}"

    @cached_property
    def questions(self) -> Sequence[OwnQuestion]:
        """The declared questions, read once."""
        return own_questions(self)

    @cached_property
    def analyzer(self) -> Analyzer:
        """The lexical analyzer."""
        return load_analyzer(self.declaration.lexical.analyzer)

    @property
    def memo_folder(self) -> Path:
        """Vectors of this model, by text; shared by all corpora of the lake."""
        return self.lake_root / "memo" / self.model.fingerprint

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder; its weights are loaded at the first text."""
        return Encoder(self.model)

    # -- source and documents ----------------------------------------------------------------------------------

    def source(self, generation: Generation, *, fresh: bool = False) -> Source:
        """The source as it was listed in this run; `fresh` lists it again."""
        if self._source is None or fresh:
            self._source = list_source(self, self.documents(generation))
        return self._source

    def documents(self, generation: Generation) -> dict[str, dict[str, Any]]:
        """`raw_documents` rows of a generation, by document key."""
        mark = generation.tables.get("raw_documents")
        if self._documents is None or self._documents[0] != mark:
            frame = self.lake.read(generation, "raw_documents").drop("fingerprint", "content_hash")
            self._documents = (mark, {row["doc_key"]: row for row in frame.iter_rows(named=True)})
        return self._documents[1]

    def texts(self, generation: Generation, keys: Iterable[str], *columns: str) -> Iterator[tuple[Any, ...]]:
        """`(doc_key, *columns)` of `extracted_text`, in order of key, a bounded number of texts at once."""
        ordered = sorted(keys)
        for start in range(0, len(ordered), TEXTS_AT_ONCE):
            block = ordered[start : start + TEXTS_AT_ONCE]
            yield from (
                self.lake.read(generation, "extracted_text", columns=["doc_key", *columns], doc_keys=block)
                .sort("doc_key")
                .iter_rows()
            )

    @staticmethod
    def identity(document: Mapping[str, Any]) -> dict[str, Any]:
        """The columns that name the document on rows after extraction: the version only where it is declared."""
        version = document["version"] if document["version_declared"] else None
        return {"doc_key": document["doc_key"], "doc_id": document["doc_id"], "version": version}

    # -- specs -------------------------------------------------------------------------------------------------

    def spec(self, stage: Stage, document: Mapping[str, Any], *, narrow: bool = False) -> StageSpec:
        """The spec of a stage for a document, or for {} of a stage over the whole corpus; equal ones are made once.

        `narrow` asks for that of documents which depend on less (`Stage.narrowed`), where there is one.
        """
        mark = (stage.name, (self.kind_of(document), narrow))
        if mark not in self._specs:
            self._specs[mark] = stage.whole_spec(self, document, narrow=narrow)
        return self._specs[mark]

    def kind_of(self, document: Mapping[str, Any]) -> tuple[object, bool]:
        """All of a document that specs may depend on: its media type, and whether it is too large to be read."""
        return document.get("media_type"), document.get("size_bytes", 0) > self._max_bytes

    def known_specs(self) -> dict[str, dict[str, object]]:
        """Every spec of this run as plain data, by fingerprint."""
        specs = [*self._specs.values(), self.spec(STAGES[0], {})]
        return {spec.fingerprint: spec.as_dict() for spec in specs}

    @property
    def stages(self) -> tuple[Stage, ...]:
        """All stages, in order."""
        return STAGES

    def position(self, name: str) -> int:
        """Place of a stage on the road."""
        return STAGE_NAMES.index(name)

    def ancestors(self, stage: Stage) -> list[Stage]:
        """Stages from extraction that `stage` derives from, in order."""
        found: set[str] = set()
        waiting = list(stage.inputs)
        while waiting:
            name = waiting.pop()
            if name not in found and name != STAGES[0].name:
                found.add(name)
                waiting += STAGES[self.position(name)].inputs
        return [s for s in STAGES if s.name in found]

    @property
    def document_stages(self) -> tuple[Stage, ...]:
        """The stages whose rows belong to one document each, but for the one that lists the source."""
        return tuple(stage for stage in STAGES[1:] if not stage.whole_corpus)

    def held_back_by(self, name: str) -> frozenset[str]:
        """Stages that a document does not go through while it has failed at a stage: that one and what it derives from.

        A source that can't be used holds back what reads it: extraction.
        """
        stage = STAGES[max(self.position(name), self.position(READS_BYTES))]
        return frozenset({stage.name, *(s.name for s in self.ancestors(stage))})

    def attempt(self, document: Mapping[str, Any], stage_name: str) -> str:
        """Fingerprint of an attempt to bring a document through a stage (FA-01)."""
        stage = STAGES[max(self.position(stage_name), self.position(READS_BYTES))]
        attempt = attempt_fingerprint(
            document["sha256"], [self.spec(s, document) for s in (*self.ancestors(stage), stage)]
        )
        if stage.name != READS_BYTES:
            return attempt
        # More time or memory may help a document that has failed; one that has its text has no use for it.
        limits = self.declaration.extraction
        allowed = f"{limits.seconds:g} s, {limits.seconds_per_scan:g} s a scan, {limits.memory_mb} MiB"
        return digest("attempt", attempt, allowed)

    # -- building ----------------------------------------------------------------------------------------------

    def materialise(self, name: str, progress: Progress) -> StageReport:
        """Bring one stage up to date with its inputs and stage it.

        Raises:
            Refused: a contract, or the share of failed documents.
            SourceUnreachable, EmptySource: nothing may be concluded from the source.
            LockHeld, LakeError: the lake can't be written now, or read.
        """
        with self.lake.writer(wait=self.wait):
            stage = STAGES[self.position(name)]
            if stage is STAGES[0]:
                return materialise_source(self, stage, progress)
            return (materialise_whole if stage.whole_corpus else materialise)(self, stage, progress)

    def is_whole(self, generation: Generation) -> bool:
        """Whether every stage of a generation agrees with the stages before it."""
        ledger = read_ledger(self, generation)
        documents = self.documents(generation)
        return all(
            plan_documents(self, stage, documents, ledger, {}, committing=True).idle for stage in STAGES[1:]
        )
