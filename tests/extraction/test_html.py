"""HTML pages: what is shown as Markdown, with its places in the page (XT-01, XT-02, XT-05, XT-06, XT-10, XT-11)."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from linkrag_dagster.extraction import Extraction, ExtractionError, detect, extract
from linkrag_dagster.markdown import parse


def page(body: str, head: str = "", options: Mapping[str, object] | None = None) -> Extraction:
    source = f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>"
    return extract(source.encode(), "page.html", options)


def kinds(text: str) -> list[tuple[str, str]]:
    return [(element.kind, text[element.start_char : element.end_char]) for element in parse(text)]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<h1>One</h1><h3>Three <em>x</em></h3>", "# One\n\n### Three x\n"),
        ("<p>a\n  b<p>c<div>d<span>e</span></div>f", "a b\n\nc\n\nde\n\nf\n"),
        ("<p>one<br>two</p>", "one\ntwo\n"),
        ("<ul><li>a<li>b<ul><li>c</ul></ul>", "- a\n- b\n  - c\n"),
        ("<ol start=3><li>a<li value=7>b<li>c</ol>", "3. a\n7. b\n8. c\n"),
        ("<ul><li><p>a</p><p>b</p></li><li>c</ul>", "- a\n\n  b\n- c\n"),
        ("<dl><dt>T<dd>D<dt>U<dd>E</dl>", "- T\n\n  D\n- U\n\n  E\n"),
        ("<blockquote><p>a<p>b</blockquote>", "> a\n>\n> b\n"),
        ("<pre><code class='hljs language-py'>if a:\n    b\n</code></pre>", "```py\nif a:\n    b\n```\n"),
        ("<pre>a ``` b</pre>", "````\na ``` b\n````\n"),
        ("<p>x <code>a*b</code> <a href=u>link</a></p>", "x `a*b` link\n"),
        (
            "<p>10<sup>6</sup> H<sub>2</sub>O<sup><a href=#n>1</a></sup></p>",
            "10<sup>6</sup> H<sub>2</sub>O1\n",
        ),
        ("<img src='a b.png' alt='A [b]'>", "![A \\[b\\]](<a b.png>)\n"),
        ("<figure><img src=x.png><figcaption>Fig. 1</figcaption></figure>", "![](x.png)\n\nFig. 1\n"),
        ("<p><img src=dot.gif>words</p>", "words\n"),
        ("<svg aria-label='A curve'><text>9</text></svg>", "![A curve]()\n"),
        (
            "<math><mi>x</mi><semantics><annotation encoding=application/x-tex>x^2</annotation></semantics></math>",
            "$x^2$\n",
        ),
        ("<h2 id=a>Title <a class=headerlink href=#a>¶</a></h2>", "## Title\n"),
        ("<details><summary>More</summary>words</details>", "More\n\nwords\n"),
        ("<p>a < b, 1 &lt; 2 &amp;amp;</p>", "a < b, 1 < 2 \\&amp;\n"),
    ],
)
def test_elements_become_markdown(body: str, text: str) -> None:
    """XT-10: structure as Markdown, words as they are, white space collapsed."""
    assert page(body).text == text


@pytest.mark.parametrize(
    "words",
    [
        "# no heading",
        "- no item",
        "+ no item",
        "12. no item",
        "> no quote",
        "*a* and **b**, _c_ and `d`",
        "[x]: no definition",
        "<div> no tag",
        "$$ no formula",
        "~~~ no fence",
        "---",
        "===",
        "* * *",
        "| a | b |",
        "![no](image)",
        "back\\*slash",
        "#hashtag 2 * 3 snake_case -5 1.5",
    ],
)
def test_words_are_no_markup(words: str) -> None:
    """Each stays one paragraph, whose visible words are the page's; what is harmless carries no escape."""
    result = page(f"<p>x<p>{words.replace('&', '&amp;').replace('<', '&lt;')}<p>y")
    assert [kind for kind, _ in kinds(result.text)] == ["paragraph"] * 3
    assert re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", result.text.split("\n\n")[1]) == words
    assert page("<p>#hashtag 2 * 3 snake_case -5 1.5</p>").text == "#hashtag 2 * 3 snake_case -5 1.5\n"


