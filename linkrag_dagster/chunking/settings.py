"""How to chunk: limits in tokens, and what follows from the encoder's window when they are not given (TK-05)."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

HEADER_RESERVE = 32
"""Tokens of the window that are kept free for the header."""
LINKRAG_PROFILE = (128, 512, 1024)
"""min, max and hard max of the seed, in cl100k_base."""
BYTE_PAIRS = ("cl100k_base", "o200k_base")
ENCODER = "encoder"
"""The budget is counted in the encoder's own tokenizer."""
STRATEGIES = ("noop", "pack")


class SettingsError(ValueError):
    """A setting that can't hold: names the field, and a value that would.

    Attributes:
        field: the setting.
        problem: what is wrong with it, without its name.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """Settings of the three steps; token numbers are of the budget's tokenizer.

    Attributes:
        strategy: how coarse chunks become final ones: `noop` or `pack`.
        min_candidate_tokens: a heading ends a coarse chunk of at least this size (CB-06).
        max_tokens: longer chunks are cut.
        hard_max_tokens: no source chunk is longer.
        header: title and heading trail stand in the indexed text (EX-02).
        overlap_tokens: neighbour context a side, for the export (EX-03).
        adjacent_context_tokens: context around an image or table a side (CB-14).
        adjacent_context: `section` stays in its section, `physical` may cross it.
        oversize: one protected block above hard_max is `split` or `truncate`d (SD-11).
        overflow: a core that exceeds the encoder's window is `split` (EX-05).
        index_front_matter: whether front matter is searched (CB-02).
        small_table_tokens, small_table_lines, small_table_columns: a table within all three stays in the text (CB-12).
        max_tracked_heading_level: deeper headings lead no trail and protect no section (CB-04).
    """

    strategy: str = "pack"
    min_candidate_tokens: int = 111
    max_tokens: int = 222
    hard_max_tokens: int = 222
    header: bool = True
    overlap_tokens: int = 0
    adjacent_context_tokens: int = 64
    adjacent_context: str = "section"
    oversize: str = "split"
    overflow: str = "split"
    index_front_matter: bool = False
    small_table_tokens: int = 256
    small_table_lines: int = 12
    small_table_columns: int = 5
    max_tracked_heading_level: int = 5

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise SettingsError("strategy", f"{self.strategy!r} is not one of {', '.join(STRATEGIES)}")
        if self.min_candidate_tokens < 1:
            raise SettingsError("min_candidate_tokens", "must be at least 1")
        if self.min_candidate_tokens > self.max_tokens:
            raise SettingsError(
                "min_candidate_tokens",
                f"{self.min_candidate_tokens} exceeds max_tokens; use {self.max_tokens // 2 or 1}",
            )
        if self.max_tokens > self.hard_max_tokens:
            raise SettingsError(
                "max_tokens", f"{self.max_tokens} exceeds hard_max_tokens; use at most {self.hard_max_tokens}"
            )
        _among("adjacent_context", self.adjacent_context, ("section", "physical"))
        _among("oversize", self.oversize, ("split", "truncate"))
        _among("overflow", self.overflow, ("split",))
        if self.overlap_tokens:
            raise SettingsError("overlap_tokens", "neighbour overlap is not built yet; use 0")

    def coarse_parameters(self) -> dict[str, object]:
        """What stage one depends on."""
        return {
            "min_candidate_tokens": self.min_candidate_tokens,
            "small_table_tokens": min(self.small_table_tokens, self.max_tokens),
            "small_table_lines": self.small_table_lines,
            "small_table_columns": self.small_table_columns,
            "adjacent_context_tokens": self.adjacent_context_tokens,
            "adjacent_context": self.adjacent_context,
            "index_front_matter": self.index_front_matter,
        }

    def final_parameters(self) -> dict[str, object]:
        """What stage two depends on."""
        return {
            "strategy": self.strategy,
            "min_candidate_tokens": self.min_candidate_tokens,
            "max_tokens": self.max_tokens,
            "hard_max_tokens": self.hard_max_tokens,
            "oversize": self.oversize,
        }

    def export_parameters(self) -> dict[str, object]:
        """What the export depends on."""
        return {
            "header": self.header,
            "hard_max_tokens": self.hard_max_tokens,
            "overlap_tokens": self.overlap_tokens,
            "overflow": self.overflow,
        }


def _among(field: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise SettingsError(field, f"{value!r} is not one of {', '.join(allowed)}")


def resolve_settings(
    given: Mapping[str, Any], *, window: int | None, special_tokens: int = 0
) -> ChunkSettings:
    """Settings from those that are given and those that follow from the encoder's window.

    Args:
        given: settings by name, None for those that follow; `tokenizer` names the budget's tokenizer.
        window: the encoder's window in tokens, special tokens included; None where there is no encoder.
        special_tokens: tokens that the encoder adds.

    Raises:
        SettingsError: an unknown name, limits out of order, or a hard maximum that no window can hold.
    """
    known = {f.name for f in fields(ChunkSettings)}
    values = {name: value for name, value in given.items() if value is not None and name != "tokenizer"}
    for name in values.keys() - known:
        near = difflib.get_close_matches(name, [*known, "tokenizer"], 1)
        raise SettingsError(name, "unknown setting" + (f"; did you mean {near[0]}?" if near else ""))
    tokenizer = given.get("tokenizer") or ENCODER
    byte_pairs = tokenizer in BYTE_PAIRS or getattr(tokenizer, "name", "") in BYTE_PAIRS
    if byte_pairs or window is None:
        least, most, hard = LINKRAG_PROFILE
    else:
        hard = most = max(1, window - special_tokens - HEADER_RESERVE)
        least = max(1, most // 2)
        declared = values.get("hard_max_tokens")
        if declared is not None and declared > hard and "overflow" not in values:
            raise SettingsError(
                "hard_max_tokens",
                f"{declared} tokens and a header of {HEADER_RESERVE} do not fit the encoder's window of {window}; "
                f"use at most {hard}, or say what is to become of the rest by overflow",
            )
    hard = values.setdefault("hard_max_tokens", max(hard, values.get("max_tokens", 0) if byte_pairs else 0))
    most = values.setdefault("max_tokens", min(most, hard))
    values.setdefault("min_candidate_tokens", max(1, min(least, most // 2 if most < 2 * least else least)))
    return ChunkSettings(**values)
