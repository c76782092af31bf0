"""Sessions played through the real hooks, with notes or without.

Each session has its start, its prompts and answers, its tool calls and its end; then it is waited for until it is read.
"""

import json
import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.home import Home, prompt_id, session_id
from evals.notes_recorded import ModelServer, RecordedModel
from evals.real_set import Turn
from memlayer.model import citation_of, turn_memory_id
from memlayer.records.sessions import Sessions
from memlayer.wire import memories as ops

PROJECT = "real"
READ_WITHIN_S = 120.0
LISTED = 1000
DAILY_TOKENS = 10**8
CHANGES = ("Edit", "Write")
CALLED = (*CHANGES, "Bash")
SUMMARY, TURN, TASK, UNKNOWN = "summary", "turn", "task", "other"
_CITED = re.compile(r"\[mem:(\w+)\]")

JsonObject = dict[str, Any]


@dataclass(frozen=True)
class Line:
    """A line that a session was given. turns: that it comes from, by number."""

    kind: str
    turns: frozenset[int]


@dataclass(frozen=True)
class Lived:
    """A session as it was played.

    place: in the set. start, blocks: what was given at its start and with each prompt; start_lines, block_lines: their
    lines. noted: the turns behind the notes in force at its start; noted_lines: how many these are.
    """

    place: int
    turns: Sequence[Turn]
    start: str
    start_lines: tuple[Line, ...]
    blocks: tuple[str, ...]
    block_lines: tuple[tuple[Line, ...], ...]
    noted: frozenset[int]
    noted_lines: int


class Notebook:
    """The project's memories at a moment, with the turns behind them."""

    def __init__(self, rows: Sequence[JsonObject], sessions: Iterable[Sequence[Turn]]) -> None:
        self._rows = {row["citation"]: row for row in rows}
        self._older: dict[str, list[JsonObject]] = {}
        for row in rows:
            if row["superseded_by"]:
                self._older.setdefault(row["superseded_by"], []).append(row)
        self._numbers: dict[str, int] = {}
        self._turns: dict[str, int] = {}
        self._sessions: dict[str, frozenset[int]] = {}
        for session in sessions:
            for turn in session:
                name, asked = session_id(turn.session), prompt_id(str(turn.n))
                self._numbers[asked] = turn.n
                self._turns[citation_of(turn_memory_id(name, asked))] = turn.n
                self._sessions[name] = self._sessions.get(name, frozenset()) | {turn.n}

    def in_force(self) -> list[JsonObject]:
        """The notes that hold, without tasks and summaries."""
        kept = [row for row in self._rows.values() if row["category"] == "core" and row["kind"] != TASK]
        return [row for row in kept if not row["ended_because"]]

    def turns_of(self, row: JsonObject) -> frozenset[int]:
        """The numbers of the turns that a note, and those it replaced, come from."""
        if row["kind"] == "session_summary":
            return self._sessions.get(row["session_id"], frozenset())
        asked = {row["prompt_id"], *(proof["prompt_id"] for proof in json.loads(row["evidence"] or "[]"))}
        numbers = frozenset(self._numbers[one] for one in asked if one in self._numbers)
        return numbers.union(*(self.turns_of(older) for older in self._older.get(row["id"], [])))

    def lines(self, block: str) -> tuple[Line, ...]:
        """The entries of a block."""
        entries = [text for text in block.split("\n") if text.startswith("- ")]
        return tuple(self._line(cited) for text in entries if (cited := _CITED.findall(text)))

    def _line(self, cited: Sequence[str]) -> Line:
        turns: frozenset[int] = frozenset()
        kinds = []
        for citation in cited:
            row = self._rows.get(citation)
            if row is not None:
                kinds.append(SUMMARY if row["kind"] == "session_summary" else row["kind"] or UNKNOWN)
                turns |= self.turns_of(row)
            elif citation in self._turns:
                kinds.append(TURN)
                turns |= {self._turns[citation]}
        return Line(kinds[0] if kinds else UNKNOWN, turns)


def load_calls(path: Path) -> dict[int, list[JsonObject]]:
    """Load turn's number -> the tool calls that matter to a reader.

    Files that were changed, once a turn, and calls that failed. Raises OSError, KeyError or ValueError.
    """
    calls: dict[int, list[JsonObject]] = {}
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        changed: set[str] = set()
        for call in row["calls"]:
            is_failed = bool(call.get("failed"))
            if call["tool"] not in CALLED or not (is_failed or call["tool"] in CHANGES):
                continue
            if not is_failed and call["path"] in changed:
                continue
            changed.update([] if is_failed else [call["path"]])
            calls.setdefault(int(row["n"]), []).append(call)
    return calls


def root_of(calls: Mapping[int, Sequence[JsonObject]], files: Iterable[str]) -> str:
    """Return the folder that the set was worked on in, "" if unknown.

    What stands before the notes' relative paths in the paths of the calls.
    """
    paths = {call["path"] for of_turn in calls.values() for call in of_turn if "path" in call}
    wanted = {"/" + file for file in files if not file.startswith(("/", "~"))}
    roots = Counter(path.removesuffix(file) for path in paths for file in wanted if path.endswith(file))
    return roots.most_common(1)[0][0] if roots else ""


