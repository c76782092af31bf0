"""Erasure of rows and their copies, with a journal against crashes."""

import logging
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

from memlayer.edge.capture import spool
from memlayer.edge.home import paths, registry
from memlayer.edge.home.registry import GLOBAL
from memlayer.notes.reading_log import ReadingLog
from memlayer.ports import DeletionPlan, Removed
from memlayer.records import small_files
from memlayer.records.ground import Ground
from memlayer.records.sessions import Sessions
from memlayer.tasks.book import TaskBook

JOURNAL = "forgetting.json"  # ids only. It exists while an erasure is unfinished
UNTAKEN_S = 30.0  # by then a running command has read its words
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Erasure:
    """Erasure from sessions, working sets, spool, store and caches, by the writer."""

    home: str
    sessions: Sessions
    readings: ReadingLog
    tasks: TaskBook

    def erase(self, plan: DeletionPlan, project_ids: Sequence[str]) -> tuple[Removed, list[str]]:
        """Erase the planned rows, after those an earlier call left.

        Returns the counts of the planned rows and the ids of all projects concerned. The journal stays until the caller
        has made anew all that derives from memories, and calls finished(). Raises StoreError or OSError. The next call,
        or resume(), then finishes the erasure.
        """
        unfinished = self._unfinished()
        left, of_projects = unfinished or (DeletionPlan(), [])
        concerned = sorted({*project_ids, *of_projects})
        journal = {
            "event_ids": list(dict.fromkeys((*left.event_ids, *plan.event_ids))),
            "memory_ids": list(dict.fromkeys((*left.memory_ids, *plan.memory_ids))),
            "project_ids": concerned,
        }
        small_files.write(self._journal, journal)
        if unfinished is not None:
            self._finish(left, of_projects)
        return self._erase(plan, project_ids), concerned

    def resume(self) -> list[str]:
        """Finish an interrupted erasure. Return its project ids. Raises StoreError, OSError."""
        unfinished = self._unfinished()
        if unfinished is None:
            return []
        self._finish(*unfinished)
        return unfinished[1]

    def finished(self) -> None:
        """Drop the journal, once all derived files are made anew. Raises OSError."""
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
        """Return the journal's plan and project ids; None without a journal."""
        try:
            left = small_files.load(self._journal, dict[str, tuple[str, ...]])
            return DeletionPlan(left["event_ids"], left["memory_ids"]), list(left["project_ids"])
        except FileNotFoundError:
            return None
        except (ValueError, KeyError):
            log.error("%s cannot be read: an interrupted forget may be incomplete", JOURNAL)
            os.replace(self._journal, self._journal + ".torn")
            return None

    def _erase(self, plan: DeletionPlan, project_ids: Sequence[str]) -> Removed:
        for project_id in project_ids:
            registry.write_working_set(self.home, project_id, "")
        if GLOBAL in project_ids:  # every working set holds global memories
            registry.drop_working_sets(self.home)
        registry.sweep_working_sets(self.home)
        paths.write_whole(paths.actions(self.home), b"")  # words of calls
        spool.sweep(self.home, time.time())
        spool.sweep_typed(self.home, time.time(), UNTAKEN_S)
        events, memories = set(plan.event_ids), set(plan.memory_ids)
        for path in spool.waiting(self.home):
            if spool.id_of(path) in events:
                spool.drop([path])
        for session in self.sessions.all():
            left = [memory_id for memory_id in session.shown if memory_id not in memories]
            if left != session.shown or memories.intersection(session.inherited):
                session.shown = left
                session.inherited = [memory_id for memory_id in session.inherited if memory_id not in memories]
                self.sessions.changed(session)
        self.sessions.save_changed()
        self.readings.forget(events)
        Ground(self.home).forget(project_ids, memories)
        self.tasks.forget(plan)
        return self.tasks.keep.erase(plan)
