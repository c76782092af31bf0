"""The page over 100,000 events and 500 sessions.

Its first page, each address of its API beside the socket's own answer, its memory, and a hook by turns with the page
live and stopped.

`python bench/view.py [--events 100000] [--sessions 500] [--rounds 40] [--json FILE]`. Needs the runtime's interpreter.
"""

import asyncio
import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click
import websockets
import websockets.exceptions

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from memlayer.edge.ipc.client import Client  # noqa: E402
from memlayer.model import replace  # noqa: E402
from memlayer.wire import memories as memory_ops  # noqa: E402
from memlayer.wire import record as record_ops  # noqa: E402
from memlayer.wire import sessions as session_ops  # noqa: E402
from memlayer.wire import upkeep as upkeep_ops  # noqa: E402
from tests.support.page_process import PageProcess  # noqa: E402

TOPICS = ("order events", "결제 모듈", "login page", "배포 파이프라인", "search index", "알림 서비스", "billing job")
BATCH = 20_000
DAYS = 60
DAY_MS = 86_400_000
KINDS = ("user", "assistant", "tool", "tool")


def fill(home: str, project: str, events: int, sessions: int) -> None:
    """Write the store, in a process of its own: LanceDB and a fork do not go together."""
    from memlayer import compose
    from memlayer.adapters.lance.store import LanceStore
    from memlayer.consolidation.extractor import RULES
    from memlayer.model import Event, event_id
    from memlayer.records.sessions import Session, Sessions
    from memlayer.turns.turn_memory import turn_memory

    project_id, _ = compose.open_projects(home).resolve(project)
    store, known = LanceStore.open(Path(home) / "store", 64), Sessions(home)
    since_ms, each = int(time.time() * 1000) - DAYS * DAY_MS, events // sessions
    rows: list[Event] = []
    for number in range(events):
        session, place = divmod(number, each)
        name, turn = f"bench{session:04d}-0000", place // len(KINDS)
        at_ms = since_ms + session * DAYS * DAY_MS // sessions + place * 1000
        kind, prompt_id = KINDS[place % len(KINDS)], f"b{session}-{turn}"
        text = f"{TOPICS[number % len(TOPICS)]} {number}: checkout{number % 300}.py listens on port {number % 60000}"
        rows.append(Event(event_id(name, prompt_id, kind, str(place)), kind, name, project_id, prompt_id, text, at_ms))
        if place == each - 1:
            record = Session(name, project_id, project, since_ms=at_ms - each * 1000)
            known.restore(replace(record, said_ms=at_ms, ended="exit", ended_ms=at_ms, total_tokens=40_000))
        if len(rows) >= BATCH or number == events - 1:
            turns: dict[tuple[str, str], list[Event]] = {}
            for row in rows:
                if row.kind in ("user", "assistant"):
                    turns.setdefault((row.session_id, row.prompt_id), []).append(row)
            made = [memory for one in turns.values() if (memory := turn_memory(one)) is not None]
            store.add_events(rows)
            store.put_memories([replace(memory, rules=RULES) for memory in made])
            rows.clear()
    known.save_changed()
    store.upkeep(force=True)
    store.close()


def timed(work: Callable[[], object], rounds: int) -> dict[str, float]:
    """Return the first, median and 95th percentile in ms."""
    took = []
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        took.append((time.perf_counter() - started) * 1000)
    ranked = sorted(took[1:]) or took
    return {
        "first": round(took[0], 1),
        "p50": round(statistics.median(ranked), 1),
        "p95": round(ranked[min(len(ranked) - 1, int(len(ranked) * 0.95))], 1),
    }


def compared(page: PageProcess, client: Client, folder: str, rounds: int) -> dict[str, dict[str, float]]:
    """Return times of each address, and of the socket's answers behind it."""
    session = client.ask(session_ops.Sessions("", folder, 1), deadline_s=60).sessions[0].id
    event = client.ask(record_ops.Events(session_id=session, limit=1)).events[0].id
    asked: dict[str, tuple[str, Callable[[], object]]] = {
        "GET /api/sessions": ("/api/sessions", lambda: client.ask(session_ops.Sessions("", folder, 20), deadline_s=60)),
        "GET /api/sessions/ID": (
            f"/api/sessions/{session}",
            lambda: client.ask(session_ops.Sessions(session, limit=2)),
        ),
        "GET /api/events": ("/api/events", lambda: client.ask(record_ops.Events(project_dir=folder))),
        "GET /api/events/ID": (f"/api/events/{event}", lambda: client.ask(record_ops.Events(ids=(event,)))),
        "POST /api/search": ("", lambda: client.ask(memory_ops.Search("checkout4.py port", folder))),
        "GET /api/stats": ("/api/stats", lambda: client.ask(upkeep_ops.Stats(), deadline_s=60)),
        "GET /api/days": ("/api/days", lambda: client.ask(record_ops.Days(folder))),
        "GET /api/config": ("/api/config", client.status),
    }
    out = {}
    for name, (path, socket) in asked.items():
        body = None if path else {"query": "checkout4.py port"}
        method = "GET" if path else "POST"

        def load(method: str = method, path: str = path or "/api/search", body: object = body) -> None:
            answer = page.api(method, path, body)
            assert answer.status == 200, answer.text

        over, direct = timed(load, rounds), timed(socket, rounds)
        out[name] = {**over, "socket_p50": direct["p50"], "socket_p95": direct["p95"]}
    return out


