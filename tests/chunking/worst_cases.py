"""Texts made to be slow, large or lossy: one shape each, of about as many code points as asked for."""

from __future__ import annotations

import random
from collections.abc import Callable

PROSE = "The harbour office keeps a ledger of every boat that enters, e.g. by Dr. Lee. "
CHINESE = "港口办公室每天清晨登记进港的船只，记录船主、货物和泊位。"
BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
SECTION = (
    f"## Part 7\n\n{PROSE * 4}\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nx = 1\n```\n\n"
    f"![a chart](b.png)\n\n> quoted\n\n{CHINESE * 3}\n\n"
)


def _repeated(unit: str) -> Callable[[int], str]:
    return lambda size: unit * max(1, size // len(unit))


def _inside(before: str, unit: str, after: str = "") -> Callable[[int], str]:
    return lambda size: before + unit * max(1, size // len(unit)) + after


def _numbered(unit: str) -> Callable[[int], str]:
    """Each copy with a number of its own in place of `%d`."""
    return lambda size: "".join(unit % number for number in range(max(1, size // (len(unit) + 3))))


def _base64(size: int) -> str:
    return "".join(random.Random(size).choices(BASE64, k=size))


def _deeper(size: int) -> str:
    """Items, each two blanks deeper than the one before: as many as make the size."""
    depth = int(size**0.5)
    return "".join("  " * level + "- x\n" for level in range(depth)) + "\n# After\n"


def _halves(before: str, first: str, between: str, second: str) -> Callable[[int], str]:
    """Half of it copies of `first`, half of it copies of `second`."""
    return lambda size: (
        before
        + first * max(1, size // (2 * len(first)))
        + between
        + second * max(1, size // (2 * len(second)))
    )


def _under_long_headings(size: int) -> str:
    """Sections below five headings that are a tenth of the text each."""
    title = "word " * max(1, size // 50)
    return "".join(f"{'#' * level} {title}\n\n" for level in range(1, 6)) + PROSE * max(1, size // 160)


def _square_table(size: int) -> str:
    """As many columns as rows."""
    row = "| a " * max(1, int((size / 4) ** 0.5)) + "|\n"
    return row + row.replace(" a ", "---") + row * max(1, size // len(row))


TEXTS: dict[str, Callable[[int], str]] = {
    # Long lines and long runs.
    "a document": _repeated(SECTION),
    "prose on one line": _repeated(PROSE),
    "Chinese on one line": _repeated(CHINESE),
    "Chinese without a stop": _repeated("港口办公室每天清晨登记进港的船只记录船主货物和泊位"),
    "Thai on one line": _repeated("ภาษาไทยเขียนติดกันโดยไม่เว้นวรรคระหว่างคำ"),
    "Cyrillic on one line": _repeated("Портовая контора ведёт журнал всех судов "),
    "Devanagari on one line": _repeated("क्षेत्र के हर जहाज का लेखा "),
    "base64": _base64,
    "one letter": _repeated("a"),
    "blank lines": _inside("a\n", "\n", "b"),
    "blanks on one line": _inside("a", " ", "b"),
    "no-break spaces": _inside("a", "\u00a0", "b"),
    "stops": _repeated("。"),
    "closing quotes": _repeated("”！"),
    "full stops": _repeated(". "),
    # Code points that are hard to cut or to encode.
    "one emoji": _inside("👩", "\u200d👩"),
    "combining marks": _inside("e", "\u0301"),
    "flags": _repeated("🇩🇪"),
    "jamo": _repeated("\u1100"),
    "zero-width spaces": _inside("a", "\u200b", "b"),
    "variation selectors": _inside("天", "\ufe0f"),
    "lone surrogates": _repeated("\ud83d"),
    "NUL": _repeated("a\0"),
    "byte order marks": _repeated("\ufeffa "),
    "CR": _repeated("a b\r"),
    "all line breaks": _repeated("a\r\nb\rc\n\r\n\rd\n"),
    "line separators": _repeated("a\u2028b\u2029c\x85d\x0b"),
    # One block without end, or many of them.
    "one table": _inside("| a | b |\n|---|---|\n", "| 1 | a value |\n"),
    "one row": _inside("| a | b |\n|---|---|\n| 1 | ", "a value "),
    "many tables": _repeated("a|b\n-|-\n1|2\n\n"),
    "an open fence": _inside("```python\n", "value = compute(1)\n"),
    "an open fence on one line": _inside("```python\n", "value = compute(1); "),
    "many fences": _repeated("```\nx\n```\n\n"),
    "a formula": _inside("$$\n", "a + b \\\\\n", "$$"),
    "an open comment": _inside("<!--\n", "words\n\n"),
    "headings": _numbered("# part %d\n"),
    "headings below headings": _repeated("# a\n## b\n### c\n#### d\n##### e\n###### f\n"),
    "underlined headings": _repeated("a\n=\nb\n-\n"),
    "one heading": _inside("# ", "word "),
    "images": _numbered("![picture %d](b.png)\n\n"),
    "images of a paragraph": _repeated("![a](b) "),
    "footnotes": _numbered("[^%d]: a note\n"),
    "definitions": _numbered("[label %d]: /somewhere 'title'\n"),
    "equal definitions": _repeated("[a]: /x\n"),
    "definitions without end": _repeated("[a]: /x 'y\n"),
    "rules": _repeated("---\n\n"),
    "front matter": _inside("---\n", "key: value\n", "---\n"),
    "front matter without end": _inside("---\n", "key: value\n"),
    # Marks that nest, or could.
    "items": _repeated("- a\n"),
    "items two deep": _repeated("- a\n  - b\n\n"),
    "items each deeper": _deeper,
    "items with fences": _repeated("- a\n\n  ```\n  x\n  ```\n\n"),
    "markers on one line": _inside("", "- ", "x"),
    "quote marks on one line": _repeated("> "),
    "quote marks": _repeated(">"),
    "quoted lines": _repeated("> a\n"),
    "lazy lines": _inside("> > > > a\n", "a\n"),
    "quotes and lists on one line": _repeated("> - 1. "),
    "quotes and lists": _repeated("> - a\n>   > 1. b\n>   >    - c\n"),
    "opening brackets": _repeated("["),
    "bracketed lines": _repeated("[a\n"),
    "image openings": _repeated("!["),
    "stars": _inside("", "*", "x"),
    "emphasis that never closes": _repeated("*a "),
    "a heading of stars": _inside("# ", "*a _b "),
    "backticks": _repeated("`"),
    "backticks of many lengths": lambda size: "".join(
        "`" * n + " " for n in range(1, int((2 * size) ** 0.5))
    ),
    "fences of many lengths": lambda size: "".join("`" * n + "\n" for n in range(3, int((2 * size) ** 0.5))),
    "less-than signs": _repeated("<"),
    "HTML openings": _repeated("<div>\n"),
    "HTML openings apart": _repeated("<div>\n\n"),
    "protected HTML": _inside("<div>\n", "<pre <table\n"),
    "pipes": _repeated("|"),
    "lines of pipes": _repeated("|\n"),
    "rows without a table": _repeated("a | b\n"),
    "tildes": _repeated("~"),
    "backslashes": _repeated("\\"),
    "dollars": _repeated("$$ "),
    "formulas that never close": _repeated("\\[ a\n"),
    "entities": _repeated("&#x26;&amp"),
    # Long titles and first lines, which stand again before what they are over.
    "a long heading over prose": _halves("# ", "word ", "\n\n", PROSE),
    "long headings over each other": _under_long_headings,
    "a table under a long header row": _halves("| ", "name ", " | b |\n|---|---|\n", "| 1 | a value |\n"),
    "a table of many columns": _square_table,
    "a fence with a long opening line": _halves("```", "info ", "\n", "value = compute(1)\n"),
    "a long title in another script": _halves("---\ntitle: ", "порт учёт № ", "\n---\n", CHINESE),
    "a long front matter title": _halves("---\ntitle: ", "word ", "\n---\n", PROSE),
    "equal paragraphs": _repeated("The same words.\n\n"),
    "images beside long paragraphs": _halves("", "word ", "\n\n", "![a picture](b.png)\n\n"),
    "tables beside long lines": _halves("", "word ", "\n\n", "| a |\n|---|\n| 1 |\n\n"),
    "an image with a long description": _inside("![", "word ", "](b.png)"),
    "images with descriptions": _repeated(f"![{PROSE.strip()}](b.png)\n\n"),
    # Marks that pair, in many pairs.
    "emphasis": _repeated("*a* **b** ~~c~~ `d` "),
    "links": _repeated("[words](/place 'title') "),
    "addresses": _repeated("see http://harbour.example/ledger?page=1 or mail@harbour.example, "),
    "inline tags": _repeated("<b>words</b> <br/> "),
    "tags that never end": _repeated("<a href='x "),
    "links that never end": _repeated("[a](<b "),
    "comments": _repeated("<!-- a note -->\n\n"),
    "numbered items": _numbered("%d. item\n"),
    "items apart": _repeated("- a\n\n"),
    "items of many paragraphs": _inside("- a\n\n", "  more words\n\n"),
    "tabs": _repeated("\ta\n"),
    "indented code": _repeated("    x = 1\n\n"),
    "quotes each deeper": lambda size: "".join(">" * n + " a\n" for n in range(1, int((2 * size) ** 0.5))),
    "escaped pipes": _inside("| a | b |\n|---|---|\n", "| 1 \\| 2 | `3 \\| 4` |\n"),
    "tables in items": _repeated("- a\n\n  | b |\n  |---|\n  | 1 |\n\n"),
    "Windows line ends": lambda size: _repeated(SECTION)(size).replace("\n", "\r\n"),
    "Japanese quotations": _repeated("「港は朝五時に開く。」と彼は言った。"),
    "Arabic on one line": _repeated("يسجل مكتب الميناء كل قارب يدخل الميناء. "),
    "digits": _repeated("0123456789"),
    "punctuation": _repeated("!?.,;:"),
    "sections": _repeated("## a\n\nwords\n\n"),
    "rows of differing lengths": _inside("| a | b |\n|---|---|\n", "| 1 |\n| 1 | 2 | 3 | 4 |\n"),
}
