"""Documents and scorers for tests of explanations."""

from __future__ import annotations

from typing import Any

from linkrag_dagster.chunking import ChunkSet, chunk_text
from linkrag_dagster.explain import Limits, limits_of
from tests.chunking.scripted import Script

SEMANTIC = "semantic_depth_window"
SIZES: dict[str, Any] = {
    "tokenizer": "cl100k_base", "min_candidate_tokens": 20, "max_tokens": 90, "hard_max_tokens": 140
}  # fmt: skip

HARBOUR = [
    f"The harbour of day {n} was full of ships, ropes and tar, and nobody slept there." for n in range(4)
]
KITCHEN = [f"In the kitchen of day {n} they baked bread, and butter melted on every plate." for n in range(4)]
CODE = "```python\n" + "".join(f"weight_{n} = scale.read({n})\n" for n in range(40)) + "```"
TABLE = "| a | b | c | d | e | f |\n|---|---|---|---|---|---|\n" + "| 1 | 2 | 3 | 4 | 5 | 6 |\n" * 14
VECTORS = {"harbour": (1.0, 0.1), "kitchen": (0.1, 1.0), "المطبخ": (0.5, 0.5)}

TWO_TOPICS = "# Log\n\n" + "\n\n".join([*HARBOUR, *KITCHEN]) + "\n"
MIXED = (
    "---\ntitle: Mixed\n---\n\n# Log & <b>more</b>\n\n"
    + "\n\n".join(
        [*HARBOUR[:3], "![ships](ships.png)", *KITCHEN[:2], "The program:", CODE, TABLE.strip(), *KITCHEN[2:]]
    )
    + "\n\n---\n\n## المطبخ\n\nفي المطبخ خبز وزبدة كل يوم.\n"
)


def chunked(text: str, strategy: str = SEMANTIC, **settings: Any) -> tuple[ChunkSet, Limits]:
    """The chunks of a text whose words say what it is about, and their limits."""
    chosen = {**SIZES, **settings}
    made = chunk_text(text, strategy=strategy, settings=chosen, scorer=Script({**VECTORS, "": (0.6, 0.4)}))
    return made, limits_of(strategy, chosen)
