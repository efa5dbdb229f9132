"""Contracts of the evaluation's tables: every printed figure can be derived again from these rows (SX-02, RP-01)."""

from __future__ import annotations

import polars as pl

from linkrag_dagster.contracts.columns import Contract, column, count, flag, number, table, text

STAGE = "evaluation"
EVIDENCE = pl.List(
    pl.Struct(
        {
            "group": pl.Int64,
            "doc_id": pl.String,
            "version": pl.String,
            "start_char": pl.Int64,
            "end_char": pl.Int64,
            "text": pl.String,
        }
    )
)


def _summary() -> Contract:
    return table(
        "evaluation",
        STAGE,
        ("run", "slice", "metric"),
        "A metric of one run over a slice of the questions.",
        {
            "run": text("retriever: dense, bm25, rrf; chunks for facts about the chunks alone"),
            "slice": text("which questions: all, or one phrasing, kind or language"),
            "metric": text("the metric; see the reference of metrics"),
            "value": number("mean over the questions, null ones left out; null where none has it", null=True),
            "low": number("lower end of the 95 % interval", null=True),
            "high": number("upper end of the 95 % interval", null=True),
            "interval": text("how the interval was made: wilson or bootstrap, with its clusters", null=True),
            "questions": count("questions in the denominator"),
            "undefined": count("questions of the slice for which the metric is not defined"),
            "needles": count("different needles among them"),
        },
    )


def _questions() -> Contract:
    return table(
        "evaluation_questions",
        STAGE,
        ("question_id",),
        "A question of the corpus's own set, with its gold as it was found in the text.",
        {
            "question_id": text("question"),
            "needle_id": text("the fact that is asked for: phrasings of one needle share it"),
            "phrasing": text("which phrasing of it"),
            "question": text("what is asked"),
            "answerable": flag("whether the corpus holds the answer"),
            "unanswerable_kind": text("why it does not", null=True),
            "used": flag("False: left out of every denominator, see problem"),
            "problem": text("why it is left out", null=True),
            "evidence": column(EVIDENCE, "required spans; those of one group are needed together"),
        },
    )


def _results() -> Contract:
    return table(
        "evaluation_results",
        STAGE,
        ("run", "question_id", "metric"),
        "A metric of one run for one question.",
        {
            "run": text("retriever; chunks for facts about the chunks alone"),
            "question_id": text("question"),
            "metric": text("the metric"),
            "value": number("its value; null where it is not defined for this question", null=True),
        },
    )


def _rankings() -> Contract:
    return table(
        "evaluation_rankings",
        STAGE,
        ("run", "question_id", "rank"),
        "A chunk in the ranking of one run for one question: a line of a TREC run, with its judgement.",
        {
            "run": text("retriever"),
            "question_id": text("question"),
            "rank": count("from 1", least=1),
            "chunk_id": text("chunk"),
            "doc_id": text("its document"),
            "score": number("of the retriever"),
            "cosine_distance": number("between query and chunk", null=True),
            "grade": count(
                "2 holds all evidence alone, 1 at least one span whole, 0 none; null: unanswerable", null=True
            ),
            "tokens": count("tokens that a reader is handed with it"),
        },
    )


def _judgements() -> Contract:
    return table(
        "evaluation_judgements",
        STAGE,
        ("question_id", "chunk_id"),
        "A chunk that holds evidence of a question, retrieved or not: a line of TREC qrels (GO-03).",
        {
            "question_id": text("question"),
            "chunk_id": text("chunk"),
            "grade": count("2 holds all evidence alone, 1 at least one span whole", least=1),
        },
    )


def _comparisons() -> Contract:
    return table(
        "evaluation_comparisons",
        STAGE,
        ("metric", "run_a", "run_b"),
        "Two runs on the same questions: a member of the family that was declared beforehand.",
        {
            "metric": text("the metric"),
            "run_a": text("one run"),
            "run_b": text("the other"),
            "needles": count("needles compared: a needle's phrasings are averaged first"),
            "wins": count("needles where run_a is better"),
            "losses": count("needles where run_b is better"),
            "ties": count("needles where both are equal"),
            "difference": number("mean of run_a minus run_b over needles", null=True),
            "low": number("lower end of its 95 % interval, bootstrap over needles", null=True),
            "high": number("upper end", null=True),
            "low_by_document": number("lower end, bootstrap over documents", null=True),
            "high_by_document": number("upper end", null=True),
            "p_sign": number("two-sided exact sign test over needles"),
            "p_randomisation": number("two-sided sign-flip randomisation of the means", null=True),
            "p_holm": number("p_randomisation, corrected over the family by Holm", null=True),
            "p_bh": number("p_randomisation, corrected by Benjamini and Hochberg", null=True),
            "smallest_detectable": number(
                "true difference that would be found with power 0.8 at level 0.05, over the family", null=True
            ),
            "family": count("comparisons in the family"),
            "verdict": text(
                "what may be claimed of run_a", among=("better", "worse", "indistinguishable", "undecided")
            ),
        },
    )


EVALUATION_CONTRACTS = (_summary(), _questions(), _results(), _rankings(), _judgements(), _comparisons())
