"""A share of a thousand sessions: one commit each at most, few live files, and all of it on the other machine."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.shared_homes import shared_homes
from tests.support.shares import PLACES, join, live_objects

SESSIONS = 1000 if os.environ.get("MEMLAYER_TORTURE") else 60
LIVE_FILES = 20
pytestmark = [pytest.mark.fault, pytest.mark.timeout(120 + 2 * SESSIONS)]


@pytest.mark.parametrize("make", PLACES.values(), ids=PLACES)
def test_a_thousand_sessions_are_few_commits_and_files(make: Callable[[Path], str], tmp_path: Path) -> None:
    with shared_homes(tmp_path, ["a", "b"]) as (a, b):
        join(make(tmp_path), a, b)
        for number in range(SESSIONS):
            a.say("session-%d" % number, number, "%d번째 질문: which port?" % number, "포트는 %d 입니다." % number)
            pushed = a.sharing.push()
            assert pushed.commits <= 1 and pushed.events == 2
            if number % 100 == 99:
                a.services.store.upkeep()
        machine = a.sharing.share().machine
        assert len(live_objects(a.sharing, machine)) <= LIVE_FILES
        with a.sharing._open("read") as channel:
            assert len(channel.engine.names(machine)) <= LIVE_FILES  # replaced ones are gone as well
        b.sharing.pull()
        assert b.rows()["events"] == a.rows()["events"]
        assert len(b.rows()["events"]) == 2 * SESSIONS
