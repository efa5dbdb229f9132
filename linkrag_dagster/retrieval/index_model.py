"""The model and the analyzer that built an index: queries use them, not whatever is declared today (VE-07, BM-02)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from linkrag_dagster.embedding.encoder import Encoder
from linkrag_dagster.embedding.errors import ModelNotFound
from linkrag_dagster.embedding.model import ModelIdentity, resolve_model
from linkrag_dagster.lake.manifest import Generation
from linkrag_dagster.lexical.analyzers import Analyzer, load_analyzer
from linkrag_dagster.retrieval.search import ModelMismatch


class IndexEncoder:
    """A query encoder known by its fingerprint; the model is loaded at the first query."""

    def __init__(self, identity: ModelIdentity) -> None:
        self.fingerprint = identity.fingerprint
        self.name = identity.name
        self._identity = identity

    def embed_query(self, query: str) -> np.ndarray:
        """The unit-norm vector of a query, `[dimensions]`, float32."""
        return Encoder(self._identity).embed_query(query)


def encoder_of(generation: Generation, declared: str, base: Path) -> tuple[IndexEncoder, str]:
    """The encoder that built a generation, and what its user should know.

    Args:
        generation: the one that is searched.
        declared: the model that is declared today.
        base: the declaration's folder, from which a model's relative path starts.

    Raises:
        ModelNotFound: neither the declared model nor the index's own is installed.
        ModelMismatch: the model that is found under the index's name has other weights or settings.
    """
    facts = generation.facts
    built, name = str(facts["model_fingerprint"]), str(facts["model"])
    try:
        identity = resolve_model(declared, base=base)
    except ModelNotFound:
        identity = None
    if identity is not None and identity.fingerprint == built:
        return IndexEncoder(identity), ""
    own = resolve_model(name, base=base)
    if own.fingerprint != built:
        raise ModelMismatch(
            f"the index was built by model {name} ({built[:12]}), and the model of that name is now another "
            f"({own.fingerprint[:12]}); build again, or put the old model back"
        )
    why = "is not installed" if identity is None else "is not the active one (built and activated?)"
    return IndexEncoder(own), f"the declared model {declared} {why}: answered from the index of {name}"


def analyzer_of(generation: Generation) -> Analyzer:
    """The analyzer that built a generation's lexical table.

    Raises:
        ModelMismatch: this installation's analyzer of that name gives other terms.
    """
    facts = generation.facts
    analyzer = load_analyzer(str(facts["analyzer"]))
    if dict(analyzer.components) != facts["analyzer_components"]:
        raise ModelMismatch(
            f"the lexical table was built by analyzer {facts['analyzer']} {facts['analyzer_version']}, this "
            f"installation has {analyzer.version}; run linkrag build"
        )
    return analyzer
