"""`linkrag chunk`: its scorer, its settings, `--explain` and `--html`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from linkrag_dagster.choices.strategies import STRATEGIES, takes
from linkrag_dagster.chunking import ScoringError
from linkrag_dagster.chunking.settings import ChunkSettings, resolve_settings
from linkrag_dagster.chunking.strategy_settings import STRATEGY_SETTINGS
from linkrag_dagster.cli.main import linkrag
from linkrag_dagster.stages import scoring
from tests.chunking.scripted import Failing, Script
from tests.explain.documents import MIXED, SIZES, TWO_TOPICS, VECTORS
from tests.explain.pages import read_page

EXAMPLES = Path(__file__).resolve().parents[2] / "data" / "examples"
SEMANTIC = ("--strategy", "semantic_depth_window")
SMALL = [f"--set={name}={value}" for name, value in SIZES.items()]


def chunk(*arguments: str) -> Result:
    return CliRunner().invoke(linkrag, ["chunk", *arguments])


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "log.md"
    path.write_text(MIXED, encoding="utf-8")
    return path


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A scorer without a model; the list holds the names that were asked for."""
    asked: list[str] = []

    def named(name: str) -> Script:
        asked.append(name)
        return Script({**VECTORS, "": (0.6, 0.4)})

    monkeypatch.setattr(scoring, "named_scorer", named)
    return asked


