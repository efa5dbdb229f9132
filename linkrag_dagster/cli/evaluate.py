"""`linkrag evaluate`: how well a corpus answers its questions, with intervals."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from linkrag_dagster.cli.console import (
    DONE,
    REFUSED,
    USAGE,
    WITH_FAILURES,
    as_json,
    declared,
    ends_clearly,
    lake_option,
    print_json,
    road_of,
    say,
    stop,
)

if TYPE_CHECKING:
    import polars as pl

    from linkrag_dagster.declaration import LoadedDeclaration
    from linkrag_dagster.stages.build import BuildResult
    from linkrag_dagster.stages.road import Road
    from linkrag_dagster.stages.set_sources import SetSource

SHOWN = (
    "contained_recall@1",
    "contained_recall@5",
    "contained_recall@10",
    "covered_recall@5",
    "rr@10",
    "new_evidence_ndcg@10",
    "precision@5",
    "budget_recall@512",
    "budget_recall@2048",
    "evidence_share@2048",
)
SHORT = {
    "boundary_similarity": "B similarity",
    "b_precision": "B precision",
    "b_recall": "B recall",
    "reference_boundaries": "reference",
    "hypothesis_boundaries": "boundaries",
}
TABLES = (
    "evaluation",
    "evaluation_questions",
    "evaluation_comparisons",
    "evaluation_rankings",
    "evaluation_judgements",
)


@click.command()
@click.argument("name", required=False)
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="Measure this set of documents and questions under the corpus's settings; may be given several times.",
)
@click.option(
    "--against",
    metavar="FINGERPRINT",
    help="With --set: the earlier result to compare with, by the begin of its fingerprint; default: the latest.",
)
@click.option(
    "--trec", metavar="DIR", type=click.Path(file_okay=False), help="Write TREC run and qrels files there."
)
@click.option(
    "--compare",
    is_flag=True,
    help="Several chunkers on the questions of NAME, or of --set, and ours against the best peer.",
)
@click.option(
    "--strategies", metavar="A,B,…", help="With --compare: ours, each with :SIZE where it has its own."
)
@click.option(
    "--peers", metavar="A,B,…", help="With --compare: other libraries' chunkers, or none; default: all."
)
@click.option("--size", metavar="SIZE", help="With --compare: longest chunk, 128 tokens or 512c code points.")
@lake_option
@as_json
@ends_clearly
def evaluate(
    name: str | None,
    sets: tuple[str, ...],
    against: str | None,
    trec: str | None,
    compare: bool,
    strategies: str | None,
    peers: str | None,
    size: str | None,
    lake: str | None,
    json_output: bool,
) -> None:
    """Ask questions of an index and print how well it answers, with 95 % intervals.

    NAME alone: builds what is stale of that corpus and asks its declared questions. With --set: measures the set under
    the settings of NAME (or of the only declared corpus), and compares with the last result under other settings: did
    this change help? With --compare: measures several chunkers on the corpus or set, ours and those of other libraries,
    and compares.
    """
    if not compare and (strategies or peers or size):
        stop(USAGE, "--strategies, --peers and --size are for --compare")
    found = declared((name,) if name else (), check_source=not sets)
    if len(found) > 1:
        stop(USAGE, f"which corpus: {', '.join(loaded.name for loaded in found)}?")
    if compare and sets:
        folders = [Path(folder) for folder in sets]
        _compare_sets(road_of(found[0], lake=lake), folders, strategies, peers, size, json_output)
    if compare:
        _compare_corpus(found[0], strategies, peers, size, lake, json_output)
    if sets:
        _evaluate_sets(found[0], sets, against, trec, lake, json_output)
    _evaluate_corpus(found[0], trec, lake, json_output)


def _evaluate_corpus(
    loaded: LoadedDeclaration, trec: str | None, lake: str | None, json_output: bool
) -> NoReturn:
    name = loaded.name
    road, result = _built(loaded, lake)
    generation = road.lake.current()
    frames = {table: road.lake.read(generation, table) for table in TABLES}
    if trec:
        _write_trec(Path(trec), frames)
    if json_output:
        print_json(as_object(name, frames))
    else:
        show(f"{name}, generation {generation.number}", frames)
    left_out = frames["evaluation_questions"].filter(~frames["evaluation_questions"]["used"])
    for question in left_out.iter_rows(named=True):
        say(f"left out: {question['question_id']}: {question['problem']}")
    sys.exit(WITH_FAILURES if result.failed or left_out.height else DONE)


def _built(loaded: LoadedDeclaration, lake: str | None) -> tuple[Road, BuildResult]:
    """The corpus, with what is stale of it built; one without questions ends it with what to do."""
    from linkrag_dagster.dag.run import run
    from linkrag_dagster.stages.build import build

    if not loaded.questions:
        stop(
            USAGE,
            f"{loaded.path}: evaluation.questions names no file; write questions, declare their file there, "
            "and evaluate again",
        )
    road = road_of(loaded, lake=lake)
    road.progress = lambda stage, line: say(f"{loaded.name}/{stage}: {line}")
    result = build(road, run)
    if result.refused:
        stop(REFUSED, result.refused)
    return road, result


def _compare_corpus(
    loaded: LoadedDeclaration,
    strategies: str | None,
    peers: str | None,
    size: str | None,
    lake: str | None,
    json_output: bool,
) -> NoReturn:
    """Chunkers side by side on a corpus's own documents and questions."""
    from linkrag_dagster.stages.set_sources import own_set

    road, _ = _built(loaded, lake)
    _compare_sets(road, [own_set(road)], strategies, peers, size, json_output)


