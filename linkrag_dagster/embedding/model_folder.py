"""Reads the folder of a sentence-transformers model: what its settings say, and hashes of what decides its vectors.

Only JSON is read and files are hashed: no library of neural networks is needed. The layout is that of
`SentenceTransformer.save`, versions 2 to 6.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from linkrag_dagster.embedding.errors import ModelError

TRANSFORMER_SETTINGS = (
    "sentence_bert_config.json",
    "sentence_roberta_config.json",
    "sentence_distilbert_config.json",
    "sentence_camembert_config.json",
    "sentence_albert_config.json",
    "sentence_xlm-roberta_config.json",
    "sentence_xlnet_config.json",
)
LEGACY_POOLING = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
FOLLOWING_MODULES = ("Pooling", "Dense", "LayerNorm", "Dropout", "Normalize")
BOOKKEEPING = frozenset(
    {"_name_or_path", "architectures", "dtype", "torch_dtype", "transformers_version", "use_cache"}
)
"""Keys of config.json that change when a model is saved again and leave its vectors as they are."""
NO_LIMIT = 1_000_000
"""Tokenizers without a limit say 1e30."""


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """What a model's files say.

    Attributes:
        path: the folder.
        weights_hash: SHA-256 of the weights file; of all their names and hashes where there are several.
        revision: SHA-256 of the architecture, the tokenizer and the modules' settings.
        dimensions: length of its vectors.
        max_length: tokens of the longest sequence it reads, special tokens included.
        pooling: how token vectors become one, such as `mean`; several modes are joined by `+`.
        normalises: whether the model itself brings vectors to unit length.
        prompts: texts to put before a text, by purpose; the default one under the empty name.
        lowercase: whether text is put in lower case before the tokenizer sees it.
        tokenizer: its `tokenizer.json`.
        padding: the token that fills up a batch.
    """

    path: Path
    weights_hash: str
    revision: str
    dimensions: int
    max_length: int
    pooling: str
    normalises: bool
    prompts: Mapping[str, str]
    lowercase: bool
    tokenizer: Path
    padding: int


def read_model_folder(path: Path) -> ModelFolder:
    """Read the settings of the model in folder `path`, and hash its weights (0.1 s for 90 MB).

    Raises:
        ModelError: a file is missing or unreadable, or the model is of a kind that is not supported.
    """
    modules = _modules(path)
    transformer = path / modules[0][1]
    config = read_json(transformer / "config.json")
    settings_file = next((name for name in TRANSFORMER_SETTINGS if (transformer / name).is_file()), None)
    settings = read_json(transformer / settings_file) if settings_file else {}
    tokenizer = transformer / "tokenizer.json"
    if not tokenizer.is_file():
        raise ModelError(f"{tokenizer} is missing; save the model again with a fast tokenizer")
    kinds = [kind for kind, _ in modules]
    parts = [read_json(path / place / "config.json", missing_ok=True) for _, place in modules[1:]]
    pooling, dimensions = _pooling(path, kinds, parts)
    steps = [[kind, {} if kind == "Pooling" else part] for kind, part in zip(kinds[1:], parts, strict=True)]
    architecture = {key: value for key, value in config.items() if key not in BOOKKEEPING}
    lowercase = bool(settings.get("do_lower_case"))
    vocabulary = read_json(tokenizer)
    # Saved by whoever ran it last; the encoder sets both itself.
    vocabulary = {key: value for key, value in vocabulary.items() if key not in ("padding", "truncation")}
    return ModelFolder(
        path=path,
        weights_hash=_weights_hash(path, [path / place for _, place in modules]),
        revision=json_hash(
            {"config": architecture, "steps": steps, "tokenizer": vocabulary, "lower": lowercase}
        ),
        dimensions=dimensions,
        max_length=_max_length(transformer, settings, config),
        pooling=pooling,
        normalises=kinds[-1] == "Normalize",
        prompts=_prompts(path),
        lowercase=lowercase,
        tokenizer=tokenizer,
        padding=config["pad_token_id"] if isinstance(config.get("pad_token_id"), int) else 0,
    )


def read_json(path: Path, *, missing_ok: bool = False) -> dict[str, Any]:
    """The object in a JSON file; an empty one where the file may be missing and is.

    Raises:
        ModelError: the file is missing, unreadable, or holds no object.
    """
    value = _parse(path, missing_ok=missing_ok)
    if not isinstance(value, dict):
        raise ModelError(f"{path} holds no JSON object; get the model again")
    return cast("dict[str, Any]", value)


def json_hash(value: object) -> str:
    """SHA-256, in hexadecimal, of canonical JSON preceded by its length."""
    # ASCII alone: a vocabulary may hold lone surrogates, which UTF-8 can't.
    data = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")
    return hashlib.sha256(len(data).to_bytes(8, "big") + data).hexdigest()


def file_hash(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal; computed once a process as long as the file stays as it is."""
    state = path.stat()
    return _file_hash(path, state.st_size, state.st_mtime_ns, state.st_ino)


