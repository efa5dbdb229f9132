"""What may be claimed from paired results: intervals, tests, corrections, detectable effects (SX-01).

The road of one comparison: `pair_up` the two systems' values by question, count with `wins_and_losses` and test with
`sign_test`, put an interval on the mean difference with `paired_bootstrap` over needles or documents, correct all
comparisons that were declared together with `Family`, state the `smallest_detectable_effect`, and take the word for
the result from `verdict`.
"""

from linkrag_dagster.evaluation.statistics.bootstrap import PairedBootstrap, paired_bootstrap
from linkrag_dagster.evaluation.statistics.detectable_effect import (
    DetectableEffect,
    smallest_detectable_effect,
    smallest_detectable_win_rate,
)
from linkrag_dagster.evaluation.statistics.equivalence import Equivalence, equivalence
from linkrag_dagster.evaluation.statistics.family import CorrectedComparison, Family
from linkrag_dagster.evaluation.statistics.intervals import wilson
from linkrag_dagster.evaluation.statistics.multiple_testing import benjamini_hochberg, holm
from linkrag_dagster.evaluation.statistics.pairs import (
    PairedDifferences,
    WinsAndLosses,
    pair_up,
    wins_and_losses,
)
from linkrag_dagster.evaluation.statistics.randomisation import paired_randomisation
from linkrag_dagster.evaluation.statistics.sign_test import sign_test
from linkrag_dagster.evaluation.statistics.verdict import Verdict, verdict

__all__ = [
    "CorrectedComparison",
    "DetectableEffect",
    "Equivalence",
    "Family",
    "PairedBootstrap",
    "PairedDifferences",
    "Verdict",
    "WinsAndLosses",
    "benjamini_hochberg",
    "equivalence",
    "holm",
    "pair_up",
    "paired_bootstrap",
    "paired_randomisation",
    "sign_test",
    "smallest_detectable_effect",
    "smallest_detectable_win_rate",
    "verdict",
    "wilson",
    "wins_and_losses",
]
