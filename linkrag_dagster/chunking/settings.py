"""The settings of chunking: frozen, checked, with defaults that follow the encoder's window (TK-05)."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from linkrag_dagster.tokens import BYTE_PAIR_ENCODINGS

ENCODER = "encoder"
"""The name of the budget's tokenizer that means: the encoder's own."""
HEADER_RESERVE = 32
"""Tokens of the encoder's window that are left to the header."""
STRATEGIES = ("noop", "pack")
"""How coarse chunks become final ones."""

# The profile `linkrag`, in tokens of cl100k_base.
_PROFILE_MIN, _PROFILE_MAX, _PROFILE_HARD_MAX = 128, 512, 1024
_DEEPEST_TRACKED = 5
_CHOICES = {
    "strategy": STRATEGIES,
    "adjacent_context": ("section", "physical"),
    "oversize": ("split", "truncate"),
    "overflow": ("split",),
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
        overlap_tokens: tokens of the neighbours on each side of the indexed text (EX-03).
        adjacent_context_tokens: tokens around an image or table on each side (CB-14).
        adjacent_context: `section` or `physical` (CB-14).
        oversize: `split` or `truncate`: a protected block above the hard maximum (SD-11).
        overflow: `split`: a chunk that does not fit the encoder's window (EX-05).
        index_front_matter: whether front matter is searched (CB-02).
        max_tracked_heading_level: deepest level that takes part in CB-05, CB-07 and the trail.
        small_table_tokens, small_table_lines, small_table_columns: up to these a table stays verbatim (CB-12).

    Raises:
        SettingsError: not min ≤ max ≤ hard max, or a value out of its range.
    """

    min_candidate_tokens: int
    max_tokens: int
    hard_max_tokens: int
    strategy: str = "pack"
    tokenizer: str = ENCODER
    header: bool = True
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

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            _whole_number(name, getattr(self, name), least)
        for name in ("header", "index_front_matter"):
            if not isinstance(getattr(self, name), bool):
                raise SettingsError(name, f"{getattr(self, name)!r} is neither true nor false")
        if not isinstance(self.tokenizer, str) or not self.tokenizer:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise SettingsError("tokenizer", f"{self.tokenizer!r} is no name; try {ENCODER} or cl100k_base")
        for name, allowed in _CHOICES.items():
            _choice(name, getattr(self, name), allowed)
        self._check_limits()

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
        if self.overlap_tokens:
            raise SettingsError("overlap_tokens", "neighbour overlap is not available; give 0")

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
            "oversize": self.oversize,
        }

    def export_parameters(self) -> dict[str, object]:
        """What the export depends on, beside its rows."""
        return {
            "header": self.header,
            "overlap_tokens": self.overlap_tokens,
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
        SettingsError: an unknown name, a wrong value, or a hard maximum that cannot fit the window although
            `overflow` was not declared.
    """
    given = {name: value for name, value in (declared or {}).items() if value is not None}
    known = [field.name for field in fields(ChunkSettings)]
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            raise SettingsError(str(name), f"unknown setting; {hint}")
    for name in ("min_candidate_tokens", "max_tokens", "hard_max_tokens"):
        if name in given:
            _whole_number(name, given[name], 1)
    if "strategy" in given:
        _choice("strategy", given["strategy"], STRATEGIES)
    if window is None or given.get("tokenizer", ENCODER) in BYTE_PAIR_ENCODINGS:
        minimum, maximum, hard = _profile(given)
    else:
        minimum, maximum, hard = _fitted(given, window, special_tokens)
    limits: dict[str, Any] = {"min_candidate_tokens": minimum, "max_tokens": maximum, "hard_max_tokens": hard}
    return ChunkSettings(**{**given, **limits})


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
            f"give at most {most}, or declare overflow: split",
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
