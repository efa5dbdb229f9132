"""A build from the command line: plan, run what is to be done, tell planned against done (VE-05, VE-06)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from linkrag_dagster.lake.manifest import LakeError
from linkrag_dagster.stages.finish import finish
from linkrag_dagster.stages.ledger import Ledger, read_ledger
from linkrag_dagster.stages.plan import RoadPlan, plan_road
from linkrag_dagster.stages.road import STAGE_NAMES, STAGES, Road
from linkrag_dagster.stages.stage import StageReport

NOTHING_TO_DO = "idle"


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What a build of one corpus did.

    Attributes:
        stages: reports by table, in the road's order.
        plan: what had been planned.
        failed: documents that have failed and stay so.
        refused: why nothing was committed; "" otherwise.
        generation: number of the current generation afterwards.
    """

    stages: dict[str, StageReport] = field(default_factory=dict[str, StageReport])
    plan: RoadPlan | None = None
    failed: int = 0
    refused: str = ""
    generation: int = 0

    def kept(self, table: str) -> int:
        """Rows that the plan counted as stale, for an input was to be rebuilt, and that stayed as they were (VE-03)."""
        planned = self.plan.stages.get(table) if self.plan else None
        done = self.stages.get(table)
        if planned is None or done is None or not planned.upper_bound:
            return 0
        return max(0, min(planned.stale, done.unchanged - planned.unchanged))

    @property
    def embedded_texts(self) -> int:
        """Texts given to the model, after dedupe and memo."""
        return sum(report.texts for report in self.stages.values())

    @property
    def embedded_tokens(self) -> int:
        """Tokens given to the model."""
        return sum(report.tokens for report in self.stages.values())


Runner = Callable[[Road, Sequence[str], str], bool]
"""Runs stages of a road, given the source's digest: Dagster's face, in production."""


def build(road: Road, run: Runner, *, through: str | None = None) -> BuildResult:
    """Build what is stale of one corpus; with nothing stale, write nothing.

    Args:
        road: the corpus.
        run: runs the stages that are asked for.
        through: the last stage to build; what search reads stays as it is until the road is whole.

    Raises:
        SourceUnreachable, EmptySource: nothing may be concluded from the source.
        LockHeld: another process builds this corpus.
        LakeError: the lake can't be read or written.
    """
    names = STAGE_NAMES[: STAGE_NAMES.index(through) + 1] if through else STAGE_NAMES
    # What is wrong with the declaration is said before anything is written, the lock included.
    _ = road.settings, road.tokenizer, road.analyzer, road.questions
    with road.lake.writer(wait=road.wait):
        # Characters stand for tokens: what the plan may count exactly, the build counts as it goes.
        plan = plan_road(road, STAGES, through=through, tokenise=False)
        refused = ""
        if plan.idle:
            # What a killed build left behind is finished here: a commit, or the catalogue.
            finish(road, NOTHING_TO_DO)
        else:
            # What was planned is what is built: the source is not listed and hashed once more.
            road.planned = True
            try:
                whole = run(road, names, road.source(road.lake.working()).digest())
            finally:
                road.planned = False
            if road.error is not None:
                raise road.error
            refused = next((r.refused for r in road.reports.values() if r.refused), "")
            if not whole and not refused:
                raise LakeError(
                    f"{road.corpus}: the run ended before its last stage did; build again to go on"
                )
        generation = road.lake.working()
        ledger = read_ledger(road, generation)
        done = dict(road.reports)
        stages = {
            name: done.get(name) or _untouched(generation.rows(STAGES[i].tables[0]), name, ledger)
            for i, name in enumerate(names)
        }
    return BuildResult(stages, plan, len(ledger.failures), refused, road.lake.current().number)


def _untouched(rows: int, name: str, ledger: Ledger) -> StageReport:
    failed = sum(1 for failure in ledger.failures.values() if failure["stage"] == name)
    return StageReport(table=name, unchanged=rows, rows=rows, failed=failed)
