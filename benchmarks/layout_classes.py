"""PyMuPDF's layout models beside our layout, class by class, on pages whose classes are known: one table.

    python benchmarks/layout_classes.py [--documents N] [--by-kind]

Draws documents of six kinds (paper, report, manual, gazette, slides, a Chinese report), each line with its class, and
asks both for the class of every word: the models by the smallest box around it, ours by the block, or the furniture,
that it was read into. Precision and recall are of words, those of figures of boxes that overlap by half (intersection
over union). Ours knows no formulas; what counts for both is whether one is a block of its own.
Times are of the processor, of one reading each. The models come with PyMuPDF 2.0, and run on ONNX Runtime.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import pymupdf

from linkrag_dagster.extraction.locators import box_on_page
from linkrag_dagster.extraction.pdf import PDF_EXTRACTOR, extractor
from linkrag_dagster.extraction.pdf.blocks import Block
from linkrag_dagster.extraction.pdf.words import Box
from linkrag_dagster.markdown.captions import FIGURE, is_caption

CLASSES = ("heading", "furniture", "caption", "table", "list", "footnote", "figure label", "text")
OF_MODELS = {
    "title": "heading",
    "section-header": "heading",
    "page-header": "furniture",
    "page-footer": "furniture",
    "list-item": "list",
    "picture": "figure",
}
"""What is called otherwise there; `caption`, `table`, `footnote`, `formula` and `text` are called so."""
OF_OURS = {"item": "list", "code": "text", "paragraph": "text", "image": "caption"}
ENGLISH = (
    "the", "of", "and", "with", "under", "between", "estuary", "sediment", "catchment", "rainfall", "council", "survey",
    "harbour", "pipeline", "turbine", "orchard", "foundry", "parish", "committee", "glacier", "reservoir", "meadow",
    "railway", "lantern", "cathedral", "archive", "ledger", "measured", "recorded", "gradual",
)  # fmt: skip
CHINESE = "水文测量与流域管理关于泥沙沉积变化研究观测站记录显示降雨量增加河口盐度下降委员会决定在北部"


@dataclass(frozen=True, slots=True)
class Region:
    """A place on a page, what stands there, and which block it belongs to."""

    page: int
    box: Box
    name: str
    block: int


@dataclass(slots=True)
class Drawing:
    """A document while it is drawn, and the regions on it; lengths in points from the top left corner."""

    chance: random.Random
    language: str = "en"
    width: float = 595.0
    height: float = 842.0
    regions: list[Region] = field(default_factory=list[Region])
    figures: list[Region] = field(default_factory=list[Region])
    document: Any = field(default_factory=lambda: _library().open())
    page: Any = None
    _block: int = 0

    def new_page(self) -> None:
        self.page = self.document.new_page(width=self.width, height=self.height)

    def words(self, least: int, most: int) -> str:
        """A sentence, or what stands for a title, without a full stop."""
        count = self.chance.randint(least, most)
        if self.language == "zh":
            return "".join(self.chance.choice(CHINESE) for _ in range(2 * count))
        return " ".join(self.chance.choice(ENGLISH) for _ in range(count)).capitalize()

    def prose(self, sentences: int) -> str:
        stop = "。" if self.language == "zh" else ". "
        return "".join(self.words(7, 16) + stop for _ in range(sentences)).strip()

    def put(
        self, name: str, text: str, at: tuple[float, float], width: float, size: float = 10, font: str = ""
    ) -> float:
        """Draws a block of lines whose first begins at `at` (its base line); the base line after the last."""
        font = font or ("china-s" if self.language == "zh" else "helv")
        self._block += 1
        left, base = at
        for line in _wrapped(text, width, size, font):
            self._line(name, line, (left, base), size, font)
            base += 1.25 * size
        return base

    def cell(self, name: str, text: str, at: tuple[float, float], size: float = 9, font: str = "") -> None:
        """Draws a line of the block that `put`, or `begin`, began."""
        self._line(name, text, at, size, font or ("china-s" if self.language == "zh" else "helv"))

    def begin(self) -> None:
        """Begins a block."""
        self._block += 1

    def figure(self, box: Box) -> None:
        self._block += 1
        self.figures.append(Region(self.page.number + 1, box, "figure", self._block))

    def _line(self, name: str, text: str, at: tuple[float, float], size: float, font: str) -> None:
        left, base = at
        self.page.insert_text(at, text, fontsize=size, fontname=font)
        box = (left - 1, base - 0.8 * size, left + _length(text, size, font) + 1, base + 0.2 * size)
        self.regions.append(Region(self.page.number + 1, box, name, self._block))


def _library() -> Any:
    """PyMuPDF, whose own hints are partial."""
    return pymupdf


def _length(text: str, size: float, font: str) -> float:
    return float(_library().get_text_length(text, font, size))


def _wrapped(text: str, width: float, size: float, font: str) -> list[str]:
    space = "" if font.startswith("china") else " "
    lines: list[str] = []
    line = ""
    for part in text if not space else text.split():
        longer = line + space + part if line else part
        if line and _length(longer, size, font) > width:
            lines.append(line)
            longer = part
        line = longer
    return [*lines, line]


def running(made: Drawing, head: str, number: int) -> None:
    """A running header and the number of the page."""
    made.put("furniture", head, (60, 40), 400, 8)
    made.put("furniture", f"{number}", (made.width / 2, made.height - 30), 40, 8)


def table(made: Drawing, at: tuple[float, float], width: float, *, ruled: bool, label: str) -> float:
    """A table with its caption above it."""
    left, base = at
    base = made.put("caption", f"{label} {made.words(4, 7)}", at, width, 9) + 6
    made.begin()
    columns, rows, top = made.chance.randint(3, 5), made.chance.randint(4, 9), base - 10
    step = width / columns
    for row in range(rows):
        for column in range(columns):
            text = made.words(1, 2) if not row or not column else f"{made.chance.uniform(1, 999):.2f}"
            if _length(text, 9, "helv") > step - 8:
                text = text.split()[0]
            made.cell("table", text, (left + 4 + column * step, base))
        base += 15
    if ruled:
        for row in range(rows + 1):
            made.page.draw_line((left, top + 15 * row), (left + width, top + 15 * row))
        for column in range(columns + 1):
            made.page.draw_line((left + step * column, top), (left + step * column, top + 15 * rows))
    return base + 8


def chart(made: Drawing, at: tuple[float, float], width: float, label: str) -> float:
    """A drawn chart of bars with its axis and marks, and its caption below, if it has a label."""
    left, base = at
    top, height = base - 8, made.chance.randint(90, 140)
    box = (left, top, left + width, top + height)
    made.figure(box)
    made.page.draw_line((left + 20, top), (left + 20, top + height - 14))
    made.page.draw_line((left + 20, top + height - 14), (left + width, top + height - 14))
    bars = made.chance.randint(5, 9)
    step = (width - 24) / bars
    for bar in range(bars):
        high, begin = made.chance.uniform(0.1, 0.9) * (height - 14), left + 24 + bar * step
        place = (begin, top + height - 14 - high, begin + 0.7 * step, top + height - 14)
        made.page.draw_rect(place, fill=(0.2, 0.4, 0.7))
        made.cell("figure label", f"{2010 + bar}", (begin, top + height - 4), 6)
    if not label:
        return top + height + 12
    return made.put("caption", f"{label} {made.words(5, 12)}", (left, top + height + 12), width, 9) + 8


def picture(made: Drawing, at: tuple[float, float], width: float, label: str) -> float:
    """An image of noise with its caption below."""
    left, base = at
    height = made.chance.randint(80, 130)
    box = (left, base - 8, left + width, base - 8 + height)
    made.figure(box)
    samples = made.chance.randbytes(3 * 32 * 24)
    library = _library()
    made.page.insert_image(
        box, pixmap=library.Pixmap(library.csRGB, 32, 24, samples, False), keep_proportion=False
    )
    return made.put("caption", f"{label} {made.words(5, 12)}", (left, box[3] + 12), width, 9) + 8


def paper(made: Drawing) -> None:
    """Two columns with numbered sections, formulas, figures, tables and footnotes."""
    title = made.words(5, 9).title()
    for number in range(1, 4):
        made.new_page()
        running(made, "Proceedings of Upland Science", number)
        top = 70.0
        if number == 1:
            top = made.put("heading", title, (60, 80), 475, 17, "hebo") + 8
            top = made.put("text", made.prose(3), (60, top), 475) + 12
        for column in range(2):
            left, base = 60 + 250.0 * column, top
            base = (
                made.put(
                    "heading",
                    f"{2 * number + column} {made.words(2, 5).title()}",
                    (left, base),
                    225,
                    11,
                    "hebo",
                )
                + 4
            )
            base = made.put("text", made.prose(3), (left, base), 225) + 6
            if column:
                drawn = chart if number % 2 else picture
                base = drawn(made, (left, base), 225, f"Figure {number}.") + 4
            else:
                base = (
                    made.put(
                        "formula",
                        f"F(x) = a x + b / (c - {number} x)    ({number})",
                        (left + 30, base + 6),
                        190,
                        10,
                        "tiit",
                    )
                    + 8
                )
                base = table(made, (left, base), 225, ruled=number == 2, label=f"Table {number}.")
            while base < 600:
                base = made.put("text", made.prose(2), (left, base), 225) + 6
            made.page.draw_line((left, 738), (left + 60, 738))
            made.put("footnote", f"{column + 1} {made.prose(1)}", (left, 750), 225, 7.5)


def report(made: Drawing) -> None:
    """One column: sections, lists, tables with rules and without, figures."""
    labels = ("表", "图") if made.language == "zh" else ("Table", "Figure")
    head = "年度水文报告" if made.language == "zh" else "Annual Report of the Council"
    bold = "china-s" if made.language == "zh" else "hebo"
    for number in range(1, 4):
        made.new_page()
        running(made, head, number)
        base = 80.0
        if number == 1:
            base = made.put("heading", made.words(4, 7), (60, base), 475, 20, bold) + 10
        base = made.put("heading", f"{number}. {made.words(2, 5)}", (60, base), 475, 14, bold) + 6
        base = made.put("text", made.prose(4), (60, base), 475) + 8
        for item in range(4):
            mark = f"{item + 1}." if number % 2 else "•"
            base = made.put("list", f"{mark} {made.prose(1)}", (75, base), 450) + 2
        base = made.put("text", made.prose(3), (60, base + 6), 475) + 8
        base = table(made, (60, base), 420, ruled=number % 2 == 1, label=f"{labels[0]} {number}")
        base = (picture if number % 2 else chart)(made, (120, base), 300, f"{labels[1]} {number}")
        if base < 700:
            base = made.put("heading", f"{number}.1 {made.words(2, 5)}", (60, base), 475, 11.5, bold) + 4
            made.put("text", made.prose(2), (60, base), 475)


def manual(made: Drawing) -> None:
    """Bold headings of the text's size, steps, code, notes in bold within paragraphs."""
    for number in range(1, 4):
        made.new_page()
        running(made, "Pump Manual, revision 7", number)
        base = 80.0
        for _ in range(4):
            base = made.put("heading", made.words(2, 5), (60, base), 475, 10, "hebo") + 2
            base = made.put("text", made.prose(2), (60, base), 475) + 6
            for step in range(3):
                base = made.put("list", f"{step + 1}) {made.prose(1)}", (72, base), 450) + 1
            base = made.put("text", f"WARNING: {made.prose(1)}", (60, base + 6), 475, 10, "hebo") + 8


