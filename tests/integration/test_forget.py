"""`memlayer forget` through a real daemon: not one byte of it stays in the home, and nothing brings it back."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from memlayer.adapters.embedding_cache import EmbeddingCache
from memlayer.core.payload import read_payload
from memlayer.core.turn import turn_text, unlabelled
from memlayer.wire import paths, spool
from tests.cli_process import Cli
from tests.processes import Daemon, HookRunner

ROOT = Path(__file__).resolve().parent.parent.parent
OLD_MS = 1_710_000_000_000  # March 2024
# Whoever looks for them finds them: whole, as words, and as the syllable pairs that an index is made of.
MARKS = ("zephyrine-quokka", "두루미칠성반닫이", "zephyrine", "quokka", "두루미", "반닫이")
TURNS = [
    ("zephyrine-quokka 서버 비밀 이름은 두루미칠성반닫이 로 하자", "네, 두루미칠성반닫이 는 zephyrine-quokka 에."),
    ("What else lives on zephyrine-quokka?", "두루미칠성반닫이 와 그 백업이 zephyrine-quokka 에 있습니다. " * 120),
]  # fmt: skip
KEPT = ("배포는 언제 하지?", "배포는 매주 화요일 오전에 합니다.")


class Story:
    """A home whose session `gone` told TURNS long ago in one project, and whose session `kept` told KEPT in another."""

    def __init__(self, base: Path, settings: dict[str, object] | None = None) -> None:
        self.home = base / "집 home"
        self.project, self.other = base / "secret 프로젝트", base / "other"
        for folder in (self.project, self.other):
            folder.mkdir()
        self.transcript = base / "gone.jsonl"
        self.transcript.write_text("".join(self.lines(number, *turn) for number, turn in enumerate(TURNS)))
        self.hook = HookRunner(ROOT, self.home, self.other, python=getattr(sys, "_base_executable", sys.executable))
        self.hook.forbid_background()
        self.events = [event for number, turn in enumerate(TURNS) for event in self.captured(number, *turn)]
        self.daemon = Daemon(ROOT, self.home, settings)
        self.cli = Cli(self.home, self.other)

    def lines(self, number: int, prompt: str, answer: str) -> str:
        """A turn as the host writes it to the transcript of `gone`."""
        out = ""
        for kind, text, after_ms in (("user", prompt, 0), ("assistant", answer, 500)):
            at_s = (OLD_MS + number * 60_000 + after_ms) / 1000
            record = {
                "type": kind, "uuid": "%s%d" % (kind, number), "sessionId": "gone", "cwd": str(self.project),
                "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at_s)) + ".%03dZ" % (after_ms % 1000),
                "message": {"role": kind, "id": "m%d" % number, "content": [{"type": "text", "text": text}]},
                **({"promptId": "p%d" % number} if kind == "user" else {}),
            }  # fmt: skip
            out += json.dumps(record, ensure_ascii=False) + "\n"
        return out

    def captured(self, number: int, prompt: str, answer: str) -> Iterator[dict[str, object]]:
        """The events that a turn's hooks spooled."""
        for name, said in (("user_prompt_submit", {"prompt": prompt}), ("stop", {"last_assistant_message": answer})):
            payload = {
                "session_id": "gone",
                "prompt_id": "p%d" % number,
                "transcript_path": str(self.transcript),
                **said,
            }
            found = read_payload(
                name, json.dumps(payload).encode(), project_dir=str(self.project), at_ms=OLD_MS + number * 60_000
            )
            assert found.event is not None
            yield found.event

    def spool_again(self) -> None:
        for event in self.events:
            spool.put(str(self.home), event)

    def tell(self) -> None:
        """Everything is told and in the store."""
        self.spool_again()
        self.hook.turn("kept", "k1", *KEPT)
        self.daemon.settle()
        assert self.daemon.call("stats")["memories"] == 3

    def holds(self, *marks: str) -> list[tuple[str, str]]:
        """(file under the home, mark) wherever one of the marks still stands."""
        found = []
        for path in [path for path in self.home.rglob("*") if path.is_file()]:
            try:
                data = path.read_bytes()
            except FileNotFoundError:  # the daemon compacts meanwhile
                continue
            encoded = {mark: (mark.encode(), mark.encode("utf-16-le")) for mark in marks}
            found += [
                (path.relative_to(self.home).as_posix(), mark)
                for mark, ways in encoded.items()
                if any(way in data for way in ways)
            ]
        return found

    def forget(self, *arguments: str) -> None:
        done = self.cli("forget", *arguments, "--yes")
        assert done.returncode == 0, done.stderr

    def assert_gone(self, memories: int = 1) -> None:
        """Nothing of `gone` is left, and `kept` is."""
        assert self.holds(*MARKS) == []
        found = self.daemon.call("search", query="zephyrine-quokka 두루미칠성반닫이 서버")["hits"]
        assert not [hit for hit in found if hit["session_id"] != "kept"]
        assert self.daemon.call("stats")["memories"] == memories
        [hit] = self.daemon.call("search", query="배포는 화요일", project_dir=str(self.other))["hits"]
        assert "화요일" in hit["snippet"]


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    made = Story(tmp_path)
    with made.daemon:
        made.tell()
        yield made


