"""A corpus asked its own questions: what is stored, when it is made again, what is left out (SX-02, GO-01)."""

from __future__ import annotations

import json
import math

import duckdb
import polars as pl
import pytest

from linkrag_dagster.declaration import DeclarationError
from linkrag_dagster.evaluation.ranking import ndcg
from linkrag_dagster.evaluation.trec import read_qrels, read_run, write_qrels, write_run
from linkrag_dagster.retrieval.index_model import analyzer_of
from linkrag_dagster.retrieval.search import search
from linkrag_dagster.stages.experiment import RUNS

from .conftest import Project

FERRY = "The ferry to Lundholm leaves the north quay at seven."
Asked = tuple[str, str, str, str, list[tuple[str, str]]]
QUESTIONS: list[Asked] = [
    ("f-doc", "f", "doc", "When does the ferry to Lundholm leave?", [("ferry.md", FERRY)]),
    ("f-ticket", "f", "ticket", "Departure time of the boat?", [("ferry.md", FERRY)]),
    ("h-doc", "h", "doc", "Which code has the hook?", [("crane.md", "| hook | R-17 |")]),
    ("l-doc", "l", "doc", "灯多久转一圈？", [("灯.md", "灯每九秒转一圈。")]),
    (
        "two",
        "two",
        "doc",
        "What lifts eleven tonnes, and what tells passengers?",
        [
            ("crane.md", "The blue crane lifts at most eleven tonnes."),
            ("ferry.md", "a red pennant tells passengers"),
        ],
    ),
    ("no", "no", "", "Who won the chess final?", []),
]
PIECES = ("raw_documents", "extracted_text", "elements", "chunks", "embeddings", "bm25")


