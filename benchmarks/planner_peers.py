"""The job of `planner_scale.py` done by frameworks that also skip what has not changed.

| framework | what plans | what it keeps |
| --- | --- | --- |
| LlamaIndex `IngestionPipeline` | a docstore (hash by document), a cache (nodes by transformation) | JSON files |
| CocoIndex | functions remembered by their inputs' and code's hashes | LMDB, and rows in SQLite |

Both get the sections of the same files as chunks and the same cheap encoder. Parsing, contracts, tokens, lexical index,
generations and checks are linkrag's alone: these figures compare planning and what is written, not the frameworks.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

_SECTION = re.compile(r"^(?=## )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Done:
    """What one build did: chunks there are, texts that were embedded."""

    chunks: int
    texts: int


def sections(text: str) -> list[str]:
    """Pieces of a document, each from its heading on; what stands before the first belongs to it."""
    first, *rest = _SECTION.split(text)
    return [first + rest[0], *rest[1:]] if rest else [first]


def vector(text: str, dimensions: int) -> list[float]:
    """A vector that depends on the text alone."""
    return [byte / 255 for byte in hashlib.shake_128(text.encode()).digest(dimensions)]


def llama_index(root: Path, dimensions: int) -> Callable[[], Done]:
    """An `IngestionPipeline` with docstore, cache and vector store, loaded from and stored to JSON files."""
    from llama_index.core import Document
    from llama_index.core.ingestion import DocstoreStrategy, IngestionCache, IngestionPipeline
    from llama_index.core.schema import BaseNode, TextNode, TransformComponent
    from llama_index.core.storage.docstore import SimpleDocumentStore
    from llama_index.core.vector_stores import SimpleVectorStore

    embedded: list[int] = []

    class Sections(TransformComponent):
        @classmethod
        def class_name(cls) -> str:
            # The cache knows a transformation by this name: without one, two of them share their results.
            return "Sections"

        def __call__(self, nodes: Sequence[BaseNode], **_: object) -> list[TextNode]:
            return [
                TextNode(text=piece, relationships={"1": node.as_related_node_info()})
                for node in nodes
                for piece in sections(node.get_content())
            ]

    class Vectors(TransformComponent):
        @classmethod
        def class_name(cls) -> str:
            return "Vectors"

        def __call__(self, nodes: Sequence[BaseNode], **_: object) -> list[BaseNode]:
            embedded.append(len(nodes))
            for node in nodes:
                node.embedding = vector(node.get_content(), dimensions)
            return list(nodes)

    def build() -> Done:
        folder = root / "llama_index"
        store = folder / "vectors.json"
        vectors = SimpleVectorStore.from_persist_path(str(store)) if store.exists() else SimpleVectorStore()
        pipeline = IngestionPipeline(
            transformations=[Sections(), Vectors()],
            docstore=SimpleDocumentStore(),
            docstore_strategy=DocstoreStrategy.UPSERTS_AND_DELETE,
            cache=IngestionCache(),
            vector_store=vectors,
        )
        if folder.exists():
            pipeline.load(str(folder))
        source = root / "docs"
        documents = [
            Document(text=path.read_text(encoding="utf-8"), id_=path.relative_to(source).as_posix())
            for path in sorted(source.rglob("*.md"))
        ]
        pipeline.run(documents=documents)
        pipeline.persist(str(folder))
        vectors.persist(str(store))
        return Done(len(vectors.data.embedding_dict), sum(embedded))

    return build


def cocoindex(root: Path, dimensions: int) -> Callable[[], Done]:
    """An app that remembers each file's function by its input, with a table of SQLite as its target."""
    import array
    import os
    import sqlite3

    folder = root / "cocoindex"
    folder.mkdir(exist_ok=True)
    os.environ |= {"COCOINDEX_DB": str(folder / "state"), "COCOINDEX_DISABLE_USAGE_TRACKING": "1"}
    import cocoindex as coco
    from cocoindex.connectors import localfs, sqlite

    embedded: list[int] = []
    database = coco.ContextKey[sqlite.ManagedConnection]("chunks")

    @dataclass
    class Row:
        id: str
        content: str
        vector: bytes

    @coco.lifespan
    async def lifespan(builder: coco.EnvironmentBuilder):
        builder.provide_with(database, sqlite.managed_connection(folder / "chunks.db", load_vec=False))
        yield

    @coco.fn(memo=True)
    async def index(file: localfs.File, table: sqlite.TableTarget[Row]) -> None:
        name = file.file_path.path.as_posix()
        for number, piece in enumerate(sections(await file.read_text())):
            embedded.append(1)
            row = Row(f"{name}#{number}", piece, array.array("f", vector(piece, dimensions)).tobytes())
            table.declare_row(row=row)

    @coco.fn
    async def main(source: Path) -> None:
        schema = await sqlite.TableSchema.from_class(Row, primary_key=["id"])
        table = await sqlite.mount_table_target(database, "chunks", schema)
        await coco.mount_each(index, localfs.walk_dir(source, recursive=True).items(), table)

    app = coco.App(coco.AppConfig(name="planner_scale"), main, source=root / "docs")

    def build() -> Done:
        app.update_blocking()
        with sqlite3.connect(folder / "chunks.db") as connection:
            ((chunks,),) = connection.execute("SELECT count(*) FROM chunks").fetchall()
        return Done(chunks, len(embedded))

    return build


PEERS: dict[str, Callable[[Path, int], Callable[[], Done]]] = {
    "llama_index": llama_index,
    "cocoindex": cocoindex,
}
"""Frameworks by the name of their package: each imports, and gives the build to time."""
