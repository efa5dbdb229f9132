"""What a folder holds as a source (PI-05, FA-03)."""

from __future__ import annotations

import hashlib
import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.sources import (
    BadPattern,
    FileTooLarge,
    FileUnreadable,
    FileVanished,
    SourceError,
    SourceFile,
    SourceUnreachable,
    digest,
    folder,
    path_id,
    read,
    scan,
)
from linkrag_dagster.sources.patterns import compile_patterns


def write(path: Path, data: bytes = b"x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def paths(root: Path, **patterns: list[str]) -> list[str]:
    return [file.path for file in scan(root, **patterns).files]


def test_every_file_at_any_depth_in_byte_order(tmp_path: Path) -> None:
    """PI-05: the default pattern takes all; the order is that of the bytes, not of a locale."""
    for name in ("b.md", "B.md", "a/é.md", "a/z.md", "a/b/c/deep", "a-b.md", "文.md"):
        write(tmp_path / name)
    found = scan(tmp_path)
    expected = ["B.md", "a-b.md", "a/b/c/deep", "a/z.md", "a/é.md", "b.md", "文.md"]
    assert [file.path for file in found.files] == expected
    assert dict(found.left_out) == {}
    assert all(file.absolute.read_bytes() == b"x" and file.size_bytes == 1 for file in found.files)


def test_neither_case_nor_unicode_form_is_folded(tmp_path: Path) -> None:
    """PI-05: paths are compared byte for byte."""
    names = ["caf\u00e9.md", "cafe\u0301.md", "README.md", "readme.md"]
    for name in names:
        write(tmp_path / name)
    assert sorted(paths(tmp_path)) == sorted(names)
    assert paths(tmp_path, include=["caf\u00e9.md", "README.md"]) == ["README.md", "caf\u00e9.md"]
    assert len({path_id("c", name) for name in names}) == 4


def test_hidden_files_and_folders_are_left_out_and_counted(tmp_path: Path) -> None:
    """PI-05: a component that begins with a dot hides what is in it; a hidden folder counts once."""
    for name in (".draft.md", ".cache/a.md", ".cache/b.md", "ok/.hidden", "ok/shown.md"):
        write(tmp_path / name)
    found = scan(tmp_path, include=["**/*", ".draft.md", ".cache/*"])
    assert [file.path for file in found.files] == ["ok/shown.md"]
    assert dict(found.left_out) == {"hidden": 3}


def test_links_are_read_within_the_source_and_never_lead_out(tmp_path: Path) -> None:
    """PI-05: a link may name another file of the source, nothing else; links to folders are not followed."""
    root = tmp_path / "source"
    secret = write(tmp_path / "outside/secret.md", b"secret")
    write(root / "real.md", b"real")
    write(root / ".private/key.md", b"key")
    write(root / "sub/page.md")
    (root / "alias.md").symlink_to("real.md")
    (root / "leak.md").symlink_to(secret)
    (root / "sub/up.md").symlink_to("../../outside/secret.md")
    (root / "tour").symlink_to(tmp_path / "outside")
    (root / "loop").symlink_to(root)
    (root / "gone.md").symlink_to("nothing.md")
    (root / "self.md").symlink_to("self.md")
    (root / "peek.md").symlink_to(".private/key.md")
    (root / "twice.md").symlink_to("leak.md")
    found = scan(root)
    assert [file.path for file in found.files] == ["alias.md", "real.md", "sub/page.md"]
    assert read(found.files[0], 10) == b"real"
    assert dict(found.left_out) == {"broken_link": 2, "dir_link": 2, "hidden": 2, "link_out": 3}


def test_the_source_itself_may_be_a_link_or_lie_under_a_hidden_folder(tmp_path: Path) -> None:
    """Only what is inside the source is judged."""
    write(tmp_path / ".hidden/real/a.md")
    (tmp_path / "link").symlink_to(tmp_path / ".hidden/real")
    assert paths(tmp_path / "link") == ["a.md"]


def test_pipes_and_sockets_are_left_out(tmp_path: Path) -> None:
    """Opening a pipe would wait for ever."""
    os.mkfifo(tmp_path / "pipe.md")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(tmp_path / "socket.md"))
        write(tmp_path / "a.md")
        found = scan(tmp_path)
    assert [file.path for file in found.files] == ["a.md"]
    assert dict(found.left_out) == {"special": 2}


