"""kill -9 in the middle of push and pull: nothing doubled, nothing lost, the same everywhere."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memlayer.adapters.lance.share_tables import ShareTables
from tests.support.shared_homes import SharedHome, shared_homes
from tests.support.shares import PLACES, ObjectStore, bucket_of

ROUNDS = 50 if os.environ.get("MEMLAYER_TORTURE") else 3
PROCESS = Path(__file__).resolve().parents[1] / "support" / "share_process.py"
WHOLE_S = 0.25  # a push or a pull of a few turns
pytestmark = [pytest.mark.fault, pytest.mark.timeout(60 + 60 * ROUNDS)]


def killed(home: Path, project: Path, doing: str, after_s: float) -> bool:
    """Run a push or a pull and kill it; return whether it was at work."""
    with subprocess.Popen(
        [sys.executable, str(PROCESS), str(home), str(project), doing], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(after_s)
        process.kill()
        return "done" not in process.stdout.read()


@pytest.mark.parametrize("make", PLACES.values(), ids=PLACES)
def test_kill_9_in_push_and_pull_loses_and_doubles_nothing(make: Callable[[Path], str], tmp_path: Path) -> None:
    check_kills(make(tmp_path), tmp_path)


def test_kill_9_beside_an_object_store_loses_and_doubles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ObjectStore()
    monkeypatch.setattr(ShareTables, "loses_commits", lambda self: False)  # seconds, at the setup alone
    try:
        check_kills(bucket_of(store, monkeypatch), tmp_path)
    finally:
        store.close()


def check_kills(address: str, tmp_path: Path) -> None:
    dice, names, cut = random.Random(29), ("a", "b", "c"), 0
    with shared_homes(tmp_path, names) as homes:
        project = homes[0].project
        for seed, home in enumerate(homes):
            home.chat(home.home.name, 20, seed)
        homes[0].sharing.set_up(address, is_plain=False)
        homes[0].sharing.push()
        for home in homes[1:]:
            home.sharing.set_up(address, secret=homes[0].sharing.key())
        said = {id_: row for home in homes for id_, row in home.rows()["events"].items()}
    for number in range(ROUNDS):
        name = dice.choice(names)
        doing = dice.choice(("push", "pull"))
        home = SharedHome(tmp_path / name, project)
        home.say("round", 1000 + number, "%d번째 질문: which port?" % number, "port %d" % (9000 + number))
        said.update(home.rows()["events"])
        home.close()
        cut += killed(tmp_path / name, project, doing, dice.uniform(0, WHOLE_S))
    assert cut > 0
    with shared_homes(tmp_path, names) as homes:
        for _ in range(2):
            for home in homes:
                home.sharing.push()
            for home in homes:
                home.sharing.pull()
        rows = [home.rows() for home in homes]
        assert rows[0]["events"] == said
        assert rows[0] == rows[1] == rows[2]
        assert [home.sharing.share().former for home in homes] == [(), (), ()]
        assert [home.sharing.push().commits for home in homes] == [0, 0, 0]
