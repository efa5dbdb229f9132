"""`linkrag chunk --strategy auto`: topic boundaries are considered, and the choice is told (ST-10)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from linkrag_dagster.cli.main import linkrag

TALK = "\n\n".join(
    f"{'Ann' if k % 2 else 'Bob'}: {'The ferry leaves the quay.' if k < 6 else 'Rye dough rests on linen.'}"
    for k in range(12)
)


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    path = tmp_path / "talk.txt"
    path.write_text(TALK + "\n", encoding="utf-8")
    return path


def test_topics_are_compared_where_paragraphs_follow_speakers(talk: Path) -> None:
    """ST-10: the packaged model compares sentences; without one the choice would be texttiling."""
    ended = CliRunner().invoke(linkrag, ["chunk", str(talk), "--strategy", "auto", "--jsonl"])
    assert ended.exit_code == 0, ended.output
    rows = [json.loads(line) for line in ended.stdout.splitlines()]
    assert {row["strategy"] for row in rows} == {"auto:percentile"}


def test_the_choice_is_visible(talk: Path) -> None:
    """ST-10, SD-16: `--explain` says what was chosen and by which signs, and the distance that made a cut."""
    ended = CliRunner().invoke(linkrag, ["chunk", str(talk), "--strategy", "auto", "--explain"])
    assert ended.exit_code == 0, ended.output
    shown = " ".join(ended.stdout.split())
    assert "percentile: topics do not follow paragraphs" in shown and "of lines open a turn" in shown
    assert "threshold" in shown
