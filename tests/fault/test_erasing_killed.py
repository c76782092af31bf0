"""kill -9 during a forget or retention.

A begun deletion is finished, and nothing is half gone. MEMLAYER_TORTURE=<n> kills n/10 times:
a round takes seconds, for it tells, erases and restarts.
"""

import contextlib
import os
import random
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from memlayer.edge.capture import spool
from memlayer.errors import MemlayerError
from tests.support.told_story import TURNS, Story

KILLS = max(3, int(os.environ.get("MEMLAYER_TORTURE") or 0) // 10)
NO_MODEL = {"embedding": {"provider": "none"}}


def killed_in_the_middle(story: Story, op: str, after_s: float, **asked: Any) -> None:
    """Send the request, and kill the daemon during the erasure.

    It dies after_s after it has begun to erase; with after_s < 0 before that.
    """

    def ask() -> None:
        with contextlib.suppress(MemlayerError, OSError):
            story.daemon.call(op, **asked)

    asking = threading.Thread(target=ask)
    asking.start()
    journal = story.home / "forgetting.json"
    if after_s >= 0:
        with contextlib.suppress(AssertionError):  # it may be done already
            story.daemon.wait_for(lambda: journal.exists() or not asking.is_alive(), "erasing", 10.0)
        time.sleep(after_s)
    else:
        time.sleep(-after_s)
    story.daemon.kill()
    asking.join()


@pytest.mark.timeout(60 + 20 * KILLS)
@pytest.mark.parametrize("op", ["forget", "gc"])
def test_killed_erasure_is_finished(tmp_path: Path, op: str) -> None:
    dice = random.Random(op)
    (tmp_path / "a").mkdir()
    story = Story(
        tmp_path / "a", settings={**NO_MODEL, "retention": {"conversation_days": 30, "core_days": 30, "daily_days": 30}}
    )
    (story.home / "gc.stamp").touch()
    interrupted = 0
    with story.daemon:
        story.tell()
        for number in range(KILLS):
            session = "gone" if not number else "gone%d" % number
            if number:  # said again, and so kept again
                for place, turn in enumerate(TURNS):
                    for event in story.captured(place, *turn, session=session):
                        spool.put(str(story.home), event)
                story.daemon.settle()
            asked = {"session_id": session} if op == "forget" else {}
            assert story.turns() == 3
            after_s = dice.choice((0.0, dice.uniform(0, 0.05), dice.uniform(0, 0.4), -dice.uniform(0, 0.1)))
            killed_in_the_middle(story, op, 0.0 if not number else after_s, **asked)
            interrupted += (story.home / "forgetting.json").exists()
            story.daemon.start()
            story.daemon.settle()
            assert not (story.home / "forgetting.json").exists()
            # A begun deletion is finished without being asked again; without one nothing has changed.
            assert story.turns() in (1, 3)
            if story.turns() == 3:
                story.daemon.call(op, **asked)
            story.assert_gone()
    assert interrupted >= 1
