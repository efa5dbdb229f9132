"""`linkrag extract` and `linkrag chunk`: single files, without a lake."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkrag_dagster.cli.console import DONE, USAGE, WITH_FAILURES, ends_clearly, print_json, say, stop
from linkrag_dagster.cli.explanations import show_explanation
from linkrag_dagster.cli.file_chunker import ChunkingFailure, FileChunker, elements_of

if TYPE_CHECKING:
    from linkrag_dagster.chunking import ChunkSet
    from linkrag_dagster.extraction.records import Extraction
    from linkrag_dagster.markdown.elements import Element

as_json_lines = click.option(
    "--jsonl", "json_lines", is_flag=True, help="Print one JSON object a line, and nothing else."
)
SHOWN = 60


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path())
@as_json_lines
@ends_clearly
def extract(files: tuple[str, ...], json_lines: bool) -> None:
    """Extract the text of files, with where each run of it stands in the original."""
    failed = False
    for name in files:
        row = _extracted(name)
        failed = failed or row["status"] == "failed"
        if json_lines:
            print_json(row)
        elif row["status"] == "failed":
            say(f"{name}: {row['error_kind']}: {row['error']}")
        else:
            click.echo(row["text"])
    sys.exit(WITH_FAILURES if failed else DONE)


def _extracted(name: str) -> dict[str, Any]:
    from linkrag_dagster.extraction.failures import ExtractionError

    try:
        found = _read(Path(name))
    except ExtractionError as error:
        return {
            "file": name,
            "status": "failed",
            "error_kind": error.kind,
            "error": str(error),
            "extractor": None,
            "extractor_version": None,
            "title": None,
            "text": "",
            "pages": [],
            "spans": [],
        }
    return {
        "file": name,
        "status": "ok",
        "extractor": found.extractor,
        "extractor_version": found.extractor_version,
        "title": found.title,
        "text": found.text,
        "pages": [
            {
                "page": page.page,
                "start_char": page.start_char,
                "end_char": page.end_char,
                **({} if page.confidence is None else {"confidence": page.confidence}),
            }
            for page in found.pages
        ],
        "spans": [
            {"start_char": run.start_char, "end_char": run.end_char, "locator": run.locator}
            for run in found.locators
        ],
    }


def _read(path: Path) -> Extraction:
    from linkrag_dagster.declaration import Extraction as Limits
    from linkrag_dagster.extraction.failures import ExtractionError
    from linkrag_dagster.extraction.registry import extract as extract_bytes

    limit = Limits().max_bytes
    try:
        if path.stat().st_size > limit:
            raise ExtractionError(
                "too_large", f"{path} has {path.stat().st_size:,} bytes, above {limit:,}: split it"
            )
        return extract_bytes(path.read_bytes(), path.name)
    except OSError as error:
        stop(USAGE, f"{path}: can't be read ({error.strerror or error})")


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
    for name in files:
        try:
            found = _read(Path(name))
            elements = elements_of(found)
            made = None if chunker is None else chunker.chunks(elements, found)
        except ExtractionError as error:
            failed = True
            _failed(name, error.kind, str(error), json_lines)
            continue
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
    if json_lines and (explain or page == "-"):
        stop(USAGE, "--jsonl prints rows and nothing else; take --explain or --html - without it")
    if explain and page == "-":
        stop(USAGE, "--explain and --html - both write to standard output; name a file for the page")
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
