"""Declared and derived identities (PI-05)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.sources import DocumentIdentity, path_id, read_identity


def test_yaml_values_stay_as_the_author_wrote_them() -> None:
    """`1.10` is not `1.1`, a date no datetime, `no` no boolean, `007` no 7."""
    text = "---\nid: 007\nversion: 1.10\ntitle: no\naccess: [staff, 2024-01-02, staff]\n---\n# x\n"
    assert read_identity(text) == DocumentIdentity("007", "1.10", "no", ("staff", "2024-01-02"))


def test_toml_values_stay_as_the_author_wrote_them() -> None:
    """`+++` delimits TOML."""
    text = '+++\nid = "a"\nversion = 1.10\ntitle = "T"\naccess = ["x", "y"]\nweight = 3\n+++\nbody\n'
    assert read_identity(text) == DocumentIdentity("a", "1.10", "T", ("x", "y"))


@pytest.mark.parametrize("break_", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_breaks_and_byte_order_mark_do_not_matter(break_: str, mark: str) -> None:
    """EL-02: front matter may follow a byte order mark."""
    text = mark + "---\nid: a\naccess: public\n---\nbody".replace("\n", break_)
    assert read_identity(text) == DocumentIdentity("a", access=("public",))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# heading\n---\nid: a\n---\n",
        "\n---\nid: a\n---\n",
        " ---\nid: a\n---\n",
        "----\nid: a\n---\n",
        "---\nid: a\n",
        "---\nid: a\n--- x\n",
        "---\n---\nid: a\n",
        "---\nJust a paragraph between two rules.\n---\n",
        "---\n# a comment\n---\n",
        "---\nid: a\n+++\n",
        "---\nid:\nversion: ~\ntitle: ''\naccess: []\n---\n",
        "---\nother: a\n---\n",
    ],
)
def test_what_declares_nothing(text: str) -> None:
    """Only settings at the very start, closed, with one of the four keys count."""
    assert read_identity(text) == DocumentIdentity()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("---\nid: [a\n---\n", "YAML"),
        ("---\nid: a\nid: b\n---\n", "twice"),
        ("---\nid: a: b\n---\n", "YAML"),
        ("---\nid: *missing\n---\n", "YAML"),
        ("---\n\tid: a\n---\n", "YAML"),
        ("+++\nid = \n+++\n", "TOML"),
        ("+++\nid = 'a'\nid = 'b'\n+++\n", "TOML"),
        ("---\nid: [a, b]\n---\n", "list"),
        ("---\naccess: {deny: all}\n---\n", "nested"),
        ("+++\naccess = [['a']]\n+++\n", "nested"),
        ('---\nid: "a\\nb"\n---\n', "control"),
        ("---\nid: " + "x" * 513 + "\n---\n", "longer"),
        ("---\nid: " + "[" * 20_000 + "\n---\n", "YAML"),
        ("+++\nid = " + "[" * 20_000 + "\n+++\n", "TOML"),
    ],
)
def test_what_cannot_be_read_is_a_named_problem(text: str, word: str) -> None:
    """One sentence, no exception, and nothing half declared."""
    identity = read_identity(text)
    assert identity.problem is not None
    assert word in identity.problem
    assert "\n" not in identity.problem
    assert (identity.doc_id, identity.version, identity.title, identity.access) == (None, None, None, ())


def test_tags_make_no_objects_and_aliases_do_not_expand() -> None:
    """Settings of strangers are data."""
    bomb = "a: &a [x, x]\n" + "".join(
        f"{b}: &{b} [*{a}, *{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    text = f"---\n{bomb}id: !!python/object/apply:os.system ['true']\n---\n"
    assert read_identity(text).problem is not None
    assert read_identity(f"---\n{bomb}id: ok\n---\n").doc_id == "ok"


def test_settings_must_close_within_the_first_65536_code_points() -> None:
    """A 10 MB file that opens with `---` is not searched to its end."""
    assert read_identity("---\nid: a\n#" + "x" * 60_000 + "\n---\n").doc_id == "a"
    assert read_identity("---\nid: a\n#" + "x" * 66_000 + "\n---\n").doc_id is None


def test_path_ids_are_pinned() -> None:
    """A release that changed them would make every document of every lake a new one."""
    assert path_id("handbook", "a/b.md") == PINNED
    assert path_id("handbook", "a/B.md") != PINNED


PINNED = "c9c8531f2bbcba85"


@given(st.text(max_size=8), st.text(max_size=8), st.text(max_size=8), st.text(max_size=8))
def test_path_ids_are_length_safe(a: str, b: str, c: str, d: str) -> None:
    """Moving a character from the corpus to the path gives another id."""
    assert (path_id(a, b) == path_id(c, d)) == ((a, b) == (c, d))
    assert path_id(a + b, c) != path_id(a, b + c) or not b


@given(st.text())
def test_any_text_has_an_identity(text: str) -> None:
    """No text makes it raise."""
    assert isinstance(read_identity("---\n" + text + "\n---\n"), DocumentIdentity)
    assert isinstance(read_identity("+++\n" + text + "\n+++\n"), DocumentIdentity)
