"""Real documents: whatever texts the installed packages brought along."""

from __future__ import annotations

from importlib.metadata import distributions
from pathlib import Path

from linkrag_dagster.markdown import parse
from tests.markdown.support import assert_tiles

SUFFIXES = frozenset({".md", ".rst", ".txt"})
LONGEST = 400_000


def documents() -> list[Path]:
    found = {
        Path(str(file.locate()))
        for distribution in distributions()
        for file in distribution.files or ()
        if file.suffix in SUFFIXES or file.name == "METADATA"
    }
    return sorted(path for path in found if path.is_file() and path.stat().st_size <= LONGEST)


def test_installed_documents_are_tiled() -> None:
    """EL-03: elements and white space are all there is in every README, licence and changelog at hand."""
    paths = documents()
    assert len(paths) >= 20
    for path in paths:
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        assert_tiles(text, parse(text))
