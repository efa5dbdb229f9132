"""`linkrag`: a thin face. Each command parses, calls the road, prints: results to standard output."""

from linkrag_dagster.cli.main import main

__all__ = ["main"]
