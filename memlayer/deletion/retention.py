"""Letting go by age: what the user's settings call too old goes; core memories stay unless they are asked for."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

from memlayer.deletion.erase import Erasure
from memlayer.edge.home import paths
from memlayer.ports import DeletionPlan, Removed, RetentionCutoffs, Selection, Store
from memlayer.records import quarantine
from memlayer.records.tombstones import CONVERSATION, CORE, DAILY, TOOL, Tombstones

DAY_MS = 86_400_000
FAR_MS = 30 * DAY_MS
TRIED_MS = 3_600_000
STAMP = "gc.stamp"


@dataclass(frozen=True)
class RetentionRules:
    """What the user may set, in days; 0 keeps. tools_days 0: as long as the conversation."""

    conversation_days: int = 0
    daily_days: int = 0
    core_days: int = 0
    tools_days: int = 0

    @property
    def lets_go(self) -> bool:
        """Whether anything ever grows too old."""
        return self != RetentionRules()

    def cutoffs(self, now_ms: int) -> RetentionCutoffs:
        """The moments before which things are too old."""

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
    """Removes what is too old. The daemon's writer calls it."""

    home: str
    store: Store
    erasure: Erasure
    tombstones: Tombstones

    def plan(self, rules: RetentionRules, now_ms: int) -> DeletionPlan:
        """Return the rows that are too old now."""
        return self.store.plan_retention(rules.cutoffs(now_ms)) if rules.lets_go else DeletionPlan()

    def let_go(self, rules: RetentionRules, now_ms: int) -> tuple[Removed, list[str]]:
        """Remove it; returns what was removed and the ids of the projects concerned: see Forget.forget. Doing it again
        changes nothing. Raises StoreError or OSError."""
        plan = self.plan(rules, now_ms)
        cutoffs = rules.cutoffs(now_ms)
        # First: neither a transcript nor an export brings it back while it goes, nor afterwards.
        self.tombstones.let_go(CONVERSATION, cutoffs.conversation_ms, now_ms)
        self.tombstones.let_go(TOOL, cutoffs.tools_ms, now_ms)
        self.tombstones.let_go(DAILY, cutoffs.daily_ms, now_ms)
        self.tombstones.let_go(CORE, cutoffs.core_ms, now_ms)
        if cutoffs.conversation_ms:
            quarantine.drop_forgotten(self.home, (), Selection(before_ms=cutoffs.conversation_ms), None)
        if plan == DeletionPlan():
            return Removed(), self.erasure.resume()
        return self.erasure.erase(plan, sorted({count.project_id for count in plan.counts}))

    def is_due(self, rules: RetentionRules, now_s: float) -> bool:
        """Whether the last time was a day ago. A clock that was set back makes it due, one that seems to be far ahead
        does not: whatever it calls too old would be gone for good."""
        if not rules.lets_go:
            return False
        try:
            age_s = now_s - os.lstat(os.path.join(self.home, STAMP)).st_mtime
        except FileNotFoundError:
            age_s = math.inf
        if 0 <= age_s < DAY_MS / 1000:
            return False
        return 0 <= age_s < FAR_MS / 1000 or self._is_believed(int(now_s * 1000))

    def _is_believed(self, now_ms: int) -> bool:
        """Whether something was said not so long ago by this clock; what was said just now tells nothing."""
        found = self.store.memories(before_ms=now_ms - TRIED_MS, limit=1)
        return bool(found) and now_ms - found[0].at_ms < FAR_MS

    def done(self, now_s: float) -> None:
        """Note that it was done. Raises OSError."""
        stamp = os.path.join(self.home, STAMP)
        paths.write_whole(stamp, b"")
        os.utime(stamp, (now_s, now_s))
