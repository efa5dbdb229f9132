"""A family of comparisons: declared before the results, corrected over exactly that list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from linkrag_dagster.evaluation.statistics.arguments import open_share, p_value
from linkrag_dagster.evaluation.statistics.multiple_testing import benjamini_hochberg, holm


@dataclass(frozen=True, slots=True)
class CorrectedComparison:
    """One comparison of a family.

    Attributes:
        comparison: its name.
        p: its own p-value; None where the test is undefined (no pair).
        holm, benjamini_hochberg: p corrected over the family; None where p is.
        significant: `holm` is at most the family's alpha.
    """

    comparison: str
    p: float | None
    holm: float | None
    benjamini_hochberg: float | None
    significant: bool


@dataclass(frozen=True, slots=True)
class Family:
    """Comparisons that are corrected together.

    Attributes:
        name: what the family is about.
        comparisons: the names of all comparisons, each once.
        alpha: the family's level.

    Raises:
        ValueError: a comparison that is nameless or declared twice, or alpha is not between 0 and 1.
    """

    name: str
    comparisons: tuple[str, ...]
    alpha: float = 0.05

    def __post_init__(self) -> None:
        open_share("alpha", self.alpha)
        if twice := sorted(name for name, times in Counter(self.comparisons).items() if times > 1):
            raise ValueError(
                f"family {self.name!r} declares {', '.join(twice)} more than once: declare each once"
            )
        if not all(self.comparisons):
            raise ValueError(f"family {self.name!r} declares a comparison without a name: name it")

    def correct(self, p: Mapping[str, float | None]) -> tuple[CorrectedComparison, ...]:
        """Correct p-values over the whole family (Holm, and Benjamini and Hochberg).

        An undefined p-value stays undefined but counts as 1: what was declared is not made smaller by its failing.

        Args:
            p: the p-value of each declared comparison, by name; None where its test is undefined.

        Returns:
            One record a comparison, in the declared order; empty for an empty family.

        Raises:
            ValueError: a declared comparison is missing, one was not declared, or a p-value is not from 0 to 1.
        """
        if missing := [name for name in self.comparisons if name not in p]:
            raise ValueError(
                f"family {self.name!r} lacks {', '.join(missing)}: give every declared comparison, "
                "with None where its test is undefined"
            )
        declared = set(self.comparisons)
        if undeclared := [name for name in p if name not in declared]:
            raise ValueError(
                f"family {self.name!r} does not declare {', '.join(map(str, undeclared))}: "
                "declare a comparison before its result is seen, or report it apart as exploratory"
            )
        own = [p[name] for name in self.comparisons]
        counted = [
            1.0 if value is None else p_value(f"the p-value of {name!r}", value)
            for name, value in zip(self.comparisons, own, strict=True)
        ]
        return tuple(
            CorrectedComparison(
                name,
                value,
                None if value is None else stepped_down,
                None if value is None else stepped_up,
                value is not None and stepped_down <= self.alpha,
            )
            for name, value, stepped_down, stepped_up in zip(
                self.comparisons, own, holm(counted), benjamini_hochberg(counted), strict=True
            )
        )
