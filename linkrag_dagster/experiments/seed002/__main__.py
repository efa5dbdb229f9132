"""Print the experiment's table: `python -m linkrag_dagster.experiments.seed002 [FIXTURE] [--json]`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from linkrag_dagster.experiments.seed002.experiment import example, run
from linkrag_dagster.experiments.seed002.table import table


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the shipped fixture, or another; 0: done, 2: a bad fixture (the reason on standard error)."""
    parser = argparse.ArgumentParser(
        prog="python -m linkrag_dagster.experiments.seed002",
        description="Three ways of cutting, without and with old versions, by k and by budget: evidence recall.",
    )
    parser.add_argument("fixture", nargs="?", type=Path, help="a fixture as JSON (default: the seed's own)")
    parser.add_argument("--json", action="store_true", help='print {"records": […]}, with every question')
    options = parser.parse_args(arguments)
    try:
        given = example() if options.fixture is None else json.loads(options.fixture.read_text("utf-8"))
        records = run(given)
    except (OSError, ValueError) as error:
        print(f"{options.fixture or 'seed002.json'}: {error}", file=sys.stderr)
        return 2
    print(json.dumps({"records": records}, ensure_ascii=False) if options.json else table(records))
    return 0


if __name__ == "__main__":
    sys.exit(main())
