"""Settings of their own: who reads which, who refuses it, and whose rows depend on it (VE-01)."""

from __future__ import annotations

from typing import Any

import pytest

from linkrag_dagster.choices.strategies import COMPARISON_STRATEGIES, STRATEGIES, TAKEN_BY, takes
from linkrag_dagster.chunking import SettingsError, chunk_text, resolve_settings
from linkrag_dagster.chunking.strategies import Piece
from tests.chunking.strategies.support import by_topic, pieces

VALUES: dict[str, Any] = {
    "size": 90, "overlap": 8, "unit": "chars", "target": 70, "compat": True, "percentile": 30, "language": "python",
    "derived": True,
}  # fmt: skip
PROSE = (
    "Cats purr by day. Cats sleep at noon, and eat at dusk. Cats purr again at night, and nobody knows why.\n"
    "Dogs bark by day. Dogs dig where cats sleep. Dogs bark at cats.\n\n"
)
TEXTS = (
    PROSE * 6,
    "".join(f"# Part {n}\n\n## Animals\n\n{PROSE * 3}" for n in range(3)),
    "".join(f"def crane{n}(load):\n    lift = load * {n}\n    return lift\n\n\n" for n in range(12)),
    "word " * 300,
    "".join(f"Ann: {'Cats purr, ' * (n % 5)}then {'Dogs bark, ' * (n % 7)}I say.\n" for n in range(60)),
)
ONE_EXPERIMENT = {"ablation_a", "ablation_c", "ablation_e"}
"""Copy nothing, and take `overlap` all the same: the six are declared alike (ST-07)."""
OF_PIECES = [setting for setting in TAKEN_BY if setting != "derived"]


def _cut(name: str, text: str, **settings: Any) -> list[Piece]:
    return list(pieces(name, text, scorer=by_topic("Cats", "Dogs"), budget=40, **settings))


@pytest.mark.parametrize("name", COMPARISON_STRATEGIES)
@pytest.mark.parametrize("setting", OF_PIECES)
def test_a_strategy_has_the_settings_that_it_reads(name: str, setting: str) -> None:
    """ST-01 to ST-10: what it has moves its cuts in some text, what it has not moves them in none."""
    moves = any(_cut(name, text) != _cut(name, text, **{setting: VALUES[setting]}) for text in TEXTS)
    unread = setting == "overlap" and name in ONE_EXPERIMENT
    assert moves == (takes(name, setting) and not unread)


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("setting", TAKEN_BY)
def test_a_setting_of_other_strategies_is_refused(name: str, setting: str) -> None:
    """ST-01 to ST-10: an error that names it, the strategy, and those that have it; null is no setting."""
    declared = {"strategy": name, setting: VALUES[setting]}
    assert resolve_settings({"strategy": name, setting: None}).strategy == name
    if takes(name, setting):
        assert getattr(resolve_settings(declared).comparison, setting) == VALUES[setting]
        return
    with pytest.raises(SettingsError) as caught:
        resolve_settings(declared)
    assert caught.value.field == setting
    assert caught.value.problem.startswith(f"strategy {name} has no such setting; it belongs to ")
    for taker in TAKEN_BY[setting]:
        short = "strategies for comparison" if setting == "derived" else taker.partition("_")[0]
        assert short in caught.value.problem


@pytest.mark.parametrize("name", STRATEGIES)
def test_rows_depend_on_what_their_strategy_has(name: str) -> None:
    """VE-01: the parameters that are stored and hashed hold its own settings, and no other strategy's."""
    declared = {"derived": True} if takes(name, "derived") else {}
    stored = resolve_settings({"strategy": name, **declared}).final_parameters()
    assert stored.keys() & TAKEN_BY.keys() == {setting for setting in TAKEN_BY if takes(name, setting)}
    truncating = resolve_settings({"strategy": name, "oversize": "truncate", **declared}).final_parameters()
    assert (truncating != stored) == (name in ("pack", "semantic_depth_window"))


def test_common_settings_fit_every_strategy() -> None:
    """SD-00: a corpus declares its scorer and sizes, whichever strategy it is cut by."""
    common: dict[str, Any] = {
        "scorer": "all-MiniLM-L6-v2", "scorer_batch": 3, "window_weighting": "tokens", "smoothing": "mean(2, 1)",
        "cohesion_window_tokens": 64, "max_gap_distance": 9, "overlap_tokens": 4, "oversize": "truncate",
        "min_candidate_tokens": 5, "max_tokens": 20, "hard_max_tokens": 30,
    }  # fmt: skip
    for name in STRATEGIES:
        assert resolve_settings({**common, "strategy": name}).scorer_batch == 3


def test_complete_settings_of_another_strategy() -> None:
    """A call may ask complete settings for another strategy, unless they hold what that one has not."""
    text = "Some words stand here. " * 20
    fixed = resolve_settings({"strategy": "fixed", "tokenizer": "cl100k_base", "max_tokens": 20})
    assert {c.strategy for c in chunk_text(text, settings=fixed, strategy="recursive").chunks} == {
        "recursive"
    }
    sized = resolve_settings({"strategy": "fixed", "size": 9, "overlap": 3, "tokenizer": "cl100k_base"})
    with pytest.raises(SettingsError, match="size: strategy paragraph has no such setting"):
        chunk_text(text, settings=sized, strategy="paragraph")
