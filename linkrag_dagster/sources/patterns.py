"""Include and exclude patterns over source-relative paths.

A pattern is compared with the whole path, segment by segment, case by case, without folding Unicode (PI-05):

=============  ==========================================================
`*`            any characters within one segment, also none
`?`            one character of a segment
`[abc] [!a-c]` one character of a set, or outside it
`**`           as a whole segment: any number of folders, also none
trailing `/`   everything under that folder
=============  ==========================================================

`**/*` matches every file, `*.md` only files at the top, `**/*.md` files at any depth, `docs/**` all under
`docs`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from linkrag_dagster.sources.errors import BadPattern


def compile_patterns(patterns: Iterable[str]) -> re.Pattern[str]:
    """One expression for `fullmatch` that holds when any pattern matches; no pattern matches nothing.

    Raises:
        BadPattern: empty, absolute, or with a `.` or `..` segment.
    """
    alternatives = [_translate(pattern) for pattern in patterns]
    return re.compile("|".join(alternatives) if alternatives else r"(?!)")


def _translate(pattern: str) -> str:
    if not pattern:
        raise BadPattern("an empty pattern matches nothing: write **/* for all files")
    if pattern.startswith("/"):
        raise BadPattern(f"pattern {pattern!r} is absolute: write it relative to the source's folder")
    segments = (pattern + "**" if pattern.endswith("/") else pattern).split("/")
    if any(segment in ("", ".", "..") for segment in segments):
        raise BadPattern(
            f"pattern {pattern!r} has an empty, `.` or `..` segment: paths of a source have none"
        )
    parts: list[str] = []
    last = len(segments) - 1
    for position, segment in enumerate(segments):
        if segment != "**":
            parts.append(_segment(segment, pattern) + ("" if position == last else "/"))
        elif position == last:
            parts.append(r"[^/]+(?:/[^/]+)*")
        elif segments[position + 1] != "**":  # a run of ** says no more than one
            parts.append(r"(?:[^/]+/)*")
    return "(?:" + "".join(parts) + ")"


def _segment(segment: str, pattern: str) -> str:
    out: list[str] = []
    at = 0
    while at < len(segment):
        char = segment[at]
        at += 1
        if char == "*":
            if not out or out[-1] != "[^/]*":
                out.append("[^/]*")
        elif char == "?":
            out.append("[^/]")
        elif char == "[":
            # As in the shell, a `]` right behind the opening belongs to the set.
            end = segment.find("]", at + (2 if segment[at : at + 1] == "!" else 1))
            if end < 0:
                raise BadPattern(f"pattern {pattern!r} opens a set with [ and never closes it")
            negated = segment[at] == "!"
            body = segment[at + negated : end].replace("\\", r"\\").replace("[", r"\[").replace("^", r"\^")
            body = body.replace("]", r"\]").replace("&&", r"&\&").replace("~~", r"~\~").replace("||", r"|\|")
            out.append(f"(?!/)[{'^' if negated else ''}{body}]")
            try:
                re.compile(out[-1])
            except re.error as error:
                raise BadPattern(f"pattern {pattern!r} has a set that cannot be read: {error}") from error
            at = end + 1
        else:
            out.append(re.escape(char))
    return "".join(out)
