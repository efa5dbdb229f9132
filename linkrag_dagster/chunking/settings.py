"""The settings of chunking: frozen, checked, with defaults that follow the encoder's window (TK-05)."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, cast, get_args

from linkrag_dagster.choices.chunking import (
    AdjacentContext,
    ForeignTitle,
    Overflow,
    Oversize,
    WindowWeighting,
)
from linkrag_dagster.choices.strategies import (
    COMPARISON_STRATEGIES,
    REFUSED_STRATEGIES,
    STRATEGIES,
    foreign_setting,
)
from linkrag_dagster.chunking.depth import Smoothing
from linkrag_dagster.chunking.strategy_settings import (
    ABLATION_HEADERS,
    AUTO,
    SCORED_STRATEGIES,
    STRATEGY_SETTINGS,
    TRACED_STRATEGIES,
    StrategySettings,
)
from linkrag_dagster.tokens import BYTE_PAIR_ENCODINGS

ENCODER = "encoder"
"""The name of the budget's tokenizer that means: the encoder's own."""
HEADER_RESERVE = 32
"""Tokens of the encoder's window that are left to the header."""
SEMANTIC = "semantic_depth_window"
"""The strategy that compares texts: it needs a scorer."""
DEFAULT_STRATEGY = "pack"
PACKED_STRATEGIES = (DEFAULT_STRATEGY, SEMANTIC)
"""Those that keep chunks within the limits."""
VECTORS, POOL = "vectors", "pool"
WINDOWED = (VECTORS, POOL)
"""The values of `overflow` under which a chunk above the encoder's window stays whole (EX-05)."""
MOST_OVERLAP = 64
"""Most tokens of neighbour overlap on a side (EX-03)."""

# The profile `linkrag`, in tokens of cl100k_base.
_PROFILE_MIN, _PROFILE_MAX, _PROFILE_HARD_MAX = 128, 512, 1024
_DEEPEST_TRACKED = 5
_CHOICES: dict[str, tuple[str, ...]] = {
    "strategy": STRATEGIES,
    "foreign_title": get_args(ForeignTitle),
    "adjacent_context": get_args(AdjacentContext),
    "oversize": get_args(Oversize),
    "overflow": get_args(Overflow),
    "window_weighting": get_args(WindowWeighting),
}
_LEAST = {
    "min_candidate_tokens": 1,
    "max_tokens": 1,
    "hard_max_tokens": 1,
    "overlap_tokens": 0,
    "adjacent_context_tokens": 0,
    "max_tracked_heading_level": 1,
    "small_table_tokens": 0,
    "small_table_lines": 0,
    "small_table_columns": 0,
    "scorer_batch": 1,
    "scorer_retries": 0,
    "cohesion_window_tokens": 1,
}


