"""Transcripts for tests.

Recorded ones at the host's place, and generated ones in the recorded shape.
"""

import json
import os
import time
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parents[1] / "fixtures" / "host"
VERSIONS = ("2.1.197", "2.1.330")
LONG_AGO_S = 1_790_000_000


def stamp(at_ms: int) -> str:
    """A record's timestamp."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at_ms / 1000)) + ".%03dZ" % (at_ms % 1000)


def record(kind: str, text: str, at_ms: int, *, session: str, cwd: str, **more: Any) -> str:
    """A line: a prompt or an answer."""
    uuid = "%s-%s-%d" % (session, kind, at_ms)
    made: dict[str, Any] = {
        "parentUuid": None, "isSidechain": False, "type": kind, "uuid": uuid, "timestamp": stamp(at_ms),
        "sessionId": session, "cwd": cwd, "version": "2.1.330", "userType": "external",
        "message": {"role": kind, "id": "m-" + uuid, "content": [{"type": "text", "text": text}]},
    }  # fmt: skip
    return json.dumps({**made, **more}, ensure_ascii=False) + "\n"


def turn(number: int, *, session: str, cwd: str, prompt: str = "", answer: str = "", prompt_id: str = "") -> str:
    """A prompt and its answer, a minute after the turn before."""
    at_ms = LONG_AGO_S * 1000 + number * 60_000
    asked = record(
        "user", prompt or "질문 %d" % number, at_ms, session=session, cwd=cwd,
        promptId=prompt_id or "%s-p%d" % (session, number),
    )  # fmt: skip
    said = answer or "대답 %d: answer %d" % (number, number)
    return asked + record("assistant", said, at_ms + 500, session=session, cwd=cwd)


def write(projects: Path, session: str, text: str, *, cwd: str, at_s: float = LONG_AGO_S) -> Path:
    """Write a session's transcript in the host's folder.

    It was last written at that time.
    """
    folder = projects / "".join(char if char.isascii() and char.isalnum() else "-" for char in cwd)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (session + ".jsonl")
    path.write_text(text)
    os.utime(path, (at_s, at_s))
    return path


def recorded(projects: Path, name: str, version: str, *, at_s: float = LONG_AGO_S) -> str:
    """Put a recorded transcript there; returns its session."""
    text = (RECORDED / ("transcript_%s_%s.jsonl" % (name, version))).read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    session = next(str(line["sessionId"]) for line in reversed(lines) if "sessionId" in line)
    write(projects, session, text, cwd="/home/dev/shop", at_s=at_s)
    return session


class Conversation:
    """A session's transcript in the recorded shape: each record follows another one.

    It grows turn by turn. `back` is what `/rewind` does: the next record follows an earlier one.
    """

    def __init__(self, path: Path, session: str, cwd: str, *, at_ms: int = 0) -> None:
        self.path, self.session, self.cwd = path, session, cwd
        self.newest = ""
        self._ends: dict[str, str] = {}  # prompt id -> the last record of its turn
        self._before: dict[str, str] = {}
        self._count = 0
        self._at_ms = at_ms

    def prompt(self, prompt_id: str, text: str) -> None:
        """Write a prompt."""
        self._before[prompt_id] = self.newest
        self._write("user", prompt_id, text)

    def answer(self, prompt_id: str, text: str) -> None:
        """Write an answer, and the note behind it that it has ended."""
        self._write("assistant", prompt_id, text)
        self._write("system", prompt_id, "")

    def turn(self, prompt_id: str, prompt: str, answer: str) -> None:
        """Write a whole turn."""
        self.prompt(prompt_id, prompt)
        self.answer(prompt_id, answer)

    def back_before(self, prompt_id: str) -> None:
        """Go on from where a prompt was typed."""
        self.newest = self._before[prompt_id]

    def back_to(self, prompt_id: str) -> None:
        """Go on behind the end of a turn."""
        self.newest = self._ends[prompt_id]

    def _write(self, kind: str, prompt_id: str, text: str) -> None:
        self._count += 1
        more: dict[str, Any] = {"parentUuid": self.newest or None, "uuid": "%s-%d" % (self.session, self._count)}
        if kind == "user":
            more["promptId"] = prompt_id
        elif kind == "system":
            more.update(message=None, subtype="turn_duration")
        at_ms = self._at_ms + self._count * 1000 if self._at_ms else time.time_ns() // 1_000_000
        line = record(kind, text, at_ms, session=self.session, cwd=self.cwd, **more)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line)
        self.newest = self._ends[prompt_id] = more["uuid"]