def gazette(made: Drawing) -> None:
    """Three narrow columns of small type, italic headings, footnotes."""
    for number in range(1, 3):
        made.new_page()
        running(made, "Federal Journal / Vol. 85, No. 150 / Rules", number + 400)
        for column in range(3):
            left, base = 45 + 172.0 * column, 70.0
            while base < 650:
                base = made.put("heading", made.words(2, 5).title(), (left, base), 155, 9, "heit") + 2
                for _ in range(made.chance.randint(1, 3)):
                    base = made.put("text", made.prose(2), (left, base), 155, 8.5) + 3
            made.put("footnote", f"{column + 1} {made.prose(1)}", (left, 765), 155, 6.5)


def slides(made: Drawing) -> None:
    """Wide pages with a title, bullets, written or drawn, and a chart, which now and then has no caption."""
    made.width, made.height = 720.0, 405.0
    for number in range(1, 6):
        made.new_page()
        made.put("heading", made.words(3, 6), (50, 60), 620, 26, "hebo")
        base = 110.0
        for _ in range(4):
            mark = "• " if number % 2 else ""
            if not mark:
                made.page.draw_circle((52, base - 5), 2.6, fill=(0, 0, 0))
            base = made.put("list", mark + made.words(5, 11), (60, base), 290 if mark else 600, 15) + 8
        if number % 2:
            chart(made, (390, 120), 270, "" if number == 3 else f"Figure {number}.")
        made.put("furniture", f"Upland Forum 2024    {number}", (50, 390), 300, 8)


