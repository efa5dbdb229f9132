"""HTML pages that are damaged, or built to be deep, endless or slow."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

BUILT: Mapping[str, Callable[[], str]] = {
    "deep-div": lambda: "<div>" * 100_000 + "herring",
    "deep-inline": lambda: "<b><i>" * 20_000 + "herring",
    "deep-table": lambda: "<table><tr><td>" * 3_000 + "herring",
    "deep-list": lambda: "<ul><li>" * 5_000 + "herring",
    "deep-quote": lambda: "<blockquote>" * 5_000 + "herring",
    "deep-svg": lambda: "<svg>" + "<g>" * 50_000 + "<text>x</text></svg><p>herring",
    "misnested": lambda: "<p><b><a>herring</p>" * 5_000,
    "ignored-tags": lambda: "<p>" + "herring</x>" * 20_000,
    "many-attributes": lambda: "<p " + " ".join(f"a{n}=1" for n in range(100_000)) + ">herring",
    "one-attribute": lambda: f'<p title="{"x" * 2_000_000}">herring',
    "span-flood": lambda: (
        "<table><tr><td colspan=1000 rowspan=65534>herring" + "<td colspan=1000>x" * 200 + "</table>"
    ),
    "spans-crossed": lambda: "<table>" + "<tr><td rowspan=65534 colspan=1000>herring" * 50 + "</table>",
    "many-lines": lambda: "<pre>" + "herring\n" * 200_000 + "</pre>",
    "many-breaks": lambda: "<p>" + "herring<br>" * 50_000,
    "many-rows": lambda: "<table>" + "<tr><td>herring<td>crab" * 20_000 + "</table>",
    "many-headings": lambda: "<h1>herring</h1>" * 20_000,
    "references": lambda: "<p>herring" + "&CounterClockwiseContourIntegral;&#x110000;&#0;" * 20_000,
    "lone-brackets": lambda: "<p>herring " + "< " * 500_000,
    "unclosed-comment": lambda: "<p>herring<!--" + "-" * 1_000_000,
    "unclosed-script": lambda: "<p>herring<script>" + "<!--<script>" * 50_000,
    "nul": lambda: "<p>her\0ring" + "\0" * 100_000,
    "noncharacters": lambda: "<p>herring < " + "".join(map(chr, range(0xFDD0, 0xFDF0))),
    "frameset": lambda: "<frameset>" * 1_000 + "<p>herring",
    "templates": lambda: "<template>" * 3_000 + "herring",
    "numbers": lambda: "<ol start=99999999999999999999999><li value=-5>herring<li>crab</ol>",
    "closed-twice": lambda: "</html></body>" * 10_000 + "<p>herring",
}
"""Pages by what is wrong with them; each shows the word herring, but for two that show nothing."""

SHOWS_NOTHING = frozenset(("frameset", "templates"))


def mutants(seeds: Sequence[str], count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """So many pages with one to four damages each, the same for the same seed."""
    chance = random.Random(seed)
    for number in range(count):
        text = chance.choice(seeds)
        done: list[str] = []
        for _ in range(chance.randint(1, 4)):
            damage = chance.choice(_DAMAGES)
            text = damage(text, chance)
            done.append(damage.__name__.strip("_"))
        data = bytearray(("<!DOCTYPE html>" + text).encode())
        for _ in range(chance.choice((0, 0, 5))):
            data[chance.randrange(15, len(data))] ^= 1 << chance.randrange(8)
        yield f"{number:03}-{'-'.join(done)}", bytes(data)


_TAG = re.compile(r"<[^<>]*>")


def _truncated(text: str, chance: random.Random) -> str:
    return text[: chance.randrange(len(text) + 1)] or " "


def _tags_dropped(text: str, chance: random.Random) -> str:
    return _TAG.sub(lambda tag: "" if chance.random() < 0.2 else tag[0], text)


def _tags_doubled(text: str, chance: random.Random) -> str:
    return _TAG.sub(lambda tag: tag[0] * chance.choice((1, 1, 1, 2, 9)), text)


def _tags_shuffled(text: str, chance: random.Random) -> str:
    tags = _TAG.findall(text)
    chance.shuffle(tags)
    following = iter(tags)
    return _TAG.sub(lambda tag: next(following), text)


def _brackets(text: str, chance: random.Random) -> str:
    return re.sub(r"[<>\"'=]", lambda char: chance.choice(("", char[0], char[0], char[0], "<", '"')), text)


def _wrapped(text: str, chance: random.Random) -> str:
    name = chance.choice(
        ("table", "svg", "select", "template", "noscript", "pre", "math", "textarea", "button", "li")
    )
    return f"<{name}>" * chance.choice((1, 50)) + text


_DAMAGES: tuple[Callable[[str, random.Random], str], ...] = (
    _truncated,
    _tags_dropped,
    _tags_doubled,
    _tags_shuffled,
    _brackets,
    _wrapped,
)
