"""Secrets and private spans through real hooks and a real daemon.

No byte of them is left in the home.
"""

from pathlib import Path

import pytest

from tests.support.corpus import (
    TELLS_ALL,
    batches,
    found_in_bytes,
    left_in_home,
    needles,
    secrets,
    texts_in_store,
    transcript,
)
from tests.support.processes import Daemon, HookRunner
from tests.support.tables import tables

TABLES = tables("hostile/nothing_left_on_disk")

ROOT = Path(__file__).resolve().parents[2]
PER_PROMPT = 20


def settled(daemon: Daemon) -> None:
    daemon.settle()
    daemon.stop()


@pytest.mark.timeout(120)
def test_corpus_secrets_are_not_stored(hook: HookRunner, home: Path, tmp_path: Path) -> None:
    """Takes long: a hook process for each part of the corpus."""
    corpus = secrets()
    wanted = needles(corpus)
    assert len(wanted) > 500
    prompts = batches(corpus, PER_PROMPT)
    third = len(prompts) // 3
    # One third without a daemon, by the hooks themselves; they stay in the spool, where they are looked for first.
    for i, prompt in enumerate(prompts[:third]):
        hook.turn("alone", "pa%d" % i, "로그 봐줘:\n" + prompt, "Here it is again: " + prompt)
    assert len(hook.spooled) == 2 * third
    assert found_in_bytes(home, wanted) == []
    # One third with a live daemon.
    with Daemon(ROOT, home) as daemon:
        for i, prompt in enumerate(prompts[third : 2 * third]):
            hook.turn("served", "ps%d" % i, prompt, "I ran it and got:\n" + prompt)
        # All of it in a transcript whose hooks never ran, tool calls and results as well.
        path = tmp_path / "missed.jsonl"
        path.write_text(transcript("missed", str(hook.project), prompts), "utf-8")
        for name, fields in (("session_start", {"source": "startup"}), ("session_end", {"reason": "other"})):
            assert hook(name, "missed", transcript_path=str(path), **fields).returncode == 0
        daemon.wait_for(lambda: daemon.call("stats")["events"] > 4 * third + len(prompts), "catching up")
        # Looked for as well: a question must not stand in a log.
        daemon.call("search", query=corpus[0]["text"], project_dir=str(hook.project))
        daemon.call("recall", prompt=corpus[1]["text"], project_dir=str(hook.project))
        hook("user_prompt_submit", "reader", "q1", prompt="what was " + corpus[2]["text"] + " about?")
        settled(daemon)
    assert left_in_home(home, wanted) == []
    kept = "\n".join(texts_in_store(home))
    assert kept.count("[redacted:") >= 2 * len(corpus)
    assert "You said: " in kept and "로그 봐줘" in kept


PRIVATE = TABLES["private"]
UNCLOSED = TABLES["unclosed"]


@pytest.mark.parametrize("served", [True, False], ids=["daemon", "hook alone"])
def test_private_spans_are_never_stored(hook: HookRunner, home: Path, served: bool) -> None:
    daemon = Daemon(ROOT, home, settings=TELLS_ALL)
    if served:
        daemon.start()
    said = [
        form.format("평문앞%d" % i, "zqxjkv은밀%d" % i, "평문뒤%d" % i) for i, form in enumerate(PRIVATE + UNCLOSED)
    ]
    closed = len(PRIVATE)
    texts = ["\n\n".join(said[at : min(at + 4, closed)]) for at in range(0, closed, 4)] + said[closed:]
    for i, text in enumerate(texts):
        hook.turn("s1", "p%d" % i, text, "답: " + text)
    # A span begun in one message and closed in the next: the first is private to its end, the second has no opener,
    # and the text before its stray end tag was visibly not private.
    hook.turn("s1", "px", "시작 <private>zqxjkv은밀", "ok")
    hook.turn("s1", "py", "</private> 평문끝", "ok")
    if not served:
        assert found_in_bytes(home, [b"zqxjkv", "은밀".encode()]) == []
        daemon.start()
    daemon.settle()
    shown = hook("user_prompt_submit", "s2", "r1", prompt="평문앞3 평문뒤3 그게 뭐였지?").context
    assert "zqxjkv" not in shown and "은밀" not in shown
    assert "평문앞" in shown
    start = hook("session_start", "s3", source="startup").context
    assert "은밀" not in start
    found = daemon.call("search", query="평문앞3 비밀", project_dir=str(hook.project))
    assert "은밀" not in str(found)
    settled(daemon)
    assert left_in_home(home, {b"zqxjkv": "", "은밀".encode(): ""}) == []
    kept = "\n".join(texts_in_store(home))
    for i in range(len(PRIVATE)):
        assert "평문앞%d" % i in kept and "평문뒤%d" % i in kept
    assert "평문끝" in kept


def test_private_transcript_spans_stay_private(hook: HookRunner, home: Path, tmp_path: Path) -> None:
    path = tmp_path / "missed.jsonl"
    texts = [form.format("평문앞", "zqxjkv은밀", "평문뒤") for form in PRIVATE + UNCLOSED]
    path.write_text(transcript("missed", str(hook.project), texts), "utf-8")
    with Daemon(ROOT, home) as daemon:
        hook("session_start", "missed", transcript_path=str(path), source="startup")
        hook("session_end", "missed", transcript_path=str(path), reason="other")
        daemon.wait_for(lambda: daemon.call("stats")["events"] > len(texts), "catching up")
        settled(daemon)
    assert left_in_home(home, {b"zqxjkv": "", "은밀".encode(): ""}) == []
    assert "평문앞" in "\n".join(texts_in_store(home))


def test_byte_search_finds_needles(hook: HookRunner, home: Path) -> None:
    """The tests above can fail.

    A text that nothing hides is found, in the spool's bytes and in the tables.
    """
    hook.turn("s1", "p1", "눈에 띄는 말 qzvisible", "네")
    assert found_in_bytes(home, [b"qzvisible"])
    with Daemon(ROOT, home) as daemon:
        settled(daemon)
    assert any("qzvisible" in text for text in texts_in_store(home))
    assert left_in_home(home, {b"qzvisible": ""})
