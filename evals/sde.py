"""Ask for a rule that one earlier conversation decided.

`python evals/sde.py SET.json ROWS.jsonl [--without-recaps] [--absent] [--first PROMPT]`

Takes in the conversations of a set of sde-bench (tasks with their chats and decoys, in an order of its own) in one
process and asks each bug report as the prompt of a new session. Writes a JSON line a task with its block, which the
set's scorer reads. --without-recaps leaves out the last answer of each deciding chat, --absent the deciding chats,
--first asks another prompt before. No model reads.
"""

import json
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from rich.progress import track

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from evals.real import ANSWERED_AFTER_MS, FOLDER, Memory
from memlayer import compose
from memlayer.edge.capture.payload import spool_event
from memlayer.model import Scope

DECOYS = 70
FIRST_MS, A_TURN_MS, A_DAY_MS = 1_780_000_000_000, 120_000, 86_400_000

JsonObject = dict[str, Any]
Chat = Sequence[JsonObject]  # messages: role, text


def chats_of(data: JsonObject, *, without_recaps: bool, absent: bool) -> list[Chat]:
    """Return the deciding chats among decoys, those of a task in their order."""
    rng = random.Random(1)
    placed = [(rng.random(), chat) for chat in data["decoys"][:DECOYS]]
    for task in data["tasks"] * (not absent):
        places = sorted(rng.random() for _ in task["chats"])
        placed += [
            (at, chat[: _last_answer(chat)] if without_recaps else chat)
            for at, chat in zip(places, task["chats"], strict=True)
        ]
    return [chat for _, chat in sorted(placed, key=lambda row: row[0])]


def _last_answer(chat: Chat) -> int:
    return max(at for at, message in enumerate(chat) if message["role"] == "assistant")


def turns_of(chat: Chat) -> Iterator[tuple[str, str]]:
    """Yield a chat's prompts with their answers, "" for none."""
    waiting = ""
    for message in chat:
        if message["role"] == "assistant":
            yield waiting or "Go on.", message["text"]
            waiting = ""
            continue
        if waiting:
            yield waiting, ""
        waiting = message["text"]
    if waiting:
        yield waiting, ""


def event(kind: str, session: str, prompt: str, text: str, at_ms: int) -> JsonObject:
    return spool_event(
        kind=kind, text=text, at_ms=at_ms, session_id=session, prompt_id=prompt, project_dir=FOLDER
    )  # fmt: skip


def take_in(memory: Memory, session: str, chat: Chat, at_ms: int) -> int:
    """Take in a chat as a session that is over; return when the next one begins."""
    events: list[JsonObject] = []
    for number, (prompt, answer) in enumerate(turns_of(chat)):
        name = "%s %d" % (session, number)
        asked = event("user", session, name, prompt, at_ms)
        memory.sessions.heard(asked, memory.project_id)
        events += [asked, event("assistant", session, name, answer, at_ms + ANSWERED_AFTER_MS)]
        at_ms += A_TURN_MS
    for one in events:
        memory.services.recall.live.heard(one)
    memory.services.ingest.take([one for one in events if one["text"].strip()])
    while memory.services.keep.indexer.embed_some(batch=64):
        pass
    memory.services.consolidator.settle_turns(len(events))
    memory.services.recall.outcomes.renew(memory.services.keep, session)
    return at_ms


def ask(memory: Memory, session: str, prompts: Sequence[str], at_ms: int) -> str:
    """Return the block of a new session's last prompt."""
    block = ""
    for number, prompt in enumerate(prompts):
        name = "%s %d" % (session, number)
        asked = event("user", session, name, prompt, at_ms + number * A_TURN_MS)
        heard = memory.sessions.heard(asked, memory.project_id)
        rules = compose.RoomSettings.of(memory.settings).recall
        block = memory.services.recall.answer(prompt, Scope((memory.project_id,)), rules, heard).block
        memory.services.recall.live.heard(asked)
        memory.services.recall.live.heard(
            event("assistant", session, name, "Done.", asked["at_ms"] + ANSWERED_AFTER_MS)
        )
    return block


@click.command(help=__doc__)
@click.argument("tasks", metavar="SET", type=click.Path(exists=True, path_type=Path))
@click.argument("rows", type=click.Path(path_type=Path))
@click.option("--without-recaps", is_flag=True, help="Leave out the last answer of each deciding chat.")
@click.option("--absent", is_flag=True, help="Leave out the deciding chats.")
@click.option("--first", default="", help="Another prompt before each bug report.")
def main(tasks: Path, rows: Path, without_recaps: bool, absent: bool, first: str) -> None:
    data = json.loads(tasks.read_text("utf-8"))
    home = Path(tempfile.mkdtemp(prefix="memlayer-sde-"))
    try:
        memory, at_ms = Memory(home), FIRST_MS
        chats = chats_of(data, without_recaps=without_recaps, absent=absent)
        for number, chat in enumerate(track(chats, "taking in", transient=True)):
            at_ms = take_in(memory, "chat %d" % number, chat, at_ms)
        with rows.open("w", encoding="utf-8") as file:
            for task in data["tasks"]:
                prompts = [first, task["bug_report"]] if first else [task["bug_report"]]
                block = ask(memory, "ask " + task["task_id"], prompts, at_ms + A_DAY_MS)
                row = {"task": task["task_id"], "start": "", "block": block}
                row |= {name: task[name] for name in ("source", "policy", "bug_report")}
                file.write(json.dumps({**row, "hinge": task["non_guessable"]}, ensure_ascii=False) + "\n")
        memory.services.close()
    finally:
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
