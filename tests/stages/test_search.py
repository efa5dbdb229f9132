"""Search over built corpora: the gate, what is indexed, and citations (GA-01, BM-04, CI-01)."""

from __future__ import annotations

import pytest

from linkrag_dagster.retrieval.index_model import analyzer_of
from linkrag_dagster.retrieval.search import DEFAULT_FUSION, FUSIONS, MODES, Answer, search

from .conftest import Project


def ask(project: Project, query: str, mode: str, *, k: int = 4, cut: float | None = None) -> Answer:
    road = project.road()
    return search(
        road.lake,
        query,
        mode=mode,
        k=k,
        cut=cut,
        encoder=road.encoder,
        analyzer=analyzer_of(road.lake.current()),
    )


@pytest.mark.parametrize("mode", MODES)
def test_the_gate_holds_for_every_retriever(project: Project, mode: str) -> None:
    """GA-01: at most k, all under the cut, whatever ranked them; with nothing left, an answer that says why."""
    project.build()
    open_gate = ask(project, "When does the ferry to Lundholm leave?", mode)
    assert open_gate.answerable and 0 < len(open_gate.citations) <= 4
    assert next(iter(open_gate.citations)).doc_name == "ferry.md"
    nearest = min(
        c.cosine_distance for c in ask(project, "ferry Lundholm", "dense").citations if c.cosine_distance
    )
    gated = ask(project, "ferry Lundholm", mode, cut=nearest + 0.01)
    assert [c.cosine_distance for c in gated.citations] == [pytest.approx(nearest)]
    shut = ask(project, "ferry Lundholm", mode, cut=nearest / 2)
    assert not shut.answerable and not shut.citations
    assert shut.reason.startswith(f"NO ANSWER: nothing under cosine distance {nearest / 2:g}")
    assert '"ferry Lundholm"' in shut.reason


def test_hybrid_is_the_declared_fusion(project: Project) -> None:
    """HY-02: `hybrid` stands for what `retrieval.fusion` says; the declared default is that of a search without one."""
    project.build()
    road = project.road()
    analyzer = analyzer_of(road.lake.current())
    assert road.declaration.retrieval.fusion == DEFAULT_FUSION

    def found(mode: str, fusion: str = DEFAULT_FUSION) -> Answer:
        query = "When does the blue crane lift?"
        return search(road.lake, query, mode=mode, fusion=fusion, encoder=road.encoder, analyzer=analyzer)

    for fusion in FUSIONS:
        assert found("hybrid", fusion) == found(fusion)
    plain = search(road.lake, "When does the blue crane lift?", encoder=road.encoder, analyzer=analyzer)
    assert plain == found(DEFAULT_FUSION)
    assert found("rrf") != found("zscore")
    with pytest.raises(ValueError, match="fusion mean: there are"):
        found("hybrid", "mean")


def test_every_quote_is_the_sources_own(project: Project) -> None:
    """CI-01: a quote is the slice of the canonical text that its fragment names."""
    project.build()
    road = project.road()
    texts = dict(
        road.lake.read(road.lake.current(), "extracted_text", columns=["doc_id", "text"]).iter_rows()
    )
    for query in ("hook R-17", "灯塔", "herring", "winter pennant"):
        for citation in ask(project, query, "hybrid", k=9).citations:
            start, end = map(int, citation.fragment.removeprefix("#char=").split(","))
            assert citation.quote == texts[citation.doc_id][start:end]


def test_what_is_indexed_is_declared(project: Project) -> None:
    """BM-04: with `content` the header's words find nothing, with `text` they do; the change is in the fingerprint."""
    project.write("log.md", "# Zanzibar\n\nPlain words about cargo.\n\n## Quay\n\nMore words about rope.\n")
    project.set("chunking.min_candidate_tokens", 1)
    project.build()
    road = project.road()
    stamp = road.lake.read(road.lake.current(), "bm25_lengths", columns=["chunk_id", "fingerprint"])
    assert len(ask(project, "Zanzibar", "bm25").citations) == 2
    project.set("lexical.field", "content")
    built = project.build()
    assert built.stages["bm25"].stale == built.stages["bm25"].rows == stamp.height
    assert built.embedded_texts == 0
    assert len(ask(project, "Zanzibar", "bm25").citations) == 1


def test_only_current_versions_are_searched(project: Project) -> None:
    """VF-01: the filter acts before retrieval; superseded versions answer when asked for."""
    for version, place in (("1", "Svaneke"), ("2", "Gudhjem")):
        project.write(
            f"pilot-{version}.md",
            f'---\nid: pilot\nversion: "{version}"\n---\n\n# Pilot\n\nThe pilot boards off {place}.\n',
        )
    project.build()
    road = project.road()
    found = {
        every: [
            citation.version
            for citation in search(
                road.lake,
                "Where does the pilot board?",
                mode="hybrid",
                k=9,
                all_versions=every,
                encoder=road.encoder,
                analyzer=analyzer_of(road.lake.current()),
            ).citations
            if citation.doc_id == "pilot"
        ]
        for every in (False, True)
    }
    assert found[False] == ["2"]
    assert sorted(found[True]) == ["1", "2"]