def test_formulas_stay_as_they_are() -> None:
    """XT-06: TeX for a script of the page is a formula for readers of Markdown too; a price is none."""
    text = page(r"<p>$$ \sum_{i} x_*y $$<p>With $a_i * b_*c$ or \(d_*\), and *5$ or *6$.").text
    assert text == "$$ \\sum_{i} x_*y $$\n\nWith $a_i * b_*c$ or \\(d_*\\), and \\*5$ or \\*6$.\n"
    assert [kind for kind, _ in kinds(text)] == ["math", "paragraph"]


def test_tables() -> None:
    """XT-06: whole cells, spans repeated, bars escaped, caption before."""
    body = (
        "<table><caption>Cap</caption><thead><tr><th>A<th>B<th>C</thead>"
        "<tr><td rowspan=2>x|y<td colspan=2>wide<tr><td>1<td>2<ul><li>i<li>j</ul></table>"
    )
    text = "Cap\n\n| A | B | C |\n| --- | --- | --- |\n| x\\|y | wide | wide |\n| x\\|y | 1 | 2 i j |\n"
    assert page(body).text == text
    rows = "<table><tr><th>Name<td>Ada<tr><th>Born<td>1815</table>"
    assert page(rows).text == "|  |  |\n| --- | --- |\n| Name | Ada |\n| Born | 1815 |\n"


@pytest.mark.parametrize(
    "body",
    [
        "<table role=presentation><tr><td>a<td>b<tr><td>c<td>d</table>",
        "<table><tr><td><h2>a</h2><td>b<tr><td>c<td>d</table>",
        "<table><tr><td>a<td>b<table><tr><td>c<td>d</table></table>",
        "<table><tr><td>a<tr><td>b</table>",
    ],
)
def test_tables_that_arrange_are_no_tables(body: str) -> None:
    """Layout is not data: its cells are blocks."""
    assert "table" not in [kind for kind, _ in kinds(page(body).text)]


def test_a_head_at_the_left_that_spans_everything_is_bounded() -> None:
    """Hostile spans don't multiply: 60 cells stay near 60."""
    body = (
        "<table>"
        + "<tr>"
        + "<td colspan=1000 rowspan=60000>x</td><td>y</td>"
        + "</tr>"
        + "<tr><td>z<td>w</table>"
    )
    assert len(page(body).text) < 1_000


def test_what_is_not_shown_is_left_out() -> None:
    """XT-10: scripts, styles, templates, hidden elements, controls, comments."""
    body = (
        "<p>seen</p><script>if (a<b) x</script><style>p{}</style><template>t</template><noscript>n</noscript>"
        "<div hidden>h</div><div style='color:red; display : none'>d</div><span aria-hidden=true>a</span>"
        "<!-- c --><button>b</button><select><option>o</select><textarea>ta</textarea>"
        "<dialog>dl</dialog><iframe>i</iframe>"
    )
    assert page(body).text == "seen\n"


FURNISHED = (
    "<header><a>Site</a></header><nav><a>Home</a></nav><div role=search>s</div>{}"
    "<aside>More</aside><footer>Imprint</footer>"
)


def test_the_main_view_has_no_furniture() -> None:
    """XT-05, XT-10: with and without a main part; the full view keeps all."""
    article = (
        "<article><header><h1>T</h1></header><p>words</p><aside>note</aside><footer>by A</footer></article>"
    )
    text = "# T\n\nwords\n\nnote\n\nby A\n"
    assert page(FURNISHED.format(article)).text == text
    assert page(FURNISHED.format(f"<p>outside</p><main>{article}</main>")).text == text
    full = page(FURNISHED.format(article), options={"view": "full"}).text
    assert all(words in full for words in ("Site", "Home", "More", "Imprint", "words"))
    with pytest.raises(ValueError, match="view"):
        page("x", options={"view": "odd"})


def test_a_title_in_the_page_header_is_kept() -> None:
    """The document's heading isn't lost with the furniture around it."""
    assert page("<header><h1>T</h1><p>Slogan</p></header><p>words").text == "# T\n\nwords\n"


