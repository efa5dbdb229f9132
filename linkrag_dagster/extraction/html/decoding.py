"""Which characters the bytes of a page are: its mark, UTF-8 that is valid, what it declares, statistics."""

from __future__ import annotations

import codecs
import re

from linkrag_dagster.extraction.encoding import Decoded, decode

_HEAD = 4_096
_META = re.compile(rb"""<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([A-Za-z0-9_:.-]+)""", re.IGNORECASE)
_XML = re.compile(rb"""\A\s*<\?xml\b[^>]*?\bencoding\s*=\s*["']([A-Za-z0-9_:.-]+)""", re.IGNORECASE)
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

# Labels mean their widest common form, as in browsers (WHATWG Encoding Standard, section 4.2).
_WIDER = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "cp950",
}


def decode_page(data: bytes) -> Decoded:
    """The text of an HTML page.

    Bytes that are valid UTF-8 beyond ASCII are UTF-8, whatever the page declares: by chance hardly any are.

    Raises:
        ExtractionError: kind `decode`, as `decode`.
    """
    declared = None if data.isascii() or data.startswith(_MARKS) else _declared(data)
    if declared is not None and not _is_utf8(data):
        try:
            return Decoded(data.decode(declared), declared, mark=False)
        except ValueError:
            pass  # declared wrongly: the bytes themselves decide
    return decode(data)


def _declared(data: bytes) -> str | None:
    head = _COMMENT.sub(b"", data[:_HEAD])
    found = _XML.search(head) or _META.search(head)
    if found is None:
        return None
    try:
        name = codecs.lookup(found[1].decode("ascii")).name
        "".encode(name)  # codecs that are no text encodings (base64, rot13) are refused here
    except LookupError:
        return None
    # A page whose declaration can be read as ASCII is not UTF-16, whatever it says.
    return None if name.startswith(("utf-16", "utf-32", "utf-7")) else _WIDER.get(name, name)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