def test_exclude_covers_what_lies_under_a_folder(tmp_path: Path) -> None:
    """A pattern that names a folder excludes all in it; without the pattern all is back."""
    for name in ("keep.md", "drafts/a.md", "drafts/deep/b.md", "x/drafts/c.md", "notes.txt"):
        write(tmp_path / name)
    assert paths(tmp_path, exclude=["drafts/**"]) == ["keep.md", "notes.txt", "x/drafts/c.md"]
    assert paths(tmp_path, exclude=["drafts"]) == ["keep.md", "notes.txt", "x/drafts/c.md"]
    assert paths(tmp_path, exclude=["**/drafts/"]) == ["keep.md", "notes.txt"]
    found = scan(tmp_path, include=["**/*.md"], exclude=["drafts"])
    assert dict(found.left_out) == {"excluded": 1, "not_included": 1}


def test_names_that_are_not_utf8_are_kept_exactly(tmp_path: Path) -> None:
    """PI-05: two such files stay two documents, and their labels can be stored."""
    for name in (b"\xff.md", b"\xfe.md"):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_bytes(name)
    found = scan(tmp_path).files
    assert [os.fsencode(file.path) for file in found] == [b"\xfe.md", b"\xff.md"]
    assert [read(file, 9) for file in found] == [b"\xfe.md", b"\xff.md"]
    assert [file.label.encode() for file in found] == [b"\\udcfe.md", b"\\udcff.md"]
    assert len({path_id("c", file.path) for file in found}) == 2


@pytest.mark.parametrize("kind", ["missing", "file", "loop"])
def test_an_unreachable_source_is_an_error_not_an_empty_one(tmp_path: Path, kind: str) -> None:
    """FA-03: no deletion may follow from a folder that is not there."""
    path = tmp_path / kind
    if kind == "file":
        write(path)
    elif kind == "loop":
        path.symlink_to(path)
    with pytest.raises(SourceUnreachable, match=kind) as caught:
        scan(path)
    assert (caught.value.kind, caught.value.retryable) == ("source", True)


def test_a_folder_that_cannot_be_listed_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """FA-03: left out silently, its documents would look deleted. Patched: root ignores permissions."""
    write(tmp_path / "open/a.md")
    write(tmp_path / "shut/b.md")
    listing = os.scandir

    def refuse(path: Path) -> object:
        if path.name == "shut":
            raise PermissionError(13, "Permission denied", str(path))
        return listing(path)

    monkeypatch.setattr(folder.os, "scandir", refuse)
    with pytest.raises(SourceUnreachable, match=r"shut.*Permission denied"):
        scan(tmp_path)
    assert paths(tmp_path, exclude=["shut"]) == ["open/a.md"]


def test_an_empty_folder_is_an_empty_scan(tmp_path: Path) -> None:
    """FA-03: whether that is an error is the caller's decision."""
    assert scan(tmp_path).files == ()


def test_reading_checks_the_limit_before_and_while_reading(tmp_path: Path) -> None:
    """A file may grow between listing and reading, and while it is read."""
    write(tmp_path / "a.md", b"12345")
    (file,) = scan(tmp_path).files
    assert read(file, 5) == b"12345"
    with pytest.raises(FileTooLarge, match=r"a\.md has 5 bytes.*limit of 4") as caught:
        read(file, 4)
    assert (caught.value.kind, caught.value.retryable) == ("too_large", False)


