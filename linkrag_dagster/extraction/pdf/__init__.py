"""PDF documents to Markdown text with page and place of each part (XT-02 to XT-07)."""

from linkrag_dagster.extraction.pdf.extractor import PDF_EXTRACTOR, PdfExtractor

__all__ = ["PDF_EXTRACTOR", "PdfExtractor"]