def _evaluate_sets(
    loaded: LoadedDeclaration,
    sets: tuple[str, ...],
    against: str | None,
    trec: str | None,
    lake: str | None,
    json_output: bool,
) -> NoReturn:
    from linkrag_dagster.stages.sets import change, earlier, evaluate_set

    road = road_of(loaded, lake=lake)
    objects: list[dict[str, Any]] = []
    for folder in map(Path, sets):
        result = evaluate_set(road, folder, lambda line, at=folder.name: say(f"{at}: {line}"))
        frames = dict(result.frames)
        if trec:
            _write_trec(Path(trec) / result.name, frames)
        before = earlier(road, result, against)
        if against and before is None:
            stop(
                USAGE, f"no result of {result.name} begins with {against!r}: see {road.lake_root}/experiments"
            )
        changed = change(before, result) if before else None
        if json_output:
            found: dict[str, Any] = {
                **as_object(result.name, frames),
                "fingerprint": result.fingerprint,
                "computed": result.computed,
                "cached": result.cached,
                "facts": dict(result.facts),
                "boundaries": boundary_means(frames["boundaries"]),
            }
            if before is not None and changed is not None:
                found["change"] = {
                    "against": before.fingerprint,
                    "computed": before.computed,
                    "differences": list(changed.differences),
                    "comparisons": [asdict(row) for row in changed.comparisons],
                }
            objects.append(found)
            continue
        facts = ", ".join(f"{count:,} {what.replace('_', ' ')}" for what, count in result.facts.items())
        click.echo(
            f"{result.name} ({result.fingerprint[:12]}{', as measured before' if result.cached else ''}): {facts}"
        )
        show(result.name, frames)
        show_boundaries(result.name, frames["boundaries"])
        if before is not None and changed is not None:
            click.echo(f"against {before.fingerprint[:12]} of {before.computed[:16]}:")
            for line in changed.differences:
                click.echo(f"  {line}")
            _show_comparisons([asdict(row) for row in changed.comparisons])
    if json_output:
        print_json(objects[0] if len(objects) == 1 else {"sets": objects})
    sys.exit(DONE)


def _compare_sets(
    road: Road,
    sets: Sequence[Path | SetSource],
    strategies: str | None,
    peers: str | None,
    size: str | None,
    json_output: bool,
) -> NoReturn:
    from linkrag_dagster.cli import compare

    found = compare.compare_sets(road, sets, strategies, peers, size)
    if json_output:
        objects = [compare.as_object(one) for one in found]
        print_json(objects[0] if len(objects) == 1 else {"sets": objects})
    else:
        for one in found:
            compare.show(one)
    sys.exit(DONE)


def _write_trec(folder: Path, frames: dict[str, pl.DataFrame]) -> None:
    """One run file a retriever, `RUN.run`, and `qrels.txt`: other tools can check every figure with them."""
    from linkrag_dagster.evaluation.trec import write_qrels, write_run

    folder.mkdir(parents=True, exist_ok=True)
    rows = frames["evaluation_rankings"].sort("run", "question_id", "rank")
    judged = rows.filter(rows["grade"].is_not_null())
    runs: dict[str, dict[str, list[tuple[str, float]]]] = {}
    for run, question, chunk, score in judged.select("run", "question_id", "chunk_id", "score").iter_rows():
        runs.setdefault(run, {}).setdefault(question, []).append((chunk, score))
    for run, rankings in runs.items():
        (folder / f"{run}.run").write_text(write_run(rankings, f"linkrag-{run}"), encoding="utf-8")
    qrels: dict[str, dict[str, int]] = {}
    judgements = frames["evaluation_judgements"].sort("question_id", "chunk_id")
    for question, chunk, grade in judgements.select("question_id", "chunk_id", "grade").iter_rows():
        qrels.setdefault(question, {})[chunk] = grade
    (folder / "qrels.txt").write_text(write_qrels(qrels), encoding="utf-8")
    say(f"wrote {', '.join(f'{run}.run' for run in runs)} and qrels.txt to {folder}")