@functools.lru_cache(maxsize=64)
def _file_hash(path: Path, size: int, modified: int, inode: int) -> str:
    del size, modified, inode  # they are part of the cache's key alone
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _parse(path: Path, *, missing_ok: bool = False) -> object:
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError as error:
        if missing_ok:
            return {}
        raise ModelError(
            f"{path} is missing: {path.parent} is no whole sentence-transformers model"
        ) from error
    except ValueError as error:
        raise ModelError(f"{path} is no JSON ({error}); get the model again") from error


def _modules(path: Path) -> list[tuple[str, str]]:
    """Kind and folder of each module, in order: kinds by class name, since packages were renamed over versions."""
    listed = _parse(path / "modules.json")
    modules: list[tuple[str, str]] = []
    for entry in cast("list[Any]", listed) if isinstance(listed, list) else []:
        if not (isinstance(entry, dict) and {"type", "path"} <= cast("dict[str, Any]", entry).keys()):
            raise ModelError(f"{path / 'modules.json'}: each module needs a type and a path")
        module = cast("dict[str, str]", entry)
        modules.append((module["type"].rsplit(".", 1)[-1], module["path"]))
    kinds = [kind for kind, _ in modules]
    wrong = [kind for kind in kinds[1:] if kind not in FOLLOWING_MODULES]
    if not kinds or kinds[0] != "Transformer" or kinds.count("Pooling") != 1 or wrong:
        raise ModelError(
            f"{path}: modules {', '.join(kinds) or 'none'} are not supported; "
            f"a text encoder is a Transformer and a Pooling, then any of {', '.join(FOLLOWING_MODULES[1:])}"
        )
    return modules


def _pooling(path: Path, kinds: list[str], parts: list[dict[str, Any]]) -> tuple[str, int]:
    """Name of the pooling, and length of what leaves the last module."""
    pooling, dimensions = "", 0
    for kind, part in zip(kinds[1:], parts, strict=True):
        if kind == "Pooling":
            mode = part.get("pooling_mode")
            modes = [mode] if isinstance(mode, str) else list(mode or ())
            modes = modes or [name for key, name in LEGACY_POOLING.items() if part.get(key)] or ["mean"]
            width = part.get("embedding_dimension", part.get("word_embedding_dimension"))
            if not isinstance(width, int):
                raise ModelError(f"{path}: the configuration of its Pooling module names no dimension")
            if part.get("include_prompt") is False:
                raise ModelError(
                    f"{path}: its pooling leaves the prompt out, which is not supported; take another model"
                )
            pooling, dimensions = "+".join(modes), width * len(modes)
        elif kind == "Dense":
            dimensions = int(part["out_features"])
    return pooling, dimensions


def _max_length(transformer: Path, settings: Mapping[str, Any], config: Mapping[str, Any]) -> int:
    """The declared window; else the tokenizer's, no longer than the positions that the model has."""
    declared = settings.get("max_seq_length")
    if isinstance(declared, int):
        return declared
    tokenizer = read_json(transformer / "tokenizer_config.json", missing_ok=True)
    limits = [tokenizer.get("model_max_length"), config.get("max_position_embeddings")]
    known = [int(limit) for limit in limits if isinstance(limit, (int, float)) and 0 < limit < NO_LIMIT]
    if not known:
        raise ModelError(
            f"{transformer} names no longest sequence; put max_seq_length in {TRANSFORMER_SETTINGS[0]}"
        )
    return min(known)


def _prompts(path: Path) -> dict[str, str]:
    settings = read_json(path / "config_sentence_transformers.json", missing_ok=True)
    named: dict[str, str] = settings.get("prompts") or {}
    prompts = {name: text for name, text in named.items() if text}
    default = settings.get("default_prompt_name")
    if default:
        prompts[""] = prompts.get(default, "")
    return prompts


def _weights_hash(root: Path, folders: list[Path]) -> str:
    files: list[Path] = []
    for folder in dict.fromkeys(folders):
        # The loader prefers safetensors, too: a folder may hold the same weights in both forms.
        files += sorted(folder.glob("*.safetensors")) or sorted(folder.glob("pytorch_model*.bin"))
    if not files:
        raise ModelError(
            f"{root} holds no weights (model.safetensors or pytorch_model.bin); get the model again"
        )
    if len(files) == 1:
        return file_hash(files[0])
    return json_hash([[file.relative_to(root).as_posix(), file_hash(file)] for file in files])
