"""`linkrag evaluate --compare`: chunkers side by side on one set, and ours against the best peer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkrag_dagster.cli.console import REFUSED, USAGE, say, stop

if TYPE_CHECKING:
    from linkrag_dagster.stages.road import Road
    from linkrag_dagster.stages.set_comparison import Contender, SetComparison
    from linkrag_dagster.stages.set_sources import SetSource

CAPABILITIES = {
    "protected cut": ("protected_cut", "protected"),
    "truncated": ("truncated", "chunks"),
    "derived anchored": ("derived_anchored", "derived"),
    "headings with text": ("headings_attached", "headings"),
    "over length": ("illegal_over_length", "limited"),
}
"""Column → what is counted, and of how many: structural capabilities of a chunker."""
HEADINGS = ("destroyed", "R@1", "R@5", "R@10", "MRR@10", "budget recall@2048")


def names(written: str | None) -> list[str] | None:
    """The names in a comma-separated option; None where it was not given, nothing for `none`."""
    if written is None:
        return None
    return [] if written == "none" else [name.strip() for name in written.split(",") if name.strip()]


def compare_sets(
    road: Road, sets: Sequence[Path | SetSource], strategies: str | None, peers: str | None, size: str | None
) -> list[SetComparison]:
    """Compare chunkers on every set; a peer that can't be had, or that fails, ends it with what to do."""
    from linkrag_dagster.peers import PeerFailed, PeerMissing, UnknownPeer
    from linkrag_dagster.stages.set_comparison import STRATEGIES, compare_set

    found: list[SetComparison] = []
    asked = names(strategies)
    try:
        for source in sets:
            found.append(
                compare_set(
                    road,
                    source,
                    lambda line, at=source.name: say(f"{at}: {line}"),
                    strategies=STRATEGIES if asked is None else asked,
                    peers=names(peers),
                    size=size,
                )
            )
    except (PeerMissing, UnknownPeer) as error:
        stop(USAGE, str(error))
    except PeerFailed as error:
        stop(REFUSED, str(error))
    return found


def as_object(found: SetComparison) -> dict[str, Any]:
    """A comparison as `--json` prints it."""
    return {
        **asdict(found),
        "contenders": [
            {
                **asdict(one),
                "passed_gates": one.passed,
                "mean_tokens": one.mean_tokens,
                "accounted": one.accounted,
                "capabilities": one.capabilities,
            }
            for one in found.contenders
        ],
        "comparisons": [asdict(row) for row in found.comparisons],
    }


def show(found: SetComparison) -> None:
    """Print a row a chunker and retriever, the gates, what must be known of each, and ours against the best peer."""
    from linkrag_dagster.cli.tables import print_table
    from linkrag_dagster.stages.set_comparison import SHOWN

    rows = [
        [
            one.label,
            run,
            one.facts["chunks"],
            f"{one.mean_tokens:.0f}",
            f"{one.destroyed.value:.3f}" if one.destroyed.value is not None else "-",
            *(
                "-" if cell.value is None else f"{cell.value:.3f}"
                for cell in (figures[m] for m in SHOWN[:-1])
            ),
            _interval(figures[SHOWN[-1]].value, figures[SHOWN[-1]].low, figures[SHOWN[-1]].high),
        ]
        for one in found.contenders
        for run, figures in one.figures.items()
    ]
    columns = ("chunker", "run", "chunks", "tokens", *HEADINGS)
    print_table(f"{found.name}: {found.questions} questions, means", columns, rows)
    _show_gates(found)
    for one in found.contenders:
        for line in _remarks(one):
            click.echo(f"  {one.label}: {line}")
    for name, why in found.missing.items():
        say(f"{found.name}: {name} is left out: {why}")
    _show_pairs(found)


def _show_gates(found: SetComparison) -> None:
    """Print what the gates counted: correctness, which voids a comparison, then capabilities (ME-05)."""
    from linkrag_dagster.cli.tables import print_table

    rows: list[list[object]] = []
    for one in found.contenders:
        counts = one.gates.get("capabilities", {})
        pairs = ((counts.get(part, 0), counts.get(whole, 0)) for part, whole in CAPABILITIES.values())
        accounted = "-" if one.accounted is None else f"{one.accounted:.2%}"
        rows.append(
            [
                one.label,
                "pass" if one.passed else "void",
                accounted,
                *(f"{part}/{whole}" if whole else "-" for part, whole in pairs),
            ]
        )
    columns = ("chunker", "gates", "source kept", *CAPABILITIES)
    print_table(f"{found.name}: gates; a weak baseline may fail what is right of the source", columns, rows)


def _show_pairs(found: SetComparison) -> None:
    from linkrag_dagster.cli.tables import print_table
    from linkrag_dagster.stages.set_comparison import COMPARED_METRIC

    rows = [
        [
            row.run_a.partition(" ")[0],
            row.run_a.partition(" ")[2],
            row.run_b.partition(" ")[2],
            "-" if row.difference is None else f"{row.difference:+.3f} [{row.low:+.2f}, {row.high:+.2f}]",
            f"{row.wins}/{row.losses}/{row.ties}",
            "-" if row.p_holm is None else f"{row.p_holm:.3f}",
            row.verdict,
        ]
        for row in found.with_best
    ]
    if rows:
        columns = ("run", "ours", "best peer", "difference", "+/-/=", "p Holm", "verdict")
        family = found.comparisons[0].family
        print_table(
            f"{COMPARED_METRIC} by needle, against the best peer; p Holm: over the family of {family}",
            columns,
            rows,
        )


def _remarks(one: Contender) -> list[str]:
    """What a reader must know of a chunker's figures."""
    facts = one.facts
    lines: list[str] = []
    if not one.passed:
        lines.append(
            f"void: {facts['lost_characters']:,} characters of {facts['documents_failing_gates']} documents are in no "
            "chunk and in no record, or out of order; it is compared with none"
        )
    if facts.get("inexact_chunks"):
        lines.append(f"{facts['inexact_chunks']} chunks are not in the source as they were cut")
    if facts.get("truncated_chunks"):
        lines.append(f"the encoder sees the beginning alone of {facts['truncated_chunks']} chunks")
    return lines


def _interval(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" + ("" if low is None or high is None else f" [{low:.2f}, {high:.2f}]")
