"""An import of earlier sessions: `python bench/history.py [--turns 3720] [--agent NAME|all]`.

Generated sessions of 40 turns, each turn with tool calls whose results are nine tenths of the file, as in the hosts'
own transcripts; exports of chats have no calls. Times until the words can be searched (the verb ends; a prompt is then
searched for), and until every chunk has its vector. `all`: the same turns in the form of each agent, a home and a
daemon each, without vectors. CPU is of the daemon.
"""

import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
from day import cpu_s
from latency_texts import turn
from rich.table import Table

from hooks import ROOT, console

sys.path.insert(0, str(ROOT))

from memlayer.edge.ipc.client import Client
from tests.support import other_agents as forms
from tests.support.other_agents import value

TURNS = 40  # a session
CALLS = 3  # a turn
ANSWERS = 4  # paragraphs of an answer
RESULT_CHARS = 3500
COMMAND = {"command": "make test"}
POLL_S = 0.2
OURS = "claude"
AGO_S = 86_400 * 30
# As the programs make them (tests/fixtures/agents/, and others' descriptions of Cursor).
OPENCODE = """
create table session (id text primary key, parent_id text, directory text, version text, revert text,
  time_created integer, time_updated integer);
create table message (id text primary key, session_id text, time_created integer, data text);
create table part (id text primary key, message_id text, session_id text, data text);
create index message_session on message (session_id);
create index part_message on part (message_id);
create index part_session on part (session_id);
"""
CURSOR = "create table cursorDiskKV (key text unique on conflict replace, value blob);"


class Turn(NamedTuple):
    """A turn, with the outputs of its calls."""

    name: str
    prompt: str
    answer: str
    at_s: float
    outputs: list[str]

    def at(self, order: int) -> str:
        """The time of its record of that order."""
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(self.at_s)) + ".%03dZ" % order


class Session(NamedTuple):
    """A session's id, its folder and its turns."""

    name: str
    cwd: str
    turns: list[Turn]