def as_object(name: str, frames: dict[str, pl.DataFrame]) -> dict[str, Any]:
    """The result as `--json` prints it: `summary` and `comparisons` are the rows of the lake's tables."""
    questions = frames["evaluation_questions"]
    return {
        "name": name,
        "questions": questions.height,
        "left_out": questions.filter(~questions["used"]).select("question_id", "problem").to_dicts(),
        "summary": frames["evaluation"].to_dicts(),
        "comparisons": frames["evaluation_comparisons"].to_dicts(),
    }


def boundary_means(rows: pl.DataFrame) -> dict[str, dict[str, float | None]]:
    """Method → metric → mean over the segmented documents."""
    from linkrag_dagster.evaluation.boundaries import BoundaryRow, mean_scores

    return mean_scores([BoundaryRow(*row) for row in rows.iter_rows()])


def show_boundaries(title: str, rows: pl.DataFrame) -> None:
    """Print the scores of cuts against reference segmentations, beside the degenerate baselines."""
    from linkrag_dagster.cli.tables import print_table

    means = boundary_means(rows)
    if means:
        metrics = list(next(iter(means.values())))
        lines = [
            [method, *("-" if values[m] is None else f"{values[m]:.3f}" for m in metrics)]
            for method, values in means.items()
        ]
        documents = rows["doc_id"].n_unique()
        names = ("cuts", *(SHORT.get(metric, metric) for metric in metrics))
        print_table(
            f"{title}: cuts against reference segmentations of {documents} documents; means", names, lines
        )


def show(title: str, frames: dict[str, pl.DataFrame]) -> None:
    """Print the summary of all questions, what the chunks destroy, and the comparisons."""
    from linkrag_dagster.cli.tables import print_table
    from linkrag_dagster.stages.experiment import RUNS

    summary = frames["evaluation"]
    cells = {(r["run"], r["slice"], r["metric"]): r for r in summary.iter_rows(named=True)}
    runs = [run for run in RUNS if (run, "all", SHOWN[0]) in cells]
    slices = sorted({piece for _, piece, _ in cells if piece == "all" or piece.startswith("phrasing=")})
    for piece in slices:
        first = cells.get((runs[0], piece, SHOWN[0])) if runs else None
        if first is None:
            continue
        rows = [[metric, *(_interval(cells.get((run, piece, metric))) for run in runs)] for metric in SHOWN]
        asked = f"{first['questions']} questions about {first['needles']} needles"
        print_table(f"{title}: {piece}, {asked}; mean [95 % interval]", ("metric", *runs), rows)
    destroyed = cells.get(("chunks", "all", "destroyed"))
    if destroyed is not None and destroyed["value"] is not None:
        click.echo(
            f"answers destroyed: {_interval(destroyed)} of {destroyed['needles']} needles are in no single chunk "
            f"(needles longer than a chunk may be are counted apart: {_interval(cells['chunks', 'all', 'overlong'])})"
        )
    _show_comparisons(frames["evaluation_comparisons"].to_dicts())


def _show_comparisons(comparisons: list[dict[str, Any]]) -> None:
    from linkrag_dagster.cli.tables import print_table

    compared = [
        [
            row["metric"],
            _pair(row["run_a"], row["run_b"]),
            _signed(row["difference"], row["low"], row["high"]),
            f"{row['wins']}/{row['losses']}/{row['ties']}",
            _number(row["p_sign"]),
            _number(row["p_holm"]),
            _number(row["smallest_detectable"]),
            row["verdict"],
        ]
        for row in comparisons
    ]
    if compared:
        columns = (
            "metric",
            "runs",
            "difference",
            "+/-/=",
            "p sign",
            "p Holm",
            "detectable",
            "verdict",
        )
        print_table(
            "comparisons by needle; p Holm: randomisation, corrected over this family", columns, compared
        )


def _interval(row: dict[str, Any] | None) -> str:
    if row is None or row["value"] is None:
        return "-"
    ends = "" if row["low"] is None else f" [{row['low']:.2f}, {row['high']:.2f}]"
    return f"{row['value']:.3f}{ends}"


def _pair(a: str, b: str) -> str:
    """`dense - rrf`; of two results of one run, `rrf: now - before`."""
    (run, _, left), (other, _, right) = a.partition(" "), b.partition(" ")
    return f"{run}: {left} - {right}" if left and run == other else f"{a} - {b}"


def _signed(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:+.3f}" + ("" if low is None or high is None else f" [{low:+.2f}, {high:+.2f}]")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
