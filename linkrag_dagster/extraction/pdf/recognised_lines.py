"""Recognised lines as segments of a page (XT-02, XT-08).

They become segments like those of the page's own text, so that columns, paragraphs, tables and furniture are found the
same way. Their sizes are evened out: boxes of lines in one size differ by a sixth. The lines of a page that was scanned
askew are straightened for the reading order, while their places stay where they are on the page.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from linkrag_dagster.extraction.ocr import Reading, RecognisedLine
from linkrag_dagster.extraction.pdf.words import Box, Segment, Word, on_page, segment, turn

_TEXT_SIZE = 0.8
"""Size of the font as a share of the height of a line's box."""
_RIM = (0.15, 0.08)
"""Of a line's height: what its box has too much at either side, and above and below."""
_LONG = 15
"""Characters from which on their width tells a line's size."""
_EVEN = (0.75, 1.35)
"""Heights within these shares of the usual one are that one."""
_STEP = 1.15
"""Ratio of neighbouring heights up to which other lines are of one size."""
_LEVEL, _STEEPEST = 0.002, 0.26
"""Tangents: below the first a page is straight, above the second the lines are slanted for another reason."""
_BULLETED = re.compile(r"^([•·▪■●○◦‣]|[-–—](?=[\u2e80-\u9fff]))(?=\S)")
_NUMBERED = re.compile(r"^(\d{1,2}(?:\.\d{1,2}){1,3})(?=[A-Z\u2e80-\u9fff])")


def segments_of(reading: Reading, box: Box, turned: int, size: tuple[float, float]) -> list[Segment]:
    """The lines of a reading in the coordinates of a page whose text is turned by `turned`.

    Args:
        reading: of a picture.
        box: where the picture lies on the page as shown.
        turned: quarters.
        size: width and height of the page as shown.
    """
    lines = [line for line in reading.lines if line.text]
    if not lines:
        return []
    heights = _even_heights(lines)
    slope = _slope(lines)
    # From pixels of the turned picture to points of the page; a picture that lies on its side within a page is laid
    # into its frame.
    extent = (box[2] - box[0], box[3] - box[1])
    own = extent if reading.quarters in (0, 2) else (extent[1], extent[0])
    across, down = own[0] / reading.width, own[1] / reading.height
    frame = turn(box, turned, size)
    wide, high = (frame[2] - frame[0]) / own[0], (frame[3] - frame[1]) / own[1]
    made: list[Segment] = []
    for line, height in zip(lines, heights, strict=True):
        left, top, right, bottom = _trimmed(line)
        middle = (top + bottom) / 2 - slope * ((left + right) / 2 - reading.width / 2)
        upper = frame[1] + (middle - height / 2) * down * high
        lower = frame[1] + (middle + height / 2) * down * high
        words: list[Word] = []
        for text, begin, end in _parts(_spaced(line.text), left * across, right * across):
            placed = turn((begin, top * down, end, bottom * down), -reading.quarters, own)
            words.append(
                Word(
                    text,
                    (frame[0] + begin * wide, upper, frame[0] + end * wide, lower),
                    on_page(
                        (placed[0] + box[0], placed[1] + box[1], placed[2] + box[0], placed[3] + box[1]), size
                    ),
                    upper + 0.8 * (lower - upper),
                    _TEXT_SIZE * (lower - upper),
                    confidence=line.trust,
                )
            )
        made.append(segment(words))
    return made


def height_of(line: RecognisedLine) -> float:
    (x0, y0), _, _, (x3, y3) = line.corners
    return math.hypot(x3 - x0, y3 - y0)


def _spaced(text: str) -> str:
    """A line with the blank after a bullet or a section's number that recognition often loses."""
    return _NUMBERED.sub(r"\1 ", _BULLETED.sub(r"\1 ", text.strip()))


def _parts(text: str, left: float, right: float) -> list[tuple[str, float, float]]:
    """The words of a line with where they begin and end, by the widths that their characters usually have."""
    words = text.split()
    widths = [sum(map(_width, word)) for word in words]
    unit = (right - left) / (sum(widths) + _width(" ") * (len(words) - 1))
    made: list[tuple[str, float, float]] = []
    at = left
    for word, width in zip(words, widths, strict=True):
        made.append((word, at, at + width * unit))
        at += (width + _width(" ")) * unit
    return made


def _slope(lines: Sequence[RecognisedLine]) -> float:
    """How far lines fall, as a tangent: of the long ones, which tell it best."""
    slopes: list[float] = []
    for line in lines:
        (x0, y0), (x1, y1), (x2, y2), (x3, y3) = line.corners
        width = (x1 - x0 + x2 - x3) / 2
        if width > 6 * height_of(line) > 0:
            slopes.append((y1 - y0 + y2 - y3) / 2 / width)
    slope = median(slopes) if len(slopes) >= 2 else 0.0
    return slope if _LEVEL <= abs(slope) <= _STEEPEST else 0.0


def _trimmed(line: RecognisedLine) -> Box:
    """A line's box without the rim that detection leaves around its glyphs."""
    left, top, right, bottom = line.box
    beside, above = _RIM[0] * height_of(line), _RIM[1] * height_of(line)
    if right - left <= 2 * beside:
        return line.box
    return left + beside, top + above, right - beside, bottom - above


def _even_heights(lines: Sequence[RecognisedLine]) -> list[float]:
    """Heights of lines, with those of one size made equal: the usual one first, the others by neighbourhood.

    Boxes of long lines are too high by chance; how wide their characters are tells their size as well.
    """
    heights = [height_of(line) for line in lines]
    widths = [sum(map(_width, line.text)) for line in lines]
    lengths = [max(1.0, line.box[2] - line.box[0]) for line in lines]
    slim = median(h * w / length for h, w, length in zip(heights, widths, lengths, strict=True))
    sizes = [
        math.sqrt(h * slim * length / w) if len(line.text) >= _LONG else h
        for h, w, length, line in zip(heights, widths, lengths, lines, strict=True)
    ]
    ordered = sorted(zip(sizes, (len(line.text) for line in lines), strict=True))
    half, seen, usual = sum(count for _, count in ordered) / 2, 0, ordered[-1][0]
    for size, count in ordered:
        seen += count
        if seen >= half:
            usual = size
            break
    others = sorted({size for size in sizes if not _EVEN[0] * usual <= size <= _EVEN[1] * usual})
    groups: list[list[float]] = [[size] for size in others[:1]]
    for one, other in pairwise(others):
        if other <= _STEP * one:
            groups[-1].append(other)
        else:
            groups.append([other])
    evened = {size: median(group) for group in groups for size in group}
    return [evened.get(size, usual) for size in sizes]


def _width(char: str) -> float:
    """Width of a character against others, roughly."""
    if char > "\u2e80":
        return 2.0
    if char in " .,:;!|'iljI1":
        return 0.6
    return 1.3 if char.isupper() or char in "mw%@—" else 1.0
