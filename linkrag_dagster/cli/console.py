"""What all commands share: which corpora are meant, how errors end, where words go."""

from __future__ import annotations

import difflib
import json
import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, TypeVar

import click

if TYPE_CHECKING:
    from linkrag_dagster.declaration import LoadedDeclaration
    from linkrag_dagster.stages.road import Road

DONE, WITH_FAILURES, USAGE, REFUSED, TO_DO = 0, 1, 2, 3, 10

P = ParamSpec("P")
R = TypeVar("R")

as_json = click.option("--json", "json_output", is_flag=True, help="Print one JSON object, and nothing else.")
lake_option = click.option(
    "--lake",
    metavar="PATH",
    help="The lake's folder. LINKRAG_LAKE is stronger, the declaration's lake: weaker.",
)

wait_option = click.option(
    "--wait",
    type=click.FloatRange(min=0),
    default=0.0,
    help="Seconds to wait for another build of the corpus.",
)


def say(line: str) -> None:
    """A line for people: to standard error, so that standard output holds results alone."""
    click.echo(line, err=True)


def print_json(value: object) -> None:
    """One JSON object to standard output."""
    click.echo(json.dumps(value, ensure_ascii=False, default=str))


def stop(code: int, message: str) -> NoReturn:
    """End with a message; with --json, as one object on standard output, too."""
    context = click.get_current_context(silent=True)
    if context is not None and context.params.get("json_output"):
        print_json({"error": {"exit_code": code, "message": message}})
    say(f"linkrag: {message}")
    sys.exit(code)


def write_page(place: str, page: str, what: str) -> None:
    """Write a page where `--html` says: to a file, and say what it shows, or to standard output for `-`."""
    if place == "-":
        click.echo(page, nl=False)
        return
    try:
        Path(place).write_text(page, encoding="utf-8", newline="\n")
    except OSError as error:
        stop(USAGE, f"--html {place}: can't be written ({error.strerror or error})")
    say(f"{place}: {what}; open it in a browser")


def ends_clearly(command: Callable[P, R]) -> Callable[P, R]:
    """Turn the errors that a user can cause into a message and an exit code."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        with clear_errors():
            return command(*args, **kwargs)

    return run


@contextmanager
def clear_errors() -> Generator[None]:
    """The errors of declarations, sources, locks, lakes and models, each with its exit code."""
    from linkrag_dagster.declaration import DeclarationError
    from linkrag_dagster.lake.lock import LockHeld
    from linkrag_dagster.lake.manifest import LakeError

    try:
        yield
    except DeclarationError as error:
        stop(USAGE, str(error))
    except LockHeld as error:
        stop(REFUSED, str(error))
    except LakeError as error:
        stop(REFUSED, str(error))
    except BrokenPipeError:
        # Whoever read has enough; nothing that is still in the buffer may be written at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(DONE)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        stop(
            REFUSED,
            f"{place}{error.strerror or error}; the last whole build stays as it is: free space on the disk or make "
            "it writable, then build again, which goes on from here",
        )
    except KeyboardInterrupt:
        stop(130, "interrupted; what was embedded so far is kept, build again to go on")
    except Exception as error:
        code = _known(error)
        if code is None:
            raise
        stop(code, _for_people(error))


def _for_people(error: Exception) -> str:
    """The message of an error, in words of the command line."""
    if type(error).__name__ == "TextTooLong":
        return "the query is longer than the model's window: ask in fewer words, or search with --mode bm25"
    return str(error)


def _known(error: Exception) -> int | None:
    """Exit codes of errors whose modules only some commands load."""
    return {
        "SourceUnreachable": USAGE,
        "BadPattern": USAGE,
        "EmptySource": REFUSED,
        "NotBuilt": REFUSED,
        "ModelMismatch": REFUSED,
        "ModelNotFound": USAGE,
        "ModelCorrupt": USAGE,
        "ModelError": USAGE,
        "TokenizerNotFound": USAGE,
        "SettingsError": USAGE,
        "TextTooLong": USAGE,
        "UnknownAnalyzer": USAGE,
        "GoldError": USAGE,
        "SetError": USAGE,
        "NoSuchGeneration": USAGE,
        "NoSuchRun": USAGE,
        "NothingToActivate": REFUSED,
        "WorkerStartError": REFUSED,
    }.get(type(error).__name__)


def declared(names: Sequence[str], *, check_source: bool = True) -> list[LoadedDeclaration]:
    """The declarations of the named corpora, or of all."""
    from linkrag_dagster.declaration import find_declarations, find_root, load_declaration

    root = find_root(Path.cwd())
    paths = find_declarations(root)
    known = {path.parent.name: path for path in paths}
    if not known:
        stop(USAGE, f"{root}: no corpus is declared in assets/; run: linkrag init NAME --source DIR")
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            stop(
                USAGE,
                f"no corpus is called {name!r}; {hint}declared in {root / 'assets'}: {', '.join(sorted(known))}",
            )
    wanted = [known[name] for name in names] if names else paths
    return [load_declaration(path, check_source=check_source) for path in wanted]


def road_of(loaded: LoadedDeclaration, **options: Any) -> Road:
    """The road of a declared corpus."""
    from linkrag_dagster.stages.road import Road

    return Road(loaded, **options)
