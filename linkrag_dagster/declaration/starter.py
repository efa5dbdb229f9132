"""The text of a first `defs.yaml`: every key with what it means, valid, ready to build."""

from __future__ import annotations

import os
import re
from pathlib import Path

_TEMPLATE = """\
# A corpus: its documents, and how they are cut, embedded, indexed and measured.
# Every key but source.path has a default (the one written here). Paths are relative to this file.
# `linkrag plan` tells what a change would rebuild, `linkrag build` rebuilds that and no more.
type: linkrag_dagster.Corpus
attributes:
  source:
    path: @PATH@
    include: ["**/*"]             # patterns of files that belong to the corpus
    exclude: []                   # patterns of files that do not, as "drafts/**"
  extraction:
    max_bytes: 10485760           # larger files fail, alone and by name
    seconds: 300                  # so do documents that take longer
    seconds_per_scan: 10          # (this is added for each page with pictures of text),
    memory_mb: 4096               # or more memory
    workers: null                 # processes that read documents at once; null: one a core
    ocr:                          # scans and pictures of text, with the extra "ocr": pip install "linkrag-dagster[ocr]"
      enabled: true
      mark_below: 0.8             # mean confidence of a page below which it is marked as doubtful,
      leave_out_below: 0.5        # and below which it, or a line, stays out of the text
  chunking:
    strategy: pack                # pack: bounded and lossless; semantic_depth_window: the same, cut where the subject
                                  # changes (embeds long sections' parts); noop: by structure alone, unbounded
    tokenizer: encoder            # whose tokens are counted: encoder, cl100k_base, o200k_base, path of a tokenizer.json
    min_candidate_tokens: null    # null: half of max_tokens; a heading ends a chunk of at least this size
    max_tokens: null              # null: hard_max_tokens; longer chunks are cut
    hard_max_tokens: null         # null: what the encoder's window leaves (222 for all-MiniLM-L6-v2); none is longer
    header: true                  # title and headings stand before each chunk in the index, never in quotes
    foreign_title: drop           # a title in another script than the text's, of whose words it has none: drop, keep
    overlap_tokens: 0             # neighbouring text around each chunk in the index, a side, at most 64
    protected_overlap: false      # do chunks with code, math, images or tables give and take it
    adjacent_context_tokens: 64   # text around an image or a table, a side
    adjacent_context: section     # section: stays in its section; physical: may cross it
    oversize: split               # one code block or table above hard_max_tokens: split, truncate
    overflow: split               # a chunk above the encoder's window: split; vectors: kept whole, the nearest of its
                                  # windows counts; pool: kept whole, their mean counts; error
    index_front_matter: false     # is front matter searched
    scorer: encoder               # semantic_depth_window alone: the model that compares texts; encoder: the index's
    scorer_batch: 10              # texts it is given at a time
    scorer_retries: 2             # further tries of a batch after a time-out, a broken connection, 429 or 5xx
    scorer_backoff: 0.5           # seconds before the second try, then doubled
    cohesion_window_tokens: 128   # text that is compared on each side of a possible cut
    window_weighting: equal       # equal, tokens: how the parts of that text count
    max_gap_distance: null        # longest run of code or the like, in tokens, that a valley may span; null: any
    smoothing: none               # none, or mean(s, n) as "mean(2, 1)"
    size: null                    # from here to language: strategies for comparison alone, an error with any other.
                                  # fixed, recursive, document_aware, header, ablation_*: of a piece; null: max_tokens
    overlap: null                 # fixed, recursive, document_aware, ablation_*: shared with the piece before
    unit: null                    # fixed, recursive, document_aware: what size counts: chars, tokens
    target: null                  # header, ablation_*: characters of a chunk
    compat: null                  # header: with the faults of its model
    percentile: null              # percentile: cut where sentences are farther apart than this; null: 90
    derived: null                 # all of them: true: images and tables have chunks of their own, too
    language: null                # document_aware: of source code; null: looked for
  embedding:
    model: all-MiniLM-L6-v2       # an installed model's name, or a model's folder
    dtype: float32
    activate: auto                # auto: a new model answers once its index is whole; manual: by `linkrag activate`
  lexical:
    analyzer: default             # default, reference
    k1: 1.2                       # how slowly a term's repetitions stop to count
    b: 0.75                       # how much length counts, 0 to 1
    field: text                   # text: with header; content: the chunk's own words
  retrieval:
    cut: null                     # cosine distance above which there is no answer; `linkrag evaluate` proposes one
    k: 4                          # citations of an answer
    fusion: zscore                # what `hybrid` fuses: zscore (standardised scores), rrf (ranks)
  evaluation:
    questions: []                 # files of gold questions, as "questions.jsonl"
  schedule: null                  # cron, as "0 2 * * *"; null: rebuilt on change alone
  limits:
    failed_documents: 0.2         # above this share of failed documents nothing is committed
    generations: 3                # kept by `linkrag gc` beside the current one, for roll-back
  contracts:
    warn: []                      # rules, as EX-03: documents that break them are told of, not left out
  lake: null                      # folder or URL of the lake; null: data/lake under the project's root
"""


def starter(name: str, source: Path, root: Path | None = None) -> str:
    """The text of `assets/<name>/defs.yaml` under `root` (default: the working directory).

    Args:
        name: the corpus, see `check_name`.
        source: the folder of its documents; a relative one is relative to the working directory. Written relative to
            the declaration where it lies in the project or beside it, else absolute, so that moving the project does
            not silently point elsewhere.
        root: the folder that holds, or will hold, `assets/`.
    """
    home = Path(os.path.realpath((root or Path.cwd()) / "assets" / name))
    place = Path(os.path.realpath(source))
    project = home.parent.parent
    near = place.is_relative_to(project) or (
        project.parent != project.parent.parent and place.is_relative_to(project.parent)
    )
    return _TEMPLATE.replace(
        "@PATH@", _quoted(Path(os.path.relpath(place, home)).as_posix() if near else str(place))
    )


def _quoted(text: str) -> str:
    """A YAML scalar that reads back as `text`: plain where that is surely safe, else in double quotes."""
    if re.fullmatch(r"(?:\.\./)+[A-Za-z][\w/-]*", text, re.ASCII):
        return text
    return '"' + "".join(_escaped(character) for character in text) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08x}"
