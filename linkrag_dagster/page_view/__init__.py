"""What extraction made of a document's pages, beside their pictures, as one web page. Pure."""

from linkrag_dagster.page_view.view import view

__all__ = ["view"]