class SettingsError(ValueError):
    """A setting that cannot be: says which, why, and what would do.

    Attributes:
        field: the setting's name.
        problem: what is wrong and what would do, without the name.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """Complete settings; numbers are tokens of `tokenizer`.

    Attributes:
        min_candidate_tokens: a heading ends a coarse chunk of at least this size (CB-06).
        max_tokens: longer source chunks are cut.
        hard_max_tokens: no source chunk is longer, where a length is promised.
        strategy: one of `STRATEGIES`.
        tokenizer: the budget's tokenizer: `encoder`, a byte-pair vocabulary, or a path.
        header: whether title and heading trail stand before the indexed text (EX-02).
        foreign_title: `drop` or `keep`: a title in another script than the text's, of whose words it has none.
        overlap_tokens: tokens of the neighbours on each side of the indexed text, at most 64 (EX-03).
        protected_overlap: whether chunks with code, math, images or tables give and take it.
        adjacent_context_tokens: tokens around an image or table on each side (CB-14).
        adjacent_context: `section` or `physical` (CB-14).
        oversize: `split` or `truncate`: a protected block above the hard maximum (SD-11).
        overflow: `split`, `vectors`, `pool` or `error`: a chunk that does not fit the encoder's window (EX-05).
        index_front_matter: whether front matter is searched (CB-02).
        max_tracked_heading_level: deepest level that takes part in CB-05, CB-07 and the trail.
        small_table_tokens, small_table_lines, small_table_columns: up to these a table stays verbatim (CB-12).
        scorer: the model that compares texts: `encoder` (the index's) or another one's name or folder (SD-00).
        scorer_batch: texts that it is given at a time.
        scorer_retries: further tries of a batch that failed for a reason that may pass (SD-15).
        scorer_backoff: seconds before the second try.
        cohesion_window_tokens: least tokens of the window on each side of a gap (SD-04).
        window_weighting: `equal` or `tokens`: how the vectors of a window count.
        max_gap_distance: tokens of the longest unscorable stretch that a climb passes; None: any (SD-05).
        smoothing: `none` or `mean(s, n)`: of the cohesion curve (SD-05).
        comparison: sizes and choices of the strategies for comparison (ST-01 to ST-10).

    Raises:
        SettingsError: not min ≤ max ≤ hard max, or a value out of its range.
    """

    min_candidate_tokens: int
    max_tokens: int
    hard_max_tokens: int
    strategy: str = DEFAULT_STRATEGY
    tokenizer: str = ENCODER
    header: bool = True
    foreign_title: str = "drop"
    overlap_tokens: int = 0
    adjacent_context_tokens: int = 64
    adjacent_context: str = "section"
    oversize: str = "split"
    overflow: str = "split"
    index_front_matter: bool = False
    max_tracked_heading_level: int = _DEEPEST_TRACKED
    small_table_tokens: int = 256
    small_table_lines: int = 12
    small_table_columns: int = 5
    protected_overlap: bool = False
    scorer: str = ENCODER
    scorer_batch: int = 10
    scorer_retries: int = 2
    scorer_backoff: float = 0.5
    cohesion_window_tokens: int = 128
    window_weighting: str = "equal"
    max_gap_distance: int | None = None
    smoothing: str = "none"
    comparison: StrategySettings = field(default_factory=StrategySettings)

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            _whole_number(name, getattr(self, name), least)
        for name in ("header", "index_front_matter", "protected_overlap"):
            if not isinstance(getattr(self, name), bool):
                raise SettingsError(name, f"{getattr(self, name)!r} is neither true nor false")
        for name, example in (("tokenizer", "cl100k_base"), ("scorer", "all-MiniLM-L6-v2")):
            value: object = getattr(self, name)
            if not isinstance(value, str) or not value:
                raise SettingsError(name, f"{value!r} is no name; try {ENCODER} or {example}")
        for name, allowed in _CHOICES.items():
            _choice(name, getattr(self, name), allowed)
        self._check_limits()
        self._check_scoring()

    def _check_scoring(self) -> None:
        # Declared types are no check.
        seconds = cast("object", self.scorer_backoff)
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 <= seconds < math.inf:
            raise SettingsError("scorer_backoff", f"{seconds!r} is no number of seconds from 0")
        if self.max_gap_distance is not None:
            _whole_number("max_gap_distance", self.max_gap_distance, 1)
        try:
            Smoothing.of(str(self.smoothing))
        except ValueError as error:
            raise SettingsError("smoothing", str(error)) from error

    def _check_limits(self) -> None:
        if self.max_tracked_heading_level > _DEEPEST_TRACKED:
            raise SettingsError(
                "max_tracked_heading_level",
                f"{self.max_tracked_heading_level} is never tracked; give at most {_DEEPEST_TRACKED}",
            )
        if self.max_tokens > self.hard_max_tokens:
            raise SettingsError(
                "max_tokens",
                f"{self.max_tokens} is above hard_max_tokens ({self.hard_max_tokens}); "
                f"give at most {self.hard_max_tokens}, or raise hard_max_tokens",
            )
        if self.min_candidate_tokens > self.max_tokens:
            raise SettingsError(
                "min_candidate_tokens",
                f"{self.min_candidate_tokens} is above max_tokens ({self.max_tokens}); "
                f"give at most {self.max_tokens}, such as {max(1, self.max_tokens // 2)}",
            )
        if self.overlap_tokens > MOST_OVERLAP:
            raise SettingsError(
                "overlap_tokens",
                f"{self.overlap_tokens} tokens a side are more than words beside a chunk explain; "
                f"give at most {MOST_OVERLAP}",
            )

    @property
    def needs_scorer(self) -> bool:
        """Whether the strategy compares texts."""
        return self.strategy == SEMANTIC or self.strategy in SCORED_STRATEGIES

    @property
    def uses_scorer(self) -> bool:
        """Whether a scorer decides where cuts fall if there is one: `auto` does without, too (ST-10)."""
        return self.needs_scorer or self.strategy == AUTO

    @property
    def compares(self) -> bool:
        """Whether the strategy is one for comparison: it cuts the text itself, without coarse chunks."""
        return self.strategy in COMPARISON_STRATEGIES

    @property
    def compat_header(self) -> bool:
        """Whether headers are written as seed 000's program writes them."""
        return self.strategy == "header" and self.comparison.compat and self.header

    @property
    def mean_filter(self) -> Smoothing | None:
        """What smooths the cohesion curve; None for nothing."""
        return Smoothing.of(self.smoothing)

    @property
    def verbatim_table_tokens(self) -> int:
        """Most tokens of a table that stays verbatim; one that no chunk could hold never does (CB-12)."""
        return min(self.small_table_tokens, self.max_tokens)

    def coarse_parameters(self) -> dict[str, object]:
        """What stage one depends on."""
        return {
            "min_candidate_tokens": self.min_candidate_tokens,
            "max_tracked_heading_level": self.max_tracked_heading_level,
            "small_table": [self.verbatim_table_tokens, self.small_table_lines, self.small_table_columns],
            "adjacent_context": self.adjacent_context,
            "adjacent_context_tokens": self.adjacent_context_tokens,
            "index_front_matter": self.index_front_matter,
        }

    def final_parameters(self) -> dict[str, object]:
        """What stage two depends on, beside its rows."""
        return {
            "strategy": self.strategy,
            "min_candidate_tokens": self.min_candidate_tokens,
            "max_tokens": self.max_tokens,
            "hard_max_tokens": self.hard_max_tokens,
            "max_tracked_heading_level": self.max_tracked_heading_level,
            # Where nothing is packed, no block is cut for its size alone.
            **({"oversize": self.oversize} if self.strategy in PACKED_STRATEGIES else {}),
            **(self.comparison.parameters(self.strategy) if self.compares else {}),
            # Revision of what is told of the places that they compare.
            **({"traced_scores": 1} if self.strategy in TRACED_STRATEGIES else {}),
            **self.scoring_parameters(),
        }

    def scoring_parameters(self) -> dict[str, object]:
        """What the scores depend on, beside the scorer; nothing for a strategy without scores (VE-01)."""
        if self.strategy != SEMANTIC:
            return {}
        return {
            "cohesion_window_tokens": self.cohesion_window_tokens,
            "window_weighting": self.window_weighting,
            "max_gap_distance": self.max_gap_distance,
            "smoothing": self.smoothing.replace(" ", ""),
        }

    def export_parameters(self) -> dict[str, object]:
        """What the export depends on, beside its rows."""
        return {
            "header": self.header,
            **({"foreign_title": self.foreign_title} if self.header else {}),
            **({"compat_header": True} if self.compat_header else {}),
            "overlap_tokens": self.overlap_tokens,
            # Without overlap it changes nothing.
            **({"protected_overlap": self.protected_overlap} if self.overlap_tokens else {}),
            "overflow": self.overflow,
            "max_tokens": self.max_tokens,
            "hard_max_tokens": self.hard_max_tokens,
        }


def resolve_settings(
    declared: Mapping[str, Any] | None = None, *, window: int | None = None, special_tokens: int = 0
) -> ChunkSettings:
    """Complete what was declared.

    With the encoder's own tokenizer and a known window: `hard_max_tokens` is what the window leaves beside special
    tokens and the header's reserve, `max_tokens` the same, `min_candidate_tokens` half of `max_tokens`. With a
    tokenizer of another scale: the profile `linkrag`, 128 / 512 / 1024.

    Args:
        declared: settings by name; None and missing ones take their default.
        window: most tokens that the encoder sees, special ones included; None if there is none to fit.
        special_tokens: those that the encoder adds to each text.

    Raises:
        SettingsError: an unknown name, a wrong value, a setting that belongs to other strategies, or a hard maximum
            that cannot fit the window although `overflow` was not declared.
    """
    given = {name: value for name, value in (declared or {}).items() if value is not None}
    own = [f.name for f in fields(ChunkSettings) if f.name != "comparison"]
    known = [*own, *STRATEGY_SETTINGS]
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            raise SettingsError(str(name), f"unknown setting; {hint}")
    for name in ("min_candidate_tokens", "max_tokens", "hard_max_tokens"):
        if name in given:
            _whole_number(name, given[name], 1)
    if "strategy" in given:
        if given["strategy"] in REFUSED_STRATEGIES:
            raise SettingsError("strategy", REFUSED_STRATEGIES[given["strategy"]])
        _choice("strategy", given["strategy"], STRATEGIES)
    if window is None or given.get("tokenizer", ENCODER) in BYTE_PAIR_ENCODINGS:
        minimum, maximum, hard = _profile(given)
    else:
        minimum, maximum, hard = _fitted(given, window, special_tokens)
    limits: dict[str, Any] = {"min_candidate_tokens": minimum, "max_tokens": maximum, "hard_max_tokens": hard}
    # The ablation compares headers: its names say whether there are any.
    given["header"] = ABLATION_HEADERS.get(str(given.get("strategy")), given.get("header", True))
    cuts = {name: given.pop(name) for name in STRATEGY_SETTINGS if name in given}
    found = ChunkSettings(**{**given, **limits}, comparison=_comparison(given, cuts, maximum))
    for name in cuts:
        problem = foreign_setting(found.strategy, name)
        if problem is not None:
            raise SettingsError(name, problem)
    return found


def _comparison(given: Mapping[str, Any], cuts: Mapping[str, Any], budget: int) -> StrategySettings:
    """The settings of the strategies for comparison; a piece without a size has the budget's maximum."""
    tries = {
        name: given[name] for name in ("scorer_batch", "scorer_retries", "scorer_backoff") if name in given
    }
    try:
        return StrategySettings(**cuts, **tries, budget=budget)
    except ValueError as error:
        name, _, problem = str(error).partition(": ")
        raise SettingsError(name, problem) from error


def _fitted(given: Mapping[str, Any], window: int, special_tokens: int) -> tuple[int, int, int]:
    """Limits that follow the window; a declared hard maximum that leaves the header no room is refused."""
    usual = window - special_tokens - HEADER_RESERVE
    if usual < 1:
        raise SettingsError(
            "hard_max_tokens", f"the encoder's window of {window} tokens leaves no room for a chunk"
        )
    header = given.get("header", True) is not False
    most = usual if header else window - special_tokens
    hard = given.get("hard_max_tokens", usual)
    if hard > most and "overflow" not in given:
        reserve = f" and {HEADER_RESERVE} for the header" if header else ""
        raise SettingsError(
            "hard_max_tokens",
            f"{hard} does not fit the encoder's window of {window} tokens less {special_tokens} special ones{reserve}; "
            f"give at most {most}, or declare overflow: split, vectors or pool",
        )
    maximum = given.get("max_tokens", hard)
    return given.get("min_candidate_tokens", max(1, maximum // 2)), maximum, hard


def _profile(given: Mapping[str, Any]) -> tuple[int, int, int]:
    hard = given.get("hard_max_tokens")
    maximum = given.get("max_tokens", _PROFILE_MAX if hard is None else min(_PROFILE_MAX, hard))
    if hard is None:
        hard = max(_PROFILE_HARD_MAX, maximum)
    return given.get("min_candidate_tokens", max(1, min(_PROFILE_MIN, maximum // 2))), maximum, hard


def _whole_number(name: str, value: object, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise SettingsError(name, f"{value!r} is no whole number of at least {least}")


def _choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise SettingsError(name, f"{value!r} is not available; there are {', '.join(allowed)}")
