"""ST-03: by the format's own syntax."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrag_dagster.chunking.strategies.syntax.grammars import GRAMMARS, installed
from tests.chunking.strategies.support import chunks, cut, pieces

PYTHON = '''"""Doc."""
import os

LIMIT = 1


# greets people
@cache
def hello(name: str) -> str:
    return f"hi {name}"


class Greeter:
    """Greets."""

    limit = 3

    # says it
    async def say(self, words):
        return words


if __name__ == "__main__":
    hello("x")
'''
HTML = (
    "<!doctype html><html><head><style>h1{}</style></head><body><p>Intro words.</p><!-- <h1>no</h1> -->"
    "<h1>One &amp; two</h1><p>Body a.</p><h2>Sub</h2><p>Body b.</p><h2>Empty</h2><h1>Last</h1></body></html>"
)
LATEX = (
    "\\documentclass{article}\n\\begin{document}\n% \\section{no}\n\\section{One \\emph{x}}\nText one.\n"
    "\\begin{verbatim}\n\\section{no}\n\\end{verbatim}\n\\subsection*{Sub}\nText two.\n\\section[s]{Two}\nEnd.\n"
    "\\end{document}\n"
)
CODE = {
    "javascript": """\
import x from 'y';

/** Adds. */
export function add(a) {
  return 'é日';
}

class Foo {
  go() { return 1; }
}
""",
    "typescript": """\
interface A { x: number }

function add(a: A): number {
  return a.x;
}

class Foo {
  go(): number { return 1; }
}
""",
    "tsx": """\
function add(a: number) {
  return <b>{a}</b>;
}

class Foo {
  go() { return 1; }
}
""",
    "java": """\
package p;

public class Foo {
  int add(int a) { return a; }
  /** doc */
  int go() { return 1; }
}
""",
    "go": """\
package main

// Adds.
func add(a int) int {
	return a
}

type Foo struct {
	x int
}
""",
    "rust": """\
use x;

/// Adds.
fn add(a: i32) -> i32 { a }

struct Foo { x: i32 }

impl Foo {
    fn go(&self) -> i32 { self.x }
}
""",
    "c": """\
#include <x.h>

struct Foo { int x; };

static int *add(int a) {
  struct Foo q;
  return 0;
}
""",
    "cpp": """\
#include <x>

class Foo {
 public:
  int go() { return 1; }
};

int add(int a) { return a; }
""",
    "c_sharp": """\
using System;
class Foo {
  public int go() { return 1; }
  public int add(int a) { return a; }
}
""",
    "ruby": """\
class Foo
  def go(x)
    @x = x
  end
end

def add(a)
  a
end
""",
    "php": """\
<?php
class Foo {
  public function go() {
    return 1;
  }
}

function add($x) {
  return $x;
}
""",
    "bash": """\
#!/bin/bash
set -e

Foo() {
  echo x;
}

add() {
  Foo;
}
""",
}


def _rows(text: str, **settings: object) -> list[tuple[tuple[str, ...] | None, str]]:
    return [(p.trail, text[p.start_char : p.end_char]) for p in pieces("document_aware", text, **settings)]


def test_markdown_sections() -> None:
    """ST-03: headings become the trail; a section's own words are its piece, code whole; front matter is apart."""
    text = "---\ntitle: x\n---\n\nintro\n\n# A\n\n## B\n\nbody\n\n```py\n# no\n```\n\n## C\n\n"
    text += "# D\n\n#### Deep\n\nlast\n"
    _, made, trace = chunks("document_aware", text)
    assert [(c.heading_trail, c.content) for c in made] == [
        ((), "---\ntitle: x\n---"),
        ((), "intro"),
        (("A", "B"), "body\n\n```py\n# no\n```"),
        (("A", "C"), "## C"),
        (("D", "Deep"), "last"),
    ]
    assert [c.searchable for c in made] == [False, True, True, True, True]
    assert trace[0].reason == "markdown: 5 Markdown headings"


