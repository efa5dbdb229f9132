"""PDF documents that no writer means well with: damaged ones, and ones built to loop, to swell or to be endless."""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence

import pymupdf

# pymupdf.PDF_ENCRYPT_…, which its types do not know.
_RC4_128, _AES_256 = 3, 5
_CONTENT = b"BT /F1 12 Tf 72 700 Td (Herring and crab from the north quay.) Tj ET"
_FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"


def pdf(objects: Mapping[int, bytes], *, root: int = 1, trailer: bytes = b"", xref: bool = True) -> bytes:
    """A file of these objects, by number, with a table of where they stand."""
    out = bytearray(b"%PDF-1.7\n")
    places: dict[int, int] = {}
    for number, body in objects.items():
        places[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    size = max(objects) + 1
    if xref:
        out += b"xref\n0 %d\n0000000000 65535 f \n" % size
        for number in range(1, size):
            place = places.get(number)
            out += b"%010d 00000 n \n" % place if place is not None else b"0000000000 65535 f \n"
    out += b"trailer <</Size %d/Root %d 0 R%s>>\nstartxref\n%d\n%%%%EOF\n" % (size, root, trailer, start)
    return bytes(out)


def stream(data: bytes, entries: bytes = b"") -> bytes:
    """A stream object."""
    return b"<</Length %d%s>>\nstream\n%s\nendstream" % (len(data), entries, data)


def page(
    content: bytes = stream(_CONTENT),
    *,
    box: bytes = b"[0 0 595 842]",
    resources: bytes = b"",
    more: Mapping[int, bytes] | None = None,
    catalog: bytes = b"",
    count: bytes = b"1",
    kids: bytes = b"[3 0 R]",
) -> bytes:
    """A document of one page, with parts to be replaced."""
    return pdf(
        {
            1: b"<</Type/Catalog/Pages 2 0 R%s>>" % catalog,
            2: b"<</Type/Pages/Count %s/Kids %s>>" % (count, kids),
            3: b"<</Type/Page/Parent 2 0 R/MediaBox %s/Contents 4 0 R/Resources <</Font <</F1 5 0 R>>%s>>>>"
            % (box, resources),
            4: content,
            5: _FONT,
            **(more or {}),
        }
    )


def flate(data: bytes, times: int = 1) -> bytes:
    """A stream, compressed so many times."""
    for _ in range(times):
        data = zlib.compress(data, 9)
    return stream(data, b"/Filter [%s]" % b" ".join([b"/FlateDecode"] * times))


def encrypted(user: str, owner: str, method: int) -> bytes:
    """A page of text under passwords."""
    document = pymupdf.open()
    document.new_page().insert_text((72, 100), "Herring and crab from the north quay.")
    return document.tobytes(encryption=method, user_pw=user, owner_pw=owner)


def laughs(levels: int) -> bytes:
    """Forms that draw the next one twice: 2 to the power of `levels` texts."""
    forms = {
        10 + n: stream(
            b"/X Do /X Do" if n < levels else _CONTENT,
            b"/Type/XObject/Subtype/Form/BBox [0 0 600 900]/Resources <</Font <</F1 5 0 R>>/XObject <</X %d 0 R>>>>"
            % (11 + n if n < levels else 10),
        )
        for n in range(levels + 1)
    }
    return page(stream(b"/X Do"), resources=b"/XObject <</X 10 0 R>>", more=forms)


def _deep_tree(levels: int) -> bytes:
    nodes = {
        10 + n: b"<</Type/Pages/Count 1/Parent %d 0 R/Kids [%d 0 R]>>"
        % (9 + n if n else 2, 11 + n if n < levels else 3)
        for n in range(levels + 1)
    }
    return page(kids=b"[10 0 R]", more=nodes)


def _outlines(loop: bool) -> bytes:
    after = 11 if loop else 13
    return page(
        catalog=b"/Outlines 10 0 R",
        more={
            10: b"<</Type/Outlines/First 11 0 R/Last 12 0 R/Count 2>>",
            11: b"<</Title (One)/Parent 10 0 R/Next 12 0 R/Dest [3 0 R/Fit]/First 11 0 R/Last 11 0 R>>",
            12: b"<</Title (Two)/Parent 10 0 R/Next %d 0 R/Dest [3 0 R/Fit]>>" % after,
        },
    )


def _tounicode() -> bytes:
    cmap = (
        b"/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <FF> endcodespacerange "
    )
    cmap += b"1 beginbfrange <00> <FF> [" + b"<0041>" * 2000 + b"] endbfrange endcmap"
    font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 20 0 R>>"
    return page(more={5: font, 20: stream(cmap, b"/UseCMap 20 0 R")})


BUILT: Mapping[str, Callable[[], bytes]] = {
    "no-pages": lambda: page(count=b"0", kids=b"[]"),
    "count-beyond": lambda: page(count=b"2147483647"),
    "count-negative": lambda: page(count=b"-5"),
    "count-not-a-number": lambda: page(count=b"(many)"),
    "pages-twice": lambda: page(count=b"500", kids=b"[" + b"3 0 R " * 500 + b"]"),
    "pages-loop": lambda: page(count=b"3", kids=b"[2 0 R 3 0 R 2 0 R]"),
    "pages-self": lambda: pdf({1: b"<</Type/Catalog/Pages 1 0 R/Kids [1 0 R]/Count 7>>"}),
    "pages-deep": lambda: _deep_tree(9000),
    "box-huge": lambda: page(box=b"[0 0 1e12 1e12]"),
    "box-empty": lambda: page(box=b"[0 0 0 0]"),
    "box-upside-down": lambda: page(box=b"[595 842 0 0]"),
    "box-nonsense": lambda: page(box=b"[(a) /b null]"),
    "bomb": lambda: page(flate(b"0 0 m 1 1 l S\n" * 20_000_000)),
    "bomb-twice": lambda: page(flate(b" " * 500_000_000, 2)),
    "bomb-of-text": lambda: page(flate(b"BT /F1 1 Tf " + b"(word) Tj " * 20_000_000 + b"ET")),
    "bomb-of-marks": lambda: page(flate(b"q " * 10_000_000)),
    "laughs": lambda: laughs(28),
    "form-self": lambda: laughs(0),
    "nested-arrays": lambda: page(catalog=b"/X " + b"[" * 200_000 + b"]" * 200_000),
    "nested-dictionaries": lambda: page(catalog=b"/X " + b"<</A " * 100_000 + b"1" + b">>" * 100_000),
    "outline-loop": lambda: _outlines(True),
    "outline-lost": lambda: _outlines(False),
    "prev-self": lambda: _prev(page()),
    "no-xref": lambda: pdf({1: b"<</Type/Catalog/Pages 2 0 R>>", 2: b"<</Kids []>>"}, xref=False),
    "root-missing": lambda: pdf({1: b"<</Type/Catalog>>"}, root=77),
    "length-self": lambda: page(b"<</Length 4 0 R>>\nstream\n" + _CONTENT + b"\nendstream"),
    "length-huge": lambda: page(b"<</Length 99999999999>>\nstream\n" + _CONTENT + b"\nendstream"),
    "filters-many": lambda: page(stream(_CONTENT, b"/Filter [" + b"/ASCIIHexDecode " * 5000 + b"]")),
    "image-huge": lambda: page(
        stream(b"q 100 0 0 100 72 72 cm /I Do Q " + _CONTENT),
        resources=b"/XObject <</I 30 0 R>>",
        more={
            30: stream(
                b"\0",
                b"/Type/XObject/Subtype/Image/Width 2000000000/Height 2000000000/BitsPerComponent 8"
                b"/ColorSpace/DeviceRGB",
            )
        },
    ),
    "tounicode": _tounicode,
    "font-self": lambda: page(more={5: b"<</Type/Font/Subtype/Type0/BaseFont/X/DescendantFonts [5 0 R]>>"}),
    "matrix-nan": lambda: page(
        stream(b"BT /F1 1e38 Tf 1e38 1e38 1e38 1e38 1e38 1e38 Tm (far) Tj ET " + _CONTENT)
    ),
    "header-alone": lambda: b"%PDF-1.7\n",
    "header-and-noise": lambda: b"%PDF-1.7\n" + random.Random(5).randbytes(50_000),
    "password-user": lambda: encrypted("u", "o", _AES_256),
    "password-user-rc4": lambda: encrypted("u", "o", _RC4_128),
    "password-owner": lambda: encrypted("", "o", _AES_256),
}
"""Documents by what is wrong with them, made when asked for."""


def _prev(data: bytes) -> bytes:
    start = int(data.rsplit(b"startxref\n", 1)[1].split()[0])
    return data.replace(b"trailer <<", b"trailer <</Prev %d" % start)


def mutants(seeds: Sequence[bytes], count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """So many documents with one to three damages each, the same for the same seed; names say which."""
    chance = random.Random(seed)
    for number in range(count):
        data = chance.choice(seeds)
        done: list[str] = []
        for _ in range(chance.randint(1, 3)):
            damage = chance.choice(_DAMAGES)
            data = damage(data, chance, seeds)
            done.append(damage.__name__.strip("_"))
        if not data.startswith(b"%PDF-"):
            data = b"%PDF-1.4\n" + data
        yield f"{number:03}-{'-'.join(done)}", data


Damage = Callable[[bytes, random.Random, Sequence[bytes]], bytes]


def _truncated(data: bytes, chance: random.Random, seeds: Sequence[bytes]) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _flipped(data: bytes, chance: random.Random, seeds: Sequence[bytes]) -> bytes:
    out = bytearray(data)
    for _ in range(chance.choice((1, 10, 300)) if out else 0):
        out[chance.randrange(len(out))] ^= 1 << chance.randrange(8)
    return bytes(out)


def _zeroed(data: bytes, chance: random.Random, seeds: Sequence[bytes]) -> bytes:
    at, length = chance.randrange(len(data) + 1), chance.choice((16, 512, 8192))
    return data[:at] + b"\0" * len(data[at : at + length]) + data[at + length :]


def _cut_out(data: bytes, chance: random.Random, seeds: Sequence[bytes]) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + data[at + chance.choice((1, 100, 5000)) :]


def _spliced(data: bytes, chance: random.Random, seeds: Sequence[bytes]) -> bytes:
    other = chance.choice(seeds)
    return data[: chance.randrange(len(data) + 1)] + other[chance.randrange(len(other)) :]


def _numbers(data: bytes, chance: random.Random, seeds: Sequence[bytes]) -> bytes:
    """Another number in a few places where one stands behind a name: lengths, counts, sizes, references."""
    found = list(re.finditer(rb"/[A-Za-z]+[ \[]*(-?\d+)", data))
    for match in sorted(chance.sample(found, min(len(found), 5)), key=lambda m: -m.start(1)):
        new = chance.choice((b"0", b"-1", b"1", b"3", b"65536", b"2147483647", b"99999999999"))
        data = data[: match.start(1)] + new + data[match.end(1) :]
    return data


def _references(data: bytes, chance: random.Random, seeds: Sequence[bytes]) -> bytes:
    """References led elsewhere, often back: loops of pages, fonts, forms, outlines."""
    found = list(re.finditer(rb"(\d+) 0 R", data))
    numbers = [match[1] for match in found]
    for match in sorted(chance.sample(found, min(len(found), 4)), key=lambda m: -m.start(1)):
        data = data[: match.start(1)] + chance.choice(numbers) + data[match.end(1) :]
    return data


def _renamed(data: bytes, chance: random.Random, seeds: Sequence[bytes]) -> bytes:
    """Names exchanged: a page that is a font, a filter that is another one."""
    found = list(re.finditer(rb"/[A-Z][A-Za-z]{2,20}", data))
    for match in sorted(chance.sample(found, min(len(found), 4)), key=lambda m: -m.start()):
        data = data[: match.start()] + chance.choice(found)[0] + data[match.end() :]
    return data


_DAMAGES: tuple[Damage, ...] = (
    _truncated,
    _flipped,
    _zeroed,
    _cut_out,
    _spliced,
    _numbers,
    _references,
    _renamed,
)
