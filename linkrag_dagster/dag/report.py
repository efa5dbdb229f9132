"""Dagster is told of a generation that no run of its own made current: a roll-back, or an activation (VE-07, VE-09).

Its record of an asset is the last event. After a roll-back that would be of the generation that was left, and the UI
would show versions, and call assets fresh or stale, for rows that no longer answer. Each asset therefore gets an event
with the versions of the generation that answers now: data, code and inputs as they were when it was made.
"""

from __future__ import annotations

from collections.abc import Mapping

import dagster as dg
from dagster._core.definitions.data_version import (
    CODE_VERSION_TAG,
    DATA_VERSION_IS_USER_PROVIDED_TAG,
    DATA_VERSION_TAG,
    get_input_data_version_tag,
)

from linkrag_dagster.dag.run import instance
from linkrag_dagster.lake.manifest import Generation
from linkrag_dagster.stages.road import STAGES, Road
from linkrag_dagster.stages.stage import Stage
from linkrag_dagster.versions.spec import digest

LOOKED_BACK = 1000
"""Events of an asset among which the one is looked for that made its rows."""


def report_generation(
    road: Road, generation: Generation, made_by: str, note: Mapping[str, str | int]
) -> None:
    """Record one materialisation of each asset, without a run, that says what answers now.

    Args:
        road: the corpus.
        generation: the current generation.
        made_by: name of the run that made its rows: of the generation that was rolled back to.
        note: what happened, for people: metadata of each event.

    Raises:
        LakeError: Dagster's record can't be written.
    """
    with instance(road.loaded.root) as found:
        for stage in STAGES:
            event = dg.AssetMaterialization(
                _key(road, stage.name),
                metadata={
                    "dagster/row_count": generation.rows(stage.tables[0]),
                    "generation": generation.number,
                    **note,
                },
                tags=_tags(found, road, stage, generation, made_by),
            )
            found.report_runless_asset_event(event)


def _key(road: Road, name: str) -> dg.AssetKey:
    return dg.AssetKey([road.corpus, name])


def _tags(
    found: dg.DagsterInstance, road: Road, stage: Stage, generation: Generation, made_by: str
) -> dict[str, str]:
    # A stage that has nothing to do, such as an evaluation without questions, has no version, as in its own events.
    version = generation.data_versions.get(stage.name, "")
    made = _event_tags(found, _key(road, stage.name), version, made_by)
    # Where the event is gone, what the rows were made with is known from the lake all the same.
    mine = sorted(mark for mark, spec in generation.specs.items() if spec.get("name") == stage.name)
    inputs = {
        get_input_data_version_tag(_key(road, name)): generation.data_versions[name]
        for name in stage.inputs
        if name in generation.data_versions
    }
    return {
        CODE_VERSION_TAG: digest("code", *mine)[:16],
        **made,
        **inputs,
        DATA_VERSION_TAG: version,
        DATA_VERSION_IS_USER_PROVIDED_TAG: "true",
    }


def _event_tags(
    found: dg.DagsterInstance, key: dg.AssetKey, data_version: str, made_by: str
) -> dict[str, str]:
    """Tags of the event that made these rows; of another one with the same rows where there is none of that run."""
    records = found.fetch_materializations(key, limit=LOOKED_BACK).records
    same = [
        (record.run_id, dict(record.asset_materialization.tags or {}))
        for record in records
        if record.asset_materialization is not None
        and (record.asset_materialization.tags or {}).get(DATA_VERSION_TAG) == data_version
    ]
    own = [tags for run_id, tags in same if run_id == made_by]
    return next(iter([*own, *(tags for _, tags in same)]), {})
