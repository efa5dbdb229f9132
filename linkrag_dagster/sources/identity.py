"""Who a document is: the identity its author declared, or the one of its place (PI-05)."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass

from linkrag_dagster.markdown.front_matter import FrontMatter, Value, read_front_matter

LONGEST = 512
"""Code points a declared id, version, title or access label may have."""


@dataclass(frozen=True, slots=True)
class DocumentIdentity:
    """What a document's front matter declares about itself.

    Attributes:
        doc_id: the declared id, exactly as written; None when none is declared.
        version: the declared version, exactly as written (`1.10` is not `1.1`); None when none is declared.
        title: the declared title; None when none is declared.
        access: declared access labels, in order, without repetition; empty when none are declared.
        problem: why a declaration could not be used, in one sentence, else None. Then all else is as if
            undeclared: indexing the document under the id of its place would give one document two
                identities, so callers
            record a failure.
    """

    doc_id: str | None = None
    version: str | None = None
    title: str | None = None
    access: tuple[str, ...] = ()
    problem: str | None = None


def read_identity(text: str) -> DocumentIdentity:
    """The identity that a Markdown text declares by the front-matter keys `id`, `version`, `title`, `access`.

    Only YAML (`---`) or TOML (`+++`) at the very start counts, after an optional byte order mark, closed
    within the first 65,536 code points. Settings that cannot be read are a `problem`, never an exception.
    """
    matter = read_front_matter(text)
    return DocumentIdentity() if matter is None else identity_of(matter)


def identity_of(matter: FrontMatter) -> DocumentIdentity:
    """The identity in front matter that was read already."""
    if matter.problem is not None:
        return DocumentIdentity(problem=matter.problem + "; correct it, or remove it")
    nested = sorted(matter.nested & {"id", "version", "title", "access"})
    if nested:  # an unread `access` would show the document to everybody
        return DocumentIdentity(problem=f"the front-matter key {nested[0]!r} is nested: give it plain text")
    try:
        access = matter.values.get("access")
        labels = access if isinstance(access, tuple) else () if access is None else (access,)
        return DocumentIdentity(
            doc_id=_text("id", matter.values.get("id")),
            version=_text("version", matter.values.get("version")),
            title=_text("title", matter.values.get("title")),
            access=tuple(
                dict.fromkeys(kept for label in labels if (kept := _text("access", label)) is not None)
            ),
        )
    except ValueError as error:
        return DocumentIdentity(problem=str(error))


def path_id(corpus: str, relative_path: str) -> str:
    """`doc_id` of a document that declares none: 16 hexadecimal digits of its corpus and its path, byte for
    byte.

    Each part is preceded by its length, so that no two pairs give the same bytes. `relative_path` as in
    `SourceFile`.
    """
    state = hashlib.sha256()
    for part in (corpus.encode("utf-8"), os.fsencode(relative_path)):
        state.update(len(part).to_bytes(8, "big"))
        state.update(part)
    return state.hexdigest()[:16]


def _text(key: str, value: Value) -> str | None:
    if isinstance(value, tuple):
        raise ValueError(f"the front-matter key {key!r} holds a list: give it one value")
    stripped = (value or "").strip()
    if len(stripped) > LONGEST:
        raise ValueError(f"the front-matter key {key!r} is longer than {LONGEST} characters: shorten it")
    if any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 or 0xD800 <= ord(char) < 0xE000 for char in stripped):
        raise ValueError(f"the front-matter key {key!r} holds a line break or control character: remove it")
    return stripped or None
