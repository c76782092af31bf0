"""A home in which a session told secrets long ago.

The tests of forgetting and of retention look for them.
"""

import json
import string
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memlayer.edge.capture import spool
from memlayer.edge.capture.payload import read_payload
from memlayer.errors import UserError
from tests.support.cli_process import Cli
from tests.support.processes import Daemon, HookRunner

ROOT = Path(__file__).resolve().parents[2]
NO_MODEL = {"embedding": {"provider": "none"}}
OLD_MS = 1_710_000_000_000  # March 2024
# Whoever looks for them finds them: whole, as words, and as the syllable pairs that an index is made of.
MARKS = ("zephyrine-quokka", "두루미칠성반닫이", "zephyrine", "quokka", "두루미", "반닫이")
TURNS = [
    ("zephyrine-quokka 서버 비밀 이름은 두루미칠성반닫이 로 하자", "네, 두루미칠성반닫이 는 zephyrine-quokka 에."),
    ("What else lives on zephyrine-quokka?", "두루미칠성반닫이 와 그 백업이 zephyrine-quokka 에 있습니다. " * 120),
]  # fmt: skip
DECIDED = ("게이트웨이 포트는 꿩발자국번으로 하기로 했어. 그리고 올빼미쪽지 좀 봐줘", "네, 이야기끝올빼미.")
LEARNT = "꿩발자국"
KEPT = ("배포는 언제 하지?", "배포는 매주 화요일 오전에 합니다.")


class Story:
    """A home whose sessions told TURNS and KEPT.

    Session `gone` told TURNS long ago in one project, session `kept` told KEPT in another.
    """

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

    def captured(self, number: int, prompt: str, answer: str, session: str = "gone") -> Iterator[dict[str, object]]:
        """The events that a turn's hooks spooled."""
        for name, said in (("user_prompt_submit", {"prompt": prompt}), ("stop", {"last_assistant_message": answer})):
            payload = {
                "session_id": session,
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

    def say(self, number: int, prompt: str, answer: str) -> None:
        """One more turn of `gone` waits in the spool."""
        for event in self.captured(number, prompt, answer):
            spool.put(str(self.home), event)

    def tell(self) -> None:
        """Everything is told and in the store."""
        self.spool_again()
        self.hook.turn("kept", "k1", *KEPT)
        self.daemon.settle()
        assert self.turns() == 3

    def turns(self) -> int:
        return int(self.daemon.call("stats")["by_category"].get("conversation", 0))

    def core_of(self, text: str) -> dict[str, Any]:
        """The one core memory that says that."""
        [found] = [one for one in self.daemon.call("list", category="core")["memories"] if text in one["text"]]
        return dict(found)

    def with_retention(self, **days: int) -> None:
        """The same daemon with these settings."""
        self.daemon.stop()
        self.daemon.settings = {**NO_MODEL, "retention": days}
        (self.home / "gc.stamp").touch()  # not by itself: the tests say when
        self.daemon.start()

    def holds(self, *marks: str) -> list[tuple[str, str]]:
        """(file under the home, mark) wherever one of the marks still stands."""
        by_chance = [mark for mark in marks if set(mark) <= set(string.hexdigits + "-")]
        assert not by_chance, "%s may stand in a hash that says nothing of it" % by_chance
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

    def assert_gone(self, turns: int = 1) -> None:
        """Nothing of `gone` is left, and `kept` is."""
        assert self.holds(*MARKS) == []
        found = self.daemon.call("search", query="zephyrine-quokka 두루미칠성반닫이 서버")["hits"]
        assert not [hit for hit in found if hit["session_id"] != "kept"]
        assert self.turns() == turns
        try:
            assert self.daemon.call("list", session_id="gone")["memories"] == []
        except UserError as unknown:  # the whole session is gone
            assert "No session is known by 'gone'" in str(unknown)
        hits = self.daemon.call("search", query="배포는 화요일", project_dir=str(self.other))["hits"]
        assert hits and all("화요일" in hit["snippet"] for hit in hits)
