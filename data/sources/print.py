"""Prints three chapters of the handbook in the formats in which documents usually come.

    python data/sources/print.py

makes, from the Markdown beside this script,

    data/handbook/07-index-structures.pdf      two columns, running header, page numbers
    data/handbook/09-embedding-models.html     a page with navigation, header and footer around its article
    data/handbook/13-cost-and-capacity.pdf     one column, page numbers

The results are committed, so that the sample corpus needs no printing. Printing again gives the same text and, with the
same PyMuPDF, the same bytes: metadata and dates are fixed.
"""

from __future__ import annotations

import io
import re
from html import escape
from pathlib import Path

import pymupdf
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

SOURCES = Path(__file__).resolve().parent
FIGURES = SOURCES.parent / "figures"
HANDBOOK = SOURCES.parent / "handbook"

PAGE = pymupdf.Rect(0, 0, 595, 842)  # A4
MARGIN, HEAD, FOOT, GUTTER = 56, 62, 62, 22
FIGURE_PIXELS = 1_400
FORMULA = r"\$\$.+?\$\$|\$[^$\n]+\$"

STYLE = """
body { font-family: serif; font-size: 10pt; line-height: 1.3; }
h1 { font-family: sans-serif; font-size: 19pt; margin: 0 0 10pt 0; }
h2 { font-family: sans-serif; font-size: 13pt; margin: 12pt 0 5pt 0; }
h3 { font-family: sans-serif; font-size: 11.5pt; margin: 9pt 0 4pt 0; }
p { margin: 0 0 6pt 0; }
pre { font-family: monospace; font-size: 8pt; line-height: 1.2; margin: 4pt 0 8pt 4pt; }
code { font-family: monospace; font-size: 9pt; }
pre code { font-size: 8pt; }
li { margin: 0 0 3pt 0; }
table { border-collapse: collapse; margin: 4pt 0 8pt 0; }
th, td { border: 0.6pt solid #555; padding: 2pt 5pt; font-size: 9pt; }
th { font-weight: bold; }
.caption { font-size: 9pt; margin: 3pt 0 9pt 0; }
"""


def main() -> None:
    """Prints the three chapters."""
    print_pdf("07-index-structures", columns=2, header="Retrieval Handbook · Chapter 7")
    print_html("09-embedding-models")
    print_pdf("13-cost-and-capacity", columns=1, header="")


def read(name: str) -> str:
    """A chapter without its front matter, its footnotes numbered in brackets."""
    text = (SOURCES / f"{name}.md").read_text(encoding="utf-8")
    text = re.sub(r"\A---\n.*?\n---\n", "", text, count=1, flags=re.DOTALL)
    for number, label in enumerate(re.findall(r"^\[\^([^\]]+)\]:", text, re.MULTILINE), start=1):
        text = text.replace(f"[^{label}]:", f"[{number}]").replace(f"[^{label}]", f"<sup>[{number}]</sup>")
    return text


def title_of(text: str) -> str:
    """The chapter's heading of level 1."""
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    assert found is not None, "a chapter begins with its title"
    return found[1]


def markdown(for_pdf: bool) -> MarkdownIt:
    """Markdown to HTML; a paragraph that is an image alone becomes a figure with its description as the caption."""
    md = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    numbers = iter(range(1, 100))

    def image(self: RendererHTML, tokens: list[Token], at: int, options: object, env: object) -> str:
        alt = tokens[at].content
        source = str(tokens[at].attrGet("src"))
        caption = f"Figure {next(numbers)}. {alt}"
        if for_pdf:
            return (
                f'<img src="{Path(source).stem}.png" width="100%"/></p><p class="caption">{escape(caption)}'
            )
        return f'<img src="{escape(source)}" alt="{escape(alt)}">'

    md.add_render_rule("image", image)
    return md


