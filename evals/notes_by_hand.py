"""Play the language model that reads sessions: one request after the other, recorded.

`python evals/notes_by_hand.py SET.jsonl RECORD.jsonl FOLDER [--tools TOOLS.jsonl] [--from N] [--until N]` takes in one
session after the other, in memory and at their own times. For each request, as the product would send it, it writes
FOLDER/request-0001.txt and waits for FOLDER/answer-0001.json, which it records. FOLDER/refused-0001.txt tells what was
not kept, or what is wrong with the answer, which is then waited for again. It prints a line a request. Started again,
it goes on behind the record. --from: the sessions before are taken in, and not read. evals/notes.py plays the record
through the real hooks.
"""

import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from evals.home import prompt_id, session_id
from evals.notes_play import CHANGES, load_calls, root_of
from evals.notes_recorded import IDS, KNOWN_LINE, ROWS, sessions_of
from evals.real_set import Turn, load_turns
from memlayer.notes.answer import parse
from memlayer.notes.keeper import Kept
from memlayer.notes.reader import Part, SessionReader
from memlayer.notes.reading_log import ReadingLog
from memlayer.notes.request import tokens_of
from memlayer.ports import Completion
from memlayer.records.model_budget import ModelBudget
from tests.support.notes_in_memory import Noting
from tests.support.turns_in_memory import PROJECT, T0_MS

UNBOUNDED = 10**9
PAUSE_S = 0.5
FILE = click.Path(exists=True, path_type=Path)
_ID = re.compile(r"\w+")

JsonObject = dict[str, Any]


@dataclass
class Asker:
    """A language model that is played by files in a folder. known: recorded answers, as they were."""

    folder: Path
    known: list[str]
    count: int = 0

    def complete(self, system: str, prompt: str, *, max_tokens: int, deadline_s: float) -> Completion:
        """Answer as the language model, by the record first."""
        self.count += 1
        return Completion(self.known.pop(0) if self.known else self._asked(system + "\n\n" + prompt), 0, 0)

    def _asked(self, request: str) -> str:
        """Return the answer that is put into the folder, once it can be read."""
        answer, refused = self.path("answer", "json"), self.path("refused", "txt")
        self.path("request", "txt").write_text(request, "utf-8")
        while True:
            time.sleep(PAUSE_S)
            text = answer.read_text("utf-8") if answer.exists() else ""
            if text.rstrip().endswith("}") and parse(text) is not None:
                return text
            if text:
                refused.write_text("not one JSON object with the parts that were asked for\n", "utf-8")

    def path(self, name: str, ending: str) -> Path:
        """Return a file of the request that is under way."""
        return self.folder / ("%s-%04d.%s" % (name, self.count, ending))


@dataclass
class Readings:
    """The sessions of a set, taken in and read one after the other."""

    sessions: Sequence[Sequence[Turn]]
    calls: Mapping[int, Sequence[JsonObject]]
    asker: Asker
    noting: Noting
    reader: SessionReader

    def read(self, place: int) -> Iterator[tuple[Part, Kept]]:
        """Read a session, a part after the other."""
        turns = self.sessions[place]
        session = self.noting.sessions.get(session_id(turns[0].session))
        while session is not None and (part := self.reader.next_part(session)) is not None:
            if not self.reader.ask(part):
                raise SystemExit("the request was not sent: " + self.reader.problem)
            kept = self.reader.apply(part)
            if kept is None:
                raise SystemExit("an answer of the record is not the JSON that was asked for")
            yield part, kept

    def take_in(self, place: int) -> None:
        """Take in a session, which then has ended."""
        turns = self.sessions[place]
        name, noting = session_id(turns[0].session), self.noting
        for turn in turns:
            asked, at = prompt_id(str(turn.n)), turn.at_ms - T0_MS
            noting.hook("user_prompt_submit", name, asked, at, prompt=turn.prompt)
            for number, call in enumerate(self.calls.get(turn.n, ())):
                hook, fields = "post_tool_use_failure" if call.get("failed") else "post_tool_use", _fields(call)
                noting.hook(hook, name, asked, at + 1 + number, **{**fields, "tool_use_id": f"{turn.n}-{number}"})
            if turn.answer:
                noting.hook("stop", name, asked, at + 60_000, last_assistant_message=turn.answer)
        noting.consolidator.settle_turns(100)
        session = noting.sessions.get(name)
        if session is not None:
            session.ended = "other"


def _fields(call: JsonObject) -> JsonObject:
    path = call.get("path", "")
    given = {"file_path": path} if path else {"command": call.get("command", "")}
    return {"tool_name": call["tool"], "tool_input": given, "tool_response": {}, "error": call.get("error", "")}


