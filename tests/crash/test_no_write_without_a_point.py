"""Every call that changes a disk stands where a named point stands: read from the code itself (FA-04)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "linkrag_dagster"
# fmt: off
WRITES = frozenset({
    "write_text", "write_bytes", "write_table", "write_parquet", "sink_parquet", "write_csv", "write_json",
    "write_ndjson", "write_ipc", "write_dataset", "ParquetWriter", "mkdir", "makedirs", "replace", "rename",
    "renames", "unlink", "remove", "rmdir", "removedirs", "rmtree", "move", "copy", "copy2", "copyfile",
    "copytree", "touch", "symlink_to", "hardlink_to", "symlink", "link", "truncate", "ftruncate", "pwrite",
    "fsync", "fdatasync", "flock", "lockf", "savez", "save", "tofile", "chmod",
})
# fmt: on
"""Names of calls that change a disk."""
OURS = frozenset({"write_whole", "write_text", "write_frame", "remove"})
"""What of `disk` and `lake.files` has its points inside."""
OS_MODULES = frozenset({"os", "shutil", "fcntl", "np", "pq"})
"""Modules of which names that others have too (`replace`, `remove`, `copy`, `save`) change a disk."""
SHARED_NAMES = frozenset({"replace", "remove", "copy", "save", "move", "link", "truncate", "rename"})
"""Names that texts, lists and frames have as well: they count as writes of `OS_MODULES`, or of a path."""
EXEMPT = {
    ("cli/console.py", "clear_errors"): "it opens the null device",
    ("cli/project.py", "init"): "a declaration, for people to edit: no build reads it before init has ended",
    ("cli/evaluate.py", "_write_trec"): "an export that its user asked for by name",
    ("embedding/sweep.py", "sweep"): "an empty folder of the memo: there or not there is all the same",
    (
        "stages/sets.py",
        "_write",
    ): "a result kept to save time: its folder gets its name when it is whole, else it is measured again",
}
"""Writes outside lake, memo and instance."""


def called(node: ast.Call) -> tuple[str, str]:
    """Owner (a plain name, else "") and name of what is called."""
    function = node.func
    if isinstance(function, ast.Name):
        return "", function.id
    if isinstance(function, ast.Attribute):
        owner = function.value
        return (owner.id if isinstance(owner, ast.Name) else ""), function.attr
    return "", ""


def opens_to_write(node: ast.Call, owner: str, name: str) -> bool:
    """`open` with a mode that writes, `os.open` with a flag that does, a DuckDB file that is not read-only."""
    words = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
    if name == "open" and owner == "os":
        return any(
            isinstance(p, ast.Attribute) and p.attr in ("O_RDWR", "O_WRONLY", "O_CREAT")
            for p in ast.walk(node)
        )
    if name == "open":
        modes = [w for w in words if isinstance(w, str) and 0 < len(w) <= 3 and set(w) <= set("rwxab+t")]
        return any(set(mode) & set("wxa+") for mode in modes)
    if name == "connect" and owner == "duckdb":
        return bool(node.args) and "read_only" not in [keyword.arg for keyword in node.keywords]
    return name == "execute" and any(isinstance(w, str) and "ATTACH" in w for w in words)


def is_write(node: ast.Call) -> bool:
    """Whether a call changes a disk by itself, not through `disk`."""
    owner, name = called(node)
    if name in OURS and owner == "":
        return False
    if name in SHARED_NAMES:
        return owner in OS_MODULES
    return name in WRITES or opens_to_write(node, owner, name)


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Functions of a module and methods of its classes; functions within them belong to them."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from (n for n in node.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def pointless_writes(source: str) -> list[tuple[str, int]]:
    """Function and line of each write that no point guards.

    A write is guarded where its function reaches a point or hands its writing to `write_whole`; so is a private
    function that is named only by guarded ones of its module.
    """
    tree = ast.parse(source)
    known = {f.name: f for f in functions(tree)}
    guarded = {
        name for name, f in known.items()
        if any(isinstance(n, ast.Call) and called(n)[1] in ("reach", "write_whole", "remove") for n in ast.walk(f))
    }  # fmt: skip
    grown = True
    while grown:
        callers = {
            name: {other for other, f in known.items() if other != name and name in _names(f)}
            for name in known
        }
        more = {n for n in known if n.startswith("_") and callers[n] and callers[n] <= guarded} - guarded
        guarded |= more
        grown = bool(more)
    allowed = {id(n) for name in guarded for n in ast.walk(known[name])}
    owner = {id(n): f.name for f in known.values() for n in ast.walk(f)}
    return [
        (owner.get(id(n), "<module>"), n.lineno)
        for n in ast.walk(tree)
        if isinstance(n, ast.Call) and is_write(n) and id(n) not in allowed
    ]


def _names(function: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(function) if isinstance(n, ast.Name)}


def test_no_write_without_a_point() -> None:
    """FA-04: whoever adds a write adds its point, and thereby its kill test."""
    found = {
        (str(path.relative_to(PACKAGE)), function): line
        for path in sorted(PACKAGE.rglob("*.py"))
        for function, line in pointless_writes(path.read_text(encoding="utf-8"))
    }
    assert set(found) == set(EXEMPT), found


@pytest.mark.parametrize(
    "code",
    [
        "def f(path):\n    path.write_text('x')",
        "def f(path):\n    with path.open('wb') as file:\n        file.write(b'')",
        "def f(path):\n    with open(path, 'a') as file:\n        file.write('')",
        "import os\ndef f(a, b):\n    os.replace(a, b)",
        "import os\ndef f(a):\n    return os.open(a, os.O_RDWR | os.O_CREAT)",
        "import duckdb\ndef f(a):\n    return duckdb.connect(a)",
        "def f(c):\n    c.execute(f\"ATTACH '{c}' AS x\")",
        "import pyarrow.parquet as pq\ndef f(t, p):\n    pq.write_table(t, p)",
        "class C:\n    def f(self, p):\n        def g():\n            p.unlink()\n        g()",
        "from pathlib import Path\nPath('x').mkdir()",
    ],
)
def test_the_test_sees_a_write(code: str) -> None:
    """A test of the test: each way to write is seen, and a point beside it satisfies it."""
    assert pointless_writes(code)
    if "def f" in code:
        head, _, body = code.partition("):\n")
        indent = body[: len(body) - len(body.lstrip())]
        assert not pointless_writes(f"{head}):\n{indent}reach('x', 1)\n{body}")


@pytest.mark.parametrize(
    "code",
    [
        "def f(text):\n    return text.replace('a', 'b')",
        "def f(path):\n    return path.open('rb').read()",
        "def f(path):\n    return open(path).read()",
        "import duckdb\ndef f(a):\n    return duckdb.connect(a, read_only=True)",
        "import duckdb\ndef f():\n    return duckdb.connect()",
        "from dataclasses import replace\ndef f(a):\n    return replace(a, b=1)",
    ],
)
def test_the_test_lets_readers_be(code: str) -> None:
    """What changes no disk needs no point."""
    assert not pointless_writes(code)
