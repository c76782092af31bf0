"""Many sessions at once, and turns of extreme size.

Nothing is lost, doubled or misplaced; memory and time are bounded. MEMLAYER_TORTURE=1 takes the long forms: 16 sessions
of 200 turns, a transcript of 500 MB. The soak is bench/soak.py.
"""

import json
import os
import shutil
import threading
import time
from pathlib import Path

import pytest

from memlayer.edge import HOOKS
from memlayer.edge.capture import spool
from memlayer.edge.capture.payload import MAX_EVENT_CHARS, spool_event
from memlayer.edge.home import paths
from tests.support.crowd import Crowd, gauge, turn_texts
from tests.support.witness import Witness

LONG = bool(os.environ.get("MEMLAYER_TORTURE"))
SESSIONS, TURNS = (16, 200) if LONG else (8, 10)
TINY = 10_000 if LONG else 800
TRANSCRIPT_BYTES = 500_000_000 if LONG else 30_000_000
MAX_VERSIONS = 130
MB = 1_000_000
# Above the daemon's usual memory.
EXTRA_BYTES = 250 * MB


@pytest.mark.timeout(1200 if LONG else 120)
def test_many_sessions_in_four_projects(witness: Witness, tmp_path: Path) -> None:
    places = [tmp_path / ("저장소 %d" % number) / "same name" for number in range(4)]
    for place in places:
        place.mkdir(parents=True)
    crowd = Crowd(witness, places, SESSIONS, TURNS)
    most = 0
    running = threading.Thread(target=crowd.run)
    running.start()
    while running.is_alive():
        running.join(1.0)
        found = gauge(witness, crowd)
        most = max(most, found.versions if found is not None else 0)
    assert crowd.errors == []
    assert most <= MAX_VERSIONS  # even while there is never a moment without work
    witness.settle_and_stop()
    verdict = witness.verdict()
    assert verdict.faults() == {}
    assert len(witness.acknowledged) == verdict.stored == SESSIONS * TURNS * 2


@pytest.mark.timeout(180)
def test_long_session_compacts_versions(witness: Witness, project: Path) -> None:
    """Old versions are dropped at the end of a session.

    Each turn is a few commits; this session does not end.
    """
    client = witness.client
    for number in range(75):
        asked, answer = turn_texts("s1", number)
        witness.call("user_prompt_submit", project, "s1", "p%d" % number, asked)
        witness.call("stop", project, "s1", "p%d" % number, answer)
        client.call("list", {"limit": 1})  # whoever asks has the turn taken in
    found = gauge(witness, Crowd(witness, [project], 0, 0))
    assert found is not None and found.versions <= 64


