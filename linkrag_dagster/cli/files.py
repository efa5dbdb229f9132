"""`linkrag extract` and `linkrag chunk`: single files, without a lake."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from linkrag_dagster.cli.console import DONE, USAGE, WITH_FAILURES, ends_clearly, print_json, say, stop
from linkrag_dagster.cli.explanations import show_explanation
from linkrag_dagster.cli.file_chunker import ChunkingFailure, FileChunker, elements_of
from linkrag_dagster.cli.input_files import outcomes
from linkrag_dagster.cli.page_views import show_pages

if TYPE_CHECKING:
    from linkrag_dagster.chunking import ChunkSet
    from linkrag_dagster.extraction.records import Extraction
    from linkrag_dagster.markdown.elements import Element
    from linkrag_dagster.workers import Outcome

as_json_lines = click.option(
    "--jsonl", "json_lines", is_flag=True, help="Print one JSON object a line, and nothing else."
)
SHOWN = 60


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path())
@click.option(
    "--html",
    "page",
    type=click.Path(dir_okay=False),
    metavar="OUT",
    help="Write the pages of a PDF file with what was read on them, as one page; - for standard output.",
)
@click.option(
    "--pages", metavar="NUMBERS", help="Which pages --html shows, as 3 or 1,4-6; else the first 50."
)
@as_json_lines
@ends_clearly
def extract(files: tuple[str, ...], page: str | None, pages: str | None, json_lines: bool) -> None:
    """Extract the text of files, with where each run of it stands in the original."""
    _check_page(files, page, json_lines)
    if pages is not None and page is None:
        stop(USAGE, "--pages says which pages --html shows; give --html OUT, too")
    failed = False
    for name, outcome in outcomes(files):
        row = _extracted(name, outcome)
        failed = failed or row["status"] == "failed"
        if page is not None and row["status"] != "failed":
            show_pages(name, cast("Extraction", outcome), page=page, wanted=pages)
            if not json_lines:
                continue
        if json_lines:
            print_json(row)
        elif row["status"] == "failed":
            say(f"{name}: {row['error_kind']}: {row['error']}")
        else:
            click.echo(row["text"])
    sys.exit(WITH_FAILURES if failed else DONE)


def _extracted(name: str, found: Outcome) -> dict[str, Any]:
    from linkrag_dagster.extraction.failures import ExtractionError

    if isinstance(found, ExtractionError):
        return {
            "file": name,
            "status": "failed",
            "error_kind": found.kind,
            "error": str(found),
            "extractor": None,
            "extractor_version": None,
            "title": None,
            "text": "",
            "pages": [],
            "spans": [],
        }
    return {
        "file": name,
        "status": "partial" if found.warnings else "ok",
        **({"error_kind": "no_text", "error": "; ".join(found.warnings)} if found.warnings else {}),
        "extractor": found.extractor,
        "extractor_version": found.extractor_version,
        "title": found.title,
        "text": found.text,
        "pages": [
            {
                "page": page.page,
                "start_char": page.start_char,
                "end_char": page.end_char,
                **(
                    {}
                    if page.confidence is None
                    else {"confidence": page.confidence, "reading": page.reading}
                ),
            }
            for page in found.pages
        ],
        "spans": [
            {
                "start_char": run.start_char,
                "end_char": run.end_char,
                "locator": run.locator,
                **({} if run.confidence is None else {"confidence": run.confidence}),
            }
            for run in found.locators
        ],
    }


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path())
@click.option(
    "--stage",
    type=click.Choice(["elements", "coarse", "final", "chunks"]),
    default="chunks",
    show_default=True,
    help="Which step's rows to print.",
)
@click.option("--strategy", default="pack", show_default=True, help="How coarse chunks become final ones.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="A chunking setting, such as max_tokens=200.",
)
@click.option("--explain", is_flag=True, help="Print the text with its cuts, and why each fell there.")
@click.option(
    "--html",
    "page",
    type=click.Path(dir_okay=False),
    metavar="OUT",
    help="Write that as one page, with the curves of cohesion and depth; - for standard output.",
)
@as_json_lines
@ends_clearly
def chunk(
    files: tuple[str, ...],
    stage: str,
    strategy: str,
    settings: tuple[str, ...],
    explain: bool,
    page: str | None,
    json_lines: bool,
) -> None:
    """Chunk files and print the rows of one step, with spans, trails, tokens and the reason of each cut."""
    from linkrag_dagster.extraction.failures import ExtractionError

    _check_forms(files, stage, explain, page, json_lines)
    chunker = None if stage == "elements" else FileChunker(strategy, _settings(settings))
    failed = False
    for name, found in outcomes(files):
        if isinstance(found, ExtractionError):
            failed = True
            _failed(name, found.kind, str(found), json_lines)
            continue
        try:
            elements = elements_of(found)
            made = None if chunker is None else chunker.chunks(elements, found)
        except ChunkingFailure as error:
            failed = True
            _failed(name, error.kind, str(error), json_lines)
            continue
        if chunker is not None and made is not None and (explain or page is not None):
            show_explanation(name, found.text, made, chunker.limits, in_terminal=explain, page=page)
            if not json_lines:
                continue
        for row in _rows(stage, elements, made):
            if json_lines:
                print_json({"file": name, **row})
            else:
                _show(name, stage, row)
    sys.exit(WITH_FAILURES if failed else DONE)


def _check_forms(files: Sequence[str], stage: str, explain: bool, page: str | None, json_lines: bool) -> None:
    """Stop where two forms of output are asked for that exclude each other."""
    if (explain or page is not None) and stage != "chunks":
        stop(USAGE, f"--stage {stage}: --explain and --html show all steps; leave --stage out")
    if explain and json_lines:
        stop(USAGE, "--jsonl prints rows and nothing else; take --explain without it")
    if explain and page == "-":
        stop(USAGE, "--explain and --html - both write to standard output; name a file for the page")
    _check_page(files, page, json_lines)


def _check_page(files: Sequence[str], page: str | None, json_lines: bool) -> None:
    """Stop where a page can't be written beside the rest, or over what it shows."""
    if json_lines and page == "-":
        stop(USAGE, "--jsonl prints rows and nothing else; take --html - without it")
    if page is not None and len(files) > 1:
        stop(USAGE, f"--html {page}: a page shows one file, {len(files)} are given")
    if page not in (None, "-") and Path(page).resolve() in [Path(name).resolve() for name in files]:
        stop(USAGE, f"--html {page}: that is the file to be shown; name another one")


