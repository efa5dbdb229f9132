"""A bad declaration names the file, the line and the field (PI-01, TK-05)."""

from __future__ import annotations

from pathlib import Path

import pytest

from linkrag_dagster.choices.strategies import STRATEGIES, TAKEN_BY
from linkrag_dagster.declaration import Declaration, DeclarationError, load_declaration

GOOD = """\
type: linkrag_dagster.Corpus
attributes:
  source: {path: ../../docs}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n")
    home = tmp_path / "assets" / "x"
    home.mkdir(parents=True)
    return home / "defs.yaml"


def wrong(file: Path, text: str | bytes) -> list[str]:
    """The lines of the error that `text` gives."""
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DeclarationError) as caught:
        load_declaration(file)
    return str(caught.value).split("\n")


def with_attributes(lines: str) -> str:
    """GOOD, then `lines` from line 4 on."""
    return GOOD + "".join(f"  {line}\n" for line in lines.split("\n"))


def test_defaults_are_those_of_the_interfaces(file: Path) -> None:
    file.write_text(GOOD)
    loaded = load_declaration(file)
    settings = loaded.declaration
    assert (loaded.name, loaded.path, loaded.root) == ("x", file, file.parents[2])
    assert loaded.source == file.parents[2] / "docs"
    assert settings.source.include == ("**/*",)
    assert settings.source.exclude == ()
    limits = settings.extraction
    assert (limits.max_bytes, limits.seconds, limits.memory_mb) == (10 * 1024 * 1024, 300.0, 4096)
    assert (limits.seconds_per_scan, limits.workers) == (10.0, None)
    assert (settings.chunking.strategy, settings.chunking.tokenizer) == ("pack", "encoder")
    assert settings.chunking.max_tokens is None
    assert settings.chunking.adjacent_context_tokens == 64
    assert (settings.lexical.k1, settings.lexical.b, settings.lexical.field) == (1.2, 0.75, "text")
    assert (settings.retrieval.cut, settings.retrieval.k) == (None, 4)
    assert settings.limits.failed_documents == 0.2
    assert settings.schedule is None


def test_the_example_of_the_interfaces_loads(file: Path) -> None:
    (file.parent / "questions.jsonl").write_text("")
    file.write_text("""\
type: linkrag_dagster.Corpus
attributes:
  source: {path: ../../docs, include: ["**/*"], exclude: []}
  extraction: {max_bytes: 10485760}
  chunking: {strategy: pack, tokenizer: encoder, min_candidate_tokens: 111, max_tokens: 222, hard_max_tokens: 222,
             header: true, overlap_tokens: 0, adjacent_context_tokens: 64, oversize: split}
  embedding: {model: all-MiniLM-L6-v2, dtype: float32}
  lexical: {analyzer: default, k1: 1.2, b: 0.75, field: text}
  retrieval: {cut: null, k: 4}
  evaluation: {questions: [questions.jsonl]}
  schedule: "0 2 * * *"
  limits: {failed_documents: 0.2}
