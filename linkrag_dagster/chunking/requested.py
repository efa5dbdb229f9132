"""What a call asks for: settings, strategy and tokenizer may each be named apart; here they come together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from linkrag_dagster.chunking.default_encoder import default_encoder
from linkrag_dagster.chunking.settings import DEFAULT_STRATEGY, ENCODER, ChunkSettings, resolve_settings
from linkrag_dagster.chunking.strategy_settings import STRATEGY_SETTINGS, StrategySettings
from linkrag_dagster.tokens import BYTE_PAIR_ENCODINGS, Tokenizer, load_tokenizer

Settings = ChunkSettings | Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Requested:
    """Complete settings and the tokenizer that their numbers are counted in.

    Attributes:
        settings: checked.
        tokenizer: the budget's.
        window: most tokens that the encoder sees, where its own tokenizer is the budget's; else None.
    """

    settings: ChunkSettings
    tokenizer: Tokenizer
    window: int | None


def requested(
    strategy: str = DEFAULT_STRATEGY, settings: Settings = None, tokenizer: str | Tokenizer | None = None
) -> Requested:
    """What these ask for.

    Args:
        strategy: by name; one in the settings stands unless another than the default is given.
        settings: names and values, or complete settings.
        tokenizer: as for `chunk_text`; None: what the settings say, else the encoder's.

    Raises:
        SettingsError: a setting or a strategy that does not exist or cannot be.
        TokenizerNotFound: no such tokenizer is installed.
    """
    given = _given(settings)
    if strategy != DEFAULT_STRATEGY or "strategy" not in given:
        given["strategy"] = strategy
    name = given.get("tokenizer") if tokenizer is None else tokenizer
    name = ENCODER if name is None else name
    window: int | None = None
    if name == ENCODER:
        encoder = default_encoder()
        counted, window = encoder.tokenizer, encoder.window
        given["tokenizer"] = ENCODER
    elif isinstance(name, str):
        counted = _loaded(name)
        given["tokenizer"] = name
    else:
        counted = name
        given["tokenizer"] = counted.name
    complete = resolve_settings(given, window=window, special_tokens=counted.special_tokens)
    return Requested(complete, counted, window)


def _given(settings: Settings) -> dict[str, Any]:
    if settings is None:
        return {}
    if not isinstance(settings, ChunkSettings):
        return dict(settings)
    # Complete settings were checked against their window where they were made.
    given = {f.name: getattr(settings, f.name) for f in fields(settings) if f.name != "comparison"}
    usual = StrategySettings()
    own = {name: getattr(settings.comparison, name) for name in STRATEGY_SETTINGS}
    # What was not given belongs to no strategy.
    return given | {name: value for name, value in own.items() if value != getattr(usual, name)}


def _loaded(name: str) -> Tokenizer:
    return _byte_pairs(name) if name in BYTE_PAIR_ENCODINGS else load_tokenizer(name)


@cache
def _byte_pairs(name: str) -> Tokenizer:
    """A vocabulary never changes; reading it takes longer than chunking a page."""
    return load_tokenizer(name)