def test_a_strategy_that_compares_texts_gets_the_declared_scorer_once(
    document: Path, scripted: list[str], tmp_path: Path
) -> None:
    """SD-00: `scorer` names the model, by default the encoder; other strategies ask for none."""
    other = tmp_path / "other.md"
    other.write_text(TWO_TOPICS, encoding="utf-8")
    done = chunk(str(document), str(other), *SEMANTIC, *SMALL, "--jsonl")
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {row["file"] for row in rows} == {str(document), str(other)}
    assert "depth" in {row["cut_reason"] for row in rows}
    assert scripted == ["encoder"]
    assert chunk(str(document), *SEMANTIC, *SMALL, "--set", "scorer=models/mine").exit_code == 0
    assert chunk(str(document), "--strategy", "percentile", *SMALL).exit_code == 0
    assert chunk(str(document), *SMALL).exit_code == 0
    assert scripted == ["encoder", "models/mine", "encoder"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_can_be_explained(
    strategy: str, document: Path, scripted: list[str], tmp_path: Path
) -> None:
    """ST-01 to ST-10: in the terminal and as a page, with all chunks that the rows have."""
    rows = chunk(str(document), "--strategy", strategy, *SMALL, "--jsonl").stdout.splitlines()
    page = tmp_path / "out.html"
    done = chunk(str(document), "--strategy", strategy, *SMALL, "--explain", "--html", str(page))
    assert done.exit_code == 0, done.output
    assert sum(line.startswith("── ") for line in done.stdout.splitlines()) == len(rows)
    found = read_page(page.read_text(encoding="utf-8"))
    places = {(int(c.attributes["data-start"]), int(c.attributes["data-end"])) for c in found.chunks}
    assert places == {(row["start_char"], row["end_char"]) for row in map(json.loads, rows)}
    assert str(page) in done.stderr


def test_a_page_alone_leaves_standard_output_to_rows(
    document: Path, scripted: list[str], tmp_path: Path
) -> None:
    """`--html` beside `--jsonl`: rows on standard output, the page in its file; `-` is standard output."""
    page = tmp_path / "out.html"
    done = chunk(str(document), *SEMANTIC, *SMALL, "--html", str(page))
    assert done.stdout == ""
    both = chunk(str(document), *SEMANTIC, *SMALL, "--html", str(page), "--jsonl")
    assert all(json.loads(line)["file"] == str(document) for line in both.stdout.splitlines())
    printed = chunk(str(document), *SEMANTIC, *SMALL, "--html", "-")
    assert printed.stdout == page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--explain", "--stage", "final"), "--stage final"),
        (("--explain", "--jsonl"), "--jsonl prints rows"),
        (("--html", "-", "--jsonl"), "--jsonl prints rows"),
        (("--html", "-", "--explain"), "standard output"),
        (("--html", "nowhere/out.html"), "can't be written"),
        (("--strategy", "semantic"), "strategy: 'semantic' is not available"),
        (("--strategy", "propositions"), "language model"),
        (("--set", "max_tokenz=9"), "did you mean max_tokens"),
        (
            ("--set", "overlap=9"),
            "overlap: strategy pack has no such setting; it belongs to fixed, recursive",
        ),
        (("--set", "max_tokens"), "write KEY=VALUE"),
        (("--set", "max_tokens=many"), "max_tokens: 'many'"),
        (("--set", "tokenizer=none_such"), "none_such"),
        ((*SEMANTIC, "--set", "max_tokens=20", "--set", "scorer=none_such"), "no model 'none_such'"),
    ],
)
def test_what_cannot_be_is_a_usage_error(
    arguments: tuple[str, ...], message: str, document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 2, one message, no rows, before any text is embedded."""
    monkeypatch.chdir(tmp_path)
    done = chunk(str(document), *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.startswith("linkrag: ")


def test_a_page_never_replaces_its_document(document: Path, tmp_path: Path) -> None:
    """Nor does one page show two files."""
    done = chunk(str(document), "--html", str(tmp_path / "." / document.name))
    assert done.exit_code == 2 and "that is the file to be shown" in done.stderr
    assert document.read_text(encoding="utf-8") == MIXED
    two = chunk(str(document), str(document), "--html", str(tmp_path / "out.html"))
    assert two.exit_code == 2 and "a page shows one file, 2 are given" in two.stderr


@pytest.mark.parametrize("json_lines", [False, True])
@pytest.mark.parametrize("retryable", [False, True])
def test_a_failing_scorer_fails_the_document_alone(
    retryable: bool, json_lines: bool, document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SD-15: a message and exit code 1; never cut by other means instead; other files are chunked."""
    short = tmp_path / "short.md"
    short.write_text("# Short\n\nNothing to compare.\n", encoding="utf-8")
    broken = ScoringError("the service said 429", retryable=retryable)

    def named(name: str) -> Failing:
        return Failing({**VECTORS, "": (0.6, 0.4)}, [broken] * 9)

    monkeypatch.setattr(scoring, "named_scorer", named)
    form = ("--jsonl",) if json_lines else ()
    done = chunk(str(document), str(short), *SEMANTIC, *SMALL, "--set", "scorer_backoff=0", *form)
    assert done.exit_code == 1
    assert f"{document}: scoring: " in done.stderr and "429" in done.stderr
    assert ("try again later" in done.stderr) == retryable
    if json_lines:
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        assert [row.get("error_kind") for row in rows] == ["scoring", None]
    else:
        assert done.stdout.count(str(short)) == 1 and str(document) not in done.stdout


def test_a_chunk_beyond_the_window_fails_the_document(tmp_path: Path) -> None:
    """EX-05: under `overflow: error` exit code 1, with the lines and what to change; no page is left."""
    path, page = tmp_path / "long.md", tmp_path / "out.html"
    path.write_text(" ".join(f"word{n}" for n in range(400)), encoding="utf-8")
    sizes = [f"--set={s}" for s in ("overflow=error", "max_tokens=900", "hard_max_tokens=900")]
    done = chunk(str(path), *sizes, "--html", str(page))
    assert done.exit_code == 1
    assert f"{path}: overflow: " in done.stderr and "lower hard_max_tokens" in done.stderr
    assert not page.exists()


VALUES: dict[str, Any] = {
    "min_candidate_tokens": 30, "max_tokens": 60, "hard_max_tokens": 120, "strategy": "noop",
    "tokenizer": "cl100k_base",
    "header": False, "overlap_tokens": 8, "adjacent_context_tokens": 9, "adjacent_context": "physical",
    "oversize": "truncate", "overflow": "error", "index_front_matter": True, "max_tracked_heading_level": 2,
    "small_table_tokens": 9, "small_table_lines": 3, "small_table_columns": 2, "protected_overlap": True,
    "scorer": "models/mine", "scorer_batch": 3, "scorer_retries": 0, "scorer_backoff": 0.25,
    "cohesion_window_tokens": 64, "window_weighting": "tokens", "max_gap_distance": 90, "smoothing": "mean(2, 1)",
    "compat_header": True, "size": 200, "overlap": 20, "unit": "chars", "target": 300, "compat": True,
    "percentile": 87.5, "language": "python", "derived": True, "foreign_title": "keep",
}  # fmt: skip


@pytest.mark.parametrize("strategy", ["noop", "auto", "header"])
@pytest.mark.usefixtures("scripted")
def test_every_setting_can_be_set(document: Path, strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """TK-05: numbers, truth values and words, each as `chunk_text(settings=...)` takes it."""
    own = {name for name in ChunkSettings.__dataclass_fields__ if name != "comparison"}
    assert set(VALUES) >= own | set(STRATEGY_SETTINGS)
    seen: list[ChunkSettings] = []
    from linkrag_dagster import chunking

    def caught(*_: object, settings: ChunkSettings, **__: object) -> object:
        seen.append(settings)
        raise ValueError("enough")

    monkeypatch.setattr(chunking, "chunk_elements", caught)
    names = own | {name for name in STRATEGY_SETTINGS if takes(strategy, name)}
    chosen = {name: VALUES[name] for name in names} | {"strategy": strategy}
    words = {name: value if isinstance(value, str) else json.dumps(value) for name, value in chosen.items()}
    done = chunk(str(document), *[f"--set={name}={value}" for name, value in words.items()])
    assert done.stderr == "linkrag: enough\n"
    assert seen == [resolve_settings(chosen)]


def test_no_network_of_neurons_without_need(document: Path) -> None:
    """EM-07: `pack` loads no torch, explained or not."""
    code = (
        "import sys; from click.testing import CliRunner; from linkrag_dagster.cli.main import linkrag\n"
        f"done = CliRunner().invoke(linkrag, ['chunk', {str(document)!r}, '--explain'])\n"
        "print(done.exit_code, [m for m in ('torch', 'transformers', 'dagster') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0 []"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four-topics-en.md", "four-topics-zh.md"])
def test_the_examples_are_cut_where_their_topics_change(name: str, tmp_path: Path) -> None:
    """SD-07, and the README's picture: four topics under one heading become four chunks, by the packaged model."""
    path = EXAMPLES / name
    paragraphs = [p for p in path.read_text(encoding="utf-8").split("\n\n") if not p.startswith("#")]
    of_a_topic = len(paragraphs) // 4
    page = tmp_path / "out.html"
    done = chunk(str(path), *SEMANTIC, "--set", "tokenizer=cl100k_base", "--html", str(page), "--jsonl")
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["content"].strip().split("\n\n")[-1] for row in rows] == [
        p.strip() for p in paragraphs[of_a_topic - 1 :: of_a_topic]
    ]
    assert [row["cut_reason"] for row in rows] == ["depth", "depth", "depth", "end"]
    assert len(read_page(page.read_text(encoding="utf-8")).cuts) == 3
