"""TREC run and qrels files, so that other tools (trec_eval, ir_measures, ranx) can check the figures.

A run line is `question Q0 document rank score tag`, a qrels line `question 0 document grade`, fields separated by white
space (trec_eval's README). trec_eval passes over the rank, orders by score, which it reads as a 32-bit float, and
orders ties by *falling* document name: the scores written here therefore fall strictly within a question, as 32-bit
floats, and every tool sees our ranking.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

Ranking = Sequence[tuple[str, float]]
"""Ids with their scores, best first."""


def write_run(rankings: Mapping[str, Ranking], tag: str) -> str:
    """A run file: questions in order of their ids, results in the order given.

    Scores are kept as far as a strictly falling 32-bit float allows; a tie, or a rise, goes to the next float below.

    Args:
        rankings: by question, ids with scores, best first.
        tag: the run's name.

    Returns:
        The text of the file; "" without results.

    Raises:
        ValueError: an id or tag that is empty or holds white space, an id twice for a question, or a score that is not
            finite as a 32-bit float.
    """
    lines: list[str] = []
    _name(tag, "run tag")
    for question, ranking in sorted(rankings.items()):
        _name(question, "question id")
        seen: set[str] = set()
        above = np.float32(np.inf)
        for rank, (item, score) in enumerate(ranking, start=1):
            _name(item, f"question {question!r}, rank {rank}: document id")
            if item in seen:
                raise ValueError(
                    f"question {question!r} returns {item!r} twice: a run names each result once"
                )
            seen.add(item)
            with np.errstate(over="ignore"):
                value = np.float32(score)
            if not np.isfinite(value):
                raise ValueError(
                    f"question {question!r}, {item!r}: score {score} is not a finite 32-bit float"
                )
            value = min(value, np.nextafter(above, np.float32(-np.inf)))
            # The shortest decimals that give this very float back.
            written = np.format_float_scientific(value, unique=True, trim="0")
            lines.append(f"{question} Q0 {item} {rank} {written} {tag}\n")
            above = value
    return "".join(lines)


def read_run(text: str) -> dict[str, list[tuple[str, float]]]:
    """Rankings by question, by falling score; ties by rising id, whatever the file's order and ranks.

    Raises:
        ValueError: a line without six fields, a rank or score that is no number, or an id twice for a question.
    """
    found: dict[str, dict[str, float]] = {}
    for number, fields in _rows(text, 6, "question Q0 document rank score tag"):
        question, _, item, rank, score, _ = fields
        _whole(rank, f"line {number}: rank")
        value = _number(score, f"line {number}: score")
        if item in found.setdefault(question, {}):
            raise ValueError(
                f"line {number}: question {question!r} returns {item!r} twice: keep one of the two"
            )
        found[question][item] = value
    return {
        question: sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
        for question, scores in found.items()
    }


def write_qrels(qrels: Mapping[str, Mapping[str, int]]) -> str:
    """A qrels file, sorted by question, then document. A question without judgements has no line.

    Raises:
        ValueError: an id that is empty or holds white space.
    """
    lines: list[str] = []
    for question, grades in sorted(qrels.items()):
        _name(question, "question id")
        for item, grade in sorted(grades.items()):
            _name(item, f"question {question!r}: document id")
            lines.append(f"{question} 0 {item} {grade:d}\n")
    return "".join(lines)


def read_qrels(text: str) -> dict[str, dict[str, int]]:
    """Grades by question and document.

    Raises:
        ValueError: a line without four fields, a grade that is no whole number, or a document judged twice.
    """
    found: dict[str, dict[str, int]] = {}
    for number, fields in _rows(text, 4, "question 0 document grade"):
        question, _, item, grade = fields
        value = _whole(grade, f"line {number}: grade")
        if item in found.setdefault(question, {}):
            raise ValueError(
                f"line {number}: question {question!r} judges {item!r} twice: keep one of the two"
            )
        found[question][item] = value
    return found


def _rows(text: str, width: int, form: str) -> list[tuple[int, list[str]]]:
    rows: list[tuple[int, list[str]]] = []
    # Only LF ends a line: `splitlines` would also cut at separators that an id may hold.
    for number, line in enumerate(text.split("\n"), start=1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != width:
            raise ValueError(f"line {number} has {len(fields)} fields: write `{form}`")
        rows.append((number, fields))
    return rows


def _name(name: str, what: str) -> None:
    if len(name.split()) != 1 or name != name.strip():
        raise ValueError(
            f"{what} {name!r} is empty or holds white space, which separates the fields: rename it"
        )


def _whole(text: str, what: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{what} {text!r} is not a whole number") from None


def _number(text: str, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{what} {text!r} is not a number") from None
    if not math.isfinite(value):
        raise ValueError(f"{what} {text!r} is not finite")
    return value
