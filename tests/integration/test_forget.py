"""`memlayer forget` through a real daemon.

Not one byte of the memory stays in the home, and nothing brings it back.
"""

import re
import shlex
from pathlib import Path

import pytest

from memlayer.adapters.sqlite_files import EmbeddingCache
from memlayer.cli.verbs.forget import TRANSCRIPT
from memlayer.edge.capture import spool
from memlayer.edge.home import paths
from memlayer.turns.turn import turn_text, unlabelled
from tests.support.processes import HookRunner
from tests.support.told_story import KEPT, MARKS, ROOT, TURNS, Story


def arguments(story: Story, by: str) -> list[str]:
    """Return options that select exactly the turns of session `gone`."""
    if by == "id":
        listed = story.daemon.call("list", session_id="gone", category="conversation")["memories"]
        return ["[mem:%s]" % listed[0]["citation"], listed[1]["key"]]
    return {
        "session": ["--session", "gone"],
        "project": ["--project", str(story.project)],
        "date": ["--before", "2025-01-01", "--all-projects"],
        "query": ["--query", "zephyrine-quokka 두루미칠성반닫이", "--project", str(story.project)],
    }[by]


@pytest.mark.parametrize("by", ["id", "query"])
def test_forgotten_session_never_returns(story: Story, by: str) -> None:
    """The other ways of naming it: the next test."""
    before = story.holds(*MARKS)
    # The marks can be seen where they stand: in the store, and in the text of the next session's start.
    assert {mark for name, mark in before if name.startswith("store/")} == set(MARKS)
    assert any(name.startswith("working_sets/") for name, _ in before)

    story.forget(*arguments(story, by))
    story.assert_gone()

    # From the spool: a crash left files there that are in the store already.
    story.spool_again()
    story.daemon.settle()
    assert story.hook.spooled == []
    story.assert_gone()

    # From the transcript: the session has not ended, and the next one looks for turns that its hooks missed.
    inside = HookRunner(ROOT, story.home, story.project, python=story.hook.python)
    for session, source in (("next", "startup"), ("gone", "resume")):
        done = inside(
            "session_start", session, source=source, transcript_path=str(story.transcript) if session == "gone" else ""
        )
        assert (done.returncode, done.context) == (0, "")
    story.daemon.settle()
    story.assert_gone()

    # From a rebuild, and with another daemon.
    assert story.daemon.call("reindex")["chunks"] >= 1
    story.assert_gone()
    assert story.daemon.stop() == 0
    assert story.holds(*MARKS) == []
    story.spool_again()
    story.daemon.start()
    story.daemon.settle()
    story.assert_gone()


@pytest.mark.parametrize("by", ["session", "project", "date"])
def test_turns_missed_by_hooks_are_forgotten(story: Story, by: str) -> None:
    with story.transcript.open("a") as file:  # the host was killed before its hooks ran
        file.write(story.lines(2, "그리고 두루미칠성반닫이 열쇠는?", "zephyrine-quokka 금고에 있습니다."))
    story.forget(*arguments(story, by))
    inside = HookRunner(ROOT, story.home, story.project, python=story.hook.python)
    assert inside("session_start", "next", source="startup").context == ""
    story.daemon.settle()
    story.assert_gone()


def test_spooled_turns_are_forgotten(story: Story) -> None:
    story.hook.turn("waiting", "w1", "두루미칠성반닫이 는 어디?", "zephyrine-quokka 에.")
    story.forget("--session", "waiting")
    story.forget("--session", "gone")
    story.daemon.settle()
    story.assert_gone()


def test_forget_one_turn_of_many(story: Story) -> None:
    secret = "까마귀쪽나무"
    for number in range(40):
        said = "%d번 서랍에는 %s 열쇠가 있다" % (number, secret if number == 25 else "평범한")
        for event in story.captured(10 + number, said, "네, %d번이요." % number):
            spool.put(str(story.home), event)
    story.daemon.settle()
    [first, *_] = story.daemon.call("search", query=secret)["hits"]
    assert secret in first["snippet"] and story.holds(secret)
    story.forget(first["citation"])
    assert story.holds(secret) == []
    left = story.daemon.call("list", session_id="gone", category="conversation", limit=100)["memories"]
    assert len(left) == 41 and not [memory for memory in left if secret in memory["text"]]
    story.daemon.settle()
    assert story.holds(secret) == []