""")
    loaded = load_declaration(file)
    assert loaded.declaration.chunking.hard_max_tokens == 222
    assert loaded.declaration.schedule == "0 2 * * *"
    assert loaded.questions == (file.parent / "questions.jsonl",)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("chunking:\n  max_tokenz: 9", "5: chunking.max_tokenz: unknown field; did you mean max_tokens?"),
        ("chunkin: {}", "4: chunkin: unknown field; did you mean chunking?"),
        ("max_tokens: 9", "4: max_tokens: unknown field; did you mean chunking.max_tokens?"),
        ("chunking: {lake: a}", "4: chunking.lake: unknown field; did you mean attributes.lake?"),
        ("zebra: 1", "4: zebra: unknown field"),
        ('chunking:\n  max_tokens: "9"', "5: chunking.max_tokens: expected a whole number, got '9'"),
        ("chunking: {max_tokens: 9.5}", "4: chunking.max_tokens: expected a whole number, got 9.5"),
        ("chunking: {max_tokens: true}", "4: chunking.max_tokens: expected a whole number, got true"),
        ("chunking: {header: 1}", "4: chunking.header: expected true or false, got 1"),
        ("chunking: 7", "4: chunking: expected a section of keys and values, got 7"),
        ("embedding: {model: }", "4: embedding.model: expected a text, got nothing (null)"),
        ('embedding: {model: ""}', "4: embedding.model: must not be empty"),
        (
            "chunking: {strategy: pak}",
            "4: chunking.strategy: expected noop | pack | semantic_depth_window | fixed | recursive | document_aware | "
            "percentile | header | ablation_a | ablation_b | ablation_c | ablation_d | ablation_e | ablation_f | "
            "paragraph | texttiling | auto, got 'pak'; did you mean pack?",
        ),
        (
            "chunking: {overflow: cut}",
            "4: chunking.overflow: expected split | vectors | pool | error, got 'cut'",
        ),
        ("chunking: {max_tokens: 0}", "4: chunking.max_tokens: must be at least 1, got 0"),
        ("chunking: {overlap_tokens: -1}", "4: chunking.overlap_tokens: must be at least 0, got -1"),
        ("lexical:\n  k1: 1\n  b: 1.5", "6: lexical.b: must be at most 1.0, got 1.5"),
        ("lexical: {k1: .inf}", "4: lexical.k1: expected a finite number, got inf"),
        ("limits: {failed_documents: 2}", "4: limits.failed_documents: must be at most 1.0, got 2"),
        ("retrieval: {k: 0}", "4: retrieval.k: must be at least 1, got 0"),
        (
            "evaluation: {questions: q.jsonl}",
            '4: evaluation.questions: expected a list, as ["a", "b"], got \'q.jsonl\'',
        ),
        ("evaluation:\n  questions:\n    - 3", "6: evaluation.questions[0]: expected a text, got 3"),
    ],
)
def test_each_slip_is_named_with_line_and_field(file: Path, lines: str, expected: str) -> None:
    """PI-01."""
    assert wrong(file, with_attributes(lines)) == [f"assets/x/defs.yaml:{expected}"]


@pytest.mark.parametrize(
    ("section", "line", "field", "owners"),
    [
        ("chunking:\n  overlap: 20", 5, "overlap", "fixed, recursive, document_aware, ablation_a to ablation_f, auto"),
        ("chunking:\n  percentile: 95\n  strategy: pack", 5, "percentile", "percentile, auto"),
        ("chunking:\n  strategy: fixed\n  size: 90\n  target: 80", 7, "target", "header, ablation_a to ablation_f"),
        ("chunking: {strategy: noop, derived: false}", 4, "derived", "strategies for comparison"),
    ],
)  # fmt: skip
def test_a_setting_of_another_strategy(file: Path, section: str, line: int, field: str, owners: str) -> None:
    """PI-01, VE-01: what a strategy would pass over is refused with the strategies that have it."""
    (told,) = wrong(file, with_attributes(section))
    assert told.startswith(f"assets/x/defs.yaml:{line}: chunking.{field}: strategy ")
    assert told.endswith(
        f" has no such setting; it belongs to {owners}; leave it out, or change the strategy"
    )


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_null_is_no_setting_of_any_strategy(file: Path, strategy: str) -> None:
    """PI-01: what the starter writes out as null stays, whatever the strategy."""
    nulls = "".join(f", {name}: null" for name in TAKEN_BY)
    file.write_text(with_attributes(f"chunking: {{strategy: {strategy}{nulls}}}"))
    assert load_declaration(file).declaration.chunking.strategy == strategy


def test_of_two_slips_in_a_section_the_strategy_is_told_alone(file: Path) -> None:
    """PI-01: an unknown strategy has no settings that could be foreign."""
    (told,) = wrong(file, with_attributes("chunking: {strategy: fixd, overlap: 20}"))
    assert "chunking.strategy" in told and "did you mean fixed?" in told


@pytest.mark.parametrize(
    ("sizes", "field", "lower"),
    [
        ("max_tokens: 9000, hard_max_tokens: 222", "hard_max_tokens", "max_tokens (9000)"),
        ("hard_max_tokens: 5, min_candidate_tokens: 6", "hard_max_tokens", "min_candidate_tokens (6)"),
        ("min_candidate_tokens: 3, max_tokens: 2", "max_tokens", "min_candidate_tokens (3)"),
    ],
)
def test_budget_is_in_order(file: Path, sizes: str, field: str, lower: str) -> None:
    """TK-05: min ≤ max ≤ hard_max is checked at load, by the field that is too small."""
    (line,) = wrong(file, with_attributes(f"chunking: {{{sizes}}}"))
    assert line.startswith(f"assets/x/defs.yaml:4: chunking.{field}: ")
    assert lower in line


def test_equal_budget_is_fine(file: Path) -> None:
    file.write_text(with_attributes("chunking: {min_candidate_tokens: 9, max_tokens: 9, hard_max_tokens: 9}"))
    assert load_declaration(file).declaration.chunking.max_tokens == 9


def test_all_problems_at_once_in_the_order_of_the_file(file: Path) -> None:
    lines = wrong(file, "type: x.Y\nattributes:\n  source: {path: nope}\n  lexical:\n    b: 2\n  z: 1\n")
    assert [line.split(":")[1] for line in lines] == ["1", "3", "5", "6"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ":1: empty; "),
        ("# a comment\n", ":1: empty; "),
        ("---\n", ":1: "),
        ("- a\n", ":1: expected the keys type and attributes, got a list"),
        ("type: linkrag_dagster.Corpus\n", ":1: source.path: missing"),
        ("type: linkrag_dagster.Corpus\nattributes:\n", ":2: source.path: missing"),
        ("type: linkrag_dagster.Corpus\nattributes:\n  source:\n", ":3: source.path: missing"),
        ("attributes:\n  source: {path: ../../docs}\n", ":1: type: missing"),
        (
            GOOD.replace("Corpus", "Corpse"),
            ":1: type: expected linkrag_dagster.Corpus, got 'linkrag_dagster.Corpse'",
        ),
        (GOOD + "chunking: {}\n", ":4: chunking: unknown field; did you mean attributes.chunking?"),
        ("type: linkrag_dagster.Corpus\nattributes: 3\n", ":2: attributes: expected a section"),
        (
            "type: linkrag_dagster.Corpus\nattributes:\n\tsource: a\n",
            ":3: YAML: a tab where spaces must stand",
        ),
        ("type: [\n", ":2: YAML: "),
        ("type: 'a\n\n\n", ":4: YAML: "),
        ("a: b: c\n", ":1: YAML: mapping values are not allowed here; check the indentation"),
        (with_attributes("schedule: * * * * *"), ":4: YAML: "),
        (with_attributes("lake: a\nlake: b"), ":5: lake: given twice, first on line 4"),
        (with_attributes("lake: !!python/name:os.system a"), ":4: lake: the tag "),
        (with_attributes("lake: &a [*a]"), ":4: lake[0]: an alias that holds itself"),
        (with_attributes("lake: !!int a"), ":4: lake: 'a' is no int"),
        (with_attributes("? [a]\n: b"), ":4: attributes: a key must be a plain word"),
        (GOOD + "---\ntype: b\n", ":5: a second document"),
        (GOOD.encode() + b"# \xff\n", ":4: not UTF-8"),
        (GOOD + "# \x00\n", ":4: a character that YAML does not allow"),
        ("[" * 100_000, ":1: nested too deeply"),
        ("#" * 1_000_001, ": larger than 1000000 bytes"),
    ],
)
def test_unreadable_files_name_the_line(file: Path, text: str | bytes, expected: str) -> None:
    """PI-01: syntax errors, duplicate keys, wrong types, empty files, tabs."""
    lines = wrong(file, text)
    assert len(lines) == 1
    assert lines[0].startswith(f"assets/x/defs.yaml{expected}")


def test_aliases_that_multiply_are_stopped(file: Path) -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    (line,) = wrong(file, with_attributes("\n".join(rows)))
    assert "more than 10000 values" in line


def test_byte_order_mark_and_line_ends_do_not_matter(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert load_declaration(file).declaration.source.path == "../../docs"


@pytest.mark.parametrize(
    ("path", "expected"),
    [("../../nope", "does not exist"), ("../../docs/a.md", "is a file, not a folder")],
)
def test_a_source_that_is_no_folder(file: Path, path: str, expected: str) -> None:
    (line,) = wrong(file, GOOD.replace("../../docs", path))
    assert line.startswith("assets/x/defs.yaml:3: source.path: the source folder ")
    assert expected in line
    assert load_declaration(file, check_source=False).declaration.source.path == path


def test_missing_questions_are_named(file: Path) -> None:
    (line,) = wrong(file, with_attributes("evaluation:\n  questions:\n    - q.jsonl"))
    assert line.startswith("assets/x/defs.yaml:6: evaluation.questions[0]: the file ")


@pytest.mark.parametrize("name", ["my corpus", "a.b", "-a", "_a", "main", "Temp", "x" * 65])
def test_a_folder_that_cannot_name_a_corpus(file: Path, name: str) -> None:
    file.write_text(GOOD)
    home = file.parent.rename(file.parent.parent / name)
    with pytest.raises(DeclarationError, match="name"):
        load_declaration(home)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(DeclarationError, match=r"no such file; `linkrag init NAME --source DIR` writes one"):
        load_declaration(tmp_path / "assets" / "x" / "defs.yaml")


def test_errors_found_later_have_a_line_too(file: Path) -> None:
    """TK-05: a budget that the window cannot hold is refused with its place."""
    file.write_text(with_attributes("chunking:\n  max_tokens: 500"))
    loaded = load_declaration(file)
    assert (
        str(loaded.error("chunking.max_tokens", "too much"))
        == "assets/x/defs.yaml:5: chunking.max_tokens: too much"
    )
    assert str(loaded.error("chunking.hard_max_tokens", "too much")).startswith("assets/x/defs.yaml:4: ")
    assert str(loaded.error("retrieval.k", "too much")).startswith("assets/x/defs.yaml:2: ")


def test_settings_are_frozen_and_hashable(file: Path) -> None:
    file.write_text(GOOD)
    settings = load_declaration(file).declaration
    assert hash(settings) == hash(Declaration.model_validate({"source": {"path": "../../docs"}}))
    with pytest.raises(ValueError, match="frozen"):
        settings.lexical.k1 = 2.0  # pyright: ignore[reportAttributeAccessIssue]
