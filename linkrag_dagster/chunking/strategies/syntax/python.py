"""Definitions of Python code, by Python's own parser."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence

from linkrag_dagster.chunking.strategies.syntax.symbols import Symbol

_DEFINITION = re.compile(r"^(?:async[ \t]+def|def|class)[ \t]+\w+.*[:(\[,\\]", re.MULTILINE)
# Python's own line breaks, which are not those of `str.splitlines`.
_BREAK = re.compile(r"\r\n|\r|\n")
_COMMENT = re.compile(r"[ \t]*#")


def python_symbols(text: str) -> list[Symbol] | None:
    """Functions and classes of a module, with those inside them; None where it is no Python or defines nothing."""
    if _DEFINITION.search(text) is None:
        return None
    shift = 1 if text.startswith("\ufeff") else 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the code that is read, not of this
            module = ast.parse(text[shift:])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    lines = _Lines(text, shift)
    found = lines.symbols(module.body)
    return found or None


class _Lines:
    def __init__(self, text: str, shift: int) -> None:
        self._text = text
        self._starts = [shift, *(m.end() for m in _BREAK.finditer(text, shift))]

    def symbols(self, body: Sequence[ast.stmt], floor: int = 0) -> list[Symbol]:
        """Definitions among statements, and in the blocks of those that define nothing (`if`, `try`, `with`).

        Args:
            body: the statements.
            floor: line (from 1) that ends what stands before.
        """
        found: list[Symbol] = []
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                # `x = 1; def f(): ...` is no Python: a definition begins its line.
                first = self._with_comments(first, floor)
                last = node.end_lineno or node.lineno
                members = self.symbols(node.body)
                found.append(Symbol(node.name, self._starts[first - 1], self._end(last), members))
            else:
                found += self.symbols(list(_blocks(node)), node.lineno)
            floor = node.end_lineno or node.lineno
        return found

    def _with_comments(self, first: int, floor: int) -> int:
        """Comments right above belong to what they stand above."""
        while first - 1 > floor and _COMMENT.match(self._text, self._starts[first - 2]):
            first -= 1
        return first

    def _end(self, line: int) -> int:
        return self._starts[line] if line < len(self._starts) else len(self._text)


def _blocks(node: ast.AST) -> Iterator[ast.stmt]:
    """Statements inside a statement, in their order."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, (ast.ExceptHandler, ast.match_case)):
            yield from child.body
