"""Recorded answers of a language model, served to the product's own requests.

A record is a file of JSON lines, one a session or a part of one: {session: its place in the set, summary, ways, notes,
orders, tasks, drop, no_rule}. A note's turn is the set's number, or, in lines with a `part`, a number within the
session. Ids are the record's own: they are translated into the citations that a request lists, by the notes' texts, or
by the lines of the request that was answered (`known`, by evals/notes_by_hand.py).
"""

import json
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

from evals.real_set import Turn
from memlayer.notes.request import TEXT_MARK, tokens_of
from memlayer.text.context_block import flatten
from memlayer.turns.turn_memory import first_clause

HEAD_CHARS = 60  # of a prompt or an answer, by which its turn is known again
KNOWN_CHARS = 60  # of a note whose end the product has changed
GOES_ON = "It goes on after this part."
ROWS, IDS = ("ways", "notes", "orders", "tasks"), ("drop", "no_rule")
EMPTY: dict[str, Any] = {"summary": "", **{name: [] for name in (*ROWS, *IDS)}}
_TURN = re.compile(r"^## Turn (\d+)$", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.;])\s+")
_EXACT = re.compile(r"[\w./-]*[\d_/][\w./-]*\w")  # numbers, names and paths
KNOWN_LINE = re.compile(r"^\[(\w+)\] (?:\([^()]*, \d{4}-\d\d-\d\d\) )?(.*)$", re.MULTILINE)

JsonObject = dict[str, Any]


@dataclass
class Asked:
    """One request. session: its place in the set, -1 if unknown."""

    session: int
    tokens_in: int
    tokens_out: int


def sessions_of(turns: Sequence[Turn]) -> list[list[Turn]]:
    """Return the turns of each session, in the set's order."""
    by_name: dict[str, list[Turn]] = {}
    for turn in turns:
        by_name.setdefault(turn.session, []).append(turn)
    return list(by_name.values())


def load_record(path: Path, sessions: Sequence[Sequence[Turn]]) -> dict[int, JsonObject]:
    """Load session's place -> its answer, turns by the set's numbers.

    Raises OSError, KeyError or ValueError on a file that is none.
    """
    record: dict[int, JsonObject] = {}
    for line in path.read_text("utf-8").splitlines():
        if not line.strip():
            continue
        row = json.loads(line)
        place, is_within = int(row["session"]), "part" in row
        answer = record.setdefault(place, {**_empty(), "known": {}})
        answer["summary"] = (answer["summary"] + " " + row["summary"]).strip()
        answer["known"] |= row.get("known", {})
        for name in IDS:
            answer[name] += row.get(name, [])
        for name in ROWS:
            answer[name] += [_with_set_number(one, sessions[place], is_within) for one in row.get(name, [])]
    return record


def _empty() -> JsonObject:
    return {name: list(value) if value == [] else value for name, value in EMPTY.items()}


def with_headlines(record: Mapping[int, JsonObject], file: Path) -> None:
    """Give recorded notes headlines and subjects from a file: {text: [headline, subject]}.

    Raises OSError or ValueError.
    """
    headlines = json.loads(file.read_text("utf-8"))
    for answer in record.values():
        for note in answer["notes"]:
            if note["text"] in headlines and not note.get("headline"):
                note["headline"], note["subject"] = headlines[note["text"]]


def _with_set_number(row: JsonObject, session: Sequence[Turn], is_within: bool) -> JsonObject:
    if not is_within:
        return dict(row)
    by_place = {place: turn.n for place, turn in enumerate(session, 1)}
    evidence = row.get("n") or [by_place.get(row["turn"], 0)]
    also = [{**more, "turn": by_place.get(more["turn"], 0)} for more in row.get("also", [])]
    return {**row, "turn": evidence[0], "also": also}


def continued(first: Mapping[int, JsonObject], then: Mapping[int, JsonObject]) -> dict[int, JsonObject]:
    """Return the first record up to the second's first session, then that."""
    begins = min(then, default=len(first))
    return {**{place: answer for place, answer in first.items() if place < begins}, **then}


