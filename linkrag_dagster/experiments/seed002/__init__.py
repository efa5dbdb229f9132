"""The reproducible chunking experiment of seed 002: three strategies × version filter × two selections (SE-01).

A made-up set of failures, not a ranking of strategies: it shows a condition that a cut destroys, overlap that eats
the budget, an old version that outranks the current one, and equal k at unequal cost. `python -m
linkrag_dagster.experiments.seed002` prints its table.
"""

from linkrag_dagster.experiments.seed002.experiment import example, run
from linkrag_dagster.experiments.seed002.table import table

__all__ = ["example", "run", "table"]
