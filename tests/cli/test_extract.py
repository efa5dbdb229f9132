"""`linkrag extract`: files in their order, what is no file, and `--html`."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pymupdf
import pytest
from click.testing import CliRunner, Result

import linkrag_dagster.cli.page_views as page_views
from linkrag_dagster.cli.input_files import Unreadable, read_file
from linkrag_dagster.cli.main import linkrag


def extract(*arguments: str | Path) -> Result:
    return CliRunner().invoke(linkrag, ["extract", *map(str, arguments)])


@pytest.fixture
def printed(tmp_path: Path) -> Path:
    """A PDF file of three pages."""
    document = pymupdf.open()
    for number in range(1, 4):
        document.new_page().insert_text((72, 100), f"Herring came in on day {number}.")
    path = tmp_path / "log.pdf"
    path.write_bytes(document.tobytes())
    return path


def test_files_are_printed_in_their_order(tmp_path: Path, printed: Path) -> None:
    """Whichever is read first: one from a worker, one in place, one that fails."""
    note, page, empty = tmp_path / "note.md", tmp_path / "page.html", tmp_path / "empty.md"
    note.write_text("# Crab\n")
    page.write_text("<!DOCTYPE html><p>Eel")
    empty.write_text("")
    done = extract(printed, note, empty, page, note, "--jsonl")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(Path(row["file"]).name, row["status"]) for row in rows] == [
        ("log.pdf", "ok"),
        ("note.md", "ok"),
        ("empty.md", "failed"),
        ("page.html", "ok"),
        ("note.md", "ok"),
    ]
    assert rows[2]["error_kind"] == "empty" and done.exit_code == 1


def test_what_is_no_file_is_named_and_not_waited_for(tmp_path: Path) -> None:
    """A pipe without a writer, a device without end, a folder, a socket: an error, at once."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        cases = {
            pipe: "is a pipe: write what it gives to a file",
            Path("/dev/zero"): "is a device",
            tmp_path: "is a folder: name files in it",
            tmp_path / "socket": "is a socket",
            tmp_path / "absent.md": "can't be read (No such file or directory)",
            Path("/dev/null/x"): "can't be read (Not a directory)",
        }
        for path, message in cases.items():
            done = extract(path)
            assert done.exit_code == 2 and f"{path}" in done.stderr and message in done.stderr, path
            assert CliRunner().invoke(linkrag, ["chunk", str(path)]).exit_code == 2


def test_files_before_one_that_cannot_be_read_are_printed(tmp_path: Path) -> None:
    """What was asked for first is not lost."""
    note = tmp_path / "note.md"
    note.write_text("# Crab\n")
    done = extract(note, tmp_path, note)
    assert done.exit_code == 2 and done.stdout == "# Crab\n\n" and "is a folder" in done.stderr


def test_a_file_that_is_exchanged_for_a_pipe_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at it and its opening: the pipe is opened without waiting, and refused."""
    pipe, note = tmp_path / "pipe", tmp_path / "note.md"
    os.mkfifo(pipe)
    note.write_text("x")
    status = note.stat()
    monkeypatch.setattr(Path, "stat", lambda self: status)  # pyright: ignore[reportUnknownLambdaType,reportUnknownArgumentType]
    with pytest.raises(Unreadable, match="is a pipe"):
        read_file(pipe, 10)


def test_more_bytes_than_allowed_are_not_read(tmp_path: Path) -> None:
    """XT-11: `too_large` without reading the file."""
    file = tmp_path / "large.md"
    file.write_bytes(b"12345")
    assert read_file(file, 5) == b"12345" and read_file(file, 4) is None


def test_html_shows_the_pages(tmp_path: Path, printed: Path) -> None:
    """XT-02: each page's picture, and its text."""
    out = tmp_path / "log.html"
    done = extract(printed, "--html", out)
    assert done.exit_code == 0 and done.stdout == "" and "3 pages of" in done.stderr
    page = out.read_text(encoding="utf-8")
    assert page.count('<section class="page"') == page.count("<img ") == page.count('src="data:image/') == 3
    assert page.count('class="box text"') == 3 and "day 2." in page
    part = extract(printed, "--html", "-", "--pages", "1,3")
    assert 'id="page-1"' in part.stdout and 'id="page-2"' not in part.stdout and "2 of 3 shown" in part.stdout
    beside = extract(printed, "--html", out, "--jsonl")
    assert json.loads(beside.stdout)["status"] == "ok"


def test_html_of_a_long_document_shows_its_beginning(
    tmp_path: Path, printed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page of a thousand pictures can't be opened: the first ones are shown, and how to see others."""
    monkeypatch.setattr(page_views, "MOST_PAGES", 2)
    page = extract(printed, "--html", "-").stdout
    assert page.count('<section class="page"') == 2
    assert "The first 2 of 3 pages" in page and "--pages 3-3" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--html", "-", "--jsonl"), "--jsonl prints rows"),
        (("--html", "o.html", "--pages", "0"), "is no range in 1 to 3"),
        (("--html", "o.html", "--pages", "2-9"), "is no range in 1 to 3"),
        (("--html", "o.html", "--pages", "3-2"), "is no range in 1 to 3"),
        (("--html", "o.html", "--pages", "two"), "write numbers and ranges"),
        (("--pages", "2"), "give --html OUT"),
        (("--html", "nowhere/o.html"), "can't be written"),
        (("log.pdf", "--html", "o.html"), "a page shows one file, 2 are given"),
        (("--html", "log.pdf"), "that is the file to be shown"),
    ],
)
def test_forms_that_exclude_each_other_are_refused(
    printed: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(printed.parent)
    done = extract("log.pdf", *arguments)
    assert done.exit_code == 2 and message in done.stderr, done.output


def test_what_has_no_pages_is_led_elsewhere(tmp_path: Path) -> None:
    """A text has no pages to show; `chunk --html` shows it."""
    note = tmp_path / "note.md"
    note.write_text("# Crab\n")
    done = extract(note, "--html", tmp_path / "o.html")
    assert done.exit_code == 2 and "has no pages" in done.stderr and "linkrag chunk" in done.stderr
