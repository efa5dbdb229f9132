"""What a corpus is declared to be (PI-01): strict settings read from `assets/<corpus>/defs.yaml`, without Dagster."""

from linkrag_dagster.declaration.errors import DeclarationError, Problem
from linkrag_dagster.declaration.loading import COMPONENT_TYPE, LoadedDeclaration, load_declaration
from linkrag_dagster.declaration.model import (
    Chunking,
    Declaration,
    Embedding,
    Evaluation,
    Extraction,
    Lexical,
    Limits,
    Retrieval,
    Source,
)
from linkrag_dagster.declaration.places import check_name, find_declarations, find_root, is_url, lake_path
from linkrag_dagster.declaration.starter import starter

__all__ = [
    "COMPONENT_TYPE",
    "Chunking",
    "Declaration",
    "DeclarationError",
    "Embedding",
    "Evaluation",
    "Extraction",
    "Lexical",
    "Limits",
    "LoadedDeclaration",
    "Problem",
    "Retrieval",
    "Source",
    "check_name",
    "find_declarations",
    "find_root",
    "is_url",
    "lake_path",
    "load_declaration",
    "starter",
]
