"""YAML read with the line of every key and item, duplicate keys refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

Keys = tuple[str | int, ...]
MAX_NODES = 10_000

_SCALAR_TAGS = frozenset(f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "null"))
_TIMESTAMP = "tag:yaml.org,2002:timestamp"


class _Loader(yaml.SafeLoader):
    """YAML's safe subset without dates, as Dagster reads the same file."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - the name and the type are PyYAML's
        first: [(tag, pattern) for tag, pattern in entries if tag != _TIMESTAMP]
        for first, entries in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


@dataclass(frozen=True, slots=True)
class Located:
    """A document as plain values, with lines.

    Attributes:
        value: dicts, lists and scalars; None for an empty document.
        lines: path → 1-based line of the key (or list item) that ends the path; `()` is the document's first line.
    """

    value: Any
    lines: dict[Keys, int]

    def line(self, path: Keys) -> int:
        """The line of `path`, or of the nearest enclosing key where it is not in the document."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


class YamlProblems(Exception):
    """The text is no usable YAML. `found`: (line, path or None, message) each."""

    def __init__(self, found: list[tuple[int, Keys | None, str]]) -> None:
        super().__init__("; ".join(f"line {line}: {message}" for line, _, message in found))
        self.found = found


def read_located(text: str) -> Located:
    """Reads one YAML document of at most `MAX_NODES` values.

    Raises:
        YamlProblems: a syntax error, a duplicate key, a tag beyond the plain ones, a second document, an alias that
            holds itself, or too many values.
    """
    try:
        loader = _Loader(text)
        try:
            root = loader.get_node() if loader.check_node() else None
            second = loader.get_node() if loader.check_node() else None
            if root is None:
                return Located(None, {(): 1})
            if second is not None:
                raise YamlProblems([(_line(second), None, "a second document; write one corpus a file")])
            reader = _Reader(loader)
            value = reader.value(root, ())
        finally:
            loader.dispose()  # pyright: ignore[reportUnknownMemberType] - no types in PyYAML's stub
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise YamlProblems([(line, None, "a character that YAML does not allow; remove it")]) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlProblems([(1 if mark is None else mark.line + 1, None, _syntax(error))]) from error
    except RecursionError as error:
        raise YamlProblems([(1, None, "nested too deeply")]) from error
    if reader.problems:
        raise YamlProblems(reader.problems)
    return Located(value, {(): 1 if value is None else _line(root), **reader.lines})


class _Reader:
    """One walk over the composed nodes: values, lines, problems."""

    def __init__(self, loader: _Loader) -> None:
        self.lines: dict[Keys, int] = {}
        self.problems: list[tuple[int, Keys | None, str]] = []
        self._loader = loader
        self._nodes = 0
        self._open: set[int] = set()

    def value(self, node: Node, path: Keys) -> Any:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise YamlProblems(
                [(_line(node), path, f"more than {MAX_NODES} values (aliases count each time)")]
            )
        if id(node) in self._open:
            raise YamlProblems([(_line(node), path, "an alias that holds itself")])
        self._open.add(id(node))
        try:
            if isinstance(node, MappingNode):
                return dict(self._pairs(node, path))
            if isinstance(node, SequenceNode):
                return [self._item(child, (*path, index)) for index, child in enumerate(node.value)]
            return self._scalar(node, path)
        finally:
            self._open.discard(id(node))

    def _pairs(self, node: MappingNode, path: Keys) -> Iterator[tuple[str, Any]]:
        seen: dict[str, int] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode):
                self.problems.append((_line(key_node), path or None, "a key must be a plain word"))
                continue
            key = str(key_node.value)
            at = (*path, key)
            if key in seen:
                self.problems.append(
                    (_line(key_node), at, f"given twice, first on line {seen[key]}; keep one")
                )
                continue
            seen[key] = self.lines[at] = _line(key_node)
            yield key, self.value(value_node, at)

    def _item(self, node: Node, path: Keys) -> Any:
        self.lines[path] = _line(node)
        return self.value(node, path)

    def _scalar(self, node: Node, path: Keys) -> Any:
        if node.tag not in _SCALAR_TAGS:
            self.problems.append(
                (_line(node), path, f"the tag {node.tag!r} is not allowed here; write a plain value")
            )
            return None
        try:
            return cast("Any", self._loader).construct_object(node)
        except (ValueError, KeyError):
            kind = node.tag.rpartition(":")[2]
            self.problems.append((_line(node), path, f"{node.value!r} is no {kind}"))
            return None


def _line(node: Node) -> int:
    return int(node.start_mark.line) + 1


def _syntax(error: yaml.MarkedYAMLError) -> str:
    """PyYAML's words, with what to do for the usual slips."""
    problem = str(error.problem or error.context or "not YAML")
    if "'\\t'" in problem:
        return "YAML: a tab where spaces must stand; indent with spaces"
    if re.search(r"undefined alias|while scanning an? (alias|anchor)", f"{error.context} {problem}"):
        return f'YAML: {problem}; a value that starts with * or & must be quoted, as "* * * * *"'
    if "mapping values are not allowed" in problem:
        return f"YAML: {problem}; check the indentation, and quote a value that has `: ` in it"
    return f"YAML: {problem}"
