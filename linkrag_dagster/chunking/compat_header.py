"""The header as seed 000's program writes it (ST-06): `[Title > Section]` on a line of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from linkrag_dagster.chunking.header import JOINT
from linkrag_dagster.chunking.records import Chunk
from linkrag_dagster.tokens import Tokenizer


def with_compat_headers(
    chunks: Sequence[Chunk], title: str, encoder: Tokenizer, window: int | None
) -> list[Chunk]:
    """Chunks without a header, with that one; those stay without whose text would not fit the window with it.

    Args:
        chunks: as exported with `header: false`.
        title: the document's title.
        encoder: the encoder's own tokenizer.
        window: most tokens that it sees, special ones included; None for no window to fit.
    """
    lines = [f"[{JOINT.join(part for part in (title, *c.heading_trail) if part)}]" for c in chunks]
    texts = [f"{line}\n{chunk.content}" for line, chunk in zip(lines, chunks, strict=True)]
    sizes = [tokens + encoder.special_tokens for tokens in encoder.count_many(texts)]
    of_line = dict(zip(set(lines), encoder.count_many(list(set(lines))), strict=True))
    return [
        replace(chunk, text=text, header=line, encoder_tokens=size, header_tokens=of_line[line])
        if chunk.role == "source" and (window is None or size <= window)
        else chunk
        for chunk, line, text, size in zip(chunks, lines, texts, sizes, strict=True)
    ]