def print_pdf(name: str, *, columns: int, header: str) -> None:
    """Lays a chapter out on A4 pages."""
    text = read(name)
    body = markdown(for_pdf=True).render(text)
    archive = pymupdf.Archive()
    for source in re.findall(r"!\[[^\]]*\]\(([^)]+\.svg)\)", text):
        archive.add((figure(Path(source).name), f"{Path(source).stem}.png"))
    story = pymupdf.Story(html=body, user_css=STYLE, archive=archive)
    buffer = io.BytesIO()
    writer = pymupdf.DocumentWriter(buffer)
    width = (PAGE.width - 2 * MARGIN - (columns - 1) * GUTTER) / columns
    more = True
    while more:
        device = writer.begin_page(PAGE)
        for column in range(columns):
            left = MARGIN + column * (width + GUTTER)
            if more:
                more, _ = story.place(pymupdf.Rect(left, HEAD, left + width, PAGE.height - FOOT))
                story.draw(device)
        writer.end_page()
    writer.close()
    document = pymupdf.open("pdf", buffer.getvalue())
    for page in document:
        number = str(page.number + 1)
        if header:
            page.insert_text((MARGIN, 40), header, fontname="helv", fontsize=8.5)
            at = PAGE.width - MARGIN - pymupdf.get_text_length(title_of(text), "helv", 8.5)
            page.insert_text((at, 40), title_of(text), fontname="helv", fontsize=8.5)
            page.draw_line((MARGIN, 46), (PAGE.width - MARGIN, 46), width=0.5)
        page.insert_text((PAGE.width / 2 - 3, PAGE.height - 34), number, fontname="helv", fontsize=9)
    document.set_metadata(
        {
            "title": title_of(text),
            "author": "linkrag_dagster",
            "producer": "PyMuPDF",
            "creationDate": "D:20260101000000Z",
            "modDate": "D:20260101000000Z",
        }
    )
    document.subset_fonts()
    document.save(HANDBOOK / f"{name}.pdf", garbage=4, deflate=True, deflate_fonts=True, no_new_id=True)


def figure(name: str) -> bytes:
    """A drawing as PNG, as wide as a printed page needs."""
    with pymupdf.open(FIGURES / name) as drawing:
        page = drawing[0]
        scale = FIGURE_PIXELS / page.rect.width
        return page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), alpha=False).tobytes("png")


def print_html(name: str) -> None:
    """Writes a chapter as one page of a site."""
    text = read(name)
    formulas = re.findall(FORMULA, text, flags=re.DOTALL)
    numbers = iter(range(len(formulas)))
    body = markdown(for_pdf=False).render(
        re.sub(FORMULA, lambda _: f"FORMULA{next(numbers)}END", text, flags=re.DOTALL)
    )
    # Formulas are TeX for the page's own script, not Markdown.
    body = re.sub(r"FORMULA(\d+)END", lambda m: escape(formulas[int(m[1])], quote=False), body)
    body = re.sub(
        r'<p><img src="([^"]*)" alt="([^"]*)"></p>',
        r'<figure>\n<img src="\1" alt="\2">\n</figure>',
        body,
    )
    sections = re.findall(r"^## (.+)$", text, re.MULTILINE)
    links = "\n".join(f'<li><a href="#{slug(one)}">{escape(one)}</a></li>' for one in sections)
    body = re.sub(
        r"<h([23])>(.*?)</h\1>",
        lambda m: (
            f'<h{m[1]} id="{slug(m[2])}">{m[2]} <a class="headerlink" href="#{slug(m[2])}">¶</a></h{m[1]}>'
        ),
        body,
    )
    (HANDBOOK / f"{name}.html").write_text(
        SITE.format(title=escape(title_of(text)), links=links, body=body.strip()),
        encoding="utf-8",
        newline="\n",
    )


def slug(title: str) -> str:
    """A heading's anchor."""
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"<[^>]*>", "", title).lower()).strip("-")


SITE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title} – Retrieval Handbook</title>
<style>
body {{ font-family: sans-serif; max-width: 52rem; margin: auto; }}
nav ul {{ list-style: none; }}
</style>
<script>document.documentElement.classList.add("js");</script>
</head>
<body>
<header class="site">
<a href="index.html">Retrieval Handbook</a>
<form role="search"><input type="search" placeholder="Search the handbook"><button>Search</button></form>
</header>
<nav aria-label="On this page">
<ul>
{links}
</ul>
</nav>
<main>
<article>
{body}
</article>
</main>
<footer>
<p>Retrieval Handbook, a sample corpus. Made from its Markdown; corrections go there.</p>
<p><a href="08-chinese-retrieval-zh.html">Previous chapter</a>
<a href="10-versions-and-rebuilds.html">Next chapter</a></p>
</footer>
</body>
</html>
"""


if __name__ == "__main__":
    main()
