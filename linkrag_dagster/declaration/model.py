"""The settings of a corpus, strict and frozen: an unknown key, a wrong type or a value out of range is an error.

Strict means that `"5"` is no number and `1` is no yes: what a file says is what it means. A section that is left empty
has all its defaults. Token numbers that are not given are None and follow the encoder's window (TK-05); that happens
where the encoder is known, here only their order is checked.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from linkrag_dagster.choices.chunking import (
    AdjacentContext,
    ForeignTitle,
    Overflow,
    Oversize,
    Unit,
    WindowWeighting,
)
from linkrag_dagster.choices.strategies import REFUSED_STRATEGIES, TAKEN_BY, Strategy, foreign_setting
from linkrag_dagster.declaration.cron import cron_problem

Text = Annotated[str, Field(min_length=1)]
# A YAML list becomes a tuple, so that the settings are frozen to the bottom; its items stay strict.
Texts = Annotated[tuple[Text, ...], Field(strict=False)]
Tokens = Annotated[int, Field(ge=1)]


class Strict(BaseModel):
    """A section: no unknown keys, no conversions, no changes after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _empty_section(cls, value: Any) -> Any:
        return {} if value is None else value


class Source(Strict):
    """Where the documents lie (PI-05)."""

    path: Text = Field(description="folder of the documents, relative to the declaration's file, or absolute")
    include: Texts = Field(default=("**/*",), description="patterns of the files that belong to the corpus")
    exclude: Texts = Field(default=(), description="patterns of files that do not, whatever `include` says")


class Ocr(Strict):
    """When characters are recognised in pictures of text (XT-08); confidences are 0 to 1."""

    enabled: bool = Field(
        default=True, description="are pages without usable text recognised; needs the extra `ocr`"
    )
    mark_below: float = Field(
        default=0.8, ge=0, le=1, description="pages recognised with less confidence are marked as doubtful"
    )
    leave_out_below: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="pages and lines recognised with less stay out of the text; a row says so",
    )

    @model_validator(mode="after")
    def _ordered(self) -> Ocr:
        if self.leave_out_below > self.mark_below:
            raise PydanticCustomError(
                "order", "leave_out_below is above mark_below: what is left out would never be marked"
            )
        return self


class Extraction(Strict):
    """How files become text."""

    max_bytes: int = Field(
        default=10_485_760, ge=1, description="files above this many bytes fail as too large"
    )
    seconds: float = Field(
        default=300.0,
        gt=0,
        description="a document that takes longer fails as a timeout; with scans it has seconds_per_scan more for each",
    )
    seconds_per_scan: float = Field(
        default=10.0,
        ge=0,
        description="by which a document's time grows with each page of pictures of text, which takes 2 to 9 seconds",
    )
    memory_mb: int = Field(
        default=4096,
        ge=256,
        description="MiB that a worker process may take; a document that needs more fails",
    )
    workers: int | None = Field(
        default=None, ge=1, description="processes that read documents at once; None: one a core"
    )
    ocr: Ocr = Ocr()