def chinese(made: Drawing) -> None:
    """The report, in Chinese."""
    made.language = "zh"
    report(made)


KINDS: dict[str, Callable[[Drawing], None]] = {
    one.__name__: one for one in (paper, report, manual, gazette, slides, chinese)
}


def by_models(data: bytes) -> list[Region]:
    """The models' boxes."""
    importlib.import_module("pymupdf.layout")
    found: list[Region] = []
    with _library().open(stream=data, filetype="pdf") as document:
        for page in document:
            page.get_layout()
            for left, top, right, bottom, name in page.layout_information:
                box = (float(left), float(top), float(right), float(bottom))
                found.append(Region(page.number + 1, box, OF_MODELS.get(str(name), str(name)), len(found)))
    return found


def by_ours(data: bytes) -> list[Region]:
    """The lines of our blocks, and what was left out as furniture."""
    kept: list[Block] = []

    def marked(blocks: Sequence[Block], *rest: Any, **more: Any) -> None:
        mark(blocks, *rest, **more)
        kept.extend(blocks)

    mark = extractor.mark_headings
    with mock.patch.object(extractor, "mark_headings", marked):
        read = PDF_EXTRACTOR.extract(data, name="drawn.pdf", options={})
    found: list[Region] = []
    for at, block in enumerate(kept):
        name = "footnote" if block.note else OF_OURS.get(block.kind, block.kind)
        if block.kind == "image":
            found.append(Region(block.page, block.box, "figure", at))
            found += [Region(one.page, one.place, "figure label", at) for one in block.labels]
        elif block.kind in ("paragraph", "item") and (
            is_caption(block.text) or is_caption(block.text, FIGURE)
        ):
            name = "caption"
        found += [Region(line.page, line.place, name, at) for line in block.lines if line.text or block.cells]
    for one in read.left_out:
        place = box_on_page(one.locator)
        if place is not None and one.reason == "furniture":
            found.append(Region(*place, "furniture", len(kept)))
    return found


