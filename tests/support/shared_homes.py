"""Homes with a real store and a share, in this process: turns said, pushed, pulled, forgotten."""

import contextlib
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from memlayer import compose
from memlayer.config import load_what_holds
from memlayer.edge.capture.payload import spool_event
from memlayer.kinds import Category
from memlayer.model import Event, Memory, Scope, Usage
from memlayer.ports import MemoryQuery, Selection
from memlayer.records.sessions import Sessions

AT_MS = 1_790_000_000_000
TOPICS = (
    ("Which port does the shop's API use?", "Decided: the API listens on port {n}."),
    ("배포는 언제 하기로 했지?", "결정: 배포는 매주 {n}요일이 아니라 {n}일마다 하기로 했습니다."),
    ("TypeScript 빌드가 왜 느려?", "원인은 loader {n} 설정이었습니다. esbuild로 바꿨습니다."),
    ("fix the flaky cart test", "Fixed cart test {n}: the clock was not frozen."),
)


class SharedHome:
    """A home whose daemon is this process."""

    def __init__(self, home: Path, project: Path) -> None:
        self.home, self.project = home, project
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        project.mkdir(parents=True, exist_ok=True)
        self.settings = settings = load_what_holds(str(home), {"MEMLAYER_EMBEDDING__PROVIDER": "none"})[0]
        sessions = Sessions(str(home))
        projects = compose.open_projects(str(home))
        self.services = compose.open_services(
            str(home), settings, projects=projects, sessions=sessions, embedder=lambda: None
        )
        self.projects = projects
        self.sharing = self.services.sharing
        self.sharing.forget = self._forget
        self.sharing.on_taken = lambda *touched: self.services.tasks.catch_up()

    def _forget(self, ids: Sequence[str]) -> int:
        removed, _ = self.services.forget.forget_ids(ids)
        self.services.forget.erasure.finished()
        return removed.events + removed.memories

    def close(self) -> None:
        self.services.close()

    def say(self, session: str, number: int, prompt: str, answer: str) -> None:
        """Take in a turn as the hooks bring it."""
        self.services.ingest.take(self._events(session, number, prompt, answer))

    def _events(self, session: str, number: int, prompt: str, answer: str) -> list[dict[str, object]]:
        turn = "%s-%d" % (session, number)
        at_ms = AT_MS + number * 60_000
        return [
            spool_event(
                kind=kind, session_id=session, prompt_id=turn, text=text, at_ms=at_ms + late,
                project_dir=str(self.project), extra=kind,
            )
            for kind, text, late in (("user", prompt, 0), ("assistant", answer, 9000))
        ]  # fmt: skip

    def consolidate(self) -> None:
        while self.services.consolidator.settle_turns(50):
            pass

    def chat(self, name: str, turns: int, seed: int) -> None:
        """Say turns of two events each, of a random mixture of topics."""
        dice, events = random.Random(seed), list[dict[str, object]]()
        for number in range(turns):
            prompt, answer = dice.choice(TOPICS)
            n = "%s%d" % (name, number)
            events += self._events("%s-%d" % (name, number // 10), number, prompt + " (" + n + ")", answer.format(n=n))
        self.services.ingest.take(events)
        self.consolidate()

    def forget(self, *memory_ids: str) -> None:
        plan = self.services.forget.plan(Selection(memory_ids=memory_ids))
        self.services.forget.forget(plan)
        self.services.forget.erasure.finished()

    def rows(self) -> dict[str, dict[str, Any]]:
        """Return events, memories, uses by id; what each machine derives by itself aside."""
        out: dict[str, dict[str, Any]] = {"events": {}, "memories": {}, "usages": {}}

        def keep(batch: Sequence[Event] | Sequence[Memory] | Sequence[Usage]) -> None:
            for row in batch:
                name = {Event: "events", Memory: "memories", Usage: "usages"}[type(row)]
                assert row.id not in out[name], "doubled"
                fields = {k: v for k, v in row.fields().items() if k not in ("list", "--rules", "level")}
                out[name][row.id] = fields

        self.services.store.scan(keep)
        return out

    def turn_of(self, words: str) -> Memory:
        """Return the turn that holds words."""
        rows = self.services.store.memories(MemoryQuery(category=Category.CONVERSATION, limit=100_000))
        [found] = [row for row in rows if words in row.text]
        return found

    def search(self, words: str) -> list[str]:
        """Return the ids of the best memories for words; equal ones by their ids.

        Of all candidates: of fifty that are equal, thirty would be taken by their place in the table.
        """
        rules = compose.RoomSettings.of(self.settings).recall
        from memlayer.give.query import typed_query  # a process of an older version has no such room

        hits = self.services.recall.retriever.search(typed_query(words), Scope(None), 1000, rules.weights)
        ranked = sorted(hits, key=lambda hit: (-round(hit[1].score, 9), hit[0].memory_id))
        return [chunk.memory_id for chunk, _ in ranked[:10]]


@contextlib.contextmanager
def shared_homes(folder: Path, names: Sequence[str]) -> Iterator[list[SharedHome]]:
    """Open homes of one project, which has a remote."""
    project = folder / "shop"
    (project / ".git").mkdir(parents=True, exist_ok=True)
    (project / ".git" / "config").write_text('[remote "origin"]\n\turl = https://git.example/acme/shop.git\n')
    (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    homes = [SharedHome(folder / name, project) for name in names]
    try:
        yield homes
    finally:
        for home in homes:
            home.close()
