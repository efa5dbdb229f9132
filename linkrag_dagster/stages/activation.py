"""When another model's index answers: by itself once it is whole, or by `linkrag activate` (VE-07)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkrag_dagster.lake.manifest import Generation

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road


class NothingToActivate(Exception):
    """No whole generation waits; the message says what there is instead."""


def waits_for_activation(road: Road, staged: Generation) -> bool:
    """Whether a whole staged generation waits for `linkrag activate`: another model's, where that is declared."""
    current = road.lake.current()
    return (
        road.declaration.embedding.activate == "manual"
        and current.number > 0
        and staged.facts.get("model_fingerprint") != current.facts.get("model_fingerprint")
    )


def waiting(road: Road) -> Generation | None:
    """The whole generation that waits for `linkrag activate`; None where there is none."""
    staged = road.lake.staged()
    if staged is None or not waits_for_activation(road, staged) or not road.is_whole(staged):
        return None
    return staged
