"""The settings of the comparison strategies: frozen, checked, with defaults from the seeds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast, get_args

from linkrag_dagster.choices.chunking import Unit
from linkrag_dagster.choices.strategies import TAKEN_BY, takes

ABLATION_HEADERS = {f"ablation_{letter}": letter in "ef" for letter in "abcdef"}
"""Which of the ablation have a header: that is what they compare, so no other setting says it (ST-07)."""
SCORED_STRATEGIES = ("percentile",)
"""Those that compare texts: they need a scorer. `auto` uses one if it is there."""
AUTO = "auto"
"""Chooses among the others by what a document shows (ST-10)."""
TRACED_STRATEGIES = ("percentile", "texttiling", AUTO)
"""Those that tell the scores of every place that they compare (SD-16)."""
STRATEGY_SETTINGS = tuple(TAKEN_BY)
"""Names that a declaration or a call may set."""
UNITS: tuple[str, ...] = get_args(Unit)

SEED_SIZE = 512
"""Characters of a piece in seed 000, where nothing else is said."""
SEED_COPY = 64
"""Characters that its overlap copies."""


@dataclass(frozen=True, slots=True)
class StrategySettings:
    """Sizes and choices of the comparison strategies; each reads the ones that it names.

    Attributes:
        size: units of a piece (fixed, recursive, document_aware, ablation A and B); None: `SEED_SIZE` code points for
            the ablation, else `budget`.
        overlap: units that a piece shares with the one before (fixed, recursive), or that are copied in front of it
            (ablation; None: 64 code points there, else none).
        unit: `chars` or `tokens`; None: `chars` where a size is given, else `tokens`.
        target: code points of a piece (header, ablation C to F); None: `size`, else 512.
        compat: the seed's header chunker to the letter (ST-06).
        percentile: distances above this percentile of the document's own are cuts (ST-04).
        derived: whether every image and table has a derived chunk beside the pieces, as structural strategies give it
            (CB-13): experiments then compare cuts alone. Without, the default, as seed 004 has its baselines: another
            way to find an element is a capability of structure, and no part of a cut by size or by meaning.
        language: the format's syntax for `document_aware` and `auto`, such as `python`; "" to find out.
        budget: tokens of a piece where no size is given: `max_tokens` of the chunking.
        scorer_batch, scorer_retries, scorer_backoff: as in `ChunkSettings`.

    Raises:
        ValueError: a value out of its range, or an overlap that is not smaller than the size; the message begins with
            the setting's name.
    """

    size: int | None = None
    overlap: int | None = None
    unit: str | None = None
    target: int | None = None
    compat: bool = False
    percentile: float = 90.0
    language: str = ""
    derived: bool = False
    budget: int = SEED_SIZE
    scorer_batch: int = 10
    scorer_retries: int = 2
    scorer_backoff: float = 0.5

    def __post_init__(self) -> None:
        for name, least in (("size", 1), ("overlap", 0), ("target", 1)):
            value: object = getattr(self, name)
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < least):
                raise ValueError(f"{name}: {value!r} is no whole number of at least {least}")
        if self.unit is not None and self.unit not in UNITS:
            raise ValueError(f"unit: {self.unit!r} is not available; there are {', '.join(UNITS)}")
        # Declared types are no check.
        for name in ("compat", "derived"):
            flag: object = getattr(self, name)
            if not isinstance(flag, bool):
                raise ValueError(f"{name}: {flag!r} is neither true nor false")
        share = cast("object", self.percentile)
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 100:
            raise ValueError(f"percentile: {share!r} is no number from 0 to 100")
        syntax = cast("object", self.language)
        if not isinstance(syntax, str):
            raise ValueError(f"language: {syntax!r} is no name; try python, or leave it out")
        if self.size is not None and self.overlap is not None and self.overlap >= self.size:
            raise ValueError(
                f"overlap: {self.overlap} is not smaller than the size ({self.size}); give at most {self.size - 1}"
            )
        if self.size is None and self.overlap is not None and self.overlap >= self.usual_size:
            raise ValueError(
                f"overlap: {self.overlap} is not smaller than the usual size ({self.usual_size}); "
                f"give a size, or at most {self.usual_size - 1}"
            )

    @property
    def in_tokens(self) -> bool:
        """Whether sizes are tokens."""
        return self.unit == "tokens" or (self.unit is None and self.size is None)

    @property
    def usual_size(self) -> int:
        """The size of a piece, in the unit."""
        if self.size is not None:
            return self.size
        return self.budget if self.in_tokens else SEED_SIZE

    @property
    def usual_target(self) -> int:
        """Code points of a piece of the header chunker."""
        return self.target or self.size or SEED_SIZE

    def with_budget(self, budget: int) -> StrategySettings:
        """The same, with that many tokens a piece where no size is given; raises what a wrong overlap raises."""
        return replace(self, budget=budget)

    def parameters(self, strategy: str) -> dict[str, object]:
        """What that strategy's pieces depend on; tries and waits change none."""
        own = (name for name in STRATEGY_SETTINGS if name != "derived" and takes(strategy, name))
        found: dict[str, object] = {name: getattr(self, name) for name in (*own, "budget")}
        return found | {"derived": True} if self.derived else found