def ask(project: Project, questions: list[Asked]) -> None:
    lines = [
        json.dumps(
            {
                "question_id": name,
                "needle_id": needle,
                "phrasing": phrasing,
                "question": question,
                "answerable": bool(evidence),
                "unanswerable_kind": None if evidence else "out_of_domain",
                "evidence": [{"doc": doc, "text": text} for doc, text in evidence],
            },
            ensure_ascii=False,
        )
        for name, needle, phrasing, question, evidence in questions
    ]
    (project.declaration.parent / "questions.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    project.set("evaluation.questions", ["questions.jsonl"])


@pytest.fixture
def asked(project: Project) -> Project:
    """The four documents, with six questions."""
    ask(project, QUESTIONS)
    return project


def table(project: Project, name: str) -> pl.DataFrame:
    road = project.road()
    return road.lake.read(road.lake.current(), name)


def test_a_corpus_without_questions_has_no_rows(project: Project) -> None:
    """SX-02: nothing to ask is nothing to do."""
    built = project.build()
    assert built.stages["evaluation"].rows == 0
    assert project.build().plan is not None
    assert table(project, "evaluation").is_empty()


def test_computed_once_and_again_only_for_a_cause(asked: Project) -> None:
    """SX-02, VE-03, VE-06: not the second time, nor for other line ends; but for an edit, and for other questions."""
    first = asked.build()
    assert first.stages["evaluation"].new == first.stages["evaluation"].rows > 0
    again = asked.build()
    assert again.plan is not None and again.plan.idle
    assert again.stages["evaluation"].unchanged == first.stages["evaluation"].rows

    path = asked.source / "ferry.md"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    ends = asked.build()
    assert ends.stages["extracted_text"].stale == 1
    assert ends.stages["evaluation"].unchanged == ends.stages["evaluation"].rows

    asked.write("bell.md", "# Fog bell\n\nThe fog bell was cast in Odense.\n")
    more = asked.build()
    assert more.stages["evaluation"].stale == more.stages["evaluation"].rows
    assert more.embedded_texts == 1

    ask(asked, QUESTIONS[:-1])
    planned = asked.build().plan
    assert planned is not None
    assert planned.stages["evaluation"].stale and "questions.jsonl" in next(
        iter(planned.stages["evaluation"].reasons)
    )
    assert all(planned.stages[name].unchanged and not planned.stages[name].reasons for name in PIECES)

    asked.set("evaluation.questions", [])
    gone = asked.build()
    assert gone.stages["evaluation"].removed and gone.stages["evaluation"].rows == 0


@pytest.mark.parametrize(
    ("run", "mode"),
    [("dense", "dense"), ("bm25", "bm25"), ("rrf", "rrf"), ("zscore", "zscore"), ("zscore", "hybrid")],
)
def test_what_is_measured_is_what_answers(asked: Project, run: str, mode: str) -> None:
    """SX-02, HY-01, HY-02: the stored rankings are those of a search, score by score."""
    asked.build()
    road = asked.road()
    rankings = table(asked, "evaluation_rankings").filter(pl.col("run") == run).sort("question_id", "rank")
    for name, _, _, question, _ in QUESTIONS:
        answer = search(
            road.lake,
            question,
            mode=mode,
            k=50,
            encoder=road.encoder,
            analyzer=analyzer_of(road.lake.current()),
        )
        stored = rankings.filter(pl.col("question_id") == name)
        assert stored["chunk_id"].to_list() == [citation.chunk_id for citation in answer.citations]
        assert stored["score"].to_list() == pytest.approx([c.score for c in answer.citations], abs=1e-6)


def test_every_mean_follows_from_stored_rows(asked: Project) -> None:
    """RP-01, GO-04: an analyst gets each figure again in SQL, null values left out."""
    asked.build()
    with duckdb.connect(str(asked.road().lake_root / "warehouse.duckdb"), read_only=True) as connection:
        wrong = connection.execute(
            "SELECT run, metric, value, mean FROM harbour.evaluation JOIN "
            "(SELECT run, metric, avg(value) AS mean, count(value) AS n FROM harbour.evaluation_results "
            " JOIN harbour.evaluation_questions USING (question_id) WHERE answerable AND used GROUP BY ALL) "
            "USING (run, metric) WHERE slice = 'all' AND run <> 'chunks' "
            "AND (abs(value - mean) > 1e-12 OR questions <> n)"
        ).fetchall()
        assert wrong == []
        # A question for which nothing was found counts: its recall is 0.
        recall = connection.execute(
            "SELECT avg(hit) FROM (SELECT q.question_id, "
            "max(CASE WHEN grade = 2 AND rank <= 5 THEN 1.0 ELSE 0.0 END) AS hit "
            "FROM harbour.evaluation_questions q LEFT JOIN harbour.evaluation_rankings r "
            "ON r.question_id = q.question_id AND run = 'bm25' "
            "WHERE q.answerable AND q.question_id <> 'two' GROUP BY ALL)"
        ).fetchone()
        stored = connection.execute(
            "SELECT avg(value) FROM harbour.evaluation_results WHERE run = 'bm25' "
            "AND metric = 'contained_recall@5' AND question_id NOT IN ('two', 'no')"
        ).fetchone()
    assert recall == stored


def test_the_trec_files_tell_the_same(asked: Project) -> None:
    """ME-02: reciprocal rank and nDCG from run and qrels files alone, by trec_eval's code where it is installed."""
    asked.build()
    rows = (
        table(asked, "evaluation_rankings")
        .filter(pl.col("grade").is_not_null())
        .sort("run", "question_id", "rank")
    )
    qrels: dict[str, dict[str, int]] = {}
    for question, chunk, grade in table(asked, "evaluation_judgements").iter_rows():
        qrels.setdefault(question, {})[chunk] = grade
    results = table(asked, "evaluation_results")
    for run in RUNS:
        ranking: dict[str, list[tuple[str, float]]] = {}
        for question, chunk, score in (
            rows.filter(pl.col("run") == run).select("question_id", "chunk_id", "score").iter_rows()
        ):
            ranking.setdefault(question, []).append((chunk, score))
        run_file, qrels_file = read_run(write_run(ranking, run)), read_qrels(write_qrels(qrels))
        stored = dict(
            results.filter((pl.col("run") == run) & (pl.col("metric") == "ndcg@10"))
            .select("question_id", "value")
            .iter_rows()
        )
        for question, judged in qrels_file.items():
            ranked = [chunk for chunk, _ in run_file.get(question, [])]
            assert ndcg(ranked, judged, 10) == pytest.approx(stored[question], abs=1e-9)
        pytrec_eval = pytest.importorskip("pytrec_eval", reason="trec_eval's code is not installed")
        # trec_eval takes grades as gains; ours are 2^grade - 1.
        gains = {q: {c: 2**g - 1 for c, g in judged.items()} for q, judged in qrels_file.items()}
        theirs = pytrec_eval.RelevanceEvaluator(gains, {"ndcg_cut.10"}).evaluate(
            {q: dict(found) for q, found in run_file.items()}
        )
        for question, values in theirs.items():
            assert math.isclose(values["ndcg_cut_10"], stored[question] or 0.0, abs_tol=1e-6)


def test_a_stale_needle_is_left_out_by_name(asked: Project) -> None:
    """GO-01: its text is gone, so it is in no denominator, never a miss; the row says why."""
    asked.build()
    path = asked.source / "ferry.md"
    path.write_text(path.read_text().replace("at seven", "at eight"))
    asked.build()
    questions = table(asked, "evaluation_questions")
    out = {
        row["question_id"]: row["problem"] for row in questions.filter(~pl.col("used")).iter_rows(named=True)
    }
    assert set(out) == {"f-doc", "f-ticket"}
    assert all("missing" in problem for problem in out.values())
    summary = table(asked, "evaluation").filter(
        (pl.col("run") == "rrf") & (pl.col("slice") == "all") & (pl.col("metric") == "rr@10")
    )
    assert summary["questions"].to_list() == [3]


def test_faulty_questions_stop_the_build_by_name(asked: Project) -> None:
    """GO-04, PI-01: every fault by file and line, before anything is written."""
    path = asked.declaration.parent / "questions.jsonl"
    path.write_text(
        path.read_text() + '{"question_id": "f-doc", "question": "twice"}\n{"question": "no id"}\n'
    )
    with pytest.raises(DeclarationError) as caught:
        asked.build()
    assert "questions.jsonl" in str(caught.value) and "f-doc" in str(caught.value)
    assert not asked.road().lake.current().number


def test_one_question_and_all_ties(project: Project) -> None:
    """GO-04, SX-01: degenerate sets give the defined value or null, never a crash."""
    ask(project, QUESTIONS[:1])
    project.build()
    summary = table(project, "evaluation")
    assert summary["low"].null_count() == summary.height
    comparisons = table(project, "evaluation_comparisons")
    assert set(comparisons["verdict"].to_list()) == {"undecided"}
    ask(project, QUESTIONS[-1:])
    project.build()
    assert table(project, "evaluation").filter(pl.col("metric") == "rr@10")["value"].null_count() > 0


def test_the_plan_knows_of_the_questions(asked: Project) -> None:
    """VE-05: rows and texts of the evaluation are planned, as bounds, before anything is computed."""
    built = asked.build()
    assert built.plan is not None
    planned, done = built.plan.stages["evaluation"], built.stages["evaluation"]
    assert planned.upper_bound and planned.new >= done.new == done.rows
    assert built.embedded_texts <= built.plan.texts_to_embed
    assert built.embedded_tokens <= built.plan.tokens_to_embed
    ask(asked, [*QUESTIONS, ("g-doc", "g", "doc", "What wipes the prism?", [("灯.md", "看守每天擦拭棱镜")])])
    again = asked.build()
    assert again.plan is not None
    assert (again.plan.texts_to_embed, again.embedded_texts) == (1, 1)
    assert again.plan.tokens_to_embed == again.embedded_tokens