def _failed(name: str, kind: str, message: str, json_lines: bool) -> None:
    if json_lines:
        print_json({"file": name, "error_kind": kind, "error": message})
    say(f"{name}: {kind}: {message}")


def _rows(stage: str, elements: Sequence[Element], made: ChunkSet | None) -> Iterator[dict[str, Any]]:
    from linkrag_dagster.contracts.rows import row_of

    records: Mapping[str, Sequence[Any]] = {"elements": elements}
    if made is not None:
        records = {"coarse": made.coarse, "final": made.final, "chunks": made.chunks}
    yield from (row_of(record) for record in records[stage])


def _settings(pairs: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            stop(USAGE, f"--set {pair}: write KEY=VALUE")
        try:
            found[key] = json.loads(value)
        except ValueError:
            found[key] = value
    return found


def _show(name: str, stage: str, row: Mapping[str, Any]) -> None:
    if stage == "elements":
        what, text = row["kind"], row.get("title") or ""
    else:
        what, text = f"{row['role']} {'+'.join(row['kinds'])} {row['tokens']} tokens", row["content"]
    trail = " > ".join(row["heading_trail"])
    line = " ".join(str(text).split())
    shown = line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"
    place = f"{name}:{row['start_line']}-{row['end_line']} [{row['start_char']},{row['end_char']})"
    click.echo(f"{place} {what} | {trail} | {shown}")