@dataclass
class RecordedModel:
    """Answers to requests about sessions, from a record.

    A session in parts gets with each part the notes of its turns and the sentences of its summary that stand in it.
    asked: the requests so far; lost: ids that a request did not list, because the product refused, retired or left out
    the note.
    """

    sessions: Sequence[Sequence[Turn]]
    record: Mapping[int, JsonObject]
    asked: list[Asked] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    _given: set[tuple[int, str, int]] = field(default_factory=set)

    def answer(self, system: str, prompt: str) -> str:
        """Return the recorded answer to a request, as JSON."""
        head, parts = split_request(prompt)
        place, numbers = self.recognised(parts)
        answer = self._part(place, numbers, prompt, head) if place >= 0 else EMPTY
        text = json.dumps(answer, ensure_ascii=False)
        self.asked.append(Asked(place, tokens_of(system) + tokens_of(prompt), tokens_of(text)))
        return text

    def recognised(self, parts: Mapping[int, str]) -> tuple[int, dict[int, int]]:
        """Return (session's place, set's number -> number in the request).

        The session is the one with the most words in the request; -1 for none.
        """
        best: tuple[int, int, dict[int, int]] = (0, -1, {})
        for place, session in enumerate(self.sessions):
            weight, numbers = 0, {}
            for number, text in parts.items():
                turn, words = max(((turn, _words_in(turn, text)) for turn in session), key=lambda row: row[1])
                if words:
                    weight += words
                    numbers[turn.n] = number
            if weight > best[0]:
                best = (weight, place, numbers)
        return best[1], best[2]

    def _part(self, place: int, numbers: Mapping[int, int], prompt: str, head: str) -> JsonObject:
        recorded, is_last = self.record.get(place, EMPTY), GOES_ON not in prompt
        chosen = _empty()
        sentences = _SENTENCE_END.split(recorded["summary"])
        kept = [text for text in sentences if is_last or all(word in prompt for word in _EXACT.findall(text))]
        chosen["summary"] = " ".join(text for text in kept if self._is_new(place, "summary", sentences.index(text)))
        known = recorded.get("known", {})
        for name in IDS:
            if self._is_new(place, name, 0):
                chosen[name] = self._citations(recorded[name], head, known)
        for name in ROWS:
            for index, row in enumerate(recorded[name]):
                if (is_last or row["turn"] in numbers) and self._is_new(place, name, index):
                    chosen[name].append(self._translated(row, numbers, head, known, name))
        return chosen

    def _is_new(self, place: int, name: str, index: int) -> bool:
        """Whether a piece of an answer is given for the first time."""
        key = (place, name, index)
        is_new = key not in self._given
        self._given.add(key)
        return is_new

    def _translated(
        self, row: JsonObject, numbers: Mapping[int, int], head: str, known: Mapping[str, str], name: str
    ) -> JsonObject:
        out = {**row, "turn": numbers.get(row["turn"], 0)}
        out.pop("n", None)
        out.pop("refused", None)
        if name == "tasks":
            name_of = row.get("id", "")
            before = (task for answer in self._before(row) for task in answer["tasks"] if task is not row)
            is_known = name_of in known or (name_of and any(task.get("id") == name_of for task in before))
            return {**out, "id": next(iter(self._citations([name_of], head, known)), "") if is_known else ""}
        if name == "orders":
            return {**out, "id": next(iter(self._citations([row["id"]], head, known)), "")}
        out["also"] = [{**more, "turn": numbers.get(more["turn"], 0)} for more in row.get("also", [])]
        out["replaces"] = self._citations(row.get("replaces", []), head, known)
        return out

    def _before(self, row: JsonObject) -> list[JsonObject]:
        """The answers up to the one with this row."""
        before = []
        for place in sorted(self.record):
            before.append(self.record[place])
            if any(task is row for task in self.record[place]["tasks"]):
                break
        return before

    def _citations(self, ids: Sequence[str], head: str, known: Mapping[str, str]) -> list[str]:
        """The citations of recorded ids that a request lists."""
        listed = KNOWN_LINE.findall(head)
        citations = []
        for recorded_id in ids:
            texts = {
                flatten(text)
                for text in ([known[recorded_id]] if recorded_id in known else self._texts_of(recorded_id))
            }
            heads = {text.split(TEXT_MARK)[0][:KNOWN_CHARS] for text in texts}
            hits = [citation for citation, line in listed if any(map(line.startswith, texts))]
            hits = hits or [citation for citation, line in listed if any(map(line.startswith, heads))]
            if hits:
                citations.append(hits[-1])
            else:
                self.lost.append(recorded_id)
        return citations

    def _texts_of(self, recorded_id: str) -> list[str]:
        """The texts and headlines that a recorded note or task ever had."""
        every = [row for answer in self.record.values() for row in (*answer["notes"], *answer["tasks"])]
        rows = [row for row in every if row.get("id") == recorded_id]
        texts = [str(row.get("text") or row.get("title")) for row in rows]
        return [*texts, *(row["headline"] for row in rows if row.get("headline")), *map(first_clause, texts)]


def split_request(prompt: str) -> tuple[str, dict[int, str]]:
    """Return (the lines of known notes and tasks, turn's number -> its text)."""
    marks = list(_TURN.finditer(prompt))
    ends = [mark.start() for mark in marks[1:]] + [len(prompt)]
    head = prompt[: marks[0].start()] if marks else prompt
    return head, {int(mark[1]): prompt[mark.end() : end] for mark, end in zip(marks, ends, strict=False)}


def _words_in(turn: Turn, text: str) -> int:
    """How many characters of a turn's beginnings a text holds."""
    plain = " ".join(text.split())
    heads = [" ".join(said.split())[:HEAD_CHARS] for said in (turn.prompt, turn.answer)]
    return sum(len(head) for head in heads if head and head in plain)


class ModelServer:
    """A server on 127.0.0.1 in the shape of chat completions."""

    def __init__(self, model: RecordedModel) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(model))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """The base_url to set."""
        return "http://127.0.0.1:%d/v1" % self._server.server_address[1]

    def __enter__(self) -> "ModelServer":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler_for(model: RecordedModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, format: str, *args: object) -> None:
            """Stay silent: the requests are kept."""

        def do_POST(self) -> None:
            said = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))["messages"]
            by_role = {row["role"]: str(row["content"]) for row in said}
            text = model.answer(by_role.get("system", ""), by_role["user"])
            asked = model.asked[-1]
            answer = {
                "id": "c1", "object": "chat.completion", "created": 1, "model": "recorded",
                "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
                "usage": {"prompt_tokens": asked.tokens_in, "completion_tokens": asked.tokens_out,
                          "total_tokens": asked.tokens_in + asked.tokens_out},
            }  # fmt: skip
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler
