"""The settings at the very start of a Markdown document, between `---` (YAML) or `+++` (TOML)."""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import cast

import yaml

SCAN_LIMIT = 65_536
"""Code points within which front matter must have closed; longer settings are no front matter."""

_OPENING = re.compile(r"\ufeff?(---|\+\+\+)[ \t]*(?:\r\n|\r|\n)")
_CLOSING = {
    "---": re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE),
    "+++": re.compile(r"^\+\+\+[ \t]*$", re.MULTILINE),
}

_CLOSERS = {"---": ("---", "..."), "+++": ("+++",)}
_ENDS_OF_LINES = re.compile(r"(?P<content>[^\r\n]*)(?:\r\n|\r|\n|\Z)")

Value = str | tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """Top-level settings of a document, as written.

    Attributes:
        values: key → text as the author wrote it (`1.10` stays `1.10`, a date stays its digits), a tuple of
            texts for a list of them, None for an empty value.
        nested: keys whose values are nested deeper than that; they are not in `values`.
        problem: why the settings could not be read, in one sentence; then `values` is empty.
    """

    values: Mapping[str, Value] = field(default_factory=dict[str, Value])
    nested: frozenset[str] = frozenset()
    problem: str | None = None


def read_front_matter(text: str) -> FrontMatter | None:
    """The document's front matter; None when it has none. Unreadable settings are a `problem`, no error."""
    head = text[:SCAN_LIMIT]
    opening = _OPENING.match(head)
    if opening is None:
        return None
    body = head[opening.end() :].replace("\r\n", "\n").replace("\r", "\n")
    closing = _CLOSING[opening[1]].search(body)
    if closing is None or (closing.end() == len(body) and len(text) > len(head)):
        return None
    source = body[: closing.start()]
    if opening[1] == "+++":
        return _toml(source)
    return None if _is_prose(source) else _yaml(source)


def front_matter_end(text: str) -> int | None:
    """Where the document's front matter ends: one past its closing mark; None where it has none."""
    head = text[:SCAN_LIMIT]
    opening = _OPENING.match(head)
    if opening is None:
        return None
    for line in _ENDS_OF_LINES.finditer(head, opening.end()):
        if line["content"].rstrip(" \t") in _CLOSERS[opening[1]]:
            closed_by_limit = line.end() == len(head) and len(text) > len(head)
            prose = opening[1] == "---" and _is_prose(head[opening.end() : line.start()])
            return None if closed_by_limit or prose else line.end("content")
    return None


# PyYAML's stubs leave the stream untyped.
_compose = cast("Callable[[str, type], yaml.Node | None]", getattr(yaml, "compose"))  # noqa: B009


def _node(source: str) -> yaml.Node | None:
    # Composed, not constructed: the nodes keep the author's spelling, no tag makes an object, no alias expands.
    return _compose(source, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _is_prose(source: str) -> bool:
    """Whether the lines between two `---` are text between two rules: words or a list, which declare nothing.

    Settings that cannot be read are no prose: their author meant settings.
    """
    try:
        node = _node(source)
    except (yaml.YAMLError, ValueError, RecursionError):
        return False
    return node is not None and not isinstance(node, yaml.MappingNode)


def _yaml(source: str) -> FrontMatter:
    try:
        node = _node(source)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return FrontMatter(problem=f"the YAML front matter cannot be read: {_one_line(error)}")
    if not isinstance(node, yaml.MappingNode):
        return FrontMatter()  # nothing but comments
    values: dict[str, Value] = {}
    nested: set[str] = set()
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            continue
        name = str(key.value)
        if name in values or name in nested:
            return FrontMatter(problem=f"the YAML front matter has the key {name!r} twice")
        if isinstance(value, yaml.ScalarNode):
            values[name] = _scalar(value)
        elif isinstance(value, yaml.SequenceNode) and all(
            isinstance(v, yaml.ScalarNode) for v in value.value
        ):
            values[name] = tuple(text for v in value.value if (text := _scalar(v)) is not None)
        else:
            nested.add(name)
    return FrontMatter(MappingProxyType(values), frozenset(nested))


def _scalar(node: yaml.ScalarNode) -> str | None:
    return None if node.tag == "tag:yaml.org,2002:null" else str(node.value)


def _toml(source: str) -> FrontMatter:
    try:
        table = tomllib.loads(source, parse_float=str)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
        return FrontMatter(problem=f"the TOML front matter cannot be read: {_one_line(error)}")
    values: dict[str, Value] = {}
    for name, value in table.items():
        texts = [_plain(item) for item in cast("list[object]", value if isinstance(value, list) else [value])]
        if None not in texts:
            known = tuple(text for text in texts if text is not None)
            values[name] = known if isinstance(value, list) else known[0]
    return FrontMatter(MappingProxyType(values), frozenset(table.keys() - values.keys()))


def _plain(value: object) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int):
        return str(value)
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    return None


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
