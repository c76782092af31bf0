"""Retention by age: rows that are too old, and their tombstones."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

from memlayer.deletion.erase import Erasure
from memlayer.edge.home import paths
from memlayer.kinds import Category
from memlayer.ports import DeletionPlan, MemoryQuery, Removed, RetentionCutoffs, Selection, Store
from memlayer.records import quarantine
from memlayer.records.tombstones import TOOL, Tombstones

DAY_MS = 86_400_000
FAR_MS = 30 * DAY_MS
TRIED_MS = 3_600_000
STAMP = "gc.stamp"


@dataclass(frozen=True)
class RetentionRules:
    """Settings in days; 0 keeps. tools_days 0: as long as the conversation."""

    conversation_days: int = 0
    daily_days: int = 0
    core_days: int = 0
    tools_days: int = 0

    @property
    def is_on(self) -> bool:
        """True if anything ever grows too old."""
        return self != RetentionRules()

    def cutoffs(self, now_ms: int) -> RetentionCutoffs:
        """Return the times before which rows are too old."""

        def before(days: int) -> int:
            return max(0, now_ms - days * DAY_MS) if days else 0

        return RetentionCutoffs(
            conversation_ms=before(self.conversation_days),
            tools_ms=before(self.tools_days or self.conversation_days),
            daily_ms=before(self.daily_days),
            core_ms=before(self.core_days),
        )


@dataclass(frozen=True)
class Retention:
    """Deletion of rows that are too old, by the daemon's writer."""

    home: str
    store: Store
    erasure: Erasure
    tombstones: Tombstones

    def plan(self, rules: RetentionRules, now_ms: int) -> DeletionPlan:
        """Return the rows that are too old now."""
        if not rules.is_on:
            return DeletionPlan()
        return self.erasure.tasks.with_events(self.store.plan_retention(rules.cutoffs(now_ms)))

    def delete(self, rules: RetentionRules, now_ms: int) -> tuple[Removed, list[str]]:
        """Delete the rows that are too old. Idempotent. Raises StoreError or OSError.

        Returns the counts removed and the ids of the projects concerned: see Forget.forget.
        """
        plan = self.plan(rules, now_ms)
        cutoffs = rules.cutoffs(now_ms)
        # First: neither a transcript nor an export brings rows back, during the deletion or afterwards.
        self.tombstones.record_retention(Category.CONVERSATION, cutoffs.conversation_ms, now_ms)
        self.tombstones.record_retention(TOOL, cutoffs.tools_ms, now_ms)
        self.tombstones.record_retention(Category.DAILY, cutoffs.daily_ms, now_ms)
        self.tombstones.record_retention(Category.CORE, cutoffs.core_ms, now_ms)
        if cutoffs.conversation_ms:
            quarantine.drop_forgotten(self.home, (), Selection(before_ms=cutoffs.conversation_ms), None)
        if plan == DeletionPlan():
            return Removed(), self.erasure.resume()
        return self.erasure.erase(plan, sorted({count.project_id for count in plan.counts}))

    def is_due(self, rules: RetentionRules, now_s: float) -> bool:
        """True a day after the last run.

        A clock that was set back makes it due. One that seems far ahead does not: rows too old by it would be lost for
        good.
        """
        if not rules.is_on:
            return False
        try:
            age_s = now_s - os.lstat(os.path.join(self.home, STAMP)).st_mtime
        except FileNotFoundError:
            age_s = math.inf
        if 0 <= age_s < DAY_MS / 1000:
            return False
        return 0 <= age_s < FAR_MS / 1000 or self._is_believed(int(now_s * 1000))

    def _is_believed(self, now_ms: int) -> bool:
        """True if the newest memory before the last hour is recent."""
        newest = self.store.memories(MemoryQuery(before_ms=now_ms - TRIED_MS, limit=1))
        return bool(newest) and now_ms - newest[0].at_ms < FAR_MS

    def done(self, now_s: float) -> None:
        """Stamp a run. Raises OSError."""
        stamp = os.path.join(self.home, STAMP)
        paths.write_whole(stamp, b"")
        os.utime(stamp, (now_s, now_s))
