"""A corpus of every kind of document, with questions, whose builds take a moment: vectors come from hashes."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import pymupdf
import yaml
from numpy.typing import NDArray

from linkrag_dagster.declaration import load_declaration, starter
from linkrag_dagster.embedding.encoder import Encoder
from linkrag_dagster.embedding.model import resolve_model
from linkrag_dagster.stages.build import BuildResult, build
from linkrag_dagster.stages.road import Road
from tests.stages.conftest import run_here

NAME = "harbour"
FERRY = """# Ferry

## Summer

The ferry to Lundholm leaves the north quay at seven in the morning and returns at dusk. Bicycles travel free of charge
on the lower deck, and dogs are kept on a short leash.

## Winter

In winter only the Saturday crossing runs, and a red pennant tells passengers that it is cancelled. The ticket office
opens half an hour before the crossing, and closes when the gangway is taken in.
"""
CRANE = """# Crane rules

The blue crane lifts at most eleven tonnes, and its driver stops when the anemometer shows fourteen metres a second.

| part | code |
| --- | --- |
| hook | R-17 |
| jib | R-21 |
"""
LAMP = "# 灯塔\n\n灯每九秒转一圈。看守每天擦拭棱镜，并记下每一块破损的玻璃。\n"
NOTES = "Plain words about herring, salt and barrels.\n\n# no heading here\n\nThe cooper asks for oak.\n"
PAGE = (
    "<html><head><title>Fog bell</title></head><body><h1>Fog bell</h1><p>The fog bell was cast in Odense.</p>"
    "<h2>Rope</h2><p>Its rope is made of hemp, and is changed in May.</p></body></html>"
)
PILOT = "Two pilot boats lie ready behind the breakwater.", "The older one carries a spare compass."
QUESTIONS = (
    ("when", "When does the ferry leave?", "ferry.md", "leaves the north quay at seven in the morning"),
    ("hook", "Which code has the hook?", "crane.md", "| hook | R-17 |"),
    ("lamp", "灯多久转一圈？", "灯.md", "灯每九秒转一圈。"),
)
LIMITS = {"min_candidate_tokens": 16, "max_tokens": 48, "hard_max_tokens": 96}


class HashEncoder(Encoder):
    """Unit vectors that depend on the text and the model's fingerprint alone; no weights are loaded.

    Attributes:
        given: every text that any of them was given: fingerprint of the model, prompt and text.
    """

    given: ClassVar[list[tuple[str, str]]] = []

    def _embed(
        self, texts: Sequence[str], prompt: str, on_progress: Callable[[int, int], None] | None
    ) -> NDArray[np.float32]:
        if on_progress is not None:
            on_progress(len(texts), sum(map(len, texts)))
        self.given.extend((self.fingerprint, prompt + text) for text in texts)
        names = [f"{self.fingerprint} {prompt}{text}".encode() for text in texts]
        marks = b"".join(hashlib.shake_256(name).digest(self.dimensions) for name in names)
        rows = np.frombuffer(marks, dtype=np.uint8).reshape(-1, self.dimensions).astype(np.float32) - 127.5
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class Corpus:
    """A declared corpus in a folder, with its documents, its questions and, if need be, a second model.

    Args:
        root: the folder; what is in it already is used as it is.
        documents: its documents, without questions; None: those of this file, with questions.
    """

    def __init__(self, root: Path, documents: Mapping[str, bytes] | None = None) -> None:
        self.root = root
        self.source = root / "docs"
        self.declaration = root / "assets" / NAME / "defs.yaml"
        self.questions = self.declaration.parent / "questions.jsonl"
        if not self.declaration.exists():
            self.source.mkdir(parents=True)
            self.declaration.parent.mkdir(parents=True)
            self.declaration.write_text(starter(NAME, self.source, self.root), encoding="utf-8")
            if documents is None:
                self._write_all()
            for name, content in (documents or {}).items():
                self.write(name, content)

    def _write_all(self) -> None:
        for name, text in {"ferry.md": FERRY, "crane.md": CRANE, "灯.md": LAMP, "notes.txt": NOTES}.items():
            self.write(name, text)
        self.write("bell.html", PAGE)
        with pymupdf.open() as pdf:
            for line in PILOT:
                pdf.new_page().insert_text((72, 72), line)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
            self.write("pilot.pdf", pdf.tobytes(no_new_id=True))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        self.ask(QUESTIONS)
        for name, value in LIMITS.items():
            self.set(f"chunking.{name}", value)

    def write(self, name: str, content: str | bytes) -> None:
        """Put a document into the source."""
        path = self.source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace words of a document."""
        text = (self.source / name).read_text(encoding="utf-8")
        assert old in text
        self.write(name, text.replace(old, new))

    def ask(self, questions: Sequence[tuple[str, str, str, str]]) -> None:
        """Declare these questions: id, question, document, evidence."""
        lines = [
            json.dumps(
                {
                    "question_id": mark,
                    "needle_id": mark,
                    "question": question,
                    "answerable": True,
                    "evidence": [{"doc": doc, "text": text}],
                },
                ensure_ascii=False,
            )
            for mark, question, doc, text in questions
        ]
        self.questions.write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.set("evaluation.questions", [self.questions.name])

    def set(self, key: str, value: object) -> None:
        """Declare a value under a dotted key."""
        declared = yaml.safe_load(self.declaration.read_text(encoding="utf-8"))
        at = declared["attributes"]
        *path, last = key.split(".")
        for part in path:
            at = at.setdefault(part, {})
        at[last] = value
        self.declaration.write_text(yaml.safe_dump(declared, allow_unicode=True), encoding="utf-8")

    def another_model(self, *, weights: bytes | None = b"other weights") -> str:
        """The folder of a second model: settings and tokenizer of the packaged one, and other weights or its own."""
        packaged = resolve_model("all-MiniLM-L6-v2").folder
        folder = self.root / "models" / ("other" if weights else "same")
        shutil.copytree(packaged, folder, ignore=shutil.ignore_patterns("*.safetensors", "*.bin", "onnx"))
        if weights is None:
            (folder / "model.safetensors").symlink_to(packaged / "model.safetensors")
        else:
            (folder / "model.safetensors").write_bytes(weights)
        return str(folder)

    def road(self, lake: str = "lake", encoder: type[Encoder] = HashEncoder) -> Road:
        """The corpus's road, with a quick encoder."""
        road = Road(load_declaration(self.declaration), lake=self.root / lake)
        road.__dict__["encoder"] = encoder(road.model)
        return road

    def build(self, lake: str = "lake", encoder: type[Encoder] = HashEncoder) -> BuildResult:
        """Build in this thread, without Dagster."""
        return build(self.road(lake, encoder), run_here)