def test_dry_run_and_refusal_keep_everything(story: Story) -> None:
    assert story.cli("forget", "--session", "gone", "--dry-run").returncode == 0
    assert story.cli("forget", "--session", "gone").returncode != 0  # nobody there who could say yes
    assert story.turns() == 3
    turns = [
        hit for hit in story.daemon.call("search", query="두루미칠성반닫이")["hits"] if hit["key"].startswith("turn_")
    ]
    assert len(turns) == 2


@pytest.mark.parametrize("next_one", ["forget", "gc"])
def test_failed_erasure_finishes_with_next(story: Story, next_one: str) -> None:
    listed = story.daemon.call("list", session_id="gone", category="conversation")["memories"]
    in_the_way = Path(paths.working_sets(str(story.home))) / (listed[0]["project_id"] + ".txt")
    in_the_way.unlink()
    in_the_way.mkdir()
    assert story.cli("forget", "--session", "gone", "--yes").returncode != 0
    assert (story.home / "forgetting.json").exists() and story.holds("두루미칠성반닫이")
    in_the_way.rmdir()
    if next_one == "forget":
        story.hook.turn("other", "o1", "점심은 뭐 먹지?", "김치찌개가 좋겠습니다.")
        story.forget("--session", "other")
    else:
        assert story.cli("doctor", "gc").returncode == 0
    assert not (story.home / "forgetting.json").exists()
    story.assert_gone()


def test_forgotten_vectors_are_erased(tmp_path: Path) -> None:
    story = Story(tmp_path, settings={})
    texts = [unlabelled(turn_text(prompt, [answer])) for prompt, answer in (TURNS[0], KEPT)]
    cached = Path(paths.cache(str(story.home))) / "embeddings.sqlite"
    with story.daemon as daemon:
        story.tell()
        fingerprint = daemon.call("stats")["daemon"]["model"]["fingerprint"]
        cache = EmbeddingCache(cached)
        assert set(cache.get_many(fingerprint, texts)) == set(texts)
        story.forget("--session", "gone")
        story.assert_gone()
        assert daemon.call("reindex")["chunks"] >= 1
        assert set(cache.get_many(fingerprint, texts)) == {texts[1]}
        cache.close()


def test_vectors_outside_index_are_erased(tmp_path: Path) -> None:
    story = Story(tmp_path, settings={})
    prompt = "사무실 경보 암호는 zephyrine-quokka 다. 결제 서비스 배포 때 쓰니 기억해 둬."
    older, newer = "We deploy on Tuesdays at 10:00.", "We deploy on Thursdays at 14:00."
    texts = [unlabelled(turn_text(prompt, [])), older, newer]
    cached = Path(paths.cache(str(story.home))) / "embeddings.sqlite"
    with story.daemon as daemon:
        daemon.wait_for(lambda: daemon.call("stats")["daemon"]["model"]["fingerprint"], "the model")
        fingerprint = daemon.call("stats")["daemon"]["model"]["fingerprint"]
        story.hook("user_prompt_submit", "gone", "p1", prompt=prompt)  # found by itself until its answer comes
        daemon.settle()
        story.hook("stop", "gone", "p1", last_assistant_message="알겠습니다, zephyrine-quokka.")
        for text in (older, newer):
            assert story.cli("remember", text).returncode == 0
            daemon.settle()
        cache = EmbeddingCache(cached)
        assert set(cache.get_many(fingerprint, texts)) == set(texts)
        story.forget("--project", str(story.other))
        assert cache.count() == 0
        cache.close()


def test_the_transcript_is_named_where_there_is_one(story: Story) -> None:
    for text in ("The build takes forty minutes", "커밋 메시지는 한국어로 쓴다"):
        story.cli("remember", text)
        [made] = [row for row in story.daemon.call("list", category="core")["memories"] if row["text"] == text]
        done = story.cli("forget", made["citation"], "--yes").stdout
        assert done.startswith("Forgotten: 1 memory") and TRANSCRIPT not in done
    assert story.transcript.is_file()
    assert TRANSCRIPT in story.cli("forget", "--session", "gone", "--yes").stdout


def test_words_that_are_no_id_are_told_the_way_by_words(story: Story) -> None:
    for typed in (["port"], ["포트", "번호"], ["it's", "8080"], ["a b"]):
        refused = story.cli("forget", *typed)
        named = re.search(r"`memlayer (forget --query .*)` shows", refused.stderr)
        assert refused.returncode == 1 and named is not None
        assert shlex.split(named[1]) == ["forget", "--query", " ".join(typed)]