def test_furniture_alone_is_read_in_full() -> None:
    """A page of links is a document too."""
    assert page("<nav><a>Home</a></nav>").text == "Home\n"


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<title>Guide &amp; more – Site</title>", "<h1>Guide &amp; more</h1>", "Guide & more"),
        ("<title> Two\n lines </title>", "<h1>Other</h1>", "Two lines"),
        ("", "<h1>Only <em>heading</em></h1>", "Only heading"),
        ("", "<svg><title>Drawing</title></svg><p>x", None),
    ],
)
def test_titles(head: str, body: str, title: str | None) -> None:
    """XT-02: `title`, without the site's name where the first heading shows what the document's is."""
    assert page(body, head).title == title


@pytest.mark.parametrize(
    ("declared", "codec", "encoding"),
    [
        ("<meta charset=gb2312>", "gb18030", "gb18030"),
        ("<meta http-equiv=Content-Type content='text/html; charset=Shift_JIS'>", "cp932", "cp932"),
        ("<meta charset='iso-8859-1'>", "cp1252", "cp1252"),
        ("<meta charset=iso-8859-1>", "utf-8", "utf-8"),
        ("<meta charset=nonsense>", "utf-8", "utf-8"),
        ("<!-- <meta charset=big5> --><meta charset=cp1251>", "cp1251", "cp1251"),
        ("", "utf-16", "utf-16-le"),
    ],
)
def test_encodings(declared: str, codec: str, encoding: str) -> None:
    """Mark, valid UTF-8, declaration, in this order."""
    words = {"gb18030": "中文网页", "cp932": "日本語の文書", "cp1251": "Привет, мир"}.get(codec, "Größe")
    result = extract(f"<html>{declared}<body><p>{words}".encode(codec), "a.html")
    assert (result.text, result.encoding) == (words + "\n", encoding)


def test_languages() -> None:
    """XT-02: the page's own declaration."""
    assert extract(b"<html lang=pt-BR><p>Lundholm", "a.html").language == "pt"


def test_xhtml_with_empty_elements() -> None:
    """An empty script of XHTML doesn't swallow the page."""
    data = (
        b'<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="x"/></head>'
        b'<body><a id="t"/><p>words</p></body></html>'
    )
    result = extract(data, "a.xhtml")
    assert (result.text, result.media_type) == ("words\n", "application/xhtml+xml")


def test_locators_lead_to_the_words() -> None:
    """XT-02: each run's range in the page holds its words; every non-white character belongs to one."""
    source = (
        "\ufeff<!doctype html>\r\n<body><h1>A &amp; b</h1>\r\n<p>Zwei <b>Wörter</b>\r\nund &lt; &eacute;</p><ul><li>i"
        "<li>j</ul><table><tr><th>h<th>k<tr><td>1<td>2</table><pre>\r\nx\r\n  y</pre><p>a < b<img alt=pic src=p.png>"
    )
    result = extract(source.encode(), "a.html")
    shown = {
        result.text[run.start_char : run.end_char]: source[1:][
            int(run.locator[6:].split(",")[0]) : int(run.locator.split(",")[1])
        ]
        for run in result.locators
    }
    assert shown == {
        "# A & b": "A &amp; b",
        "Zwei Wörter und < é": "Zwei <b>Wörter</b>\r\nund &lt; &eacute;",
        "- i": "i",
        "- j": "j",
        "| h | k |\n| --- | --- |": "h<th>k",
        "| 1 | 2 |": "1<td>2",
        "```\nx\n  y\n```": "x\r\n  y",
        "a < b![pic](p.png)": "a < b<img alt=pic src=p.png>",
    }


_BITS = """
<p> </p> <div> </div> <ul> <li> </ul> <ol> <table> <tr> <td> <th> </table> <pre> </pre> <b> </b> <h2> </h2> <blockquote>
</blockquote> <br> <code> </code> <script> </script> <!-- --> <a> < & &amp; * _ ` | # - 1. [x]: <svg> <math> <dl> <dt>
<dd> <img> </body> <title> <select> <template> <?pi word é 中
"""
BITS = st.sampled_from(_BITS.split())


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("<p>\r\n</div>quay</p>", "quay"),
        ("<p>&amp;</div>\r\nquay<b>", "&amp;</div>\r\nquay"),
        ("<p>herring</i></i></i> quay<h2>", "herring</i></i></i> quay"),
        ("quay<table><tr><td>cell</td></tr>herring</table>", "quay<table><tr><td>cell</td></tr>herring"),
        ("<xmp>quay <b>&amp;</b></xmp>", "quay <b>&amp;</b>"),
        ("<p>herring<?pi", "herring<?pi"),
        ("<p>1 &lt; </q>2 &lt;b>", "1 &lt; </q>2 &lt;b>"),
    ],
)
def test_texts_that_the_parser_joins(source: str, shown: str) -> None:
    """XT-02: where it ignores a tag, or moves words out of a table, a run begins and ends with its own words."""
    ranges = [
        tuple(map(int, run.locator[6:].split(","))) for run in extract(source.encode(), "a.html").locators
    ]
    assert shown in [source[start:end] for start, end in ranges]


