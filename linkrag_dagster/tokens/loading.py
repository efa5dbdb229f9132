"""Finds a tokenizer by name or path; whoever calls keeps what it gets (TK-01)."""

from __future__ import annotations

from pathlib import Path

from linkrag_dagster.tokens.tokenizer import Tokenizer, TokenizerNotFound

BYTE_PAIR_ENCODINGS = ("cl100k_base", "o200k_base")
"""Vocabularies that come with the package and need no path."""


def load_tokenizer(name: str, *, path: str | Path | None = None) -> Tokenizer:
    """Load a tokenizer. Nothing is fetched and nothing is cached here.

    Args:
        name: `cl100k_base`, `o200k_base`, or with `path` the name that rows record. Without `path`,
            any other name is taken as a path itself, and the name recorded is the folder's.
        path: a Hugging Face `tokenizer.json`, or a model folder that holds one.

    Raises:
        TokenizerNotFound: no such name, or nothing at that path. There is no estimate to fall back on.
        ValueError: the file at the path is no tokenizer description.
    """
    # Either library is imported only when it is needed.
    if path is None and name in BYTE_PAIR_ENCODINGS:
        from linkrag_dagster.tokens.byte_pairs import BytePairTokenizer

        return BytePairTokenizer(name)
    from linkrag_dagster.tokens.word_pieces import WordPieceTokenizer

    place = Path(name if path is None else path)
    file = place / "tokenizer.json" if place.is_dir() else place
    if not file.is_file():
        raise TokenizerNotFound(
            f"no tokenizer {name!r}: {file} is not a file. Use {' or '.join(BYTE_PAIR_ENCODINGS)}, "
            "or give the path of a Hugging Face tokenizer.json or of a model folder that holds one."
        )
    recorded = name if path is not None else (place.name if place.is_dir() else place.parent.name)
    return WordPieceTokenizer(recorded, file)
