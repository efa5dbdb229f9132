"""Schedules are checked where their line is known (PI-01)."""

from __future__ import annotations

import pytest

from linkrag_dagster.declaration.cron import cron_problem


@pytest.mark.parametrize(
    "schedule",
    [
        "0 2 * * *",
        "*/10 * * * *",
        "30 4 1,15 jan-mar 1-5",
        "0 0 * * SUN",
        "0 0 * * 7",
        "5-50/5 0 31 12 0",
        "@daily",
    ],
)
def test_schedules(schedule: str) -> None:
    assert cron_problem(schedule) is None


@pytest.mark.parametrize(
    "schedule",
    [
        "",
        "0 2 * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * * 13 *",
        "* * * * 8",
        "5-1 * * * *",
        "*/0 * * * *",
        "a * * * *",
        "*-5 * * * *",
        "1, * * * *",
        "jan * * * *",
        "@never",
        "0 2 * * * *",
    ],
)
def test_no_schedules(schedule: str) -> None:
    assert cron_problem(schedule)