def test_python_definitions() -> None:
    """ST-03: a piece a definition, with its decorators and the comment above; methods where a class is too long."""
    assert _rows(PYTHON, size=400)[1][1].startswith("# greets people\n@cache\ndef hello")
    assert [trail for trail, _ in _rows(PYTHON, size=400)] == [(), ("hello",), ("Greeter",), ()]
    assert [trail for trail, _ in _rows(PYTHON, size=85)] == [
        (),
        ("hello",),
        ("Greeter",),
        ("Greeter", "say"),
        (),
    ]
    assert _rows(PYTHON, size=85)[3][1].startswith("# says it\n    async def say")


def test_html_sections() -> None:
    """ST-03: headings of tags, none in comments or styles; an empty section keeps its heading."""
    assert _rows(HTML, size=400)[1:] == [
        (("One & two",), "<p>Body a.</p>"),
        (("One & two", "Sub"), "<p>Body b.</p>"),
        (("One & two", "Empty"), "<h2>Empty</h2>"),
        (("Last",), "<h1>Last</h1>"),
    ]
    assert all(words.count("<") == words.count(">") for _, words in _rows(HTML, size=60))


def test_latex_sections() -> None:
    """ST-03: section commands, none in comments or verbatim."""
    assert [trail for trail, _ in _rows(LATEX, size=400)] == [(), ("One x",), ("One x", "Sub"), ("Two",)]


@pytest.mark.parametrize("language", CODE)
def test_other_languages(language: str) -> None:
    """ST-03: definitions of each grammar, found without being told the language where that can be known."""
    if not installed(language):
        pytest.skip(f"the grammar of {language} is not installed: install the extra `syntax`")
    text = CODE[language]
    trails = {trail for trail, _ in _rows(text, size=45, language=language)}
    assert any(trail and trail[-1] == "add" for trail in trails)
    assert any(trail and trail[0] == "Foo" for trail in trails)
    assert cut("document_aware", text).reason.split(":")[0] != "plain"


def test_every_language_has_an_example() -> None:
    """ST-03: no grammar without a test."""
    assert set(CODE) == set(GRAMMARS)


def test_no_syntax_says_so() -> None:
    """ST-03: plain text is cut as `recursive` cuts, and the reason is recorded."""
    made = cut("document_aware", "Just words. And more.\n\nNext paragraph.", size=20)
    assert made.reason == "plain: no headings, definitions, tags or section commands"
    assert list(made.pieces) == list(pieces("recursive", "Just words. And more.\n\nNext paragraph.", size=20))


def test_unknown_language() -> None:
    """ST-03: refused with the names that there are."""
    with pytest.raises(ValueError, match="language: 'cobol' is not known; there are plain, markdown, python"):
        pieces("document_aware", "x", language="cobol")


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["# A\n", "## B\n", "text. ", "\n\n", "def f():\n", "    x = 1\n", "<h1>", "</h1>", "<p>",
                              "\\section{", "}", "<!--", "```\n", "字。", "%"]), max_size=30).map("".join),
    st.integers(1, 40),
    st.sampled_from(["", "markdown", "python", "html", "latex"]),
)  # fmt: skip
def test_any_text(text: str, size: int, language: str) -> None:
    """ST-03: pieces in order, bounded; every visible word in a piece, in a trail, or markup without words."""
    made = pieces("document_aware", text, size=size, language=language)
    at = 0
    gaps = ""
    for piece in made:
        assert piece.start_char >= at
        assert piece.end_char - piece.start_char <= size
        gaps += text[at : piece.start_char]
        at = piece.end_char
    if language == "python":
        assert not (gaps + text[at:]).strip()


ENDLESS = ["<!-- ", "<h1>", "<script>", "<h2>a</h2>", "\\section{", "\\section{a}", "def f():\n    pass\n"]


@pytest.mark.parametrize("part", ENDLESS)
def test_linear(part: str) -> None:
    """ST-03, TK-04: what never closes, or closes everywhere, takes linear time."""
    for language in ("html", "latex", "python"):
        begun = time.perf_counter()
        pieces("document_aware", part * 20_000, size=200, language=language)
        assert time.perf_counter() - begun < 20