def around(regions: Sequence[Region], page: int, box: Box) -> Region | None:
    """The smallest region in which the middle of a box stands."""
    across, down = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    held = [
        one
        for one in regions
        if one.page == page and one.box[0] <= across <= one.box[2] and one.box[1] <= down <= one.box[3]
    ]
    return min(held, key=lambda one: _area(one.box), default=None)


def _area(box: Box) -> float:
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])


def overlap(one: Box, other: Box) -> float:
    """Intersection over union."""
    shared = _area(
        (max(one[0], other[0]), max(one[1], other[1]), min(one[2], other[2]), min(one[3], other[3]))
    )
    return shared / (_area(one) + _area(other) - shared or 1.0)


@dataclass(slots=True)
class Score:
    """What was found, what is there, and what of it is right, by class."""

    right: Counter[str] = field(default_factory=Counter[str])
    found: Counter[str] = field(default_factory=Counter[str])
    there: Counter[str] = field(default_factory=Counter[str])
    seconds: float = 0.0

    def add(self, drawn: Drawing, words: Sequence[tuple[int, Box]], regions: Sequence[Region]) -> None:
        blocks: dict[int, set[int]] = defaultdict(set)
        held: dict[int, set[int]] = defaultdict(set)
        lone = len(regions)  # words in no region are a block each
        for page, box in words:
            truth, read = around(drawn.regions, page, box), around(regions, page, box)
            if truth is None:
                continue
            lone += 1
            block = read.block if read else lone
            blocks[truth.block].add(block)
            held[block].add(truth.block)
            if truth.name == "formula":
                continue
            name = "figure label" if read and read.name == "figure" else read.name if read else ""
            self.there[truth.name] += 1
            self.found[name] += 1
            self.right[name] += name == truth.name
        for block in {one.block for one in drawn.regions if one.name == "formula"}:
            mine = blocks[block]
            self.there["formula"] += 1
            self.right["formula"] += len(mine) == 1 and all(held[one] == {block} for one in mine)
        truths = drawn.figures
        figures = [one for one in regions if one.name == "figure"]
        self.there["figure"] += len(truths)
        self.found["figure"] += len(figures)
        self.right["figure"] += sum(
            any(one.page == truth.page and overlap(one.box, truth.box) >= 0.5 for one in figures)
            for truth in truths
        )

    def of(self, name: str) -> str:
        """Precision and recall; of formulas recall alone."""
        recall = f"{self.right[name] / self.there[name]:.3f}" if self.there[name] else "-"
        if name == "formula" or not self.found[name]:
            return f"- / {recall}"
        return f"{self.right[name] / self.found[name]:.3f} / {recall}"