def rss_mb(pid: int) -> float:
    """Return a process's resident memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    return round(int(status.partition("VmRSS:")[2].split()[0]) / 1000, 1)


def hooks_by_turns(page: PageProcess, home: str, project: str, rounds: int) -> dict[str, float]:
    """Return a prompt hook's times, with a live page and with the page stopped."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": home, "MEMLAYER_HOME": home, "CLAUDE_PROJECT_DIR": project}
    environment["MEMLAYER_RUNTIME_DIR"] = os.environ.get("MEMLAYER_RUNTIME_DIR", sys.prefix)
    took: dict[str, list[float]] = {"live": [], "stopped": []}
    for number in range(rounds * 2):
        state = "live" if number % 2 else "stopped"
        os.kill(page.process.pid, signal.SIGCONT if state == "live" else signal.SIGSTOP)
        time.sleep(0.05)
        prompt = f"where does checkout{number}.py listen?"
        payload = {"session_id": "hooked", "prompt_id": f"h{number}", "prompt": prompt, "cwd": project}
        started = time.perf_counter()
        subprocess.run(
            [sys.executable, "-I", "-S", str(ROOT / "hooks" / "user_prompt_submit.py")], 
            input=json.dumps(payload).encode(), env=environment, capture_output=True, check=True,
        )  # fmt: skip
        took[state].append((time.perf_counter() - started) * 1000)
    os.kill(page.process.pid, signal.SIGCONT)
    live, stopped = (statistics.median(took[name]) for name in ("live", "stopped"))
    return {"live_p50": round(live, 1), "stopped_p50": round(stopped, 1), "ratio": round(live / stopped, 3)}


def watch(page: PageProcess, until: threading.Event) -> None:
    """Keep a live socket open, as a page in a browser does."""

    async def listen() -> None:
        headers = {"Authorization": f"Bearer {page.token}"}
        async with websockets.connect(f"ws://{page.host}/ws", additional_headers=headers, ping_interval=None) as socket:
            await socket.send(json.dumps({"type": "subscribe", "channels": ["events", "stats", "outbox"]}))
            while not until.is_set():
                with contextlib.suppress(TimeoutError, websockets.exceptions.ConnectionClosed):
                    await asyncio.wait_for(socket.recv(), 0.5)

    asyncio.run(listen())


@click.command()
@click.option("--events", default=100_000)
@click.option("--sessions", default=500)
@click.option("--rounds", default=40)
@click.option("--json", "file", default="", help="Write the figures here, too.")
@click.option("--fill", "filled", nargs=2, default=None, hidden=True)
def main(events: int, sessions: int, rounds: int, file: str, filled: tuple[str, str] | None) -> None:
    """Measure the page over a large store."""
    if filled:
        fill(*filled, events, sessions)
        return
    with tempfile.TemporaryDirectory(prefix="memlayer-view-") as folder:
        home, project = Path(folder) / "home", Path(folder) / "shop"
        home.mkdir(mode=0o700)
        project.mkdir()
        (home / "config.yaml").write_text("embedding: {provider: none}\n")
        size = ["--events", str(events), "--sessions", str(sessions)]
        subprocess.run([sys.executable, __file__, *size, "--fill", str(home), str(project)], check=True)
        client = Client(str(home), str(ROOT), sys.executable, wait_s=60)
        client.call("flush", {"wait": True}, deadline_s=3600)
        try:
            measured = measure(client, home, project, rounds)
        finally:
            client.stop()
    print(json.dumps(measured, indent=2, ensure_ascii=False))
    if file:
        Path(file).write_text(json.dumps(measured, indent=2) + "\n")


def measure(client: Client, home: Path, project: Path, rounds: int) -> dict[str, Any]:
    """Return all figures of a filled home."""
    with PageProcess(home, project) as page:
        pages, headers = {}, {"Authorization": f"Bearer {page.token}"}
        session = client.ask(session_ops.Sessions("", str(project), 1), deadline_s=60).sessions[0].id
        hit = client.ask(memory_ops.Search("checkout4.py port", str(project))).hits[0].citation
        one = {"/sessions/ID": f"/sessions/{session}", "/notes/CITATION": f"/notes/{hit}"}
        for path in ("/", "/notes", "/sessions", "/tasks", "/figures", "/health", "/search?q=checkout4.py", *one):
            load = partial(page.raw, "GET", one.get(path, path), headers)
            assert load().status == 200, path
            pages[path] = timed(load, rounds)
        api = compared(page, client, str(project), rounds)
        until = threading.Event()
        live = threading.Thread(target=watch, args=(page, until))
        live.start()
        time.sleep(1)
        hooks = hooks_by_turns(page, str(home), str(project), rounds)
        until.set()
        live.join(10)
        memory = rss_mb(int(page.said["pid"]))
    stats = client.ask(upkeep_ops.Stats(), deadline_s=60)
    return {
        "events": stats.events, "sessions": stats.sessions, "pages_ms": pages, "api_ms": api, "hook_ms": hooks,
        "page_rss_mb": memory,
    }  # fmt: skip


if __name__ == "__main__":
    main()
