"""Builds of scans, and workers that tell when they begin to read a picture; all else is the real worker."""

from __future__ import annotations

import os
import select
from pathlib import Path
from typing import Any

import pymupdf

import linkrag_dagster.workers.process as process
import linkrag_dagster.workers.worker as worker
from linkrag_dagster.extraction.ocr.lines import RecognisedLine
from linkrag_dagster.extraction.ocr.rapidocr import RapidOcr
from tests.crash.small_corpus import CONTEXT, SmallCorpus

TOLD = "TESTS_PICTURES_TOLD"
"""Environment: a pipe by name; a worker writes its process id into it before it reads a picture."""

PROGRAM = process._PROGRAM.replace("linkrag_dagster.workers.worker", "tests.crash.recognising")

serve = worker.serve


if TOLD in os.environ:
    read = RapidOcr.read

    def read_told(self: RapidOcr, image: Any) -> list[RecognisedLine]:
        with open(os.environ[TOLD], "w", encoding="ascii") as pipe:
            pipe.write(f"{os.getpid()}\n")
        return read(self, image)

    RapidOcr.read = read_told


def scans(corpus: SmallCorpus, documents: int, pages: int) -> None:
    """Documents whose pages are pictures of text."""
    for number in range(documents):
        made: Any = pymupdf.open()  # pyright: ignore[reportUnknownMemberType]
        for page in range(pages):
            written: Any = pymupdf.open()  # pyright: ignore[reportUnknownMemberType]
            sheet = written.new_page(width=420, height=300)
            for line in range(8):
                words = f"Herring number {number}{page}{line} was landed at the north quay before noon."
                sheet.insert_text((30, 40 + 30 * line), words, fontsize=11)
            picture = sheet.get_pixmap(dpi=150, colorspace="gray")
            made.new_page(width=420, height=300).insert_image((0, 0, 420, 300), pixmap=picture)
        (corpus.source / f"scan-{number}.pdf").write_bytes(made.tobytes())


def _build(root: Path, pipe: str) -> None:
    os.environ[TOLD] = pipe
    process._PROGRAM = PROGRAM
    SmallCorpus(root).build()


class Recognising:
    """A build in a process of its own, and what its workers tell."""

    def __init__(self, root: Path, pipe: Path) -> None:
        os.mkfifo(pipe)
        # Open for both, so that it never ends while workers come and go.
        self._told = os.fdopen(os.open(pipe, os.O_RDWR), "rb", buffering=0)
        self.process = CONTEXT.Process(target=_build, args=(root, str(pipe)))
        self.process.start()

    def next_reader(self) -> int:
        """The process id of the worker that begins to read a picture. Raises EOFError where the build ends before."""
        ready = select.select([self._told, self.process.sentinel], [], [])[0]
        if self._told not in ready:
            raise EOFError("the build has ended, and no worker has begun to read a picture")
        return int(self._told.readline())

    def kill(self) -> None:
        """SIGKILL, and wait for its end."""
        self.process.kill()
        self.process.join()
        self._told.close()
