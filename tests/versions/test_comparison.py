"""Differences between the specs of two runs, in words (VE-08)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.versions.comparison import spec_changes, version_changes
from linkrag_dagster.versions.spec import StageSpec


def spec(
    name: str, revision: int = 1, components: dict[str, str] | None = None, **parameters: object
) -> dict[str, object]:
    return StageSpec(name, revision, parameters, components or {}).as_dict()


def varied(name: str, revision: int, version: str, size: int) -> dict[str, object]:
    return spec(name, revision, {"lib": version}, size=size)


specs = st.lists(
    st.builds(
        varied, st.sampled_from("ab"), st.integers(1, 2), st.sampled_from(["1.0", "2.0"]), st.integers(0, 2)
    ),
    max_size=5,
)


@given(specs)
def test_equal_specs_do_not_differ(found: list[dict[str, object]]) -> None:
    """In any order, and however often one is there."""
    assert spec_changes(found, found[::-1] + found) == {}


@given(specs, specs)
def test_different_specs_differ(old: list[dict[str, object]], new: list[dict[str, object]]) -> None:
    """No difference is passed over, and a stage whose specs are equal is not named."""
    changes = spec_changes(old, new)
    for name in "ab":
        same = all(s in new for s in old if s["name"] == name) and all(
            s in old for s in new if s["name"] == name
        )
        assert (name in changes) == (not same)


def test_the_one_that_changed_is_found_among_several() -> None:
    """Two extractors, one upgraded: one line, not four."""
    old = [spec("text", components={"pymupdf": "1.26"}), spec("text", components={"markdown": "4.0"})]
    new = [spec("text", components={"markdown": "4.0"}), spec("text", components={"pymupdf": "1.27"})]
    assert spec_changes(old, new) == {"text": ["pymupdf 1.26 → 1.27"]}


def test_kinds_that_come_and_go_are_told() -> None:
    """The first PDF of a corpus brings its extractor with it; settings and revisions are named."""
    old = [spec("text", components={"markdown": "4.0"}), spec("chunks", size=3)]
    new = [
        spec("text", components={"markdown": "4.0"}),
        spec("text", components={"pymupdf": "1.26"}),
        spec("chunks", 2, size=4),
    ]
    assert spec_changes(old, new) == {
        "text": ["also made with pymupdf 1.26"],
        "chunks": ["chunks code revision 1 → 2", "size 3 → 4"],
    }
    assert spec_changes(new, old)["text"] == ["no longer made with pymupdf 1.26"]


def test_versions() -> None:
    """Libraries by name: changed, new, gone."""
    assert version_changes({"a": "1", "b": "2"}, {"a": "1.1", "c": "3"}) == [
        "a 1 → 1.1",
        "b 2 → none",
        "c none → 3",
    ]
