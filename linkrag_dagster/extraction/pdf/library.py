"""PyMuPDF, imported when a PDF is read and not before: it takes a second."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any


@cache
def pymupdf() -> Any:
    """The library, told to raise its errors and print none: standard output belongs to the command."""
    library = import_module("pymupdf")
    library.TOOLS.mupdf_display_errors(False)
    library.TOOLS.mupdf_display_warnings(False)
    return library
