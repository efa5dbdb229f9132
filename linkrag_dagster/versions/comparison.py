"""What differs between two runs' settings and versions, in words (VE-08).

A stage has one spec for each kind of document that it met (an extractor each), so two runs may hold several of one
stage. Equal ones are set aside; of the others, those that differ least are taken for the same one, changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from linkrag_dagster.versions.spec import canonical_json, differences

Spec = Mapping[str, object]


def spec_changes(old: Sequence[Spec], new: Sequence[Spec]) -> dict[str, list[str]]:
    """Differences by stage, in the order in which stages first occur; equal stages are left out.

    Args:
        old, new: specs as plain data (`StageSpec.as_dict`), any number a stage, in any order.

    Returns:
        Stage → what changed: `k1 1.2 → 1.7`; or that a kind of spec came, or went.
    """
    names = dict.fromkeys(str(spec.get("name")) for spec in (*old, *new))
    found: dict[str, list[str]] = {}
    for name in names:
        before, after = _only_in(old, new, name), _only_in(new, old, name)
        words = dict.fromkeys(word for a, b in _pairs(before, after) for word in differences(a, b))
        words |= dict.fromkeys(f"no longer made with {_made_with(spec)}" for spec in before)
        words |= dict.fromkeys(f"also made with {_made_with(spec)}" for spec in after)
        if words:
            found[name] = list(words)
    return found


def _only_in(these: Sequence[Spec], those: Sequence[Spec], name: str) -> list[Spec]:
    known = {canonical_json(dict(spec)) for spec in those}
    found = {canonical_json(dict(spec)): spec for spec in these if spec.get("name") == name}
    return [found[text] for text in sorted(found.keys() - known)]


def _pairs(before: list[Spec], after: list[Spec]) -> list[tuple[Spec, Spec]]:
    """The pairs that differ least, each spec once; they are taken out of the lists."""
    pairs: list[tuple[Spec, Spec]] = []
    while before and after:
        a, b = min(
            ((a, b) for a in before for b in after),
            key=lambda pair: (len(differences(*pair)), canonical_json([dict(spec) for spec in pair])),
        )
        before.remove(a)
        after.remove(b)
        pairs.append((a, b))
    return pairs


def _made_with(spec: Spec) -> str:
    components = spec.get("components")
    parts = differences({}, {"components": components}) if components else []
    words = [part.replace("none → ", "", 1) for part in parts]
    return ", ".join(words) or f"code revision {spec.get('revision')}"


def version_changes(old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    """Differences between two flat mappings, such as libraries' versions: `polars 1.30.0 → 1.31.0`."""
    return differences({"components": old}, {"components": new})
