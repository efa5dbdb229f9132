"""HTML pages to Markdown text with places in the page (XT-02, XT-10)."""

from linkrag_dagster.extraction.html.extractor import HTML_EXTRACTOR, HtmlExtractor

__all__ = ["HTML_EXTRACTOR", "HtmlExtractor"]
