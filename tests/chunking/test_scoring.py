"""Batches, retries and failures of scoring (SD-00, SD-15), and what counts as a scorer."""

from __future__ import annotations

import urllib.error
from collections.abc import Sequence
from email.message import Message
from typing import Any

import numpy as np
import pytest

from linkrag_dagster.chunking import Retries, ScoringError, WindowScorer, as_scorer, text_vectors
from linkrag_dagster.tokens import load_tokenizer
from tests.chunking.scripted import Failing, Hashed, Script

CL100K = load_tokenizer("cl100k_base")
TEXTS = [f"text {n}" for n in range(25)]
ANY = {"text": (1.0, 0.0)}


class Status(Exception):
    """As HTTP clients raise them."""

    def __init__(self, status: int) -> None:
        super().__init__(f"HTTP {status}")
        self.status_code = status


class Response:
    status_code = 503


class TimeoutException(Exception): ...


class ReadTimeoutOfClient(TimeoutException): ...


def _with_response() -> Exception:
    error = Exception("bad gateway")
    error.response = Response()  # pyright: ignore[reportAttributeAccessIssue]
    return error


def test_texts_go_in_batches_and_once() -> None:
    """SD-00, SD-17: ten at a time, equal ones once."""
    scorer = Script(ANY)
    made = text_vectors([*TEXTS, *TEXTS], scorer)
    assert [len(call) for call in scorer.calls] == [10, 10, 5]
    assert scorer.asked == TEXTS == list(made)
    assert text_vectors([], scorer) == {}
    assert len(scorer.calls) == 3


@pytest.mark.parametrize(
    "error",
    [
        TimeoutError("slow"),
        ConnectionResetError("gone"),
        Status(429),
        Status(500),
        Status(503),
        urllib.error.HTTPError("http://x", 502, "bad", Message(), None),
        urllib.error.URLError(TimeoutError("slow")),
        ReadTimeoutOfClient("slow"),
        _with_response(),
    ],
    ids=lambda error: f"{type(error).__name__}-{error}",
)
def test_only_the_failing_batch_is_tried_again(error: Exception) -> None:
    """SD-15: two more tries with growing waits; what was scored is not asked again."""
    waits: list[float] = []
    scorer = Failing(ANY, [None, error, error])
    made = text_vectors(TEXTS, scorer, retries=Retries(sleep=waits.append))
    assert len(made) == 25
    assert scorer.calls == [TEXTS[:10], TEXTS[10:20], TEXTS[10:20], TEXTS[10:20], TEXTS[20:]]
    assert waits == [0.5, 1.0]

    scorer = Failing(ANY, [None, error, error, error])
    with pytest.raises(ScoringError, match="texts 11 to 20 of 25 by script failed after 3 tries") as caught:
        text_vectors(TEXTS, scorer, retries=Retries(sleep=waits.append))
    assert caught.value.retryable
    assert caught.value.__cause__ is error
    assert len(scorer.calls) == 4


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_other_client_errors_fail_at_once(status: int) -> None:
    """SD-15: repeating them is of no use."""
    waits: list[float] = []
    scorer = Failing(ANY, [Status(status)])
    with pytest.raises(ScoringError, match="failed at the first try") as caught:
        text_vectors(TEXTS, scorer, retries=Retries(sleep=waits.append))
    assert (caught.value.retryable, len(scorer.calls), waits) == (False, 1, [])


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (np.ones((9, 2)), r"shape \(9, 2\)"),
        (np.ones(10), r"shape \(10,\)"),
        ([[1.0, 2.0]] * 9 + [[1.0]], "no table of numbers"),
        ([[1.0, float("nan")]] * 10, "NaN"),
    ],
)
def test_wrong_answers_fail_at_once(answer: Any, words: str) -> None:
    """SD-15: a wrong number of vectors is a broken promise, not a hiccup."""
    calls: list[int] = []

    def scorer(texts: Sequence[str]) -> Any:
        calls.append(len(texts))
        return answer

    with pytest.raises(ScoringError, match=words) as caught:
        text_vectors(TEXTS[:10], as_scorer(scorer))
    assert (caught.value.retryable, calls) == (False, [10])


def test_vectors_of_another_length_fail() -> None:
    """SD-15: batches of one scorer have one length."""
    with pytest.raises(ScoringError, match=r"\(5, 10\) was asked for"):
        text_vectors(TEXTS[:15], as_scorer(lambda texts: np.ones((len(texts), len(texts)))))  # pyright: ignore


def test_what_no_service_explains_is_the_callers() -> None:
    """SD-15: a fault of the program is neither hidden nor repeated."""
    scorer = Failing(ANY, [KeyError("no such model")])
    with pytest.raises(KeyError):
        text_vectors(TEXTS, scorer)
    assert len(scorer.calls) == 1


def test_what_is_a_scorer() -> None:
    """SD-00: an object that embeds, or a function; nothing else."""
    script = Script(ANY)
    assert as_scorer(script) is script
    made = as_scorer(len)
    assert (made.name, made.fingerprint) == ("len", "builtins.len")
    with pytest.raises(TypeError, match="str is no scorer"):
        as_scorer("all-MiniLM-L6-v2")


def test_long_texts_are_parted_not_cut() -> None:
    """SD-15, EX-05: a scorer with a window sees all words; the vector of a long text is its parts' mean."""
    script = Script({"harbour": (1.0, 0.0), "crane": (0.0, 1.0)})
    long = "The harbour is open. " * 6 + "\n\n" + "The crane lifts stone. " * 6
    made = WindowScorer(script, CL100K, 24).embed(["harbour", long.strip()])
    parts = script.asked[1:]
    assert all(CL100K.count(part) <= 24 for part in parts)
    assert "".join("".join(parts).split()) == "".join(long.split())
    sizes = [CL100K.count(part) for part in parts]
    mean = np.average(Script(script.vectors).embed(parts), axis=0, weights=sizes)
    assert made[0].tolist() == [1.0, 0.0]
    assert made[1] == pytest.approx(mean / np.linalg.norm(mean))
    short = Hashed()
    assert (WindowScorer(short, CL100K, 24).embed(TEXTS) == short.embed(TEXTS)).all()
