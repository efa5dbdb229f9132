"""Is a text a cron schedule of five fields? Checked here so that a wrong one has a line, before Dagster sees it."""

from __future__ import annotations

import re

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_ALIASES = frozenset({"@hourly", "@daily", "@weekly", "@monthly"})

# name, lowest and highest value, names of values counted from the lowest
_FIELDS: tuple[tuple[str, int, int, tuple[str, ...]], ...] = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day of the month", 1, 31, ()),
    ("month", 1, 12, _MONTHS),
    ("day of the week", 0, 7, _DAYS),
)
_ITEM = re.compile(
    r"(?P<low>\*|[0-9]{1,2}|[a-z]{3})(?:-(?P<high>[0-9]{1,2}|[a-z]{3}))?(?:/(?P<step>[0-9]{1,2}))?"
)


def cron_problem(schedule: str) -> str | None:
    """Why `schedule` is no cron schedule, in one sentence; None when it is one (five fields, or `@daily`)."""
    if schedule.strip().lower() in _ALIASES:
        return None
    parts = schedule.split()
    if len(parts) != len(_FIELDS):
        return (
            f'a schedule has five fields (minute, hour, day, month, weekday; "0 2 * * *" is daily at two), '
            f"this one has {len(parts)}"
        )
    for part, (name, lowest, highest, names) in zip(parts, _FIELDS, strict=True):
        for item in part.lower().split(","):
            if not _item_fits(item, lowest, highest, names):
                return (
                    f"{item!r} is no {name} ({lowest} to {highest}, `*`, ranges 1-5, steps */10, lists 1,3)"
                )
    return None


def _item_fits(item: str, lowest: int, highest: int, names: tuple[str, ...]) -> bool:
    found = _ITEM.fullmatch(item)
    if found is None:
        return False
    low, high, step = found["low"], found["high"], found["step"]
    if step is not None and int(step) == 0:
        return False
    if low == "*":
        return high is None
    values = [_value(bound, lowest, names) for bound in (low, high) if bound is not None]
    if any(value is None or not lowest <= value <= highest for value in values):
        return False
    return values == sorted(value for value in values if value is not None)


def _value(bound: str, lowest: int, names: tuple[str, ...]) -> int | None:
    if bound.isdigit():
        return int(bound)
    return names.index(bound) + lowest if bound in names else None