class Chunking(Strict):
    """How text becomes chunks; numbers are tokens of `tokenizer`."""

    strategy: Strategy = Field(default="pack", description="how text is cut; from `fixed` on: for comparison")
    size: Tokens | None = Field(
        default=None, description="of a piece, for comparison strategies that cut by size; None: max_tokens"
    )
    overlap: int | None = Field(
        default=None,
        ge=0,
        description="of pieces of `fixed`, `recursive` and `document_aware`, in their unit; of those of the ablation, "
        "in characters",
    )
    unit: Unit | None = Field(default=None, description="what `size` counts")
    target: Tokens | None = Field(
        default=None, description="of a chunk of `header` and the ablation, in characters"
    )
    compat: bool | None = Field(default=None, description="`header` with the faults of its model")
    percentile: float | None = Field(
        default=None,
        ge=0,
        le=100,
        description="`percentile` cuts where sentences are farther apart than this",
    )
    derived: bool | None = Field(
        default=None,
        description="have images and tables chunks of their own under comparison strategies, too (CB-13)",
    )
    language: Text | None = Field(
        default=None, description="of source code, for `document_aware`; None: looked for"
    )
    tokenizer: Text = Field(
        default="encoder",
        description="whose tokens: `encoder`, `cl100k_base`, `o200k_base` or the path of a tokenizer.json",
    )
    min_candidate_tokens: Tokens | None = Field(
        default=None, description="a heading ends a chunk of at least this size; None: half of max_tokens"
    )
    max_tokens: Tokens | None = Field(
        default=None, description="longer chunks are cut; None: hard_max_tokens (512 with cl100k or o200k)"
    )
    hard_max_tokens: Tokens | None = Field(
        default=None, description="no chunk is longer; None: the encoder's window (1024 with cl100k or o200k)"
    )
    header: bool = Field(
        default=True, description="title and heading trail stand before the indexed text (EX-02)"
    )
    foreign_title: ForeignTitle = Field(
        default="drop",
        description="is a title in another script than the text's, of whose words it has none, left out of the header",
    )
    overlap_tokens: int = Field(
        default=0, ge=0, le=64, description="tokens of the neighbours on each side, at most 64 (EX-03)"
    )
    protected_overlap: bool = Field(
        default=False, description="do chunks with code, math, images or tables give and take them"
    )
    adjacent_context_tokens: int = Field(
        default=64, ge=0, description="tokens around an image or a table on each side (CB-14)"
    )
    adjacent_context: AdjacentContext = Field(
        default="section", description="does that context stay in its section, or cross it (CB-14)"
    )
    oversize: Oversize = Field(
        default="split", description="what happens to one code block or table above hard_max_tokens (SD-11)"
    )
    overflow: Overflow = Field(
        default="split",
        description="what happens to a chunk above the encoder's window: cut again, kept with a vector for each window "
        "(the nearest counts), kept with their mean, or refused (EX-05)",
    )
    index_front_matter: bool = Field(default=False, description="is front matter searched (CB-02)")
    scorer: Text = Field(
        default="encoder",
        description="which model compares texts: `encoder`, another one's name, or the folder of one (SD-00)",
    )
    scorer_batch: int = Field(default=10, ge=1, description="texts that it is given at a time")
    scorer_retries: int = Field(
        default=2, ge=0, description="further tries of a batch that failed for a reason that may pass (SD-15)"
    )
    scorer_backoff: float = Field(
        default=0.5, ge=0, description="seconds before the second try, then doubled"
    )
    cohesion_window_tokens: Tokens = Field(
        default=128, description="tokens that are compared on each side of a possible cut (SD-04)"
    )
    window_weighting: WindowWeighting = Field(
        default="equal", description="do texts in that window count alike, or by their tokens"
    )
    max_gap_distance: Tokens | None = Field(
        default=None, description="longest run of code or the like that a valley may span; None: any (SD-05)"
    )
    smoothing: Text = Field(
        default="none", description="of the likeness along a chunk: `none` or `mean(s, n)` (SD-05)"
    )

    @field_validator("strategy", mode="before")
    @classmethod
    def _possible(cls, value: object) -> object:
        """A strategy that is known, and can't be had, says what to do instead (ST-05)."""
        problem = REFUSED_STRATEGIES.get(value) if isinstance(value, str) else None
        if problem is not None:
            raise PydanticCustomError("refused", "{problem}", {"problem": problem})
        return value

    @field_validator(*TAKEN_BY)
    @classmethod
    def _of_its_strategy(cls, value: object, info: ValidationInfo) -> object:
        """A setting that the strategy would pass over is no setting of it; the strategy was checked before."""
        strategy, name = info.data.get("strategy"), info.field_name
        if value is None or strategy is None or name is None:
            return value
        problem = foreign_setting(strategy, name)
        if problem is not None:
            raise PydanticCustomError("foreign", "{problem}", {"problem": problem})
        return value

    @field_validator("max_tokens", "hard_max_tokens")
    @classmethod
    def _ordered(cls, value: int | None, info: ValidationInfo) -> int | None:
        """min ≤ max ≤ hard_max (TK-05); fields are checked in their order, so each looks at those before it."""
        if value is None:
            return value
        for name in ("max_tokens", "min_candidate_tokens"):
            lower: int | None = info.data.get(name)
            if lower is not None and lower > value:
                raise PydanticCustomError(
                    "order",
                    "{value} is below {name} ({lower}); min_candidate_tokens ≤ max_tokens ≤ hard_max_tokens must hold",
                    {"value": value, "name": name, "lower": lower},
                )
        return value


