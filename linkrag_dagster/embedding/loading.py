"""Loads a model's weights, once a process (EM-07). Importing this module loads nothing."""

from __future__ import annotations

import os
import threading
from typing import Any

from linkrag_dagster.embedding.errors import ModelError
from linkrag_dagster.embedding.model import ModelIdentity

_loaded: dict[tuple[str, str], Any] = {}
_lock = threading.Lock()


def load_model(identity: ModelIdentity, device: str) -> Any:
    """The `SentenceTransformer` of a model in float32 on `device`; loaded at the first call for its fingerprint.

    Only local files are read, and no code of the model's folder is run.

    Raises:
        ModelError: the files can't be loaded, or the model gives vectors of another length than its settings say.
    """
    key = (identity.fingerprint, device)
    with _lock:
        if key not in _loaded:
            _loaded[key] = _load(identity, device)
        return _loaded[key]


def _load(identity: ModelIdentity, device: str) -> Any:
    # Read when the libraries are imported: no hub is asked for anything.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        model = SentenceTransformer(
            str(identity.folder),
            device=device,
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"dtype": torch.float32},
        )
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        raise ModelError(f"model {identity.name} in {identity.folder} can't be loaded: {error}") from error
    return model.eval()