def sessions(turns: int, cwd: str) -> Iterator[Session]:
    """Yield as many turns, in sessions; the same for every form."""
    dice, began_s = random.Random(7), time.time() - AGO_S
    for first in range(0, turns, TURNS):
        session, told = "00000000-0000-4000-8000-%012d" % first, []
        for number in range(first, min(turns, first + TURNS)):
            parts = [turn(number * ANSWERS + part) for part in range(ANSWERS)]
            outputs = [
                "".join("tests/case_%d.py PASSED\n" % dice.randrange(10**6) for _ in range(RESULT_CHARS // 28))
                for _ in range(CALLS)
            ]
            answer = "\n\n".join(part.answer for part in parts)
            told.append(Turn("%s-%d" % (session, number), parts[0].prompt, answer, began_s + number * 60, outputs))
        yield Session(session, cwd, told)


def claude(folder: Path, told: Iterator[Session]) -> None:
    for session in told:
        lines: list[dict[str, Any]] = []

        def record(one: Turn, kind: str, content: object, name: str = session.name, at: Any = lines) -> None:
            order = len(at)
            fields = {"type": kind, "sessionId": name, "cwd": session.cwd, "uuid": "%s-%d" % (one.name, order)}  # noqa: B023
            message = {"role": kind, "id": "m-%s-%d" % (one.name, order), "content": content}
            more = {"promptId": one.name} if kind == "user" else {}
            at.append({**fields, **more, "timestamp": one.at(order % 100), "message": message})

        for one in session.turns:
            record(one, "user", one.prompt)
            for call, output in enumerate(one.outputs):
                record(one, "assistant", [{"type": "tool_use", "id": "t%d" % call, "name": "Bash", "input": COMMAND}])
                record(one, "user", [{"type": "tool_result", "tool_use_id": "t%d" % call, "content": output}])
            record(one, "assistant", [{"type": "text", "text": one.answer}])
        forms.jsonl(folder / (session.name + ".jsonl"), lines)


def codex(folder: Path, told: Iterator[Session]) -> None:
    for session in told:
        rollout = forms.Rollout(session.cwd, thread=session.name, at_s=session.turns[0].at_s)
        for one in session.turns:
            rollout.begin(one.name, one.prompt)
            for call, output in enumerate(one.outputs):
                rollout.run("%s-%d" % (one.name, call), COMMAND["command"], 0, output)
            rollout.say(one.name, one.answer)
            rollout.event("task_complete", turn_id=one.name, last_agent_message=one.answer)
        rollout.write(folder, "rollout-%s.jsonl" % session.name)


def gemini(folder: Path, told: Iterator[Session]) -> None:
    for session in told:
        lines: list[dict[str, Any]] = [forms.gemini_meta(session.name)]
        for one in session.turns:
            calls = [
                {"id": "%s c%d" % (one.name, number), "name": "run_shell_command", "args": COMMAND, "status": "success",
                 "result": [{"functionResponse": {"response": {"output": output}}}], "timestamp": one.at(number)}
                for number, output in enumerate(one.outputs)
            ]  # fmt: skip
            lines.append({"id": one.name, "timestamp": one.at(0), "type": "user", "content": [{"text": one.prompt}]})
            answer = {"id": one.name + " a", "timestamp": one.at(9), "type": "gemini", "content": one.answer}
            lines += [answer, {**answer, "toolCalls": calls}]  # written again when its calls have ended
        forms.jsonl(folder / "shop" / "chats" / ("session-%s.jsonl" % session.name), lines)
        (folder / "shop" / ".project_root").write_text(session.cwd)


def opencode(folder: Path, told: Iterator[Session]) -> None:
    def rows() -> Iterator[tuple[str, tuple[object, ...]]]:
        for session in told:
            last_ms = int(session.turns[-1].at_s * 1000)
            row = (session.name, None, session.cwd, "1.18.33", None, last_ms, last_ms)
            yield "insert into session values (?, ?, ?, ?, ?, ?, ?)", row
            for one in session.turns:
                calls = [
                    {"type": "tool", "tool": "bash", "callID": "c%d" % number, "state": {
                        "status": "completed", "input": COMMAND, "output": output, "metadata": {"exit": 0}}}
                    for number, output in enumerate(one.outputs)
                ]  # fmt: skip
                said = [{"type": "text", "text": one.prompt}, *calls, {"type": "text", "text": one.answer}]
                for place, part in enumerate(said):
                    name, role, at_ms = "%s-%d" % (one.name, place), "assistant" if place else "user", one.at_s * 1000
                    message = value({"role": role, "time": {"created": int(at_ms) + place}})
                    yield ("insert into message values (?, ?, ?, ?)", (name, session.name, int(at_ms) + place, message))
                    yield "insert into part values (?, ?, ?, ?)", ("p" + name, name, session.name, value(part))

    forms.database(folder / "opencode.db", OPENCODE, rows())


def cursor(folder: Path, told: Iterator[Session]) -> None:
    def rows() -> Iterator[tuple[str, tuple[object, ...]]]:
        put = "insert into cursorDiskKV values (?, ?)"
        for session in told:
            bubbles: list[dict[str, Any]] = []
            for one in session.turns:
                place = {"workspaceUris": [Path(session.cwd).as_uri()], "createdAt": one.at(0)}
                bubbles.append({"type": 1, "text": one.prompt, **place})
                for number, output in enumerate(one.outputs):
                    call = {"name": "run_terminal_cmd", "toolCallId": "%s c%d" % (one.name, number), "rawArgs":
                            value(COMMAND), "status": "completed", "result": value({"output": output})}  # fmt: skip
                    bubbles.append({"type": 2, "text": "", "toolFormerData": call})
                bubbles.append({"type": 2, "text": one.answer, "createdAt": one.at(9)})
            heads = [
                {"bubbleId": "%s-%d" % (session.name, number), "type": one["type"]}
                for number, one in enumerate(bubbles)
            ]
            last_ms = int(session.turns[-1].at_s * 1000)
            chat = {"_v": 10, "createdAt": last_ms, "lastUpdatedAt": last_ms, "fullConversationHeadersOnly": heads}
            yield put, ("composerData:" + session.name, value(chat))
            for head, bubble in zip(heads, bubbles, strict=True):
                yield put, ("bubbleId:%s:%s" % (session.name, head["bubbleId"]), value({**head, **bubble}))

    forms.database(folder / "state.vscdb", CURSOR, rows())


def copilot(folder: Path, told: Iterator[Session]) -> None:
    for session in told:
        start = {"sessionId": session.name, "copilotVersion": "1.0.71", "context": {"cwd": session.cwd}}
        lines: list[dict[str, Any]] = [{"type": "session.start", "data": start, "id": session.name}]
        for one in session.turns:
            said: list[tuple[str, dict[str, Any]]] = [("user.message", {"content": one.prompt})]
            for number, output in enumerate(one.outputs):
                call = {"toolCallId": "%s c%d" % (one.name, number)}
                said.append(("tool.execution_start", {**call, "toolName": "bash", "arguments": COMMAND}))
                said.append(("tool.execution_complete", {**call, "success": True, "result": {"content": output}}))
            said.append(("assistant.message", {"content": one.answer, "messageId": one.name}))
            lines += [
                {"type": kind, "data": data, "id": "%s-%d" % (one.name, order), "timestamp": one.at(order)}
                for order, (kind, data) in enumerate(said)
            ]
        forms.jsonl(folder / session.name / "events.jsonl", lines)


def claude_ai(folder: Path, told: Iterator[Session]) -> None:
    chats = []
    for session in told:
        messages: list[dict[str, Any]] = []
        for one in session.turns:
            for order, (sender, text) in enumerate((("human", one.prompt), ("assistant", one.answer))):
                parent = messages[-1]["uuid"] if messages else "root"
                content, name = [{"type": "text", "text": text}], "%s-%d" % (one.name, order)
                messages.append({"uuid": name, "parent_message_uuid": parent, "sender": sender, "content": content,
                                 "created_at": one.at(order)})  # fmt: skip
        chats.append({"uuid": session.name, "updated_at": session.turns[-1].at(9), "chat_messages": messages})
    (folder / "conversations.json").write_text(value(chats), encoding="utf-8")


def chatgpt(folder: Path, told: Iterator[Session]) -> None:
    chats = []
    for session in told:
        nodes: dict[str, Any] = {}
        for one in session.turns:
            for order, (role, text) in enumerate((("user", one.prompt), ("assistant", one.answer))):
                message = {"author": {"role": role}, "create_time": one.at_s + order,
                           "content": {"content_type": "text", "parts": [text]}}  # fmt: skip
                parent = next(reversed(nodes), None)
                nodes["%s-%d" % (one.name, order)] = {"parent": parent, "message": message}
        chats.append({"id": session.name, "update_time": session.turns[-1].at_s, "mapping": nodes,
                      "current_node": next(reversed(nodes))})  # fmt: skip
    (folder / "conversations.json").write_text(value(chats), encoding="utf-8")


WRITERS: dict[str, Callable[[Path, Iterator[Session]], None]] = {
    OURS: claude, "codex": codex, "gemini": gemini, "opencode": opencode, "cursor": cursor, "copilot": copilot,
    "claude-ai": claude_ai, "chatgpt": chatgpt,
}  # fmt: skip


def imported(agent: str, turns: int, *, with_vectors: bool) -> dict[str, float]:
    """Write, import and search an agent's sessions; return the figures."""
    base = Path(tempfile.mkdtemp(prefix="memlayer-history-"))
    home, folder, cwd = base / "home", base / "sessions", base / "project"
    for path in (home, folder, cwd):
        path.mkdir(mode=0o700)
    if not with_vectors:
        (home / "config.yaml").write_text('{"embedding": {"provider": "none"}}')
    client = Client(str(home), str(ROOT), sys.executable)
    try:
        WRITERS[agent](folder, sessions(turns, str(cwd)))
        status = client.call("status", {}, deadline_s=60)
        while with_vectors and client.call("status", {})["mode"] == "lexical":
            time.sleep(POLL_S)
        began, before_s = time.monotonic(), cpu_s(status["pid"])
        origins = [{"agent": agent, "paths": [str(folder)]}]
        done = client.call("import", {"origins": origins, "project_dir": str(cwd)}, deadline_s=3600)
        words_s, used_s = time.monotonic() - began, cpu_s(status["pid"]) - before_s
        prompt = turn((turns - 1) * ANSWERS).prompt
        hits = client.call("search", {"query": prompt, "project_dir": str(cwd)}, deadline_s=60)["hits"]
        if done["turns"] != turns or not any(prompt in hit["text"] for hit in hits):
            raise SystemExit(f"{agent}: {done['turns']} of {turns} turns, {len(hits)} hits: {done}")
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        figures = {"mb": size / 1e6, "words_s": words_s, "cpu_s": used_s}
        if with_vectors:
            while (status := client.call("status", {}, deadline_s=60))["rebuilding"] or status["jobs_waiting"]:
                time.sleep(POLL_S)
            figures["vectors_s"] = time.monotonic() - began
        return figures
    finally:
        client.stop()
        shutil.rmtree(base, ignore_errors=True)


@click.command(help=__doc__)
@click.option("--turns", default=3720, show_default=True)
@click.option("--agent", default=OURS, show_default=True, type=click.Choice([*WRITERS, "all"]))
def main(turns: int, agent: str) -> None:
    os.environ.setdefault("MEMLAYER_RUNTIME_DIR", str(Path(sys.executable).parent.parent))
    is_each = agent == "all"
    columns = ("MB", "words searchable, s", "turns a second", "CPU, s", *(("times ours", "its CPU") if is_each else ()))
    shown = Table("%d turns of" % turns, *columns, *([] if is_each else ["all vectors, s"]))
    ours: dict[str, float] = {}
    for name in WRITERS if is_each else (agent,):
        figures = imported(name, turns, with_vectors=not is_each)
        ours = ours or figures
        row = ["%.0f" % figures["mb"], "%.1f" % figures["words_s"], "%.0f" % (turns / figures["words_s"])]
        row.append("%.1f" % figures["cpu_s"])
        more = ["%.2f" % (figures[key] / ours[key]) for key in ("words_s", "cpu_s")]
        shown.add_row(name, *row, *(more if is_each else ["%.0f" % figures["vectors_s"]]))
    console.print(shown)


if __name__ == "__main__":
    main()
