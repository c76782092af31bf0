"""Takes rows out of everything that holds something of them, and finishes it when a crash came in between."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

from memlayer.edge.capture import commands, spool
from memlayer.edge.home import paths, working_set
from memlayer.edge.home.registry import GLOBAL
from memlayer.indexing import embedders
from memlayer.indexing.ingest import VectorCache
from memlayer.ports import DeletionPlan, Removed, Store
from memlayer.records.sessions import Sessions

JOURNAL = "forgetting.json"  # ids only; it is there while something is being erased
UNTAKEN_S = 30.0  # a command that runs has taken its words by then
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Erasure:
    """Out of sessions, working sets, the spool, the store and what was cached of it. The daemon's writer calls it."""

    home: str
    store: Store
    cache: VectorCache
    sessions: Sessions

    def erase(self, plan: DeletionPlan, project_ids: Sequence[str]) -> tuple[Removed, list[str]]:
        """Erase these rows, which belong to these projects, after what an earlier call has left. Returns what was
        removed of these, and the ids of all projects concerned. Raises StoreError or OSError; the next call, or
        resume(), then finishes it.

        The journal stays until finished() is called: what else is made of memories, the caller makes anew.
        """
        unfinished = self._unfinished()
        left, of_projects = unfinished or (DeletionPlan(), [])
        concerned = sorted({*project_ids, *of_projects})
        journal = {
            "event_ids": list(dict.fromkeys((*left.event_ids, *plan.event_ids))),
            "memory_ids": list(dict.fromkeys((*left.memory_ids, *plan.memory_ids))),
            "project_ids": concerned,
        }
        paths.write_whole(self._journal, json.dumps(journal).encode())
        if unfinished is not None:
            self._finish(left, of_projects)
        return self._erase(plan, project_ids), concerned

    def resume(self) -> list[str]:
        """Finish what was interrupted; the ids of the projects it concerns. Raises StoreError or OSError."""
        unfinished = self._unfinished()
        if unfinished is None:
            return []
        self._finish(*unfinished)
        return unfinished[1]

    def finished(self) -> None:
        """Everything that was made of what is gone has been made anew. Raises OSError."""
        try:
            os.unlink(self._journal)
        except FileNotFoundError:
            return
        paths.sync_folder(self.home)

    @property
    def _journal(self) -> str:
        return os.path.join(self.home, JOURNAL)

    def _finish(self, plan: DeletionPlan, project_ids: Sequence[str]) -> None:
        log.warning("an interrupted forget is finished: %d events", len(plan.event_ids))
        self._erase(plan, project_ids)

    def _unfinished(self) -> tuple[DeletionPlan, list[str]] | None:
        """What the journal says: what is still to be erased, of which projects; None where there is none."""
        try:
            with open(self._journal, encoding="utf-8") as file:
                left = json.load(file)
            plan = DeletionPlan(tuple(map(str, left["event_ids"])), tuple(map(str, left["memory_ids"])))
            return plan, [str(one) for one in left["project_ids"]]
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            log.error("%s cannot be read: what was being forgotten may not all be gone", JOURNAL)
            os.replace(self._journal, self._journal + ".torn")
            return None

    def _erase(self, plan: DeletionPlan, project_ids: Sequence[str]) -> Removed:
        for project_id in project_ids:
            working_set.write_working_set(self.home, project_id, "")
        if GLOBAL in project_ids:  # it stands in all of them
            working_set.drop_all(self.home)
        working_set.sweep(self.home)
        spool.sweep(self.home, time.time())
        commands.sweep(self.home, time.time(), UNTAKEN_S)
        events, memories = set(plan.event_ids), set(plan.memory_ids)
        for path in spool.waiting(self.home):
            if spool.id_of(path) in events:
                spool.drop([path])
        for session in self.sessions.all():
            left = [one for one in session.shown if one not in memories]
            if left != session.shown or memories.intersection(session.inherited):
                session.shown = left
                session.inherited = [one for one in session.inherited if one not in memories]
                self.sessions.changed(session)
        self.sessions.save_changed()
        removed = self.store.forget(plan)
        embedders.drop_unused(self.store, self.cache)
        return removed
