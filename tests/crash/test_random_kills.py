"""Builds killed at random instants, as many as a machine has patience for (FA-04)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.harness import Harness


@pytest.mark.slow
def test_fifty_builds_killed_at_random_instants(tmp_path: Path) -> None:
    """FA-04: `python -m tests.crash.harness` runs 200."""
    tally = Harness(tmp_path, seed=7).run(50)
    assert tally.faults == []
    assert tally.killed + tally.finished == 50
    assert tally.killed >= 25 and tally.compared >= 5
