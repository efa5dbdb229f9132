"""Gold: questions with the evidence that answers them, read, located and checked (GO-01, GO-02, GO-04)."""

from linkrag_dagster.evaluation.gold.check import CheckedGold, GoldCounts, check_gold, check_tables
from linkrag_dagster.evaluation.gold.chroma import read_chroma
from linkrag_dagster.evaluation.gold.corpus import CorpusDocument, GoldCorpus, Place, corpus_from_tables
from linkrag_dagster.evaluation.gold.errors import GoldError, GoldFault
from linkrag_dagster.evaluation.gold.files import GoldFile, gold_file, read_gold_files
from linkrag_dagster.evaluation.gold.findings import Finding, LeftOut
from linkrag_dagster.evaluation.gold.own import read_own
from linkrag_dagster.evaluation.gold.phrasing import shared_content_words
from linkrag_dagster.evaluation.gold.qrels import read_judged_set, read_qrels
from linkrag_dagster.evaluation.gold.records import (
    GoldDocument,
    GoldSet,
    Needle,
    OwnQuestion,
    Qrel,
    ReferenceSegmentation,
)
from linkrag_dagster.evaluation.gold.span_set import read_span_set

__all__ = [
    "CheckedGold",
    "CorpusDocument",
    "Finding",
    "GoldCorpus",
    "GoldCounts",
    "GoldDocument",
    "GoldError",
    "GoldFault",
    "GoldFile",
    "GoldSet",
    "LeftOut",
    "Needle",
    "OwnQuestion",
    "Place",
    "Qrel",
    "ReferenceSegmentation",
    "check_gold",
    "check_tables",
    "corpus_from_tables",
    "gold_file",
    "read_chroma",
    "read_gold_files",
    "read_judged_set",
    "read_own",
    "read_qrels",
    "read_span_set",
    "shared_content_words",
]
