"""The direction of the arrows: each floor imports only floors below it, and the core knows no Dagster (PI-02)."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "linkrag_dagster"

ALLOWED: dict[str, set[str]] = {
    # Words that declarations and calls choose from.
    "choices": set(),
    "markdown": set(),
    "tokens": set(),
    "lexical": set(),
    "versions": set(),
    "contracts": set(),
    # Every write that a kill may interrupt: lake, memo and instance are written through it.
    "disk": set(),
    "declaration": {"choices"},
    "embedding": {"disk"},
    # Phrasings are compared by the words of the lexical analyzers, needles widened by the sentences of `tokens`.
    "evaluation": {"lexical", "tokens"},
    "experiments": {"evaluation"},
    # Chunkers of other libraries: texts in, texts out.
    "peers": set(),
    # Who a document is, and what its title is, stand in its front matter: markup that only `markdown` reads.
    "sources": {"markdown"},
    "extraction": {"markdown"},
    # Processes around extraction: the one place that starts any.
    "workers": {"extraction"},
    "chunking": {"choices", "markdown", "tokens"},
    "explain": {"chunking", "markdown", "tokens"},
    # Extraction beside pictures of its pages; written as explanations are.
    "page_view": {"explain", "extraction", "markdown"},
    "lake": {"contracts", "disk", "lexical"},
    "retrieval": {"lexical", "embedding", "lake"},
    "stages": {
        "choices", "chunking", "contracts", "declaration", "embedding", "evaluation", "extraction", "lake", "lexical",
        "markdown", "peers", "retrieval", "sources", "tokens", "versions", "workers",
    },
    "dag": {"contracts", "declaration", "disk", "extraction", "lake", "stages", "versions"},
    "cli": {
        "chunking", "contracts", "dag", "declaration", "evaluation", "explain", "extraction", "lake", "markdown",
        "page_view", "peers", "retrieval", "stages", "workers",
    },
}  # fmt: skip


def imported(path: Path) -> set[str]:
    """Subpackages of this package that a file imports, at any depth."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        found |= {name.split(".")[1] for name in names if name.startswith("linkrag_dagster.")}
    return found


@pytest.mark.parametrize("floor", sorted(ALLOWED))
def test_arrows_point_down(floor: str) -> None:
    """Each subpackage imports itself and floors below it."""
    for path in (PACKAGE / floor).rglob("*.py"):
        beyond = imported(path) - {floor} - ALLOWED[floor]
        assert not beyond, f"{path.relative_to(PACKAGE)} imports {sorted(beyond)}"


def test_every_subpackage_has_its_floor() -> None:
    """A new folder must say what it may import."""
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders == set(ALLOWED)


def _loaded(code: str, modules: tuple[str, ...]) -> str:
    check = f"{code}\nimport sys\nprint([m for m in {modules!r} if m in sys.modules])"
    return subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_the_core_imports_no_dagster() -> None:
    """PI-02: a notebook can use the core without Dagster."""
    core = (
        "chunking",
        "lexical",
        "retrieval.search",
        "embedding.encoder",
        "stages.road",
        "extraction",
        "lake.catalogue",
        "evaluation.measurement",
        "experiments.seed002",
    )
    code = "\n".join(f"import linkrag_dagster.{name}" for name in core)
    assert _loaded(code, ("dagster",)) == "[]"


def test_a_worker_starts_light() -> None:
    """XT-11: a worker process loads what reads documents, and each format's library when it needs it."""
    heavy = (
        "torch",
        "dagster",
        "polars",
        "pyarrow",
        "duckdb",
        "pydantic",
        "pymupdf",
        "onnxruntime",
        "rapidocr",
    )
    assert _loaded("import linkrag_dagster.workers.worker", heavy) == "[]"


def test_plan_and_status_import_no_torch() -> None:
    """EM-07: the help, `plan` and `status` load neither torch nor Dagster."""
    code = (
        "import linkrag_dagster.cli.main, linkrag_dagster.stages.plan, linkrag_dagster.stages.road\n"
        "import linkrag_dagster.lake.status"
    )
    assert _loaded(code, ("torch", "transformers", "sentence_transformers", "dagster")) == "[]"


def test_names_that_two_floors_need_are_the_same() -> None:
    """The light list of stages is the road's; a declaration has the settings of its own of every strategy."""
    from dataclasses import fields

    from linkrag_dagster.choices.strategies import TAKEN_BY
    from linkrag_dagster.chunking.strategy_settings import StrategySettings
    from linkrag_dagster.contracts.stages import COUNTED
    from linkrag_dagster.declaration import Chunking
    from linkrag_dagster.stages.road import STAGES

    assert {stage.name: stage.tables[0] for stage in STAGES} == dict(COUNTED)
    assert list(COUNTED) == [stage.name for stage in STAGES]
    assert set(TAKEN_BY) <= set(Chunking.model_fields) & {field.name for field in fields(StrategySettings)}
