"""Words of a document written as Markdown: escaped only where they would be taken for markup.

Formats whose structure lies elsewhere (tags, places on a page) become canonical text in Markdown, so that one parser
finds the elements of every document. Each escape is a character that a quotation then carries, hence the least that
keeps the meaning: a star between spaces, an underscore inside a word or a bracket that opens no link stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_INLINE = re.compile(
    r"\\(?=[!-/:-@\[-`{-~])"  # a backslash that would escape
    r"|`"
    r"|\*+|_+"
    r"|<(?=[A-Za-z/!?])"
    r"|&(?=#[0-9]{1,7};|#[xX][0-9a-fA-F]{1,6};|[A-Za-z][A-Za-z0-9]{1,31};)"
    r"|\](?=\()"
    r"|~~+"
)
# TeX, as pages hold it for their scripts: between dollars only with a sign that prices don't have.
_FORMULA = re.compile(
    r"\$\$[^$]{1,4000}\$\$|\\\[[^\[\]$]{1,4000}\\\]|\\\([^()$]{1,1000}\\\)"
    r"|\$(?=[^$\n]{0,200}[\\^_])(?![\s$])[^$\n]{1,500}(?<!\s)\$(?!\d)"
)
_LINE_START = re.compile(
    r"(?P<before>[0-9]{1,9})(?=[.)](?:[ \t]|$))"
    r"|(?=#{1,6}(?:[ \t]|$)|>|[-+*](?:[ \t]|$)|~~~|\$\$|\[(?:[^\[\]\\]|\\.){1,999}\]:"
    r"|(?:=+|-+|\+\+\+)[ \t]*$|(?:(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$|[|:\-][|:\- \t]*$)"
)
_FENCE = re.compile(r"`+")


def escape_words(text: str) -> str:
    """Words of one line or more, with what inline Markdown would take for its own escaped by a backslash.

    Formulas in TeX stay as they are: readers of Markdown take them for formulas too.
    """
    made: list[str] = []
    end = 0
    for formula in _FORMULA.finditer(text):
        made += [_escaped(text[end : formula.start()]), formula[0]]
        end = formula.end()
    return "".join([*made, _escaped(text[end:])])


def _escaped(text: str) -> str:
    def escaped(match: re.Match[str]) -> str:
        run = match[0]
        if run[0] in "*_":
            before = text[match.start() - 1] if match.start() else " "
            after = text[match.end()] if match.end() < len(text) else " "
            inside = run[0] == "_" and before.isalnum() and after.isalnum()
            if inside or (before.isspace() and after.isspace()):
                return run
            return "".join("\\" + char for char in run)
        return "\\" + run if run[0] != "~" else "".join("\\" + char for char in run)

    return _INLINE.sub(escaped, text)


def escape_line(line: str) -> str:
    """A line of a paragraph, after `escape_words`, so that its beginning opens no block."""
    match = _LINE_START.match(line)
    if match is None or _FORMULA.match(line):
        return line
    at = match.end("before") if match["before"] else 0
    return line[:at] + "\\" + line[at:]


def code_span(code: str) -> str:
    """Inline code; longer backtick runs around it than any inside."""
    runs = [len(run) for run in _FENCE.findall(code)]
    marks = "`" * next(n for n in range(1, len(runs) + 2) if n not in runs)
    padding = " " if code.startswith("`") or code.endswith("`") else ""
    return f"{marks}{padding}{code}{padding}{marks}"


def code_block(code: str, language: str = "") -> list[str]:
    """Lines of a fenced code block that holds `code` as it is."""
    longest = max((len(run) for run in _FENCE.findall(code)), default=0)
    marks = "`" * max(3, longest + 1)
    return [marks + language, *code.split("\n"), marks]


def image(alt: str, target: str) -> str:
    """An image; a target with blanks or brackets stands in angle brackets, one that is its own data is left out."""
    if target[:5].lower() == "data:":
        target = ""
    if re.search(r"[\s()<>]", target):
        target = "<" + re.sub(r"[\n\r<>]", lambda m: f"%{ord(m[0]):02X}", target) + ">"
    words = re.sub(r"[\[\]]", r"\\\g<0>", escape_words(" ".join(alt.split())).replace("\\](", "]("))
    return f"![{words}]({target})"


def table(rows: Sequence[Sequence[str]], *, header: bool = True) -> list[str]:
    """Lines of a GFM table: first row, delimiters, other rows. Cells are Markdown already, in one line each.

    Rows are filled up to the longest. Without a header an empty one goes first, since GFM asks for one.
    """
    width = max(map(len, rows))
    lines = [
        "| " + " | ".join([*(_cell(cell) for cell in row), *[""] * (width - len(row))]) + " |" for row in rows
    ]
    if not header:
        lines.insert(0, "|" + "  |" * width)
    lines.insert(1, "|" + " --- |" * width)
    return lines


def _cell(cell: str) -> str:
    # A bar ends a cell also inside a code span; one that is escaped already would be escaped twice.
    return re.sub(r"(\\*)\|", lambda m: m[0] if len(m[1]) % 2 else m[1] + "\\|", cell)
