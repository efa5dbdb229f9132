"""How much text a PDF may hold, told by its streams' sizes and without laying out a page (VE-05).

A file's own size tells little: text is stored compressed, to a third or a hundredth, and a scan is large with hardly a
word in it. So what is compressed is inflated and counted; pictures, which give no more than a page's words, and fonts
and colours, which give none, are not. What a page draws from a form counts once, however often it is drawn.
"""

from __future__ import annotations

import zlib

PICTURE = 20_000
"""Bytes of text that are recognised in one picture at most: a newspaper's page."""
MOST = 64 * 2**20
"""Bytes beyond which nothing is inflated: such a file is bounded by its size."""

_WITHOUT_TEXT = (b"/Length1", b"Type1C", b"CIDFontType0C", b"/OpenType", b"/XRef", b"/XML", b"/Alternate")
"""What dictionaries of fonts, cross-references, metadata and colours hold."""
_DICTIONARY = 2_000


def most_text(data: bytes) -> int:
    """At most so many bytes of text; linear in the file's size and in `MOST`.

    Args:
        data: the file's bytes; damaged ones are no error, they fail by name when they are read.
    """
    found = len(data)
    left = MOST
    at = 0
    while (start := data.find(b"stream", at)) >= 0:
        end = data.find(b"endstream", start)
        if end < 0:
            break
        said = data[max(at, start - _DICTIONARY) : start]
        said = said[said.rfind(b" obj") + 1 :]
        body = data[start + len(b"stream") : end].lstrip(b"\r\n")
        found -= len(body)
        if b"/Image" in said:
            found += min(len(body), PICTURE)
        elif not any(mark in said for mark in _WITHOUT_TEXT):
            size = _inflated(body, left) if b"FlateDecode" in said else len(body)
            left = max(0, left - size)
            found += max(size, len(body))
        at = end + len(b"endstream")
    return found


def _inflated(body: bytes, most: int) -> int:
    """Bytes of a compressed stream, `most` at most; 0 where it is damaged or encrypted."""
    try:
        return len(zlib.decompressobj().decompress(body, most)) if most else 0
    except zlib.error:
        return 0