class Embedding(Strict):
    """Which model makes the vectors."""

    model: Text = Field(
        default="all-MiniLM-L6-v2", description="name of a model that is installed, or the folder of one"
    )
    dtype: Literal["float32"] = Field(default="float32", description="type of the numbers in the vectors")
    activate: Literal["auto", "manual"] = Field(
        default="auto",
        description="when another model's index answers: once it is whole, or by `linkrag activate` (VE-07)",
    )


class Lexical(Strict):
    """The BM25 index."""

    analyzer: Literal["default", "reference"] = Field(default="default", description="how text becomes terms")
    k1: float = Field(default=1.2, ge=0, description="how slowly a term's repetitions stop to count")
    b: float = Field(default=0.75, ge=0, le=1, description="how much a chunk's length counts, from 0 to 1")
    field: Literal["text", "content"] = Field(
        default="text", description="which text is indexed: with the header (`text`) or without (`content`)"
    )


class Retrieval(Strict):
    """What a search returns."""

    cut: float | None = Field(
        default=None,
        ge=0,
        le=2,
        description="cosine distance above which a search says it has no answer; None: never",
    )
    k: int = Field(default=4, ge=1, description="number of citations")
    fusion: Literal["rrf", "zscore"] = Field(
        default="zscore",
        description="what `hybrid` does with both rankings: sums reciprocal ranks, or standardised scores (HY-02)",
    )


class Evaluation(Strict):
    """Against which questions the corpus is measured."""

    questions: Texts = Field(
        default=(), description="files of gold questions, relative to the declaration's file"
    )


class Limits(Strict):
    """From where on failures stop the build."""

    failed_documents: float = Field(
        default=0.2,
        ge=0,
        le=1,
        description="share of failed documents above which nothing is committed (CO-03)",
    )
    generations: int = Field(
        default=3,
        ge=0,
        description="generations that `linkrag gc` keeps beside the current one, for roll-back (LA-01)",
    )


Rule = Literal[
    "CB-02",
    "CB-12",
    "CB-13",
    "CB-15",
    "CB-17",
    "EX-01",
    "EX-02",
    "EX-03",
    "EX-04",
    "SD-11",
    "SD-12",
    "SD-13",
    "SD-14",
    "TK-02",
]
"""Contracts that may be broken with a warning: the form of chunks. What readers rely on always fails: keys, complete
rows, offsets, vectors, that nothing is cut away in silence."""


class Contracts(Strict):
    """How severe a broken contract is (CO-03)."""

    warn: Annotated[tuple[Rule, ...], Field(strict=False)] = Field(
        default=(), description="rules whose breach is told of, while the document is committed all the same"
    )


class Declaration(Strict):
    """A corpus: the `attributes` of its `defs.yaml`."""

    source: Source
    extraction: Extraction = Extraction()
    chunking: Chunking = Chunking()
    embedding: Embedding = Embedding()
    lexical: Lexical = Lexical()
    retrieval: Retrieval = Retrieval()
    evaluation: Evaluation = Evaluation()
    schedule: Text | None = Field(
        default=None, description="cron schedule of rebuilds, in UTC; None: on change only"
    )
    limits: Limits = Limits()
    contracts: Contracts = Contracts()
    lake: Text | None = Field(
        default=None,
        description="folder or URL of the lake, relative to the declaration's file; None: data/lake",
    )

    @field_validator("schedule")
    @classmethod
    def _is_cron(cls, value: str | None) -> str | None:
        problem = None if value is None else cron_problem(value)
        if problem is not None:
            raise PydanticCustomError("cron", "{problem}", {"problem": problem})
        return value
