"""`linkrag_dagster.Corpus`: a corpus as a Dagster Component, declared in `defs.yaml` (PI-01)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import dagster as dg
from pydantic import BaseModel

from linkrag_dagster.dag.assets import corpus_definitions
from linkrag_dagster.declaration import Declaration, load_declaration
from linkrag_dagster.stages.road import Road


@dataclass
class Corpus(dg.Component):
    """A corpus of documents: source, extraction, chunking, embedding, lexical index, in one declaration.

    The attributes are a strict model of our own, not a resolvable one: a wrong field is named with file and line.
    """

    declaration: Declaration

    @classmethod
    def get_model_cls(cls) -> type[BaseModel]:
        """The model that Dagster checks the attributes against."""
        return Declaration

    @classmethod
    def load(cls, attributes: Any, context: dg.ComponentLoadContext) -> Corpus:
        """The component from checked attributes."""
        del context
        return cls(attributes)

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """The corpus's assets; its name is that of the declaration's folder."""
        # The source may be away for now: that is a matter of runs, not of loading all corpora.
        loaded = load_declaration(context.component_path.file_path, check_source=False)
        return corpus_definitions(Road(loaded))
