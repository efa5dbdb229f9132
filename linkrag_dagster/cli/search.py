"""`linkrag search`: citations for a question."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from linkrag_dagster.cli.console import (
    DONE,
    USAGE,
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
    from linkrag_dagster.retrieval.search import Answer

QUOTE_LINES = 12


@click.command()
@click.argument("name")
@click.argument("query")
@click.option(
    "-k", "k", type=click.IntRange(min=1), help="At most this many citations (declared: retrieval.k)."
)
@click.option(
    "--mode",
    type=click.Choice(["dense", "bm25", "hybrid", "rrf", "zscore"]),
    default="hybrid",
    show_default=True,
    help="What ranks; hybrid: both, fused as declared (retrieval.fusion): by ranks (rrf) or standardised scores.",
)
@click.option(
    "--cut",
    type=click.FloatRange(0, 2),
    help="Only chunks under this cosine distance (declared: retrieval.cut).",
)
@click.option("--all-versions", is_flag=True, help="Search superseded versions of documents too.")
@lake_option
@as_json
@ends_clearly
def search(
    name: str,
    query: str,
    k: int | None,
    mode: str,
    cut: float | None,
    all_versions: bool,
    lake: str | None,
    json_output: bool,
) -> None:
    """Search the last whole build of a corpus; every answer is a citation with the words of its source."""
    if not query.strip():
        stop(USAGE, "the query is empty: ask something")
    if cut is not None and cut != cut:
        stop(USAGE, "--cut is no number: give a cosine distance from 0 to 2")
    from linkrag_dagster.retrieval.index_model import analyzer_of, encoder_of
    from linkrag_dagster.retrieval.search import search as search_lake

    road = road_of(declared((name,), check_source=False)[0], lake=lake)
    retrieval = road.declaration.retrieval
    cut = retrieval.cut if cut is None else cut
    generation = road.lake.current()
    needs_vectors = generation.number > 0 and (mode != "bm25" or cut is not None)
    encoder, note = (
        encoder_of(generation, road.declaration.embedding.model, road.loaded.path.parent)
        if needs_vectors
        else (None, "")
    )
    if note:
        say(note)
    answer = search_lake(
        road.lake,
        query,
        mode=mode,
        fusion=retrieval.fusion,
        k=k or retrieval.k,
        cut=cut,
        all_versions=all_versions,
        encoder=encoder,
        analyzer=analyzer_of(generation) if generation.number else None,
    )
    # GA-01: the reader is told that nothing was refused for its distance.
    gate = "" if cut is not None else "no cut is declared (retrieval.cut): the nearest chunks, however far"
    if json_output:
        found: dict[str, object] = {
            "answerable": answer.answerable,
            "citations": [citation.as_dict() for citation in answer.citations],
            "fingerprint": answer.fingerprint,
        }
        reason = "; ".join(part for part in (answer.reason, gate if answer.answerable else "", note) if part)
        print_json({**found, "reason": reason} if reason else found)
    else:
        _show(answer)
        if gate and answer.answerable:
            say(gate)
    sys.exit(DONE)


def _show(answer: Answer) -> None:
    if not answer.answerable:
        click.echo(answer.reason)
    for citation in answer.citations:
        distance = (
            "" if citation.cosine_distance is None else f", cosine distance {citation.cosine_distance:.3f}"
        )
        click.echo(
            click.style(f"[{citation.index}] {citation.doc_name}", bold=True)
            + f"{citation.fragment} (score {citation.score:.4f}{distance})"
        )
        if citation.label:
            click.echo(f"    {citation.label}")
        lines = citation.quote.strip().splitlines()
        for line in lines[:QUOTE_LINES]:
            click.echo(f"    | {line}")
        if len(lines) > QUOTE_LINES:
            click.echo(f"    | … {len(lines) - QUOTE_LINES} more lines")
        click.echo("")