def arguments(story: Story, by: str) -> list[str]:
    """What selects everything that `gone` told, and nothing else."""
    if by == "id":
        listed = story.daemon.call("list", session_id="gone")["memories"]
        return ["[mem:%s]" % listed[0]["citation"], listed[1]["key"]]
    return {
        "session": ["--session", "gone"],
        "project": ["--project", str(story.project)],
        "date": ["--before", "2025-01-01"],
        "query": ["--query", "zephyrine-quokka 두루미칠성반닫이", "--project", str(story.project)],
    }[by]


@pytest.mark.parametrize("by", ["id", "session", "project", "date", "query"])
def test_nothing_stays_and_nothing_comes_back(story: Story, by: str) -> None:
    before = story.holds(*MARKS)
    # The marks can be seen where they stand: in the store, and in what the next session starts with.
    assert {mark for name, mark in before if name.startswith("store/")} == set(MARKS)
    assert any(name.startswith("working_sets/") for name, _ in before)

    story.forget(*arguments(story, by))
    story.assert_gone()

    # From the spool: a crash left files there that are in the store already.
    story.spool_again()
    story.daemon.settle()
    assert story.hook.spooled == []
    story.assert_gone()

    # From the transcript: the session has not ended, and the next one looks for what its hooks missed.
    inside = HookRunner(ROOT, story.home, story.project, python=story.hook.python)
    for session, source in (("next", "startup"), ("gone", "resume")):
        done = inside(
            "session_start", session, source=source, transcript_path=str(story.transcript) if session == "gone" else ""
        )
        assert (done.returncode, done.context) == (0, "")
    story.daemon.settle()
    story.assert_gone()

    # From a rebuild, and with another daemon.
    assert story.daemon.call("reindex")["chunks"] == 1
    story.assert_gone()
    assert story.daemon.stop() == 0
    assert story.holds(*MARKS) == []
    story.spool_again()
    story.daemon.start()
    story.daemon.settle()
    story.assert_gone()


@pytest.mark.parametrize("by", ["session", "project", "date"])
def test_what_the_hooks_missed_is_forgotten_too(story: Story, by: str) -> None:
    with story.transcript.open("a") as file:  # the host was killed before its hooks ran
        file.write(story.lines(2, "그리고 두루미칠성반닫이 열쇠는?", "zephyrine-quokka 금고에 있습니다."))
    story.forget(*arguments(story, by))
    inside = HookRunner(ROOT, story.home, story.project, python=story.hook.python)
    assert inside("session_start", "next", source="startup").context == ""
    story.daemon.settle()
    story.assert_gone()


def test_what_still_waits_in_the_spool_is_forgotten_too(story: Story) -> None:
    story.hook.turn("waiting", "w1", "두루미칠성반닫이 는 어디?", "zephyrine-quokka 에.")
    story.forget("--session", "waiting")
    story.forget("--session", "gone")
    story.daemon.settle()
    story.assert_gone()


def test_one_turn_among_many_that_were_written_with_it(story: Story) -> None:
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
    left = story.daemon.call("list", session_id="gone", limit=100)["memories"]
    assert len(left) == 41 and not [memory for memory in left if secret in memory["text"]]
    story.daemon.settle()
    assert story.holds(secret) == []


def test_a_dry_run_and_a_no_forget_nothing(story: Story) -> None:
    assert story.cli("forget", "--session", "gone", "--dry-run").returncode == 0
    assert story.cli("forget", "--session", "gone").returncode != 0  # nobody there who could say yes
    assert story.daemon.call("stats")["memories"] == 3
    assert len(story.daemon.call("search", query="두루미칠성반닫이")["hits"]) == 2


def test_the_vectors_of_what_is_forgotten_go_too(tmp_path: Path) -> None:
    story = Story(tmp_path, settings={})
    texts = [unlabelled(turn_text(prompt, [answer])) for prompt, answer in (TURNS[0], KEPT)]
    cached = Path(paths.cache(str(story.home))) / "embeddings.sqlite"
    with story.daemon as daemon:
        story.tell()
        fingerprint = daemon.call("stats")["model"]["fingerprint"]
        cache = EmbeddingCache(cached)
        assert set(cache.get_many(fingerprint, texts)) == set(texts)
        story.forget("--session", "gone")
        story.assert_gone()
        assert daemon.call("reindex")["chunks"] == 1
        assert set(cache.get_many(fingerprint, texts)) == {texts[1]}
        cache.close()
