"""kill -9 of hooks and of the daemon at random instants.

Each event that a hook acknowledged is in the store, exactly once. MEMLAYER_TORTURE=<kills> sets the number of kills
(default 40), MEMLAYER_SEED another course of events.
"""

import functools
import os
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.witness import Witness

KILLS = int(os.environ.get("MEMLAYER_TORTURE") or 40)
SEED = int(os.environ.get("MEMLAYER_SEED") or 20261119)
DAEMON_SHARE = 0.25  # of the kills
SESSIONS = 3
PAUSE_S = 0.2  # at most, between two turns of a session
# A daemon needs a second or two to open its store: some die before that, some after.
STARTING_S, OPEN_S = 0.3, 2.5


class Torture:
    """Sessions that go on while hooks and daemons are killed.

    Each session has a random generator of its own, and so has the killer.
    """

    def __init__(self, witness: Witness, project: Path, kills: int, seed: int) -> None:
        self.witness, self.project, self.seed = witness, project, seed
        self.daemons_left = max(3, int(kills * DAEMON_SHARE))
        self.hooks_left = kills - self.daemons_left
        self.calls = 0
        self.errors: list[BaseException] = []
        self._lock = threading.Lock()

    def run(self) -> None:
        """Until all kills are done."""
        targets = [self._hunt, *[functools.partial(self._session, number) for number in range(SESSIONS)]]
        threads = [threading.Thread(target=self._guarded, args=(target,)) for target in targets]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _guarded(self, target: Callable[[], None]) -> None:
        try:
            target()
        except BaseException as bad:
            self.errors.append(bad)

    @property
    def goes_on(self) -> bool:
        return not self.errors and (self.hooks_left > 0 or self.daemons_left > 0)

    def _hunt(self) -> None:
        dice = random.Random(self.seed)
        while self.daemons_left > 0 and not self.errors:
            if self.witness.daemon_pid():
                time.sleep(dice.uniform(0, STARTING_S) if dice.random() < 0.4 else dice.uniform(STARTING_S, OPEN_S))
                self.daemons_left -= self.witness.kill_daemon()
            time.sleep(0.02)

    def _session(self, number: int) -> None:
        dice = random.Random(self.seed * 1000 + number)
        turn = 0
        while self.goes_on:
            turn += 1
            self._turn("s%d" % number, "p%d-%d" % (number, turn), turn, dice)
            time.sleep(dice.uniform(0, PAUSE_S))

    def _turn(self, session: str, prompt_id: str, turn: int, dice: random.Random) -> None:
        if turn % 7 == 1:
            self._call("session_start", session, "", "", dice)
        self._call("user_prompt_submit", session, prompt_id, "결제 모듈 %s 재시도는 몇 번이지?" % prompt_id, dice)
        self._call("stop", session, prompt_id, "It retries %d times; 큐는 %s." % (turn, prompt_id), dice)
        if turn % 7 == 0:
            self._call("session_end", session, "", "", dice)

    def _call(self, stem: str, session: str, prompt_id: str, text: str, dice: random.Random) -> None:
        kill_after_s = dice.uniform(0.0, 0.06) if dice.random() < 0.5 and self.hooks_left > 0 else -1.0
        called = self.witness.call(stem, self.project, session, prompt_id, text, kill_after_s)
        with self._lock:
            self.calls += 1
            self.hooks_left -= called.was_killed


@pytest.mark.timeout(60 + 3 * KILLS)
def test_acknowledged_turns_survive_kills(witness: Witness, project: Path) -> None:
    torture = Torture(witness, project, KILLS, SEED)
    hooks, daemons = torture.hooks_left, torture.daemons_left
    torture.run()
    assert not torture.errors
    witness.kill_daemon()
    witness.settle_and_stop()
    verdict = witness.verdict()
    print(
        "\n%d hook calls; killed: %d hooks, %d daemons; %d events acknowledged, %d stored"
        % (torture.calls, hooks - torture.hooks_left, daemons, len(witness.acknowledged), verdict.stored)
    )
    assert verdict.faults() == {}
    assert verdict.stored >= len(witness.acknowledged) > KILLS // 4