@dataclass
class Player:
    """Plays sessions in a throw-away home.

    model: answers as the language model, None: the rules alone. calls: by turn; root: the folder in their paths.
    settings: further groups of config.yaml.
    """

    sessions: Sequence[Sequence[Turn]]
    model: RecordedModel | None
    calls: Mapping[int, Sequence[JsonObject]]
    root: str = ""
    settings: Mapping[str, JsonObject] | None = None

    def play(self, places: Sequence[int]) -> Iterator[Lived]:
        """Play the sessions at these places, in order.

        After a failure the home stays, for its logs.
        """
        base = Path(tempfile.mkdtemp(prefix="memlayer-notes-")).resolve()
        home = Home(base)
        try:
            if self.model is None:
                self._configure(home, {})
                yield from (self._session(home, place) for place in places)
            else:
                yield from self._read(home, self.model, places)
        except BaseException:
            home.client.stop(deadline_s=60)
            raise  # the home stays, with the daemon's log
        else:
            home.client.stop(deadline_s=60)
            shutil.rmtree(base, ignore_errors=True)

    def _read(self, home: Home, model: RecordedModel, places: Sequence[int]) -> Iterator[Lived]:
        with ModelServer(model) as server:
            chosen = {"provider": "openai", "model": "recorded", "base_url": server.url}
            budget = {"daily_tokens": DAILY_TOKENS}
            self._configure(home, {"consolidation": {**chosen, **budget}})
            yield from (self._session(home, place) for place in places)

    def _configure(self, home: Home, groups: JsonObject) -> None:
        file = home.home / "config.yaml"
        file.write_text(json.dumps({**groups, **(self.settings or {})}), "utf-8")
        file.chmod(0o600)

    def _session(self, home: Home, place: int) -> Lived:
        turns = self.sessions[place]
        name, folder = session_id(turns[0].session), home.folder(PROJECT)
        notebook = self._notebook(home)
        start = home.hook("session_start", folder, name, {"source": "startup"})[0]
        blocks = []
        for turn in turns:
            asked = {"prompt_id": prompt_id(str(turn.n))}
            blocks.append(home.hook("user_prompt_submit", folder, name, {**asked, "prompt": turn.prompt})[0])
            for number, call in enumerate(self.calls.get(turn.n, ())):
                self._call(home, turn, call, number, asked)
            home.hook("stop", folder, name, {**asked, "last_assistant_message": turn.answer})
        home.hook("session_end", folder, name, {"reason": "other"})
        home.settle(lambda phase, done, total: None)
        if self.model is not None:
            wait_until_read(home, name)
            home.settle(lambda phase, done, total: None)
        noted = notebook.in_force()
        return Lived(
            place, turns, start, notebook.lines(start), tuple(blocks), tuple(map(notebook.lines, blocks)),
            frozenset().union(*map(notebook.turns_of, noted)), len(noted),
        )  # fmt: skip

    def _notebook(self, home: Home) -> Notebook:
        folder = str(home.folder(PROJECT))
        rows: list[JsonObject] = []
        for category in ("core", "daily"):
            asked = ops.List(project_dir=folder, category=category, limit=LISTED, with_superseded=True)
            rows += home.client.call(asked.op, asked.fields(), deadline_s=60)["memories"]
        return Notebook(rows, self.sessions)

    def _call(self, home: Home, turn: Turn, call: JsonObject, number: int, asked: Mapping[str, str]) -> None:
        """Spool a tool call, as a hook without a daemon does: there are many."""
        hook, fields = self.fields(home, turn, call, number, asked)
        home.spool(hook, PROJECT, turn.session, fields, int(time.time() * 1000))

    def fields(
        self, home: Home, turn: Turn, call: JsonObject, number: int, asked: Mapping[str, str]
    ) -> tuple[str, JsonObject]:
        """Return (hook, payload) of a tool call, its paths in the project's folder."""
        path = str(call.get("path", ""))
        if self.root and path.startswith(self.root + "/"):
            path = str(home.folder(PROJECT)) + path.removeprefix(self.root)
        given = {"file_path": path} if path else {"command": call.get("command", "")}
        fields: JsonObject = {
            **asked, "tool_name": call["tool"], "tool_input": given, "tool_use_id": "%s-%d" % (turn.n, number),
            "tool_response": {}, "error": call.get("error", ""),
        }  # fmt: skip
        return "post_tool_use_failure" if call.get("failed") else "post_tool_use", fields

    def name_of(self, turn: Turn) -> str:
        """The session's id in the host's form."""
        return session_id(turn.session)


def wait_until_read(home: Home, name: str, within_s: float = READ_WITHIN_S) -> None:
    """Wait until a session is read, or found not to be worth it.

    Raises SystemExit when it never is.
    """
    ends = time.monotonic() + within_s
    while time.monotonic() < ends:
        record = Sessions(str(home.home)).get(name)
        if record is not None and record.noted_ms >= record.said_ms:
            return
        time.sleep(0.05)
    raise SystemExit("session %s is never read: see %s" % (name, home.home))