def test_a_file_that_grows_while_it_is_read_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The size that the file system names may be old, or 0 as under /proc."""
    write(tmp_path / "a.md", b"1" * 3000)
    (file,) = scan(tmp_path).files
    monkeypatch.setattr(folder, "_BLOCK", 1000)
    status = os.stat_result((0o100644, 1, 1, 1, 0, 0, 0, 0, 0, 0))

    def grown(_handle: int) -> os.stat_result:
        return status

    monkeypatch.setattr(folder.os, "fstat", grown)
    with pytest.raises(FileTooLarge, match="2,000 bytes or more"):
        read(file, 1500)


def test_files_that_changed_after_the_scan_are_named_errors(tmp_path: Path) -> None:
    """FA-01: kind `source`; neither a link nor a pipe in the file's place is opened."""
    secret = write(tmp_path / "secret")
    root = tmp_path / "source"
    for name in ("gone.md", "link.md", "pipe.md", "folder.md", "under/a.md"):
        write(root / name)
    files = {file.path: file for file in scan(root).files}
    for name in ("gone.md", "link.md", "pipe.md", "folder.md", "under/a.md"):
        (root / name).unlink()
    (root / "link.md").symlink_to(secret)
    os.mkfifo(root / "pipe.md")
    (root / "folder.md").mkdir()
    (root / "under").rmdir()
    write(root / "under")
    expected: dict[str, type[SourceError]] = {
        "gone.md": FileVanished,
        "under/a.md": FileVanished,
        "link.md": FileUnreadable,
        "pipe.md": FileUnreadable,
        "folder.md": FileUnreadable,
    }
    for name, error in expected.items():
        with pytest.raises(error, match=name) as caught:
            read(files[name], 100)
        assert caught.value.kind == "source"
        with pytest.raises(error, match=name):
            digest(files[name])


def test_digest_is_the_sha256_of_the_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamed: blocks of any size give the same digest."""
    data = bytes(range(256)) * 40
    write(tmp_path / "a.bin", data)
    (file,) = scan(tmp_path).files
    monkeypatch.setattr(folder, "_BLOCK", 7)
    assert digest(file) == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(
    ("pattern", "matched", "unmatched"),
    [
        ("**/*", ["a", "a/b", "a/b/c.md"], []),
        ("*", ["a", "b.md"], ["a/b"]),
        ("*.md", ["a.md", ".md"], ["a/b.md", "a.MD", "a.mdx"]),
        ("**/*.md", ["a.md", "a/b.md", "a/b/c.md"], ["a.txt", "md"]),
        ("docs/**", ["docs/a", "docs/b/c"], ["docs", "xdocs/a", "a/docs/b"]),
        ("docs/", ["docs/a", "docs/b/c"], ["docs"]),
        ("**/x/**/y", ["x/y", "a/x/y", "x/b/c/y"], ["xy", "x/y/z"]),
        ("a/**/**/b", ["a/b", "a/c/b", "a/c/d/b"], ["ab"]),
        ("?.md", ["a.md", "é.md", "文.md"], ["ab.md", "/.md"]),
        ("[a-c][!x].md", ["ab.md", "cé.md"], ["ax.md", "db.md", "a/.md"]),
        ("[]a].md", ["].md", "a.md"], ["b.md"]),
        ("[!]].md", ["a.md"], ["].md"]),
        ("[^a]", ["^", "a"], ["b"]),
        ("a+(b).md", ["a+(b).md"], ["aab.md"]),
        ("a***b", ["ab", "axxb"], ["a/b"]),
        ("a\nb", ["a\nb"], ["a b"]),
    ],
)
def test_patterns(pattern: str, matched: list[str], unmatched: list[str]) -> None:
    """Each row of the table in the module's docstring, and the signs that mean something to `re` only."""
    compiled = compile_patterns([pattern])
    assert [path for path in matched if not compiled.fullmatch(path)] == []
    assert [path for path in unmatched if compiled.fullmatch(path)] == []


@pytest.mark.parametrize("pattern", ["", "/a", "a//b", "../x", "a/./b", "[a", "[b-a]"])
def test_patterns_that_can_match_nothing_are_errors(pattern: str, tmp_path: Path) -> None:
    """A pattern that silently matches nothing would index, or hide, the wrong files."""
    with pytest.raises(BadPattern):
        scan(tmp_path, include=[pattern])


names = st.text(st.characters(exclude_characters="/*?[\0", exclude_categories=["Cs"]), min_size=1, max_size=6)


@given(st.lists(names.filter(lambda name: name not in (".", "..")), min_size=1, max_size=4))
def test_a_path_as_its_own_pattern_matches_itself_alone(segments: list[str]) -> None:
    """Nothing but `*`, `?`, `[` is special, in any language."""
    path = "/".join(segments)
    compiled = compile_patterns([path])
    assert compiled.fullmatch(path)
    assert not compiled.fullmatch(path + "x")
    assert not compiled.fullmatch("x/" + path)


def test_a_source_file_is_a_value() -> None:
    """Records are frozen."""
    file = SourceFile("a", Path("/a"), 1)
    with pytest.raises(AttributeError):
        file.path = "b"  # pyright: ignore[reportAttributeAccessIssue]
