"""Definitions of other languages, by tree-sitter grammars that ship inside packages (extra `syntax`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import accumulate
from typing import Any

from linkrag_dagster.chunking.strategies.syntax.symbols import Symbol
from linkrag_dagster.tokens.tokenizer import well_formed


@dataclass(frozen=True, slots=True)
class Grammar:
    """Where a grammar comes from, and which of its nodes define something.

    Attributes:
        module: the package that ships it.
        function: what gives the language.
        definitions: kinds of nodes.
    """

    module: str
    function: str
    definitions: frozenset[str]


def _grammar(module: str, definitions: str, function: str = "language") -> Grammar:
    return Grammar(module, function, frozenset(definitions.split()))


_JAVASCRIPT = "function_declaration generator_function_declaration class_declaration method_definition"
_TYPESCRIPT = (
    _JAVASCRIPT + " abstract_class_declaration interface_declaration enum_declaration type_alias_declaration "
    "internal_module module"
)
_C = "function_definition struct_specifier enum_specifier union_specifier"
GRAMMARS: dict[str, Grammar] = {
    "javascript": _grammar("tree_sitter_javascript", _JAVASCRIPT),
    "typescript": _grammar("tree_sitter_typescript", _TYPESCRIPT, "language_typescript"),
    "tsx": _grammar("tree_sitter_typescript", _TYPESCRIPT, "language_tsx"),
    "java": _grammar(
        "tree_sitter_java",
        "class_declaration interface_declaration enum_declaration record_declaration method_declaration "
        "constructor_declaration annotation_type_declaration",
    ),
    "go": _grammar("tree_sitter_go", "function_declaration method_declaration type_declaration"),
    "rust": _grammar(
        "tree_sitter_rust",
        "function_item struct_item enum_item trait_item impl_item mod_item union_item macro_definition",
    ),
    "c": _grammar("tree_sitter_c", _C),
    "cpp": _grammar("tree_sitter_cpp", _C + " class_specifier namespace_definition"),
    "c_sharp": _grammar(
        "tree_sitter_c_sharp",
        "class_declaration interface_declaration struct_declaration enum_declaration record_declaration "
        "namespace_declaration method_declaration constructor_declaration",
    ),
    "ruby": _grammar("tree_sitter_ruby", "class module method singleton_method"),
    "php": _grammar(
        "tree_sitter_php",
        "function_definition class_declaration interface_declaration trait_declaration enum_declaration "
        "method_declaration",
        "language_php",
    ),
    "bash": _grammar("tree_sitter_bash", "function_definition"),
}
"""Languages whose definitions are known, Python apart."""

_NAMED = frozenset(
    {"identifier", "type_identifier", "field_identifier", "name", "constant", "word", "property_identifier"}
)
_COMMENTS = frozenset({"comment", "line_comment", "block_comment", "attribute_item", "decorator"})
_MAY_BE_MENTIONED = frozenset({"struct_specifier", "enum_specifier", "union_specifier", "class_specifier"})
# How far definitions are looked for below nodes that define nothing (exports, bodies, templates).
_DEPTH = 4


def grammar_symbols(text: str, language: str) -> list[Symbol] | None:
    """Definitions of a code; None where its grammar is not installed, or it defines nothing.

    What the grammar does not understand hides no other definition: tree-sitter reads on behind an error.

    Args:
        text: the code.
        language: a name in `GRAMMARS`.
    """
    parser = _parser(language)
    if parser is None:
        return None
    plain = well_formed(text)
    tree = parser.parse(plain.encode())
    places = _Places(plain)
    reader = _Reader(plain, places, GRAMMARS[language].definitions)
    return reader.symbols(tree.root_node) or None


def understood(text: str, language: str) -> int:
    """How many definitions a grammar finds in a text that it reads without an error; 0 if it finds an error."""
    parser = _parser(language)
    if parser is None:
        return 0
    plain = well_formed(text)
    root = parser.parse(plain.encode()).root_node
    if root.has_error:
        return 0
    return len(_Reader(plain, _Places(plain), GRAMMARS[language].definitions).symbols(root))


def installed(language: str) -> bool:
    """Whether the grammar of a language can be loaded."""
    return _parser(language) is not None


@cache
def _parser(language: str) -> Any | None:
    grammar = GRAMMARS.get(language)
    if grammar is None:
        return None
    try:
        tree_sitter: Any = import_module("tree_sitter")
        source: Any = import_module(grammar.module)
    except ImportError:
        return None
    return tree_sitter.Parser(tree_sitter.Language(getattr(source, grammar.function)()))


class _Places:
    """From bytes of a text in UTF-8 to code points."""

    def __init__(self, text: str) -> None:
        self._of_byte: Sequence[int] | None = None
        if not text.isascii():
            sizes = [1 if c < "\x80" else 2 if c < "\u0800" else 3 if c <= "\uffff" else 4 for c in text]
            of_byte = [0] * (sum(sizes) + 1)
            for index, byte in enumerate(accumulate(sizes, initial=0)):
                of_byte[byte] = index
            self._of_byte = of_byte

    def of(self, byte: int) -> int:
        """The code point that begins at a byte."""
        return byte if self._of_byte is None else self._of_byte[byte]


class _Reader:
    def __init__(self, text: str, places: _Places, definitions: frozenset[str]) -> None:
        self._text = text
        self._places = places
        self._definitions = definitions

    def symbols(self, node: Any) -> list[Symbol]:
        """Definitions inside a node, in order, whole lines each."""
        found: list[Symbol] = []
        for outer, inner in self._inside(node, 0):
            start = self._places.of(self._first(outer).start_byte)
            end = self._places.of(outer.end_byte)
            start = self._text.rfind("\n", 0, start) + 1 if self._blank_before(start) else start
            line_end = self._text.find("\n", end)
            rest = self._text[end : line_end if line_end >= 0 else len(self._text)]
            if not rest.strip(" \t;,"):
                end = len(self._text) if line_end < 0 else line_end + 1
            if not found or start >= found[-1].end:
                found.append(Symbol(self._name(inner), start, end, self.symbols(inner)))
        return found

    def _inside(self, node: Any, depth: int) -> Iterator[tuple[Any, Any]]:
        """Each definition with the node that holds it alone (an export, a template), which it begins and ends with."""
        for child in node.named_children:
            if child.type in self._definitions:
                if self._name(child):
                    yield child, child
            elif depth < _DEPTH:
                inner = list(self._inside(child, depth + 1))
                alone = len(inner) == 1 and child.type.startswith(("export", "template", "decorated"))
                if alone:
                    yield child, inner[0][1]
                else:
                    yield from inner

    def _first(self, node: Any) -> Any:
        """The node, or the first of the comments and attributes right above it."""
        first = node
        while True:
            before = first.prev_sibling
            if before is None or before.type not in _COMMENTS:
                return first
            if before.end_point[0] + 1 < first.start_point[0] or not self._blank_before(
                self._places.of(before.start_byte)
            ):
                return first
            first = before

    def _blank_before(self, position: int) -> bool:
        line = self._text.rfind("\n", 0, position) + 1
        return not self._text[line:position].strip()

    def _name(self, node: Any) -> str:
        """What the code calls it; "" for a nameless one, or a mere mention of a type."""
        if node.type in _MAY_BE_MENTIONED and node.child_by_field_name("body") is None:
            return ""
        if node.type == "type_declaration":
            node = next((c for c in node.named_children if c.type in {"type_spec", "type_alias"}), node)
        if node.type == "impl_item":
            return self._words(node.child_by_field_name("type"))
        named = node.child_by_field_name("name")
        declarator = node.child_by_field_name("declarator")
        while named is None and declarator is not None:
            inner = declarator.child_by_field_name("declarator")
            if inner is None and declarator.type not in _NAMED and declarator.named_children:
                inner = declarator.named_children[0] if declarator.type.endswith("_declarator") else None
            if inner is None:
                named = declarator
            declarator = inner
        return self._words(named)

    def _words(self, node: Any | None) -> str:
        if node is None:
            return ""
        words = self._text[self._places.of(node.start_byte) : self._places.of(node.end_byte)]
        return " ".join(words.split())
