"""What a stage is made of, and the hash that says so (VE-01).

The spec of a stage is the only thing that decides, beside the content of its inputs, whether a row is stale. The code
version of a Dagster asset and the fingerprint of every row derive from it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

HASH_CHARACTERS = 32
"""Hex digits kept of a SHA-256: 128 bits."""


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical_json(value: object) -> str:
    """One text for equal values: sorted keys, no white space, no NaN.

    Raises:
        ValueError: for NaN or infinite numbers.
        TypeError: for what JSON can't hold.
    """
    return _CANONICAL.encode(value)


def digest(*parts: str | bytes) -> str:
    """Length-safe hash: each part is preceded by its length, so `("ab", "c")` and `("a", "bc")` differ."""
    pieces: list[bytes] = []
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        pieces += (len(data).to_bytes(8, "big"), data)
    return hashlib.sha256(b"".join(pieces)).hexdigest()[:HASH_CHARACTERS]


@dataclass(frozen=True, slots=True)
class StageSpec:
    """What a stage does to one kind of row.

    Attributes:
        name: the stage's table.
        revision: raised by hand whenever the code of the stage gives other rows for equal inputs.
        parameters: settings that change its rows.
        components: versions of what it is made with: extractor, parser, tokenizer, analyzer, model.
    """

    name: str
    revision: int
    parameters: Mapping[str, object] = field(default_factory=dict[str, object])
    components: Mapping[str, str] = field(default_factory=dict[str, str])

    def as_dict(self) -> dict[str, object]:
        """The spec as plain data, as it is stored in the lake."""
        return {
            "name": self.name,
            "revision": self.revision,
            "parameters": dict(self.parameters),
            "components": dict(self.components),
        }

    @property
    def fingerprint(self) -> str:
        """Hash of the whole spec."""
        return digest("spec", canonical_json(self.as_dict()))


def fingerprint(spec: str, inputs: str) -> str:
    """Fingerprint of a row: its spec's fingerprint and the hash of its inputs' content (VE-02)."""
    return digest("row", spec, inputs)


def differences(old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    """What changed between two specs (as `StageSpec.as_dict` gives them), in words: `pymupdf 2.0.0 → 2.1.0`."""
    changes: list[str] = []
    if old.get("revision") != new.get("revision"):
        changes.append(f"{new.get('name')} code revision {old.get('revision')} → {new.get('revision')}")
    for part in ("components", "parameters"):
        before, after = _mapping(old.get(part)), _mapping(new.get(part))
        for key in sorted(before.keys() | after.keys()):
            if before.get(key) != after.get(key):
                changes.append(f"{key} {_words(before.get(key))} → {_words(after.get(key))}")
    return changes


def _mapping(value: object) -> dict[str, object]:
    return dict(value) if isinstance(value, Mapping) else {}  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _words(value: object) -> str:
    if value is None:
        return "none"
    text = value if isinstance(value, str) else canonical_json(value)
    # Hashes are for machines: a short prefix is enough to see that they differ.
    return text[:12] if len(text) >= HASH_CHARACTERS and all(c in "0123456789abcdef" for c in text) else text
