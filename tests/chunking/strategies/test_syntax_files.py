"""ST-03: trails in files as people write them, with what looks like structure and is none."""

from __future__ import annotations

import pytest

from linkrag_dagster.chunking.strategies.syntax.grammars import installed
from tests.chunking.strategies.support import cut, pieces

PYTHON = '''\
#!/usr/bin/env python3
"""A module: class Fake: is only named here.

def not_a_definition(): pass
"""
from __future__ import annotations

try:
    import orjson as json
except ImportError:
    import json

    # Only where the quick library is missing.
    def loads(text):
        return json.loads(text)


if __debug__:
    class Tracer:
        """Traces calls while debugging."""

        def trace(self, frame): ...
else:
    Tracer = None


class Store:
    """Keeps rows."""

    class Meta:
        """Facts of the store."""

        version = 2

        @property
        # how many rows there are
        def size(self) -> int:
            return len(self.rows)

    @classmethod
    @cache(
        maxsize=None,
    )
    def open(cls, path: str) -> "Store":
        """Open it.

        # A comment in a string is no comment.
        """
        def reader(line):
            return line.split(",")

        return cls(map(reader, path))

    async def close(self) -> None: await self.file.close()


SQL = """
class Table:
    def select(self): ...
"""


@app.route("/")
async def index(request):
    return "ok"
'''

LATEX = r"""% \section{Commented out}
\documentclass[11pt]{book}
\newcommand{\R}{\mathbb{R}}
\title{A book}
\begin{document}
\part{Basics}
\chapter[Short]{The \textbf{long} name of \LaTeX{} \& friends}\label{ch:one}
Opening words, 50\% done. \verb|\section{never}| and \verb+%+ \section*{Unnumbered \texttt{x}}
Text below. % \subsection{no}
\begin{lstlisting}[language=TeX]
\section{in a listing}
\end{lstlisting}
\subsection{Deeper: $a_{i}$}
Words of the deeper one.
\begin{verbatim*}
\chapter{no}
\end{verbatim*}
\paragraph{A run-in heading.} Its words.
\chapter{Second}
The end of the book.
\begin{comment}
\chapter{hidden}
\end{comment}
\end{document}
"""

HTML = """<!DOCTYPE html>
<html lang="en">
<head><title>Page &mdash; <h1>no</h1></title>
<style>h1 { color: red } /* <h2>no</h2> */</style>
<script>document.write("<h1>no</h1>");</script></head>
<body>
<header><nav><a href="/">Home</a></nav></header>
<main>
<H1 class="top" id=one>Guide to <em>boats</em></H1>
<p>Intro.</p>
<section>
  <h2>Harbour</h2>
  <p>Where boats lie.</p>
  <section>
    <h3>Berths
      &amp; piers</h3>
    <ul><li>North</li><li>South</li></ul>
    <!-- <h3>Old berths</h3><p>gone</p> -->
  </section>
</section>
<section><h2>Fees</h2><table><tr><td>Per night</td></tr></table></section>
<article><h1>Another article</h1><p>Its words.</p></article>
</main>
<footer>Contact us</footer>
</body></html>
"""

TYPESCRIPT = """\
import { Row } from './row';

/** Keeps rows: class Fake {} is only named. */
export abstract class Store<T> {
  private rows: T[] = [];

  constructor(private readonly path: string) {}

  /** How many there are. */
  get size(): number {
    return this.rows.length;
  }

  async close(): Promise<void> {
    const text = `class Inner { run() {} }`;
    await flush(text);
  }
}

export namespace Tools {
  export function join(parts: string[]): string {
    return parts.join('/');
  }
}

// class Commented { }
export default function main(): void {}
"""


def trails(text: str, **settings: object) -> list[tuple[tuple[str, ...], str]]:
    """Trail and first line of each piece."""
    return [
        (p.trail or (), text[p.start_char : p.end_char].split("\n")[0])
        for p in pieces("document_aware", text, **settings)
    ]


def test_python() -> None:
    """ST-03: definitions in `try` and `if`, nested classes, decorators over lines; none in strings."""
    assert cut("document_aware", PYTHON).reason.startswith("python: parses as Python")
    found = trails(PYTHON, size=300)
    assert {trail for trail, _ in found} == {
        (),
        ("loads",),
        ("Tracer",),
        ("Store",),
        ("Store", "Meta"),
        ("Store", "open"),
        ("Store", "close"),
        ("index",),
    }
    starts = {trail: line.strip() for trail, line in reversed(found)}
    assert starts["loads",] == "# Only where the quick library is missing."
    assert starts["Store", "open"] == "@classmethod"
    assert starts["index",] == '@app.route("/")'
    small = {trail for trail, _ in trails(PYTHON, size=60)}
    assert {("Store", "Meta", "size"), ("Store", "open", "reader"), ("Tracer", "trace")} <= small
    assert not any("Table" in trail or "Fake" in trail for trail in small)


def test_latex() -> None:
    """ST-03: starred and optional titles, labels and commands in titles; none in comments, listings or `\\verb`."""
    assert [trail for trail, _ in trails(LATEX)] == [
        (),
        ("Basics", "The long name of & friends"),
        ("Basics", "The long name of & friends", "Unnumbered x"),
        ("Basics", "The long name of & friends", "Unnumbered x", "Deeper: $a_i$"),
        ("Basics", "The long name of & friends", "Unnumbered x", "Deeper: $a_i$", "A run-in heading."),
        ("Basics", "Second"),
    ]


def test_html() -> None:
    """ST-03: sections in sections, upper-case tags, titles over lines; none in comments, scripts, styles, titles."""
    found = trails(HTML)
    assert [trail for trail, _ in found if trail] == [
        ("Guide to boats",),
        ("Guide to boats", "Harbour"),
        ("Guide to boats", "Harbour", "Berths & piers"),
        ("Guide to boats", "Fees"),
        ("Another article",),
    ]
    assert found[0][0] == ()


def test_typescript() -> None:
    """ST-03: a class's members, a namespace's functions, exports; none in comments and template strings."""
    if not installed("typescript"):
        pytest.skip("no grammar for TypeScript: install the extra `syntax`")
    found = {trail for trail, _ in trails(TYPESCRIPT, size=80)}
    assert {("Store", "size"), ("Store", "close"), ("Tools", "join"), ("main",)} <= found
    assert not any({"Fake", "Inner", "Commented"} & set(trail) for trail in found)
