"""Two builds at once, locks of the dead, and interruptions (FA-04, EM-06)."""

from __future__ import annotations

import json
import signal
import threading
from pathlib import Path

import pytest

from linkrag_dagster.embedding.embed_missing import BLOCK_TEXTS
from linkrag_dagster.lake.lock import LockHeld
from tests.crash.conftest import Prepared
from tests.crash.small_corpus import DIMENSIONS, HashEncoder, SmallCorpus, StoppedBuild, contents
from tests.end_to_end.conftest import Shell


def test_a_second_writer_waits_or_is_told_who_writes(prepared: Prepared, changed: SmallCorpus) -> None:
    """FA-04: without patience the holder's process is named; with it the second build begins when the first ends."""
    first = StoppedBuild(changed.root, "manifest.begin")
    with pytest.raises(LockHeld, match=rf"{changed.lake().corpus}.*process {first.process.pid} .*--wait"):
        changed.build()
    results: list[int] = []
    second = threading.Thread(target=lambda: results.append(changed.build(wait=120).generation))
    second.start()
    assert first.go_on() == 0
    second.join()
    assert results == [2]
    assert contents(changed.lake()) == prepared.new
    assert changed.encoder.texts == 0


def test_the_lock_of_a_dead_process_holds_nobody_up(prepared: Prepared, changed: SmallCorpus) -> None:
    """FA-04: a waiting build takes over from a killed one; what the lock file still says is of no matter."""
    first = StoppedBuild(changed.root, "manifest.begin")
    results: list[int] = []
    waiting = threading.Thread(target=lambda: results.append(changed.build(wait=120).generation))
    waiting.start()
    first.kill()
    waiting.join()
    assert results == [2]
    assert contents(changed.lake()) == prepared.new


def many_texts(corpus: SmallCorpus, blocks: int) -> None:
    """Documents with a little more texts than fill some blocks."""
    for number in range(blocks * BLOCK_TEXTS + 20):
        corpus.write(f"day-{number}.md", f"# Day {number}\n\nShip {number} came in.\n")


def test_an_interruption_costs_one_block_at_most(tmp_path: Path) -> None:
    """EM-06: Ctrl-C while the second block is embedded; the first is not embedded again."""
    corpus = SmallCorpus(tmp_path / "project")
    many_texts(corpus, 1)

    def break_off(texts: int) -> None:
        if texts >= BLOCK_TEXTS:
            raise KeyboardInterrupt

    corpus.encoder = HashEncoder(break_off)
    with pytest.raises(KeyboardInterrupt):
        corpus.build()
    assert corpus.lake().current().number == 0
    corpus.encoder = HashEncoder()
    assert corpus.build().generation == 1
    assert corpus.encoder.texts == 20
    assert len(contents(corpus.lake())["embeddings"]) == BLOCK_TEXTS + 20
    vectors = corpus.lake().read(corpus.lake().current(), "embeddings", dimensions=DIMENSIONS)["vector"]
    assert vectors.null_count() == 0


@pytest.mark.slow
def test_ctrl_c_in_the_command(tmp_path: Path) -> None:
    """FA-04, EM-06: exit 130 and a word; the next build goes on, with at most one block embedded again."""
    texts = 2 * BLOCK_TEXTS + 20
    shell = Shell(tmp_path)
    (shell.folder / "docs").mkdir()
    for number in range(texts):
        (shell.folder / "docs" / f"{number}.md").write_text(f"# Day {number}\n\nShip {number} came in.\n")
    shell.linkrag("init", "mine", "--source", "docs")
    process = shell.start("build", "mine", "--json")
    assert process.stderr is not None
    done = 0
    for line in process.stderr:
        if "texts" in line:
            done = int(line.split("embeddings: ")[1].split("/")[0].replace(",", ""))
        if done > BLOCK_TEXTS:
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130 and "corpora" not in out
    assert "interrupted" in err and "build again" in err
    again = shell.linkrag("build", "mine", "--json")
    assert again.code == 0, again.err
    assert texts - done <= again.json["embedded_texts"] + BLOCK_TEXTS
    assert again.json["embedded_texts"] <= texts - BLOCK_TEXTS
    assert shell.linkrag("plan", "mine").code == 0


@pytest.mark.slow
def test_the_command_waits_for_another(prepared: Prepared, changed: SmallCorpus) -> None:
    """FA-04: exit 3 with the holder's name; with `--wait` the build begins when the other has ended."""
    first = StoppedBuild(changed.root, "manifest.begin")
    shell = Shell(changed.root)
    refused = shell.linkrag("build", "--lake", "lake", "--json")
    assert refused.code == 3
    assert f"process {first.process.pid} " in refused.err and "--wait" in refused.err
    patient = shell.start("build", "--lake", "lake", "--json", "--wait", "120")
    assert first.go_on() == 0
    out, err = patient.communicate(timeout=300)
    assert patient.returncode == 0, err
    assert json.loads(out)["corpora"]["harbour"]["generation"] == 2
    assert json.loads(out)["embedded_texts"] == 0
    assert contents(changed.lake()) == prepared.new
