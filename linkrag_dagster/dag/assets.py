"""Thin Dagster assets over the road: one a stage, with its contracts as asset checks (PI-03, CO-02, VE-09)."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import dagster as dg
import polars as pl

from linkrag_dagster.contracts.check import CheckResult
from linkrag_dagster.contracts.columns import Contract
from linkrag_dagster.extraction.registry import EXTRACTORS
from linkrag_dagster.lake.manifest import Generation
from linkrag_dagster.stages.commit import promises
from linkrag_dagster.stages.finish import finish
from linkrag_dagster.stages.road import STAGES, Road
from linkrag_dagster.stages.stage import Refused, Stage, StageReport
from linkrag_dagster.versions.spec import digest

KINDS: Mapping[str, set[str]] = {
    "raw_documents": {"file"},
    "extracted_text": {"python", "parquet"},
    "elements": {"markdown", "parquet"},
    "coarse_chunks": {"python", "parquet"},
    "final_chunks": {"python", "parquet"},
    "chunks": {"pandera", "parquet"},
    "embeddings": {"pytorch", "parquet"},
    "bm25": {"duckdb", "parquet"},
    "evaluation": {"python", "parquet"},
}
MODEL_POOL = "model"


def corpus_definitions(road: Road, *, pool: str | None = MODEL_POOL) -> dg.Definitions:
    """The assets of one corpus: an external source, and one asset a stage of the road.

    Args:
        road: the corpus.
        pool: the concurrency pool of the step that holds the model; None for a process that waits for nobody.
    """
    source = dg.AssetSpec(
        [road.corpus, "source"],
        group_name=group_name(road.corpus),
        description=f"The documents that lie in {road.declaration.source.path}.",
        kinds={"file"},
    )
    return dg.Definitions(assets=[source, *(_asset(road, stage, pool) for stage in STAGES)])


def group_name(corpus: str) -> str:
    """A corpus's group: Dagster takes letters, digits and `_` alone."""
    return "".join(c if c.isalnum() and c.isascii() else "_" for c in corpus)


def code_version(road: Road, stage: Stage) -> str:
    """One version for the specs that a stage applies to any kind of document (VE-01)."""
    media_types = sorted({media for extractor in EXTRACTORS for media in extractor.media_types})
    documents = [{"media_type": media, "size_bytes": 0} for media in media_types]
    return digest("code", *(road.spec(stage, document).fingerprint for document in documents))[:16]


def _asset(road: Road, stage: Stage, pool: str | None) -> dg.AssetsDefinition:
    inputs = stage.inputs or ("source",)
    counted = stage.contract(road, stage.tables[0])

    @dg.asset(
        key=[road.corpus, stage.name],
        deps=[dg.AssetKey([road.corpus, name]) for name in inputs],
        group_name=group_name(road.corpus),
        description=f"{stage.description}\n\nOne row: {counted.description}",
        kinds=KINDS[stage.name],
        code_version=code_version(road, stage),
        metadata={"dagster/column_schema": table_schema(counted), "tables": list(stage.tables)},
        check_specs=[
            dg.AssetCheckSpec(
                promise.name,
                asset=[road.corpus, stage.name],
                description=f"{promise.description} ({', '.join(promise.rules)})",
                metadata={"rules": list(promise.rules)},
            )
            for promise in promises(road, stage)
        ],
        pool=pool if stage.name == "embeddings" else None,
        op_tags={"linkrag/stage": stage.name},
    )
    def build(context: dg.AssetExecutionContext) -> Iterator[Any]:
        log = road.progress or (lambda name, line: context.log.info(f"{name}: {line}"))
        try:
            report = road.materialise(stage.name, lambda line: log(stage.name, line))
            # One commit a run: a later stage of it may still change what is staged (LA-01).
            committed = finish(road, context.run.run_id) if _is_last(road, stage, context) else None
        except Refused as refused:
            road.reports[stage.name] = refused.report
            yield from _results(road, stage, refused.report)
            raise dg.Failure(
                refused.report.refused, metadata={"cases": _cases(refused.report.checks)}, allow_retries=False
            ) from refused
        except Exception as error:
            road.error = error
            raise dg.Failure(f"{type(error).__name__}: {error}", allow_retries=False) from error
        road.reports[stage.name] = report
        yield from _results(road, stage, report)
        yield dg.MaterializeResult(
            data_version=dg.DataVersion(report.data_version), metadata=_metadata(report, committed)
        )

    return build


def _is_last(road: Road, stage: Stage, context: dg.AssetExecutionContext) -> bool:
    """Whether no later stage of this corpus is part of the run."""
    selected = context.run.asset_selection
    later = road.stages[road.position(stage.name) + 1 :]
    chosen = (dg.AssetKey([road.corpus, other.name]) for other in later)
    return not any(selected is None or key in selected for key in chosen)


def _results(road: Road, stage: Stage, report: StageReport) -> Iterator[dg.AssetCheckResult]:
    """Outcomes of the checks. A document that breaks a contract has been left out: a warning, unless all is refused."""
    found = {check.name: check for check in report.checks}
    severity = dg.AssetCheckSeverity.ERROR if report.refused else dg.AssetCheckSeverity.WARN
    for promise in promises(road, stage):
        check = found.get(promise.name, promise)
        yield dg.AssetCheckResult(
            check_name=promise.name,
            asset_key=[road.corpus, stage.name],
            passed=check.passed,
            severity=severity,
            metadata={"rows": check.rows, "violations": len(check.violations), "cases": _cases([check])},
        )


def _cases(checks: Iterable[CheckResult]) -> dg.MarkdownMetadataValue:
    rows = [case for check in checks for case in check.cases()]
    if not rows:
        return dg.MetadataValue.md("none")
    cells = (
        "| " + " | ".join(str(row[name]).replace("|", "\\|").replace("\n", " ") for name in row) + " |"
        for row in rows
    )
    return dg.MetadataValue.md("\n".join(["| rule | document | case |", "| --- | --- | --- |", *cells]))


def _metadata(report: StageReport, committed: Generation | None) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "dagster/row_count": report.rows,
        **{name: value for name, value in report.counts().items() if name != "rows"},
    }
    if report.reasons:
        metadata["reasons"] = dg.MetadataValue.json(dict(report.reasons))
    if report.failures:
        lines = [f"- `{f.doc_key}` {f.kind}: {f.message}" for f in report.failures[:20]]
        metadata["failures"] = dg.MetadataValue.md("\n".join(lines))
    if report.texts:
        metadata |= {"embedded_texts": report.texts, "embedded_tokens": report.tokens}
    if committed is not None:
        metadata["generation"] = committed.number
    return metadata


def table_schema(contract: Contract) -> dg.TableSchema:
    """Dagster's schema of a table, from its contract (CO-01)."""
    return dg.TableSchema(
        columns=[
            dg.TableColumn(
                str(name),
                _type(column.dtype.type),
                description=column.description,
                constraints=dg.TableColumnConstraints(nullable=column.nullable),
            )
            for name, column in contract.schema.columns.items()
        ]
    )


def _type(kind: pl.DataType) -> str:
    return str(kind).lower()
