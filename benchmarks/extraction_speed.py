"""PDF extraction speed beside pymupdf4llm, on the same files with a text layer, one process: one table.

    python benchmarks/extraction_speed.py [FILE.pdf …]

Without files, the handbook's chapters that are PDFs. pymupdf4llm comes with PyMuPDF 2.0 and runs its layout models,
ours works without. Files with a page that has no text are left out: characters are recognised by neither.
Processor time, the fastest of three, taking turns; memory is that of a process of its own that reads all files with
ours. Goals: 10 pages a second, 600 MB.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.metadata
import io
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pymupdf

from linkrag_dagster.extraction.pdf import PDF_EXTRACTOR

ROOT = Path(__file__).resolve().parent.parent
REPEATS = 3


def open_pdf(data: bytes) -> Any:
    """A document of PyMuPDF, whose own hints are partial."""
    library: Any = pymupdf
    return library.open(stream=data, filetype="pdf")


def pages_with_text(data: bytes) -> int:
    """How many pages a file has; 0 where one of them has no text layer."""
    with open_pdf(data) as document:
        texts = [page.get_text() for page in document]
    return len(texts) if all(text.strip() for text in texts) else 0


def ours(data: bytes) -> object:
    return PDF_EXTRACTOR.extract(data, name="file.pdf", options={})


def theirs(data: bytes) -> object:
    library: Any = importlib.import_module("pymupdf4llm")
    with open_pdf(data) as document, contextlib.redirect_stdout(io.StringIO()):
        return library.to_markdown(document, use_ocr=False)


def seconds(extract: Callable[[bytes], object], data: bytes) -> float:
    """Processor time of one reading."""
    started = time.process_time()
    extract(data)
    return time.process_time() - started


def most_memory() -> float:
    """The most memory that this process held, in megabytes.

    Linux hands `ru_maxrss` on from the process that started this one, with that one's models in it: there the kernel's
    own count of this program's memory is taken.
    """
    status = Path("/proc/self/status")
    if status.exists():
        found = re.search(r"VmHWM:\s*(\d+) kB", status.read_text())
        if found is not None:
            return int(found[1]) / 1024
    unit = 2**20 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def memory_in_megabytes(paths: list[Path]) -> float:
    """The most memory that a process holds which reads all files with ours."""
    command = [sys.executable, __file__, "--measure-memory", *map(str, paths)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="PDF extraction speed beside pymupdf4llm.")
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--measure-memory", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    paths: list[Path] = arguments.files or sorted((ROOT / "data" / "handbook").glob("*.pdf"))
    if arguments.measure_memory:
        for path in paths:
            ours(path.read_bytes())
        print(most_memory())
        return
    rows = {f"linkrag_dagster, on pymupdf {importlib.metadata.version('pymupdf')}": ours}
    with contextlib.suppress(ImportError):
        importlib.import_module("pymupdf4llm")
        rows[f"pymupdf4llm {importlib.metadata.version('pymupdf4llm')}"] = theirs
    files = {path: path.read_bytes() for path in paths}
    pages = {path: pages_with_text(data) for path, data in files.items()}
    files = {path: data for path, data in files.items() if pages[path]}
    best = {name: dict.fromkeys(files, float("inf")) for name in rows}
    for at in range(REPEATS):
        print(f"run {at + 1} of {REPEATS}", file=sys.stderr)
        for path, data in files.items():
            for name, extract in rows.items():
                best[name][path] = min(best[name][path], seconds(extract, data))
    print("| pages a processor second | " + " | ".join([*rows]) + " | ratio |")
    print("| --- |" + " ---: |" * (len(rows) + 1))
    total = sum(pages[path] for path in files)
    speeds = [
        (f"{path.name} ({pages[path]})", [pages[path] / best[name][path] for name in rows]) for path in files
    ]
    speeds.append((f"all ({total})", [total / sum(best[name].values()) for name in rows]))
    for label, each in speeds:
        ratio = f"{each[0] / each[1]:.1f}" if len(each) > 1 else ""
        print(f"| {label} | " + " | ".join(f"{one:.1f}" for one in each) + f" | {ratio} |")
    print(
        f"\nMemory of a process that reads all of them with ours: {memory_in_megabytes(list(files)):.0f} MB"
    )


if __name__ == "__main__":
    main()
