"""linkrag_dagster: from documents to searchable tables, every row traceable to its words and its versions.

`Corpus` is the Dagster Component; it is loaded when it is asked for, so that the core imports no Dagster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkrag_dagster.dag.component import Corpus

__all__ = ["Corpus"]


def __getattr__(name: str) -> Any:
    if name == "Corpus":
        from linkrag_dagster.dag.component import Corpus

        return Corpus
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