@pytest.mark.timeout(180)
def test_five_megabytes_of_prompt_and_answer(witness: Witness, project: Path) -> None:
    witness.call("session_start", project, "s0")
    witness.client.call("flush", {"wait": True}, deadline_s=60)
    before = gauge(witness, Crowd(witness, [project], 0, 0))
    assert before is not None
    words = "재시도는 세 번 the queue is next "
    text = (words * (5 * MB // len(words.encode()) + 1))[: 5 * MB]
    for number, (stem, session) in enumerate((("user_prompt_submit", "s1"), ("stop", "s1"))):
        called = witness.call(stem, project, session, "p1", "%d %s" % (number, text))
        # The bound of a hook: it may have to redact those 5 MB by itself, after its deadline.
        assert called.took_s < HOOKS[stem].wait_s + 3.0
    witness.client.call("flush", {"wait": True}, deadline_s=120)
    after = gauge(witness, Crowd(witness, [project], 0, 0))
    assert after is not None and after.rss_bytes < before.rss_bytes + EXTRA_BYTES
    events = witness.client.call("stats", {})["events"]
    assert events == 3
    (memory,) = witness.client.call("list", {"limit": 5, "category": "conversation"})["memories"]
    assert len(memory["text"]) <= MAX_EVENT_CHARS * 2 + 100


@pytest.mark.timeout(600)
def test_spool_of_thousands(witness: Witness, project: Path) -> None:
    """The spool after days without a runtime.

    It is taken in in batches, while hooks are still answered in time.
    """
    folder = Path(paths.make_folder(paths.spool(str(witness.home))))
    now_ms = int(time.time() * 1000) - 86_400_000
    for number in range(TINY // 2):
        session = "old%d" % (number % 40)
        for kind, text, offset in zip(("user", "assistant"), turn_texts(session, number), (0, 1), strict=True):
            event = spool_event(
                kind=kind, session_id=session, prompt_id="p%d" % number, text=text,
                at_ms=now_ms + 2 * number + offset, project_dir=str(project),
            )  # fmt: skip
            (folder / ("%013d-%s.json" % (event["at_ms"], event["id"]))).write_text(json.dumps(event))
            witness.told[(session, "p%d" % number, kind)] = text
            witness.acknowledged.add((session, "p%d" % number, kind))
    slow = []
    for number in range(12):
        called = witness.call("user_prompt_submit", project, "s1", "new%d" % number, "지금은 어때? %d" % number)
        slow.append(called.took_s)
        time.sleep(0.2)
    slow.sort()
    assert slow[len(slow) // 2] < HOOKS["user_prompt_submit"].wait_s + 0.15
    witness.client.call("flush", {"wait": True}, deadline_s=500)
    found = gauge(witness, Crowd(witness, [project], 0, 0))
    assert found is not None and found.rss_bytes < 600 * MB
    witness.settle_and_stop()
    verdict = witness.verdict()
    assert verdict.faults() == {}
    assert verdict.stored == TINY + 12


@pytest.mark.timeout(900 if LONG else 120)
def test_huge_transcript_stays_bounded(witness: Witness, project: Path, tmp_path: Path) -> None:
    """The transcript is read line by line.

    The daemon takes from it the turns that a hook missed, and stays its size.
    """
    path = tmp_path / "transcript.jsonl"
    written = 0
    bulky = "0123456789abcdef" * 6_000  # tool output, as in the host's own files
    with path.open("w") as file:
        number = 0
        while written < TRANSCRIPT_BYTES:
            for kind in ("user", "assistant"):
                content: object = [{"type": "tool_result", "tool_use_id": "t", "content": bulky}]
                if kind == "assistant":
                    content = [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": bulky[:100]}}]
                written += file.write(record(kind, number, content))
            number += 1
        file.write(record("user", number, "어느 큐에 넣기로 했지?"))
        file.write(record("assistant", number, [{"type": "text", "text": "the dead-letter queue"}]))
    witness.call("session_start", project, "other")
    witness.client.call("flush", {"wait": True}, deadline_s=60)
    before = gauge(witness, Crowd(witness, [project], 0, 0))
    assert before is not None
    event = spool_event(
        kind="session_start", session_id="s1", prompt_id="", text="", at_ms=1, extra="startup", detail="startup",
        project_dir=str(project), transcript_path=str(path),
    )  # fmt: skip
    spool.put(str(witness.home), event)
    witness.client.call("flush", {"wait": True}, deadline_s=800)
    peak = int(dict(
        line.split(":", 1) for line in Path("/proc/%d/status" % before.pid).read_text().splitlines() if ":" in line
    )["VmHWM"].split()[0]) * 1024  # fmt: skip
    print("\n%d MB of transcript, peak memory %d MB, before %d MB" % (
        written // MB, peak // MB, before.rss_bytes // MB))  # fmt: skip
    assert peak < before.rss_bytes + EXTRA_BYTES
    found = [memory["text"] for memory in witness.client.call("list", {"limit": 50})["memories"]]
    assert any("the dead-letter queue" in text for text in found)


def record(kind: str, number: int, content: object) -> str:
    """A line of a transcript."""
    return json.dumps(
        {
            "type": kind, "uuid": "%s-%d" % (kind, number), "sessionId": "s1", "promptId": "p%d" % number,
            "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/", "isSidechain": False,
            "message": {"role": kind, "content": content},
        },
        ensure_ascii=False,
    ) + "\n"  # fmt: skip


@pytest.mark.skipif(shutil.which("prlimit") is None, reason="prlimit limits the memory; it is not installed")
def test_hook_under_memory_limit(witness: Witness, project: Path) -> None:
    """Even a hook that runs out of memory leaves the host alone."""
    wrap = ("prlimit", "--as=%d" % (60 * MB))
    called = witness.call("user_prompt_submit", project, "s1", "p1", "가" * (12 * MB), wrap=wrap)
    assert (called.returncode, witness.failures) == (0, [])
    assert "MemoryError" in (witness.home / "logs" / "hook.log").read_text()