@example([("<p>", "\r\n"), ("</div>", ""), ("<", "")])
@given(st.lists(st.tuples(BITS, st.sampled_from(["", " ", "\n", "\r\n"]))))
def test_any_page_ends_in_text_or_a_named_failure(bits: list[tuple[str, str]]) -> None:
    """XT-02, XT-11: LF, locators in order that cover all, within the page; never another error."""
    source = "".join(bit + blank for bit, blank in bits)
    try:
        result = extract(source.encode(), "a.html")
    except ExtractionError as error:
        assert error.kind in ("empty", "no_text")
        return
    at = 0
    for run in result.locators:
        assert not result.text[at : run.start_char].strip()
        assert at <= run.start_char < run.end_char
        at = run.end_char
        match = re.fullmatch(r"#char=(\d+),(\d+)", run.locator)
        assert match is not None
        assert 0 <= int(match[1]) < int(match[2]) <= len(source)
    assert not result.text[at:].strip()
    assert "\r" not in result.text
    parse(result.text)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", "empty"),
        (b"<html><body><script>1</script></body>", "no_text"),
        (b"<html>\0\1\2\3" + bytes(range(256)) * 20, "decode"),
    ],
)
def test_failures_are_named(data: bytes, kind: str) -> None:
    """XT-11."""
    with pytest.raises(ExtractionError) as caught:
        extract(data, "a.html")
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    "unit",
    [
        "<div>",
        "<ul><li>",
        "<blockquote>",
        "<b>",
        "<table><tr><td>",
        "<h1>",
        "<p><i>",
        "<span>",
        "<dl><dd>",
        "<section>x",
    ],
)
def test_deep_nesting(unit: str) -> None:
    """10,000 open elements: no recursion, and the words within them."""
    assert "bottom" in extract((unit * 10_000 + "bottom").encode(), "a.html").text


def test_large_pages() -> None:
    """Five megabytes, also of signs that open no tag, in seconds."""
    start = time.perf_counter()
    words = page("<p>Some <b>bold</b> words &amp; more.\n" * 130_000).text
    assert words.count("Some bold words & more.") == 130_000
    assert page("<p>" + "<" * 1_000_000).text.count("<") == 1_000_000
    assert time.perf_counter() - start < 60


@pytest.mark.parametrize(
    ("head", "name", "media_type"),
    [
        (b"<!DOCTYPE html><title>x", "page.txt", "text/html"),
        (b"\n<!-- saved -->\n<html>", "page", "text/html"),
        (b"<!doctype HTML>\n<p>", "notes.md", "text/markdown"),
        ("<!DOCTYPE html><p>x".encode("utf-16"), "page", "text/html"),
        (b'<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0">', "page", "text/html"),
        (b'<?xml version="1.0"?><feed/>', "page", "application/xml"),
        (b"<p>a Markdown file may begin so", "notes.md", "text/markdown"),
        (b"anything", "page.htm", "text/html"),
    ],
)
def test_pages_are_known_by_their_content(head: bytes, name: str, media_type: str) -> None:
    """XT-01: the name is a hint."""
    assert detect(head, name) == media_type


def test_the_shared_page(shared: Path) -> None:
    """XT-13: UTF-16, tables in a layout of tables."""
    data = (shared / "extract/files/steel_utf16.html").read_bytes()
    text = extract(data, "steel_utf16.html").text
    assert "Rolled or forget alloy steel bars" in text
    assert "| 0.39 - 0.46 | 0.2 - 0.35 | 0.65 - 1.1 |" in text
    assert "adsbygoogle" not in text
