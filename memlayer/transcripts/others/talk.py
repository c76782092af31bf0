"""Turns of another agent's session, as records of our own reader.

A prompt begins a turn. The last message with text is its answer. Of the calls those that failed and the edits stay,
under the names that Claude Code gives such tools, so that all that reads events needs to know no other agent.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from memlayer.edge.capture.noise import own_words
from memlayer.edge.capture.tool_names import as_ours
from memlayer.edge.capture.tool_use import EDITS, EVERY_TOOL, tool_event
from memlayer.transcripts.lines import BROKEN, Tally, open_transcript, parse, string, whole_lines
from memlayer.transcripts.reader import TranscriptRecord, at_ms_of

Json = dict[str, object]

LEFT_OUT = "turns of branches that were left"
MAX_UNKNOWN = 20  # kinds that are told apart
_HOSTS_BLOCK = re.compile(r"\s*<([a-z]+(?:[_-][a-z]+)+)>.*</\1>\s*\Z", re.DOTALL)  # all of a text: nobody types that
_UNSAFE = re.compile(r"[^\w.:$/-]+")


@dataclass(slots=True)
class _Call:
    tool: str
    given: Json
    at_ms: int
    call_id: str
    error: str = ""


@dataclass(slots=True)
class _Turn:
    prompt_id: str
    uuid: str
    prompts: list[tuple[str, int]]  # (text, time); further ones are typed while the agent works
    calls: list[_Call] = field(default_factory=list)
    answer: list[str] = field(default_factory=list)  # parts of a message
    answer_id: str = ""
    answer_ms: int = 0
    is_left: bool = False
    is_over: bool = False


class Talk:
    """A session's turns, gathered while its records are read.

    at_ms: for records without a time. is_run: nobody typed its prompts.
    """

    def __init__(self, session_id: str, tally: Tally, *, cwd: str = "", at_ms: int = 0, is_run: bool = False) -> None:
        self._session_id = session_id
        self._tally = tally
        self._cwd = cwd
        self._at_ms = at_ms
        self._is_run = is_run
        self._turns: list[_Turn] = []
        self._standing: list[int] = []  # places of the turns that were not taken back
        self._same: Counter[str] = Counter()
        self._open: dict[str, tuple[_Turn, list[_Call]]] = {}

    def __len__(self) -> int:
        return len(self._turns)

    @property
    def left(self) -> frozenset[str]:
        """The prompt ids of the turns that were taken back."""
        return frozenset(turn.prompt_id for turn in self._turns if turn.is_left)

    def prompt(self, text: str, at_ms: int, prompt_id: str = "") -> None:
        """Begin a turn. prompt_id: the agent's own, also in a fork."""
        last = self._turns[-1] if self._turns else None
        if _HOSTS_BLOCK.match(text):
            return
        prompt = own_words(text), self._time(at_ms)
        if last is not None:
            if last.prompts[-1][0] == prompt[0] and not (last.answer or last.calls or last.is_left):
                return  # told twice
            if prompt_id and prompt_id == last.prompt_id and not last.is_over:
                last.prompts.append(prompt)
                return
        made = prompt_id or "%s-%d" % (self._session_id, at_ms or len(self._turns) + 1)
        same = self._same[made]
        self._same[made] += 1
        made = "%s+%d" % (made, same + 1) if same else made
        self._standing.append(len(self._turns))
        self._turns.append(_Turn(made, made if prompt_id else "", [prompt]))

    def answer(self, text: str, at_ms: int, message_id: str = "") -> None:
        """Hear a message of the agent; parts of one message join."""
        if not self._turns or not text.strip():
            return
        turn = self._turns[-1]
        is_part = bool(message_id) and turn.answer_id == message_id
        turn.answer = turn.answer if is_part else []
        turn.answer.append(text)
        turn.answer_id, turn.answer_ms = message_id, self._time(at_ms)

    def call(self, call_id: str, tool: str, given: object, at_ms: int, *, is_done: bool = False) -> None:
        """Hear a call. is_done: no result will tell whether it failed."""
        if not self._turns:
            return
        turn = self._turns[-1]
        made = [
            _Call(name, fields, self._time(at_ms), "%s%s" % (call_id, "+%d" % n if n else ""))
            for n, (name, fields) in enumerate(as_ours(tool, given, self._cwd))
        ]
        if is_done:
            turn.calls += [one for one in made if one.tool in EDITS]
        else:
            self._open[call_id] = turn, made

    def result(self, call_id: str, output: str, *, is_failed: bool) -> None:
        """Hear the outcome of a call."""
        turn, made = self._open.pop(call_id, (None, []))
        if turn is None:
            return
        for one in made[:1] if is_failed else made:
            if is_failed or one.tool in EDITS:
                one.error = (output.strip() or "failed") if is_failed else ""
                turn.calls.append(one)

    def end(self) -> None:
        """End the turn: a prompt with its id begins another."""
        for turn in self._turns[-1:]:
            turn.is_over = True

    def take_back(self, number: int) -> None:
        """Mark the last turns that stand as left."""
        for _ in self._standing[-number:] if number > 0 else ():
            self._turns[self._standing.pop()].is_left = True

    def take_back_from(self, at: int) -> None:
        """Mark the turns from this place on as left."""
        while self._standing and self._standing[-1] >= at:
            self.take_back(1)

    def unknown(self, kind: object) -> None:
        """Count a record that this version of the reader does not know."""
        name = "unknown records: %s" % (_UNSAFE.sub("", str(kind or ""))[:40] or "without a type")
        told = sum(reason.startswith("unknown records") for reason in self._tally.passed)
        self._tally.passes(
            name if name in self._tally.passed or told < MAX_UNKNOWN else "unknown records of more types"
        )

    def records(self) -> Iterator[TranscriptRecord]:
        """Yield the records of all turns."""
        for number, turn in enumerate(self._turns, 1):
            for place, (text, at_ms) in enumerate(turn.prompts):
                if text.strip():
                    record = self._record("user", text, turn, number, at_ms)
                    yield record._replace(uuid=turn.uuid, is_run=self._is_run, is_further=place > 0)
            for call in turn.calls:
                told: dict[object, object] = {"tool_name": call.tool, "tool_input": call.given, "error": call.error}
                text, detail = tool_event(told, bool(call.error), EVERY_TOOL)
                if text:
                    record = self._record("tool", text, turn, number, call.at_ms)
                    yield record._replace(command=detail, call_id=call.call_id or "%s-%d" % (text, call.at_ms))
            if turn.answer:
                record = self._record("assistant", "\n\n".join(turn.answer), turn, number, turn.answer_ms)
                yield record._replace(uuid=turn.uuid and turn.uuid + " answer")

    def _record(self, kind: str, text: str, turn: _Turn, number: int, at_ms: int) -> TranscriptRecord:
        if not text.isascii():
            text = text.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate cannot be written again
        return TranscriptRecord(kind, text, turn.prompt_id, "", self._session_id, at_ms, self._cwd, "", number)

    def _time(self, at_ms: int) -> int:
        return at_ms or (self._at_ms + len(self._turns) if self._at_ms else 0)


def lines_of(path: str, tally: Tally) -> Iterator[Json]:
    """Yield the objects of JSON Lines. Raises OSError."""
    with open_transcript(path) as file:
        for _, line in whole_lines(file, 0, tally):
            record = parse(line)
            if record is None:
                tally.passes(BROKEN)
            else:
                yield record


def part(data: Mapping[str, object], *names: str) -> Json:
    """Return an object within objects, {} for anything else."""
    value: object = data
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, dict) else {}


def parts(value: object) -> Iterator[Json]:
    """Yield the objects of a list."""
    yield from (one for one in (value if isinstance(value, list) else ()) if isinstance(one, dict))


def text_of(content: object, *types: str) -> str:
    """Return the text of a message, of its parts of these types."""
    if isinstance(content, str):
        return content
    texts = [string(one, "text") for one in parts(content) if not types or one.get("type") in types]
    return "\n".join(text for text in texts if text)


def time_of(value: object) -> int:
    """Return Unix milliseconds of a time: ISO 8601, seconds or milliseconds."""
    if isinstance(value, str):
        return at_ms_of(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e14:
        return 0
    return int(value if value > 1e11 else value * 1000)
