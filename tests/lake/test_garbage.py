"""Which generations and files stay: pure over manifests (LA-01)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from linkrag_dagster.lake.garbage import kept_generations, named_files
from linkrag_dagster.lake.manifest import Generation, ShardFile

generations = st.lists(
    st.dictionaries(
        st.sampled_from(["chunks", "runs"]),
        st.dictionaries(st.integers(0, 3), st.integers(0, 9).map(lambda n: ShardFile(f"tables/{n}", n))),
    ),
    max_size=6,
).map(lambda tables: [Generation(number=n, tables=t) for n, t in enumerate(tables, start=1)])


@given(generations, st.integers(0, 8), st.booleans())
def test_the_newest_stay_with_all_their_files(
    committed: list[Generation], keep: int, unfinished: bool
) -> None:
    """The current one always, `keep` before it, and what is staged; every file of theirs, and no other."""
    staged = Generation(number=len(committed) + 1) if unfinished else None
    kept = kept_generations(committed, staged, keep)
    numbers = [generation.number for generation in kept]
    newest = [generation.number for generation in committed][::-1][: keep + 1][::-1]
    assert numbers == newest + ([staged.number] if staged else [])
    paths = {f.path for generation in kept for shards in generation.tables.values() for f in shards.values()}
    assert named_files(kept) == paths