def words_of(data: bytes) -> Iterator[tuple[int, Box]]:
    """Page and box of each word."""
    with _library().open(stream=data, filetype="pdf") as document:
        for page in document:
            for left, top, right, bottom, *_ in page.get_text("words"):
                yield page.number + 1, (left, top, right, bottom)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="PyMuPDF's layout models beside our layout, class by class.")
    parser.add_argument("--documents", type=int, default=4, help="of each kind")
    parser.add_argument("--by-kind", action="store_true", help="a table for each kind of document, too")
    arguments = parser.parse_args()
    readers = {
        "linkrag_dagster": by_ours,
        f"models of pymupdf {importlib.metadata.version('pymupdf')}": by_models,
    }
    total = {name: Score() for name in readers}
    kinds = {kind: {name: Score() for name in readers} for kind in KINDS}
    pages = Counter[str]()
    for kind, draw in KINDS.items():
        for number in range(arguments.documents):
            print(f"{kind} {number + 1} of {arguments.documents}", file=sys.stderr)
            made = Drawing(random.Random(f"{kind} {number}"))
            draw(made)
            data = made.document.tobytes(no_new_id=True)
            pages[kind] += made.document.page_count
            words = list(words_of(data))
            for name, read in readers.items():
                started = time.process_time()
                regions = read(data)
                for score in (total[name], kinds[kind][name]):
                    score.seconds += time.process_time() - started
                for score in (total[name], kinds[kind][name]):
                    score.add(made, words, regions)
    show(f"all kinds, {pages.total()} pages", pages.total(), total)
    if arguments.by_kind:
        for kind, scores in kinds.items():
            show(f"{kind}, {pages[kind]} pages", pages[kind], scores)


def show(title: str, pages: int, scores: dict[str, Score]) -> None:
    """One table; precision / recall."""
    print(f"\n| {title} | there | " + " | ".join(scores) + " |")
    print("| --- | ---: |" + " ---: |" * len(scores))
    there = next(iter(scores.values())).there
    for name in (*CLASSES, "figure", "formula"):
        if there[name]:
            print(f"| {name} | {there[name]} | " + " | ".join(one.of(name) for one in scores.values()) + " |")
    print(
        "| seconds a page | | " + " | ".join(f"{one.seconds / pages:.3f}" for one in scores.values()) + " |"
    )


if __name__ == "__main__":
    main()