def recorded(place: int, part: Part, text: str, turns: Sequence[Turn]) -> JsonObject:
    """Return an answer as a line of the record: turns by the set's numbers, and the lines of the ids that it names."""
    by_id = {prompt_id(str(turn.n)): turn.n for turn in turns}
    numbers = {turn.number: by_id[turn.prompt_id] for turn in part.request.turns if turn.prompt_id in by_id}
    value = json.loads(text[text.index("{") : text.rindex("}") + 1], strict=False)
    row: JsonObject = {"session": place, "summary": value.get("summary", "")}
    row |= {name: [_by_set(one, numbers) for one in value.get(name, [])] for name in ROWS}
    row |= {name: value.get(name, []) for name in IDS}
    listed = dict(KNOWN_LINE.findall(part.request.prompt))
    named = set(_ID.findall(json.dumps([row[name] for name in (*ROWS, *IDS)])))
    row["known"] = {citation: line for citation, line in listed.items() if citation in named}
    return {**row, "raw": text}


def _by_set(row: JsonObject, numbers: Mapping[int, int]) -> JsonObject:
    also = [{**more, "turn": numbers.get(more.get("turn"), 0)} for more in row.get("also", [])]
    return {**row, "turn": numbers.get(row.get("turn", 0), 0), **({"also": also} if also else {})}


def with_root(calls: Mapping[int, Sequence[JsonObject]], turns: Sequence[Turn]) -> dict[int, list[JsonObject]]:
    """Return the calls with their paths in the project's folder."""
    said = "\n".join(turn.answer for turn in turns)
    changed = {row["path"] for of_turn in calls.values() for row in of_turn if row["tool"] in CHANGES}
    files = [end for path in changed for end in _ends(path) if end in said]
    root = root_of(calls, files)

    def moved(call: JsonObject) -> JsonObject:
        path = str(call.get("path", ""))
        return {**call, "path": PROJECT + path.removeprefix(root)} if root and path.startswith(root + "/") else call

    return {number: [moved(call) for call in of_turn] for number, of_turn in calls.items()}


def _ends(path: str) -> list[str]:
    parts = path.strip("/").split("/")
    return ["/".join(parts[at:]) for at in range(1, len(parts) - 1)]


@click.command(help=__doc__)
@click.argument("turns", type=FILE)
@click.argument("record", type=click.Path(path_type=Path))
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--tools", type=FILE, help="The tool calls of each turn.")
@click.option("--from", "first", default=0, help="Read from this session on, counted from 0.")
@click.option("--until", default=0, help="Only so many sessions.")
def main(turns: Path, record: Path, folder: Path, tools: Path | None, first: int, until: int) -> None:
    every = load_turns(turns)
    sessions, calls = sessions_of(every), with_root(load_calls(tools), every) if tools else {}
    lines = record.read_text("utf-8").splitlines() if record.exists() else []
    folder.mkdir(parents=True, exist_ok=True)
    asker = Asker(folder, [json.loads(line)["raw"] for line in lines if line.strip()])
    with tempfile.TemporaryDirectory(prefix="memlayer-read-") as home:
        noting = Noting(Path(home))
        budget = ModelBudget(home + "/use.json", daily_tokens=UNBOUNDED, daily_calls=UNBOUNDED)
        reader = SessionReader(noting.store, noting.keeper, ReadingLog(home), asker, budget, 0)
        readings = Readings(sessions, calls, asker, noting, reader)
        for place in range(until or len(sessions)):
            readings.take_in(place)
            for part, kept in readings.read(place) if place >= first else ():
                _told(asker, place, part, kept)
                if asker.count > len(lines):
                    text = asker.path("answer", "json").read_text("utf-8")
                    with record.open("a", encoding="utf-8") as file:
                        row = recorded(place, part, text, sessions[place])
                        file.write(json.dumps(row, ensure_ascii=False) + "\n")
    click.echo("all sessions are read")


def _told(asker: Asker, place: int, part: Part, kept: Kept) -> None:
    refused = [f"{row.reason.value}: {row.draft.text}" for row in kept.refused]
    asker.path("refused", "txt").write_text("".join(line + "\n" for line in refused), "utf-8")
    tokens = tokens_of(part.request.system) + tokens_of(part.request.prompt)
    click.echo(
        "request %d, session %d: %d tokens, %d notes kept, %d refused"
        % (asker.count, place, tokens, len(kept.notes), len(refused))
    )


if __name__ == "__main__":
    main()
