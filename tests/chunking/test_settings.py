"""Settings: defaults from the window, limits in order, errors that name the field and what would do (TK-05)."""

from __future__ import annotations

from typing import Any

import pytest

from linkrag_dagster.chunking import SettingsError, chunk_text, resolve_settings


def _limits(declared: dict[str, Any], window: int | None) -> tuple[int, int, int]:
    found = resolve_settings(declared, window=window, special_tokens=2)
    return found.min_candidate_tokens, found.max_tokens, found.hard_max_tokens


@pytest.mark.parametrize(
    ("declared", "window", "limits"),
    [
        pytest.param({}, 256, (111, 222, 222), id="the encoder's window"),
        pytest.param({"tokenizer": "encoder"}, 512, (239, 478, 478), id="another window"),
        pytest.param({"max_tokens": 100}, 256, (50, 100, 222), id="half of what is declared"),
        pytest.param({"tokenizer": "cl100k_base"}, 256, (128, 512, 1024), id="the profile linkrag"),
        pytest.param({"tokenizer": "o200k_base"}, None, (128, 512, 1024), id="in o200k too"),
        pytest.param(
            {"tokenizer": "cl100k_base", "hard_max_tokens": 64}, None, (32, 64, 64), id="below the profile"
        ),
        pytest.param(
            {"hard_max_tokens": 400, "overflow": "split"}, 256, (200, 400, 400), id="overflow says otherwise"
        ),
        pytest.param(
            {"hard_max_tokens": 254, "header": False}, 256, (127, 254, 254), id="no header, no reserve"
        ),
        pytest.param(
            {"min_candidate_tokens": None, "max_tokens": None}, 256, (111, 222, 222), id="None is the default"
        ),
    ],
)
def test_defaults(declared: dict[str, Any], window: int | None, limits: tuple[int, int, int]) -> None:
    """TK-05."""
    assert _limits(declared, window) == limits


@pytest.mark.parametrize(
    ("declared", "field", "hint"),
    [
        ({"max_tokens": 9000}, "max_tokens", "at most 222"),
        ({"min_candidate_tokens": 223}, "min_candidate_tokens", "such as 111"),
        ({"hard_max_tokens": 300}, "hard_max_tokens", "at most 222"),
        ({"max_tokenz": 100}, "max_tokenz", "did you mean max_tokens"),
        ({"strategy": "fixed", "sizes": 9}, "sizes", "did you mean size"),
        ({"max_tokens": 0}, "max_tokens", "at least 1"),
        ({"max_tokens": "100"}, "max_tokens", "whole number"),
        ({"max_tokens": True}, "max_tokens", "whole number"),
        ({"header": "yes"}, "header", "true"),
        ({"foreign_title": True}, "foreign_title", "drop, keep"),
        ({"strategy": "semantic"}, "strategy", "noop, pack"),
        ({"oversize": "drop"}, "oversize", "split, truncate"),
        ({"adjacent_context": "page"}, "adjacent_context", "section, physical"),
        ({"overlap_tokens": 65}, "overlap_tokens", "at most 64"),
        ({"protected_overlap": 1}, "protected_overlap", "true"),
        ({"overflow": "windows"}, "overflow", "split, vectors, pool, error"),
        ({"scorer": ""}, "scorer", "encoder"),
        ({"scorer_batch": 0}, "scorer_batch", "at least 1"),
        ({"scorer_backoff": -1}, "scorer_backoff", "seconds"),
        ({"scorer_backoff": True}, "scorer_backoff", "seconds"),
        ({"max_gap_distance": 0}, "max_gap_distance", "at least 1"),
        ({"window_weighting": "length"}, "window_weighting", "equal, tokens"),
        ({"smoothing": "mean(3, 1)"}, "smoothing", "mean(2, 1)"),
    ],
)
def test_wrong_settings_name_their_field(declared: dict[str, Any], field: str, hint: str) -> None:
    """TK-05: the error says which field, and what to give instead."""
    with pytest.raises(SettingsError) as caught:
        resolve_settings(declared, window=256, special_tokens=2)
    assert caught.value.field == field
    assert str(caught.value).startswith(f"{field}: ")
    assert hint in str(caught.value)


def test_scoring_is_a_part_of_its_strategy_alone() -> None:
    """VE-01: rows of the other strategies do not depend on it, and batches and tries change no row."""
    declared: dict[str, Any] = {"window_weighting": "tokens", "smoothing": "mean(2,1)", "scorer_batch": 3}
    usual = resolve_settings({}, window=256)
    assert resolve_settings(declared, window=256).final_parameters() == usual.final_parameters()
    semantic = {"strategy": "semantic_depth_window"}
    plain = resolve_settings(semantic, window=256).final_parameters()
    assert resolve_settings({**semantic, **declared}, window=256).final_parameters() != plain
    again = {**semantic, "scorer_batch": 3, "scorer_retries": 0, "scorer_backoff": 1}
    assert resolve_settings(again, window=256).final_parameters() == plain


@pytest.mark.parametrize("strategy", ["nonsense", "Fixed"])
def test_unavailable_strategies_are_refused(strategy: str) -> None:
    """A strategy that is not there is an error that names those that are."""
    with pytest.raises(ValueError, match="there are noop, pack"):
        chunk_text("text", strategy=strategy)
