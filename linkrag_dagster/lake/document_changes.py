"""Which documents two generations of a corpus differ in, by their names (VE-08, PI-05)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from linkrag_dagster.lake.lake import CorpusLake
from linkrag_dagster.lake.manifest import Generation

COLUMNS = ["doc_key", "doc_name", "sha256"]


@dataclass(frozen=True, slots=True)
class DocumentChanges:
    """How the documents of two generations differ; every name is a source-relative path, in order.

    Attributes:
        edited: same document, other bytes.
        added, removed: documents of one generation alone.
        renamed: pairs of an old and a new name whose bytes are the same.
    """

    edited: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()

    @property
    def any(self) -> bool:
        """Whether they differ at all."""
        return bool(self.edited or self.added or self.removed or self.renamed)

    def as_dict(self) -> dict[str, object]:
        """As `linkrag diff --json` prints them."""
        return {
            "edited": list(self.edited),
            "added": list(self.added),
            "removed": list(self.removed),
            "renamed": [{"from": old, "to": new} for old, new in self.renamed],
        }

    def words(self, shown: int) -> list[str]:
        """In words, the first `shown` names of each kind."""
        kinds: dict[str, Sequence[str]] = {
            "edited": self.edited,
            "added": self.added,
            "removed": self.removed,
            "renamed": [f"{old} → {new}" for old, new in self.renamed],
        }
        return [
            f"{len(names)} {kind} ({', '.join(names[:shown])}{', …' if len(names) > shown else ''})"
            for kind, names in kinds.items()
            if names
        ]


def document_changes(lake: CorpusLake, old: Generation, new: Generation) -> DocumentChanges:
    """Compare the documents of two generations whose files are kept.

    Raises:
        LakeError: a file is missing or damaged.
    """
    before, after = _documents(lake, old), _documents(lake, new)
    gone: dict[str, list[str]] = {}
    for key in sorted(before.keys() - after.keys(), key=lambda key: before[key][0]):
        name, mark = before[key]
        gone.setdefault(mark, []).append(name)
    added: list[str] = []
    renamed: list[tuple[str, str]] = []
    for name, mark in sorted(after[key] for key in after.keys() - before.keys()):
        if left := gone.get(mark):
            renamed.append((left.pop(0), name))
        else:
            added.append(name)
    both = before.keys() & after.keys()
    # A document that declares its id keeps it under another name.
    renamed += [(before[key][0], after[key][0]) for key in both if before[key][0] != after[key][0]]
    return DocumentChanges(
        edited=tuple(sorted(after[key][0] for key in both if before[key][1] != after[key][1])),
        added=tuple(added),
        removed=tuple(sorted(name for left in gone.values() for name in left)),
        renamed=tuple(sorted(renamed)),
    )


def _documents(lake: CorpusLake, generation: Generation) -> Mapping[str, tuple[str, str]]:
    rows = lake.read(generation, "raw_documents", columns=COLUMNS)
    return {key: (name, mark) for key, name, mark in rows.iter_rows()}
